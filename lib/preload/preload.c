/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See preload.h: initialisation, and how calls are recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "preload/preload.h"
#include "preload/real.h"

/* libposixtrace finds out by this name that we are there. */
PRELOAD_PUBLIC const char pt_preload_is_here[1];

#define BIT(id)  (1ull << (id))
#define IS(bits) (id < 64 && ((bits) >> id & 1u))

/* Types whose next is the end of the call. */
#define BEGINS                                                                               \
    (BIT(POSIXTRACE_MUTEX_LOCK) | BIT(POSIXTRACE_RWLOCK_LOCK) | BIT(POSIXTRACE_COND_WAIT) |  \
     BIT(POSIXTRACE_SEM_WAIT) | BIT(POSIXTRACE_BARRIER_WAIT) | BIT(POSIXTRACE_SLEEP) |       \
     BIT(POSIXTRACE_IO) | BIT(POSIXTRACE_POLL) | BIT(POSIXTRACE_FILE_LOCK) |                 \
     BIT(POSIXTRACE_FUTEX_WAIT) | BIT(POSIXTRACE_THREAD_JOIN) | BIT(POSIXTRACE_CHILD_WAIT) | \
     BIT(POSIXTRACE_SIGNAL_WAIT))
/* Calls that are recorded whole at once: they do not wait. */
#define SHORT                                                                                   \
    (BIT(POSIXTRACE_THREAD_BEGIN) | BIT(POSIXTRACE_THREAD_END) | BIT(POSIXTRACE_SIGNAL_BEGIN) | \
     BIT(POSIXTRACE_SIGNAL_END))

void preload_event(trace_event_id_t id, const void *data, size_t length)
{
    if (!preload_longer || IS(SHORT))
        posixtrace_system_event(id, data, length);
}

static void record_pair(trace_event_id_t id, const void *object, int64_t second)
{
    struct {
        uint64_t object;
        int64_t second;
    } data = { (uintptr_t)object, second };

    if (!preload_longer)
        posixtrace_system_event(id, &data, sizeof data);
}

/* The end of a call is recorded after the slot says so: a reader that finds the event does not
 * find the thread in the call. */
void preload_pair(trace_event_id_t id, const void *object, int64_t second)
{
    if (IS(BEGINS << 1))
        preload_call_ends(id, PRELOAD_NO_CALL, (uintptr_t)object, second);
    record_pair(id, object, second);
    if (IS(BEGINS << 1) && !preload_longer)
        preload_stack();
}

void preload_object(trace_event_id_t id, const void *object, const void *caller)
{
    record_pair(id, object, (int64_t)(uintptr_t)caller);
    if (IS(BEGINS))
        preload_call_begins(id, PRELOAD_NO_CALL, (uintptr_t)object, caller);
}

void preload_cpu_time(void)
{
    if (!preload_longer)
        posixtrace_system_event(POSIXTRACE_CPU_TIME, NULL, 0);
}

void preload_cancelled(void *call)
{
    const struct preload_call *c = call;

    preload_pair(c->id, c->object, c->second);
}

static void record_io(trace_event_id_t id, const struct preload_io *call, int64_t last)
{
    struct {
        uint32_t call;
        int32_t descriptor;
        int64_t last;
    } data = { call->call, call->descriptor, last };

    if (!preload_longer)
        posixtrace_system_event(id, &data, sizeof data);
}

void preload_io_began(const struct preload_io *call, const void *caller)
{
    record_io(call->id - 1, call, (int64_t)(uintptr_t)caller);
    preload_io_waits(call, caller);
}

void preload_io_waits(const struct preload_io *call, const void *caller)
{
    preload_call_begins(call->id - 1, call->call, (uint64_t)(int64_t)call->descriptor, caller);
}

void preload_io_ended(const struct preload_io *call, int64_t result)
{
    preload_call_ends(call->id, call->call, (uint64_t)(int64_t)call->descriptor, result);
    record_io(call->id, call, result);
    if (!preload_longer)
        preload_stack();
    if (call->call == POSIXTRACE_CALL_CONNECT)
        preload_descriptor_ends(call->descriptor); /* the next call names the peer */
}

void preload_io_cancelled(void *call)
{
    preload_io_ended(call, -ECANCELED);
}

/*
 * A program that shall record itself, and has never heard of posixtrace, begins to do
 * so here.  Any name would do; this one has its number already.
 */
static void record_itself(void)
{
    trace_event_id_t id;

    if (secure_getenv("POSIXTRACE_RECORD") && secure_getenv("POSIXTRACE_RECORD_SYSTEM"))
        posix_trace_eventid_open("posixtrace_thread_begin", &id);
}

__attribute__((constructor)) static void begin(void)
{
    int saved = errno;

    real_find();
    preload_longer_begin();
    preload_stacks_begin();
    preload_functions_begin();
    preload_callers_begin();
    record_itself();
    preload_ready = true;
    errno = saved;
}
