/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Is the log of a dead stream gone?  Not if it got another name while its folder was read, another
 * folder has the path of its own, another file is mounted over it, its path is too long, or a copy
 * replaced it.  A caller that must not wait for a network checks its own file system only.
 *
 * The linker wraps readdir(); the test leaves a name out, as the kernel may leave out a file that
 * is renamed meanwhile.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "directory/log_fate.h"
#include "log/format.h"
#include "page/log_folder.h"
#include "shm/liveness.h"
#include "support/run_suite.h"

static char folder[32], path[64];
static struct pt_seg_header dead;
static int hide; /* the file from so many readings of the folder */

struct dirent *__real_readdir64(DIR *d);
struct dirent *__wrap_readdir64(DIR *d);

struct dirent *__wrap_readdir64(DIR *d)
{
    struct dirent *e = __real_readdir64(d);

    if (e && hide > 0 && strcmp(e->d_name, "renamed") == 0)
        e = __real_readdir64(d);
    if (!e && hide > 0)
        hide--;
    return e;
}

static int write_log(const char *name)
{
    struct pt_log_header head = { .version = PT_LOG_VERSION };
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

    memcpy(head.magic, PT_LOG_MAGIC, sizeof head.magic);
    memcpy(head.id, dead.id, sizeof head.id);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, &head, sizeof head), sizeof head);
    return fd;
}

/* As a stream does that has the log, which is renamed then. */
static void make_log(void)
{
    char first[64];
    int fd;

    memset(&dead, 0, sizeof dead);
    memset(dead.id, 7, sizeof dead.id);
    strcpy(folder, "/tmp/posixtrace-fate.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(first, sizeof first, "%s/first", folder);
    snprintf(path, sizeof path, "%s/renamed", folder);
    fd = write_log(first);
    pt_log_folder_note(&dead, fd);
    close(fd);
    ck_assert_str_eq(dead.log_path, first);
    ck_assert(dead.log_folder != 0);
    ck_assert_int_eq(rename(first, path), 0);
    dead.mnt_ns = pt_mount_namespace();
}

static void remove_log(void)
{
    unlink(path);
    rmdir(folder);
}

static enum pt_log_fate fate(const struct pt_log_look *look)
{
    return pt_log_find(&dead, look, O_RDONLY, NULL);
}

START_TEST(renamed_meanwhile)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };

    ck_assert_int_eq(fate(&look), PT_LOG_THERE);
    hide = 1;
    ck_assert_int_eq(fate(&look), PT_LOG_THERE);
    ck_assert_int_eq(hide, 0);
    unlink(path);
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
}
END_TEST

START_TEST(own_file_system_only)
{
    struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL, .near = true };

    unlink(path);
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    look.has_own = true;
    look.own_dev = dead.log_dev + 1;
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    look.own_dev = dead.log_dev;
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
    look.own_dev = dead.log_dev + 1;
    look.near = false;
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
}
END_TEST

/* The log is in the folder that was renamed. */
START_TEST(another_folder)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };
    char moved[64], log[80];

    snprintf(moved, sizeof moved, "%s.old", folder);
    snprintf(log, sizeof log, "%s/renamed", moved);
    ck_assert_int_eq(rename(folder, moved), 0);
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    rmdir(folder);
    ck_assert_int_eq(rename(moved, folder), 0);
    ck_assert_int_eq(fate(&look), PT_LOG_THERE);
    unlink(path);
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
}
END_TEST

/* The root folders of two file systems that are mounted in turn differ in their birth only. */
START_TEST(another_birth)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };

    unlink(path);
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
    dead.log_folder_born++;
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
}
END_TEST

/* The same inode with other contents is another log only if the folder is the same. */
START_TEST(other_contents)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };

    memset(dead.id, 8, sizeof dead.id);
    strcpy(dead.log_path, path);
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
    dead.log_folder++;
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
}
END_TEST

/* What a cut has left of the log, which a recovery may still save: no other contents. */
START_TEST(cut_in_its_header)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };

    strcpy(dead.log_path, path);
    ck_assert_int_eq(fate(&look), PT_LOG_THERE);
    for (off_t left = 30; left >= 0; left -= 10) {
        ck_assert_int_eq(truncate(path, left), 0);
        ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
        ck_assert_int_eq(truncate(path, 8192), 0);
        ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    }
}
END_TEST

START_TEST(copied)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };

    close(write_log(dead.log_path));
    unlink(path);
    ck_assert_int_eq(fate(&look), PT_LOG_UNKNOWN);
    unlink(dead.log_path);
    ck_assert_int_eq(fate(&look), PT_LOG_GONE);
}
END_TEST

/* 255 bytes are the longest path that fits. */
START_TEST(long_path)
{
    char deep[300], name[320];
    size_t n = strlen(folder);

    for (size_t most = 255; most <= 256; most++) {
        struct pt_seg_header h = { .log_dev = 0 };
        int fd;

        memset(deep, 0, sizeof deep);
        memset(mempcpy(deep, folder, n), 'x', most - n - 4);
        deep[n] = '/';
        ck_assert_int_eq(mkdir(deep, 0700), 0);
        snprintf(name, sizeof name, "%s/log", deep);
        ck_assert_uint_eq(strlen(name), most);
        fd = open(name, O_RDWR | O_CREAT, 0600);
        pt_log_folder_note(&h, fd);
        ck_assert_str_eq(h.log_path, most == 255 ? name : "");
        ck_assert_int_eq(h.log_folder != 0, most == 255);
        ck_assert(h.log_ino != 0);
        close(fd);
        unlink(name);
        rmdir(deep);
    }
}
END_TEST

/* In a mount namespace of its own, as root of a user namespace where need be; false: not
 * possible. */
static bool leave_mounts(void)
{
    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return false;
    return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

/* 0, the line of a failed check, or 255: mounting is not possible. */
static int cover(void)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };
    struct pt_seg_header mounted = { .log_dev = 0 };
    char other[64];
    int fd;

    snprintf(other, sizeof other, "%s/other", folder);
    close(open(other, O_RDWR | O_CREAT, 0600));
    if (!leave_mounts() || mount(other, path, "none", MS_BIND, NULL) < 0)
        return 255;
    /* As it is where the number of the namespace is used again. */
    dead.mnt_ns = pt_mount_namespace();
    if (fate(&look) != PT_LOG_UNKNOWN)
        return __LINE__;
    fd = open(path, O_RDWR);
    pt_log_folder_note(&mounted, fd);
    close(fd);
    return strcmp(mounted.log_path, path) == 0 && mounted.log_folder == 0 ? 0 : __LINE__;
}

START_TEST(mounted_over)
{
    pid_t child = fork();
    char other[64];
    int status;

    if (child == 0)
        _exit(cover());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    snprintf(other, sizeof other, "%s/other", folder);
    unlink(other);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 255)
        printf("no mount namespaces here\n");
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, make_log, remove_log);
    tcase_add_test(t, renamed_meanwhile);
    tcase_add_test(t, own_file_system_only);
    tcase_add_test(t, another_folder);
    tcase_add_test(t, another_birth);
    tcase_add_test(t, other_contents);
    tcase_add_test(t, cut_in_its_header);
    tcase_add_test(t, copied);
    tcase_add_test(t, long_path);
    tcase_add_test(t, mounted_over);
}

int main(void)
{
    return run_suite("log_fate", "left logs", NULL, add_tests);
}
