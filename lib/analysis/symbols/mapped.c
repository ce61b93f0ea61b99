/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mapped.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/symbols/mapped.h"

enum { FILES = 8192, BUCKETS = 4096, MAPPINGS_MAX = 1 << 20, PARENTS_MAX = 64, ID_MAX = 64 };
enum { IMAGE_MAX = 1 << 14 }; /* mappings of one image: all are looked at for one that is gone */

struct mapping {
    uint64_t begin, end; /* end 0: the parent's mapping at begin is gone */
    int64_t from, to;
    uint32_t file;
};

struct image {
    struct image *next; /* of the bucket, the latest first */
    int64_t from;
    int64_t parent_ns; /* of the parent's mappings */
    int32_t pid, parent;
    bool has_parent;
    struct mapping *mappings;
    size_t count, room;
};

struct pt_mapped {
    struct pt_symbol_file files[FILES];
    uint32_t end; /* of the files */
    struct image *buckets[BUCKETS];
    size_t mappings;
    int64_t unknown_from; /* the list was full: INT64_MAX: it was not */
};

struct pt_mapped *pt_mapped_new(void)
{
    struct pt_mapped *m = calloc(1, sizeof *m);

    if (m)
        m->unknown_from = INT64_MAX;
    return m;
}

void pt_mapped_free(struct pt_mapped *m)
{
    for (unsigned b = 0; m && b < BUCKETS; b++)
        for (struct image *i = m->buckets[b], *next; i; i = next) {
            next = i->next;
            free(i->mappings);
            free(i);
        }
    for (uint32_t i = 0; m && i < m->end; i++) {
        free(m->files[i].build_id);
        free(m->files[i].path);
    }
    free(m);
}

/* ---- reading ---- */

struct words {
    const char *at;
    bool bad;
};

static uint64_t take_number(struct words *w, unsigned base, char end)
{
    char *after;
    unsigned long long value;

    /* strtoull() accepts blanks and signs. */
    if (w->bad || !strchr("0123456789abcdef", *w->at) || !*w->at) {
        w->bad = true;
        return 0;
    }
    errno = 0;
    value = strtoull(w->at, &after, (int)base);
    w->bad = errno != 0 || (*after != end && *after != '\0');
    w->at = after + (*after == end && end);
    return value;
}

static int add_file(struct pt_mapped *m, uint32_t number, const char *text)
{
    const char *space = strchr(text, ' ');
    size_t length = space ? (size_t)(space - text) : 0;
    struct pt_symbol_file *f = &m->files[number];

    if (!space || space[1] != '/' || number >= FILES || f->path)
        return -EINVAL;
    if (strspn(text, "0123456789abcdef") != length || length > ID_MAX || length % 2)
        length = 0;
    f->path = strdup(space + 1);
    f->build_id = strndup(text, length);
    if (!f->path || !f->build_id) {
        free(f->path);
        free(f->build_id);
        *f = (struct pt_symbol_file){ 0 };
        return -ENOMEM;
    }
    if (number >= m->end)
        m->end = number + 1;
    return 0;
}

static struct image **bucket_of(struct pt_mapped *m, int32_t pid)
{
    return &m->buckets[(uint32_t)pid * 2654435761u >> 20];
}

static struct image *latest(struct pt_mapped *m, int32_t pid)
{
    struct image *i = *bucket_of(m, pid);

    while (i && i->pid != pid)
        i = i->next;
    return i;
}

static struct image *add_image(struct pt_mapped *m, int32_t pid, int64_t ns)
{
    struct image *i = calloc(1, sizeof *i), **bucket = bucket_of(m, pid);

    if (!i)
        return NULL;
    i->pid = pid;
    i->from = ns;
    i->next = *bucket;
    *bucket = i;
    return i;
}

static int add_mapping(struct pt_mapped *m, struct image *i, const struct mapping *mapping)
{
    if (m->mappings == MAPPINGS_MAX || i->count == IMAGE_MAX)
        return -EINVAL;
    if (i->count == i->room) {
        size_t room = i->room ? i->room * 2 : 16;
        struct mapping *grown = realloc(i->mappings, room * sizeof *grown);

        if (!grown)
            return -ENOMEM;
        i->mappings = grown;
        i->room = room;
    }
    i->mappings[i->count++] = *mapping;
    m->mappings++;
    return 0;
}

static int take_mappings(struct pt_mapped *m, struct image *i, int64_t ns, struct words *w)
{
    int r = 0;

    while (r == 0 && *w->at) {
        struct mapping mapping = { .from = ns, .to = INT64_MAX };

        mapping.begin = take_number(w, 16, '-');
        mapping.end = take_number(w, 16, ':');
        mapping.file = (uint32_t)take_number(w, 10, ' ');
        if (w->bad || mapping.begin >= mapping.end || mapping.file >= FILES)
            return -EINVAL;
        r = add_mapping(m, i, &mapping);
    }
    return r;
}

static int take_gone(struct pt_mapped *m, struct image *i, int64_t ns, struct words *w)
{
    int r = 0;

    while (r == 0 && *w->at) {
        struct mapping gone = { .begin = take_number(w, 16, ' '), .from = ns, .to = INT64_MAX };
        bool own = false;

        if (w->bad)
            return -EINVAL;
        for (size_t k = 0; k < i->count; k++)
            if (i->mappings[k].begin == gone.begin && i->mappings[k].to == INT64_MAX) {
                i->mappings[k].to = ns;
                own = i->mappings[k].end != 0;
            }
        if (!own && i->has_parent)
            r = add_mapping(m, i, &gone);
    }
    return r;
}

static int take_parent(struct image *i, struct words *w)
{
    i->parent = (int32_t)take_number(w, 10, ' ');
    i->parent_ns = (int64_t)take_number(w, 10, ' ');
    i->has_parent = !w->bad;
    return w->bad ? -EINVAL : 0;
}

static int take_unknown(struct pt_mapped *m, struct words *w)
{
    int64_t ns = (int64_t)take_number(w, 10, ' ');

    if (!w->bad && ns < m->unknown_from)
        m->unknown_from = ns;
    return w->bad ? -EINVAL : 0;
}

int pt_mapped_add(struct pt_mapped *m, uint32_t number, const char *text)
{
    struct words w = { text + 2, false };
    struct image *i;
    int32_t pid;
    int64_t ns;

    if (!text[0] || text[1] != ' ' || !strchr("o=+-<!", text[0]))
        return -EINVAL;
    if (text[0] == 'o')
        return number < FILES ? add_file(m, number, text + 2) : -EINVAL;
    if (text[0] == '!')
        return take_unknown(m, &w);
    pid = (int32_t)take_number(&w, 10, ' ');
    ns = (int64_t)take_number(&w, 10, ' ');
    if (w.bad)
        return -EINVAL;
    i = text[0] == '=' || text[0] == '<' ? NULL : latest(m, pid);
    if (!i)
        i = add_image(m, pid, ns);
    if (!i)
        return -ENOMEM;
    if (text[0] == '<')
        return take_parent(i, &w);
    return text[0] == '-' ? take_gone(m, i, ns, &w) : take_mappings(m, i, ns, &w);
}

/* ---- finding ---- */

/* The image of the process at that time, else its first one: the clocks differ a little. */
static const struct image *image_at(struct pt_mapped *m, int32_t pid, int64_t ns)
{
    const struct image *first = NULL;

    for (const struct image *i = *bucket_of(m, pid); i; i = i->next) {
        if (i->pid != pid)
            continue;
        if (i->from <= ns)
            return i;
        first = i;
    }
    return first;
}

/* The last one of that time, else, of those that do not end before it, the first. */
static const struct mapping *mapping_at(const struct image *i, int64_t ns, uint64_t address)
{
    const struct mapping *later = NULL;

    for (size_t k = i->count; k > 0; k--) {
        const struct mapping *p = &i->mappings[k - 1];

        if (address < p->begin || address >= p->end || ns >= p->to)
            continue;
        if (ns >= p->from)
            return p;
        later = p;
    }
    return later;
}

static bool is_gone(const struct image *i, int64_t ns, uint64_t begin)
{
    for (size_t k = 0; k < i->count; k++)
        if (i->mappings[k].end == 0 && i->mappings[k].begin == begin && i->mappings[k].from <= ns)
            return true;
    return false;
}

static const struct mapping *find(struct pt_mapped *m, int32_t pid, int64_t ns, uint64_t address)
{
    const struct image *child[PARENTS_MAX];
    const struct mapping *found = NULL;
    int64_t at[PARENTS_MAX];
    unsigned n = 0;

    while (n < PARENTS_MAX) {
        child[n] = image_at(m, pid, ns);
        at[n] = ns;
        if (!child[n])
            return NULL;
        found = mapping_at(child[n], ns, address);
        if (found || !child[n]->has_parent)
            break;
        pid = child[n]->parent;
        ns = child[n]->parent_ns;
        n++;
    }
    for (unsigned i = 0; found && i < n && i < PARENTS_MAX; i++)
        if (is_gone(child[i], at[i], found->begin))
            return NULL;
    return found;
}

struct pt_symbol_file *pt_mapped_find(struct pt_mapped *m, int32_t pid, int64_t ns,
                                      uint64_t address, uint64_t *offset)
{
    const struct mapping *p = ns < m->unknown_from ? find(m, pid, ns, address) : NULL;

    if (!p || !m->files[p->file].path)
        return NULL;
    *offset = address - p->begin;
    return &m->files[p->file];
}

struct pt_symbol_file *pt_mapped_file(struct pt_mapped *m, uint32_t i)
{
    return i < m->end ? &m->files[i] : NULL;
}
