/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Many short threads record into a LOOP stream with a log that is not flushed: the events of most
 * of them are overwritten before the consumer has seen them, and other threads reuse their writer
 * slots.  At the end each event must be in the log or counted as overwritten.
 */
#include <pthread.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "torture/audit.h"

#define STREAM_BYTES 4096u
#define EVENTS       20u /* of each thread */
#define WATCHDOG_S   380u

static trace_event_id_t event_id;

static void *some_events(void *number)
{
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(event_id, number, sizeof(unsigned));
    return NULL;
}

static void trace_into(int log_fd, unsigned threads)
{
    trace_attr_t attr;
    trace_id_t trid;
    pthread_t thread;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, 64));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    DEMAND_OK(posix_trace_create_withlog(0, &attr, log_fd, &trid));
    DEMAND_OK(posix_trace_start(trid));
    for (unsigned i = 0; i < threads; i++) {
        DEMAND_OK(pthread_create(&thread, NULL, some_events, &i));
        DEMAND_OK(pthread_join(thread, NULL));
    }
    DEMAND_OK(posix_trace_shutdown(trid));
}

static uint64_t read_events(trace_id_t trid)
{
    struct posix_trace_event_info e;
    int unavailable = 0;
    uint64_t n = 0;
    unsigned data;
    size_t len;

    for (;;) {
        DEMAND_OK(posix_trace_getnext_event(trid, &e, &data, sizeof data, &len, &unavailable));
        if (unavailable)
            return n;
        n += e.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
    }
}

static void check_log(int log_fd, unsigned threads)
{
    struct posixtrace_info info;
    trace_id_t trid;
    uint64_t seen, lost;

    DEMAND_OK(posix_trace_open(log_fd, &trid));
    seen = read_events(trid);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    lost = info.lost[POSIXTRACE_LOST_OVERWRITTEN];
    DEMAND(seen > 0 && lost > 0 && seen + lost == (uint64_t)threads * EVENTS,
           "%u threads: %llu read, %llu overwritten", threads, (unsigned long long)seen,
           (unsigned long long)lost);
    DEMAND_OK(posix_trace_close(trid));
}

int main(void)
{
    /* All their slots are kept for a consumer; most are not. */
    static const unsigned threads[] = { 40, 2000 };

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("ended", &event_id));
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
        int log_fd = audit_temporary_file();

        trace_into(log_fd, threads[i]);
        check_log(log_fd, threads[i]);
        close(log_fd);
    }
    printf("%u and %u threads\n", threads[0], threads[1]);
    return 0;
}
