/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rows of gaps that say how many events were lost: by thread and cause, with sums that are those of
 * posixtrace_get_info(), exactly.
 *
 * Recorded events of a writer have numbers without a gap, so events that were lost after they were
 * recorded (overwritten, or not in the log) are places where the numbers of a writer jump.  Where
 * the jumps of a thread add up to these losses of it, each jump is a row with the times of the
 * events around it.  Where they do not (a stream was cleared, a part of the log cannot be read),
 * there is one row for each cause, without times.
 *
 * In the pieces of a stream the numbers continue.  Where those of a piece should begin is not
 * known, so a thread's losses are placed if they all lie between its events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/block.h>
#include <posixtrace/system.h>

#include "analysis/tables/tables_state.h"

struct thread {
    pid_t pid, tid;
    uint64_t thread_id;
    char name[16];
    uint64_t left[POSIXTRACE_LOSS_CAUSES]; /* lost, and not in a row until now */
    uint64_t recorded, seen;               /* seen: events, and jumps, of its writers */
    uint64_t jumps;
    bool placed;     /* each jump is a row */
    bool has_events; /* of its writers: */
    int64_t last_ns; /* the earliest of their last events */
};

struct writer {
    struct thread *thread;
    uint64_t first, next; /* numbers: where those of the log begin, and of the next event */
    int64_t last_ns;
};

struct losses {
    struct pt_table_row *row;
    struct pt_report_map threads, writers;
    uint64_t sum[POSIXTRACE_LOSS_CAUSES]; /* of threads */
    bool damaged;
    bool emits; /* the second pass */
};

/* Causes of losses that have numbers, in the order in which a jump takes them. */
static const unsigned in_the_middle[] = { POSIXTRACE_LOST_OVERWRITTEN, POSIXTRACE_LOST_LOG_ERROR,
                                          POSIXTRACE_LOST_LOG_OVERWRITTEN,
                                          POSIXTRACE_LOST_LOG_FULL };
static const unsigned before_all[] = { POSIXTRACE_LOST_LOG_OVERWRITTEN, POSIXTRACE_LOST_OVERWRITTEN,
                                       POSIXTRACE_LOST_LOG_ERROR, POSIXTRACE_LOST_LOG_FULL };
static const unsigned after_all[] = { POSIXTRACE_LOST_LOG_FULL, POSIXTRACE_LOST_LOG_ERROR,
                                      POSIXTRACE_LOST_OVERWRITTEN,
                                      POSIXTRACE_LOST_LOG_OVERWRITTEN };
enum { NUMBERED = 4 };

static bool has_number(unsigned cause)
{
    for (unsigned i = 0; i < NUMBERED; i++)
        if (in_the_middle[i] == cause)
            return true;
    return false;
}

/* ---- rows ---- */

/* At most what the thread has left of that cause. */
static int put_lost(struct losses *l, struct thread *th, unsigned cause, uint64_t events,
                    const int64_t *from, const int64_t *to)
{
    struct pt_table_row *r = l->row;

    if (events == 0)
        return 0;
    /* A log gives up its oldest events. */
    if (cause == POSIXTRACE_LOST_LOG_OVERWRITTEN && !to && r->t->info.events > 0 &&
        r->t->info.late == 0) {
        to = &r->t->info.first_ns;
        from = NULL;
    }
    th->left[cause] -= events;
    pt_table_row_begin(r);
    if (th->tid != 0)
        pt_table_row_thread(r, POSIXTRACE_GAPS_PID, th->pid, th->tid, th->thread_id, th->name);
    if (from)
        pt_table_row_number(r, POSIXTRACE_GAPS_BEGIN_TIME, *from);
    if (to)
        pt_table_row_number(r, POSIXTRACE_GAPS_END_TIME, *to);
    pt_table_row_number(r, POSIXTRACE_GAPS_LOST, (int64_t)events);
    pt_table_row_text(r, POSIXTRACE_GAPS_CAUSE, posixtrace_loss_cause_text(cause));
    return pt_table_row_end(r);
}

/* Events of one place, by the causes in that order. */
static int put_place(struct losses *l, struct thread *th, const unsigned causes[NUMBERED],
                     uint64_t events, const int64_t *from, const int64_t *to)
{
    int error = 0;

    for (unsigned i = 0; !error && i < NUMBERED && events > 0; i++) {
        uint64_t left = th->left[causes[i]], part = left < events ? left : events;

        error = put_lost(l, th, causes[i], part, from, to);
        events -= part;
    }
    return error;
}

/* ---- threads ---- */

static struct thread *thread_of(struct losses *l, pid_t pid, pid_t tid, uint64_t thread_id)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid, .c = thread_id };
    struct thread *th = pt_report_map_make(&l->threads, key, sizeof *th);

    if (th) {
        th->pid = pid;
        th->tid = tid;
        th->thread_id = thread_id;
    }
    return th;
}

/* No more than the stream has lost: a log can say anything. */
static void add_lost(struct losses *l, struct thread *th, const uint64_t *lost)
{
    const uint64_t *all = l->row->t->info.lost;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        uint64_t left = all[c] - l->sum[c], part = lost[c] < left ? lost[c] : left;

        th->left[c] += part;
        l->sum[c] += part;
    }
}

/* Those of no thread are at the end, with what no thread has of the stream's losses. */
static int read_threads(struct losses *l)
{
    trace_id_t trid = l->row->t->trid;
    struct posixtrace_thread_info info;
    int unavailable = 0, error = posixtrace_threadlist_rewind(trid);
    struct thread *th;

    while (!error) {
        error = posixtrace_threadlist_getnext(trid, &info, sizeof info, &unavailable);
        if (error || unavailable)
            break;
        if (info.tid == 0)
            continue;
        th = thread_of(l, info.pid, info.tid, info.thread_id);
        if (!th)
            return ENOMEM;
        memcpy(th->name, info.name, sizeof th->name - 1);
        th->recorded += info.recorded;
        add_lost(l, th, info.lost);
    }
    if (error)
        return error;
    th = thread_of(l, 0, 0, 0);
    if (!th)
        return ENOMEM;
    add_lost(l, th, l->row->t->info.lost);
    return 0;
}

/* ---- jumps ---- */

static int take_jump(struct losses *l, struct writer *w, const struct posixtrace_block *b,
                     bool is_first)
{
    uint64_t events = b->first_number - w->next;
    struct thread *th = w->thread;

    if (!l->emits) {
        if (b->first_number < w->next) /* a hostile log */
            l->damaged = true;
        th->jumps += events;
        return 0;
    }
    if (!th->placed)
        return 0;
    return put_place(l, th, is_first ? before_all : in_the_middle, events,
                     is_first ? NULL : &w->last_ns, &b->ns[0]);
}

static int take_block(struct losses *l, const struct posixtrace_block *b)
{
    struct pt_report_key key = { .a = b->writer };
    struct writer *w = pt_report_map_make(&l->writers, key, sizeof *w);
    bool is_first = w && !w->thread;
    int error = 0;

    if (is_first)
        w->thread = thread_of(l, b->pid, b->tid, b->thread_id);
    if (!w || !w->thread)
        return ENOMEM;
    if (is_first && l->row->t->info.piece != 0)
        w->first = w->next = b->first_number;
    if (b->first_number != w->next)
        error = take_jump(l, w, b, is_first);
    w->next = b->first_number + b->count;
    w->last_ns = b->ns[b->count - 1];
    return error;
}

/* Does a thread record such events itself?  Others of its blocks have numbers of their own, which
 * are not among the thread's. */
static bool is_own(const struct posixtrace_block *b)
{
    unsigned id = b->count > 0 ? b->ids[0] : 0;

    return b->tid != 0 && id > POSIX_TRACE_ERROR && id != POSIXTRACE_WAITING &&
           !(id >= POSIXTRACE_SWITCH_IN && id <= POSIXTRACE_CPU_TIME);
}

static int take_blocks(struct losses *l)
{
    trace_id_t trid = l->row->t->trid;
    struct posixtrace_block b;
    int unavailable = 0, error = posix_trace_rewind(trid);

    while (!error) {
        error = posixtrace_next_block(trid, 0, &b, sizeof b, &unavailable);
        if (error || unavailable)
            break;
        l->damaged |= b.gap;
        if (is_own(&b))
            error = take_block(l, &b);
        if (!error)
            error = pt_tables_progress(l->row->t, b.count);
    }
    return error;
}

/* Do the numbers of a thread's events say where all of these losses are? */
static bool is_placed(const struct losses *l, const struct thread *th)
{
    uint64_t numbered = 0;

    for (unsigned i = 0; i < NUMBERED; i++)
        numbered += th->left[in_the_middle[i]];
    return !l->damaged && th->seen <= th->recorded &&
           numbered == th->jumps + (th->recorded - th->seen) &&
           (l->row->t->info.piece == 0 || th->seen == th->recorded);
}

static void place_threads(struct losses *l)
{
    for (size_t i = 0; i < l->writers.count; i++) {
        const struct writer *w = l->writers.items[i];
        struct thread *th = w->thread;

        th->seen += w->next - w->first;
        th->last_ns = th->has_events && th->last_ns < w->last_ns ? th->last_ns : w->last_ns;
        th->has_events = true;
    }
    for (size_t i = 0; i < l->threads.count; i++) {
        struct thread *th = l->threads.items[i];

        th->placed = th->tid != 0 && is_placed(l, th);
    }
}

static bool has_numbered(const struct posixtrace_info *info)
{
    for (unsigned i = 0; i < NUMBERED; i++)
        if (info->lost[in_the_middle[i]] > 0)
            return true;
    return false;
}

static int put_jumps(struct losses *l)
{
    int error = take_blocks(l);
    bool any = false;

    if (error)
        return error;
    place_threads(l);
    for (size_t i = 0; i < l->threads.count; i++) {
        const struct thread *th = l->threads.items[i];

        any |= th->placed && th->jumps > 0;
    }
    if (!any)
        return 0;
    pt_report_map_deinit(&l->writers);
    l->writers = (struct pt_report_map){ .count = 0 };
    l->emits = true;
    return take_blocks(l);
}

/* ---- the rest ---- */

/* What has no number; and, without times where it is not known when, what has. */
static int put_rest(struct losses *l, struct thread *th, const int64_t *from, const int64_t *to)
{
    int error = 0;

    if (th->placed)
        error = put_place(l, th, after_all, th->recorded - th->seen,
                          th->has_events ? &th->last_ns : NULL, NULL);
    for (unsigned c = 0; !error && c < POSIXTRACE_LOSS_CAUSES; c++)
        error = has_number(c) ? put_lost(l, th, c, th->left[c], NULL, NULL)
                              : put_lost(l, th, c, th->left[c], from, to);
    return error;
}

int pt_tables_losses(struct pt_table_row *r, const int64_t *from, const int64_t *to)
{
    struct losses l = { .row = r, .damaged = r->t->info.skipped_bytes > 0 };
    int error = read_threads(&l);

    if (!error && has_numbered(&r->t->info))
        error = put_jumps(&l);
    for (size_t i = 0; !error && i < l.threads.count; i++)
        error = put_rest(&l, l.threads.items[i], from, to);
    pt_report_map_deinit(&l.threads);
    pt_report_map_deinit(&l.writers);
    return error;
}
