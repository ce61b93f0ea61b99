/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls that have not returned: readers of a stream know of them, and the log of one that was
 * stopped, shut down, or whose process was killed.  Each test runs where all events are recorded,
 * and where only calls of an hour are.
 */
#include <fcntl.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "scene.h"

enum { PATIENCE_MS = TH_WATCHDOG_S * 1000 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int two[2];

static void *locks(void *unused)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

static void *reads(void *unused)
{
    char byte;

    while (read(two[0], &byte, 1) < 0)
        ;
    return unused;
}

static void *waits(void *unused)
{
    pthread_mutex_lock(&m);
    pthread_cond_wait(&cond, &m);
    pthread_mutex_unlock(&m);
    return unused;
}

/* What that thread waits for; false: for nothing, or it is not in the list. */
static bool waits_for(trace_id_t trid, pid_t tid, struct posixtrace_thread_info *t)
{
    int unavailable = 0;
    bool found = false;

    ck_ok(posixtrace_threadlist_rewind(trid));
    while (!found && posixtrace_threadlist_getnext(trid, t, sizeof *t, &unavailable) == 0 &&
           !unavailable)
        found = t->tid == tid && t->wait_type != 0;
    return found;
}

/* Until it waits for that. */
static void expect(trace_id_t trid, pid_t tid, uint32_t type, uint32_t call, uint64_t object)
{
    extern const char __executable_start[], etext[];
    struct posixtrace_thread_info t = { .wait_type = 0 };
    int64_t from = th_now_ns();

    for (int i = 0; i < PATIENCE_MS && (!waits_for(trid, tid, &t) || t.wait_type != type ||
                                        t.wait_call != call || t.wait_object != object);
         i++)
        th_sleep_ms(1);
    ck_assert_uint_eq(t.wait_type, type);
    ck_assert_uint_eq(t.wait_call, call);
    ck_assert_uint_eq(t.wait_object, object);
    ck_assert_uint_ge(t.wait_caller, (uintptr_t)__executable_start);
    ck_assert_uint_lt(t.wait_caller, (uintptr_t)etext);
    ck_assert_int_gt(t.wait_since_ns, from - INT64_C(100) * 1000000000);
    ck_assert_int_le(t.wait_since_ns, th_now_ns() + 1000000);
}

static void expect_nothing(trace_id_t trid, pid_t tid)
{
    struct posixtrace_thread_info t;
    int i = 0;

    while (i < PATIENCE_MS && waits_for(trid, tid, &t)) {
        th_sleep_ms(1);
        i++;
    }
    ck_assert_int_lt(i, PATIENCE_MS);
}

static trace_id_t begin(void)
{
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_LOOP);

    ck_ok(pipe(two));
    ck_ok(sem_init(&sem, 0, 0));
    ck_ok(posix_trace_start(trid));
    return trid;
}

#define NONE UINT32_MAX

START_TEST(live)
{
    struct th_thread locker, reader, waiter;
    trace_id_t trid = begin();

    pthread_mutex_lock(&held);
    th_thread_start(&locker, locks, NULL);
    th_thread_start(&reader, reads, NULL);
    th_thread_start(&waiter, waits, NULL);
    expect(trid, locker.tid, POSIXTRACE_MUTEX_LOCK, NONE, (uintptr_t)&held);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    expect(trid, waiter.tid, POSIXTRACE_COND_WAIT, NONE, (uintptr_t)&cond);
    expect_nothing(trid, getpid());
    pthread_mutex_unlock(&held);
    ck_assert_int_eq(write(two[1], "", 1), 1);
    pthread_mutex_lock(&m);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&m);
    th_thread_join(&locker);
    th_thread_join(&reader);
    th_thread_join(&waiter);
    expect_nothing(trid, locker.tid);
    expect_nothing(trid, reader.tid);
    expect_nothing(trid, waiter.tid);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void interrupts(int number)
{
    (void)number;
    sem_wait(&sem);
}

/* In a handler a thread waits for another thing, and then again for the first one. */
START_TEST(in_handler)
{
    struct sigaction action = { .sa_handler = interrupts, .sa_flags = SA_RESTART };
    struct th_thread reader;
    trace_id_t trid = begin();

    ck_ok(sigaction(SIGUSR1, &action, NULL));
    th_thread_start(&reader, reads, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    for (int i = 0; i < 3; i++) {
        pthread_kill(reader.thread, SIGUSR1);
        expect(trid, reader.tid, POSIXTRACE_SEM_WAIT, NONE, (uintptr_t)&sem);
        sem_post(&sem);
        expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    }
    ck_assert_int_eq(write(two[1], "", 1), 1);
    th_thread_join(&reader);
    expect_nothing(trid, reader.tid);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static sigjmp_buf out;

static void leaves(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

/* Until its next call has ended it is shown in the one that it has left. */
static void *is_left(void *unused)
{
    if (sigsetjmp(out, 1) == 0)
        reads(NULL);
    sem_trywait(&sem);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

START_TEST(left)
{
    struct sigaction action = { .sa_handler = leaves };
    struct th_thread reader;
    trace_id_t trid = begin();

    ck_ok(sigaction(SIGUSR2, &action, NULL));
    pthread_mutex_lock(&held);
    th_thread_start(&reader, is_left, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    pthread_kill(reader.thread, SIGUSR2);
    expect(trid, reader.tid, POSIXTRACE_MUTEX_LOCK, NONE, (uintptr_t)&held);
    pthread_mutex_unlock(&held);
    th_thread_join(&reader);
    expect_nothing(trid, reader.tid);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(cancelled)
{
    struct th_thread reader;
    trace_id_t trid = begin();

    th_thread_start(&reader, reads, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    ck_ok(pthread_cancel(reader.thread));
    ck_assert_ptr_eq(th_thread_join(&reader), PTHREAD_CANCELED);
    expect_nothing(trid, reader.tid);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* In two streams, one of them with a filter. */
START_TEST(streams)
{
    trace_id_t trid = begin(), other = th_stream(.policy = POSIX_TRACE_LOOP);
    trace_event_set_t filter;
    struct th_thread reader;

    ck_ok(posix_trace_eventset_empty(&filter));
    ck_ok(posix_trace_eventset_add(POSIXTRACE_IO, &filter));
    ck_ok(posix_trace_set_filter(other, &filter, POSIX_TRACE_SET_EVENTSET));
    ck_ok(posix_trace_start(other));
    th_thread_start(&reader, reads, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    expect_nothing(other, reader.tid);
    ck_assert_int_eq(write(two[1], "", 1), 1);
    th_thread_join(&reader);
    ck_ok(posix_trace_eventset_empty(&filter));
    ck_ok(posix_trace_set_filter(other, &filter, POSIX_TRACE_SET_EVENTSET));
    th_thread_start(&reader, reads, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    expect(other, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    ck_assert_int_eq(write(two[1], "", 1), 1);
    th_thread_join(&reader);
    expect_nothing(trid, reader.tid);
    expect_nothing(other, reader.tid);
    ck_ok(posix_trace_shutdown(other));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* ---- in logs ---- */

struct waiting {
    uint32_t type, call;
    uint64_t object;
    int64_t duration;
    uint64_t caller;
};

/* How often the log says that a thread still waited for that; tid 0: any. */
static unsigned noted(const char *path, pid_t tid, uint32_t type, uint64_t object)
{
    trace_id_t trid = th_open(path);
    struct posixtrace_event e;
    unsigned count = 0;
    int end = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end) {
        struct waiting w;

        if (e.id != POSIXTRACE_WAITING)
            continue;
        ck_assert_str_eq(e.name, "posixtrace_waiting");
        ck_assert_uint_eq(e.data_len, sizeof w);
        memcpy(&w, e.data, sizeof w);
        ck_assert_int_ge(w.duration, 0);
        count += (tid == 0 || e.tid == tid) && w.type == type && w.object == object;
    }
    th_close(trid);
    return count;
}

START_TEST(stopped)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .name = "w");
    struct th_thread reader, locker;

    ck_ok(pipe(two));
    ck_ok(posix_trace_start(trid));
    pthread_mutex_lock(&held);
    th_thread_start(&locker, locks, NULL);
    th_thread_start(&reader, reads, NULL);
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    expect(trid, locker.tid, POSIXTRACE_MUTEX_LOCK, NONE, (uintptr_t)&held);
    ck_ok(posix_trace_stop(trid));
    th_flush(trid);
    pthread_mutex_unlock(&held);
    th_thread_join(&locker);
    th_flush(trid);
    ck_ok(posix_trace_start(trid));
    expect(trid, reader.tid, POSIXTRACE_IO, POSIXTRACE_CALL_READ, (uint64_t)two[0]);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    ck_assert_uint_eq(noted(path, locker.tid, POSIXTRACE_MUTEX_LOCK, (uintptr_t)&held), 1);
    ck_assert_uint_eq(noted(path, reader.tid, POSIXTRACE_IO, (uint64_t)two[0]), 2);
    ck_assert_uint_eq(noted(path, 0, POSIXTRACE_COND_WAIT, (uintptr_t)&cond), 0);
    ck_assert_int_eq(write(two[1], "", 1), 1);
    th_thread_join(&reader);
}
END_TEST

static char child_path[TH_PATH];

/* Blocks in a lock, where the parent kills it. */
static void blocks(void *tells)
{
    int fd = open(child_path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .name = "w");
    struct th_thread locker;

    ck_ok(posix_trace_start(trid));
    pthread_mutex_lock(&held);
    th_thread_start(&locker, locks, NULL);
    expect(trid, locker.tid, POSIXTRACE_MUTEX_LOCK, NONE, (uintptr_t)&held);
    ck_assert_int_eq(write(*(int *)tells, "", 1), 1);
    for (;;)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static uint64_t added(void)
{
    struct posixtrace_recover_report report;
    int fd = open(child_path, O_RDWR);

    ck_ok(posixtrace_log_recover(fd, &report, sizeof report));
    close(fd);
    return report.events_added;
}

/* The log of a killed process, read as it is and after recovery, has each call once. */
START_TEST(killed)
{
    int tells[2];
    pid_t child;
    char byte;

    close(th_file(child_path, O_RDWR));
    ck_ok(pipe(tells));
    child = th_fork(blocks, &tells[1]);
    ck_assert_int_eq(read(tells[0], &byte, 1), 1);
    ck_ok(kill(child, SIGKILL));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_eq(noted(child_path, 0, POSIXTRACE_MUTEX_LOCK, (uintptr_t)&held), 1);
    ck_assert_uint_ge(added(), 1);
    ck_assert_uint_eq(noted(child_path, 0, POSIXTRACE_MUTEX_LOCK, (uintptr_t)&held), 1);
    ck_assert_uint_eq(added(), 0);
    ck_assert_uint_eq(noted(child_path, 0, POSIXTRACE_MUTEX_LOCK, (uintptr_t)&held), 1);
}
END_TEST

static void is_killed(void *tells)
{
    struct th_thread locker;

    pthread_mutex_lock(&held);
    th_thread_start(&locker, locks, NULL);
    ck_assert_int_eq(write(*(int *)tells, &locker.tid, sizeof locker.tid), sizeof locker.tid);
    for (;;)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

/* The stream's owner lives: its log says what a child was killed in. */
START_TEST(child_killed)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), tells[2];
    trace_id_t trid = th_stream_log(fd, .inherit = POSIX_TRACE_INHERITED);
    pid_t child, locker;

    ck_ok(pipe(tells));
    ck_ok(posix_trace_start(trid));
    child = th_fork(is_killed, &tells[1]);
    ck_assert_int_eq(read(tells[0], &locker, sizeof locker), sizeof locker);
    expect(trid, locker, POSIXTRACE_MUTEX_LOCK, NONE, (uintptr_t)&held);
    ck_ok(kill(child, SIGKILL));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    ck_assert_uint_eq(noted(path, 0, POSIXTRACE_MUTEX_LOCK, (uintptr_t)&held), 1);
}
END_TEST

static sem_t ball[2];
static bool over;

/* Waits for its ball, and throws the other one. */
static void *plays(void *own)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        sem_wait(own);
        sem_post(own == &ball[0] ? &ball[1] : &ball[0]);
    }
    return own;
}

/* The last event before a call of the thread that has not returned is the beginning of that. */
static void expect_open_calls(const char *path, pid_t tid)
{
    trace_id_t trid = th_open(path);
    struct posixtrace_event e;
    uint32_t last = 0;
    int end = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end) {
        if (e.tid != tid)
            continue;
        if (e.id == POSIXTRACE_WAITING)
            ck_assert_uint_eq(last, POSIXTRACE_SEM_WAIT);
        last = e.id;
    }
    th_close(trid);
}

/* While threads begin calls and return from them. */
START_TEST(snapshots)
{
    enum { SNAPSHOTS = 40 };
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_LOOP, .stream_size = 1 << 20);
    struct posixtrace_snapshot_report report;
    struct th_thread player[2];

    for (int i = 0; i < 2; i++) {
        ck_ok(sem_init(&ball[i], 0, 0));
        th_thread_start(&player[i], plays, &ball[i]);
    }
    ck_ok(posix_trace_start(trid));
    sem_post(&ball[0]);
    for (int i = 0; i < SNAPSHOTS; i++) {
        char path[TH_PATH];
        int fd = th_file(path, O_RDWR);

        ck_ok(posixtrace_snapshot(trid, fd, &report, sizeof report));
        close(fd);
        if (!getenv("POSIXTRACE_RECORD_LONGER_THAN") &&
            report.lost_during[POSIXTRACE_LOST_OVERWRITTEN] == 0)
            for (int k = 0; k < 2; k++)
                expect_open_calls(path, player[k].tid);
        unlink(path);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        sem_post(&ball[i]);
    for (int i = 0; i < 2; i++)
        th_thread_join(&player[i]);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    th_use_folder_of_all(tc);
    tcase_add_test(tc, live);
    tcase_add_test(tc, in_handler);
    tcase_add_test(tc, left);
    tcase_add_test(tc, cancelled);
    tcase_add_test(tc, streams);
    tcase_add_test(tc, stopped);
    tcase_add_test(tc, killed);
    tcase_add_test(tc, child_killed);
    tcase_add_test(tc, snapshots);
}

int main(void)
{
    return th_main("preload waiting", add);
}
