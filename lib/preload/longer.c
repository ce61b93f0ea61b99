/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Only calls that took at least so long: POSIXTRACE_RECORD_LONGER_THAN, in nanoseconds.
 *
 * An event that starts a call is kept here, by its thread, and not recorded.  The event that ends
 * the call makes one of it, POSIXTRACE_LONG_CALL, if the call was long, and else nothing.  It is
 * recorded when the call ends, so that the events of a thread are in the order of their times; the
 * call started its duration before.  Calls that do not wait are not recorded, nor what a wait for a
 * condition does with its mutex.
 *
 * A thread has a place for each call that it is in: handlers may make calls inside of calls.  A
 * place is taken before it is written, and given back after it was read, so that a handler in
 * between uses the next one.  One that a handler left by siglongjmp() stays until the call below it
 * ends, or all places are taken.  A call with no place for it is not recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "preload/preload.h"

enum { PLACES = 8, NO_CALL = UINT32_MAX };

#define FENCE() __asm__ volatile("" ::: "memory")

/* What the beginnings of all calls have. */
struct begun {
    uint32_t type, call;
    uint64_t object;
    uint64_t caller;
    int64_t ns;
    uintptr_t frame;
};

struct calls {
    unsigned count;
    struct begun at[PLACES];
};

static PRELOAD_THREAD struct calls calls;
bool preload_longer;
static int64_t least;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Types whose next is the end of the call. */
static bool begins(trace_event_id_t id)
{
    switch (id) {
    case POSIXTRACE_MUTEX_LOCK:
    case POSIXTRACE_RWLOCK_LOCK:
    case POSIXTRACE_COND_WAIT:
    case POSIXTRACE_SEM_WAIT:
    case POSIXTRACE_BARRIER_WAIT:
    case POSIXTRACE_SLEEP:
    case POSIXTRACE_IO:
    case POSIXTRACE_POLL:
    case POSIXTRACE_FILE_LOCK:
    case POSIXTRACE_FUTEX_WAIT:
    case POSIXTRACE_THREAD_JOIN:
    case POSIXTRACE_CHILD_WAIT:
    case POSIXTRACE_SIGNAL_WAIT: return true;
    default: return false;
    }
}

/* Has it a call and a number in the place of an object? */
static bool has_call(uint32_t type)
{
    return type >= POSIXTRACE_IO && type != POSIXTRACE_FUTEX_WAIT && type != POSIXTRACE_THREAD_JOIN;
}

static void read_object(uint32_t type, const void *data, struct begun *b)
{
    int32_t pair[2];

    b->type = type;
    b->call = NO_CALL;
    memcpy(&b->object, data, sizeof b->object);
    if (!has_call(type))
        return;
    memcpy(pair, data, sizeof pair);
    b->call = (uint32_t)pair[0];
    b->object = (uint64_t)(int64_t)pair[1];
}

/* A call that begins at that frame is not inside of this one. */
static bool is_left(const struct begun *b, uintptr_t frame)
{
    return b->frame <= frame;
}

static void keep(trace_event_id_t id, const void *data, size_t length)
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
    read_object(id, data, b);
    memcpy(&b->caller, (const char *)data + length - sizeof b->caller, sizeof b->caller);
    b->ns = now();
}

/* The call that ends, in *b; false: it has none. */
static bool find(trace_event_id_t id, const void *data, struct begun *b)
{
    struct begun end;
    unsigned i = calls.count < PLACES ? calls.count : PLACES;

    read_object(id - 1, data, &end);
    while (i > 0 && (calls.at[i - 1].type != end.type || calls.at[i - 1].call != end.call ||
                     calls.at[i - 1].object != end.object))
        i--;
    if (i == 0) {
        calls.count -= calls.count > PLACES;
        return false;
    }
    *b = calls.at[i - 1];
    FENCE();
    calls.count = i - 1;
    return true;
}

static void ended(trace_event_id_t id, const void *data)
{
    struct {
        uint32_t type, call;
        uint64_t object;
        int64_t result, duration;
        uint64_t caller;
    } event;
    struct begun b;
    int64_t ns;

    if (!find(id, data, &b))
        return;
    ns = now() - b.ns;
    if (ns < least)
        return;
    event.type = b.type;
    event.call = b.call;
    event.object = b.object;
    memcpy(&event.result, (const char *)data + sizeof b.object, sizeof event.result);
    event.duration = ns;
    event.caller = b.caller;
    if ((b.type == POSIXTRACE_IO && b.call != POSIXTRACE_CALL_CLOSE) || b.type == POSIXTRACE_POLL ||
        b.type == POSIXTRACE_FILE_LOCK)
        preload_descriptor_now((int)b.object);
    posixtrace_system_event(POSIXTRACE_LONG_CALL, &event, sizeof event);
}

void preload_longer_event(trace_event_id_t id, const void *data, size_t length)
{
    if (begins(id))
        keep(id, data, length);
    else if (begins(id - 1))
        ended(id, data);
    else if (id == POSIXTRACE_THREAD_BEGIN || id == POSIXTRACE_THREAD_END ||
             id == POSIXTRACE_SIGNAL_BEGIN || id == POSIXTRACE_SIGNAL_END)
        posixtrace_system_event(id, data, length);
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
