/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The calls that a thread is in, for other processes to see (posixtrace_waiting_begin()); and
 * recording only those that took at least so long: POSIXTRACE_RECORD_LONGER_THAN, in nanoseconds.
 *
 * An event that starts a call is kept here, by its thread; where only long calls are wanted it is
 * not recorded.  Then the event that ends the call makes one of it, POSIXTRACE_LONG_CALL, if the
 * call was long, and else nothing.  It is recorded when the call ends, so that the events of a
 * thread are in the order of their times; the call started its duration before.  Calls that do not
 * wait are not recorded, nor what a wait for a condition does with its mutex.
 *
 * A thread has a place for each call that it is in: handlers may make calls inside of calls.  A
 * place is taken before it is written, and given back after it was read, so that a handler in
 * between uses the next one.  Its type is 0 until it is written.  One that a handler left by
 * siglongjmp() stays until the call below it ends, or all places are taken.  A call with no place
 * for it is not recorded.
 */
#include <stdlib.h>
#include "preload/preload.h"

enum { PLACES = 8, SIGNAL_FRAME = 512 };

#define FENCE() __asm__ volatile("" ::: "memory")

/* What the beginnings of all calls have. */
struct begun {
    struct posixtrace_waiting call;
    uintptr_t frame;
};

struct calls {
    unsigned count;
    struct begun at[PLACES];
};

static PRELOAD_THREAD struct calls calls;
bool preload_longer;
static int64_t least;

/* A call that begins at that frame is not inside of this one: between the two were a signal's
 * frame, and the handler's. */
static bool is_left(const struct begun *b, uintptr_t frame)
{
    return b->frame < frame + SIGNAL_FRAME;
}

void preload_call_begins(trace_event_id_t id, uint32_t call, uint64_t object, const void *caller)
{
    unsigned place = calls.count++;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct begun *b;

    FENCE();
    if (place >= PLACES) {
        if (!is_left(&calls.at[PLACES - 1], frame))
            return;
        place = 0;
        calls.count = 1;
    }
    b = &calls.at[place];
    b->frame = frame;
    b->call.call = call;
    b->call.object = object;
    b->call.caller = (uintptr_t)caller;
    FENCE();
    b->call.type = id;
    posixtrace_waiting_begin(&b->call);
}

/* The place of the call that ends; 0: it has none, else its index + 1. */
static unsigned find(trace_event_id_t id, uint32_t call, uint64_t object)
{
    unsigned i = calls.count < PLACES ? calls.count : PLACES;

    while (i > 0 && (calls.at[i - 1].call.type != id - 1 || calls.at[i - 1].call.call != call ||
                     calls.at[i - 1].call.object != object))
        i--;
    if (i == 0)
        calls.count -= calls.count > PLACES;
    return i;
}

/* The call in which the thread is after the one in place i, or NULL. */
static const struct posixtrace_waiting *outer_of(unsigned i)
{
    const struct begun *b = i > 0 ? &calls.at[i - 1] : NULL;

    return b && b->call.type && !is_left(b, (uintptr_t)__builtin_frame_address(0)) ? &b->call
                                                                                   : NULL;
}

static void record_long(const struct posixtrace_waiting *w, int64_t result, int64_t ns)
{
    struct {
        uint32_t type, call;
        uint64_t object;
        int64_t result, duration;
        uint64_t caller;
    } event = { w->type, w->call, w->object, result, ns, w->caller };

    if ((w->type == POSIXTRACE_IO && w->call != POSIXTRACE_CALL_CLOSE) ||
        w->type == POSIXTRACE_POLL || w->type == POSIXTRACE_FILE_LOCK)
        preload_descriptor_now((int)w->object);
    posixtrace_system_event(POSIXTRACE_LONG_CALL, &event, sizeof event);
    preload_stack();
}

void preload_call_ends(trace_event_id_t id, uint32_t call, uint64_t object, int64_t result)
{
    unsigned i = find(id, call, object);
    struct posixtrace_waiting w;
    int64_t ns = -1;

    if (i == 0)
        return;
    w = calls.at[i - 1].call;
    FENCE();
    calls.at[i - 1].call.type = 0;
    FENCE();
    calls.count = i - 1;
    if (preload_longer)
        ns = posixtrace_waiting_ns(&w);
    posixtrace_waiting_end(&w, outer_of(i - 1));
    if (preload_longer && ns >= least)
        record_long(&w, result, ns);
}

void preload_longer_begin(void)
{
    const char *text = secure_getenv("POSIXTRACE_RECORD_LONGER_THAN");
    char *end;
    long long value = text ? strtoll(text, &end, 10) : -1;

    if (value < 0 || *end)
        return;
    least = value;
    preload_longer = true;
}
