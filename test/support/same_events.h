/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Columns read as cells (log/cells.h) compared with the records that they give. */
#ifndef TEST_SUPPORT_SAME_EVENTS_H
#define TEST_SUPPORT_SAME_EVENTS_H

#include <stdlib.h>
#include "log/cells.h"
#include "log/packet_split.h"

static inline bool same_event(const struct pt_record *a, const struct pt_record *b)
{
    return a->id == b->id && a->truncated == b->truncated && a->ts == b->ts && a->addr == b->addr &&
           a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* False: there is a difference.  *suited: they could be read as cells. */
static inline bool same_events(struct pt_columns *c, const void *columns, uint32_t size,
                               const uint8_t *records, uint32_t bytes, bool *suited)
{
    const uint64_t base = 1ull << 40;
    struct pt_decoder d = { .p = records, .end = records + bytes, .base = base };
    struct pt_columns_view v;
    struct pt_record record, cell;
    struct pt_cells cells;
    bool same = true;
    void *buffer;

    *suited = pt_columns_open(c, &v, columns, size, bytes) == 0 && pt_cells_suit(&v);
    if (!*suited)
        return true;
    buffer = malloc(pt_cells_size(&v));
    if (!buffer)
        return false;
    pt_cells_make(&cells, &v, buffer, base);
    while (same && cells.left) {
        pt_cells_next(&cells, &cell);
        same = pt_decode_event(&d, &record) == 1 && same_event(&cell, &record);
    }
    free(buffer);
    return same && d.p == d.end;
}

#endif
