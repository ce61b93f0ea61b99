/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events of several records.  The records of one event have the same processor, class, event and
 * time; records of other events come between them.  A bounded number of events can be incomplete,
 * each for a bounded number of records: then an event is passed on incomplete, marked as cut.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_file.h"

enum { PATIENCE = 1024 }; /* records; kev_order.c waits for longer */

static void set_hold(struct pt_kev_file *f)
{
    f->im->hold_ns = INT64_MAX;
    for (unsigned i = 0; i < f->pending_count; i++)
        if (f->pending[i].ns < f->im->hold_ns)
            f->im->hold_ns = f->pending[i].ns;
}

/* Passes an event on.  The last pending one takes its place, and its buffer is kept for the next
 * one. */
static bool send(struct pt_kev_file *f, unsigned i, bool cut)
{
    struct pt_kev_pending p = f->pending[i];
    struct pt_kev_event e = { .ns = p.ns,
                              .where = p.where,
                              .header = p.header,
                              .cut = cut || p.too_long,
                              .length = p.length,
                              .data = p.data };

    f->pending[i] = f->pending[--f->pending_count];
    f->pending[f->pending_count] = p;
    set_hold(f);
    return pt_kev_push(f->im, &e);
}

static bool send_cut(struct pt_kev_file *f, unsigned i, const char *why)
{
    pt_job_note(f->im->job, PT_KEV_NOTE_PARTS,
                "offset %" PRIu64 ": an event of %u records so far "
                "is not whole: %s",
                f->pending[i].where, f->pending[i].length / 8, why);
    return send(f, i, true);
}

static unsigned find(const struct pt_kev_file *f, uint32_t header, uint32_t low)
{
    const uint32_t mask = 0x3f007fff;
    unsigned i = 0;

    while (i < f->pending_count &&
           (f->pending[i].low != low || ((f->pending[i].header ^ header) & mask)))
        i++;
    return i;
}

static unsigned oldest(const struct pt_kev_file *f)
{
    unsigned at = 0;

    for (unsigned i = 1; i < f->pending_count; i++)
        if (f->pending[i].touched < f->pending[at].touched)
            at = i;
    return at;
}

static bool append(struct pt_kev_file *f, struct pt_kev_pending *p, const uint8_t *record)
{
    uint32_t room = p->room ? 2 * p->room : 64;
    uint8_t *data;

    p->touched = f->records;
    if (p->length == PT_KEV_DATA_MAX) {
        if (!p->too_long)
            pt_job_note(f->im->job, PT_KEV_NOTE_MANY,
                        "offset %" PRIu64 ": an event of more than "
                        "%u bytes: the rest is left out",
                        p->where, PT_KEV_DATA_MAX);
        p->too_long = true;
        return true;
    }
    if (p->length + 8 > p->room) {
        data = realloc(p->data, room);
        if (!data)
            return pt_job_fail(f->im->job, ENOMEM, "no memory"), false;
        p->data = data;
        p->room = room;
    }
    memcpy(p->data + p->length, record + 8, 8);
    p->length += 8;
    return true;
}

static bool begin(struct pt_kev_file *f, const uint8_t *record, uint64_t where, uint32_t header,
                  uint32_t low)
{
    struct pt_kev_pending *p;
    unsigned i = find(f, header, low);

    if (i < f->pending_count && !send_cut(f, i, "another one like it begins"))
        return false;
    if (f->pending_count == PT_KEV_PENDING &&
        !send_cut(f, oldest(f), "more events are under way than are remembered"))
        return false;
    p = &f->pending[f->pending_count++];
    *p = (struct pt_kev_pending){ .header = header,
                                  .low = low,
                                  .where = where,
                                  .ns = pt_kev_clock_ns(&f->im->clock, pt_kev_cpu(header), low),
                                  .data = p->data,
                                  .room = p->room };
    if (p->ns < f->im->hold_ns)
        f->im->hold_ns = p->ns;
    return append(f, p, record);
}

bool pt_kev_part_take(struct pt_kev_file *f, const uint8_t *record, uint64_t where)
{
    uint32_t header = pt_kev_load(record, f->im->big_endian);
    uint32_t low = pt_kev_load(record + 4, f->im->big_endian);
    unsigned i;

    if (pt_kev_part(header) == PT_KEV_BEGIN)
        return begin(f, record, where, header, low);
    i = find(f, header, low);
    if (i == f->pending_count) {
        pt_job_left_out(f->im->job, PT_KEV_NOTE_PARTS,
                        "offset %" PRIu64 ": the rest of an event "
                        "whose beginning is missing: left out",
                        where);
        return true;
    }
    if (!append(f, &f->pending[i], record))
        return false;
    return pt_kev_part(header) != PT_KEV_END || send(f, i, false);
}

bool pt_kev_parts_end(struct pt_kev_file *f, const char *why)
{
    while (f->pending_count > 0)
        if (!send_cut(f, oldest(f), why))
            return false;
    return true;
}

bool pt_kev_parts_age(struct pt_kev_file *f)
{
    unsigned i;

    while (f->pending_count > 0 && f->records - f->pending[i = oldest(f)].touched > PATIENCE)
        if (!send_cut(f, i, "nothing more of it has come for long"))
            return false;
    return true;
}
