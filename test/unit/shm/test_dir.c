/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The choice of the directory, and the case without one.  /dev/shm is a file system of the test's
 * own, without the user's streams; if that is not allowed (it takes root), those tests report it
 * and do nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "place/dir.h"
#include "shm_helpers.h"

static char own[512]; /* the test's directory */

/* A name below the test's directory. */
static const char *below(const char *name)
{
    static char path[600];

    snprintf(path, sizeof path, "%s/%s", own, name);
    return path;
}

static void setup_own(void)
{
    snprintf(own, sizeof own, "%s", getenv("POSIXTRACE_DIR"));
}

static void expect(int error, enum pt_dir_choice choice, const char *path)
{
    enum pt_dir_choice chosen;
    char found[512];

    ck_assert_int_eq(pt_dir_look(found, sizeof found, &chosen), error);
    ck_assert_int_eq(chosen, choice);
    ck_assert_str_eq(found, path);
    pt_dir_path(found, sizeof found);
    ck_assert_str_eq(found, path);
}

START_TEST(variable)
{
    char path[600], link[600];
    int fd;

    setup_own();
    snprintf(path, sizeof path, "%s", below("streams"));
    snprintf(link, sizeof link, "%s", below("link"));
    setenv("POSIXTRACE_DIR", path, 1);
    expect(-ENOENT, PT_DIR_VARIABLE, path);
    fd = pt_dir_open(true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    expect(0, PT_DIR_VARIABLE, path);
    /* Others could put files into it. */
    ck_assert_int_eq(chmod(path, 0770), 0);
    expect(-EACCES, PT_DIR_VARIABLE, path);
    ck_assert_int_eq(chmod(path, 0700), 0);
    /* Another user's link could lead anywhere. */
    ck_assert_int_eq(symlink(path, link), 0);
    setenv("POSIXTRACE_DIR", link, 1);
    expect(-EACCES, PT_DIR_VARIABLE, link);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(rmdir(path), 0);
    setenv("POSIXTRACE_DIR", own, 1);
}
END_TEST

/* An empty file system of that many bytes, seen by this process alone. */
static bool mount_own(const char *where, const char *options)
{
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", where, "tmpfs", 0, options) == 0)
        return true;
    fprintf(stderr, "left out: no mounts of our own: %s\n", strerror(errno));
    return false;
}

START_TEST(shared_memory_first)
{
    char shm[64], runtime[600];
    bool named;
    int fd;

    setup_own();
    if (!mount_own("/dev/shm", "mode=1777"))
        return;
    snprintf(shm, sizeof shm, "/dev/shm/posixtrace-%u", (unsigned)geteuid());
    unsetenv("POSIXTRACE_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    expect(-ENOENT, PT_DIR_SHM, shm);
    fd = pt_dir_open(true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    expect(0, PT_DIR_SHM, shm);
    /* Not ours alone: the next candidate, if there is one. */
    ck_assert_int_eq(chmod(shm, 0755), 0);
    expect(-EACCES, PT_DIR_SHM, shm);
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    expect(-EACCES, PT_DIR_SHM, shm);
    fd = pt_dir_new_file(geteuid(), "without", 4096, 4096, &named);
    ck_assert_int_ge(fd, 0);
    ck_assert(!named);
    close(fd);
    ck_assert_int_eq(mkdir("/dev/shm/run", 0700), 0);
    setenv("XDG_RUNTIME_DIR", "/dev/shm/run", 1);
    snprintf(runtime, sizeof runtime, "/dev/shm/run/posixtrace");
    expect(-EACCES, PT_DIR_SHM, shm);
    fd = pt_dir_open(true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    expect(0, PT_DIR_RUNTIME, runtime);
    ck_assert_int_eq(umount("/dev/shm"), 0);
    setenv("POSIXTRACE_DIR", own, 1);
}
END_TEST

START_TEST(no_room)
{
    char path[600];
    bool named;
    int fd;

    setup_own();
    snprintf(path, sizeof path, "%s", below("small"));
    ck_assert_int_eq(mkdir(path, 0700), 0);
    if (mount_own(path, "mode=0700,size=64k")) {
        setenv("POSIXTRACE_DIR", path, 1);
        fd = pt_dir_new_file(geteuid(), "fits", 16384, 16384, &named);
        ck_assert_int_ge(fd, 0);
        ck_assert(named);
        close(fd);
        fd = pt_dir_new_file(geteuid(), "large", 1 << 20, 1 << 20, &named);
        ck_assert_int_ge(fd, 0);
        ck_assert(!named);
        close(fd);
        /* A file that did not fit is removed. */
        ck_assert_int_ne(access(below("small/large"), F_OK), 0);
        ck_assert_int_eq(access(below("small/fits"), F_OK), 0);
        ck_assert_int_eq(umount(path), 0);
    }
    ck_assert_int_eq(rmdir(path), 0);
    setenv("POSIXTRACE_DIR", own, 1);
}
END_TEST

static bool no_mkdir;

int mkdir(const char *path, mode_t mode)
{
    if (no_mkdir) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* As in a sandbox. */
START_TEST(made_before)
{
    bool named = false;
    int fd;

    setup_own();
    no_mkdir = true;
    fd = pt_dir_new_file(geteuid(), "there", 4096, 4096, &named);
    ck_assert_int_ge(fd, 0);
    ck_assert(named);
    close(fd);
    setenv("POSIXTRACE_DIR", below("none"), 1);
    ck_assert_int_eq(pt_dir_open(true), -EPERM);
    no_mkdir = false;
    fd = pt_dir_open(true);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(rmdir(below("none")), 0);
    setenv("POSIXTRACE_DIR", own, 1);
}
END_TEST

/* There is one descriptor, for the directory or for a memfd: the file is not made under no name. */
START_TEST(no_descriptor)
{
    struct rlimit before, few;
    bool named = true;
    int next, fd;

    setup_own();
    next = dup(0);
    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    for (few.rlim_cur = (rlim_t)next; few.rlim_cur <= (rlim_t)next + 1; few.rlim_cur++) {
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        fd = pt_dir_new_file(geteuid(), "none", 4096, 4096, &named);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        ck_assert_int_eq(fd, -EMFILE);
        ck_assert(!named);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, variable);
    tcase_add_test(tc, shared_memory_first);
    tcase_add_test(tc, no_room);
    tcase_add_test(tc, made_before);
    tcase_add_test(tc, no_descriptor);
}

int main(void)
{
    return ring_main("directory", add);
}
