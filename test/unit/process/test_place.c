/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process that changes its environment, its user id or its root directory after it
 * has started to trace, or before its first event: it finds what it needs where that
 * was, and removes it, or gives its memory back where the kernel lets it remove
 * nothing; also where the directory of streams is a relative path and the program changes its
 * working directory.  What may be done when the library is loaded is done then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/environment.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "base/sys.h"
#include "shm/segment.h"
#include "stream/handle.h"
#include "support/need.h"
#include "support/refuse_call.h"
#include "support/run_suite.h"
#include "writer/writer.h"

enum { EVENTS = 5, HANG_S = 60, NOBODY = 65534 };
#define IMAGE "image"

extern char **environ;

/* LeakSanitizer asks this at exit.  It ends a process that cannot read /proc with an error. */
int __lsan_is_turned_off(void);

static bool has_no_proc;

int __lsan_is_turned_off(void)
{
    return has_no_proc;
}

/* ---- the image: orders for it, before its first event ---- */

static void *trace_unnamed(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < EVENTS; i++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof i);
    return NULL;
}

/* Nothing but the loading of the library can have asked the kernel. */
static int trace_without_rights(void)
{
    pthread_t thread;

    NEED(refuse_call(SYS_membarrier, EPERM));
    NEED(geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0));
    NEED(clearenv() == 0);
    NEED(pthread_create(&thread, NULL, trace_unnamed, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    NEED(pt_barrier_works());
    return 0;
}

/* Another thread is in setenv(): a load from the environment now crashes. */
static int trace_without_environment(void)
{
    char **all = environ;

    environ = (char **)(uintptr_t)8;
    trace_unnamed(NULL);
    environ = all;
    return 0;
}

static trace_id_t inherited_stream(pid_t pid);
static unsigned count(trace_id_t trid);

/* POSIXTRACE_DIR is relative, and HOME is the working directory when the library is loaded.
 * All that the child makes is in that directory, too, or its events are in no stream. */
static int trace_elsewhere(void)
{
    const char *dir = posixtrace_stream_directory();
    char path[512];
    struct stat is, at_load;
    trace_id_t trid;
    pid_t child;
    int status;

    snprintf(path, sizeof path, "%s/streams", getenv("HOME"));
    NEED(chdir("/") == 0);
    trid = inherited_stream(0);
    NEED(dir[0] == '/' && strcmp(posixtrace_stream_directory(), dir) == 0);
    NEED(stat(dir, &is) == 0 && stat(path, &at_load) == 0 && is.st_ino == at_load.st_ino);
    NEED(chdir("/usr") == 0);
    trace_unnamed(NULL);
    child = fork();
    if (child == 0) {
        NEED(chdir("/") == 0);
        trace_unnamed(NULL);
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(count(trid) == 2 * EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}

/* A directory that is not the one whose name was cut. */
static int trace_with_long_name(void)
{
    struct posixtrace_environment e;

    NEED(posixtrace_get_environment(&e, sizeof e) == 0);
    NEED(e.directory_error == ENAMETOOLONG);
    NEED(posix_trace_shutdown(inherited_stream(0)) == 0);
    return 0;
}

static int be_image(const char *what)
{
    alarm(HANG_S);
    if (strcmp(what, "elsewhere") == 0)
        return trace_elsewhere();
    if (strcmp(what, "long") == 0)
        return trace_with_long_name();
    return strcmp(what, "rights") == 0 ? trace_without_rights() : trace_without_environment();
}

/* ---- the test ---- */

static const char *own_dir(void)
{
    return getenv("POSIXTRACE_DIR");
}

/* Counts the files in the stream directory of the test; none belongs to the test itself. */
static unsigned files(void)
{
    DIR *d = opendir(own_dir());
    const struct dirent *e;
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static trace_id_t inherited_stream(pid_t pid)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(pid, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    return trid;
}

static unsigned count(trace_id_t trid)
{
    struct posix_trace_event_info event;
    int unavailable;
    unsigned n = 0;
    uint64_t data;
    size_t length;

    for (;; n += event.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT) {
        NEED(posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length,
                                          &unavailable) == 0);
        if (unavailable)
            return n;
    }
}

/* What run does in a process of its own, which ends by exit(). */
static void in_process(void (*run)(void))
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(HANG_S);
        run();
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void forget_environment(void)
{
    trace_id_t trid = inherited_stream(0);

    trace_unnamed(NULL);
    NEED(clearenv() == 0);
    NEED(count(trid) == EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
    inherited_stream(0); /* exit() shuts it down */
}

START_TEST(test_environment_cleared)
{
    in_process(forget_environment);
    ck_assert_uint_eq(files(), 0);
}
END_TEST

/* The child does not run the handlers of exit(). */
static void trace_in_child(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        trace_unnamed(NULL);
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
}

/* As daemon(3): its parent traces nothing, and may end first. */
static void trace_in_daemon(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        pid_t daemon = fork();

        if (daemon == 0) {
            trace_unnamed(NULL);
            kill(getpid(), SIGKILL);
        }
        NEED(waitpid(daemon, &status, 0) == daemon);
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
}

static void become_nobody(void)
{
    trace_id_t trid = inherited_stream(0);

    trace_unnamed(NULL);
    NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    trace_unnamed(NULL);
    NEED(count(trid) == 2 * EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void fork_as_nobody(void)
{
    trace_id_t trid = inherited_stream(0);

    NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    trace_in_child();
    NEED(count(trid) == EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
}

/* Bytes of memory in the segments that are left. */
static uint64_t segment_bytes(void)
{
    DIR *d = opendir(own_dir());
    const struct dirent *e;
    uint64_t bytes = 0;
    struct stat st;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        if (pt_seg_is_name(e->d_name) &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            bytes += (uint64_t)st.st_blocks * 512;
    closedir(d);
    return bytes;
}

static void create_once(void)
{
    NEED(posix_trace_shutdown(inherited_stream(0)) == 0);
}

/* An unprivileged user cannot remove files in a directory of root, mode 0700. */
START_TEST(test_user_given_up)
{
    if (geteuid() != 0)
        return;
    in_process(become_nobody);
    ck_assert_uint_le(segment_bytes(), 64 * 1024);
    in_process(create_once);
    ck_assert_uint_eq(files(), 0);
}
END_TEST

/* The name map of a program whose child could not reach it. */
START_TEST(test_child_without_user)
{
    if (geteuid() != 0)
        return;
    in_process(fork_as_nobody);
    in_process(create_once);
    ck_assert_uint_eq(files(), 0);
}
END_TEST

/* A process that called the library as root; it stays until something is written. */
static pid_t make_target(int go)
{
    int done[2];
    pid_t pid;
    char c;

    NEED(pipe(done) == 0);
    pid = fork();
    NEED(pid >= 0);
    if (pid == 0) {
        trace_event_id_t id;

        alarm(HANG_S);
        NEED(posix_trace_eventid_open("the first call", &id) == 0);
        NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        NEED(write(done[1], "", 1) == 1);
        NEED(read(go, &c, 1) == 1);
        _exit(0);
    }
    NEED(read(done[0], &c, 1) == 1);
    return pid;
}

/* In a /dev/shm of its own, where each user has a directory. */
static void trace_what_was_roots(void)
{
    int go[2], status;
    trace_id_t trid;
    pid_t pid;

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") != 0)
        return;
    NEED(unsetenv("POSIXTRACE_DIR") == 0 && pipe(go) == 0);
    pid = make_target(go[0]);
    NEED(posix_trace_create(pid, NULL, &trid) == EACCES);
    NEED(write(go[1], "", 1) == 1);
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
}

/* It would never see a page in the directory of its new user. */
START_TEST(test_target_that_gave_up_its_user)
{
    if (geteuid() == 0)
        in_process(trace_what_was_roots);
}
END_TEST

/* The events of an image that was started with that argument, traced by this process. */
static unsigned events_of_image(const char *what, bool follow)
{
    struct pt_stream *s;
    int go[2], status;
    trace_id_t trid;
    char image[512] = ""; /* valgrind's own would be run by /proc/self/exe */
    unsigned n;
    pid_t pid;

    ck_assert_int_gt(readlink("/proc/self/exe", image, sizeof image - 1), 0);
    ck_assert_int_eq(pipe(go), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char name[64] = "";

        NEED(read(go[0], name, sizeof name) > 0);
        if (follow)
            NEED(setenv("POSIXTRACE_FOLLOW", name, 1) == 0);
        execl(image, "test_place", IMAGE, what, (char *)NULL);
        _exit(1);
    }
    trid = inherited_stream(pid);
    s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_gt(write(go[1], s->seg->file, sizeof s->seg->file), 0);
    pt_handle_put(s);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    n = count(trid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    return n;
}

START_TEST(test_made_at_load)
{
    ck_assert_uint_eq(events_of_image("rights", true), EVENTS);
}
END_TEST

START_TEST(test_events_leave_the_environment_alone)
{
    ck_assert_uint_eq(events_of_image("environment", false), EVENTS);
}
END_TEST

/* 0: the image did that there, with that for POSIXTRACE_DIR. */
static int run_image(const char *folder, const char *directory, const char *what)
{
    char image[512] = "";
    int status;
    pid_t pid;

    ck_assert_int_gt(readlink("/proc/self/exe", image, sizeof image - 1), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        NEED(chdir(folder) == 0 && setenv("HOME", folder, 1) == 0);
        NEED(setenv("POSIXTRACE_DIR", directory, 1) == 0);
        execl(image, "test_place", IMAGE, what, (char *)NULL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(test_directory_is_relative)
{
    char folder[] = "/tmp/posixtrace-place.XXXXXX", command[64];
    static const char *const forms[] = { "streams", "./streams" };
    int status;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    status = run_image(folder, forms[_i], "elsewhere");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_directory_is_too_long)
{
    char directory[700] = "/tmp";

    for (size_t n = 4; n < 604; n += 2)
        strcpy(directory + n, "/.");
    strcat(directory, "/posixtrace");
    ck_assert_int_eq(run_image("/", directory, "long"), 0);
}
END_TEST

static void trace_in_root_of_its_own(void)
{
    NEED(chroot("/proc/self/fdinfo") == 0 && chdir("/") == 0);
    has_no_proc = true;
    trace_unnamed(NULL);
    trace_in_child();
    trace_in_daemon();
}

/* Neither /proc nor the stream directory is there any more. */
START_TEST(test_root_changed)
{
    trace_id_t trid;

    if (geteuid() != 0)
        return;
    trid = inherited_stream(0);
    in_process(trace_in_root_of_its_own);
    ck_assert_uint_eq(count(trid), 3 * EVENTS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
}

static void add(TCase *t)
{
    tcase_add_test(t, test_environment_cleared);
    tcase_add_test(t, test_user_given_up);
    tcase_add_test(t, test_child_without_user);
    tcase_add_test(t, test_target_that_gave_up_its_user);
    tcase_add_test(t, test_made_at_load);
    tcase_add_test(t, test_events_leave_the_environment_alone);
    tcase_add_test(t, test_root_changed);
    tcase_add_loop_test(t, test_directory_is_relative, 0, 2);
    tcase_add_test(t, test_directory_is_too_long);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], IMAGE) == 0)
        return be_image(argv[2]);
    return run_suite("process place", "place", prepare, add);
}
