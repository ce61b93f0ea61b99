/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The smallest traced program: one event, in the log hello.ptl.  The README
 * shows what follows; a test compares the two. */
#include <fcntl.h>
#include <trace.h>
int main(void)
{
    trace_event_id_t hello;
    trace_id_t trid;
    posix_trace_eventid_open("hello", &hello);
    posix_trace_create_withlog(0, NULL, creat("hello.ptl", 0666), &trid);
    posix_trace_start(trid);
    posix_trace_event(hello, "world", 5);
    posix_trace_shutdown(trid);
}
