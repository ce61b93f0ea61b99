/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Choice and calibration of the clock.  The slope of the time stamp counter is measured against
 * CLOCK_MONOTONIC: between two moments of this process, the first use of the library and now; in
 * the first 100 ms by a line through all readings of 200 us, for which the first stream of a
 * program waits.  The clock table of each stream corrects the remaining error.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "base/clock_fit.h"
#include "base/sys.h"
#include "base/mul128.h"
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#define FIT_NS      200000u
#define BASELINE_NS 100000000u
#define PAIR_TRIES  5
#define LATE_TRIES  1000

pt_u64 pt_clock_offset;

static uint32_t chosen; /* kind + 1, or 0 before the first look */

/* The first pair of readings, NULL before.  Published as a whole: a child that is forked
 * at any moment has all of it or none, and waits for no thread that it does not have. */
struct origin {
    uint64_t ticks, ns;
    uint64_t slope; /* of the first FIT_NS */
};
static const struct origin *origin;

static int kernel_uses_tsc(void)
{
    char text[16] = "";
    ssize_t n = -1;
    int fd, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
              O_RDONLY | PT_OPEN_BRIEFLY);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    pthread_setcancelstate(cancel, NULL);
    return n >= 3 && memcmp(text, "tsc", 3) == 0 && (n == 3 || text[3] == '\n');
}

static int tsc_is_invariant(void)
{
#if defined __x86_64__ || defined __i386__
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
#else
    return 0;
#endif
}

/*
 * The user may prefer a clock that follows suspend and migration.  The counter starts from 0 when a
 * machine wakes from suspend to memory (ACPI S3, "deep" in /sys/power/mem_sleep; not from s2idle).
 * The times of a stream that exists then step back: earlier events are held back until the counter
 * has reached their times again, and later ones have times before the stream's start.  A check for
 * suspend in each event would cost as much as CLOCK_MONOTONIC, and most servers offer S3 and never
 * use it; so the user chooses, see posixtrace(7).
 */
static int user_wants_monotonic(void)
{
    const char *wish = secure_getenv("POSIXTRACE_CLOCK");

    return wish && strcmp(wish, "monotonic") == 0;
}

enum pt_clock_reason pt_clock_why(void)
{
    if (!tsc_is_invariant())
        return PT_CLOCK_NOT_INVARIANT;
    if (!kernel_uses_tsc())
        return PT_CLOCK_KERNEL_AVOIDS;
    return user_wants_monotonic() ? PT_CLOCK_WISHED : PT_CLOCK_TRUSTED;
}

int pt_clock_choose(void)
{
    uint32_t kind = pt_load_relaxed(&chosen);

    if (kind == 0) {
        kind = 1 + (pt_clock_why() == PT_CLOCK_TRUSTED ? PT_CLOCK_TSC : PT_CLOCK_MONOTONIC);
        pt_store_relaxed(&chosen, kind);
    }
    return (int)kind - 1;
}

uint64_t pt_clock_resolution_ns(void)
{
    struct timespec r;

    if (pt_clock_choose() == PT_CLOCK_TSC)
        return 1;
    return clock_getres(CLOCK_MONOTONIC, &r) == 0 && r.tv_sec == 0 && r.tv_nsec > 0
               ? (uint64_t)r.tv_nsec
               : 1;
}

/* Reads ticks on both sides of the other clock; returns how far these are apart. */
static uint64_t read_once(int kind, clockid_t other, uint64_t *ticks, uint64_t *ns)
{
    uint64_t before = pt_clock_now(kind), after;

    *ns = pt_clock_ns(other);
    after = pt_clock_now(kind);
    *ticks = before + (after - before) / 2;
    return after - before;
}

/* Keeps the narrowest try, and returns how wide it was. */
static uint64_t read_pair(int kind, clockid_t other, uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < PAIR_TRIES; i++) {
        uint64_t t, n, width = read_once(kind, other, &t, &n);

        if (width < best) {
            best = width;
            *ticks = t;
            *ns = n;
        }
    }
    return best;
}

void pt_clock_pair(int kind, uint64_t *ticks, int64_t *real_ns)
{
    uint64_t ns = 0;

    read_pair(kind, CLOCK_REALTIME, ticks, &ns);
    *real_ns = (int64_t)ns;
}

/* A bound beyond this, 11 days, is as none. */
#define MOST_US INT64_C(1000000000000)

static int64_t error_ns(int64_t us)
{
    return us >= 0 && us <= MOST_US ? us * 1000 : -1;
}

/* A filter of system calls may kill the process at one that it does not list, and lists for
 * services have none that could set the clock. */
static bool may_kill(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
}

void pt_clock_error(struct pt_clock_error *error)
{
    struct timex t = { .modes = 0 };
    int saved = errno, state = may_kill() ? -1 : adjtimex(&t);

    errno = saved;
    *error = (struct pt_clock_error){ -1, -1, -1 };
    if (state < 0)
        return;
    error->most = error_ns(t.maxerror);
    error->estimated = error_ns(t.esterror);
    /* TIME_ERROR also means: a reference that the kernel expects does not come. */
    error->status = (t.status & INT32_MAX) | (state == TIME_ERROR ? STA_UNSYNC : 0);
}

/* Readings that were interrupted are left out.  The last one shall not be such a one: those before
 * it may be of a small part of the time. */
static void measure(int kind, struct origin *o)
{
    uint64_t best = read_pair(kind, CLOCK_MONOTONIC, &o->ticks, &o->ns), width, t, n;
    uint64_t ticks = o->ticks, ns = o->ns;
    struct pt_clock_fit fit;

    pt_clock_fit_begin(&fit, o->ticks, o->ns);
    for (int late = 0; ns - o->ns < FIT_NS && late < LATE_TRIES; late += n - o->ns >= FIT_NS) {
        width = read_once(kind, CLOCK_MONOTONIC, &t, &n);
        best = width < best ? width : best;
        if (width > 2 * best)
            continue;
        ticks = t;
        ns = n;
        pt_clock_fit_add(&fit, t, n);
    }
    o->slope = pt_clock_fit_slope(&fit);
    if (o->slope == 0)
        o->slope = ns != o->ns ? pt_mul128_div(ns - o->ns, ticks - o->ticks)
                               : pt_mul128_div(n - o->ns, t - o->ticks);
}

/* Two threads may both come here first; one of the pairs counts.  NULL: no memory. */
static const struct origin *get_origin(int kind)
{
    const struct origin *first = pt_load_acquire(&origin);
    struct origin *fresh;

    if (first)
        return first;
    fresh = pt_sys_pages(sizeof *fresh);
    if (!fresh)
        return NULL;
    measure(kind, fresh);
    if (pt_cas_seqcst(&origin, &first, (const struct origin *)fresh))
        return fresh;
    munmap(fresh, sizeof *fresh);
    return first;
}

uint64_t pt_clock_slope(int kind)
{
    const struct origin *first;
    struct origin own;
    uint64_t ticks = 0, ns = 0;

    if (kind != PT_CLOCK_TSC)
        return 1ull << 32;
    first = get_origin(kind);
    if (!first) {
        measure(kind, &own);
        first = &own;
    }
    read_pair(kind, CLOCK_MONOTONIC, &ticks, &ns);
    if (ns - first->ns < BASELINE_NS)
        return first->slope;
    return pt_mul128_div(ns - first->ns, ticks - first->ticks);
}
