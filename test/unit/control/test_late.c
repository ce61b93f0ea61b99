/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream is shut down while a child process traces.  The child's thread may stand just before
 * its stores: its slot and its chunk keep their memory, all else is given back.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace.h>
#include "process/thread.h"
#include "support/run_suite.h"

enum { PAGE = 4096 };

static trace_event_id_t tick;

static unsigned resident(const void *from, size_t bytes)
{
    static unsigned char pages[1 << 14];
    uintptr_t at = (uintptr_t)from & ~(uintptr_t)(PAGE - 1);
    size_t n = ((uintptr_t)from + bytes - at + PAGE - 1) / PAGE;
    unsigned count = 0;

    if (n > sizeof pages || mincore((void *)at, n * PAGE, pages) < 0)
        _exit(3);
    for (size_t i = 0; i < n; i++)
        count += pages[i] & 1;
    return count;
}

/* Traces, waits until the stream is shut down, then looks at its memory. */
static void be_child(int ready, int go)
{
    const struct pt_writer *writer = NULL;
    uint64_t data = 7;
    char byte = 0;

    posix_trace_event(tick, &data, sizeof data);
    for (unsigned bit = 0; bit < PT_STREAMS && !writer; bit++)
        if (pt_thread_self->writers0[bit].limit)
            writer = &pt_thread_self->writers0[bit];
    if (!writer || write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 0)
        _exit(4);
    if (resident(writer->slot, sizeof *writer->slot) == 0)
        _exit(5);
    if (resident(writer->chunk, writer->limit) < writer->limit / PAGE)
        _exit(6);
    if (resident(writer->seg->h, writer->seg->g.chunks_off + (size_t)writer->seg->g.base_chunks *
                                                                 writer->seg->g.chunk_size) *
            (size_t)PAGE >
        writer->seg->size / 2)
        _exit(7);
    _exit(0);
}

START_TEST(memory_of_a_late_writer)
{
    int ready[2], go[2], status;
    trace_attr_t attr;
    trace_id_t trid;
    pid_t child;
    char byte;

    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 1 << 20), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(go[1]);
        be_child(ready[1], go[0]);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(go[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, memory_of_a_late_writer);
}

int main(void)
{
    return run_suite("control late", "late", NULL, add);
}
