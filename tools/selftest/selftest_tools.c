/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Small things that the parts of selftest share; see selftest.h.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <posixtrace/info.h>

int64_t selftest_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SELFTEST_NS + t.tv_nsec;
}

void selftest_sleep(int64_t ns)
{
    struct timespec t = { ns / SELFTEST_NS, ns % SELFTEST_NS };

    if (ns > 0)
        nanosleep(&t, NULL);
}

uint64_t selftest_random(void)
{
    static uint64_t state;

    while (state == 0) {
        if (getrandom(&state, sizeof state, GRND_NONBLOCK) != sizeof state)
            state = (uint64_t)selftest_now();
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int create(const trace_attr_t *attr, int log, trace_id_t *trid)
{
    return log >= 0 ? posix_trace_create_withlog(0, attr, log, trid)
                    : posix_trace_create(0, attr, trid);
}

int selftest_stream(size_t size, int policy, int log, size_t log_size, trace_id_t *trid)
{
    trace_attr_t attr;
    int error = posix_trace_attr_init(&attr);

    if (error)
        return error;
    error = posix_trace_attr_setname(&attr, "selftest");
    if (!error)
        error = posix_trace_attr_setstreamsize(&attr, size);
    if (!error)
        error = posix_trace_attr_setstreamfullpolicy(&attr, policy);
    if (!error && log >= 0)
        error = posix_trace_attr_setlogfullpolicy(&attr,
                                                  log_size ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND);
    if (!error && log >= 0 && log_size)
        error = posix_trace_attr_setlogsize(&attr, log_size);
    if (!error)
        error = create(&attr, log, trid);
    posix_trace_attr_destroy(&attr);
    if (error)
        return error;
    error = posix_trace_start(*trid);
    if (error)
        posix_trace_shutdown(*trid);
    return error;
}

trace_event_id_t selftest_find_type(trace_id_t trid, const char *name)
{
    char found[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 0;

    if (posix_trace_eventtypelist_rewind(trid) != 0)
        return 0;
    while (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 && !unavailable) {
        if (posix_trace_eventid_get_name(trid, id, found) == 0 && strcmp(found, name) == 0)
            return id;
    }
    return 0;
}

uint64_t selftest_number(const struct posixtrace_event *e)
{
    uint64_t number;

    if (e->data_len != sizeof number)
        return UINT64_MAX;
    memcpy(&number, e->data, sizeof number);
    return number;
}

uint64_t selftest_lost(const uint64_t *lost)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (i != POSIXTRACE_LOST_OVERWRITTEN && i != POSIXTRACE_LOST_LOG_OVERWRITTEN)
            sum += lost[i];
    }
    return sum;
}
