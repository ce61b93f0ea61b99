/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock table (shm/syncpoint.h) proved instruction by instruction: a child adds points,
 * and at each instruction of the call
 *
 *   kill  it is killed
 *   hold  it stands still while the parent reads a time that is later than any point that
 *         it can have prepared, and adds points; then it completes its call
 *
 * Each time the parent can add points or finds the child's, and what it has read stays what
 * it was.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "model/sync.h"
#include "proof/stepper.h"
#include "shm/syncpoint.h"
#include "torture/demand.h"

enum { KILL, HOLD, BLOWS };

#define ERROR_NS 1000000000ll /* which the points are to correct: a step */
#define LATER_NS 50000000u
#define CALM     16u /* instructions at once while the table is only read */

static struct pt_seg_header *h;

static uint64_t ticks(uint64_t ns)
{
    return pt_mul128_div(ns, pt_clock_slope(h->clock));
}

/* A table of one point, two seconds old and wrong. */
static void prepare(void)
{
    memset(h, 0, sizeof *h);
    h->clock = pt_clock_choose();
    pt_syncpoint_first(h, h->clock);
    h->sync_first.ts -= ticks(2000000000u);
    h->sync_first.ns -= 2000000000 + ERROR_NS;
}

static __attribute__((noinline)) void window(void)
{
    __asm__ volatile(".globl step_begin\nstep_begin:" ::: "memory");
    pt_syncpoint_maintain(h, h->clock);
    __asm__ volatile(".globl step_end\nstep_end:" ::: "memory");
}

static pid_t start(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        stepper_attach();
        stepper_stop();
        window();
        _exit(0);
    }
    DEMAND(pid > 0, "fork");
    return pid;
}

static bool is_owned(void)
{
    return (h->sync_used[0] | h->sync_used[1]) != 0;
}

static void expect_table(void)
{
    struct pt_sync p[3];
    int64_t step;

    DEMAND(pt_syncpoint_count(h) == 3, "%u points", pt_syncpoint_count(h));
    for (uint32_t i = 0; i < 3; i++)
        pt_syncpoint_get(h, i, &p[i]);
    DEMAND(p[1].ts > p[0].ts && p[2].ts > p[1].ts && p[1].mult && p[2].mult, "not in order");
    DEMAND(p[2].ns == pt_sync_apply(&p[1], p[2].ts), "the points are not of one thread");
    step = p[1].ns - pt_sync_apply(&p[0], p[1].ts);
    DEMAND(step > ERROR_NS / 2 && step < ERROR_NS * 2, "a step of %lld ns", (long long)step);
}

/* Strikes at instruction k.  False: the window has fewer. */
static bool strike(int blow, unsigned k, bool *owned)
{
    struct stepper s = { .pid = 0 };
    uint64_t now, later;
    int64_t read[2];
    bool inside;

    prepare();
    s.pid = start();
    DEMAND(stepper_wait(&s) == STEPPER_INSIDE, "status %d", s.status);
    inside = stepper_run(&s, k) == STEPPER_INSIDE;
    *owned = is_owned();
    now = pt_clock_now(h->clock);
    later = now + ticks(LATER_NS);
    if (blow == KILL)
        kill(s.pid, SIGKILL);
    read[0] = pt_syncpoint_convert(h, now);
    read[1] = pt_syncpoint_convert(h, later);
    pt_syncpoint_maintain(h, h->clock);
    expect_table();
    if (blow == HOLD)
        stepper_continue(&s, 0);
    stepper_finish(&s);
    expect_table();
    DEMAND(pt_syncpoint_convert(h, now) == read[0] && pt_syncpoint_convert(h, later) == read[1],
           "instruction %u: a time that was read has changed", k);
    if (blow == HOLD)
        DEMAND(__builtin_popcountll(h->sync_used[0]) == 1, "instruction %u", k);
    return inside;
}

int main(void)
{
    const char *refused = stepper_refused();
    bool owned;

    if (refused) {
        printf("skipped: %s\n", refused);
        return SKIPPED;
    }
    h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    DEMAND(h != MAP_FAILED, "mmap");
    for (int blow = 0; blow < BLOWS; blow++) {
        unsigned k = 0, places = 0;

        /* From the first store to the segment on, each instruction. */
        while (strike(blow, k, &owned)) {
            k += owned ? 1 : CALM;
            places++;
        }
        printf("%s: %u places in %u instructions\n", blow == KILL ? "kill" : "hold", places, k);
        DEMAND(places > 50, "too few");
    }
    return 0;
}
