/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream's owner dies: a process that traces into it notices it, or is removed from the stream by
 * the next process that uses the library; until then its events are in the log, or counted as lost.
 * A living owner never counts as dead.
 *
 * Three processes: the test, an owner, and the owner's child, which is the writer.  The writer
 * reports the state of its page in shared memory, and its normal end through a pipe, because the
 * test is not its parent.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "process/self.h"
#include "support/run_suite.h"

#define HANG_S 60u

struct shared {
    volatile pid_t writer;
    volatile uint64_t start;
    volatile int look_now;    /* the writer lets its next change of chunk look */
    volatile uint64_t looked; /* changes of that time, seen by the writer */
    volatile int stop;
    volatile uint64_t events;
    volatile uint64_t due; /* those whose call returned while the page had a stream */
    volatile int traced;   /* the writer's page has a stream */
    volatile int dirty;    /* gates open in a page without a stream */
};

static struct shared *shared;
static trace_event_id_t event_id;
static int end_of_writer[2];
static int log_fd = -1;

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static bool gates_are_closed(const struct pt_page *page)
{
    uint64_t open = 0;

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        open |= pt_load_acquire(&page->gates[id]);
    return open == 0;
}

/* ---- the writer ---- */

static struct pt_seg_header *only_stream(struct pt_self *self)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        if (self->known[bit].seg)
            return self->known[bit].seg->h;
    return NULL;
}

static void be_writer(void)
{
    struct pt_seg_header *h = NULL;
    struct pt_self *self;

    alarm(HANG_S);
    while (!shared->stop) {
        posix_trace_event(event_id, "0123456789012345678901234567890", 32);
        self = pt_self_peek();
        if (!h)
            h = only_stream(self);
        shared->traced = pt_load_acquire(&self->page->used) != 0;
        shared->due += shared->traced != 0;
        if (!shared->traced && !gates_are_closed(self->page))
            shared->dirty = 1;
        if (h && shared->look_now && shared->traced) {
            pt_store_relaxed(&h->owner_look_ns, 0u);
            shared->look_now = 0;
        } else if (h && !shared->look_now && pt_load_relaxed(&h->owner_look_ns)) {
            shared->looked++;
        }
        shared->start = self->start;
        shared->writer = getpid();
        shared->events++;
    }
    _exit(write(end_of_writer[1], "e", 1) != 1);
}

/* ---- the owner ---- */

static void *end_of_first_thread(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void be_owner(int policy, int way)
{
    trace_attr_t attr;
    trace_id_t trid;
    pthread_t t;

    alarm(HANG_S);
    if (posix_trace_attr_init(&attr) != 0 ||
        posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) != 0 ||
        posix_trace_attr_setstreamsize(&attr, 64 << 10) != 0 ||
        posix_trace_attr_setstreamfullpolicy(&attr, policy) != 0 ||
        posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) != 0 ||
        (log_fd < 0 ? posix_trace_create(0, &attr, &trid)
                    : posix_trace_create_withlog(0, &attr, log_fd, &trid)) != 0 ||
        posix_trace_start(trid) != 0)
        _exit(3);
    if (fork() == 0)
        be_writer();
    close(end_of_writer[1]);
    if (way == 'e') {
        while (shared->events < 100)
            rest();
        execl("/bin/sleep", "sleep", "60", (char *)NULL);
        _exit(4);
    }
    if (way == 't' && pthread_create(&t, NULL, end_of_first_thread, NULL) == 0)
        pthread_exit(NULL);
    for (;;)
        pause();
}

/* ---- the test ---- */

static pid_t start_owner(int policy, int way)
{
    pid_t pid;

    alarm(HANG_S);
    if (!shared)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
    ck_assert(shared != MAP_FAILED);
    memset(shared, 0, sizeof *shared);
    ck_assert_int_eq(posix_trace_eventid_open("owner", &event_id), 0);
    ck_assert_int_eq(pipe(end_of_writer), 0);
    pid = fork();
    if (pid == 0)
        be_owner(policy, way);
    close(end_of_writer[1]);
    while (!shared->events || !shared->traced)
        rest();
    return pid;
}

static void end_writer(void)
{
    char end[2];

    shared->stop = 1;
    kill(shared->writer, SIGCONT);
    ck_assert_int_eq(read(end_of_writer[0], end, 1), 1);
    ck_assert_int_eq(read(end_of_writer[0], end, 1), 0);
    close(end_of_writer[0]);
    ck_assert_int_eq(shared->dirty, 0);
    alarm(0);
}

static void kill_owner(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void await_notice(void)
{
    uint64_t from;

    while (shared->traced)
        rest();
    from = shared->events;
    while (shared->events < from + 1000)
        rest();
}

START_TEST(killed)
{
    kill_owner(start_owner(_i ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP, 'k'));
    await_notice();
    end_writer();
}
END_TEST

START_TEST(a_zombie_is_dead)
{
    pid_t pid = start_owner(POSIX_TRACE_LOOP, 'k');

    kill(pid, SIGKILL);
    await_notice();
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    end_writer();
}
END_TEST

START_TEST(exec_is_a_death)
{
    pid_t pid = start_owner(POSIX_TRACE_LOOP, 'e');

    await_notice();
    kill_owner(pid);
    end_writer();
}
END_TEST

/* Waits until the writer has checked at least once after this order. */
static void let_it_look(void)
{
    uint64_t from;

    shared->look_now = 1;
    while (shared->look_now)
        rest();
    from = shared->looked;
    while (shared->looked == from)
        rest();
}

START_TEST(alive)
{
    pid_t pid = start_owner(_i ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP, 'k');

    for (int i = 0; i < 5; i++)
        let_it_look();
    kill(pid, SIGSTOP);
    for (int i = 0; i < 5; i++)
        let_it_look();
    ck_assert_int_eq(shared->traced, 1);
    kill_owner(pid);
    end_writer();
}
END_TEST

START_TEST(alive_without_its_first_thread)
{
    pid_t pid = start_owner(POSIX_TRACE_LOOP, 't');

    for (int i = 0; i < 5; i++)
        let_it_look();
    ck_assert_int_eq(shared->traced, 1);
    kill_owner(pid);
    await_notice();
    end_writer();
}
END_TEST

/* By the next user: the writer stands still and can do nothing. */
START_TEST(taken_out_by_others)
{
    pid_t pid = start_owner(POSIX_TRACE_LOOP, 'k');
    struct pt_page *page;
    unsigned removed, kept;
    char file[64];

    kill(shared->writer, SIGSTOP);
    ck_assert_int_eq(pt_page_open(&page, (uint32_t)shared->writer, shared->start, file), 0);
    ck_assert_uint_ne(page->used, 0);
    ck_assert(!gates_are_closed(page));
    kill_owner(pid);
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    ck_assert_uint_eq(page->used, 0);
    ck_assert(gates_are_closed(page));
    ck_assert_uint_gt(removed, 0);
    ck_assert_uint_eq(kept, 0);
    pt_page_unmap(page);
    kill(shared->writer, SIGCONT);
    await_notice();
    /* Everything but the living writer's own page and names is gone. */
    ck_assert_int_eq(posixtrace_stream_reap(0, &removed, &kept), 0);
    ck_assert_uint_eq(removed, 0);
    end_writer();
}
END_TEST

/* The events of the log, which the memory completes. */
static uint64_t events_read(trace_id_t trid)
{
    struct posixtrace_event e[32];
    uint64_t events = 0;
    size_t n = 1;

    while (n > 0) {
        ck_assert_int_eq(posixtrace_next_events(trid, e, sizeof e[0], 32, &n), 0);
        for (size_t i = 0; i < n; i++)
            events += strcmp(e[i].name, "owner") == 0;
    }
    return events;
}

static uint64_t events_lost(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    return lost;
}

/* The owner is killed wherever its flush thread is.  The writer notices it with
 * its next chunk, or traces on for a while, or ends at once. */
START_TEST(events_until_then)
{
    FILE *log = tmpfile();
    uint64_t due, have;
    trace_id_t trid;
    pid_t pid;

    log_fd = fileno(log);
    pid = start_owner(POSIX_TRACE_FLUSH, 'k');
    nanosleep(&(struct timespec){ .tv_nsec = 200000 + _i * 700000 }, NULL);
    kill_owner(pid);
    shared->look_now = _i % 3 == 0;
    if (_i % 3 == 1)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    if (_i % 3 == 0)
        await_notice();
    end_writer();
    due = shared->due;
    ck_assert_uint_le(due, shared->events);
    ck_assert_int_eq(posix_trace_open(log_fd, &trid), 0);
    have = events_read(trid) + events_lost(trid);
    /* One more: the call in which the writer noticed it. */
    ck_assert_uint_ge(have, due);
    ck_assert_uint_le(have, due + 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(log);
    log_fd = -1;
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
}

static void add(TCase *t)
{
    tcase_add_loop_test(t, killed, 0, 2);
    tcase_add_test(t, a_zombie_is_dead);
    tcase_add_test(t, exec_is_a_death);
    tcase_add_loop_test(t, alive, 0, 2);
    tcase_add_test(t, alive_without_its_first_thread);
    tcase_add_test(t, taken_out_by_others);
    tcase_add_loop_test(t, events_until_then, 0, 9);
}

int main(void)
{
    return run_suite("control owner", "owner", prepare, add);
}
