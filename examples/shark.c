/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The usage example of S.Ha.R.K.'s tracer manual, line by line; around it, what there is
 * the kernel's: a table of processes, and something to do.
 *
 *     shark trace.dat                  writes 0trace.dat and 1trace.dat
 *     shark LOCAL_IP TARGET_IP         sends the same as UDP packets, IP or IP:PORT
 *
 *     posixtrace import --from=shark 0trace.dat a.ptl && posixtrace print a.ptl
 */
#define POSIXTRACE_SHARK_KERNEL
#include <stdio.h>
#include <posixtrace/shark.h>

enum { MAX_PROC = 10 };

static const struct {
    WORD context;
} proc_table[MAX_PROC] = { { 1 }, { 2 }, { 0 }, { 7 } };
static const int exec_shadow = 1;

static void do_something(int first)
{
    for (int i = first; i < first + 3; i++) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, i, i * i);
        TRACER_LOGEVENT(FTrace_EVT_timer_post, 0, i);
    }
}

static int check(const char *what, int result)
{
    if (result < 0)
        perror(what);
    return result < 0;
}

int main(int argc, char **argv)
{
    int a, b, c, i, failed = 0;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: shark FILE | shark LOCAL_IP TARGET_IP\n");
        return 2;
    }
    /* Create 3 chunks for storing the tracer events. */
    a = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    b = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
    c = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    failed += check("FTrace_chunk_create", a) + check("FTrace_chunk_create", b) +
              check("FTrace_chunk_create", c);
    failed += check("FTrace_chunk_link", FTrace_chunk_link(a, b));
    failed += check("FTrace_chunk_link", FTrace_chunk_link(b, c));
    /* Select the first chunk for saving the events. */
    failed += check("FTrace_actual_chunk_select", FTrace_actual_chunk_select(a));
    /* Start the tracer. */
    FTrace_enable();
    /* Enable filtering for timer related events. */
    FTrace_set_filter(FTrace_filter_timer, 1);
    TRACER_LOGEVENT(FTrace_EVT_trace_start, proc_table[exec_shadow].context, clk_per_msec);
    for (i = 0; i < 10; i++)
        if (proc_table[i].context != 0)
            TRACER_LOGEVENT(FTrace_EVT_id, (unsigned short int)proc_table[i].context, i);
    do_something(1);
    /* Disable filtering for timer related events. */
    FTrace_set_filter(FTrace_filter_timer, 0);
    /* Change the chunk where the events are stored. */
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);
    do_something(100);
    /* Store a trace stop event. */
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    /* Stop the tracer. */
    FTrace_disable();
    if (argc == 3)
        failed += check("FTrace_OSD_init_udp", FTrace_OSD_init_udp(1, argv[1], argv[2]));
    else
        failed += check("FTrace_init_disk_writer", FTrace_init_disk_writer(argv[1], 0, NULL, NULL));
    /* Save the chunks. */
    failed += check("FTrace_send_chunk",
                    FTrace_send_chunk(a, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC));
    failed += check("FTrace_send_chunk",
                    FTrace_send_chunk(b, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN));
    return failed != 0;
}
