/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* For tests of programs with little address space. */
#ifndef SUPPORT_LIMIT_SPACE_H
#define SUPPORT_LIMIT_SPACE_H

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "support/need.h"

#define MIB ((rlim_t)1 << 20)

/* The process gets so many bytes of address space more than it has. */
static inline void limit_space(rlim_t more)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    struct rlimit limit;

    NEED(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    limit.rlim_cur = limit.rlim_max = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
    NEED(setrlimit(RLIMIT_AS, &limit) == 0);
}

#endif
