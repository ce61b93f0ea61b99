/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A file without a name for a test to write a log to; check's tests alone. */
#ifndef SUPPORT_LOG_FILE_H
#define SUPPORT_LOG_FILE_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline int log_file(void)
{
    FILE *f = tmpfile();
    int fd = f ? dup(fileno(f)) : -1;

    ck_assert_msg(fd >= 0, "no temporary file: %s", strerror(errno));
    fclose(f);
    return fd;
}

#endif
