/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A number of posix_trace_event() calls for instructions.py to count in.
 *
 * usage: count unwanted|filtered|8|64|second|switches|full|typed|text|line|text-line CALLS
 *
 * filtered: two running streams whose filters leave the event out.
 * full: 8 bytes into a stream that is full, so that they are lost.
 * typed: POSIXTRACE_EVENT with an int and a long, in site_typed(); text: with an int and a text of
 * 20 bytes, in site_text().
 * line, text-line: the same two, which no stream wants.
 * switches: 8 bytes into a stream with a log and context switches.
 * The first calls come before begin_counting(): what they take depends on the time, since a change
 * of chunk compares the clocks now and then.  All later events fit into the chunk that the thread
 * has by then, so that each call takes the same instructions.  Ends with 77, "not here", where the
 * library takes another way under valgrind than it does without: other clock, no membarrier.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/emit.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "bench/subjects.h"

enum { MIB = 1 << 20, FIRST_CALLS = 10, MOST_CALLS = 400, NOT_HERE = 77 };

static void require_usual_way(trace_id_t trid)
{
    struct posixtrace_info info;

    subject_must("posixtrace_get_info", posixtrace_get_info(trid, &info, sizeof info));
    if (info.clock == POSIXTRACE_CLOCK_TSC && info.barrier)
        return;
    printf("clock %d, membarrier %d: not the way that is counted\n", info.clock, info.barrier);
    exit(NOT_HERE);
}

static void leave_out(trace_id_t trid)
{
    trace_event_set_t set;

    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(subject_id, &set);
    subject_must("posix_trace_set_filter",
                 posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static void fill(trace_id_t trid)
{
    struct posix_trace_status_info status;

    do {
        posix_trace_event(subject_id, subject_data, 8);
        subject_must("posix_trace_get_status", posix_trace_get_status(trid, &status));
    } while (status.posix_stream_full_status != POSIX_TRACE_FULL);
}

__attribute__((noinline, used)) static void site_typed(int number, long bytes)
{
    POSIXTRACE_EVENT("typed", number, bytes);
}

__attribute__((noinline, used)) static void site_text(int number, const char *key, size_t length)
{
    POSIXTRACE_EVENT("text", number, posixtrace_text(key, length));
}

/* instructions.py counts from here on. */
__attribute__((noinline, used)) static void begin_counting(void)
{
    __asm__ volatile("" ::: "memory");
}

static void call(const char *what, long calls, size_t bytes)
{
    static const char key[] = "user:0123456789:name";

    for (; calls > 0; calls--) {
        if (strcmp(what, "typed") == 0 || strcmp(what, "line") == 0)
            site_typed((int)calls, calls);
        else if (strcmp(what, "text") == 0 || strcmp(what, "text-line") == 0)
            site_text((int)calls, key, sizeof key - 1);
        else
            posix_trace_event(subject_id, subject_data, bytes);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    long calls = argc == 3 ? atol(argv[2]) : 0;
    size_t bytes = strcmp(what, "64") == 0 ? 64 : 8;
    bool switches = strcmp(what, "switches") == 0;
    bool filtered = strcmp(what, "filtered") == 0, full = strcmp(what, "full") == 0;
    bool two = filtered || strcmp(what, "second") == 0;
    bool none = strcmp(what, "unwanted") == 0 || strstr(what, "line");
    int streams = none ? 0 : two ? 2 : 1;
    trace_id_t trid[2];

    if (calls <= 0 || calls > MOST_CALLS ||
        !strstr("unwanted filtered 8 64 second switches full typed text line text-line", what)) {
        fprintf(stderr, "usage: count unwanted|filtered|8|64|second|switches|full|typed|text|line|"
                        "text-line CALLS\n");
        return 64;
    }
    subjects_init();
    for (int i = 0; i < 2; i++)
        trid[i] = switches ? subject_stream_switches(POSIX_TRACE_UNTIL_FULL, 4 * MIB)
                           : subject_stream(POSIX_TRACE_UNTIL_FULL, full ? MIB / 64 : 4 * MIB);
    require_usual_way(trid[0]);
    for (int i = 0; i < streams; i++) {
        if (filtered)
            leave_out(trid[i]);
        stream_start(&trid[i]);
    }
    if (full)
        fill(trid[0]);
    call(what, FIRST_CALLS, bytes);
    begin_counting();
    call(what, calls, bytes);
    for (int i = 0; i < 2; i++)
        subject_must("posix_trace_shutdown", posix_trace_shutdown(trid[i]));
    return 0;
}
