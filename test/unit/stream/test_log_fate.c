/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Whether the log of a dead stream is gone: not because it got another name while its folder
 * was read; and who must not wait for a network looks at its own file system only.
 *
 * The linker makes readdir() go through the test, which leaves a name out as the kernel may
 * leave out a file that is renamed meanwhile.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/format.h"
#include "process/log_fate.h"
#include "ring/liveness.h"
#include "support/run_suite.h"

static char folder[32], path[64];
static struct pt_seg_header dead;
static int hide;           /* the file from so many readings of the folder */

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

static void make_log(void)
{
    struct pt_log_header head = { .version = PT_LOG_VERSION };
    struct stat st;
    int fd;

    memset(&dead, 0, sizeof dead);
    strcpy(folder, "/tmp/posixtrace-fate.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(dead.log_path, sizeof dead.log_path, "%s/first", folder);
    snprintf(path, sizeof path, "%s/renamed", folder);
    memset(dead.id, 7, sizeof dead.id);
    memcpy(head.magic, PT_LOG_MAGIC, sizeof head.magic);
    memcpy(head.id, dead.id, sizeof head.id);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, &head, sizeof head), sizeof head);
    ck_assert_int_eq(fstat(fd, &st), 0);
    close(fd);
    dead.log_dev = st.st_dev;
    dead.log_ino = st.st_ino;
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

static void add_tests(TCase *t)
{
    tcase_add_checked_fixture(t, make_log, remove_log);
    tcase_add_test(t, renamed_meanwhile);
    tcase_add_test(t, own_file_system_only);
}

int main(void)
{
    return run_suite("log_fate", "left logs", NULL, add_tests);
}
