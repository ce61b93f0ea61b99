/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mapping_list.h. */
#include <errno.h>
#include <string.h>
#include "page/mapping_list.h"

#define COUNT      (PT_MAPPING_END - 1)
#define TEXT_BYTES ((uint32_t)sizeof((struct pt_mapping_list *)NULL)->text)
#define IN_USE     (1ull << 63)

static struct pt_mapping_list *list_of(const struct pt_names *n)
{
    return (struct pt_mapping_list *)((uintptr_t)n + PT_NAMES_LIST);
}

static const char *text_of(const struct pt_names *n, uint64_t e, uint32_t *length)
{
    const struct pt_mapping_list *list = list_of(n);
    uint32_t off = (uint32_t)e;

    *length = (uint32_t)(e >> 32) & 0xffffu;
    if (e == 0 || *length > PT_MAPPING_MAX || off > TEXT_BYTES - (PT_MAPPING_MAX + 1u) ||
        off + *length >= pt_load_relaxed(&n->mapping_bytes) || list->text[off + *length] != '\0')
        return NULL;
    return list->text + off;
}

uint32_t pt_mapping_list_end(const struct pt_names *n)
{
    uint32_t count = pt_load_acquire(&n->mappings);

    return 1 + (count < COUNT ? count : COUNT);
}

const char *pt_mapping_list_get(const struct pt_names *n, uint32_t id)
{
    uint32_t length;

    return id - 1 < pt_mapping_list_end(n) - 1
               ? text_of(n, pt_load_acquire(&list_of(n)->entry[id - 1]), &length)
               : NULL;
}

uint32_t pt_mapping_list_find(const struct pt_names *n, const char *text, size_t length)
{
    uint32_t end = pt_mapping_list_end(n), stored;

    for (uint32_t id = 1; id < end; id++) {
        uint64_t e = pt_load_acquire(&list_of(n)->entry[id - 1]);
        const char *is = (e >> 32 & 0xffffu) == length ? text_of(n, e, &stored) : NULL;

        if (is && memcmp(is, text, length) == 0)
            return id;
    }
    return 0;
}

/* Takes room for the text and writes it there. */
static int store(struct pt_names *n, const char *text, size_t length, uint64_t *entry)
{
    uint32_t off = pt_add_relaxed(&n->mapping_bytes, (uint32_t)length + 1);
    char *at = list_of(n)->text + off;

    if (off > TEXT_BYTES - (PT_MAPPING_MAX + 1u)) {
        pt_store_relaxed(&n->mapping_bytes, TEXT_BYTES);
        return -ENOSPC;
    }
    if (pt_names_back(at, length + 1) < 0)
        return -ENOMEM;
    memcpy(at, text, length);
    at[length] = '\0';
    *entry = off | (uint64_t)length << 32 | IN_USE;
    return 0;
}

int pt_mapping_list_add(struct pt_names *n, const char *text, size_t length, uint32_t *id)
{
    struct pt_mapping_list *list = list_of(n);
    uint64_t mine;
    int r = length <= PT_MAPPING_MAX ? store(n, text, length, &mine) : -EINVAL;

    while (r == 0) {
        uint32_t i = pt_load_acquire(&n->mappings), count = i;
        uint64_t none = 0;
        bool done;

        if (i >= COUNT)
            return -ENOSPC;
        r = pt_names_back(&list->entry[i], sizeof list->entry[i]);
        if (r < 0)
            return -ENOMEM;
        done = pt_cas_seqcst(&list->entry[i], &none, mine);
        pt_cas_seqcst(&n->mappings, &count, i + 1);
        if (done) {
            *id = i + 1;
            return 0;
        }
    }
    return r;
}

int pt_mapping_list_back(const struct pt_names *n)
{
    uint32_t used = pt_load_acquire(&n->mapping_bytes);
    int r = pt_names_back(list_of(n)->entry, (pt_mapping_list_end(n) - 1) * sizeof(uint64_t));

    return r == 0 ? pt_names_back(list_of(n)->text, used < TEXT_BYTES ? used : TEXT_BYTES) : r;
}
