/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events of a packet of columns, without records: the data of each class stands together, event
 * after event, and what all events of a class share is there once.  It takes a third to a half of
 * the time of making records.
 *
 * Only for packets that are all events of valid types, as nearly all are, on machines with the byte
 * order of the file.  Other packets are read as records.
 */
#ifndef PT_LOG_CELLS_H
#define PT_LOG_CELLS_H

#include "log/columns_view.h"
#include "shm/record.h"

struct pt_cell_class {
    const uint8_t *data; /* of the next event */
    uint32_t low, length, stride;
    const uint32_t *lengths; /* of the next event; NULL: all have length and stride */
    uint64_t address;
    const uint64_t *addresses; /* of the next event; NULL: all have the same */
};

/* All pointers point into one buffer, which may move to another owner.  All zeros: none left. */
struct pt_cells {
    struct pt_cell_class *classes;
    const uint8_t *sequence;
    const uint32_t *time;
    uint32_t left; /* events */
    uint64_t base;
};

/* Can v be read as cells? */
bool pt_cells_suit(const struct pt_columns_view *v);
/* Bytes of buffer that they need. */
size_t pt_cells_size(const struct pt_columns_view *v);
/* Fills such a buffer, aligned to 8. */
void pt_cells_make(struct pt_cells *cells, struct pt_columns_view *v, void *buffer, uint64_t base);

/* The next event, of cells with events left. */
static inline void pt_cells_next(struct pt_cells *s, struct pt_record *r)
{
    struct pt_cell_class *c = &s->classes[*s->sequence++];

    r->kind = PT_RECORD_EVENT;
    r->id = c->low & PT_RECORD_ID_MASK;
    r->truncated = (c->low & PT_RECORD_TRUNCATED) != 0;
    r->ts = s->base + *s->time++;
    r->len = c->length;
    r->addr = c->address;
    r->data = c->data;
    if (pt_unlikely(c->lengths != NULL)) {
        r->len = *c->lengths++;
        c->data += (r->len + 3u) & ~3u;
    } else {
        c->data += c->stride;
    }
    if (pt_unlikely(c->addresses != NULL))
        r->addr = *c->addresses++;
    s->left--;
}

#endif
