/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See at_exit.h. */
#include <errno.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "base/thread.h"
#include "control/at_exit.h"
#include "control/control.h"
#include "control/set_chain.h"
#include "process/exit.h"
#include "process/self.h"
#include "stream/handle.h"

#define PATIENCE_NS (2 * PT_STALL_NS)
#define STEP_NS     100000 /* between looks whether the others have ended */

/* Counts of pt_self_enter(): a forked child has none of its parent's. */
static pt_u64 unfinished[PT_UNFINISHED];
static _Thread_local pt_u64 own[PT_UNFINISHED] __attribute__((tls_model("initial-exec")));
static uint32_t advances;
static pt_u64 in_vain; /* pt_self_instance() of the process that has waited for PATIENCE_NS */

/* Without signals: a handler that calls exit() between the two would wait for its own thread. */
uint32_t pt_unfinished_begin(enum pt_unfinished kind)
{
    uint32_t instance;
    sigset_t before;

    pt_thread_hold_signals(&before);
    instance = pt_self_enter(&unfinished[kind]);
    pt_self_enter(&own[kind]);
    pt_thread_let_signals(&before);
    return instance;
}

void pt_unfinished_end(enum pt_unfinished kind, uint32_t instance)
{
    sigset_t before;

    pt_thread_hold_signals(&before);
    pt_self_leave(&unfinished[kind], instance);
    pt_self_leave(&own[kind], instance);
    pt_thread_let_signals(&before);
}

void pt_unfinished_advance(void)
{
    pt_add_relaxed(&advances, 1u);
}

static bool others_do(enum pt_unfinished kind)
{
    return pt_self_inside(&unfinished[kind]) > pt_self_inside(&own[kind]);
}

/* It counts, then looks for an exit(); exit() counts or is marked, then looks for creations. */
int pt_creation_begin(uint32_t *instance)
{
    pt_exit_ends(pt_streams_at_exit, pt_streams_at_last);
    *instance = pt_unfinished_begin(PT_CREATIONS);
    if (!others_do(PT_EXITS) && !pt_exit_is_last())
        return 0;
    pt_unfinished_end(PT_CREATIONS, *instance);
    return -EAGAIN;
}

/* The count begins before the stream leaves the table: exit() finds it in one of them. */
int pt_stream_shut_down(trace_id_t trid, uint64_t addr)
{
    uint32_t instance = pt_unfinished_begin(PT_SHUTDOWNS);
    struct pt_stream *s = pt_handle_remove(trid, PT_STREAM_ACTIVE | PT_STREAM_LOGGED);
    int r = -EINVAL;

    if (s) {
        pt_chain_release(s);
        r = pt_stream_destroy(s, addr);
    }
    pt_unfinished_end(PT_SHUTDOWNS, instance);
    return r;
}

/* False: an interrupted call of the calling thread may hold what other threads wait for. */
static bool is_patient(void)
{
    bool patient = !pt_handle_has_call();

    for (unsigned kind = 0; kind < PT_UNFINISHED; kind++)
        patient &= pt_self_inside(&own[kind]) == 0;
    return patient;
}

/* False: in vain.  The second time, when the library goes, a patient caller waits for shutdowns
 * alone, and another one for nothing. */
static bool wait_for_others(bool patient)
{
    uint64_t patience = pt_load_relaxed(&in_vain) == pt_self_instance() ? 0 : PATIENCE_NS;
    uint64_t since = pt_clock_ns(CLOCK_MONOTONIC), now;
    struct timespec pause = { 0, STEP_NS };
    uint32_t seen = pt_load_relaxed(&advances), at;
    bool shutdowns;

    while ((shutdowns = others_do(PT_SHUTDOWNS)) || others_do(PT_SNAPSHOTS) ||
           others_do(PT_CREATIONS)) {
        now = pt_clock_ns(CLOCK_MONOTONIC);
        at = pt_load_relaxed(&advances);
        if (at != seen || (shutdowns && patient)) {
            since = now;
        } else if (now - since >= patience) {
            pt_store_relaxed(&in_vain, pt_self_instance());
            return false;
        }
        seen = at;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return true;
}

static bool can_lock(pthread_mutex_t *mutex)
{
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    struct timespec pause = { 0, 20000 };

    while (pthread_mutex_trylock(mutex) != 0) {
        if (pt_clock_ns(CLOCK_MONOTONIC) >= until)
            return false;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    pthread_mutex_unlock(mutex);
    return true;
}

/* A stream whose lock an interrupted call holds, or that another thread uses for too long, is left
 * as by _exit(): the events that its log does not have are in the segment. */
static void end_streams(bool patient)
{
    bool interrupted;
    trace_id_t trid;

    while ((trid = pt_handle_any_active()) != 0) {
        uint64_t until = patient ? 0 : pt_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
        struct pt_stream *s = pt_handle_remove_at_exit(trid, PT_STREAM_ACTIVE | PT_STREAM_LOGGED,
                                                       until, &interrupted);

        if (s && (!interrupted ||
                  (can_lock(&s->turn) && can_lock(&s->reading) && can_lock(&s->control))))
            pt_stream_destroy(s, 0);
    }
}

void pt_streams_at_exit(void)
{
    bool patient = is_patient();
    uint32_t instance = pt_unfinished_begin(PT_EXITS);

    do
        end_streams(patient);
    while (wait_for_others(patient) && pt_handle_any_active() != 0); /* one was just created */
    pt_unfinished_end(PT_EXITS, instance);
}

void pt_streams_at_last(void)
{
    uint64_t until = is_patient() ? UINT64_MAX : pt_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    struct timespec pause = { 0, STEP_NS };

    while (others_do(PT_EXITS) && pt_clock_ns(CLOCK_MONOTONIC) < until)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    pt_streams_at_exit();
}
