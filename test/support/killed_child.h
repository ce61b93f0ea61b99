/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
#ifndef TEST_SUPPORT_KILLED_CHILD_H
#define TEST_SUPPORT_KILLED_CHILD_H

#include <check.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

/* Waits for a child that SIGKILL ends. */
static inline void await_kill(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

#endif
