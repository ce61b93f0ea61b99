/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Has a thread of this process come to rest? */
#ifndef SUPPORT_ASLEEP_H
#define SUPPORT_ASLEEP_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The state letter of a thread of this process, 0 if it is gone. */
static inline char thread_state(pid_t tid)
{
    char path[64], text[512];
    const char *after;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    after = strrchr(text, ')');
    return after && after[1] == ' ' ? after[2] : 0;
}

/* A thread may sleep shortly on its way (a lock, a page); several looks in a
 * row at a sleeping thread tell that it has come to rest.  For ever where it does not. */
static inline void wait_asleep(pid_t tid)
{
    static const struct timespec step = { 0, 2000000 };

    for (int seen = 0; seen < 10; nanosleep(&step, NULL))
        seen = thread_state(tid) == 'S' ? seen + 1 : 0;
}

#endif
