/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See cputime.h. */
#include "base/clock.h"
#include "flush/cputime.h"
#include "flush/switches.h"

#define PAUSE_NS     10000000ull
#define PAUSE_MAX_NS 1000000000ull
#define SHARE        20u

void pt_cputime_init(struct pt_cputime *l, struct pt_switches *switches)
{
    *l = (struct pt_cputime){ .pause = PAUSE_NS };
    if (pt_switches_can_look(switches))
        l->switches = switches;
    l->waits = l->switches != NULL;
}

static void plan(struct pt_cputime *l, unsigned found, uint64_t begin)
{
    uint64_t end = pt_clock_ns(CLOCK_MONOTONIC), least = (end - begin) * SHARE;

    if (found & PT_LOOK_RECORDED)
        l->pause = PAUSE_NS;
    else if (l->pause < PAUSE_MAX_NS)
        l->pause *= 2;
    l->waits = !(found & PT_LOOK_RECORDED);
    l->at = found ? end + (l->pause > least ? l->pause : least) : 0;
}

void pt_cputime_turn(struct pt_cputime *l, bool running)
{
    uint64_t now;

    if (!l->switches || l->at == 0)
        return;
    now = pt_clock_ns(CLOCK_MONOTONIC);
    if (now < l->at)
        return;
    plan(l, pt_switches_look(l->switches), now);
    if (!running) {
        l->at = 0;
        l->waits = true;
    }
}

void pt_cputime_waits_now(struct pt_cputime *l)
{
    if (l->switches && l->at == 0 && (pt_switches_look(l->switches) & PT_LOOK_RECORDED))
        pt_cputime_wake(l);
}

void pt_cputime_wake(struct pt_cputime *l)
{
    l->waits = false;
    l->pause = PAUSE_NS;
    if (l->switches)
        l->at = pt_clock_ns(CLOCK_MONOTONIC);
}
