/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Context switches from the kernel: they are all there, in order, and whose they are. */
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "perf_target.h"
#include "base/atomics.h"
#include "support/log_file.h"

enum { THREADS = 4 };

/* Half of the threads are there before the stream, half come after it. */
START_TEST(blocked_threads)
{
    struct sleeper sleeper[THREADS];
    int fd = log_file();
    trace_id_t trid;

    for (unsigned i = 0; i < THREADS / 2; i++)
        begin(&sleeper[i]);
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    for (unsigned i = THREADS / 2; i < THREADS; i++)
        begin(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        wake_often(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        end(&sleeper[i]);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    for (unsigned i = 0; i < THREADS; i++)
        check_sleeper(getpid(), sleeper[i].progress->tid);
}
END_TEST

static uint32_t resting;

static void *flush_often(void *trid)
{
    while (!pt_load_seqcst(&resting))
        posix_trace_flush(*(trace_id_t *)trid);
    return NULL;
}

/* Many rounds while threads switch: all switches before a round's watermark are in it, so the whole
 * log is in order. */
START_TEST(many_rounds)
{
    struct sleeper sleeper[THREADS];
    struct posixtrace_info info;
    int fd = log_file();
    pthread_t flusher;
    trace_id_t trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);

    pt_store_seqcst(&resting, 0u);
    ck_assert_int_eq(pthread_create(&flusher, NULL, flush_often, &trid), 0);
    for (unsigned i = 0; i < THREADS; i++)
        begin(&sleeper[i]);
    for (unsigned i = 0; i < THREADS; i++)
        wake_often(&sleeper[i]);
    pt_store_seqcst(&resting, 1u);
    pthread_join(flusher, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        end(&sleeper[i]);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.late, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    look(fd);
    for (unsigned i = 0; i < THREADS; i++)
        check_sleeper(getpid(), sleeper[i].progress->tid);
}
END_TEST

/* The kernel has counted as many, from one moment on to another. */
START_TEST(as_the_kernel_counts)
{
    struct sleeper s;
    int fd = log_file();
    uint64_t before, outs;
    trace_id_t trid;

    begin(&s);
    await_block(&s, 1);
    before = counter(getpid(), s.progress->tid, "voluntary_ctxt_switches");
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    wake_often(&s);
    outs = counter(getpid(), s.progress->tid, "voluntary_ctxt_switches") - before;
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    end(&s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    ck_assert_uint_eq(seen_of(getpid(), s.progress->tid)->out, outs);
}
END_TEST

static uint32_t spinning;

/* It has the one processor of the thread that made it. */
static void *spin(void *tid)
{
    posix_trace_event(own_id, NULL, 0);
    pt_store_seqcst((pid_t *)tid, (pid_t)syscall(SYS_gettid));
    while (pt_load_seqcst(&spinning))
        ;
    posix_trace_event(own_id, NULL, 0);
    return NULL;
}

/* To the first processor that it may run on. */
static void pin(cpu_set_t *old)
{
    cpu_set_t one;

    sched_getaffinity(0, sizeof *old, old);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, old))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Two threads want one processor. */
START_TEST(preempted_threads)
{
    pid_t tid[2] = { 0, 0 };
    int fd = log_file();
    pthread_t thread[2];
    trace_id_t trid;
    cpu_set_t old;

    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    pt_store_seqcst(&spinning, 1u);
    pin(&old);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, spin, &tid[i]), 0);
    sched_setaffinity(0, sizeof old, &old);
    for (int i = 0; i < 2; i++)
        while (!pt_load_seqcst(&tid[i]) ||
               counter(getpid(), tid[i], "nonvoluntary_ctxt_switches") < 3)
            sched_yield();
    pt_store_seqcst(&spinning, 0u);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_ge(seen_of(getpid(), tid[i])->preempted, 3);
        ck_assert_uint_eq(seen_of(getpid(), tid[i])->wrong, 0);
    }
}
END_TEST

START_TEST(children)
{
    bool inherited = _i == 1;
    int fd = log_file();
    trace_id_t trid = make(fd, 0, inherited ? POSIX_TRACE_INHERITED : POSIX_TRACE_CLOSE_FOR_CHILD);
    struct sleeper c;

    fork_child(&c);
    wake_child(&c);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    if (inherited)
        check_sleeper(c.pid, c.pid);
    else
        ck_assert_uint_eq(seen_of(c.pid, c.pid)->in + seen_of(c.pid, c.pid)->out, 0);
}
END_TEST

/* The listed name of a pid, "" if it is not listed. */
static void listed_name(int fd, pid_t pid, char name[16])
{
    struct posixtrace_thread_info t;
    trace_id_t trid;
    int none;

    name[0] = '\0';
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &none) == 0 && !none)
        if (t.pid == pid && t.tid == pid)
            memcpy(name, t.name, 16);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* The child ends before anybody could ask for the name of its last program. */
START_TEST(names_of_programs)
{
    int fd = log_file(), status;
    trace_id_t trid = make(fd, 0, POSIX_TRACE_INHERITED);
    char name[16];
    pid_t child;

    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "a shell", "-c", "exec sleep 0", (char *)NULL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    listed_name(fd, child, name);
    ck_assert_str_eq(name, "sleep");
    look(fd);
}
END_TEST

/* From outside, a process that was there before. */
START_TEST(another_process)
{
    int fd = log_file();
    struct sleeper c;
    trace_id_t trid;

    attributes(1, POSIX_TRACE_CLOSE_FOR_CHILD);
    fork_child(&c);
    await_block(&c, 1);
    trid = make(fd, c.pid, POSIX_TRACE_CLOSE_FOR_CHILD);
    wake_child(&c);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    look(fd);
    check_sleeper(c.pid, c.pid);
    ck_assert_uint_eq(seen_of(getpid(), getpid())->in, 0);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, blocked_threads);
    tcase_add_test(t, many_rounds);
    tcase_add_test(t, as_the_kernel_counts);
    tcase_add_test(t, preempted_threads);
    tcase_add_loop_test(t, children, 0, 2);
    tcase_add_test(t, names_of_programs);
    tcase_add_test(t, another_process);
}

int main(void)
{
    return run_perf_tests("perf", add_tests);
}
