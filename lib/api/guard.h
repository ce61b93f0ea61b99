/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the functions over a trid have in common: cancellation is off while
 * they hold locks, the trid is looked up and referenced, and a negative errno
 * from inside becomes an error number.
 */
#ifndef PT_API_GUARD_H
#define PT_API_GUARD_H

#include <errno.h>
#include <pthread.h>
#include "stream/handle.h"

struct pt_guard {
    struct pt_stream *s;
    int cancel;
};

/* False: trid is none of kinds; the caller returns EINVAL. */
static inline bool pt_guard_enter(struct pt_guard *g, trace_id_t trid, unsigned kinds)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
    g->s = pt_handle_get(trid, kinds);
    if (!g->s)
        pthread_setcancelstate(g->cancel, NULL);
    return g->s != NULL;
}

static inline int pt_guard_leave(struct pt_guard *g, int result)
{
    pt_handle_put(g->s);
    pthread_setcancelstate(g->cancel, NULL);
    return result < 0 ? -result : 0;
}

#define pt_caller() ((uint64_t)(uintptr_t)__builtin_return_address(0))

#endif
