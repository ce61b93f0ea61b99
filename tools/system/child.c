/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Work in a child; see child.h.
 */
#include "system/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int child_run(int (*body)(void *context), void *context)
{
    pid_t pid = fork();
    int status = 0;

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        const struct rlimit none = { 0, 0 };

        /* a crash in here is an answer and needs no core file */
        setrlimit(RLIMIT_CORE, &none);
        /* not _exit(): on exit() the library takes its files away */
        exit(body(context));
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return WIFSIGNALED(status) ? CHILD_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *child_text(int result)
{
    static char buffers[4][96];
    static unsigned next;
    char *buffer = buffers[next++ % 4];

    if (result < 0)
        snprintf(buffer, sizeof buffers[0], "fork: %s", strerror(-result));
    else if (result > CHILD_SIGNAL && sigabbrev_np(result - CHILD_SIGNAL))
        snprintf(buffer, sizeof buffers[0], "ended by SIG%s (%s)",
                 sigabbrev_np(result - CHILD_SIGNAL), sigdescr_np(result - CHILD_SIGNAL));
    else if (result > CHILD_SIGNAL) /* a real-time signal */
        snprintf(buffer, sizeof buffers[0], "ended by signal %d", result - CHILD_SIGNAL);
    else
        snprintf(buffer, sizeof buffers[0], "%s", strerror(result));
    return buffer;
}

void *child_share(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}
