/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs that start together with one POSIXTRACE_RECORD: one records itself, and each of the
 * others leaves in LOG.error why it does not, at whatever step of the first one it comes.  flock(),
 * pt_create(), unlink(), pt_sys_write_at() and pt_tail_open() go through the test, which runs the
 * others there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "consumer/crash_recovery.h"
#include "control/control.h"
#include "support/image.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

extern char **environ;

static char log_name[256], error_name[264], note_name[264];
/* So many others are run there. */
static unsigned after_lock, in_create, after_free, before_write;
static bool create_fails, frees, stops, tears;

/* Of this program, in a role; its environment is the caller's. */
static pid_t start(const char *role)
{
    pid_t pid;

    image_prepare(role);
    if (posix_spawnp(&pid, image_command[0], NULL, NULL, image_command, environ) != 0)
        abort();
    return pid;
}

static void run(const char *role)
{
    pid_t pid = start(role);
    int status;

    if (waitpid(pid, &status, 0) != pid || status != (strcmp(role, "killed") == 0 ? SIGKILL : 0))
        abort();
}

static void run_others(unsigned *count)
{
    for (; *count > 0; --*count)
        run("other");
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_pt_create(const struct pt_attr *attr, int log_fd, const struct pt_target *target,
                     trace_id_t *trid);
int __wrap_pt_create(const struct pt_attr *attr, int log_fd, const struct pt_target *target,
                     trace_id_t *trid);

int __wrap_flock(int fd, int operation)
{
    int r = __real_flock(fd, operation);

    run_others(&after_lock);
    if (operation == LOCK_UN)
        run_others(&after_free);
    return r;
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_pt_sys_write_at(int fd, const void *from, size_t bytes, uint64_t at);
int __wrap_pt_sys_write_at(int fd, const void *from, size_t bytes, uint64_t at);

int __wrap_unlink(const char *path)
{
    if (stops && strcmp(path, error_name) == 0)
        raise(SIGSTOP);
    return __real_unlink(path);
}

int __wrap_pt_sys_write_at(int fd, const void *from, size_t bytes, uint64_t at)
{
    run_others(&before_write);
    return __real_pt_sys_write_at(fd, from, bytes, at);
}

int __wrap_pt_create(const struct pt_attr *attr, int log_fd, const struct pt_target *target,
                     trace_id_t *trid)
{
    run_others(&in_create);
    if (frees)
        after_free = 1;
    return create_fails ? -ENOMEM : __real_pt_create(attr, log_fd, target, trid);
}

int __real_pt_tail_open(struct pt_tail **tail, const uint8_t id[16]);
int __wrap_pt_tail_open(struct pt_tail **tail, const uint8_t id[16]);

int __wrap_pt_tail_open(struct pt_tail **tail, const uint8_t id[16])
{
    if (tears && truncate(log_name, 0) != 0)
        abort();
    return __real_pt_tail_open(tail, id);
}

static void add_line(const char *line)
{
    FILE *f = fopen(error_name, "a");

    if (!f)
        abort();
    fprintf(f, "%s\n", line);
    fclose(f);
}

static int record(const char *role)
{
    trace_event_id_t id;

    if (strcmp(role, "after lock") == 0)
        after_lock = 1;
    else if (strcmp(role, "in create") == 0 || strcmp(role, "create fails") == 0)
        in_create = 2;
    else if (strcmp(role, "before write") == 0)
        before_write = 1;
    create_fails = strcmp(role, "create fails") == 0;
    stops = strcmp(role, "stops") == 0;
    tears = strcmp(role, "tears") == 0;
    frees = strcmp(role, "frees") == 0;
    if (frees)
        in_create = 1;
    posix_trace_eventid_open("tick", &id);
    if (strcmp(role, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(role, "parent") == 0) {
        add_line("process 2 (program) is not recorded: it came second");
        run("other");
    }
    return 0;
}

static void name_files(void)
{
    snprintf(log_name, sizeof log_name, "%s/together.ptl", getenv("POSIXTRACE_DIR"));
    snprintf(error_name, sizeof error_name, "%s.error", log_name);
    snprintf(note_name, sizeof note_name, "%s/record.error", getenv("POSIXTRACE_DIR"));
}

static void setup(void)
{
    setenv("POSIXTRACE_RECORD", log_name, 1);
    unsetenv("POSIXTRACE_RECORD_FILTER");
    add_line("process 1 (old) is not recorded: an earlier run");
}

static void teardown(void)
{
    unlink(log_name);
    unlink(error_name);
    unlink(note_name);
}

/* How many lines of the file have the text. */
static int lines_of(const char *file, const char *text)
{
    FILE *f = fopen(file, "r");
    char line[1024];
    int count = 0;

    while (f && fgets(line, sizeof line, f))
        count += strstr(line, text) != NULL;
    if (f)
        fclose(f);
    return count;
}

/* Of LOG.error. */
static int lines_with(const char *text)
{
    return lines_of(error_name, text);
}

#define TAKEN "its log is being written by another process"

START_TEST(alone)
{
    run("alone");
    ck_assert_int_lt(access(error_name, F_OK), 0);
}
END_TEST

START_TEST(others_in_create)
{
    run("in create");
    ck_assert_int_eq(lines_with(TAKEN), 2);
    ck_assert_int_eq(lines_with(""), 2);
    run("alone");
    ck_assert_int_lt(access(error_name, F_OK), 0);
}
END_TEST

/* Before the first one removes what an earlier run has left. */
START_TEST(other_after_lock)
{
    run("after lock");
    ck_assert_int_eq(lines_with(TAKEN), 1);
    unlink(error_name);
    run("after lock");
    ck_assert_int_eq(lines_with(TAKEN), 1);
    ck_assert_int_eq(lines_with(""), 1);
}
END_TEST

START_TEST(first_fails)
{
    run("create fails");
    ck_assert_int_eq(lines_with(TAKEN), 2);
    ck_assert_int_eq(lines_with(strerror(ENOMEM)), 1);
    ck_assert_int_eq(lines_with("(old)"), 1);
    ck_assert_int_eq(lines_with(""), 4);
}
END_TEST

/* The first one frees the lock that it gave and takes its own: a third one that comes in between
 * finds the log free at first, and the second one's line there. */
START_TEST(third_between_locks)
{
    run("frees");
    ck_assert_int_eq(lines_with(TAKEN), 2);
    ck_assert_int_eq(lines_with(""), 2);
}
END_TEST

/* The other one reads the log while the first one, which has its lock, begins to overwrite it: it
 * does not take it for one that a killed program has left. */
START_TEST(log_is_being_overwritten)
{
    char second_name[264];
    int fd;

    snprintf(second_name, sizeof second_name, "%s.2", log_name);
    run("killed");
    fd = open(log_name, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(__real_flock(fd, LOCK_EX), 0);
    run("tears");
    close(fd);
    ck_assert_int_lt(access(second_name, F_OK), 0);
    ck_assert_int_eq(lines_with(TAKEN), 1);
}
END_TEST

/* The one that has the lock of LOG.error is stopped, for the other one's whole life. */
START_TEST(stopped_before_unlink)
{
    pid_t pid = start("stops");
    int status;

    ck_assert(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    run("other");
    ck_assert(kill(pid, SIGCONT) == 0 && waitpid(pid, &status, 0) == pid && status == 0);
    ck_assert_int_eq(lines_of(note_name, TAKEN), 1);
    ck_assert_int_eq(lines_of(note_name, ""), 1);
    ck_assert_int_lt(access(error_name, F_OK), 0);
}
END_TEST

START_TEST(stopped_before_write)
{
    setenv("POSIXTRACE_RECORD_POLICY", "none", 1);
    run("before write");
    unsetenv("POSIXTRACE_RECORD_POLICY");
    ck_assert_int_eq(lines_with("POSIXTRACE_RECORD_POLICY"), 1);
    ck_assert_int_eq(lines_of(note_name, "POSIXTRACE_RECORD_POLICY"), 1);
    ck_assert_int_eq(lines_with("(old)"), 1);
}
END_TEST

/* The file in the directory of streams is locked, too: it takes the line without. */
START_TEST(both_are_locked)
{
    int beside = open(error_name, O_RDWR | O_CLOEXEC);
    int note = open(note_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    ck_assert(__real_flock(beside, LOCK_EX) == 0 && __real_flock(note, LOCK_EX) == 0);
    run("create fails");
    ck_assert_int_eq(lines_of(note_name, TAKEN), 2);
    ck_assert_int_eq(lines_of(note_name, ""), 3);
    run("alone"); /* and it removes nothing */
    ck_assert_int_eq(lines_with("(old)"), 1);
    ck_assert_int_eq(lines_with(""), 1);
    close(beside);
    run("alone");
    ck_assert_int_lt(access(error_name, F_OK), 0);
    close(note);
}
END_TEST

/* No program of this user can write into it: it stays, and no program takes it away. */
START_TEST(of_another_user)
{
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chown(error_name, 1, 1), 0);
    run("create fails");
    run("alone");
    ck_assert_int_eq(lines_with("(old)"), 1);
    ck_assert_int_eq(lines_with(""), 1);
    ck_assert_int_eq(lines_of(note_name, ""), 3);
}
END_TEST

/* The lines of a program that is recorded into LOG.2 are in LOG.2.error. */
START_TEST(second_log)
{
    char second_name[264], second_error[272];

    snprintf(second_name, sizeof second_name, "%s.2", log_name);
    snprintf(second_error, sizeof second_error, "%s.error", second_name);
    run("killed");
    setenv("POSIXTRACE_RECORD_FILTER", "tock", 1);
    run("alone");
    ck_assert_int_eq(lines_of(second_error, "no event matches"), 1);
    unsetenv("POSIXTRACE_RECORD_FILTER");
    run("alone");
    ck_assert_int_lt(access(second_error, F_OK), 0);
    ck_assert_int_lt(access(error_name, F_OK), 0);
    unlink(second_name);
}
END_TEST

/* Nothing of the first one is recorded either, which it finds at its end. */
START_TEST(first_is_empty)
{
    setenv("POSIXTRACE_RECORD_FILTER", "tock", 1);
    run("in create");
    ck_assert_int_eq(lines_with(TAKEN), 2);
    ck_assert_int_eq(lines_with("no event matches"), 1);
}
END_TEST

/* A program that a recorded one has started is in its log: it reports nothing, and leaves the lines
 * of others. */
START_TEST(of_the_family)
{
    run("parent");
    ck_assert_int_eq(lines_with("it came second"), 1);
    ck_assert_int_eq(lines_with(""), 1);
}
END_TEST

/* A link of another user would let the line go into a file of this one. */
START_TEST(link_to_other_file)
{
    char other[264];

    snprintf(other, sizeof other, "%s.other", log_name);
    ck_assert_int_eq(rename(error_name, other), 0);
    ck_assert_int_eq(symlink(other, error_name), 0);
    run("create fails");
    ck_assert_int_eq(lines_with(""), 1);
    ck_assert_int_eq(lines_of(note_name, ""), 3);
    ck_assert_int_eq(unlink(error_name), 0);
    ck_assert_int_eq(link(other, error_name), 0);
    setenv("POSIXTRACE_RECORD_POLICY", "none", 1);
    run("alone");
    unsetenv("POSIXTRACE_RECORD_POLICY");
    ck_assert_int_eq(lines_of(note_name, ""), 4);
    ck_assert_int_eq(lines_of(note_name, "POSIXTRACE_RECORD_POLICY"), 1);
    ck_assert_int_eq(rename(other, error_name), 0);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_int_eq(lines_with(""), 1);
    ck_assert_int_eq(lines_with("(old)"), 1);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, alone);
    tcase_add_test(tc, others_in_create);
    tcase_add_test(tc, other_after_lock);
    tcase_add_test(tc, first_fails);
    tcase_add_test(tc, first_is_empty);
    tcase_add_test(tc, of_the_family);
    tcase_add_test(tc, third_between_locks);
    tcase_add_test(tc, log_is_being_overwritten);
    tcase_add_test(tc, stopped_before_unlink);
    tcase_add_test(tc, stopped_before_write);
    tcase_add_test(tc, both_are_locked);
    tcase_add_test(tc, of_another_user);
    tcase_add_test(tc, second_log);
    tcase_add_test(tc, link_to_other_file);
}

int main(int argc, char **argv)
{
    name_files();
    if (argc > 1)
        return record(argv[1]);
    if (is_under_valgrind()) /* it executes itself */
        return TEST_SKIPPED;
    return run_suite("self_record", "programs that record themselves together", NULL, add);
}
