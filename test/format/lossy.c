/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * lossy LOG HOW: a log that has lost events of four threads, one after the other.  HOW:
 *   loop    the log overwrites its oldest events
 *   full    the log takes no more when it is full
 *   stream  the stream takes no more until it is flushed
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
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(tick, &i, sizeof i);
    if (strcmp(how, "stream") != 0)
        must(posix_trace_flush(trid), "flush");
    return NULL;
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
    if (strcmp(how, "stream") == 0) {
        must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL),
             "setstreamfullpolicy");
        must(posix_trace_attr_setstreamsize(&attr, 8192), "setstreamsize");
        must(posix_trace_attr_setlogsize(&attr, 1 << 20), "setlogsize");
    }
    must(posix_trace_eventid_open("tick", &tick), "eventid_open");
    must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
    must(posix_trace_start(trid), "start");
    for (int i = 0; i < 4; i++) {
        must(pthread_create(&thread, NULL, record, (void *)how), "pthread_create");
        must(pthread_join(thread, NULL), "pthread_join");
    }
    must(posix_trace_shutdown(trid), "shutdown");
    return 0;
}
