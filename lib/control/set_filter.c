/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Changing the filter of an active stream: the set, the expression, and FILTER that records it. */
#include <errno.h>
#include "control/control.h"
#include "process/thread.h"
#include "shm/mark_filter.h"
#include "shm/start_filter.h"
#include "stream/control_lock.h"
#include "stream/pages.h"

/* A new event set, or a new expression, or both of them. */
struct change {
    const struct pt_set *set; /* or NULL */
    int how;
    const char *expression; /* or NULL */
    /* If the lock was taken away after the change was in force: its number, and whether FILTER is
     * still to be recorded, with these sets. */
    uint64_t version;
    bool done, due;
    struct pt_set sets[2];
};

/* The filter was changed without FILTER, as the stream was full, or had no room for it: the stream
 * runs, and no START shows the new filter (shm/start_filter.h). */
static bool is_not_in_start(struct pt_seg_header *h)
{
    return pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING &&
           pt_start_filter_choose(h) != pt_load_seqcst(&h->filter_now) % PT_FILTERS;
}

static void put_filter(struct pt_stream *s, struct change *c, uint64_t addr)
{
    c->due = !pt_stream_put_control(s, POSIX_TRACE_FILTER, c->sets, sizeof c->sets, addr);
}

/* The lock is held.  0, -EINVAL, -EBUSY. */
static int put_into_force(struct pt_stream *s, struct change *c, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t state;

    pt_set_copy(&c->sets[0], pt_seg_filter(h));
    c->sets[1] = c->sets[0];
    if (c->set && !pt_set_change(&c->sets[1], c->set, c->how))
        return -EINVAL;
    state = pt_load_seqcst(&h->state);
    c->due = pt_state_is_full(state);
    pt_start_filter_choose(h);
    if (pt_state_is_full(state))
        pt_stop_marks_choose(h, state);
    pt_loss_marks_choose(s->seg);
    if (pt_state_of(state) == PT_RUNNING)
        put_filter(s, c, addr);
    c->done = pt_control_lock_set_filter(s, &c->sets[1], c->expression, &c->version);
    return c->done || !pt_control_lock_holds(s) ? 0 : -EBUSY;
}

/* The lock is held; the filter is in force. */
static void put_what_is_due(struct pt_stream *s, struct change *c, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;

    if (c->due && is_not_in_start(h))
        put_filter(s, c, addr);
}

/* The lock is held.  A process that has joined since the check cannot be reached: restores the old
 * filter, which is recorded like any change. */
static void undo(struct pt_stream *s, const struct change *c, const char *expression, uint64_t addr)
{
    struct change back = { .set = &c->sets[0],
                           .how = POSIX_TRACE_SET_EVENTSET,
                           .expression = c->expression ? expression : NULL };

    if (put_into_force(s, &back, addr) == 0 && back.done)
        put_what_is_due(s, &back, addr);
    pt_control_lock_settle(s, false);
}

/* The lock is held.  Can the gates of all processes be set as the new filter needs it? */
static int prepare(struct pt_stream *s, const struct change *c)
{
    int r = pt_state_runs(pt_load_seqcst(&s->seg->h->state)) ? pt_pages_check(s) : 0;

    return r == 0 && c->expression && c->expression[0] ? pt_stream_make_room(s) : r;
}

/* The lock is held.  0, -EINVAL, -EBUSY, -EAGAIN, errors of pt_pages_each().  If the lock was taken
 * away, the caller repeats all steps.  A filter that is already in force, and unchanged since, is
 * not put into force again, because that would be recorded as a change. */
static int change_filter(struct pt_stream *s, struct change *c, uint64_t addr)
{
    char expression[PT_FILTER_TEXT];
    int e = prepare(s, c);

    if (e < 0)
        return e;
    pt_seg_expression(s->seg->h, expression);
    if (!c->done || pt_load_seqcst(&s->seg->h->filter_now) != c->version)
        e = put_into_force(s, c, addr);
    if (e < 0)
        return e;
    if (c->done)
        put_what_is_due(s, c, addr);
    e = pt_control_lock_settle(s, false);
    if (e < 0 && c->done)
        undo(s, c, expression, addr);
    return e;
}

static int set_filter(struct pt_stream *s, struct change *c, uint64_t addr)
{
    int r, e;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        e = change_filter(s, c, addr);
    } while (!pt_control_lock_end(s) && e == 0);
    /* After the return no event of a type that is filtered now gets a time in this process.  The
     * same is true in other processes, except for a thread that is stopped between its check of the
     * gate and its store of inside (steps 1 to 6 of event.h), or inside an event for a second. */
    if (e == 0) {
        pt_threads_left();
        pt_stream_wait_for_writers(s, false);
    }
    return e;
}

int pt_stream_set_filter(struct pt_stream *s, const struct pt_set *set, int how, uint64_t addr)
{
    return set_filter(s, &(struct change){ .set = set, .how = how }, addr);
}

int pt_stream_set_expression(struct pt_stream *s, const char *expression, uint64_t addr)
{
    return set_filter(s, &(struct change){ .expression = expression }, addr);
}
