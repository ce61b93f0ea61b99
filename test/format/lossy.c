/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * lossy LOG HOW: a log that has lost events of four threads, one after the other.  HOW:
 *   loop    the log overwrites its oldest events
 *   full    the log takes no more when it is full
 *   stream  the stream takes no more until it is flushed
 *   one     of the second thread only, between the marks; both have a pair around that
 *   overwrite  the stream overwrites its oldest events; each thread flushes at times
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#define EVENTS 3000

static trace_event_id_t tick;
static trace_id_t trid;

static void must(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "lossy: %s: %s\n", what, strerror(error));
    exit(1);
}

static void *record(void *how)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        posix_trace_event(tick, &i, sizeof i);
        if (strcmp(how, "overwrite") == 0 && (i == EVENTS / 10 || i == EVENTS - EVENTS / 10))
            must(posix_trace_flush(trid), "flush");
    }
    if (strcmp(how, "stream") != 0)
        must(posix_trace_flush(trid), "flush");
    return NULL;
}

static void pair(const char *name)
{
    trace_event_id_t id;

    must(posix_trace_eventid_open(name, &id), "eventid_open");
    posix_trace_event(id, NULL, 0);
}

/* Until the stream says that it has lost events. */
static void *overrun(void *unused)
{
    struct posix_trace_status_info status = { .posix_stream_overrun_status = 0 };

    pair("inner:begin");
    pair("inner:end");
    pair("inner:begin");
    while (status.posix_stream_overrun_status != POSIX_TRACE_OVERRUN) {
        record("stream");
        must(posix_trace_get_status(trid, &status), "get_status");
    }
    return unused;
}

static void lose_of_one(void)
{
    struct posix_trace_status_info status;
    pthread_t thread;

    pair("outer:begin");
    must(pthread_create(&thread, NULL, overrun, NULL), "pthread_create");
    must(pthread_join(thread, NULL), "pthread_join");
    do {
        must(posix_trace_flush(trid), "flush");
        must(posix_trace_get_status(trid, &status), "get_status");
    } while (status.posix_stream_status != POSIX_TRACE_RUNNING ||
             status.posix_stream_full_status == POSIX_TRACE_FULL);
    pair("outer:end");
}

int main(int argc, char **argv)
{
    const char *how = argc == 3 ? argv[2] : "";
    int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
    pthread_t thread;
    trace_attr_t attr;

    must(posix_trace_attr_init(&attr), "attr_init");
    must(posix_trace_attr_setlogsize(&attr, 65536), "setlogsize");
    must(posix_trace_attr_setlogfullpolicy(&attr, strcmp(how, "loop") ? POSIX_TRACE_UNTIL_FULL
                                                                      : POSIX_TRACE_LOOP),
         "setlogfullpolicy");
    if (strcmp(how, "one") == 0) {
        must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), "setstreamfullpolicy");
        must(posix_trace_attr_setstreamsize(&attr, 8192), "setstreamsize");
        must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
    }
    if (strcmp(how, "stream") == 0) {
        must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL),
             "setstreamfullpolicy");
        must(posix_trace_attr_setstreamsize(&attr, 8192), "setstreamsize");
        must(posix_trace_attr_setlogsize(&attr, 1 << 20), "setlogsize");
    }
    if (strcmp(how, "overwrite") == 0) {
        must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setstreamfullpolicy");
        must(posix_trace_attr_setstreamsize(&attr, 8192), "setstreamsize");
        must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
    }
    must(posix_trace_eventid_open("tick", &tick), "eventid_open");
    must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
    must(posix_trace_start(trid), "start");
    if (strcmp(how, "one") == 0)
        lose_of_one();
    for (int i = 0; i < 4 && strcmp(how, "one") != 0; i++) {
        must(pthread_create(&thread, NULL, record, (void *)how), "pthread_create");
        must(pthread_join(thread, NULL), "pthread_join");
    }
    must(posix_trace_shutdown(trid), "shutdown");
    return 0;
}
