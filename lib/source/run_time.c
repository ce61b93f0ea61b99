/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See run_time.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "base/mul128.h"
#include "source/run_time.h"

#define SECOND_NS 1000000000u
#define TICK_NS   10000000u /* the longest that kernels are built with */

/* Parses one or more digits at *at. */
static bool parse_number(const char **at, uint64_t *number)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* Where the kernel keeps no such numbers, and has the file all the same, it is 0. */
bool pt_run_time_parse_schedstat(const char *text, uint64_t *ns)
{
    return parse_number(&text, ns) && *text == ' ' && *ns > 0;
}

/* "se.sum_exec_runtime   :   12.345678": milliseconds with six decimals. */
bool pt_run_time_parse_sched(const char *text, uint64_t *ns)
{
    const char *at = strstr(text, "se.sum_exec_runtime"), *decimals;
    uint64_t ms, rest;

    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return false;
    at += 1 + strspn(at + 1, " ");
    if (!parse_number(&at, &ms) || *at++ != '.')
        return false;
    decimals = at;
    if (!parse_number(&at, &rest) || at - decimals != 6 || ms > UINT64_MAX / 2000000u)
        return false;
    *ns = ms * 1000000u + rest;
    return true;
}

/* Twice a tick, should one come late. */
uint64_t pt_run_time_lag(void)
{
    struct timespec tick = { 0, TICK_NS };
    char text[256];
    uint64_t lag;

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    lag = 2 * ((uint64_t)tick.tv_sec * SECOND_NS + (uint64_t)tick.tv_nsec);
    if (pt_sys_read_text("/sys/devices/system/cpu/nohz_full", text, sizeof text) &&
        strpbrk(text, "0123456789"))
        lag += SECOND_NS;
    return lag;
}

static int get_own(int32_t tid, uint64_t *ns)
{
    return pt_sys_run_time(tid, ns) ? 0 : -ESRCH;
}

static int get_other(int32_t pid, int32_t tid, uint64_t *ns)
{
    char path[64], text[1024];
    bool there;

    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    there = pt_sys_read_text(path, text, sizeof text);
    if (there && pt_run_time_parse_schedstat(text, ns))
        return 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/sched", (int)pid, (int)tid);
    there |= pt_sys_read_text(path, text, sizeof text);
    if (there && pt_run_time_parse_sched(text, ns))
        return 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0 ? -ENOTSUP : -ESRCH;
}

int pt_run_time_get(int clock, int32_t pid, int32_t tid, struct pt_run_time *t)
{
    static uint64_t lag;
    bool own = pid == getpid();
    uint64_t before, lags = 0;
    int e;

    if (!own && (lags = pt_load_relaxed(&lag)) == 0) {
        lags = pt_run_time_lag();
        pt_store_relaxed(&lag, lags);
    }
    before = pt_clock_ns(CLOCK_MONOTONIC);
    e = own ? get_own(tid, &t->run_ns) : get_other(pid, tid, &t->run_ns);
    t->ts = pt_clock_now(clock);
    t->more_ns = pt_clock_ns(CLOCK_MONOTONIC) - before + lags;
    return e;
}

/* In between it ran for all of the time, or not at all. */
void pt_run_time_date_back(int clock, struct pt_run_time *t, uint64_t ts)
{
    uint64_t by = t->ts > ts ? t->ts - ts : 0, by_ns = pt_mul128_mul(by, pt_clock_slope(clock));
    uint64_t less = by_ns < t->run_ns ? by_ns : t->run_ns;

    t->run_ns -= less;
    t->more_ns += less;
    t->ts -= by;
}
