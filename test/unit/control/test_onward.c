/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * An event that a full stream leaves to the next, where that does not take it: the thread
 * gets no slot there, the process is refused, the stream is stopped or shut down between the
 * look at its state and the write; or the event is a half one of a forked child.  It is counted
 * once, in the first, or the parent has it.  And events that meet a stop under way, in one stream.
 * The calls on their way go through the test, which does at such a moment what another thread,
 * process or handler may do.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "shm/pool.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"
#include "writer/event.h"
#include "writer/writer.h"

enum { EVENTS = 5000, CHILDS = 3, SMALL = 65536, LARGE = 4 << 20 };

bool __real_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts);
bool __wrap_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts);
bool __real_pt_writer_turns_away(struct pt_writer *writer, uint32_t id, size_t len);
bool __wrap_pt_writer_turns_away(struct pt_writer *writer, uint32_t id, size_t len);
int __real_pt_writer_attach(struct pt_writer *writer, struct pt_seg *seg, uint64_t epoch,
                            const struct pt_author *author);
int __wrap_pt_writer_attach(struct pt_writer *writer, struct pt_seg *seg, uint64_t epoch,
                            const struct pt_author *author);
struct pt_writer *__real_pt_event_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                         unsigned bit, bool for_event);
struct pt_writer *__wrap_pt_event_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                         unsigned bit, bool for_event);
enum pt_pool_take __real_pt_pool_take(struct pt_seg *seg, uint32_t slot, uint32_t need, bool loop,
                                      uint32_t *index);
enum pt_pool_take __wrap_pt_pool_take(struct pt_seg *seg, uint32_t slot, uint32_t need, bool loop,
                                      uint32_t *index);
bool __real_pt_page_bit_is_of(const struct pt_page *page, unsigned bit, const char *file);
bool __wrap_pt_page_bit_is_of(const struct pt_page *page, unsigned bit, const char *file);

static trace_event_id_t work;
static trace_id_t first, next;
static const struct pt_seg *full_of_writers; /* it has no free slot */
enum moment { WRITES, HAS_LANE, HAS_CHUNK };
static struct {
    const struct pt_seg *seg;
    enum moment at;
    void (*run)(void); /* once, at that moment of an event there */
} meanwhile;
static pid_t child;
static pthread_t stopper;
static _Thread_local bool stops; /* is that thread */
static _Atomic bool gates_are_next, may_close_gates;

static void plan(trace_id_t trid, enum moment at, void (*run)(void))
{
    meanwhile.seg = segment_of(trid);
    meanwhile.at = at;
    meanwhile.run = run;
}

static void come_to(const struct pt_seg *seg, enum moment at)
{
    void (*run)(void) = meanwhile.run;

    if (!run || seg != meanwhile.seg || at != meanwhile.at)
        return;
    meanwhile.run = NULL;
    run();
}

bool __wrap_pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                            uint64_t addr, uint64_t ts)
{
    if (id == work)
        come_to(writer->seg, WRITES);
    return __real_pt_writer_write(writer, id, data, len, addr, ts);
}

bool __wrap_pt_writer_turns_away(struct pt_writer *writer, uint32_t id, size_t len)
{
    if (id == work)
        come_to(writer->seg, WRITES);
    return __real_pt_writer_turns_away(writer, id, len);
}

struct pt_writer *__wrap_pt_event_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                         unsigned bit, bool for_event)
{
    struct pt_writer *writer = __real_pt_event_writer(self, t, level, bit, for_event);

    if (writer)
        come_to(writer->seg, HAS_LANE);
    return writer;
}

enum pt_pool_take __wrap_pt_pool_take(struct pt_seg *seg, uint32_t slot, uint32_t need, bool loop,
                                      uint32_t *index)
{
    enum pt_pool_take r = __real_pt_pool_take(seg, slot, need, loop, index);

    come_to(seg, HAS_CHUNK);
    return r;
}

int __wrap_pt_writer_attach(struct pt_writer *writer, struct pt_seg *seg, uint64_t epoch,
                            const struct pt_author *author)
{
    return seg == full_of_writers ? -ENOMEM : __real_pt_writer_attach(writer, seg, epoch, author);
}

/* Of a stop: the state has changed, the gates are open. */
bool __wrap_pt_page_bit_is_of(const struct pt_page *page, unsigned bit, const char *file)
{
    gates_are_next |= stops;
    while (stops && !may_close_gates)
        sched_yield();
    return __real_pt_page_bit_is_of(page, bit, file);
}

static trace_id_t create(int policy, size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, size), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static void chain(size_t next_size)
{
    first = create(POSIX_TRACE_UNTIL_FULL, SMALL);
    next = create(POSIX_TRACE_UNTIL_FULL, next_size);
    ck_assert_int_eq(posix_trace_eventid_open("work", &work), 0);
    ck_assert_int_eq(posixtrace_chain(first, next), 0);
}

static void end(void)
{
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
    ck_assert_int_eq(posix_trace_shutdown(next), 0);
}

static void trace(unsigned n)
{
    for (uint64_t i = 0; i < n; i++)
        posix_trace_event(work, &i, sizeof i);
}

static uint64_t lost(trace_id_t trid)
{
    struct posixtrace_info info = info_of(trid);
    uint64_t sum = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        sum += info.lost[c];
    return sum;
}

static uint64_t recorded(trace_id_t trid)
{
    struct posixtrace_event e;
    uint64_t n = 0;
    int none = 0;

    for (; posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none; n += e.id == work)
        ;
    return n;
}

/* Of so many events, those that the next stream has neither recorded nor counted. */
static void expect_in_first(uint64_t events, uint64_t in_next, uint64_t lost_in_next)
{
    uint64_t in_first;

    ck_assert_uint_eq(lost(next), lost_in_next);
    ck_assert_uint_eq(recorded(next), in_next);
    in_first = recorded(first);
    ck_assert_uint_gt(in_first, 500);
    ck_assert_uint_eq(in_first + lost(first) + in_next + lost_in_next, events);
}

START_TEST(no_slot_in_next)
{
    chain(LARGE);
    full_of_writers = segment_of(next);
    trace(EVENTS);
    full_of_writers = NULL;
    expect_in_first(EVENTS, 0, 0);
    end();
}
END_TEST

START_TEST(refused_by_next)
{
    struct pt_page *page;
    unsigned bit = 0;

    chain(LARGE);
    page = pt_self_peek()->page;
    while (!pt_page_bit_is_of(page, bit, segment_of(next)->file))
        ck_assert_uint_lt(++bit, PT_STREAMS);
    pt_store_relaxed(&page->stream[bit].refused, 1u);
    trace(EVENTS);
    pt_store_relaxed(&page->stream[bit].refused, 0u);
    expect_in_first(EVENTS, 0, 0);
    end();
}
END_TEST

static void stop_next(void)
{
    ck_assert_int_eq(posix_trace_stop(next), 0);
}

static void close_next(void)
{
    pt_store_seqcst(&segment_of(next)->h->closed, 1u);
}

static void (*const ends_of_next[])(void) = { stop_next, close_next };

/* As the first event comes to it. */
START_TEST(next_ends_before_the_write)
{
    chain(LARGE);
    plan(next, WRITES, ends_of_next[_i]);
    trace(EVENTS);
    ck_assert_ptr_null(meanwhile.run);
    pt_store_seqcst(&segment_of(next)->h->closed, 0u);
    expect_in_first(EVENTS, 0, 0);
    end();
}
END_TEST

/* After a look at its state, and before the time of the event is taken: in a chunk that has room,
 * or as it gets one. */
START_TEST(next_ends_before_the_time)
{
    uint64_t in_first, in_next;

    chain(LARGE);
    if (_i == HAS_LANE)
        trace(EVENTS - 1);
    plan(next, (enum moment)_i, stop_next);
    trace(_i == HAS_LANE ? 1 : EVENTS);
    ck_assert_ptr_null(meanwhile.run);
    in_first = recorded(first);
    in_next = recorded(next);
    ck_assert_uint_eq(in_next > 0, _i == HAS_LANE);
    ck_assert_uint_eq(lost(next), 0);
    ck_assert_uint_eq(in_first + lost(first) + in_next, EVENTS);
    end();
}
END_TEST

/* As it is full itself, and has counted losses. */
START_TEST(full_next_stops_before_the_write)
{
    uint64_t in_next, lost_in_next;

    chain(SMALL);
    trace(2 * EVENTS);
    lost_in_next = lost(next);
    ck_assert_uint_gt(lost_in_next, 0);
    plan(next, WRITES, stop_next);
    trace(2);
    ck_assert_ptr_null(meanwhile.run);
    ck_assert_uint_eq(lost(next), lost_in_next);
    ck_assert_uint_eq(lost(first), 2);
    in_next = recorded(next);
    ck_assert_uint_eq(recorded(first) + in_next + lost_in_next, 2 * EVENTS);
    end();
}
END_TEST

/* What a handler may do in the middle of an event; the child can make no file. */
static void fork_here(void)
{
    struct rlimit limit;

    child = fork();
    if (child == 0 && (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
                       setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }) != 0))
        _exit(2);
}

/* The event is its parent's; the child's own ones are lost, and counted, in the streams that
 * trace it.  _i 1: in several streams. */
START_TEST(half_event_of_a_child)
{
    trace_id_t other = 0;
    int status;

    chain(LARGE);
    if (_i)
        other = create(POSIX_TRACE_UNTIL_FULL, LARGE);
    trace(EVENTS - 1);
    plan(first, WRITES, fork_here);
    trace(1);
    ck_assert_ptr_null(meanwhile.run);
    if (child == 0) {
        trace(CHILDS);
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(lost(first), CHILDS);
    ck_assert_uint_eq(lost(next), 0);
    ck_assert_uint_eq(recorded(next) + recorded(first), EVENTS);
    if (_i) {
        ck_assert_uint_eq(lost(other), CHILDS);
        ck_assert_uint_eq(recorded(other), EVENTS);
        ck_assert_int_eq(posix_trace_shutdown(other), 0);
    }
    end();
}
END_TEST

static void *stop(void *unused)
{
    stops = true;
    ck_assert_int_eq(posix_trace_stop(first), 0);
    return unused;
}

static void stop_up_to_the_gates(void)
{
    ck_assert_int_eq(pthread_create(&stopper, NULL, stop, NULL), 0);
    while (!gates_are_next)
        sched_yield();
}

/* The event that gets a chunk finds the stream stopped, those after it find their gates open. */
START_TEST(stop_between_chunk_and_time)
{
    struct posixtrace_event e;
    uint64_t n = 0;
    int none = 0;

    first = create(POSIX_TRACE_UNTIL_FULL, LARGE);
    ck_assert_int_eq(posix_trace_eventid_open("work", &work), 0);
    posix_trace_event(work, &n, sizeof n);
    plan(first, HAS_CHUNK, stop_up_to_the_gates);
    for (n = 1; meanwhile.run; n++)
        posix_trace_event(work, &n, sizeof n);
    for (unsigned i = 0; i < 10; i++, n++)
        posix_trace_event(work, &n, sizeof n);
    may_close_gates = true;
    ck_assert_int_eq(pthread_join(stopper, NULL), 0);
    ck_assert_uint_eq(lost(first), 0);
    n = 0;
    while (posixtrace_next_event(first, &e, sizeof e, &none) == 0 && !none) {
        if (e.id != work)
            continue;
        ck_assert_mem_eq(e.data, &n, sizeof n);
        n++;
    }
    ck_assert_uint_gt(n, 100);
    ck_assert_int_eq(posix_trace_shutdown(first), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, no_slot_in_next);
    tcase_add_test(t, refused_by_next);
    tcase_add_loop_test(t, next_ends_before_the_write, 0, 2);
    tcase_add_loop_test(t, next_ends_before_the_time, HAS_LANE, HAS_CHUNK + 1);
    tcase_add_test(t, full_next_stops_before_the_write);
    tcase_add_test(t, stop_between_chunk_and_time);
    if (!is_under_valgrind())
        tcase_add_loop_test(t, half_event_of_a_child, 0, 2);
}

int main(void)
{
    return run_suite("stream", "onward", NULL, add);
}
