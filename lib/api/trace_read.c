/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posix_trace_getnext_event, _timedgetnext_event, _trygetnext_event. */
#include <string.h>
#include "api/guard.h"
#include "control/read.h"

/* The destination of an event. */
struct place {
    struct posix_trace_event_info *event;
    void *data;
    size_t num_bytes;
    size_t *data_len;
};

static void take(void *context, const struct pt_event *e)
{
    struct place *p = context;
    size_t n = e->len < p->num_bytes ? e->len : p->num_bytes;
    int64_t sec = e->ns / 1000000000, nsec = e->ns % 1000000000;

    if (nsec < 0) {
        nsec += 1000000000;
        sec--;
    }
    p->event->posix_event_id = e->id;
    p->event->posix_pid = e->author->pid;
    p->event->posix_prog_address = (void *)(uintptr_t)e->addr;
    p->event->posix_thread_id = (pthread_t)e->author->thread_id;
    p->event->posix_timestamp.tv_sec = (time_t)sec;
    p->event->posix_timestamp.tv_nsec = (long)nsec;
    p->event->posix_truncation_status = n < e->len     ? POSIX_TRACE_TRUNCATED_READ
                                        : e->truncated ? POSIX_TRACE_TRUNCATED_RECORD
                                                       : POSIX_TRACE_NOT_TRUNCATED;
    if (n)
        memcpy(p->data, e->data, n);
    *p->data_len = n;
}

static int get(trace_id_t trid, unsigned kinds, enum pt_read_mode mode,
               const struct timespec *until, struct place *p, int *unavailable)
{
    struct pt_guard g;
    int r;

    if (!p->event || (!p->data && p->num_bytes) || !p->data_len || !unavailable ||
        !pt_guard_enter_reading(&g, trid, kinds))
        return EINVAL;
    r = pt_stream_read(g.s, mode, until, g.cancel, &(struct pt_taker){ take, p, 1, NULL });
    *unavailable = r != PT_READ_EVENT;
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posix_trace_getnext_event(trace_id_t trid,
                                        struct posix_trace_event_info *restrict event,
                                        void *restrict data, size_t num_bytes,
                                        size_t *restrict data_len, int *restrict unavailable)
{
    struct place p = { event, data, num_bytes, data_len };

    return get(trid, PT_READABLE, PT_READ_WAIT, NULL, &p, unavailable);
}

PT_PUBLIC int posix_trace_timedgetnext_event(trace_id_t trid,
                                             struct posix_trace_event_info *restrict event,
                                             void *restrict data, size_t num_bytes,
                                             size_t *restrict data_len, int *restrict unavailable,
                                             const struct timespec *restrict abstime)
{
    struct place p = { event, data, num_bytes, data_len };

    return get(trid, PT_READABLE, PT_READ_UNTIL, abstime, &p, unavailable);
}

PT_PUBLIC int posix_trace_trygetnext_event(trace_id_t trid,
                                           struct posix_trace_event_info *restrict event,
                                           void *restrict data, size_t num_bytes,
                                           size_t *restrict data_len, int *restrict unavailable)
{
    struct place p = { event, data, num_bytes, data_len };

    return get(trid, PT_STREAM_ACTIVE | PT_STREAM_ATTACHED, PT_READ_TRY, NULL, &p, unavailable);
}
