/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The status of an active stream, also if its flush thread is in another process. */
#include <pthread.h>
#include <string.h>
#include "control/control.h"
#include "flush/thread.h"

/* FULL in a LOOP stream: no chunk is free, so the next one overwrites. */
static bool is_full(const struct pt_seg *seg, uint64_t state)
{
    const struct pt_seg_header *h = seg->h;

    if (pt_state_is_full(state))
        return true;
    return seg->g.attr.stream_policy == POSIX_TRACE_LOOP && pt_load_relaxed(&h->recycled) &&
           pt_load_relaxed(&h->used_chunks) >= pt_seg_chunk_count(seg);
}

/* The status that the owner's flush thread has stored in the segment. */
static void foreign_flush_status(const struct pt_seg_header *h, struct pt_flush_status *st)
{
    /* Loaded before the bits: the flush thread sets the bit before it takes the request. */
    bool asked = pt_load_seqcst(&h->flush_asked_from) != 0;
    uint32_t bits = pt_load_seqcst(&h->flush_state);

    st->flushing = asked || (bits & PT_FLUSHING);
    st->log_overrun = (bits & PT_LOG_OVERRUN) != 0;
    st->log_full = (bits & PT_LOG_FULL) != 0;
    st->error = (int)pt_load_seqcst(&h->flush_error);
}

/* The status of an attached stream is read without resetting it; only the creator resets. */
void pt_stream_status(struct pt_stream *s, struct posix_trace_status_info *status)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_flush_status flush = { 0, 0, 0, 0 };
    bool attached = s->kind == PT_STREAM_ATTACHED;
    uint64_t state;

    memset(status, 0, sizeof *status);
    pthread_mutex_lock(&s->control);
    state = pt_load_seqcst(&h->state);
    status->posix_stream_status = pt_state_of(state) == PT_RUNNING ? POSIX_TRACE_RUNNING
                                                                   : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = is_full(s->seg, state) ? POSIX_TRACE_FULL
                                                              : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status = (attached ? pt_load_seqcst(&h->overrun)
                                                    : pt_exchange_seqcst(&h->overrun, 0u))
                                              ? POSIX_TRACE_OVERRUN
                                              : POSIX_TRACE_NO_OVERRUN;
    if (s->flusher)
        pt_flusher_status(s->flusher, &flush, true);
    else if (attached)
        foreign_flush_status(h, &flush);
    status->posix_stream_flush_status = flush.flushing ? POSIX_TRACE_FLUSHING
                                                       : POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = flush.error;
    status->posix_log_overrun_status = flush.log_overrun ? POSIX_TRACE_OVERRUN
                                                         : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status = flush.log_full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    pthread_mutex_unlock(&s->control);
}
