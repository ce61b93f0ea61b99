/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See snapshot.h.  The stream keeps recording: the snapshot ends with the first event that is
 * younger than its start, once the stream has given, or lost, what it held then.
 */
#include <errno.h>
#include <posixtrace/attr.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "consumer/waiting.h"
#include "control/at_exit.h"
#include "control/control.h"
#include "control/info.h"
#include "control/read.h"
#include "control/snapshot.h"
#include "log/string_table.h"
#include "log/writer/builder.h"
#include "model/attr.h"

enum { LOSS_STEP = 4096 /* events */, LOOKS = 64 };

struct snapshot {
    struct pt_stream *s;
    struct pt_log_builder *builder;
    struct posixtrace_snapshot_report *report;
    struct posixtrace_info during;
    uint64_t recorded, due; /* events of threads so far; and how many the stream has to give */
    uint64_t ask;           /* with so many, what was lost since is looked up again */
    uint64_t start;         /* of the snapshot, in ticks of the stream's clock */
    int64_t created, until; /* ns: the stream, and the start of the snapshot */
    int64_t last;           /* time of the last event; INT64_MIN: none yet */
    bool in_gap;            /* the last mark in the log is OVERFLOW */
    bool done;
    int error;
    struct waits *waits;
};

/* A thread that was in a call at the start of the snapshot. */
struct waits {
    size_t count;
    struct snapshot_wait {
        struct pt_author author;
        struct pt_waiting_data data;
    } of[];
};

/*
 * What the stream had overwritten lies before the first event of it that is left, since when it
 * was created at the earliest: OVERFLOW and RESUME around it say to metrics that a measurement
 * there is not known, as in the log of a LOOP stream.
 */
static int put_mark(struct snapshot *p, int64_t ns)
{
    const struct posixtrace_event mark = { .ns = ns,
                                           .thread_name = "",
                                           .name = p->in_gap ? "posix_trace_resume"
                                                             : "posix_trace_overflow" };

    p->in_gap = !p->in_gap;
    return pt_log_builder_add(p->builder, &mark);
}

static int open_gap(struct snapshot *p, int64_t ns)
{
    if (p->report->lost_before[POSIXTRACE_LOST_OVERWRITTEN] == 0)
        return 0;
    return put_mark(p, p->created < ns ? p->created : ns);
}

/* One event; OVERFLOW or RESUME of the reader's own, in the gap before the first one, adds
 * nothing to it. */
static int copy_event(struct snapshot *p, const struct pt_event *e, int64_t ns)
{
    const char *name = pt_stream_name(p->s, e->id);
    struct posixtrace_event event;
    int error = 0;

    if (p->in_gap && (e->id == POSIX_TRACE_OVERFLOW || e->id == POSIX_TRACE_RESUME))
        return 0;
    if (p->in_gap)
        error = put_mark(p, ns);
    pt_read_public(&event, e, name);
    event.ns = ns;
    if (error == 0)
        error = pt_log_builder_add(p->builder, &event);
    p->report->events++;
    p->recorded += e->id > PT_ID_SYSTEM_LAST;
    return error;
}

static void take(void *context, const struct pt_event *e)
{
    struct snapshot *p = context;
    /* One that came late stands where it came. */
    int64_t ns = e->ns < p->last ? p->last : e->ns;

    pt_unfinished_advance();
    p->done = e->ns > p->until && p->recorded >= p->due;
    if (p->done)
        return;
    if (p->last == INT64_MIN)
        p->error = open_gap(p, ns);
    if (p->error == 0)
        p->error = copy_event(p, e, ns);
    p->last = ns;
}

/*
 * What the stream has lost since the start it does not give any more.  The time of an event alone
 * does not say when all has come: the clock may have been set back.  But while events are older
 * than the start, there are more.  A look reads the whole stream, so there are at most LOOKS for
 * each time that it is read.
 */
static int look_up_losses(struct snapshot *p)
{
    uint64_t step = p->due / LOOKS;
    int r;

    if (p->last <= p->until || p->recorded < p->ask)
        return 0;
    p->ask = p->recorded + (step > LOSS_STEP ? step : LOSS_STEP);
    r = pt_stream_info(p->s, &p->during);
    if (r == 0 && p->recorded + p->during.lost[POSIXTRACE_LOST_OVERWRITTEN] >= p->due)
        p->due = 0;
    return r;
}

static int copy_events(struct snapshot *p)
{
    bool gap = false;
    const struct pt_taker taker = { take, p, 1, &gap };
    int r = 0;

    while (r == 0 && !p->done && p->error == 0) {
        r = pt_stream_read(p->s, PT_READ_REST, NULL, PTHREAD_CANCEL_DISABLE, &taker);
        if (r == -EINTR)
            r = PT_READ_EVENT; /* a handler has interrupted the wait for a writer */
        if (r == PT_READ_NONE || r == -ENXIO) {
            r = 0; /* it has given all; or it has ended, and given all */
            break;
        }
        if (r > 0 && gap && p->report->events > 1)
            pt_log_builder_hides(p->builder);
        if (r > 0)
            r = look_up_losses(p);
    }
    if (r == 0)
        r = p->error;
    if (r == 0 && p->last == INT64_MIN)
        r = open_gap(p, p->until);
    return r == 0 && p->in_gap ? put_mark(p, p->until) : r;
}

/* What describes the stream's types so far. */
static int copy_descriptions(struct snapshot *p)
{
    char text[PT_DESCRIPTION_MAX + 1];
    int r = 0;

    pthread_mutex_lock(&p->s->reading);
    for (uint32_t id = PT_ID_USER_FIRST + 1; id < PT_ID_MAX && r == 0; id++) {
        const char *name = pt_stream_name(p->s, id);
        const char *is = name && name[0] ? pt_stream_description(p->s, id) : NULL;

        if (!is)
            continue;
        pt_string_table_copy_out(text, is, PT_DESCRIPTION_MAX);
        r = pt_log_builder_describe(p->builder, name, text);
    }
    pthread_mutex_unlock(&p->s->reading);
    return r;
}

static int copy_mappings(struct snapshot *p)
{
    uint32_t end;
    int r = 0;

    pthread_mutex_lock(&p->s->reading);
    end = pt_stream_mapping_end(p->s);
    for (uint32_t n = 1; n < end && r == 0; n++) {
        const char *text = pt_stream_mapping(p->s, n);

        r = text ? pt_log_builder_map(p->builder, n, text) : 0;
    }
    pthread_mutex_unlock(&p->s->reading);
    return r;
}

/* What the stream had lost before, and what was lost while its events were read. */
static int copy_losses(struct snapshot *p)
{
    int r = pt_stream_info(p->s, &p->during);

    if (r < 0)
        return r;
    memcpy(p->report->lost_during, p->during.lost, sizeof p->during.lost);
    pt_log_builder_lost(p->builder, p->report->lost_during);
    pt_log_builder_lost(p->builder, p->report->lost_before);
    return 0;
}

static int count_due(struct snapshot *p)
{
    int r = pt_stream_info(p->s, &p->during);

    p->due = p->during.events;
    return r;
}

/* One slot, if its thread lives and is in a call since the start or before: of a later one the
 * snapshot may not have the beginning. */
static bool look_at_wait(const struct snapshot *p, uint32_t i, struct snapshot_wait *wait)
{
    struct pt_seg *seg = p->s->seg;
    struct pt_slot_waiting w;
    struct pt_slot_view v;

    if (!pt_slot_is_live(pt_load_acquire(&pt_seg_slot(seg, i)->state)))
        return false;
    pt_slot_look(seg, i, &v);
    if (!v.stable || v.author.level != 0 || !pt_waiting_look(seg, i, v.wid, &w) ||
        w.began > p->start)
        return false;
    wait->author = v.author;
    pt_waiting_fill(seg, &w, pt_clock_now(seg->g.clock), &wait->data);
    return true;
}

static int look_at_waits(struct snapshot *p)
{
    uint32_t n = pt_slot_count(p->s->seg);

    p->waits = malloc(sizeof *p->waits + n * sizeof *p->waits->of);
    if (!p->waits)
        return -ENOMEM;
    p->waits->count = 0;
    for (uint32_t i = 0; i < n; i++)
        p->waits->count += look_at_wait(p, i, &p->waits->of[p->waits->count]);
    return 0;
}

/* The calls in which threads were at the start, after all events until then. */
static int put_waits(struct snapshot *p)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->waits->count; i++) {
        const struct snapshot_wait *w = &p->waits->of[i];
        const struct posixtrace_event event = {
            .ns = p->until > p->last ? p->until : p->last,
            .thread_id = w->author.thread_id,
            .data = &w->data,
            .data_len = sizeof w->data,
            .thread_name = w->author.name,
            .name = pt_event_system_name(POSIXTRACE_WAITING),
            .pid = w->author.pid,
            .tid = w->author.tid,
        };

        r = pt_log_builder_add(p->builder, &event);
    }
    return r;
}

/* A call that has not returned after the events were counted ends with none of these. */
static int copy_all(struct snapshot *p)
{
    int r = count_due(p);

    if (r == 0)
        r = look_at_waits(p);
    if (r == 0)
        r = copy_events(p);
    if (r == 0)
        r = put_waits(p);
    if (r == 0)
        r = copy_losses(p);
    if (r == 0)
        r = copy_descriptions(p);
    free(p->waits);
    return r;
}

int pt_snapshot(struct pt_stream *onlooker, int fd, struct posixtrace_snapshot_report *report)
{
    struct pt_attr attr = onlooker->seg->g.attr;
    struct snapshot p = { .s = onlooker,
                          .report = report,
                          .start = pt_clock_now(onlooker->seg->g.clock),
                          .created = attr.create_ns,
                          .until = (int64_t)pt_clock_ns(CLOCK_REALTIME),
                          .last = INT64_MIN };
    int r;

    /* Rows are for logs of a program, whose log-max-size counts events by their size. */
    if (attr.compression == POSIXTRACE_COMPRESSION_NONE)
        attr.compression = POSIXTRACE_COMPRESSION_COLUMNS;
    memset(report, 0, sizeof *report);
    pt_stream_lost_before(onlooker, report->lost_before);
    r = pt_log_builder_new(&p.builder, fd, &attr);
    if (r < 0)
        return r;
    r = copy_all(&p);
    if (r == 0)
        r = copy_mappings(&p);
    if (r < 0) {
        pt_log_builder_free(p.builder);
        return r;
    }
    r = pt_log_builder_finish(p.builder);
    /* A log that cannot be ended counts what it lacks, and is complete: that is no snapshot. */
    if (r < 0 && ftruncate(fd, 0) != 0)
        return r;
    return r;
}
