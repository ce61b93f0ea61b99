/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Steering an active stream: start, stop, filter, clear, flush, status. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/clock.h"
#include "base/sys.h"
#include "ring/dir.h"
#include "stream/flush.h"

static void fill_author(const struct pt_stream *s, struct pt_author *a)
{
    memset(a, 0, sizeof *a);
    a->level = PT_LEVEL_CONTROL;
    a->pid = (int32_t)s->self->pid;
    a->tid = pt_sys_tid();
    a->thread_id = (uint64_t)(uintptr_t)pthread_self();
    prctl(PR_GET_NAME, (unsigned long)a->name, 0, 0, 0);
    a->name[15] = '\0';
}

void pt_stream_put_control(struct pt_stream *s, uint32_t id, const void *data, uint32_t len,
                           uint64_t addr)
{
    struct pt_lane *lane = &s->lane;
    struct pt_slot *slot = lane->slot;
    struct pt_author a;
    uint64_t ts;

    /* Control records may be longer than the data of user events. */
    lane->max_data = 2 * sizeof(struct pt_set);
    pt_store_seqcst(&slot->inside, pt_clock_now(PT_CLOCK_MONOTONIC) | 1u);
    pt_fence_seqcst();
    ts = pt_clock_now(lane->h->clock);
    fill_author(s, &a);
    if (a.tid != slot->author.tid || a.thread_id != slot->author.thread_id)
        pt_lane_set_author(lane, &a, pt_record_max_size(len));
    if (pt_set_has(&s->seg->h->filter, id))
        id |= PT_RECORD_TRUNCATED;
    pt_lane_write(lane, id, data, len, addr, ts);
    if ((id & PT_RECORD_ID_MASK) == POSIX_TRACE_START)
        pt_store_relaxed(&lane->h->window, 1u);
    else if ((id & PT_RECORD_ID_MASK) == POSIX_TRACE_STOP)
        pt_store_relaxed(&lane->h->window, 0u);
    pt_store_seqcst(&slot->inside, 0u);
    pt_fence_seqcst();
    if (pt_load_relaxed(&s->seg->h->attention) & PT_WAIT_READER)
        pt_stream_wake(s->seg->h, PT_WAIT_READER);
}

/* The page of another process that the stream traces, or NULL. */
static struct pt_page *page_of(struct pt_stream *s, uint32_t pid, uint64_t start)
{
    struct pt_page *page;
    char file[64];

    if (pid == s->self->pid && start == s->self->start)
        return s->self->page;
    return pt_page_open(&page, pid, start, file) == 0 ? page : NULL;
}

/* fn for the page of every process in the stream's table. */
static void each_page(struct pt_stream *s,
                      void (*fn)(struct pt_stream *s, struct pt_page *page, unsigned bit,
                                 bool open),
                      bool open)
{
    for (unsigned i = 0; i < PT_PROC_MAX; i++) {
        const struct pt_proc *p = &s->seg->h->procs[i];
        uint32_t pid = pt_load_seqcst(&p->pid);
        struct pt_page *page;

        if (pid == 0 || p->bit >= PT_STREAMS)
            continue;
        page = page_of(s, pid, pt_load_seqcst(&p->start));
        if (!page)
            continue;
        fn(s, page, p->bit, open);
        if (page != s->self->page)
            pt_page_unmap(page);
    }
}

static void set_gates(struct pt_stream *s, struct pt_page *page, unsigned bit, bool open)
{
    if (open)
        pt_page_open_gates(page, bit, &s->seg->h->filter);
    else
        pt_page_close_gates(page, bit);
}

void pt_stream_update_gates(struct pt_stream *s, bool open)
{
    pt_fence_seqcst();
    each_page(s, set_gates, open);
}

static void forget(struct pt_stream *s, struct pt_page *page, unsigned bit, bool open)
{
    (void)open;
    if (page != s->self->page)
        pt_page_give_bit(page, bit);
}

void pt_stream_forget_processes(struct pt_stream *s)
{
    each_page(s, forget, false);
}

int pt_stream_start(struct pt_stream *s, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;

    pthread_mutex_lock(&s->control);
    if (pt_state_of(pt_load_seqcst(&h->state)) == PT_SUSPENDED) {
        pt_stream_put_control(s, POSIX_TRACE_START, &h->filter, sizeof h->filter, addr);
        pt_store_seqcst(&h->state, pt_state_make(PT_RUNNING, pt_clock_now(h->clock)));
        pt_stream_update_gates(s, true);
    }
    pthread_mutex_unlock(&s->control);
    return 0;
}

/* The state first, then the gates, then the record: what a thread that passed
 * its gate before stamps later lies behind STOP and outside the window. */
int pt_stream_stop(struct pt_stream *s, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t state;
    int by_call = 0;

    pthread_mutex_lock(&s->control);
    state = pt_load_seqcst(&h->state);
    while (pt_state_of(state) == PT_RUNNING)
        if (pt_cas_seqcst(&h->state, &state,
                          pt_state_make(PT_SUSPENDED, pt_clock_now(h->clock)))) {
            pt_stream_update_gates(s, false);
            pt_stream_put_control(s, POSIX_TRACE_STOP, &by_call, sizeof by_call, addr);
            break;
        }
    pthread_mutex_unlock(&s->control);
    return 0;
}

int pt_stream_set_filter(struct pt_stream *s, const struct pt_set *set, int how, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_set change[2];

    pthread_mutex_lock(&s->control);
    pt_set_copy(&change[0], &h->filter);
    change[1] = change[0];
    if (!pt_set_change(&change[1], set, how)) {
        pthread_mutex_unlock(&s->control);
        return -EINVAL;
    }
    if (pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING)
        pt_stream_put_control(s, POSIX_TRACE_FILTER, change, sizeof change, addr);
    pt_set_copy(&h->filter, &change[1]);
    if (pt_state_of(pt_load_seqcst(&h->state)) != PT_SUSPENDED) {
        pt_stream_update_gates(s, true);
        /* No event of a type that is filtered now is stamped after we return. */
        pt_threads_left();
    }
    pthread_mutex_unlock(&s->control);
    return 0;
}

int pt_stream_clear(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_set nothing;
    uint64_t state, ts;
    int r;

    pt_set_empty(&nothing);
    pthread_mutex_lock(&s->control);
    pt_set_copy(&h->filter, &nothing);
    state = pt_load_seqcst(&h->state);
    while (pt_state_of(state) == PT_AUTOSTOPPED &&
           !pt_cas_seqcst(&h->state, &state, pt_state_make(PT_SUSPENDED, 0)))
        ;
    pt_stream_update_gates(s, pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING);
    pt_and_seqcst(&h->attention, ~PT_WAIT_STOPPED);
    ts = pt_clock_now(h->clock);
    pt_store_seqcst(&h->clear_ts, ts);
    pthread_mutex_unlock(&s->control);

    if (s->flusher) {
        r = pt_flusher_clear(s->flusher, ts);
    } else {
        pthread_mutex_lock(&s->reading);
        r = pt_live_clear(&s->live, ts);
        pthread_mutex_unlock(&s->reading);
    }
    pt_store_seqcst(&h->overrun, 0u);
    pt_store_seqcst(&h->recycled, 0u);
    return r;
}

int pt_stream_flush(struct pt_stream *s, uint64_t addr)
{
    struct pt_flush_status st;

    pthread_mutex_lock(&s->control);
    if (pt_state_of(pt_load_seqcst(&s->seg->h->state)) == PT_RUNNING)
        pt_stream_put_control(s, POSIX_TRACE_FLUSH_START, NULL, 0, addr);
    pthread_mutex_unlock(&s->control);
    pt_flusher_ask(s->flusher);
    pt_flusher_status(s->flusher, &st, false);
    return -st.error;
}

/* FULL in a LOOP stream: no chunk is free, so the next one overwrites. */
static bool is_full(const struct pt_seg_header *h, unsigned state)
{
    if (state == PT_AUTOSTOPPED)
        return true;
    return h->attr.stream_policy == POSIX_TRACE_LOOP && pt_load_relaxed(&h->recycled) &&
           pt_load_relaxed(&h->used_chunks) >= pt_load_relaxed(&h->nchunks);
}

void pt_stream_status(struct pt_stream *s, struct posix_trace_status_info *status)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_flush_status flush = { 0, 0, 0, 0 };
    unsigned state;

    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&s->control);
    state = pt_state_of(pt_load_seqcst(&h->state));
    status->posix_stream_status = state == PT_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = is_full(h, state) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status =
        pt_exchange_seqcst(&h->overrun, 0u) ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    if (s->flusher)
        pt_flusher_status(s->flusher, &flush, true);
    status->posix_stream_flush_status = flush.flushing ? POSIX_TRACE_FLUSHING
                                                       : POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = flush.error;
    status->posix_log_overrun_status = flush.log_overrun ? POSIX_TRACE_OVERRUN
                                                         : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status = flush.log_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    pthread_mutex_unlock(&s->control);
}
