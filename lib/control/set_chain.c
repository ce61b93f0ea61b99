/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See set_chain.h.  One mutex covers all chains: without it two calls could make a ring, in which
 * each stream has a predecessor and none has its gates open.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "base/thread.h"
#include "control/set_chain.h"
#include "process/thread.h"
#include "stream/control_lock.h"
#include "stream/handle.h"
#include "stream/pages.h"

#define OWN_STREAMS (PT_STREAM_ACTIVE | PT_STREAM_LOGGED)

#define MAKING  (UINT64_C(1) << 63)
#define STEP_NS 20000 /* between looks whether another thread has made the mutex */

static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER;
/* pt_self_instance() of the process whose mutex it is, with MAKING while a thread makes it. */
static pt_u64 chains_of;

/* ---- a link ---- */

/* Events that s refuses go to next; NULL: they are lost. */
static void set_next(struct pt_stream *s, const struct pt_stream *next)
{
    pt_u64 file[sizeof s->seg->h->next_file / 8] = { 0 };

    if (next) {
        memcpy(file, next->seg->file, strnlen(next->seg->file, PT_PAGE_FILE - 1));
        pt_store_seqcst(&s->seg->h->keeps_late, 1u);
    }
    pt_copy_watched(s->seg->h->next_file, file, sizeof file);
}

/* The control lock is held. */
static int change_successor(struct pt_stream *s, bool is_successor, bool force)
{
    struct pt_seg_header *h = s->seg->h;
    int r = !force && pt_state_runs(pt_load_seqcst(&h->state)) ? pt_pages_check(s) : 0;

    if (r < 0)
        return r;
    pt_store_seqcst(&h->is_successor, (uint32_t)is_successor);
    r = pt_control_lock_settle(s, false);
    if (r < 0 && !force) {
        pt_store_seqcst(&h->is_successor, (uint32_t)!is_successor);
        pt_control_lock_settle(s, false);
    }
    return r;
}

/* A successor's gates stay closed; otherwise its filter and state set them again.  Works like a
 * change of the filter, with the errors of pt_pages_each(): then nothing has changed, or, with
 * force, all processes that can be reached. */
static int set_successor(struct pt_stream *s, bool is_successor, bool force)
{
    int r, e;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        e = change_successor(s, is_successor, force);
    } while (!pt_control_lock_end(s));
    pt_threads_left();
    return e;
}

/* ---- the lock ---- */

/* A child has a copy of its parent's mutex, which a thread that the child does not have may hold:
 * the first caller of each process makes it new.  A handler of pthread_atfork() would not run for
 * _Fork() and clone(). */
static void make_own(void)
{
    uint64_t mine = pt_self_instance(), was = pt_load_acquire(&chains_of);
    struct timespec pause = { 0, STEP_NS };

    while (was != mine) {
        if (was != (mine | MAKING) && pt_cas_seqcst(&chains_of, &was, mine | MAKING)) {
            pthread_mutex_init(&chains, NULL);
            pt_store_release(&chains_of, mine); /* publishes it: above and below */
            break;
        }
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        was = pt_load_acquire(&chains_of);
    }
}

/* Signals are held: a handler could fork, and the child would return into the change.  False: one
 * has, and s is the parent's. */
static bool lock(const struct pt_stream *s, sigset_t *before)
{
    pt_thread_hold_signals(before);
    if (!pt_stream_is_ours(s)) {
        pt_thread_let_signals(before);
        return false;
    }
    make_own();
    pthread_mutex_lock(&chains);
    return true;
}

static void unlock(const sigset_t *before)
{
    pthread_mutex_unlock(&chains);
    pt_thread_let_signals(before);
}

/* ---- the chain ---- */

/* Is that stream a successor of s, next or later in the chain? */
static bool is_after(struct pt_stream *s, const struct pt_stream *that)
{
    trace_id_t next = pt_load_relaxed(&s->next);

    while (next) {
        struct pt_stream *n = pt_handle_get(next, OWN_STREAMS);

        if (!n)
            return false;
        next = pt_load_relaxed(&n->next);
        pt_handle_put(n);
        if (n == that)
            return true;
    }
    return false;
}

/* The lock is held.  After an error the chain is unchanged, unless force is true. */
static int release(struct pt_stream *s, bool force)
{
    trace_id_t next_trid = pt_load_relaxed(&s->next);
    struct pt_stream *next = next_trid ? pt_handle_get(next_trid, OWN_STREAMS) : NULL;
    int r;

    /* Done first, so that no event comes to the next stream both through its own gate and from this
     * stream. */
    set_next(s, NULL);
    r = next ? set_successor(next, false, force) : 0;
    if (r < 0 && !force)
        set_next(s, next);
    else
        pt_store_relaxed(&s->next, (trace_id_t)0);
    if (next)
        pt_handle_put(next);
    return force ? 0 : r;
}

static int check(struct pt_stream *s, const struct pt_stream *next)
{
    if (s->pid != next->pid || s->start != next->start ||
        s->seg->g.attr.stream_policy != POSIX_TRACE_UNTIL_FULL)
        return -EINVAL;
    if (!next->seg->file[0] || strlen(next->seg->file) >= PT_PAGE_FILE)
        return -ENOTSUP;
    return 0;
}

/* The lock is held. */
static int chain(struct pt_stream *s, struct pt_stream *next, trace_id_t next_trid)
{
    int r = check(s, next);

    if (r == 0 && is_after(next, s))
        r = -EINVAL;
    if (r == 0 && pt_load_relaxed(&s->next) == next_trid)
        return 0;
    if (r == 0 && pt_load_seqcst(&next->seg->h->is_successor))
        r = -EBUSY;
    if (r == 0)
        r = set_successor(next, true, false);
    if (r < 0)
        return r;
    release(s, true);
    pt_store_relaxed(&s->next, next_trid);
    set_next(s, next);
    return 0;
}

int pt_chain_link(struct pt_stream *s, struct pt_stream *next, trace_id_t next_trid)
{
    sigset_t before;
    int r;

    if (!lock(s, &before))
        return -EINVAL;
    r = chain(s, next, next_trid);
    unlock(&before);
    return r;
}

int pt_chain_unlink(struct pt_stream *s)
{
    sigset_t before;
    int r;

    if (!lock(s, &before))
        return -EINVAL;
    r = release(s, false);
    unlock(&before);
    return r;
}

void pt_chain_release(struct pt_stream *s)
{
    sigset_t before;

    if (!pt_load_relaxed(&s->next) || !lock(s, &before))
        return;
    release(s, true);
    unlock(&before);
}
