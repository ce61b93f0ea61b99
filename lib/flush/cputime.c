/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See cputime.h. */
#include "base/clock.h"
#include "flush/cputime.h"
#include "flush/switches.h"

#define PAUSE_NS     10000000ull
#define PAUSE_MAX_NS 1000000000ull
#define SHARE        20u

void pt_lookout_init(struct pt_lookout *l, struct pt_switches *switches)
{
    *l = (struct pt_lookout){ .pause = PAUSE_NS };
    if (pt_switches_can_look(switches))
        l->switches = switches;
    l->waits = l->switches != NULL;
}

static void plan(struct pt_lookout *l, unsigned found, uint64_t begin)
{
    uint64_t end = pt_clock_ns(CLOCK_MONOTONIC), least = (end - begin) * SHARE;

    if (found & PT_LOOK_RECORDED)
        l->pause = PAUSE_NS;
    else if (l->pause < PAUSE_MAX_NS)
        l->pause *= 2;
    l->waits = !(found & PT_LOOK_RECORDED);
    l->at = found ? end + (l->pause > least ? l->pause : least) : 0;
}

void pt_lookout_turn(struct pt_lookout *l, bool running)
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

void pt_lookout_waits_now(struct pt_lookout *l)
{
    if (l->switches && l->at == 0 && (pt_switches_look(l->switches) & PT_LOOK_RECORDED))
        pt_lookout_wake(l);
}

void pt_lookout_wake(struct pt_lookout *l)
{
    l->waits = false;
    l->pause = PAUSE_NS;
    if (l->switches)
        l->at = pt_clock_ns(CLOCK_MONOTONIC);
}
