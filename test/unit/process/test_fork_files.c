/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A thread forks while another one makes its process's first event, reads the mappings, creates and
 * ends a stream, lists them, or looks for a process, and has files open for that: at each of its
 * descriptors.  The child has no descriptor that its parent did not have before, however long the
 * other thread takes; only where the fork comes inside such a call, it has those of the call.
 * close() and syscall() go through the test, where the other thread waits, and so do
 * questions for room in the stream directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <posixtrace/attach.h>
#include <posixtrace/mapping.h>
#include <posixtrace/stream.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/sys.h"
#include "page/names.h"
#include "place/room.h"
#include "shm/liveness.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { DESCRIPTORS = 1024, DONE = 100, TYPE = POSIX_TRACE_UNNAMED_USER_EVENT };

static trace_id_t trid;
static int *verdict; /* of a child, shared with it */

/* Memory of its parent's other threads belongs to no thread of the child, which memcheck reports
 * where a program ends by itself. */
static void end_child(int status)
{
    *verdict = status;
    kill(getpid(), SIGKILL);
}

/* Less than 0: there is none. */
static int wait_for_child(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
        WTERMSIG(status) != SIGKILL)
        return -1;
    return *verdict;
}

static void setup(void)
{
    trace_attr_t attr;

    verdict = mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    ck_assert(verdict != MAP_FAILED);
    *verdict = -1;
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
}

static void teardown(void)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    munmap(verdict, sizeof *verdict);
}

static _Thread_local unsigned countdown; /* descriptors until the thread waits; 0: it does not */
static sem_t has_file, may_close;

static void wait_with_file(void)
{
    if (countdown == 0 || --countdown > 0)
        return;
    sem_post(&has_file);
    sem_wait(&may_close);
}

int __real_close(int fd);
int __wrap_close(int fd);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static _Thread_local bool forks; /* with the next file, as a handler may */
static bool has_all;             /* in the child, which has the files of its call */

static void fork_with_file(int fd)
{
    pid_t pid;

    if (!forks)
        return;
    forks = false;
    pid = fork();
    if (pid == 0)
        end_child(fcntl(fd, F_GETFD) >= 0 ? 0 : 1);
    has_all = wait_for_child(pid) == 0;
}

int __wrap_close(int fd)
{
    wait_with_file();
    fork_with_file(fd);
    return __real_close(fd);
}

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_close)
        wait_with_file();
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static _Thread_local bool is_full; /* the directory, for this thread */
bool __real_pt_room_is_left(int fd, uint64_t bytes);
bool __wrap_pt_room_is_left(int fd, uint64_t bytes);
int __real_pt_room_take(int fd, uint64_t offset, uint64_t bytes);
int __wrap_pt_room_take(int fd, uint64_t offset, uint64_t bytes);

bool __wrap_pt_room_is_left(int fd, uint64_t bytes)
{
    return !is_full && __real_pt_room_is_left(fd, bytes);
}

/* Memory without a name has no link. */
int __wrap_pt_room_take(int fd, uint64_t offset, uint64_t bytes)
{
    struct stat st;

    if (is_full && fstat(fd, &st) == 0 && st.st_nlink > 0)
        return -ENOMEM;
    return __real_pt_room_take(fd, offset, bytes);
}

static void list_open(bool open[DESCRIPTORS])
{
    for (int i = 0; i < DESCRIPTORS; i++)
        open[i] = fcntl(i, F_GETFD) >= 0;
}

static enum scene { FIRST_EVENT, MAPPINGS, STREAM, FULL, LIST, PROC } scene;
static unsigned stops_at;

/* Not as the first call of a process. */
static void have_stream(void)
{
    trace_id_t id;

    if (posix_trace_create(0, NULL, &id) == 0)
        posix_trace_shutdown(id);
}

static int attach(void *unused, const struct posixtrace_stream *s)
{
    trace_id_t id;

    (void)unused;
    if (posixtrace_attach(s->file, &id) == 0)
        posixtrace_detach(id);
    return 0;
}

/* As where a thread takes the place of one that has ended. */
static void look_into_proc(void)
{
    static const char *const paths[] = { "/proc/self/comm",  "/proc/self/schedstat",
                                         "/proc/self/sched", "/proc/self/fdinfo/0",
                                         "/proc/meminfo",    "/sys/devices/system/cpu/nohz_full",
                                         "/proc/self/task" };
    struct pt_process process;
    char text[64];

    pt_process_look((uint32_t)getpid(), &process);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        pt_sys_read_text(paths[i], text, sizeof text);
}

/* Of a process that has ended: a look at the whole directory looks for it in all pages. */
static void put_left_map(void)
{
    struct pt_names *names;
    char file[64];

    if (pt_names_create(&names, file) < 0)
        abort();
    names->maker = 5000000;
    pt_names_hold(names);
    pt_names_unmap(names);
}

static void *trace(void *unused)
{
    if (scene == STREAM || scene == FULL)
        have_stream();
    else if (scene == MAPPINGS)
        posix_trace_event(TYPE, "", 1);
    if (scene == FULL)
        put_left_map();
    countdown = stops_at;
    is_full = scene == FULL;
    if (scene == STREAM || scene == FULL)
        have_stream();
    else if (scene == LIST)
        posixtrace_stream_list(attach, NULL);
    else if (scene == MAPPINGS)
        posixtrace_mapping_note((const void *)(uintptr_t)trace);
    else if (scene == PROC)
        look_into_proc();
    else
        posix_trace_event(TYPE, "", 1);
    countdown = 0;
    is_full = false;
    sem_post(&has_file);
    return unused;
}

/* Of the calling process, on stderr. */
static void say_file(int fd, bool before)
{
    char link[32], path[256];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    dprintf(2, "file %d, %s: only in the %s\n", fd, path, before ? "parent" : "child");
}

/* In a process without an event.  How many descriptors its child has more, or less; DONE: the
 * thread had no more files. */
static int fork_meanwhile(void)
{
    bool before[DESCRIPTORS], after[DESCRIPTORS];
    int status, waits;
    pthread_t thread;
    pid_t pid;

    sem_init(&has_file, 0, 0);
    sem_init(&may_close, 0, 0);
    list_open(before);
    pthread_create(&thread, NULL, trace, NULL);
    sem_wait(&has_file);
    pid = fork();
    if (pid == 0) {
        list_open(after);
        for (int i = status = 0; i < DESCRIPTORS; i++)
            if (before[i] != after[i]) {
                say_file(i, before[i]);
                status++;
            }
        end_child(status);
    }
    status = wait_for_child(pid);
    if (status < 0)
        return DONE + 1;
    sem_post(&may_close);
    pthread_join(thread, NULL);
    sem_getvalue(&has_file, &waits);
    return status || waits ? status : DONE;
}

static void fork_at_each(unsigned least)
{
    int status = 0;

    for (stops_at = 1; WEXITSTATUS(status) != DONE; stops_at++) {
        pid_t pid;

        /* The next event looks whether the stream's owner lives, else done once a second. */
        pt_store_relaxed(&segment_of(trid)->h->owner_look_ns, 0u);
        pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            _exit(fork_meanwhile());
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == DONE,
                      "%d descriptors differ at file %u", WEXITSTATUS(status), stops_at);
    }
    ck_assert_uint_ge(stops_at, least);
}

START_TEST(first_event)
{
    scene = FIRST_EVENT;
    fork_at_each(6);
}
END_TEST

START_TEST(mappings)
{
    scene = MAPPINGS;
    fork_at_each(5);
}
END_TEST

START_TEST(stream)
{
    scene = STREAM;
    fork_at_each(5);
}
END_TEST

/* What killed programs have left is looked for, and the stream is memory without a name. */
START_TEST(full)
{
    scene = FULL;
    fork_at_each(20);
}
END_TEST

START_TEST(list)
{
    scene = LIST;
    fork_at_each(8);
}
END_TEST

START_TEST(proc)
{
    scene = PROC;
    fork_at_each(3);
}
END_TEST

/* The child returns into a call of its own thread, while another one has files, too. */
START_TEST(in_a_call)
{
    pthread_t thread;

    scene = LIST;
    stops_at = 1;
    sem_init(&has_file, 0, 0);
    sem_init(&may_close, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, trace, NULL), 0);
    sem_wait(&has_file);
    forks = true;
    ck_assert_int_eq(posixtrace_stream_list(attach, NULL), 0);
    ck_assert(!forks && has_all);
    sem_post(&may_close);
    pthread_join(thread, NULL);
}
END_TEST

static void *stay_in_call(void *unused)
{
    pt_brief_files_enter();
    sem_post(&has_file);
    sem_wait(&may_close);
    pt_brief_files_leave();
    return unused;
}

/* Those of the library without its mark, as musl's shm_open() has them. */
#define USUAL (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* A new file of that name, which is removed. */
static int open_in(const char *folder, const char *name, int flags)
{
    char path[512];
    int fd;

    snprintf(path, sizeof path, "%s%s/%s", getenv("POSIXTRACE_DIR"), folder, name);
    fd = open(path, O_RDWR | O_CREAT | flags, 0600);
    ck_assert_msg(fd >= 0, "%s", path);
    ck_assert_int_eq(unlink(path), 0);
    return fd;
}

static const char *const names[] = { "s-1.seg", "p-1-1-1", "n-1.names", "t-1",
                                     "walk",    "streams", "lost" };

enum { NAMES = sizeof names / sizeof names[0] };

/* A program has memory objects whose names look like the library's, on the same device.  The child
 * keeps these, and only these. */
START_TEST(of_the_program)
{
    int beside[NAMES], inside[NAMES], status = 0;
    char folder[512];
    pthread_t thread;
    pid_t pid;

    snprintf(folder, sizeof folder, "%s/beside", getenv("POSIXTRACE_DIR"));
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    for (int i = 0; i < NAMES; i++) {
        beside[i] = open_in("/beside", names[i], PT_OPEN_BRIEFLY);
        inside[i] = open_in("", names[i], PT_OPEN_BRIEFLY);
    }
    sem_init(&has_file, 0, 0);
    sem_init(&may_close, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, stay_in_call, NULL), 0);
    sem_wait(&has_file);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < NAMES; i++)
            status |= (fcntl(beside[i], F_GETFD) < 0 ? 1 : 0) |
                      (fcntl(inside[i], F_GETFD) >= 0 ? 2 : 0);
        end_child(status);
    }
    ck_assert_int_eq(wait_for_child(pid), 0);
    sem_post(&may_close);
    pthread_join(thread, NULL);
    for (int i = 0; i < NAMES; i++) {
        close(beside[i]);
        close(inside[i]);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static const char *const files[] = {
    "/proc/self/stat",
    "/proc/self/maps",
    "/proc/self/mem",
    "/proc/self/comm",
    "/proc/sys/kernel/random/boot_id",
    "/proc/self/timens_offsets",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource"
};

enum { FILES = sizeof files / sizeof files[0], OWN = FILES + NAMES + 1 };

/* All that the library opens, by the program, with all flags but the mark: the child keeps it. */
START_TEST(with_usual_flags)
{
    int own[OWN], status = 0;
    pthread_t thread;
    pid_t pid;

    for (int i = 0; i < FILES; i++)
        own[i] = open(files[i], O_RDONLY | USUAL); /* some kernels do not have it */
    for (int i = 0; i < NAMES; i++)
        own[FILES + i] = open_in("", names[i], USUAL);
    own[OWN - 1] = open(getenv("POSIXTRACE_DIR"), O_RDONLY | O_DIRECTORY | USUAL);
    sem_init(&has_file, 0, 0);
    sem_init(&may_close, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, stay_in_call, NULL), 0);
    sem_wait(&has_file);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < OWN; i++)
            status += own[i] >= 0 && fcntl(own[i], F_GETFD) < 0;
        end_child(status);
    }
    ck_assert_int_eq(wait_for_child(pid), 0);
    sem_post(&may_close);
    pthread_join(thread, NULL);
    for (int i = 0; i < OWN; i++)
        if (own[i] >= 0)
            close(own[i]);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, first_event);
    tcase_add_test(tc, mappings);
    tcase_add_test(tc, stream);
    tcase_add_test(tc, full);
    tcase_add_test(tc, list);
    tcase_add_test(tc, proc);
    tcase_add_test(tc, in_a_call);
    tcase_add_test(tc, of_the_program);
    tcase_add_test(tc, with_usual_flags);
}

int main(void)
{
    return run_suite("fork_files", "descriptors of others in a fork", NULL, add);
}
