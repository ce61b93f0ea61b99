/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See info.h.  The tallies of an active stream are the consumer's: reading lock. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/thread.h"
#include "consumer/balance.h"
#include "control/control.h"
#include "control/info.h"
#include "control/sequence.h"
#include "flush/thread.h"
#include "shm/pool.h"
#include "shm/syncpoint.h"
#include "shm/waiting.h"

/* Stores to the slots.  Not in a child that a handler forks, which may return here: the slots are
 * its parent's. */
static int take_counts(struct pt_stream *s)
{
    struct pt_consumer *l = &s->live;
    sigset_t before;
    int r = -EINVAL;

    pt_thread_hold_signals(&before);
    if (pt_stream_is_ours(s)) {
        pt_accounts_take(&l->accounts, l->finished);
        if (!l->passive)
            pt_accounts_release(&l->accounts);
        r = 0;
    }
    pt_thread_let_signals(&before);
    return r;
}

/*
 * Does not wait for the log: where the flush thread is in the middle of a write, which a
 * stalled pipe makes last for ever, the books are taken as they are.  Else the counts of
 * ended threads are taken first, so that the threads stay known.  Their slots are free then,
 * but in a stream with log: there a writer that needs a slot takes that of an ended thread,
 * unless a round holds it.
 */
static int gather(struct pt_stream *s, struct pt_balance *b)
{
    struct pt_consumer *l = &s->live;
    int r = l->passive ? pt_consumer_notice_clear(l) : 0;

    if (r < 0)
        return r;
    if (!s->flusher)
        r = take_counts(s);
    else if (!pt_flusher_is_writing(s->flusher))
        pt_accounts_look(&l->accounts, l->finished);
    return r < 0 ? r : pt_balance_take(l, b);
}

static int active_losses(struct pt_stream *s, struct posixtrace_info *info)
{
    struct pt_balance b = { .count = 0 };
    int r = gather(s, &b);

    for (uint32_t i = 0; r == 0 && i < b.count; i++)
        pt_balance_add(&s->live, &b.entries[i], info->lost, &info->events);
    if (r == 0)
        pt_balance_add_rest(&s->live, &b, info->lost, &info->events);
    pt_balance_free(&b);
    return r;
}

static int active_info(struct pt_stream *s, struct posixtrace_info *info)
{
    const struct pt_seg_header *h = s->seg->h;
    struct pt_flush_status st;
    int r = active_losses(s, info);

    if (r < 0)
        return r;
    memcpy(info->id, h->id, sizeof info->id);
    pt_sys_host(info->host);
    memcpy(info->boot_id, h->boot_id, sizeof info->boot_id);
    info->clock = s->seg->g.clock;
    info->end = POSIXTRACE_END_ACTIVE;
    info->late = s->live.late;
    info->bytes = (uint64_t)pt_pool_used(s->seg) * s->seg->g.chunk_size;
    info->peak_bytes = (uint64_t)pt_load_relaxed(&h->peak_chunks) * s->seg->g.chunk_size;
    info->reserved_bytes = (uint64_t)pt_seg_chunk_count(s->seg) * s->seg->g.chunk_size;
    info->advised_size = pt_slot_advised_size(s->seg);
    info->barrier = !s->seg->g.fences;
    if (s->flusher) {
        for (unsigned c = PT_LOST_OWN; c < PT_LOSS_CAUSES; c++)
            info->lost[c] = pt_flusher_log_lost(s->flusher, c);
        pt_flusher_status(s->flusher, &st, false);
        info->flush_error = st.error;
    }
    return 0;
}

/* Under the reading lock. */
static uint64_t lost_switches(const struct pt_stream *s)
{
    return s->log ? pt_log_reader_lost_switches(s->log)
                  : pt_load_relaxed(&s->seg->h->lost_switches) - s->live.onlooker.switches;
}

int pt_stream_info(struct pt_stream *s, struct posixtrace_info *info)
{
    int r;

    memset(info, 0, sizeof *info);
    pt_stream_lock_reading(s);
    if (s->pieces) {
        pt_sequence_info(s, info);
        pthread_mutex_unlock(&s->reading);
        return 0;
    }
    r = s->log ? pt_log_reader_info(s->log, info) : active_info(s, info);
    info->lost[POSIXTRACE_LOST_SWITCHES] = lost_switches(s);
    if (s->log && r == 0 && s->tail)
        info->end = POSIXTRACE_END_TAIL;
    if (s->log && r == 0 && s->writer_alive)
        info->end = POSIXTRACE_END_ACTIVE;
    pthread_mutex_unlock(&s->reading);
    return r;
}

void pt_stream_lost_before(struct pt_stream *s, uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    memset(lost, 0, POSIXTRACE_LOSS_CAUSES * sizeof *lost);
    pt_stream_lock_reading(s);
    memcpy(lost, s->live.onlooker.lost, sizeof s->live.onlooker.lost);
    lost[POSIXTRACE_LOST_SWITCHES] = s->live.onlooker.switches;
    pthread_mutex_unlock(&s->reading);
}

static uint32_t limits_of_log(const struct pt_stream *s, struct posixtrace_limits *limits)
{
    const struct pt_log_params *params = pt_log_reader_params(s->log);

    if (params->clock != POSIXTRACE_CLOCK_REALTIME) {
        limits->threads = pt_seg_writers_of(&params->attr);
        limits->processes = PT_PROC_MAX;
    }
    return s->pieces ? pt_sequence_refused(s) : pt_log_reader_refused(s->log);
}

void pt_stream_limits(struct pt_stream *s, struct posixtrace_limits *limits)
{
    uint32_t refused;

    memset(limits, 0, sizeof *limits);
    pthread_mutex_lock(&s->reading);
    if (s->log) {
        refused = limits_of_log(s, limits);
    } else {
        limits->threads = pt_seg_writers(&s->seg->g);
        limits->processes = PT_PROC_MAX;
        refused = pt_seg_refused(s->seg);
        limits->clock_left = pt_syncpoint_is_left(s->seg->h);
    }
    pthread_mutex_unlock(&s->reading);
    limits->refused_processes = refused & 0xffffu;
    limits->refused_threads = refused >> 16;
}

/* 0: of one thread. */
static int compare_threads(const struct pt_author *x, const struct pt_author *y)
{
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->thread_id < y->thread_id ? -1 : x->thread_id > y->thread_id;
}

/* Those without books of their own last, the others by thread; of a thread the writers of its
 * signal handlers last. */
static int by_thread(const void *a, const void *b)
{
    const struct pt_balance_entry *x = a, *y = b;
    int order = (x->source != PT_BALANCE_OWN) - (y->source != PT_BALANCE_OWN);

    if (order == 0)
        order = compare_threads(&x->t.author, &y->t.author);
    if (order == 0 && x->t.author.level != y->t.author.level)
        order = x->t.author.level < y->t.author.level ? -1 : 1;
    return order ? order : x->t.author.wid < y->t.author.wid ? -1 : 1;
}

/* Adds the writers of a thread's signal handlers to the thread's first writer: a thread that
 * traces while it ends has a second one.  False: entry i is a handler's and is reported with
 * its thread. */
static bool sum_levels(const struct pt_consumer *l, const struct pt_balance *b, uint32_t i,
                       struct posixtrace_thread_info *info)
{
    const struct pt_balance_entry *first = &b->entries[i], *e = first;
    const struct pt_balance_entry *end = b->entries + b->count;

    while (first > b->entries && compare_threads(&first[-1].t.author, &e->t.author) == 0)
        first--;
    if (e->t.author.level > 0)
        return first->t.author.level > 0;
    if (e > first)
        return true;
    while (++e < end && e->source == PT_BALANCE_OWN &&
           compare_threads(&e->t.author, &first->t.author) == 0)
        if (e->t.author.level > 0)
            pt_balance_add(l, e, info->lost, &info->recorded);
    return true;
}

static int ended_threads(const struct pt_consumer *l, const struct pt_balance *b,
                         struct posixtrace_thread_info *t)
{
    uint64_t any = 0;

    strcpy(t->name, "(ended)");
    pt_balance_add_rest(l, b, t->lost, &t->recorded);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        any |= t->lost[c];
    return any || t->recorded ? 1 : 0;
}

/* The books that the list of threads is read from: those of its first call. */
static int begin_threads(struct pt_stream *s)
{
    int r;

    if (!s->balance)
        s->balance = calloc(1, sizeof *s->balance);
    if (!s->balance)
        return -ENOMEM;
    pt_balance_free(s->balance);
    r = gather(s, s->balance);
    if (r < 0)
        pt_balance_free(s->balance);
    else if (s->balance->count)
        qsort(s->balance->entries, s->balance->count, sizeof *s->balance->entries, by_thread);
    return r;
}

/* What the thread of a writer waits for now. */
static void add_wait(struct pt_seg *seg, const struct pt_author *author,
                     struct posixtrace_thread_info *t)
{
    struct pt_slot_waiting w;

    if (author->level != 0 || author->slot_1 == 0 || author->slot_1 > pt_slot_count(seg) ||
        !pt_waiting_look(seg, author->slot_1 - 1, author->wid, &w))
        return;
    t->wait_type = w.type;
    t->wait_call = w.call;
    t->wait_object = w.object;
    t->wait_caller = w.caller;
    t->wait_since_ns = w.began ? pt_syncpoint_since(seg->h, seg->g.clock, w.began) : 0;
}

static int active_thread(struct pt_stream *s, struct posixtrace_thread_info *t)
{
    const struct pt_consumer *l = &s->live;
    uint32_t *at = &s->thread_at;
    int r = *at == 0 || !s->balance ? begin_threads(s) : 0;

    if (r < 0)
        return r;
    for (; *at < s->balance->count; ++*at) {
        const struct pt_balance_entry *e = &s->balance->entries[*at];

        if (e->source != PT_BALANCE_OWN)
            continue;
        memset(t, 0, sizeof *t);
        t->pid = e->t.author.pid;
        t->tid = e->t.author.tid;
        t->thread_id = e->t.author.thread_id;
        memcpy(t->name, e->t.author.name, sizeof t->name);
        pt_balance_add(l, e, t->lost, &t->recorded);
        add_wait(s->seg, &e->t.author, t);
        if (!sum_levels(l, s->balance, *at, t))
            continue;
        ++*at;
        return 1;
    }
    memset(t, 0, sizeof *t);
    if (*at > s->balance->count)
        return 0;
    ++*at;
    return ended_threads(l, s->balance, t);
}

int pt_stream_next_thread(struct pt_stream *s, struct posixtrace_thread_info *t)
{
    int r;

    pt_stream_lock_reading(s);
    if (s->pieces)
        r = pt_sequence_thread(s, s->thread_at, t);
    else
        r = s->log ? pt_log_reader_thread(s->log, s->thread_at, t) : active_thread(s, t);
    s->thread_at += s->log && r == 1;
    pthread_mutex_unlock(&s->reading);
    return r;
}

void pt_stream_rewind_threads(struct pt_stream *s)
{
    pt_stream_lock_reading(s);
    s->thread_at = 0;
    pthread_mutex_unlock(&s->reading);
}

/* ---- status ---- */

/* FULL in a LOOP stream: no chunk is free, so the next one overwrites. */
static bool is_full(const struct pt_seg *seg, uint64_t state)
{
    const struct pt_seg_header *h = seg->h;

    if (pt_state_is_full(state))
        return true;
    return seg->g.attr.stream_policy == POSIX_TRACE_LOOP && pt_load_relaxed(&h->recycled) &&
           pt_load_relaxed(&h->used_chunks) >= pt_seg_chunk_count(seg);
}

/* The error that a flush of this stream has met, whether or not the creator has asked meanwhile;
 * before the first one, the error that the creator would get. */
static int foreign_flush_error(const struct pt_stream *s)
{
    const struct pt_seg_header *h = s->seg->h;
    uint64_t since = pt_load_seqcst(&s->flush_since);
    uint32_t errors = pt_load_seqcst(&h->flush_errors);

    if (!since)
        return (int)(pt_load_seqcst(&h->flush_error) & PT_FLUSH_ERRNO);
    return errors == (uint32_t)since ? 0 : (int)(errors & PT_FLUSH_ERRNO);
}

/* The status that the owner's flush thread has stored in the segment. */
static void foreign_flush_status(const struct pt_stream *s, struct pt_flush_status *st)
{
    const struct pt_seg_header *h = s->seg->h;
    /* Loaded before the bits: the flush thread sets the bit before it takes the request. */
    bool asked = pt_load_seqcst(&h->flush_asked_from) != 0;
    uint32_t bits = pt_load_seqcst(&h->flush_state);

    st->flushing = asked || (bits & PT_FLUSHING);
    st->log_overrun = (bits & PT_LOG_OVERRUN) != 0;
    st->log_full = (bits & PT_LOG_FULL) != 0;
    st->error = foreign_flush_error(s);
}

/* Returns whether events were lost in the stream.  Only the creator resets that and what flush
 * has, and no child that a handler has forked in this call. */
static bool take_pending(const struct pt_stream *s, struct pt_flush_status *flush)
{
    bool resets, overrun;
    struct pt_seg_header *h = s->seg->h;
    sigset_t before;

    pt_thread_hold_signals(&before);
    resets = s->kind != PT_STREAM_ATTACHED && pt_stream_is_ours(s);
    overrun = resets ? pt_exchange_seqcst(&h->overrun, 0u) : pt_load_seqcst(&h->overrun);
    if (s->flusher)
        pt_flusher_status(s->flusher, flush, resets);
    else if (s->kind == PT_STREAM_ATTACHED)
        foreign_flush_status(s, flush);
    pt_thread_let_signals(&before);
    return overrun;
}

void pt_stream_status(struct pt_stream *s, struct posix_trace_status_info *status)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_flush_status flush = { 0, 0, 0, 0 };
    uint64_t state;

    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&s->control);
    state = pt_load_seqcst(&h->state);
    status->posix_stream_status = pt_state_of(state) == PT_RUNNING ? POSIX_TRACE_RUNNING
                                                                   : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = is_full(s->seg, state) ? POSIX_TRACE_FULL
                                                              : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status = take_pending(s, &flush) ? POSIX_TRACE_OVERRUN
                                                                  : POSIX_TRACE_NO_OVERRUN;
    status->posix_stream_flush_status = flush.flushing ? POSIX_TRACE_FLUSHING
                                                       : POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = flush.error;
    status->posix_log_overrun_status = flush.log_overrun ? POSIX_TRACE_OVERRUN
                                                         : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status = flush.log_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    pthread_mutex_unlock(&s->control);
}
