/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process joins a stream while a controller changes it: stops it, gives it another filter,
 * shuts it down.  The gates are then those of the stream as it is.
 *
 * The process is a child that waits; the test takes its part, with a mapping of its page in
 * which some gates cannot be written to.  The first store to one of them is where the
 * controller's call is made, from the handler of SIGSEGV.  The growth of the stream's table of
 * processes goes through the test.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/filter.h>
#include <trace.h>
#include "base/clock.h"
#include "process/filter_callback.h"
#include "process/join.h"
#include "process/thread.h"
#include "shm/liveness.h"
#include "stream/handle.h"
#include "support/run_suite.h"

enum { BYTES = 4096, FIRST = 8192, GUARDED = (FIRST - 4800) / 8 };

static struct {
    trace_id_t trid;
    struct pt_stream *s;
    struct pt_seg seg;    /* its segment, as the child maps it */
    struct pt_page *page; /* the child's */
    struct pt_process process;
    unsigned bit;
    pid_t child;
    void (*change)(void);
} now;

static bool has_no_room;

int __real_pt_seg_add_proc(struct pt_seg *seg, uint32_t n);
int __wrap_pt_seg_add_proc(struct pt_seg *seg, uint32_t n);

int __wrap_pt_seg_add_proc(struct pt_seg *seg, uint32_t n)
{
    return has_no_room ? -ENOMEM : __real_pt_seg_add_proc(seg, n);
}

static trace_event_set_t set_of(trace_event_id_t id)
{
    trace_event_set_t set;

    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(id, &set);
    return set;
}

static void guard(bool on)
{
    if (mprotect((char *)now.page + FIRST, BYTES, on ? PROT_READ : PROT_READ | PROT_WRITE) < 0)
        abort();
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    const char *at = info->si_addr, *guarded = (char *)now.page + FIRST;

    (void)context;
    if (at < guarded || at >= guarded + BYTES) {
        signal(sig, SIG_DFL);
        return;
    }
    guard(false);
    now.change();
}

static bool gate(uint32_t id)
{
    return pt_load_seqcst(&now.page->gates[id]) >> now.bit & 1;
}

static unsigned open_gates(void)
{
    unsigned n = 0;

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        n += gate(id);
    return n;
}

static void begin(void (*change)(void))
{
    struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    trace_attr_t attr;
    char file[64];
    int bit;

    now.change = change;
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &now.trid), 0);
    ck_assert_int_eq(posix_trace_start(now.trid), 0);
    now.s = pt_handle_get(now.trid, ~0u);
    ck_assert_ptr_nonnull(now.s);
    pt_handle_put(now.s);
    ck_assert_int_eq(pt_seg_open(&now.seg, now.s->seg->file), 0);
    now.child = fork();
    if (now.child == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(pt_process_look((uint32_t)now.child, &now.process), 0);
    ck_assert_int_eq(pt_page_create(&now.page, (uint32_t)now.child, now.process.start,
                                    now.s->self->names_file, file),
                     0);
    bit = pt_page_take_bit(now.page);
    ck_assert_int_ge(bit, 0);
    now.bit = (unsigned)bit;
    pt_page_set_file(now.page, now.bit, now.seg.file);
    sigaction(SIGSEGV, &act, NULL);
}

static int join(void)
{
    return pt_process_register(&now.seg, (uint32_t)now.child, now.process.start, now.page, now.bit);
}

static void end(void)
{
    int status;

    signal(SIGSEGV, SIG_DFL);
    kill(now.child, SIGKILL);
    ck_assert_int_eq(waitpid(now.child, &status, 0), now.child);
    pt_page_unmap(now.page);
    pt_seg_unmap(&now.seg);
}

static void stop(void)
{
    if (posix_trace_stop(now.trid) != 0)
        abort();
}

static void shut_down(void)
{
    if (posix_trace_shutdown(now.trid) != 0)
        abort();
}

/* Among them one type whose gate has been set already, and one whose gate has not. */
static void filter_other(void)
{
    trace_event_set_t set = set_of(GUARDED + 3);

    posix_trace_eventset_add(9, &set);
    posix_trace_eventset_add(PT_ID_NAMED_FIRST + 1, &set);
    if (posix_trace_set_filter(now.trid, &set, POSIX_TRACE_SET_EVENTSET) != 0)
        abort();
}

START_TEST(test_that_is_stopped)
{
    begin(stop);
    guard(true);
    ck_assert_int_eq(join(), 0);
    ck_assert_uint_eq(open_gates(), 0);
    ck_assert_int_eq(posix_trace_shutdown(now.trid), 0);
    end();
}
END_TEST

/* Not EAGAIN, which says that there are too many. */
START_TEST(test_without_room_in_the_table)
{
    begin(stop);
    has_no_room = true;
    ck_assert_int_eq(join(), -ENOMEM);
    has_no_room = false;
    ck_assert_int_eq(join(), 0);
    ck_assert_uint_gt(open_gates(), 0);
    ck_assert_int_eq(posix_trace_shutdown(now.trid), 0);
    end();
}
END_TEST

START_TEST(test_that_gets_a_filter)
{
    trace_event_set_t set = set_of(GUARDED + 2);

    begin(filter_other);
    posix_trace_eventset_add(PT_ID_NAMED_FIRST + 2, &set);
    ck_assert_int_eq(posix_trace_set_filter(now.trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    guard(true);
    ck_assert_int_eq(join(), 0);
    ck_assert(gate(GUARDED + 2) && gate(PT_ID_NAMED_FIRST + 2));
    ck_assert(!gate(GUARDED + 3) && !gate(PT_ID_NAMED_FIRST + 1));
    ck_assert(gate(PT_ID_MAX - 1));
    ck_assert_int_eq(posix_trace_shutdown(now.trid), 0);
    ck_assert_uint_eq(open_gates(), 0);
    end();
}
END_TEST

START_TEST(test_that_is_shut_down)
{
    begin(shut_down);
    guard(true);
    ck_assert_int_eq(join(), 0);
    ck_assert_uint_eq(open_gates(), 0);
    ck_assert_uint_eq(pt_load_seqcst(&now.page->used) >> now.bit & 1, 0);
    end();
}
END_TEST

static bool all(void *context, const struct posixtrace_event *e)
{
    (void)context;
    return e != NULL;
}

/* What decides in the parent decides in the child: a gate that is open is then to be asked. */
START_TEST(test_that_is_stopped_while_functions_are_inherited)
{
    static struct pt_self child;

    begin(stop);
    ck_assert_int_eq(posixtrace_set_handler(now.trid, 0, all, NULL), 0);
    ck_assert_int_eq(join(), 0);
    ck_assert_uint_gt(open_gates(), 1000);
    child.page = now.page;
    guard(true);
    pt_filter_callback_inherit(&child, now.bit, now.s->self, now.s->bit);
    ck_assert_uint_eq(open_gates(), 0);
    ck_assert_int_eq(posix_trace_shutdown(now.trid), 0);
    end();
}
END_TEST

/* A gate that is open though the stream is stopped: no event overwrites existing ones. */
START_TEST(test_that_is_stopped_with_an_open_gate)
{
    struct posix_trace_event_info info;
    struct pt_stream *s;
    unsigned there = 0;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    size_t len;
    int none;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 64 << 10), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("e", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < 100; i++)
        posix_trace_event(id, &i, sizeof i);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    s = pt_handle_get(trid, ~0u);
    ck_assert_ptr_nonnull(s);
    pt_page_set_gate(s->page, s->bit, id, PT_GATE_OPEN);
    pt_handle_put(s);
    for (int i = 0; i < 20000; i++)
        posix_trace_event(id, &i, sizeof i);
    for (int i; posix_trace_trygetnext_event(trid, &info, &i, sizeof i, &len, &none) == 0 && !none;)
        there += info.posix_event_id == id;
    ck_assert_uint_eq(there, 100);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* The child stands inside an event when the filter changes, and leaves it later. */
static void stay_inside(trace_event_id_t id, volatile int *left, int ready)
{
    struct pt_self *self;
    struct pt_writer *writer;

    posix_trace_event(id, NULL, 0);
    self = pt_self_peek();
    writer = pt_thread_self->writers0;
    while (!writer->epoch)
        writer++;
    pt_store_seqcst(&writer->slot->inside, pt_load_relaxed(&pt_thread_self->count) + 1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    while (pt_load_seqcst(&self->page->gates[id]) != 0)
        usleep(100);
    usleep(20000);
    *left = 1;
    pt_store_seqcst(&writer->slot->inside, (uint64_t)0);
    pause();
}

/* Has the child left the event when the call returns?  *ns: how long that has taken. */
static bool child_has_left(int64_t *ns)
{
    volatile int *left = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                              0);
    trace_event_set_t set;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    bool has_left;
    int ready[2];
    pid_t child;
    char byte;

    ck_assert_ptr_ne((void *)left, MAP_FAILED);
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_eventid_open("e", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    child = fork();
    if (child == 0)
        stay_inside(id, left, ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    set = set_of(id);
    *ns = -(int64_t)pt_clock_ns(CLOCK_MONOTONIC);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    has_left = *left != 0;
    *ns += (int64_t)pt_clock_ns(CLOCK_MONOTONIC);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    munmap((void *)(uintptr_t)left, BYTES);
    close(ready[0]);
    close(ready[1]);
    return has_left;
}

/* Once more where the child had no processor for so long that the call returned without it. */
START_TEST(test_that_is_inside_while_the_filter_changes)
{
    bool has_left;
    int64_t ns;

    do
        has_left = child_has_left(&ns);
    while (!has_left && ns >= (int64_t)PT_STALL_NS);
    ck_assert(has_left);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, test_that_is_inside_while_the_filter_changes);
    tcase_add_test(t, test_that_is_stopped_with_an_open_gate);
    tcase_add_test(t, test_without_room_in_the_table);
    if (sysconf(_SC_PAGESIZE) != BYTES)
        return;
    tcase_add_test(t, test_that_is_stopped);
    tcase_add_test(t, test_that_gets_a_filter);
    tcase_add_test(t, test_that_is_shut_down);
    tcase_add_test(t, test_that_is_stopped_while_functions_are_inherited);
}

int main(void)
{
    return run_suite("heir", "a stream that is changed while a process joins it", NULL, add);
}
