/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream with the policy FLUSH is also written by rounds of the flush thread's own, a second
 * after an event.  A test whose process has no processor for so long meets one; these keep it
 * away from a place where it would be another scene.
 */
#ifndef SUPPORT_ROUNDS_H
#define SUPPORT_ROUNDS_H

#include <check.h>
#include <pthread.h>
#include <time.h>
#include <trace.h>
#include "flush/thread.h"
#include "stream/handle.h"
#include "stream/stream.h"

/* The flush thread lets go of the lock while it writes, in the middle of a round. */
static inline void lock_out_rounds(struct pt_stream *s)
{
    const struct timespec turn = { 0, 100000 };

    for (;;) {
        pt_stream_lock_reading(s);
        if (!pt_flusher_is_writing(s->flusher))
            return;
        pthread_mutex_unlock(&s->reading);
        nanosleep(&turn, NULL);
    }
}

/* No round is under way, and none begins, until let_rounds(); nothing may be read until then. */
static inline struct pt_stream *hold_rounds(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    lock_out_rounds(s);
    return s;
}

static inline void let_rounds(struct pt_stream *s)
{
    pthread_mutex_unlock(&s->reading);
    pt_handle_put(s);
}

#endif
