/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_chain().  One mutex covers all chains: without it two calls could make a ring, in
 * which each stream has a predecessor and none has its gates open.
 */
#include <posixtrace/stream.h>
#include <string.h>
#include "api/guard.h"
#include "api/stream_chain.h"
#include "control/set_chain.h"

static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER;

/* Is that stream a successor of s, next or later in the chain? */
static bool is_after(struct pt_stream *s, const struct pt_stream *that)
{
    trace_id_t next = pt_load_relaxed(&s->next);

    while (next) {
        struct pt_stream *n = pt_handle_get(next, PT_OWN_STREAMS);

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
    struct pt_stream *next = next_trid ? pt_handle_get(next_trid, PT_OWN_STREAMS) : NULL;
    int r;

    /* Done first, so that no event comes to the next stream both through its own gate and from this
     * stream. */
    pt_chain_set_next(s, NULL);
    r = next ? pt_chain_set_successor(next, false, force) : 0;
    if (r < 0 && !force)
        pt_chain_set_next(s, next);
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
        r = pt_chain_set_successor(next, true, false);
    if (r < 0)
        return r;
    release(s, true);
    pt_store_relaxed(&s->next, next_trid);
    pt_chain_set_next(s, next);
    return 0;
}

PT_PUBLIC int posixtrace_chain(trace_id_t trid, trace_id_t next)
{
    struct pt_stream *successor;
    struct pt_guard g;
    int r = -EINVAL;

    if (!pt_guard_enter(&g, trid, PT_OWN_STREAMS))
        return EINVAL;
    pthread_mutex_lock(&chains);
    if (trid == next) {
        r = release(g.s, false);
    } else if ((successor = pt_handle_get(next, PT_OWN_STREAMS))) {
        r = chain(g.s, successor, next);
        pt_handle_put(successor);
    }
    pthread_mutex_unlock(&chains);
    return pt_guard_leave(&g, r);
}

void pt_chain_release(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, PT_OWN_STREAMS);

    if (!s)
        return;
    /* The lock may be held by a thread that is not there in a forked child. */
    if (pt_load_relaxed(&s->next)) {
        pthread_mutex_lock(&chains);
        release(s, true);
        pthread_mutex_unlock(&chains);
    }
    pt_handle_put(s);
}
