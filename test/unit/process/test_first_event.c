/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The first event of a forked child, and of a process that another one traces: without a
 * descriptor, with a cancellation pending, and what it maps.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "base/sys.h"
#include "process/thread.h"
#include "process/unmade.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

#define HANG_S 60
#define EVENTS 1000
#define LARGE  (16u << 20)
#define LITTLE (256u << 10)

static trace_id_t trid;
static trace_event_id_t event_id, other_id;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void set_up(void)
{
    trace_attr_t attr;

    alarm(HANG_S);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_eventid_open("first", &event_id), 0);
    ck_assert_int_eq(posix_trace_eventid_open("other", &other_id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
}

static void tear_down(void)
{
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

static void trace_some(void)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(event_id, &i, sizeof i);
}

/* Its exit status. */
static int in_child(int (*run)(void))
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(run());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int trace_without_descriptors(void)
{
    struct rlimit before, none;

    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    none = (struct rlimit){ 0, before.rlim_max };
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 2;
    trace_some();
    if (setrlimit(RLIMIT_NOFILE, &before) != 0)
        return 3;
    trace_some();
    return 0;
}

START_TEST(no_descriptor_for_a_while)
{
    uint64_t lost = 0, before;
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    before = info.events;
    ck_assert_int_eq(in_child(trace_without_descriptors), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    ck_assert_uint_eq(info.events - before + lost, 2 * EVENTS);
    ck_assert_uint_ge(lost, EVENTS);
    ck_assert_uint_ge(info.events - before, EVENTS / 2);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_NO_MEMORY], lost);
}
END_TEST

/* What a filter leaves out is not lost either. */
START_TEST(no_descriptor_and_filtered)
{
    struct posixtrace_info info;
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(event_id, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(in_child(trace_without_descriptors), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], 0);
}
END_TEST

/* ---- the first control call ---- */

static int control_without_descriptors(void)
{
    struct rlimit before, none;
    trace_event_id_t id;
    trace_id_t own;

    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    none = (struct rlimit){ 0, before.rlim_max };
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 2;
    if (posix_trace_create(0, NULL, &own) != EMFILE || posixtrace_prepare() != EMFILE)
        return 3;
    if (posix_trace_eventid_open("third", &id) != ENOMEM)
        return 4;
    if (setrlimit(RLIMIT_NOFILE, &before) != 0)
        return 5;
    if (posixtrace_prepare() != 0 || posix_trace_eventid_open("third", &id) != 0)
        return 6;
    if (posix_trace_create(0, NULL, &own) != 0 || posix_trace_shutdown(own) != 0)
        return 7;
    return 0;
}

static int control_in_an_image(void)
{
    execl("/proc/self/exe", "image", NULL);
    return 100;
}

/* _i: of an image that inherits the stream, else of a forked child. */
START_TEST(control_without_descriptor)
{
    ck_assert_int_eq(in_child(_i ? control_in_an_image : control_without_descriptors), 0);
}
END_TEST

/* ---- another thread makes what an event has not found ---- */

static struct rlimit descriptors;
static int asks; /* so many look-ups of the coarse clock later another thread makes it; 0: never */

static void *make_self(void *unused)
{
    struct pt_self *self = NULL;

    (void)unused;
    pt_self_make(&self);
    return self;
}

/* The time stands still, so that the clock makes no event try again. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    pthread_t thread;

    if (clock == CLOCK_MONOTONIC_COARSE && asks > 0 && --asks == 0 &&
        setrlimit(RLIMIT_NOFILE, &descriptors) == 0 &&
        pthread_create(&thread, NULL, make_self, NULL) == 0)
        pthread_join(thread, NULL);
    if (clock == CLOCK_MONOTONIC_COARSE) {
        *t = (struct timespec){ 1000, 0 };
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, t);
}

static int trace_while_another_makes(void)
{
    struct rlimit none;

    if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        return 1;
    none = (struct rlimit){ 0, descriptors.rlim_max };
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 2;
    asks = 20;
    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(event_id, &i, sizeof i);
    return asks == 0 ? 0 : 3;
}

START_TEST(made_by_another_thread)
{
    struct posixtrace_info info;

    ck_assert_int_eq(in_child(trace_while_another_makes), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], EVENTS);
    ck_assert_uint_gt(info.lost[POSIXTRACE_LOST_NO_MEMORY], 1);
    ck_assert_uint_gt(info.events, EVENTS / 2);
}
END_TEST

/* ---- a new image that inherits ---- */

static int trace_in_an_image(void)
{
    char id[16];

    snprintf(id, sizeof id, "%u", event_id);
    execl("/proc/self/exe", "image", id, NULL);
    return 100;
}

static const char *refused_name; /* the prefix of the files that are not opened for want of one */
static int refused_from, refused_count;

static bool is_refused(const char *path)
{
    if (!refused_name || strncmp(path, refused_name, strlen(refused_name)) != 0 ||
        refused_count++ != refused_from)
        return false;
    errno = *refused_name == 't' ? ENOSPC : EMFILE;
    return true;
}

int openat(int dir, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list more;

    va_start(more, flags);
    if (flags & O_CREAT)
        mode = va_arg(more, mode_t);
    va_end(more);
    return is_refused(path) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

/* Of the library, for directories. */
int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list more;

    va_start(more, flags);
    if (flags & O_CREAT)
        mode = va_arg(more, mode_t);
    va_end(more);
    return is_refused(path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int trace_with_a_refusal(const char *name, const char *from)
{
    refused_name = name;
    refused_from = atoi(from);
    trace_some();
    return *name == '/' || refused_count > refused_from ? 0 : 1;
}

static const struct {
    const char *name;
    int from;
} refusals[] = { { "n-", 0 }, { "p-", 0 }, { "p-", 1 }, { "s-", 0 }, { "s-", 1 }, { "t-", 0 } };

enum { REFUSALS = sizeof refusals / sizeof *refusals, DIRECTORIES = 24 };

static int trace_in_a_refused_image(void)
{
    const char *name = refused_from < REFUSALS ? refusals[refused_from].name : "/";
    char id[16], from[16];

    snprintf(id, sizeof id, "%u", event_id);
    snprintf(from, sizeof from, "%d",
             refused_from < REFUSALS ? refusals[refused_from].from : refused_from - REFUSALS);
    execl("/proc/self/exe", "image", id, name, from, NULL);
    return 100;
}

static int trace_in_a_refused_child(void)
{
    const char *name = refused_from < REFUSALS ? refusals[refused_from].name : "/";
    char from[16];

    snprintf(from, sizeof from, "%d",
             refused_from < REFUSALS ? refusals[refused_from].from : refused_from - REFUSALS);
    trace_with_a_refusal(name, from);
    return 0;
}

/* What one refusal costs is counted, and the next attempt succeeds. */
static void expect_most_recorded(int (*live)(void), int refusal)
{
    struct posixtrace_info info;

    refused_from = refusal;
    ck_assert_int_eq(in_child(live), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], EVENTS);
    ck_assert_uint_gt(info.events, EVENTS / 2);
}

START_TEST(child_without_one_descriptor)
{
    expect_most_recorded(trace_in_a_refused_child, _i);
}
END_TEST

/* It may be another thread's close that makes the next attempt succeed. */
START_TEST(image_without_one_descriptor)
{
    expect_most_recorded(trace_in_a_refused_image, _i);
}
END_TEST

START_TEST(image_without_descriptor)
{
    struct posixtrace_info info;

    ck_assert_int_eq(in_child(trace_in_an_image), 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], 2 * EVENTS);
    ck_assert_uint_ge(info.lost[POSIXTRACE_LOST_NO_MEMORY], EVENTS);
}
END_TEST

/* ---- a process that another one traces ---- */

static int to_target[2], to_controller[2];
static uint64_t more; /* events that the target loses beside those that it traces */

static int meet(int from, int to)
{
    char c;

    return write(to, "", 1) == 1 && read(from, &c, 1) == 1;
}

/* early: its first events come before there is a stream.  Until it has found its page it traces
 * one event after another: their number goes to the controller. */
static int run_target(bool early)
{
    struct rlimit before, none;
    uint64_t n = 0;

    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    none = (struct rlimit){ 0, before.rlim_max };
    if (!early && !meet(to_target[0], to_controller[1]))
        return 2;
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 3;
    trace_some();
    pt_unmade_note(event_id, more);
    if (early && !meet(to_target[0], to_controller[1]))
        return 4;
    for (; n < EVENTS; n++) {
        posix_trace_event(event_id, &n, sizeof n);
        posix_trace_event(other_id, &n, sizeof n);
    }
    if (pt_self_peek() || setrlimit(RLIMIT_NOFILE, &before) != 0)
        return 5;
    for (; !pt_self_peek(); n++)
        posix_trace_event(event_id, &n, sizeof n);
    trace_some();
    n += EVENTS;
    return write(to_controller[1], &n, sizeof n) == sizeof n && meet(to_target[0], to_controller[1])
               ? 0
               : 6;
}

static int run_early_target(void)
{
    return run_target(true);
}

static int run_late_target(void)
{
    return run_target(false);
}

/* It has its page, and loses events before it has mapped the stream. */
static int run_made_target(void)
{
    uint64_t n = EVENTS, bit;
    struct pt_self *self;

    if (pt_self_make(&self) < 0 || !meet(to_target[0], to_controller[1]))
        return 1;
    pt_for_each_bit(bit, pt_load_seqcst(&self->page->used))
    {
        uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);

        pt_self_miss(self, (unsigned)bit, epoch, more / 2);
        pt_self_miss(self, (unsigned)bit, epoch, more - more / 2);
    }
    trace_some();
    return write(to_controller[1], &n, sizeof n) == sizeof n && meet(to_target[0], to_controller[1])
               ? 0
               : 2;
}

/* It has its page, and neither memory for a thread's record nor for the stream. */
static int run_target_without_memory(void)
{
    struct rlimit before, none;
    uint64_t n = 2 * EVENTS;
    struct pt_self *self;

    if (pt_self_make(&self) < 0 || !meet(to_target[0], to_controller[1]) ||
        getrlimit(RLIMIT_AS, &before) != 0)
        return 1;
    none = (struct rlimit){ 0, before.rlim_max };
    if (setrlimit(RLIMIT_AS, &none) != 0)
        return 2;
    trace_some();
    if (pt_thread_current() || setrlimit(RLIMIT_AS, &before) != 0)
        return 3;
    trace_some();
    return write(to_controller[1], &n, sizeof n) == sizeof n && meet(to_target[0], to_controller[1])
               ? 0
               : 4;
}

/* Its page is the controller's. */
static int run_refused_target(void)
{
    uint64_t n = EVENTS;

    if (!meet(to_target[0], to_controller[1]) || trace_in_a_refused_child() != 0)
        return 1;
    return write(to_controller[1], &n, sizeof n) == sizeof n && meet(to_target[0], to_controller[1])
               ? 0
               : 2;
}

/* Creates and starts a stream of the target that leaves out the other type. */
static trace_id_t trace_target(pid_t pid)
{
    trace_event_set_t set;
    trace_id_t its;

    ck_assert_int_eq(posix_trace_create(pid, NULL, &its), 0);
    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(other_id, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(its, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_start(its), 0);
    return its;
}

static void trace_from_outside(int (*run)(void), struct posixtrace_info *info, uint64_t *made)
{
    trace_id_t its;
    int status;
    pid_t pid;
    char c;

    /* No stream that the target would inherit. */
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(pipe(to_target) | pipe(to_controller), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(run());
    ck_assert_int_eq(read(to_controller[0], &c, 1), 1);
    its = trace_target(pid);
    ck_assert_int_eq(write(to_target[1], "", 1), 1);
    ck_assert_int_eq(read(to_controller[0], made, sizeof *made), sizeof *made);
    ck_assert_int_eq(read(to_controller[0], &c, 1), 1);
    ck_assert_int_eq(posixtrace_get_info(its, info, sizeof *info), 0);
    ck_assert_int_eq(write(to_target[1], "", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(posix_trace_shutdown(its), 0);
    set_up();
}

START_TEST(target_without_descriptor)
{
    struct posixtrace_info info;
    uint64_t made, lost = 0;

    trace_from_outside(run_late_target, &info, &made);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    ck_assert_uint_eq(info.events + lost, EVENTS + made);
    ck_assert_uint_ge(lost, 2 * EVENTS);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_NO_MEMORY], lost);
}
END_TEST

START_TEST(target_without_memory)
{
    struct posixtrace_info info;
    uint64_t made;

    trace_from_outside(run_target_without_memory, &info, &made);
    ck_assert_uint_eq(info.events, EVENTS);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_NO_MEMORY], made - EVENTS);
}
END_TEST

START_TEST(target_without_one_descriptor)
{
    struct posixtrace_info info;
    uint64_t made;

    refused_from = _i;
    trace_from_outside(run_refused_target, &info, &made);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], made);
    ck_assert_uint_gt(info.events, EVENTS / 2);
}
END_TEST

/* More than a word of 32 bits can count. */
static int (*const losing_targets[])(void) = { run_late_target, run_made_target };

START_TEST(target_loses_very_many)
{
    struct posixtrace_info info;
    uint64_t made;

    more = 3ull << 32;
    trace_from_outside(losing_targets[_i], &info, &made);
    if (_i == 0)
        made += EVENTS;
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], more + made);
    more = 0;
}
END_TEST

/* When the stream was started is not known then: at least it says that events were lost. */
START_TEST(target_failed_before_create)
{
    struct posixtrace_info info;
    uint64_t made;

    trace_from_outside(run_early_target, &info, &made);
    ck_assert_uint_ge(info.events, EVENTS);
    ck_assert_uint_ge(info.lost[POSIXTRACE_LOST_NO_MEMORY], 1);
    ck_assert_uint_le(info.events + info.lost[POSIXTRACE_LOST_NO_MEMORY], made);
}
END_TEST

/* A thread of the parent was inside an event without a record, for want of memory: in the child
 * there is no such thread, and no call waits for it. */
static int trace_and_wait(void)
{
    trace_some();
    return pt_threads_left() ? 0 : 1;
}

START_TEST(no_stranger_of_parent)
{
    struct pt_stranger stranger;
    int status;

    pt_thread_stranger_begin(&stranger);
    status = in_child(trace_and_wait);
    pt_thread_stranger_end(&stranger);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void *trace_while_cancelled(void *done)
{
    pthread_mutex_lock(&mutex);
    pthread_cancel(pthread_self());
    posix_trace_event(event_id, "x", 1);
    *(int *)done = 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static int trace_in_a_thread(void)
{
    pthread_t thread;
    int done = 0;

    if (pthread_create(&thread, NULL, trace_while_cancelled, &done) != 0 ||
        pthread_join(thread, NULL) != 0)
        return 1;
    return done ? 0 : 2;
}

START_TEST(no_cancellation_point)
{
    ck_assert_int_eq(in_child(trace_in_a_thread), 0);
}
END_TEST

/* The linker sends the library's calls here: bytes that it has written to, page by page. */
static size_t populated;

int __real_pt_sys_populate(void *at, size_t bytes);
int __wrap_pt_sys_populate(void *at, size_t bytes);

int __wrap_pt_sys_populate(void *at, size_t bytes)
{
    populated += bytes;
    return __real_pt_sys_populate(at, bytes);
}

static int trace_and_count(int begin)
{
    char byte;

    if (read(begin, &byte, 1) != 1)
        return 2;
    populated = 0;
    trace_some();
    return populated <= LITTLE ? 0 : 1;
}

/* The memory of a stream is its creator's affair: another process maps it as it is. */
START_TEST(size_of_the_stream)
{
    struct posixtrace_info info;
    trace_attr_t attr;
    trace_id_t large;
    int begin[2], status;
    pid_t pid;

    ck_assert_int_eq(pipe(begin), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(trace_and_count(begin[0]));
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, LARGE), 0);
    populated = 0;
    ck_assert_int_eq(posix_trace_create(pid, &attr, &large), 0);
    ck_assert_uint_ge(populated, LARGE);
    ck_assert_int_eq(posix_trace_start(large), 0);
    ck_assert_int_eq(write(begin[1], "x", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(posixtrace_get_info(large, &info, sizeof info), 0);
    ck_assert_uint_eq(info.events, EVENTS);
    ck_assert_int_eq(posix_trace_shutdown(large), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, no_descriptor_for_a_while);
    tcase_add_test(t, no_descriptor_and_filtered);
    tcase_add_loop_test(t, control_without_descriptor, 0, is_under_valgrind() ? 1 : 2);
    tcase_add_test(t, made_by_another_thread);
    if (!is_under_valgrind()) {
        tcase_add_test(t, image_without_descriptor);
        tcase_add_loop_test(t, image_without_one_descriptor, 0, REFUSALS + DIRECTORIES);
    }
    tcase_add_loop_test(t, child_without_one_descriptor, 0, REFUSALS + DIRECTORIES);
    tcase_add_test(t, target_without_descriptor);
    tcase_add_loop_test(t, target_without_one_descriptor, 0, REFUSALS + DIRECTORIES);
    tcase_add_test(t, target_without_memory);
    tcase_add_loop_test(t, target_loses_very_many, 0, 2);
    tcase_add_test(t, target_failed_before_create);
    tcase_add_test(t, no_stranger_of_parent);
    tcase_add_test(t, no_cancellation_point);
    tcase_add_test(t, size_of_the_stream);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[0], "image") == 0 && argc == 1)
        return control_without_descriptors();
    if (argc == 2) {
        event_id = (trace_event_id_t)strtoul(argv[1], NULL, 10);
        return trace_without_descriptors();
    }
    if (argc == 4) {
        event_id = (trace_event_id_t)strtoul(argv[1], NULL, 10);
        return trace_with_a_refusal(argv[2], argv[3]);
    }
    return run_suite("first event", "the first event of a forked child", NULL, add);
}
