/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See causes.h.  Parts of a thread are in the order of time and do not overlap.  A full list drops
 * its older half, and a time that begins before the end of that is not known any more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>

#include "analysis/tables/causes.h"

enum { FIRST_ROOM = 16, LIST_ROOM = 8192, ALL_ROOM = 1 << 20 };

struct part {
    int64_t from, to;
    uint8_t share; /* PT_REPORT_* or a kind of wait */
    bool early;    /* before the thread's first switch */
};

struct runner {
    struct part *parts;
    size_t count, room;
    int64_t lost_to; /* parts until then were dropped */
};

/* ---- parts ---- */

static struct runner *runner_of(struct pt_tables_causes *c, struct pt_report_thread *th)
{
    if (!th->watched) {
        struct runner *made = calloc(1, sizeof *made);

        if (made)
            made->lost_to = INT64_MIN;
        th->watched = made;
    }
    if (!th->watched)
        c->error = ENOMEM;
    return th->watched;
}

static bool grow(struct pt_tables_causes *c, struct runner *r)
{
    size_t room = r->room ? 2 * r->room : FIRST_ROOM, half = r->count / 2;
    struct part *parts;

    if (r->room > 0 && (room > LIST_ROOM || c->room + r->room > ALL_ROOM)) {
        r->lost_to = r->parts[half - 1].to;
        memmove(r->parts, r->parts + half, (r->count - half) * sizeof *r->parts);
        r->count -= half;
        return true;
    }
    parts = realloc(r->parts, room * sizeof *parts);
    if (!parts) {
        c->error = ENOMEM;
        return false;
    }
    c->room += room - r->room;
    r->parts = parts;
    r->room = room;
    return true;
}

static void add(struct pt_tables_causes *c, struct runner *r, struct part part)
{
    struct part *last = r->count > 0 ? &r->parts[r->count - 1] : NULL;

    if (last && last->to == part.from && last->share == part.share && last->early == part.early)
        last->to = part.to;
    else if (r->count < r->room || grow(c, r))
        r->parts[r->count++] = part;
}

/* ---- the observer ---- */

static void spent(void *context, struct pt_report_thread *th, int64_t from, int64_t to,
                  unsigned share)
{
    struct pt_tables_causes *c = context;
    struct runner *r = runner_of(c, th);

    if (r)
        add(c, r,
            (struct part){ .from = from,
                           .to = to,
                           .share = (uint8_t)share,
                           .early = th->place == PT_REPORT_NO_SWITCH });
}

/* Those that are not sure are after the thread's last own event. */
static void settled(void *context, struct pt_report_thread *th, bool known)
{
    struct runner *r = runner_of(context, th);

    for (size_t i = r ? r->count : 0; i > 0 && r->parts[i - 1].to > th->own_ns; i--)
        if (r->parts[i - 1].share == PT_REPORT_UNSURE && !r->parts[i - 1].early)
            r->parts[i - 1].share = known ? PT_REPORT_UNNAMED : PT_REPORT_UNKNOWN;
}

/* The part from ns on becomes one of its own, if there is room. */
static void split(struct pt_tables_causes *c, struct runner *r, size_t i, int64_t ns)
{
    if (r->count == r->room && (r->room >= LIST_ROOM || !grow(c, r)))
        return;
    memmove(&r->parts[i + 1], &r->parts[i], (r->count - i) * sizeof *r->parts);
    r->count++;
    r->parts[i].to = ns;
    r->parts[i + 1].from = ns;
}

static void long_call(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                      int64_t begin, int64_t ns)
{
    struct runner *r = runner_of(context, th);

    if (!r || th->depth > 0)
        return;
    begin = begin > th->own_ns ? begin : th->own_ns;
    for (size_t i = r->count; i > 0 && r->parts[i - 1].to > begin; i--) {
        struct part *p = &r->parts[i - 1];

        if (p->share != PT_REPORT_UNSURE || p->from >= ns)
            continue;
        if (p->from < begin) {
            split(context, r, i - 1, begin);
            if (r->parts[i - 1].to == begin && i < r->count)
                r->parts[i].share = (uint8_t)open->call->kind;
            return;
        }
        p->share = (uint8_t)open->call->kind;
    }
}

static void typed(void *context, const char *name, struct pt_report_type *t)
{
    (void)context;
    (void)name;
    (void)t;
}

static void unread(void *context)
{
    (void)context;
}

static void ended(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                  int64_t result)
{
    (void)context;
    (void)th;
    (void)open;
    (void)result;
}

static void holds(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                  uint64_t caller)
{
    (void)context;
    (void)o;
    (void)th;
    (void)caller;
}

static void released(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                     int64_t ns, uint64_t caller)
{
    (void)ns;
    holds(context, o, th, caller);
}

static const struct pt_report_watch watch = { .typed = typed,
                                              .unread = unread,
                                              .spent = spent,
                                              .settled = settled,
                                              .long_call = long_call,
                                              .ended = ended,
                                              .holds = holds,
                                              .released = released };

/* ---- the interface ---- */

static bool has_switches(trace_id_t trid)
{
    uint64_t count, sum = 0;

    for (trace_event_id_t id = POSIXTRACE_SWITCH_IN; id <= POSIXTRACE_SWITCH_PREEMPTED; id++)
        if (posixtrace_event_count(trid, id, &count) == 0)
            sum += count;
    return sum > 0;
}

int pt_tables_causes_begin(struct pt_tables_causes *c, trace_id_t trid)
{
    int error = posixtrace_report_create(trid, NULL, 0, &c->report);

    if (error)
        return error;
    c->switches = has_switches(trid);
    c->report->watch = &watch;
    c->report->watcher = c;
    return 0;
}

int pt_tables_causes_event(struct pt_tables_causes *c, const struct posixtrace_event *e)
{
    int error = pt_report_event(c->report, e);

    return error ? error : c->error;
}

void pt_tables_causes_unread(struct pt_tables_causes *c)
{
    pt_report_unread(c->report);
}

/* Before a thread's first switch it may have been off the processor, in a log that has switches. */
static unsigned cause_of(const struct pt_tables_causes *c, const struct part *p)
{
    if (p->early && c->switches)
        return PT_CAUSE_UNKNOWN;
    if (p->share <= POSIXTRACE_WAIT_SIGNAL)
        return PT_CAUSE_WAITS + p->share;
    switch (p->share) {
    case PT_REPORT_RUN: return PT_CAUSE_RUN;
    case PT_REPORT_RUNNABLE: return PT_CAUSE_RUNNABLE;
    case PT_REPORT_UNNAMED: return PT_CAUSE_OFF;
    default: return PT_CAUSE_UNKNOWN;
    }
}

bool pt_tables_causes_get(const struct pt_tables_causes *c, pid_t pid, pid_t tid, int64_t from,
                          int64_t to, int64_t sums[PT_CAUSES])
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    const struct pt_report_thread *th = pt_report_map_find(&c->report->threads, key);
    const struct runner *r = th ? th->watched : NULL;
    int64_t known = 0;

    memset(sums, 0, PT_CAUSES * sizeof *sums);
    if (!r || from < r->lost_to || to < from)
        return false;
    for (size_t i = r->count; i > 0 && r->parts[i - 1].to > from; i--) {
        const struct part *p = &r->parts[i - 1];
        int64_t begin = p->from > from ? p->from : from, end = p->to < to ? p->to : to;

        if (end <= begin)
            continue;
        sums[cause_of(c, p)] += end - begin;
        known += end - begin;
    }
    sums[PT_CAUSE_UNKNOWN] += to - from - known;
    return true;
}

void pt_tables_causes_end(struct pt_tables_causes *c)
{
    for (size_t i = 0; c->report && i < c->report->threads.count; i++) {
        struct pt_report_thread *th = c->report->threads.items[i];
        struct runner *r = th->watched;

        if (r)
            free(r->parts);
        free(r);
    }
    posixtrace_report_free(c->report);
}
