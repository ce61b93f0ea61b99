/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Names of entities: a table with open addressing, which never holds more than a bound. */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf.h"

#define CELLS (2u * PT_BTF_NAMES_MAX)

static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u;

    while (*text)
        h = (h ^ (uint8_t)*text++) * 16777619u;
    return h ^ h >> 15;
}

void pt_btf_names_free(struct pt_btf_names *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        free(n->texts[i]);
    free(n->texts);
    free(n->hashes);
    free(n->cells);
    memset(n, 0, sizeof *n);
}

/* The cell that has the text, or the free one where it belongs. */
static uint32_t cell_of(const struct pt_btf_names *n, const char *text, uint32_t hash)
{
    uint32_t i = hash % CELLS, k;

    while ((k = n->cells[i]) && (n->hashes[k - 1] != hash || strcmp(n->texts[k - 1], text) != 0))
        i = (i + 1) % CELLS;
    return i;
}

uint32_t pt_btf_names_find(const struct pt_btf_names *n, const char *text)
{
    return n->cells ? n->cells[cell_of(n, text, hash_of(text))] - 1 : PT_BTF_NO_NAME;
}

static bool make_room(struct pt_btf_names *n)
{
    uint32_t room = n->room ? 2 * n->room : 256;
    char **texts;
    uint32_t *hashes;

    if (n->count < n->room)
        return true;
    if (n->count >= PT_BTF_NAMES_MAX)
        return false;
    texts = realloc(n->texts, room * sizeof *texts);
    if (texts)
        n->texts = texts;
    hashes = realloc(n->hashes, room * sizeof *hashes);
    if (hashes)
        n->hashes = hashes;
    if (texts && hashes)
        n->room = room;
    return texts && hashes;
}

uint32_t pt_btf_names_put(struct pt_btf_names *n, const char *text)
{
    uint32_t hash = hash_of(text), cell;

    if (!n->cells)
        n->cells = calloc(CELLS, sizeof *n->cells);
    if (!n->cells)
        return PT_BTF_NO_NAME;
    cell = cell_of(n, text, hash);
    if (n->cells[cell])
        return n->cells[cell] - 1;
    if (!make_room(n))
        return PT_BTF_NO_NAME;
    n->texts[n->count] = strdup(text);
    if (!n->texts[n->count])
        return PT_BTF_NO_NAME;
    n->hashes[n->count] = hash;
    n->cells[cell] = ++n->count;
    return n->count - 1;
}
