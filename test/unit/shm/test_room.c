/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A file that finds no room fills neither disk nor memory first: fallocate() is not called. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include "place/room.h"
#include "shm_helpers.h"

enum { LITTLE = 4096, MUCH = 32 << 20 };

static unsigned calls, interrupted;
static int error;

int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes);
/* Its name with large files. */
__typeof__(__wrap_fallocate) __wrap_fallocate64 __attribute__((alias("__wrap_fallocate")));

int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    (void)fd, (void)mode, (void)offset, (void)bytes;
    calls++;
    if (interrupted > 0 || error) {
        errno = interrupted > 0 ? EINTR : error;
        interrupted -= interrupted > 0;
        return -1;
    }
    return 0;
}

static void expect(int fd, uint64_t bytes, int result, unsigned expected_calls)
{
    calls = 0;
    ck_assert_int_eq(pt_room_take(fd, 0, bytes), result);
    ck_assert_uint_eq(calls, expected_calls);
}

static int memory_file(void)
{
    int fd = memfd_create("room", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

START_TEST(disk)
{
    const char *folder = getenv("TMPDIR");
    char path[600];
    struct statvfs fs;
    int fd;

    snprintf(path, sizeof path, "%s/posixtrace-room.XXXXXX", folder ? folder : "/tmp");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(fstatvfs(fd, &fs), 0);
    expect(fd, LITTLE, 0, 1);
    /* Twice as much as there is: others may free some meanwhile. */
    expect(fd, 2 * fs.f_blocks * fs.f_frsize + MUCH, -ENOMEM, 0);
    close(fd);
}
END_TEST

START_TEST(memory)
{
    int fd = memory_file();
    struct sysinfo machine;

    ck_assert_int_eq(sysinfo(&machine), 0);
    expect(fd, MUCH, 0, 1);
    expect(fd, (uint64_t)(machine.totalram + machine.totalswap) * machine.mem_unit + MUCH, -ENOMEM,
           0);
    close(fd);
}
END_TEST

START_TEST(answers)
{
    int fd = memory_file();

    interrupted = 3;
    expect(fd, LITTLE, 0, 4);
    error = ENOSPC;
    expect(fd, LITTLE, -ENOMEM, 1);
    error = EDQUOT;
    expect(fd, LITTLE, -ENOMEM, 1);
    error = EIO;
    expect(fd, LITTLE, -EIO, 1);
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, disk);
    tcase_add_test(tc, memory);
    tcase_add_test(tc, answers);
}

int main(void)
{
    return ring_main("room", add);
}
