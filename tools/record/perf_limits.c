/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See perf_limits.h.  The kernel (perf_mmap()) charges a ring and the page before it to the
 * user, up to perf_event_mlock_kb times the processors that are on, then to RLIMIT_MEMLOCK of
 * the process; with perf_event_paranoid -1 it charges nothing.
 */
#include "record/perf_limits.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static long read_setting(const char *path, long otherwise)
{
    FILE *f = fopen(path, "re");
    long value;

    if (!f || fscanf(f, "%ld", &value) != 1)
        value = otherwise;
    if (f)
        fclose(f);
    return value;
}

struct perf_limits perf_limits_read(void)
{
    struct perf_limits l = {
        .paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid", LONG_MIN),
        .mlock_kb = read_setting("/proc/sys/kernel/perf_event_mlock_kb", -1),
        .memlock_kb = UINT64_MAX,
    };
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        l.memlock_kb = (uint64_t)limit.rlim_cur / 1024;
    return l;
}

uint64_t perf_limits_wanted_kb(uint64_t bytes)
{
    return (bytes + (uint64_t)sysconf(_SC_PAGESIZE)) / 1024;
}

bool perf_limits_allow(const struct perf_limits *l, uint64_t bytes)
{
    uint64_t processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = perf_limits_wanted_kb(bytes) * processors, free_kb;

    if (l->paranoid == -1 || l->memlock_kb == UINT64_MAX)
        return true;
    free_kb = l->mlock_kb < 0 ? 0 : (uint64_t)l->mlock_kb * processors;
    return wanted <= free_kb + l->memlock_kb;
}
