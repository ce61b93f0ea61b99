/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits for threads, children, signals, file locks and futexes, each by all of its names: the
 * events, and that results and errno are those of the C library.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "scene.h"
#include "support/valgrind.h"

int __fcntl(int fd, int command, ...);
pid_t __wait(int *status);
pid_t __waitpid(pid_t pid, int *status, int options);
int __sigsuspend(const sigset_t *set);

enum { FILE_FD = 100, BAD_FD = 119 };

/* The same call past the library that wraps it. */
static void *past(const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *found = dlsym(libc, name);

    if (!found)
        abort();
    dlclose(libc);
    return found;
}
#define PAST(name) ((__typeof__(&name))past(#name))

/* Makes the call twice, and notes what differs. */
#define BOTH(name, ...)                                                          \
    do {                                                                         \
        int error, other;                                                        \
        long r, r2;                                                              \
                                                                                 \
        errno = E2BIG;                                                           \
        r = (long)name(__VA_ARGS__);                                             \
        error = errno;                                                           \
        errno = E2BIG;                                                           \
        r2 = (long)PAST(name)(__VA_ARGS__);                                      \
        other = errno;                                                           \
        scene_note(r == r2 && error == other ? (int)(r < 0 ? -error : r) : 999); \
    } while (0)

/* ---- threads ---- */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *waits_for_mutex(void *unused)
{
    PAST(pthread_mutex_lock)(&held);
    PAST(pthread_mutex_unlock)(&held);
    return unused;
}

static pthread_t make(void *(*body)(void *))
{
    pthread_t t;

    if (PAST(pthread_create)(&t, NULL, body, NULL) != 0)
        abort();
    return t;
}

START_TEST(joins)
{
    struct timespec now;
    pthread_t t;
    trace_id_t trid;

    ck_ok(pthread_mutex_lock(&held));
    t = make(waits_for_mutex);
    scene_name((void *)t, "T");
    trid = scene_begin();
    scene_note(pthread_tryjoin_np(t, NULL));
    scene_note(pthread_timedjoin_np(t, NULL, &scene_past));
    scene_note(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &scene_past));
    clock_gettime(CLOCK_REALTIME, &now);
    PAST(pthread_mutex_unlock)(&held);
    scene_note(pthread_join(t, NULL));
    scene_note(pthread_join(pthread_self(), NULL));
    scene_name((void *)pthread_self(), "SELF");
    scene_end(trid);
    ck_results("EBUSY ETIMEDOUT ETIMEDOUT 0 EDEADLK");
    ck_events(0, "thread_join T, thread_joined T EBUSY, thread_join T, thread_joined T ETIMEDOUT, "
                 "thread_join T, thread_joined T ETIMEDOUT, thread_join T, thread_joined T, "
                 "thread_join SELF, thread_joined SELF EDEADLK");
}
END_TEST

static void *joins_main(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    return NULL;
}

START_TEST(join_cancelled)
{
    pthread_t self = pthread_self(), t;
    void *result = NULL;
    trace_id_t trid;

    scene_name((void *)self, "MAIN");
    trid = scene_begin();
    if (PAST(pthread_create)(&t, NULL, joins_main, &self) != 0)
        abort();
    scene_note(pthread_cancel(t));
    scene_note(PAST(pthread_join)(t, &result));
    scene_end(trid);
    ck_results("0 0");
    ck_assert(result == PTHREAD_CANCELED);
    ck_events(0, "thread_join MAIN, thread_joined MAIN ECANCELED");
}
END_TEST

/* ---- children ---- */

static pid_t child(int status)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(status);
    return pid;
}

START_TEST(children)
{
    struct rusage usage;
    siginfo_t info;
    int status, n = 0, seen[8];
    pid_t pids[8];
    trace_id_t trid;

    for (int i = 0; i < 8; i++)
        pids[i] = child(i);
    PAST(waitpid)(pids[7], NULL, 0);
    for (int i = 3; i < 6; i++) {
        char *name = th_alloc(4);

        sprintf(name, "P%d", i);
        scene_name((void *)(intptr_t)pids[i], name);
    }
    scene_name((void *)(intptr_t)-1, "any");
    trid = scene_begin();
    for (int i = 3; i < 6; i++)
        if ((i == 3   ? waitpid(pids[i], &status, 0)
             : i == 4 ? __waitpid(pids[i], &status, 0)
                      : wait4(pids[i], &status, 0, &usage)) == pids[i])
            seen[n++] = WEXITSTATUS(status);
    scene_note(waitid(P_PID, (id_t)pids[6], &info, WEXITED));
    scene_note(wait(&status) <= 0);
    scene_note(__wait(&status) <= 0);
    scene_note(wait3(&status, 0, &usage) <= 0);
    BOTH(wait, &status);
    BOTH(__wait, &status);
    BOTH(waitpid, pids[0], &status, 0);
    BOTH(__waitpid, -1, &status, WNOHANG);
    BOTH(wait3, &status, WNOHANG, &usage);
    BOTH(wait4, pids[0], &status, 0, &usage);
    BOTH(waitid, P_ALL, 0, &info, WEXITED);
    scene_end(trid);
    ck_assert(n == 3 && seen[0] == 3 && seen[1] == 4 && seen[2] == 5);
    ck_results("0 0 0 0 -10 -10 -10 -10 -10 -10 -10");
    ck_assert_uint_eq(scene_count("child_wait "), 14);
    ck_assert_uint_eq(scene_count("child_waited"), 14);
    ck_assert_uint_eq(scene_count("ECHILD"), 7);
    ck_assert_uint_eq(scene_count("child_wait waitpid P3, child_waited waitpid P3 "), 1);
    ck_assert_uint_eq(scene_count("child_wait waitpid P4, child_waited waitpid P4 "), 1);
    ck_assert_uint_eq(scene_count("child_wait wait4 P5, child_waited wait4 P5 "), 1);
    ck_assert_uint_eq(scene_count("child_wait wait -, child_waited wait - "), 4);
    ck_assert_uint_eq(scene_count("child_wait wait3 -, child_waited wait3 - "), 2);
    ck_assert_uint_eq(scene_count("child_waited waitid - ECHILD"), 1);
    ck_assert_uint_eq(scene_threads(), 1);
}
END_TEST

/* ---- signals ---- */

static void nothing(int number)
{
    (void)number;
}

static volatile pthread_t pausing;

static void *kills_until_joined(void *unused)
{
    for (;;) {
        PAST(pthread_kill)(pausing, SIGUSR2);
        PAST(usleep)(1000);
        pthread_testcancel();
    }
    return unused;
}

START_TEST(signals)
{
    struct sigaction does_nothing = { .sa_handler = nothing };
    struct timespec no_time = { 0, 0 };
    sigset_t set, none, old;
    siginfo_t info;
    trace_id_t trid;
    int number = 0;
    pthread_t t;

    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    ck_ok(PAST(sigaction)(SIGUSR1, &does_nothing, NULL));
    ck_ok(PAST(sigaction)(SIGUSR2, &does_nothing, NULL));
    ck_ok(pthread_sigmask(SIG_BLOCK, &set, &old));
    trid = scene_begin();
    raise(SIGUSR1);
    scene_note(sigwait(&set, &number));
    scene_note(number != SIGUSR1);
    raise(SIGUSR1);
    scene_note(sigwaitinfo(&set, &info) != SIGUSR1);
    raise(SIGUSR1);
    scene_note(sigtimedwait(&set, &info, NULL) != SIGUSR1);
    BOTH(sigtimedwait, &set, &info, &no_time);
    raise(SIGUSR1);
    scene_note_errno(sigsuspend(&none));
    raise(SIGUSR1);
    scene_note_errno(__sigsuspend(&none));
    pausing = pthread_self();
    PAST(pthread_create)(&t, NULL, kills_until_joined, NULL);
    scene_note_errno(pause());
    pthread_cancel(t);
    PAST(pthread_join)(t, NULL);
    scene_end(trid);
    ck_ok(pthread_sigmask(SIG_SETMASK, &old, NULL));
    ck_results("0 0 0 0 -11 EINTR EINTR EINTR");
    ck_events(0, "signal_wait sigwait -, signal_taken sigwait - 10, "
                 "signal_wait sigwaitinfo -, signal_taken sigwaitinfo - 10, "
                 "signal_wait sigtimedwait -, signal_taken sigtimedwait - 10, "
                 "signal_wait sigtimedwait -, signal_taken sigtimedwait - EAGAIN, "
                 "signal_wait sigsuspend -, signal_taken sigsuspend - EINTR, "
                 "signal_wait sigsuspend -, signal_taken sigsuspend - EINTR, "
                 "signal_wait pause -, signal_taken pause - EINTR");
}
END_TEST

/* ---- file locks ---- */

START_TEST(file_locks)
{
    struct flock lock = { .l_type = F_WRLCK }, shared = { .l_type = F_RDLCK },
                 off = { .l_type = F_UNLCK };
    trace_id_t trid;
    int fd = memfd_create("a", 0);

    ck_assert_int_eq(dup2(fd, FILE_FD), FILE_FD);
    scene_name((void *)FILE_FD, "FILE");
    scene_name((void *)BAD_FD, "BAD");
    trid = scene_begin();
    BOTH(flock, FILE_FD, LOCK_SH);
    BOTH(flock, FILE_FD, LOCK_EX | LOCK_NB);
    BOTH(flock, FILE_FD, LOCK_UN);
    BOTH(flock, BAD_FD, LOCK_EX);
    BOTH(lockf, FILE_FD, F_LOCK, 1);
    BOTH(lockf64, FILE_FD, F_TLOCK, 1);
    BOTH(lockf, FILE_FD, F_TEST, 1);
    BOTH(lockf64, FILE_FD, F_ULOCK, 1);
    BOTH(fcntl, FILE_FD, F_SETLKW, &lock);
    BOTH(fcntl64, FILE_FD, F_SETLK, &shared);
    BOTH(__fcntl, FILE_FD, F_SETLKW, &off);
    BOTH(fcntl, FILE_FD, F_OFD_SETLKW, &lock);
    BOTH(fcntl, FILE_FD, F_OFD_SETLK, &off);
    BOTH(fcntl, BAD_FD, F_SETLKW, &lock);
    BOTH(fcntl, FILE_FD, F_GETFD);
    scene_end(trid);
    close(fd);
    close(FILE_FD);
    ck_results("0 0 0 -9 0 0 0 0 0 0 0 0 0 -9 0");
    ck_events(0, "file_lock flock FILE shared waits, file_locked flock FILE 0, "
                 "file_lock flock FILE exclusive, file_locked flock FILE 0, "
                 "file_lock flock FILE unlock waits, file_locked flock FILE 0, "
                 "file_lock flock BAD exclusive waits, file_locked flock BAD EBADF, "
                 "file_lock lockf FILE exclusive waits, file_locked lockf FILE 0, "
                 "file_lock lockf FILE exclusive, file_locked lockf FILE 0, "
                 "file_lock lockf FILE test, file_locked lockf FILE 0, "
                 "file_lock lockf FILE unlock, file_locked lockf FILE 0, "
                 "file_lock fcntl FILE exclusive waits, file_locked fcntl FILE 0, "
                 "file_lock fcntl FILE shared, file_locked fcntl FILE 0, "
                 "file_lock fcntl FILE unlock waits, file_locked fcntl FILE 0, "
                 "file_lock fcntl FILE exclusive waits, file_locked fcntl FILE 0, "
                 "file_lock fcntl FILE unlock, file_locked fcntl FILE 0, "
                 "file_lock fcntl BAD exclusive waits, file_locked fcntl BAD EBADF");
}
END_TEST

START_TEST(no_file_lock)
{
    trace_id_t trid;
    int fd = memfd_create("a", 0);

    ck_assert_int_eq(dup2(fd, FILE_FD), FILE_FD);
    trid = scene_begin();
    BOTH(fcntl, FILE_FD, F_SETLKW, NULL);
    scene_end(trid);
    close(fd);
    close(FILE_FD);
    ck_results("-14");
    ck_events(0, "");
}
END_TEST

/* ---- futexes ---- */

static long six(long number, ...)
{
    va_list more;
    long a[6];

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A call that needs all six.  SYS_mmap takes one on 32-bit x86, and on s390, which has no other. */
static void *map_page(void)
{
#if defined SYS_mmap2
    return (void *)six(SYS_mmap2, NULL, 4096L, 3L, 0x22L, -1L, 0L);
#elif defined __s390__
    const long all[] = { 0, 4096, 3, 0x22, -1, 0 };

    return (void *)six(SYS_mmap, all, 0L, 0L, 0L, 0L, 0L);
#else
    return (void *)six(SYS_mmap, NULL, 4096L, 3L, 0x22L, -1L, 0L);
#endif
}

START_TEST(futexes)
{
    static uint32_t word = 1;
    struct timespec no_time = { 0, 0 };
    void *map;
    trace_id_t trid;

    scene_name(&word, "W");
    trid = scene_begin();
    BOTH(syscall, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
    BOTH(syscall, SYS_futex, &word, FUTEX_WAIT, 1, &no_time);
    BOTH(syscall, SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 1);
    BOTH(syscall, SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
    BOTH(syscall, SYS_getppid);
    BOTH(syscall, -1L);
    map = map_page();
    scene_end(trid);
    ck_assert_int_eq((intptr_t)map & 4095, 0);
    ck_assert_ptr_ne(map, (void *)-1);
    *(char *)map = 1;
    ck_events(0, "futex_wait W, futex_woken W EAGAIN, futex_wait W, futex_woken W ETIMEDOUT, "
                 "futex_wait W, futex_woken W EAGAIN");
}
END_TEST

/* ---- older names of locks, queues ---- */

START_TEST(old_names)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    static const char *const names[] = {
        "__pthread_mutex_lock",    "__pthread_mutex_unlock",     "__pthread_mutex_trylock",
        "__pthread_mutex_unlock",  "__pthread_rwlock_rdlock",    "__pthread_rwlock_tryrdlock",
        "__pthread_rwlock_unlock", "__pthread_rwlock_unlock",    "__pthread_rwlock_wrlock",
        "__pthread_rwlock_unlock", "__pthread_rwlock_trywrlock", "__pthread_rwlock_unlock",
    };
    int (*calls[TH_COUNT(names)])(void *);
    trace_id_t trid;

    scene_name(&m, "M");
    scene_name(&l, "L");
    for (size_t i = 0; i < TH_COUNT(names); i++)
        *(void **)&calls[i] = dlsym(RTLD_DEFAULT, names[i]);
    trid = scene_begin();
    for (size_t i = 0; i < TH_COUNT(names); i++)
        scene_note(calls[i](i < 4 ? (void *)&m : &l));
    scene_end(trid);
    ck_results("0 0 0 0 0 0 0 0 0 0 0 0");
    ck_events(0, "mutex_lock M, mutex_locked M, mutex_unlock M, mutex_lock M, mutex_locked M, "
                 "mutex_unlock M, rwlock_lock L, rwlock_locked L, rwlock_lock L, rwlock_locked L, "
                 "rwlock_unlock L, rwlock_unlock L, rwlock_lock L, rwlock_locked L, "
                 "rwlock_unlock L, rwlock_lock L, rwlock_locked L, rwlock_unlock L");
}
END_TEST

START_TEST(queues)
{
    char room[64];
    trace_id_t trid;

    scene_name((void *)BAD_FD, "BAD");
    trid = scene_begin();
    BOTH(mq_send, BAD_FD, "a", 1, 0);
    BOTH(mq_timedsend, BAD_FD, "a", 1, 0, &scene_past);
    BOTH(mq_receive, BAD_FD, room, sizeof room, NULL);
    BOTH(mq_timedreceive, BAD_FD, room, sizeof room, NULL, &scene_past);
    scene_end(trid);
    ck_results("-9 -9 -9 -9");
    ck_events(0, "io mq_send BAD, io_done mq_send BAD EBADF, "
                 "io mq_timedsend BAD, io_done mq_timedsend BAD EBADF, "
                 "io mq_receive BAD, io_done mq_receive BAD EBADF, "
                 "io mq_timedreceive BAD, io_done mq_timedreceive BAD EBADF");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, joins);
    tcase_add_test(tc, join_cancelled);
    tcase_add_test(tc, children);
    tcase_add_test(tc, signals);
    tcase_add_test(tc, file_locks);
    if (!is_under_valgrind())
        tcase_add_test(tc, no_file_lock);
    tcase_add_test(tc, futexes);
    tcase_add_test(tc, old_names);
    tcase_add_test(tc, queues);
}

int main(void)
{
    return th_main("preload waits", add);
}
