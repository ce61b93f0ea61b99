/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events of several processors come nearly, but not exactly, in order of time.  A window of events
 * is kept sorted; when it is full, its oldest event is passed on.  An event that is older than the
 * last one passed on cannot be sorted any more: it is left out and reported.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev_import.h"
#include "base/assert.h"

enum { WINDOW = 1024, ROOM = 4 * WINDOW, INLINE = 16, HEAVY = 4 << 20 };

struct held {
    struct pt_kev_event e;
    uint8_t near[INLINE];
    uint8_t *far; /* where data does not fit; or NULL */
};

struct pt_kev_order {
    size_t head, tail; /* of held */
    size_t heavy;      /* bytes in far ones */
    struct held held[ROOM];
};

struct pt_kev_order *pt_kev_order_new(void)
{
    return calloc(1, sizeof(struct pt_kev_order));
}

void pt_kev_order_free(struct pt_kev_order *o)
{
    for (size_t i = o ? o->head : 0; o && i < o->tail; i++)
        free(o->held[i].far);
    free(o);
}

static bool pop(struct pt_kev_import *im)
{
    struct pt_kev_order *o = im->order;
    struct held *h = &o->held[o->head++];
    bool good;

    pt_assert_call(o->head <= o->tail && o->tail <= ROOM);
    pt_assert(h->e.ns >= im->taken_ns);
    h->e.data = h->far ? h->far : h->near;
    im->taken_ns = h->e.ns;
    good = pt_kev_take(im, &h->e);
    pt_assert(!h->far || o->heavy >= h->e.length);
    if (h->far)
        o->heavy -= h->e.length;
    free(h->far);
    h->far = NULL;
    return good;
}

/* Makes room for an event of that time, after all that are not later. */
static struct held *place(struct pt_kev_order *o, int64_t ns)
{
    size_t at;

    if (o->tail == ROOM) {
        memmove(o->held, o->held + o->head, (o->tail - o->head) * sizeof *o->held);
        o->tail -= o->head;
        o->head = 0;
    }
    pt_assert(o->tail < ROOM && o->head <= o->tail);
    at = o->tail++;
    while (at > o->head && o->held[at - 1].e.ns > ns)
        at--;
    memmove(o->held + at + 1, o->held + at, (o->tail - 1 - at) * sizeof *o->held);
    return &o->held[at];
}

/* Events that wait for the rest of an incomplete one may take more room. */
static bool is_full(const struct pt_kev_import *im)
{
    const struct pt_kev_order *o = im->order;
    size_t count = o->tail - o->head;

    return (count > WINDOW && (o->held[o->head].e.ns < im->hold_ns || count > 3 * WINDOW)) ||
           o->heavy > HEAVY;
}

/* Event 0 of class EMPTY without data, which the kernel never makes: memory that nothing
 * was written to. */
static bool is_nothing(const struct pt_kev_event *e)
{
    static const uint8_t zeros[8];

    return pt_kev_type(e->header) == 0 && pt_kev_part(e->header) == PT_KEV_SIMPLE && !e->text &&
           !e->loss && memcmp(e->data, zeros, sizeof zeros) == 0;
}

bool pt_kev_push(struct pt_kev_import *im, const struct pt_kev_event *e)
{
    struct pt_kev_order *o = im->order;
    uint8_t *far = NULL;
    struct held *h;

    if (is_nothing(e)) {
        pt_job_note(im->job, PT_KEV_NOTE_RECORDS, "%s %" PRIu64 ": a record of zeros: passed over",
                    im->unit, e->where);
        return true;
    }
    if (e->ns < im->taken_ns) {
        im->late++;
        pt_job_left_out(im->job, PT_KEV_NOTE_ORDER,
                        "%s %" PRIu64 ": an event that is older, by "
                        "%" PRId64 " ns, than what can be put in order: left out",
                        im->unit, e->where, im->taken_ns - e->ns);
        return true;
    }
    if (e->length > INLINE && !(far = malloc(e->length))) {
        pt_job_fail(im->job, ENOMEM, "no memory");
        return false;
    }
    h = place(o, e->ns);
    h->e = *e;
    h->far = far;
    o->heavy += far ? e->length : 0;
    if (e->length)
        memcpy(far ? far : h->near, e->data, e->length);
    if (e->ns > im->pushed_ns)
        im->pushed_ns = e->ns;
    while (is_full(im))
        if (!pop(im))
            return false;
    return true;
}

bool pt_kev_push_loss(struct pt_kev_import *im, uint64_t where, uint32_t missing, uint32_t expected,
                      uint32_t found)
{
    uint8_t data[12];
    struct pt_kev_event e = { .ns = im->pushed_ns == INT64_MIN ? im->clock.base : im->pushed_ns,
                              .where = where,
                              .loss = true,
                              .length = sizeof data,
                              .data = data };

    pt_kev_store(data, missing);
    pt_kev_store(data + 4, expected);
    pt_kev_store(data + 8, found);
    return pt_kev_push(im, &e);
}

bool pt_kev_order_flush(struct pt_kev_import *im)
{
    while (im->order->head < im->order->tail)
        if (!pop(im))
            return false;
    return true;
}
