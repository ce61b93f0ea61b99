/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group C, first part: creating streams.
 */
#include "support/trace_helpers.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Small segments, so that tests with many streams stay cheap. */
#define SMALL 16384

START_TEST(test_046_attr_null)
{
    trace_attr_t attr;
    trace_id_t trid;
    int value;

    ck_ok(posix_trace_create(0, NULL, &trid));
    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getstreamfullpolicy(&attr, &value));
    ck_assert_int_eq(value, POSIX_TRACE_LOOP);
    ck_ok(posix_trace_attr_getlogfullpolicy(&attr, &value));
    ck_assert_int_eq(value, POSIX_TRACE_LOOP);
    ck_ok(posix_trace_attr_getinherited(&attr, &value));
    ck_assert_int_eq(value, POSIX_TRACE_CLOSE_FOR_CHILD);
    ck_ok(posix_trace_attr_destroy(&attr));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void traces_the_caller(pid_t pid)
{
    trace_event_id_t id = th_id("mine");
    trace_id_t trid;
    struct th_list list;

    ck_ok(posix_trace_create(pid, NULL, &trid));
    ck_ok(posix_trace_start(trid));
    th_put_run(id, 5, 3, 8);
    list = th_drain(trid);
    th_expect(list, POSIX_TRACE_START, id, id, id);
    th_expect_run(th_only(list, id), 5);
    ck_ok(posix_trace_shutdown(trid));
}

START_TEST(test_047_pid_0)
{
    traces_the_caller(0);
}
END_TEST

START_TEST(test_048_own_pid)
{
    traces_the_caller(getpid());
}
END_TEST

static void *give_tid(void *tid)
{
    __atomic_store_n((pid_t *)tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pause();
    return NULL;
}

/* Ended and not reaped, reaped, and a number that is only a thread's. */
START_TEST(test_049_no_such_process)
{
    pid_t pid = fork(), tid = 0;
    trace_id_t trid = 77;
    struct th_thread t;
    siginfo_t info;

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_fails(posix_trace_create(pid, NULL, &trid), ESRCH);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_fails(posix_trace_create(pid, NULL, &trid), ESRCH);
    th_thread_start(&t, give_tid, &tid);
    th_thread_wait_asleep(&t);
    ck_fails(posix_trace_create(__atomic_load_n(&tid, __ATOMIC_ACQUIRE), NULL, &trid), ESRCH);
    pthread_cancel(t.thread);
    th_thread_join(&t);
    ck_assert_uint_eq(trid, 77);
}
END_TEST

/* Another user needs a stream directory of his own to get as far as the pid. */
static void trace_parent_as_nobody(void *unused)
{
    char dir[] = "/tmp/posixtrace-nobody-XXXXXX";
    trace_id_t trid = 77;
    int error;

    (void)unused;
    ck_assert_int_eq(setgid(65534), 0);
    ck_assert_int_eq(setuid(65534), 0);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("POSIXTRACE_DIR", dir, 1);
    error = posix_trace_create(getppid(), NULL, &trid);
    rmdir(dir);
    ck_assert_int_eq(error, EPERM);
    ck_assert_uint_eq(trid, 77);
}

START_TEST(test_050_process_of_another_user)
{
    if (geteuid() == 0)
        th_in_child(trace_parent_as_nobody, NULL);
    else
        ck_fails(posix_trace_create(1, NULL, &(trace_id_t){ 0 }), EPERM);
}
END_TEST

START_TEST(test_051_flush_without_log)
{
    trace_attr_t attr;
    trace_id_t trid = 77;

    th_attr(&attr, &(struct th_conf){ .policy = POSIX_TRACE_FLUSH });
    ck_fails(posix_trace_create(0, &attr, &trid), EINVAL);
    ck_assert_uint_eq(trid, 77);
    ck_ok(posix_trace_attr_destroy(&attr));
}
END_TEST

START_TEST(test_052_eight_streams)
{
    trace_event_id_t id = th_id("in all");
    trace_id_t trid[8];

    for (int i = 0; i < 8; i++) {
        trid[i] = th_stream(.stream_size = SMALL);
        ck_ok(posix_trace_start(trid[i]));
    }
    th_put(id, 1, 4);
    for (int i = 0; i < 8; i++) {
        th_expect(th_drain(trid[i]), POSIX_TRACE_START, id);
        ck_ok(posix_trace_shutdown(trid[i]));
    }
}
END_TEST

/* Creates streams until one fails, which must be for their number. */
static unsigned create_to_the_limit(pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
    unsigned n = 0;
    int error = 0;

    while (n <= TRACE_SYS_MAX && (error = posix_trace_create(pid, attr, &trid[n])) == 0)
        n++;
    ck_assert_int_eq(error, EAGAIN);
    return n;
}

#define THEIRS 20u

struct rival {
    int ready[2];
    pid_t pid;
};

static void create_and_wait(void *context)
{
    struct rival *r = context;

    for (unsigned i = 0; i < THEIRS; i++)
        th_stream(.stream_size = SMALL);
    ck_assert_int_eq(write(r->ready[1], "!", 1), 1);
    for (;;)
        pause();
}

/* The limit is the user's: what another process has, this one cannot have. */
START_TEST(test_053_too_many_streams)
{
    trace_id_t trid[TRACE_SYS_MAX + 1];
    trace_attr_t attr;
    struct rival r;
    char ready;
    unsigned n;

    th_attr(&attr, &(struct th_conf){ .stream_size = SMALL });
    ck_assert_int_eq(pipe(r.ready), 0);
    r.pid = th_fork(create_and_wait, &r);
    ck_assert_int_eq(read(r.ready[0], &ready, 1), 1);
    n = create_to_the_limit(0, &attr, trid);
    ck_assert_uint_eq(n, TRACE_SYS_MAX - THEIRS);
    ck_ok(posix_trace_shutdown(trid[n / 2]));
    ck_ok(posix_trace_create(0, &attr, &trid[n / 2]));
    ck_fails(posix_trace_create(0, &attr, &(trace_id_t){ 0 }), EAGAIN);
    ck_assert_int_eq(kill(r.pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(r.pid, NULL, 0), r.pid);
    n += create_to_the_limit(0, &attr, trid + n);
    ck_assert_uint_eq(n, TRACE_SYS_MAX);
    while (n > 0)
        ck_ok(posix_trace_shutdown(trid[--n]));
    ck_ok(posix_trace_attr_destroy(&attr));
    close(r.ready[0]);
    close(r.ready[1]);
}
END_TEST

/* More than any machine has, but an attribute that can be set. */
#define HUGE_SIZE (SIZE_MAX >> (sizeof(size_t) > 4 ? 24 : 2))

/* Half of the address space exists nowhere; where the attribute takes it,
 * create must not. */
START_TEST(test_054_enormous_stream)
{
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX / 2, HUGE_SIZE };

    for (size_t i = 0; i < TH_COUNT(sizes); i++) {
        trace_attr_t attr;
        trace_id_t trid = 77;
        int error;

        ck_ok(posix_trace_attr_init(&attr));
        error = posix_trace_attr_setstreamsize(&attr, sizes[i]);
        ck_assert(error == 0 || error == EINVAL);
        if (error == 0)
            error = posix_trace_create(0, &attr, &trid);
        ck_assert_msg(error == ENOMEM || error == EINVAL, "size %zu: %d", sizes[i], error);
        ck_assert_uint_eq(trid, 77);
        ck_ok(posix_trace_attr_destroy(&attr));
    }
}
END_TEST

static void wait_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

START_TEST(test_055_failures_leak_nothing)
{
    pid_t pids[] = { 0, th_fork(wait_for_ever, NULL) };
    trace_id_t trid[TRACE_SYS_MAX + 1];
    trace_attr_t flush, huge, small;
    unsigned n;

    th_attr(&flush, &(struct th_conf){ .policy = POSIX_TRACE_FLUSH });
    th_attr(&small, &(struct th_conf){ .stream_size = SMALL });
    ck_ok(posix_trace_attr_init(&huge));
    posix_trace_attr_setstreamsize(&huge, HUGE_SIZE);
    for (size_t k = 0; k < TH_COUNT(pids); k++) {
        for (int i = 0; i < 10 * TRACE_SYS_MAX; i++) {
            ck_fails(posix_trace_create(pids[k], &flush, &trid[0]), EINVAL);
            ck_fails(posix_trace_create(-5, NULL, &trid[0]), ESRCH);
            ck_fails(posix_trace_create_withlog(pids[k], NULL, -1, &trid[0]), EBADF);
            if (i % 8 == 0)
                ck_fails(posix_trace_create(pids[k], &huge, &trid[0]), ENOMEM);
        }
        n = create_to_the_limit(pids[k], &small, trid);
        ck_assert_uint_eq(n, TRACE_SYS_MAX);
        while (n > 0)
            ck_ok(posix_trace_shutdown(trid[--n]));
    }
    ck_assert_int_eq(kill(pids[1], SIGKILL), 0);
    ck_assert_int_eq(waitpid(pids[1], NULL, 0), pids[1]);
}
END_TEST

START_TEST(test_056_first_status)
{
    trace_id_t trid = th_stream();
    struct posix_trace_status_info s = th_status(trid);

    ck_assert_int_eq(s.posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(s.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    ck_assert_int_eq(s.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_assert_int_eq(s.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    ck_assert_int_eq(s.posix_stream_flush_error, 0);
    ck_assert_int_eq(s.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_assert_int_eq(s.posix_log_full_status, POSIX_TRACE_NOT_FULL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_057_first_filter)
{
    trace_event_id_t id = th_id("not ignored");
    trace_id_t trid = th_stream();
    trace_event_set_t filter;

    memset(&filter, 0xff, sizeof filter);
    ck_ok(posix_trace_get_filter(trid, &filter));
    for (size_t i = 0; i < TH_PREDEFINED; i++)
        ck_assert(!th_member(&filter, th_predefined[i].id));
    ck_assert(!th_member(&filter, id));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_058_nothing_recorded_at_first)
{
    trace_id_t trid = th_stream();

    ck_assert_uint_eq(th_drain(trid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_068_two_streams_two_attributes)
{
    static const struct th_conf conf[] = {
        { .name = "one", .policy = POSIX_TRACE_LOOP, .max_data = 10 },
        { .name = "two", .policy = POSIX_TRACE_UNTIL_FULL, .max_data = 20 },
    };
    trace_id_t trid[2] = { th_create(&conf[0]), th_create(&conf[1]) };

    for (int i = 0; i < 2; i++) {
        trace_attr_t attr;
        char name[TRACE_NAME_MAX + 1];
        int policy;
        size_t max_data;

        ck_ok(posix_trace_get_attr(trid[i], &attr));
        ck_ok(posix_trace_attr_getname(&attr, name));
        ck_ok(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
        ck_ok(posix_trace_attr_getmaxdatasize(&attr, &max_data));
        ck_assert_str_eq(name, conf[i].name);
        ck_assert_int_eq(policy, conf[i].policy);
        ck_assert_uint_eq(max_data, conf[i].max_data);
        ck_ok(posix_trace_attr_destroy(&attr));
    }
    ck_ok(posix_trace_shutdown(trid[0]));
    ck_ok(posix_trace_shutdown(trid[1]));
}
END_TEST

START_TEST(test_069_trids_differ)
{
    trace_id_t trid[8];

    for (int i = 0; i < 8; i++) {
        trid[i] = th_stream(.stream_size = SMALL);
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(trid[i], trid[j]);
    }
    for (int i = 0; i < 8; i++)
        ck_ok(posix_trace_shutdown(trid[i]));
}
END_TEST

START_TEST(test_070_flush_without_log)
{
    trace_id_t trid = th_stream();

    ck_fails(posix_trace_flush(trid), EINVAL);
    ck_ok(posix_trace_start(trid));
    ck_fails(posix_trace_flush(trid), EINVAL);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_046_attr_null);
    tcase_add_test(tc, test_047_pid_0);
    tcase_add_test(tc, test_048_own_pid);
    tcase_add_test(tc, test_049_no_such_process);
    tcase_add_test(tc, test_050_process_of_another_user);
    tcase_add_test(tc, test_051_flush_without_log);
    tcase_add_test(tc, test_052_eight_streams);
    tcase_add_test(tc, test_053_too_many_streams);
    tcase_add_test(tc, test_054_enormous_stream);
    tcase_add_test(tc, test_055_failures_leak_nothing);
    tcase_add_test(tc, test_056_first_status);
    tcase_add_test(tc, test_057_first_filter);
    tcase_add_test(tc, test_058_nothing_recorded_at_first);
    tcase_add_test(tc, test_068_two_streams_two_attributes);
    tcase_add_test(tc, test_069_trids_differ);
    tcase_add_test(tc, test_070_flush_without_log);
}

int main(void)
{
    return th_main("C create", add);
}
