/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Common code of the functions with a trid: cancellation is off while they hold locks, the trid is
 * looked up and referenced, and a negative errno from inside becomes an error number.
 */
#ifndef PT_API_GUARD_H
#define PT_API_GUARD_H

#include <errno.h>
#include <pthread.h>
#include "stream/handle.h"

/* Streams that this process has created; and those that it can control. */
#define PT_OWN_STREAMS    (PT_STREAM_ACTIVE | PT_STREAM_LOGGED)
#define PT_LIVING_STREAMS (PT_OWN_STREAMS | PT_STREAM_ATTACHED)

struct pt_guard {
    struct pt_stream *s;
    int cancel;
    bool switched; /* cancellation is off because of us */
};

/* False: trid is none of kinds; the caller returns EINVAL. */
static inline bool pt_guard_enter(struct pt_guard *g, trace_id_t trid, unsigned kinds)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
    g->switched = true;
    g->s = pt_handle_get(trid, kinds);
    if (!g->s)
        pthread_setcancelstate(g->cancel, NULL);
    return g->s != NULL;
}

static inline int pt_guard_leave(struct pt_guard *g, int result)
{
    pt_handle_put(g->s);
    if (g->switched)
        pthread_setcancelstate(g->cancel, NULL);
    return result < 0 ? -result : 0;
}

/*
 * The same for reading event by event.  Most events of a log are in memory, and their calls have no
 * cancellation point.  Switching cancellation off and on takes a third of the time of such a call,
 * so the log's reader does it only when it reads the file.
 */
static inline bool pt_guard_enter_reading(struct pt_guard *g, trace_id_t trid, unsigned kinds)
{
    g->s = pt_handle_get(trid, kinds);
    if (!g->s)
        return false;
    g->switched = g->s->kind != PT_STREAM_RECORDED;
    g->cancel = PTHREAD_CANCEL_ENABLE;
    if (g->switched)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
    return true;
}

/* The same for calls without a trid that use files; pt_cancel_restore() has what this returns. */
static inline int pt_cancel_off(void)
{
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    return cancel;
}

static inline void pt_cancel_restore(int cancel)
{
    pthread_setcancelstate(cancel, NULL);
}

#define pt_caller() ((uint64_t)(uintptr_t)__builtin_return_address(0))

#endif
