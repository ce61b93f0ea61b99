/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A fork handler that was registered before the library's traces in the child: before the
 * library's own handlers have run there.  Its events are the child's, also where the fork came
 * in the middle of an event, whose half in the child is dropped; and what it has made of the
 * child stays, for one writer.  pt_writer_write() goes through the test, which forks there as a
 * signal handler may.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"
#include "writer/writer.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, EVENTS = 10, LONG = 2 * PT_EVENT_INLINE };

bool __real_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts);
bool __wrap_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts);

static bool traces_early;                /* the fork handler */
static const struct pt_self *made_early; /* by it */
static bool forks;                       /* the next long event */
static pid_t child;

static void trace(unsigned n)
{
    for (uint64_t i = 0; i < n; i++)
        posix_trace_event(TYPE, &i, sizeof i);
}

static void trace_early(void)
{
    if (!traces_early)
        return;
    trace(EVENTS);
    made_early = pt_self_peek();
}

__attribute__((constructor(101))) static void come_first(void)
{
    pthread_atfork(NULL, NULL, trace_early);
}

/* The parent waits, so the child acts first.  The child continues at the place of the fork. */
static void fork_here(void)
{
    int status;

    forks = false;
    traces_early = true;
    child = fork();
    ck_assert_int_ge(child, 0);
    traces_early = false;
    if (child == 0)
        return;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

bool __wrap_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts)
{
    if (forks && id == TYPE)
        fork_here();
    return __real_pt_writer_write(writer, id, data, len, addr, ts);
}

static trace_id_t create(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

/* The child's events take the shortest path, as the same writer's. */
static void live_as_child(void)
{
    trace(EVENTS);
    _exit(pt_self_peek() == made_early && pt_gates == made_early->page->gates ? 0 : 1);
}

static void expect(trace_id_t trid, unsigned of_parent, unsigned of_child)
{
    struct posixtrace_info info = info_of(trid);
    struct posixtrace_event e;
    unsigned parents = 0, childs = 0;
    int none = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        parents += e.id == TYPE && e.pid == getpid();
        childs += e.id == TYPE && e.pid == child;
    }
    ck_assert_uint_eq(parents, of_parent);
    ck_assert_uint_eq(childs, of_child);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(outside_events)
{
    trace_id_t trid = create();

    trace(EVENTS);
    fork_here();
    if (child == 0)
        live_as_child();
    trace(EVENTS);
    expect(trid, 2 * EVENTS, 2 * EVENTS);
}
END_TEST

/* _i 1: the thread's first event. */
START_TEST(inside_an_event)
{
    static const char data[LONG];
    const unsigned before = _i ? 0 : EVENTS;
    trace_id_t trid = create();

    trace(before);
    forks = true;
    posix_trace_event(TYPE, data, sizeof data);
    if (child == 0)
        live_as_child();
    trace(EVENTS);
    expect(trid, before + 1 + EVENTS, 2 * EVENTS);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, outside_events);
    if (!is_under_valgrind())
        tcase_add_loop_test(tc, inside_an_event, 0, 2);
}

int main(void)
{
    return run_suite("process fork_early", "stream fork_early", NULL, add);
}
