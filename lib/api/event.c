/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/event.h: reading events whole, from any place of a log. */
#include <posixtrace/event.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/control.h"
#include "control/read.h"
#include "control/sequence.h"

struct taken {
    struct pt_stream *s;
    unsigned char *to; /* place of the next one; elements have the caller's size */
    size_t size;
    size_t count;
    uint32_t id; /* of the one before, or 0, and its name */
    const char *name;
};

static void take(void *context, const struct pt_event *e)
{
    struct taken *t = context;
    struct posixtrace_event event;

    if (e->id != t->id) {
        t->id = e->id;
        t->name = pt_stream_name(t->s, e->id);
    }
    pt_read_public(&event, e, t->name);
    if (t->size == sizeof event)
        memcpy(t->to, &event, sizeof event);
    else
        pt_sized_copy(t->to, t->size, &event, sizeof event);
    t->to += t->size;
    t->count++;
}

/* t->s stays NULL where trid is not a readable stream. */
static int read_events(trace_id_t trid, enum pt_read_mode mode, const struct timespec *until,
                       struct taken *t, size_t most, bool *gap)
{
    struct pt_guard g;

    if (!pt_guard_enter_reading(&g, trid, PT_READABLE))
        return EINVAL;
    t->s = g.s;
    return pt_guard_leave(
        &g, pt_stream_read(g.s, mode, until, g.cancel, &(struct pt_taker){ take, t, most, gap }));
}

static int next_event(trace_id_t trid, enum pt_read_mode mode, const struct timespec *until,
                      struct posixtrace_event *event, size_t size, int *unavailable)
{
    struct taken t = { .to = (unsigned char *)event, .size = size };
    int error;

    if (!event || size == 0 || !unavailable)
        return EINVAL;
    error = read_events(trid, mode, until, &t, 1, NULL);
    if (t.s)
        *unavailable = t.count == 0;
    return error;
}

PT_PUBLIC int posixtrace_next_event(trace_id_t trid, struct posixtrace_event *event, size_t size,
                                    int *unavailable)
{
    return next_event(trid, PT_READ_TRY, NULL, event, size, unavailable);
}

PT_PUBLIC int posixtrace_timednext_event(trace_id_t trid, struct posixtrace_event *event,
                                         size_t size, int *unavailable,
                                         const struct timespec *abstime)
{
    return next_event(trid, abstime ? PT_READ_UNTIL : PT_READ_WAIT, abstime, event, size,
                      unavailable);
}

PT_PUBLIC int posixtrace_next_events(trace_id_t trid, struct posixtrace_event *events, size_t size,
                                     size_t most, size_t *count)
{
    struct taken t = { .to = (unsigned char *)events, .size = size };
    int error;

    if (!events || size == 0 || most == 0 || !count)
        return EINVAL;
    error = read_events(trid, PT_READ_TRY, NULL, &t, most, NULL);
    if (error == 0)
        *count = t.count;
    return error;
}

PT_PUBLIC int posixtrace_next_whole_events(trace_id_t trid, struct posixtrace_event *events,
                                           size_t size, size_t most, size_t *count, bool *gap)
{
    struct taken t = { .to = (unsigned char *)events, .size = size };
    bool missing = false;
    int error;

    if (!events || size == 0 || most == 0 || !count || !gap)
        return EINVAL;
    error = read_events(trid, PT_READ_TRY, NULL, &t, most, &missing);
    if (error == 0) {
        *count = t.count;
        *gap = missing;
    }
    return error;
}

PT_PUBLIC int posixtrace_seek(trace_id_t trid, int64_t ns)
{
    struct pt_guard g;
    int r;

    if (!pt_guard_enter(&g, trid, PT_STREAM_RECORDED | PT_STREAM_ATTACHED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    if (g.s->pieces)
        r = pt_sequence_seek(g.s, ns);
    else
        r = g.s->log ? pt_log_reader_seek(g.s->log, ns) : pt_read_skip(g.s, ns);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_follow(trace_id_t trid, bool *gap)
{
    struct pt_guard g;

    if (!gap || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    return pt_guard_leave(&g, pt_recorded_follow(g.s, gap));
}
