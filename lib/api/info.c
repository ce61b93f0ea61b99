/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/info.h and posixtrace_next_event: what the standard has no call for. */
#include <posixtrace/event.h>
#include "api/guard.h"
#include "stream/info.h"
#include "stream/read.h"

PT_PUBLIC const char *posixtrace_loss_cause_text(unsigned cause)
{
    static const char *const text[] = {
        [POSIXTRACE_LOST_FULL] = "stream full",
        [POSIXTRACE_LOST_OVERWRITTEN] = "overwritten in the stream",
        [POSIXTRACE_LOST_NO_MEMORY] = "no memory for the thread",
        [POSIXTRACE_LOST_NESTED] = "signal handlers nested too deep",
        [POSIXTRACE_LOST_LOG_FULL] = "log full",
        [POSIXTRACE_LOST_LOG_OVERWRITTEN] = "overwritten in the log",
        [POSIXTRACE_LOST_LOG_ERROR] = "log could not be written",
        [POSIXTRACE_LOST_SWITCHES] = "switches lost by the kernel",
    };

    return cause < sizeof text / sizeof text[0] ? text[cause] : "unknown cause";
}

PT_PUBLIC int posixtrace_lost(trace_id_t trid, unsigned cause, uint64_t *events)
{
    struct posixtrace_info info;
    struct pt_guard g;
    int r = 0;

    if (!events || cause > POSIXTRACE_LOST_SWITCHES || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    if (cause == POSIXTRACE_LOST_SWITCHES) {
        *events = pt_stream_lost_switches(g.s);
    } else {
        r = pt_stream_info(g.s, &info);
        if (r == 0)
            *events = info.lost[cause];
    }
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_get_info(trace_id_t trid, struct posixtrace_info *info)
{
    struct pt_guard g;

    if (!info || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_info(g.s, info));
}

PT_PUBLIC int posixtrace_get_limits(trace_id_t trid, struct posixtrace_limits *limits)
{
    struct pt_guard g;

    if (!limits || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    pt_stream_limits(g.s, limits);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_thread_getnext(trace_id_t trid, size_t *cursor,
                                        struct posixtrace_thread_info *thread, int *unavailable)
{
    struct pt_guard g;
    int r;

    if (!cursor || !thread || !unavailable || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return EINVAL;
    r = pt_stream_thread(g.s, cursor, thread);
    *unavailable = r != 1;
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_event_count(trace_id_t trid, trace_event_id_t event, uint64_t *count)
{
    struct pt_guard g;
    int r;

    if (!count || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = pt_stream_name(g.s, event) ? pt_log_reader_count(g.s->log, event, count) : -EINVAL;
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, r);
}

struct taken {
    struct pt_stream *s;
    struct posixtrace_event *event;   /* where the next one goes */
    uint32_t id;                      /* of the one before, or 0, and its name */
    const char *name;
};

static void take(void *context, const struct pt_event *e)
{
    struct taken *t = context;

    if (e->id != t->id) {
        t->id = e->id;
        t->name = pt_stream_name(t->s, e->id);
    }
    *t->event++ = (struct posixtrace_event){
        .ns = e->ns, .prog_address = e->addr, .thread_id = e->author->thread_id,
        .data = e->data, .thread_name = e->author->name, .name = t->name ? t->name : "",
        .data_len = e->len, .id = e->id, .pid = e->author->pid, .tid = e->author->tid,
        .truncation = e->truncated ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED,
    };
}

/* t->s stays NULL where trid is not a readable stream. */
static int read_events(trace_id_t trid, enum pt_read_mode mode, const struct timespec *until,
                       struct taken *t, size_t most, bool *gap)
{
    struct pt_guard g;

    if (!pt_guard_enter_reading(&g, trid, PT_READABLE))
        return EINVAL;
    t->s = g.s;
    return pt_guard_leave(&g, pt_stream_read(g.s, mode, until, g.cancel,
                                             &(struct pt_taker){ take, t, most, gap }));
}

static int next_event(trace_id_t trid, enum pt_read_mode mode, const struct timespec *until,
                      struct posixtrace_event *event, int *unavailable)
{
    struct taken t = { .event = event };
    int error;

    if (!event || !unavailable)
        return EINVAL;
    error = read_events(trid, mode, until, &t, 1, NULL);
    if (t.s)
        *unavailable = t.event == event;
    return error;
}

PT_PUBLIC int posixtrace_next_event(trace_id_t trid, struct posixtrace_event *event,
                                    int *unavailable)
{
    return next_event(trid, PT_READ_TRY, NULL, event, unavailable);
}

PT_PUBLIC int posixtrace_timednext_event(trace_id_t trid, struct posixtrace_event *event,
                                         int *unavailable, const struct timespec *abstime)
{
    return next_event(trid, abstime ? PT_READ_UNTIL : PT_READ_WAIT, abstime, event, unavailable);
}

PT_PUBLIC int posixtrace_next_events(trace_id_t trid, struct posixtrace_event *events, size_t most,
                                     size_t *count)
{
    struct taken t = { .event = events };
    int error;

    if (!events || most == 0 || !count)
        return EINVAL;
    error = read_events(trid, PT_READ_TRY, NULL, &t, most, NULL);
    if (error == 0)
        *count = (size_t)(t.event - events);
    return error;
}

PT_PUBLIC int posixtrace_next_whole_events(trace_id_t trid, struct posixtrace_event *events,
                                           size_t most, size_t *count, int *gap)
{
    struct taken t = { .event = events };
    bool missing = false;
    int error;

    if (!events || most == 0 || !count || !gap)
        return EINVAL;
    error = read_events(trid, PT_READ_TRY, NULL, &t, most, &missing);
    if (error == 0) {
        *count = (size_t)(t.event - events);
        *gap = missing;
    }
    return error;
}
