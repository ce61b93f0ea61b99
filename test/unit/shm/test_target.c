/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Permission to trace a process, and the limit of streams. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "page/stream_quota.h"
#include "page/target.h"
#include "place/dir.h"
#include "shm_helpers.h"
#include "shm/liveness.h"

#define NOBODY 65534
#define GROUPS 4000u

/* A child that has come to rest as what prepare made of it; kill it. */
static pid_t child(void (*prepare)(void))
{
    int ready[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (prepare)
            prepare();
        if (write(ready[1], "!", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(test_own_child)
{
    pid_t pid = child(NULL);
    struct pt_target t;

    ck_assert_int_eq(pt_target_look(&t, pid), 0);
    ck_assert_uint_eq(t.pid, (uint32_t)pid);
    ck_assert_uint_eq(t.start, pt_process_start((uint32_t)pid));
    ck_assert_uint_eq(t.uid, geteuid());
    end(pid);
    ck_assert_int_eq(pt_target_look(&t, pid), -ESRCH);
    ck_assert_int_eq(pt_target_look(&t, -1), -ESRCH);
}
END_TEST

static void become_nobody(void)
{
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(1);
}

static void become_undumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/* The error that an unprivileged user gets for the process; as an exit status. */
static int nobody_looks(pid_t pid)
{
    pid_t looker = fork();
    int status;

    ck_assert_int_ge(looker, 0);
    if (looker == 0) {
        struct pt_target t;

        become_nobody();
        _exit(-pt_target_look(&t, pid));
    }
    ck_assert_int_eq(waitpid(looker, &status, 0), looker);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Root only. */
START_TEST(test_other_users)
{
    pid_t own, theirs, hidden;
    struct pt_target t;

    if (geteuid() != 0)
        return;
    own = child(NULL);
    theirs = child(become_nobody);
    hidden = child(become_undumpable);
    ck_assert_int_eq(pt_target_look(&t, theirs), 0);
    ck_assert_uint_eq(t.uid, NOBODY);
    ck_assert_int_eq(pt_target_look(&t, hidden), 0);
    ck_assert_int_eq(nobody_looks(own), EPERM);
    /* A process that changes its user is not dumpable until it calls exec. */
    ck_assert_int_eq(nobody_looks(theirs), EPERM);
    end(own);
    end(theirs);
    end(hidden);
}
END_TEST

/* So many that the line of them is longer than any other part of /proc/PID/status. */
static void join_groups(void)
{
    static gid_t groups[GROUPS];

    for (unsigned i = 0; i < GROUPS; i++)
        groups[i] = 1000000000u + i;
    if (setgroups(GROUPS, groups) != 0)
        _exit(1);
}

static void become_nobody_with_groups(void)
{
    join_groups();
    become_nobody();
}

/* Root only: what comes after the groups of a process is read, too. */
START_TEST(test_many_groups)
{
    pid_t target, root;
    int status;

    if (geteuid() != 0)
        return;
    target = child(become_nobody_with_groups);
    root = fork();
    ck_assert_int_ge(root, 0);
    if (root == 0) {
        join_groups();
        _exit(-pt_target_take_ids(target));
    }
    ck_assert_int_eq(waitpid(root, &status, 0), root);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    end(target);
}
END_TEST

/* Root only, and where it may make namespaces: the target is in one below. */
START_TEST(test_many_groups_below)
{
    struct pt_target t;
    pid_t target;
    int status;

    if (geteuid() != 0)
        return;
    target = fork();
    ck_assert_int_ge(target, 0);
    if (target == 0) {
        pid_t inner;

        if (unshare(CLONE_NEWPID) != 0)
            _exit(0);
        inner = child(join_groups);
        status = pt_target_look(&t, inner);
        kill(inner, SIGKILL);
        _exit(status == -ENOTSUP ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(target, &status, 0), target);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(test_sees_directory)
{
    struct pt_target t;
    pid_t pid = child(NULL);
    int dir = pt_dir_open(true);

    ck_assert_int_ge(dir, 0);
    ck_assert_int_eq(pt_target_look(&t, pid), 0);
    ck_assert(pt_target_sees(&t, dir));
    end(pid);
    close(dir);
}
END_TEST

/* A directory of another user, and what root makes in it. */
START_TEST(test_directory_of_another_user)
{
    const char *dir = getenv("POSIXTRACE_DIR");
    struct stat st;
    bool named;
    int fd;

    if (geteuid() != 0)
        return;
    ck_assert_int_eq(pt_dir_open_of(NOBODY, true), -EACCES);
    ck_assert_int_eq(chown(dir, NOBODY, NOBODY), 0);
    ck_assert_int_eq(pt_dir_open(true), -EACCES);
    fd = pt_dir_open_of(NOBODY, true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    fd = pt_dir_new_file(NOBODY, "theirs", 4096, 4096, &named);
    ck_assert_int_ge(fd, 0);
    ck_assert(named);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_eq(st.st_uid, NOBODY);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    close(fd);
}
END_TEST

START_TEST(test_plain_names)
{
    static const char no_end[4] = { 'n', 'n', 'n', 'n' };

    ck_assert(pt_dir_is_plain("n-1", 4));
    ck_assert(!pt_dir_is_plain("", 1));
    ck_assert(!pt_dir_is_plain("..", 3));
    ck_assert(!pt_dir_is_plain("a/b", 4));
    ck_assert(!pt_dir_is_plain(no_end, sizeof no_end));
}
END_TEST

/* Segments that are not, and segments of owners that are gone, do not count. */
START_TEST(test_census)
{
    struct pt_seg seg[TRACE_SYS_MAX + 1];
    int dir = pt_dir_open(true);
    char name[32];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "s-%d.seg", i);
        close(openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600));
    }
    for (unsigned i = 0; i <= TRACE_SYS_MAX; i++) {
        ring_create(&seg[i], 4096);
        ck_assert_int_eq(pt_stream_quota_is_full(geteuid(), seg[i].file), i == TRACE_SYS_MAX);
    }
    ck_assert(!pt_stream_quota_is_full(geteuid(), ""));
    seg[3].h->owner_start++;
    ck_assert(!pt_stream_quota_is_full(geteuid(), seg[0].file));
    for (unsigned i = 0; i <= TRACE_SYS_MAX; i++)
        pt_seg_unmap(&seg[i]);
    close(dir);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_own_child);
    tcase_add_test(tc, test_other_users);
    tcase_add_test(tc, test_many_groups);
    tcase_add_test(tc, test_many_groups_below);
    tcase_add_test(tc, test_sees_directory);
    tcase_add_test(tc, test_directory_of_another_user);
    tcase_add_test(tc, test_plain_names);
    tcase_add_test(tc, test_census);
}

int main(void)
{
    return ring_main("target", add);
}
