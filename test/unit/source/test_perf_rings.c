/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The kernel's rings of context switches: their size, and the thread that empties them. */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <trace.h>
#include "perf_target.h"
#include "base/atomics.h"
#include "support/log_file.h"

enum { CPUS = 64, SMALL = 4096 };

void *__real_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
int __real_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout);

static uint64_t allowance; /* bytes of all of them together; 0: as many as the system gives */
static uint32_t waits_fail, failed_waits;

static bool is_called(int fd, const char *name)
{
    char link[64], what[32] = "";

    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    return fd >= 0 && readlink(link, what, sizeof what - 1) > 0 && strstr(what, name);
}

struct mapped {
    size_t largest, smallest, all;
};

/* Bytes of the kernel's rings that this process maps. */
static struct mapped mapped_rings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    struct mapped m = { .smallest = SIZE_MAX };
    unsigned long from, to;
    char line[512];

    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "[perf_event]") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            m.largest = to - from > m.largest ? to - from : m.largest;
            m.smallest = to - from < m.smallest ? to - from : m.smallest;
            m.all += to - from;
        }
    if (f)
        fclose(f);
    return m;
}

void *__wrap_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
    uint64_t most = pt_load_seqcst(&allowance);

    if (most && is_called(fd, "[perf_event]") && mapped_rings().all + length > most) {
        errno = EPERM;
        return MAP_FAILED;
    }
    return __real_mmap64(addr, length, prot, flags, fd, offset);
}

int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int timeout)
{
    int n;

    if (pt_load_seqcst(&waits_fail)) {
        errno = EBADF;
        n = -1;
    } else {
        n = __real_epoll_wait(epoll, ready, most, timeout);
    }
    if (n < 0 && errno != EINTR)
        pt_add_seqcst(&failed_waits, 1u);
    return n;
}

/* The thread of this process with that name; 0: there is none. */
static pid_t thread_named(const char *name)
{
    pid_t found = 0;
    struct dirent *d;
    DIR *dir = opendir("/proc/self/task");

    while (dir && found == 0 && (d = readdir(dir))) {
        char path[300], is[32] = "";
        FILE *f;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
        f = fopen(path, "r");
        if (f && fgets(is, sizeof is, f) && strcmp(is, name) == 0)
            found = (pid_t)strtol(d->d_name, NULL, 10);
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* May a thread run in real time?  0 or an error number. */
static void *try_first(void *error)
{
    const struct sched_param first = { .sched_priority = 1 };

    *(int *)error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    return NULL;
}

/* Not every root: CAP_IPC_LOCK lifts the limit on locked memory. */
static bool may_have_large_rings(void)
{
    struct perf_event_attr attr = { .size = sizeof attr,
                                    .type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_DUMMY };
    size_t bytes = (4u << 20) + (size_t)sysconf(_SC_PAGESIZE);
    long n = sysconf(_SC_NPROCESSORS_CONF);
    void *at[CPUS];
    int fd[CPUS];
    bool all = true;

    for (long i = 0; i < n && i < CPUS; i++) {
        fd[i] = (int)syscall(SYS_perf_event_open, &attr, 0, i, -1, PERF_FLAG_FD_CLOEXEC);
        at[i] = fd[i] < 0 ? MAP_FAILED
                          : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd[i], 0);
        all &= at[i] != MAP_FAILED || (fd[i] < 0 && errno == ENODEV);
    }
    for (long i = 0; i < n && i < CPUS; i++) {
        if (at[i] != MAP_FAILED)
            munmap(at[i], bytes);
        if (fd[i] >= 0)
            close(fd[i]);
    }
    return geteuid() == 0 && all;
}

/* The kernel's rings are emptied before other threads run, and root's are large: a busy machine
 * loses no switch. */
START_TEST(pump_goes_first)
{
    bool large = may_have_large_rings();
    int fd = log_file(), denied = 0;
    trace_id_t trid = make(fd, getpid(), POSIX_TRACE_CLOSE_FOR_CHILD);
    pthread_t t;
    pid_t pump;

    ck_assert_int_eq(pthread_create(&t, NULL, try_first, &denied), 0);
    pthread_join(t, NULL);
    while ((pump = thread_named("posixtrace-perf\n")) == 0)
        sched_yield();
    if (denied == 0)
        ck_assert_int_eq(sched_getscheduler(pump), SCHED_FIFO);
    if (large)
        ck_assert_uint_ge(mapped_rings().largest, 4u << 20);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

/* A round trip after the other, without a descriptor of its own, until it has blocked often. */
static void switch_often(struct sleeper *s, uint64_t often)
{
    uint64_t until = s->progress->switched + often;

    while (s->progress->switched < until) {
        uint32_t turn = pt_load_seqcst(&s->progress->turn);

        ck_assert_int_eq(write(s->pipe[1], "x", 1), 1);
        await_turn(s, turn + 1);
    }
}

/* If the program has fewer descriptors than there are rings, or waiting for them fails, the pump
 * does not spin, and still notices the wake-up. */
START_TEST(waiting_is_refused)
{
    int fd = log_file();
    struct rlimit all, few;
    struct sleeper s;
    trace_id_t trid;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
    few = (struct rlimit){ 1, all.rlim_max };
    pt_store_seqcst(&failed_waits, 0u);
    pt_store_seqcst(&waits_fail, (uint32_t)_i);
    trid = make_with(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD, SMALL);
    begin(&s);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    switch_often(&s, 2 * BLOCKS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
    pt_store_seqcst(&waits_fail, 0u);
    end(&s);
    ck_assert_uint_eq(pt_load_seqcst(&failed_waits), (uint32_t)_i);
    look(fd);
    ck_assert_uint_gt(seen_of(getpid(), s.progress->tid)->out, 0);
}
END_TEST

/* Root whom the limit on locked memory binds, as in a container: 516 KiB for each processor,
 * which are for all rings. */
START_TEST(root_with_a_limit)
{
    int fd = log_file();
    trace_id_t trid;

    pt_store_seqcst(&allowance, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * (516u << 10));
    trid = make(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD);
    pt_store_seqcst(&allowance, (uint64_t)0);
    ck_assert_uint_ge(mapped_rings().smallest, 256u << 10);
    ck_assert_uint_eq(mapped_rings().smallest, mapped_rings().largest);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

/* Rings of the size that was asked for, or of the largest that the limit allows; as the stream
 * says. */
START_TEST(size_asked_for)
{
    static const size_t asked[] = { 4096, 64 << 10, 512 << 10, 512 << 10 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 0, wanted = asked[_i];
    int fd = log_file();
    trace_id_t trid;

    if (_i == 3) {
        wanted /= 4;
        pt_store_seqcst(&allowance, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * (wanted + page));
    }
    trid = make_with(fd, 0, POSIX_TRACE_CLOSE_FOR_CHILD, asked[_i]);
    pt_store_seqcst(&allowance, (uint64_t)0);
    wanted = wanted < page ? page : wanted;
    ck_assert_int_eq(posixtrace_stream_switchbuffer(trid, &bytes), 0);
    ck_assert_uint_eq(bytes, wanted);
    ck_assert_uint_eq(mapped_rings().smallest, wanted + page);
    ck_assert_uint_eq(mapped_rings().largest, wanted + page);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

START_TEST(no_size)
{
    static const size_t bad[] = { 1, 2048, 4097, 12288, (size_t)1 << 31, SIZE_MAX };
    trace_attr_t *attr = attributes(0, POSIX_TRACE_CLOSE_FOR_CHILD);
    size_t bytes = 1;
    trace_id_t trid;
    int fd = log_file();

    ck_assert_int_eq(posixtrace_attr_getswitchbuffer(attr, &bytes), 0);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(posixtrace_attr_setswitchbuffer(attr, 8192), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(posixtrace_attr_setswitchbuffer(attr, bad[i]), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setswitchbuffer(NULL, 8192), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitchbuffer(attr, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getswitchbuffer(attr, &bytes), 0);
    ck_assert_uint_eq(bytes, 8192);
    ck_assert_int_eq(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    ck_assert_int_eq(posixtrace_stream_switchbuffer(trid, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_stream_switchbuffer(trid, &bytes), 0);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posixtrace_stream_switchbuffer(trid, &bytes), EINVAL);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, pump_goes_first);
    tcase_add_loop_test(t, waiting_is_refused, 0, 2);
    tcase_add_test(t, root_with_a_limit);
    tcase_add_loop_test(t, size_asked_for, 0, 4);
    tcase_add_test(t, no_size);
}

int main(void)
{
    return run_perf_tests("perf_rings", add_tests);
}
