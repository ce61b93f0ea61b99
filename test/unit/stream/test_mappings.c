/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Texts about the mappings of processes (mapping/mappings.h): a list that is full says which are
 * no longer known; the descriptors with which a thread reads the mappings, while others
 * fork, and close all that they do not know; a child with the number of its parent.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <posixtrace/mapping.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "base/clock.h"
#include "page/mapping_list.h"
#include "process/self.h"
#include "support/image.h"
#include "support/raw_clone.h"
#include "support/run_suite.h"

enum { PAGE = 65536 };

static trace_id_t trid;
static struct pt_names *names; /* of the family */

static void setup(void)
{
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    names = pt_self_peek()->names;
}

static void teardown(void)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

static void note(const void *address)
{
    posixtrace_mapping_note(address);
}

/* The last text of this kind, without its time; "": none. */
static const char *last(char kind)
{
    static char text[POSIXTRACE_MAPPING_MAX + 1];
    const char *is;

    text[0] = '\0';
    for (uint32_t i = pt_mapping_list_end(names) - 1; i > 0 && !text[0]; i--)
        if ((is = pt_mapping_list_get(names, i)) && is[0] == kind)
            snprintf(text, sizeof text, "%s", is);
    return text;
}

static unsigned count(char kind, pid_t pid)
{
    char start[32];
    unsigned n = 0;

    snprintf(start, sizeof start, "%c %d ", kind, (int)pid);
    for (uint32_t i = 1; i < pt_mapping_list_end(names); i++) {
        const char *is = pt_mapping_list_get(names, i);

        n += is && strncmp(is, start, strlen(start)) == 0;
    }
    return n;
}

static void fill(enum pt_mapping_room kind)
{
    uint32_t id;

    while (pt_mapping_list_add(names, kind, "x", 1, &id) == 0)
        ;
}

/* ---- a full list ---- */

/* "= PID NS": there is nothing after the time. */
static bool says_unknown(const char *text, pid_t pid)
{
    int of = 0, length = 0;

    return sscanf(text, "= %d %*u%n", &of, &length) == 1 && of == pid && length > 0 &&
           strspn(text + length, " ") == strlen(text + length);
}

static pid_t child_of(void (*body)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        body();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    return pid;
}

static void become_the_next_image(void)
{
    note((const void *)(uintptr_t)fill);
    fill(PT_MAPPING_NEW);
    execvp(image_command[0], image_command);
    _exit(1);
}

/* The list has what the image before had. */
START_TEST(exec_in_a_full_list)
{
    pid_t pid = child_of(become_the_next_image);

    ck_assert_uint_ge(count('=', pid) + count('<', pid), 2);
    ck_assert_msg(says_unknown(last('='), pid), "%s", last('='));
}
END_TEST

static void become_the_next_image_with_no_room(void)
{
    note((const void *)(uintptr_t)fill);
    fill(PT_MAPPING_NO_MORE);
    execvp(image_command[0], image_command);
    _exit(1);
}

START_TEST(exec_in_a_list_with_no_room_at_all)
{
    pid_t pid = child_of(become_the_next_image_with_no_room);

    ck_assert(!says_unknown(last('='), pid));
    ck_assert_msg(strncmp(last('!'), "! 1", 3) == 0, "%s", last('!'));
}
END_TEST

static void note_again(void)
{
    note((const void *)(uintptr_t)fill);
}

/* A list that says nothing of it needs no text. */
START_TEST(child_in_a_full_list)
{
    uint32_t end;

    note((const void *)(uintptr_t)fill);
    fill(PT_MAPPING_NEW);
    end = pt_mapping_list_end(names);
    child_of(note_again);
    ck_assert_uint_eq(pt_mapping_list_end(names), end);
}
END_TEST

/* Code in a file, as of a library. */
static char *map_code(void)
{
    return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY),
                0);
}

START_TEST(unmapped_in_a_full_list)
{
    char *code = map_code(), expected[32];

    ck_assert(code != MAP_FAILED);
    note(code);
    fill(PT_MAPPING_NEW);
    munmap(code, PAGE);
    posixtrace_mapping_changed();
    note((const void *)(uintptr_t)fill);
    snprintf(expected, sizeof expected, " %lx", (unsigned long)(uintptr_t)code);
    ck_assert_msg(strstr(last('-'), expected) != NULL, "%s", last('-'));
}
END_TEST

/* Until they can be read again, nothing is known. */
START_TEST(not_readable)
{
    struct rlimit before, none;

    note((const void *)(uintptr_t)fill);
    ck_assert_uint_eq(count('=', getpid()), 1);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
    posixtrace_mapping_changed();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 100; i++)
        note((const void *)(uintptr_t)fill);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_uint_eq(count('=', getpid()), 2);
    ck_assert_msg(says_unknown(last('='), getpid()), "%s", last('='));
    for (int i = 0; i < 100 && says_unknown(last('='), getpid()); i++)
        note((const void *)(uintptr_t)fill);
    ck_assert_uint_eq(count('=', getpid()), 3);
    ck_assert_msg(!says_unknown(last('='), getpid()), "%s", last('='));
}
END_TEST

/* ---- when ---- */

static int64_t now_ns(void)
{
    return (int64_t)pt_clock_ns(CLOCK_REALTIME);
}

static int64_t time_of(const char *text)
{
    long long ns = 0;

    ck_assert_int_eq(sscanf(text, "%*c %*d %lld", &ns), 1);
    return ns;
}

/* A file with code at new addresses. */
static void *map_file(void)
{
    int fd = open("/proc/self/exe", O_RDONLY);
    void *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

    ck_assert(at != MAP_FAILED);
    close(fd);
    return at;
}

/* A change is as old as the call that says so, so that events of another clock lie after it; else
 * as the note. */
START_TEST(time_of_change)
{
    int64_t before, after;
    void *at;

    note((const void *)(uintptr_t)fill);
    before = now_ns();
    posixtrace_mapping_changed();
    after = now_ns();
    note(map_file());
    ck_assert_int_ge(time_of(last('+')), before);
    ck_assert_int_le(time_of(last('+')), after);
    at = map_file();
    before = now_ns();
    note(at);
    ck_assert_int_ge(time_of(last('+')), before);
    ck_assert_int_le(time_of(last('+')), now_ns());
}
END_TEST

/* ---- while a thread reads them ---- */

uint32_t __real_pt_mapping_list_find(const struct pt_names *n, const char *text, size_t length);
uint32_t __wrap_pt_mapping_list_find(const struct pt_names *n, const char *text, size_t length);

static _Thread_local bool waits;
static sem_t is_reading, may_read;

/* Called for each file, while the descriptors are open. */
uint32_t __wrap_pt_mapping_list_find(const struct pt_names *n, const char *text, size_t length)
{
    if (waits) {
        waits = false;
        sem_post(&is_reading);
        sem_wait(&may_read);
    }
    return __real_pt_mapping_list_find(n, text, length);
}

static void *reads(void *unused)
{
    waits = true;
    posixtrace_mapping_changed();
    note((const void *)(uintptr_t)fill);
    return unused;
}

/* Returns when the thread is in the midst of reading. */
static pthread_t start_reading(void)
{
    pthread_t thread;

    note((const void *)(uintptr_t)fill);
    ck_assert_int_eq(sem_init(&is_reading, 0, 0), 0);
    ck_assert_int_eq(sem_init(&may_read, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, reads, NULL), 0);
    ck_assert_int_eq(sem_wait(&is_reading), 0);
    return thread;
}

static void end_reading(pthread_t thread)
{
    sem_post(&may_read);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Descriptors of files of /proc that begin their names with these. */
static unsigned descriptors_of(const char *leaf)
{
    char path[64], link[128];
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++) {
        ssize_t length;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        n += strncmp(link, "/proc/", 6) == 0 && strstr(link, leaf) != NULL;
    }
    return n;
}

static int open_here(void)
{
    return (int)(descriptors_of("/maps") + descriptors_of("/mem"));
}

START_TEST(fork_closes)
{
    pthread_t thread = start_reading();
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(open_here());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(open_here(), 2);
    end_reading(thread);
    ck_assert_int_eq(open_here(), 0);
}
END_TEST

/* Where no fork handler runs, the child closes them with its first note. */
START_TEST(child_without_handlers_closes)
{
    pthread_t thread = start_reading();
    int status;
    pid_t pid = raw_clone(SIGCHLD);

    if (pid == 0) {
        note((const void *)(uintptr_t)fill);
        _exit(open_here());
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    end_reading(thread);
}
END_TEST

/* Files of the program that have got the numbers of those that the library had open. */
START_TEST(program_closes_all)
{
    enum { FILES = 4 };
    int first = open("/dev/null", O_RDONLY), fd[FILES];
    pthread_t thread = start_reading();
    unsigned before = count('-', getpid());

    ck_assert_int_eq(close_range((unsigned)first, ~0u, 0), 0);
    for (int k = 0; k < FILES; k++) {
        fd[k] = open("/proc/self/limits", O_RDONLY);
        ck_assert_int_ge(fd[k], 0);
        ck_assert_int_eq(dup2(fd[k], 512 + k), 512 + k);
    }
    end_reading(thread);
    for (int k = 0; k < FILES; k++) {
        ck_assert_int_eq(lseek(fd[k], 0, SEEK_CUR), 0);
        ck_assert_int_ge(fcntl(512 + k, F_GETFD), 0);
    }
    /* What was not read is not taken for gone. */
    ck_assert_uint_eq(count('-', getpid()), before);
    note((const void *)(uintptr_t)fill);
    ck_assert(!says_unknown(last('='), getpid()));
}
END_TEST

/* ---- a child with the number of its parent ---- */

/* In the process with number 1 of a namespace: a child with number 1 of its own one, made while a
 * thread reads. */
static int have_child(void)
{
    pthread_t thread = start_reading();
    int status = 0;
    pid_t pid = raw_clone(CLONE_NEWPID | SIGCHLD);

    if (pid == 0) {
        unsigned before = count('=', 1) + count('<', 1);

        note((const void *)(uintptr_t)fill);
        _exit(getpid() != 1 || count('=', 1) + count('<', 1) == before);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        status = -1;
    end_reading(thread);
    return status != 0;
}

START_TEST(same_number)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
            _exit(0); /* not permitted here */
        pid = fork();
        if (pid == 0)
            _exit(getpid() != 1 || have_child());
        _exit(waitpid(pid, &status, 0) != pid || status != 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, exec_in_a_full_list);
    tcase_add_test(tc, exec_in_a_list_with_no_room_at_all);
    tcase_add_test(tc, child_in_a_full_list);
    tcase_add_test(tc, unmapped_in_a_full_list);
    tcase_add_test(tc, not_readable);
    tcase_add_test(tc, time_of_change);
    tcase_add_test(tc, fork_closes);
    tcase_add_test(tc, child_without_handlers_closes);
    tcase_add_test(tc, program_closes_all);
    tcase_add_test(tc, same_number);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "image") == 0) {
        note((const void *)(uintptr_t)fill);
        return 0;
    }
    /* Each test needs a list of its own. */
    if (getenv("CK_FORK") && strcmp(getenv("CK_FORK"), "no") == 0)
        return 77;
    image_prepare("image");
    return run_suite("stream", "mappings", NULL, add);
}
