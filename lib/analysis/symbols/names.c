/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See names.h.  All files are found and opened here, libdw looks for none. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/symbols/build_id.h"
#include "analysis/symbols/demangle.h"
#include "analysis/symbols/names.h"

struct pt_symbol_module {
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: there is no file */
    Dwarf_Addr start;
    char *debug; /* path of the file with the debug information, or NULL */
    bool named;  /* it is in a folder that the user has named */
    const char *build_id;
    void *readable; /* tree of struct readable */
};

/* A name of libdw, which stays where it is, as it is shown. */
struct readable {
    const char *name;
    char *text; /* NULL: as it is */
};

bool posixtrace_symbols_have_names(void)
{
    return true;
}

/* libdw opens no file itself. */
static int find_no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                       char **file, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

static int find_debug(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                      const char *path, const char *link, GElf_Word crc, char **found)
{
    struct pt_symbol_module *m = *data;
    int fd = m && m->debug ? pt_symbol_open(m->debug, m->build_id, m->named) : -1;

    (void)module, (void)name, (void)base, (void)path, (void)link, (void)crc;
    *found = fd >= 0 ? strdup(m->debug) : NULL;
    return fd;
}

static const Dwfl_Callbacks callbacks = { .find_elf = find_no_elf, .find_debuginfo = find_debug };

/* A descriptor of the file of that name, and its path in path; or -1. */
__attribute__((format(printf, 4, 5))) static int try_path(char path[PATH_MAX], const char *build_id,
                                                          bool named, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(path, PATH_MAX, format, args);
    va_end(args);
    return length > 0 && length < PATH_MAX ? pt_symbol_open(path, build_id, named) : -1;
}

static int open_debug(char path[PATH_MAX], const char *build_id, const char *debug_dir, bool *named)
{
    int fd = -1;

    if (strlen(build_id) < 4)
        return -1;
    if (debug_dir)
        fd = try_path(path, build_id, true, "%s/.build-id/%.2s/%s.debug", debug_dir, build_id,
                      build_id + 2);
    *named = fd >= 0;
    if (fd < 0)
        fd = try_path(path, build_id, false, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
                      build_id + 2);
    return fd;
}

static int open_file(char path[PATH_MAX], const struct pt_symbol_file *file, const char *debug_dir)
{
    int fd = -1;

    if (debug_dir)
        fd = try_path(path, file->build_id, true, "%s%s", debug_dir, file->path);
    if (fd < 0 && debug_dir)
        fd = try_path(path, file->build_id, true, "%s/%s", debug_dir, strrchr(file->path, '/') + 1);
    if (fd < 0)
        fd = try_path(path, file->build_id, false, "%s", file->path);
    return fd;
}

static void report(struct pt_symbol_module *m, const char *path, int fd)
{
    void **data;

    m->dwfl = dwfl_begin(&callbacks);
    if (!m->dwfl)
        return;
    m->module = dwfl_report_elf(m->dwfl, "", path, fd, 0, false);
    if (m->module && dwfl_module_info(m->module, &data, &m->start, NULL, NULL, NULL, NULL, NULL)) {
        *data = m;
        dwfl_report_end(m->dwfl, NULL, NULL);
        return;
    }
    m->module = NULL;
}

struct pt_symbol_module *pt_symbol_module_new(const struct pt_symbol_file *file,
                                              const char *debug_dir)
{
    struct pt_symbol_module *m = calloc(1, sizeof *m);
    char path[PATH_MAX], debug[PATH_MAX];
    int fd, debug_fd;

    if (!m || !file->build_id[0])
        return m;
    m->build_id = file->build_id;
    debug_fd = open_debug(debug, file->build_id, debug_dir, &m->named);
    fd = open_file(path, file, debug_dir);
    if (debug_fd >= 0)
        m->debug = strdup(debug);
    /* Without the file itself that with its debug information has its symbols. */
    if (fd < 0 && debug_fd >= 0) {
        fd = debug_fd;
        debug_fd = -1;
        memcpy(path, debug, sizeof path);
    }
    if (fd >= 0) {
        report(m, path, fd);
        if (!m->module)
            close(fd);
    }
    if (debug_fd >= 0)
        close(debug_fd);
    return m;
}

static void free_readable(void *node)
{
    struct readable *r = node;

    free(r->text);
    free(r);
}

void pt_symbol_module_free(struct pt_symbol_module *m)
{
    if (!m)
        return;
    if (m->dwfl)
        dwfl_end(m->dwfl);
    tdestroy(m->readable, free_readable);
    free(m->debug);
    free(m);
}

static int by_name(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct readable *)a)->name,
              y = (uintptr_t)((const struct readable *)b)->name;

    return x < y ? -1 : x > y;
}

static const char *readable(struct pt_symbol_module *m, const char *name)
{
    struct readable key = { .name = name }, *r, **place;

    if (strncmp(name, "_Z", 2) != 0)
        return name;
    place = tsearch(&key, &m->readable, by_name);
    if (!place)
        return name;
    if (*place == &key) {
        r = malloc(sizeof *r);
        if (!r) {
            tdelete(&key, &m->readable, by_name);
            return name;
        }
        *r = (struct readable){ name, pt_demangle(name) };
        *place = r;
    }
    return (*place)->text ? (*place)->text : name;
}

void pt_symbol_module_find(struct pt_symbol_module *m, uint64_t offset,
                           enum posixtrace_address kind, struct posixtrace_symbol *symbol)
{
    Dwarf_Addr at = m->start + offset - (kind == POSIXTRACE_ADDRESS_RETURN && offset > 0);
    GElf_Off in = 0;
    Dwfl_Line *line;
    GElf_Sym sym;

    if (!m->module)
        return;
    symbol->name = dwfl_module_addrinfo(m->module, at, &in, &sym, NULL, NULL, NULL);
    /* A symbol that ends before the address is another one. */
    if (symbol->name &&
        (symbol->name[0] == '\0' || (sym.st_size > 0 && in >= sym.st_size) ||
         (GELF_ST_TYPE(sym.st_info) == STT_OBJECT) != (kind == POSIXTRACE_ADDRESS_DATA)))
        symbol->name = NULL;
    symbol->in_name = symbol->name ? in + (m->start + offset - at) : 0;
    if (symbol->name)
        symbol->name = readable(m, symbol->name);
    line = kind == POSIXTRACE_ADDRESS_DATA ? NULL : dwfl_module_getsrc(m->module, at);
    if (line)
        symbol->source = dwfl_lineinfo(line, NULL, &symbol->line, NULL, NULL, NULL);
}
