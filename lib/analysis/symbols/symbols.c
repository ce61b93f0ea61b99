/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/symbols.h. */
#include <errno.h>
#include <posixtrace/mapping.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/symbols/names.h"

enum { CACHE = 4096 };

/* What was found for an offset of a file. */
struct known {
    const struct pt_symbol_file *file; /* NULL: none */
    uint64_t offset;
    enum posixtrace_address kind;
    struct posixtrace_symbol symbol;
};

struct posixtrace_symbols {
    struct pt_mapped *mapped;
    char *debug_dir;
    uint32_t next; /* text of the stream */
    struct known cache[CACHE];
};

int posixtrace_symbols_create(const char *debug_dir, posixtrace_symbols_t **symbols)
{
    struct posixtrace_symbols *s;

    if (!symbols)
        return EINVAL;
    s = calloc(1, sizeof *s);
    if (!s)
        return ENOMEM;
    s->next = 1;
    s->mapped = pt_mapped_new();
    s->debug_dir = debug_dir ? strdup(debug_dir) : NULL;
    if (!s->mapped || (debug_dir && !s->debug_dir)) {
        posixtrace_symbols_free(s);
        return ENOMEM;
    }
    *symbols = s;
    return 0;
}

void posixtrace_symbols_free(posixtrace_symbols_t *s)
{
    struct pt_symbol_file *f;

    if (!s)
        return;
    for (uint32_t i = 0; s->mapped && (f = pt_mapped_file(s->mapped, i)); i++)
        pt_symbol_module_free(f->module);
    pt_mapped_free(s->mapped);
    free(s->debug_dir);
    free(s);
}

int posixtrace_symbols_add(posixtrace_symbols_t *s, uint32_t number, const char *text)
{
    return s && text ? -pt_mapped_add(s->mapped, number, text) : EINVAL;
}

int posixtrace_symbols_update(posixtrace_symbols_t *s, trace_id_t trid)
{
    char text[POSIXTRACE_MAPPING_MAX + 1];
    int r;

    if (!s)
        return EINVAL;
    for (;; s->next++) {
        r = posixtrace_mapping_text(trid, s->next, text, sizeof text);
        if (r)
            return r == ENOENT ? 0 : r;
        /* One that is damaged says nothing. */
        if (pt_mapped_add(s->mapped, s->next, text) == -ENOMEM)
            return ENOMEM;
    }
}

static struct known *place_of(struct posixtrace_symbols *s, const struct pt_symbol_file *f,
                              uint64_t offset)
{
    uint64_t hash = ((uint64_t)(uintptr_t)f ^ offset) * 0x9e3779b97f4a7c15ull;

    return &s->cache[hash >> 52];
}

static const struct posixtrace_symbol *find(struct posixtrace_symbols *s, struct pt_symbol_file *f,
                                            uint64_t offset, enum posixtrace_address kind)
{
    struct known *k = place_of(s, f, offset);

    if (k->file == f && k->offset == offset && k->kind == kind)
        return &k->symbol;
    *k = (struct known){ .file = f, .offset = offset, .kind = kind };
    k->symbol.path = f->path;
    k->symbol.in_path = offset;
    if (!f->module)
        f->module = pt_symbol_module_new(f, s->debug_dir);
    if (f->module)
        pt_symbol_module_find(f->module, offset, kind, &k->symbol);
    return &k->symbol;
}

static const struct posixtrace_symbol *find_at(struct posixtrace_symbols *s, pid_t pid, int64_t ns,
                                               uint64_t address, enum posixtrace_address kind)
{
    struct pt_symbol_file *f;
    uint64_t offset;

    if (!s)
        return NULL;
    f = pt_mapped_find(s->mapped, pid, ns, address, &offset);
    return f ? find(s, f, offset, kind) : NULL;
}

bool posixtrace_symbols_find(posixtrace_symbols_t *s, pid_t pid, int64_t ns, uint64_t address,
                             enum posixtrace_address kind, struct posixtrace_symbol *symbol,
                             size_t size)
{
    const struct posixtrace_symbol *found = find_at(s, pid, ns, address, kind);

    if (!found || !symbol)
        return false;
    memset(symbol, 0, size);
    memcpy(symbol, found, size < sizeof *found ? size : sizeof *found);
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* Bytes of the name without the version of a library's symbol. */
static int bare(const char *name)
{
    return (int)strcspn(name, "@");
}

static int write_text(const struct posixtrace_symbol *f, enum posixtrace_address kind, char *text,
                      size_t size)
{
    const char *path = last_part(f->path);

    if (!f->name && f->source)
        return snprintf(text, size, "%s+0x%llx (%s:%d)", path, (unsigned long long)f->in_path,
                        last_part(f->source), f->line);
    if (!f->name)
        return snprintf(text, size, "%s+0x%llx", path, (unsigned long long)f->in_path);
    if (f->source)
        return snprintf(text, size, "%.*s (%s:%d)", bare(f->name), f->name, last_part(f->source),
                        f->line);
    if (kind != POSIXTRACE_ADDRESS_DATA)
        return snprintf(text, size, "%.*s+0x%llx (%s)", bare(f->name), f->name,
                        (unsigned long long)f->in_name, path);
    return f->in_name ? snprintf(text, size, "%.*s+0x%llx", bare(f->name), f->name,
                                 (unsigned long long)f->in_name)
                      : snprintf(text, size, "%.*s", bare(f->name), f->name);
}

size_t posixtrace_symbols_text(posixtrace_symbols_t *s, pid_t pid, int64_t ns, uint64_t address,
                               enum posixtrace_address kind, char *text, size_t size)
{
    const struct posixtrace_symbol *found = find_at(s, pid, ns, address, kind);
    int length;

    if (!text || size == 0)
        return 0;
    text[0] = '\0';
    length = found ? write_text(found, kind, text, size) : 0;
    if (length < 0)
        return 0;
    for (char *p = text; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    return (size_t)length < size ? (size_t)length : size - 1;
}
