/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * usage: refused PROGRAM [ARGUMENT]...
 * Runs the program where perf_event_open() is refused with EACCES, as the kernel does
 * with perf_event_paranoid 3.  Status 77: there are no filters of system calls here.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "support/refuse_call.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return 64;
    if (!refuse_call(SYS_perf_event_open, EACCES))
        return 77;
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
