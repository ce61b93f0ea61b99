/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A traced program for the cases, in the states of life that they look at.
 *
 * usage: traced LOG WHAT...      one after the other:
 *   events N   records N events "tick" with their number as data
 *   full       (first) the log is UNTIL_FULL, 4096 bytes
 *   cost       (first) an event costs 31.25 ns
 *   loop       (first) the stream has 8192 bytes, and is overwritten
 *   append     (first) the log is APPEND, and may be a pipe
 *   ahead      (first) as loop, and the time is an hour later than that of other programs
 *   describe   describes "tick"
 *   filter     ignores "tock", and records FILTER
 *   flush      flushes the stream to the log
 *   back       the time is that of other programs again; flushes until the log has it
 *   wait       reads a line of standard input
 *   kill       dies of SIGKILL
 * At the end the stream is shut down.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/typed.h>
#include <trace.h>

static time_t ahead; /* seconds */

/* Of this program and of the library in it. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int r = (int)syscall(SYS_clock_gettime, clock, now);

    if (r == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += ahead;
    return r;
}

static void must(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "traced: %s: %s\n", what, strerror(error));
    exit(1);
}

static void record(trace_event_id_t tick, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++)
        posix_trace_event(tick, &i, sizeof i);
}

static void filter(trace_id_t trid)
{
    trace_event_set_t set;
    trace_event_id_t tock;

    must(posix_trace_eventid_open("tock", &tock), "eventid_open");
    must(posix_trace_eventset_empty(&set), "eventset_empty");
    must(posix_trace_eventset_add(tock, &set), "eventset_add");
    must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "set_filter");
    posix_trace_event(tock, NULL, 0);
}

static void set_back(trace_id_t trid, int fd)
{
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    trace_id_t log;

    ahead = 0;
    do {
        must(posix_trace_flush(trid), "flush");
        do
            must(posix_trace_get_status(trid, &status), "get_status");
        while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
        must(posix_trace_open(fd, &log), "open");
        must(posixtrace_get_info(log, &info, sizeof info), "get_info");
        must(posix_trace_close(log), "close");
    } while (info.last_ns >= info.first_ns);
}

static void wait_for_line(void)
{
    char c = 0;

    while (c != '\n' && read(STDIN_FILENO, &c, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    trace_event_id_t tick;
    trace_attr_t attr;
    trace_id_t trid;
    int fd = open(argc > 1 ? argv[1] : "", O_RDWR | O_CREAT | O_TRUNC, 0666);

    must(posix_trace_attr_init(&attr), "attr_init");
    must(posix_trace_attr_setname(&attr, "traced"), "setname");
    if (argc > 2 && strcmp(argv[2], "full") == 0) {
        must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), "setlogfullpolicy");
        must(posix_trace_attr_setlogsize(&attr, 4096), "setlogsize");
    }
    if (argc > 2 && strcmp(argv[2], "cost") == 0)
        must(posixtrace_attr_seteventcost(&attr, 31.25), "seteventcost");
    if (argc > 2 && strcmp(argv[2], "ahead") == 0)
        ahead = 3600;
    if (argc > 2 && (ahead || strcmp(argv[2], "loop") == 0)) {
        must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setstreamfullpolicy");
        must(posix_trace_attr_setmaxdatasize(&attr, 8), "setmaxdatasize");
        must(posix_trace_attr_setstreamsize(&attr, 8192), "setstreamsize");
    }
    if (argc > 2 && strcmp(argv[2], "append") == 0)
        must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
    must(posix_trace_eventid_open("tick", &tick), "eventid_open");
    must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
    must(posix_trace_start(trid), "start");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "events") == 0 && i + 1 < argc)
            record(tick, strtoull(argv[++i], NULL, 10));
        else if (strcmp(argv[i], "filter") == 0)
            filter(trid);
        else if (strcmp(argv[i], "describe") == 0)
            must(posixtrace_event_describe("tick", "u64 number", NULL), "describe");
        else if (strcmp(argv[i], "wait") == 0)
            wait_for_line();
        else if (strcmp(argv[i], "flush") == 0)
            must(posix_trace_flush(trid), "flush");
        else if (strcmp(argv[i], "back") == 0)
            set_back(trid, fd);
        else if (strcmp(argv[i], "kill") == 0)
            raise(SIGKILL);
    }
    must(posix_trace_shutdown(trid), "shutdown");
    return 0;
}
