/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See books.h. */
#include <string.h>
#include "torture/audit.h"
#include "torture/books.h"

static uint32_t lane_of(pid_t tid, const pid_t *tids, uint32_t lanes)
{
    uint32_t i = 0;

    while (i < lanes && (tid == 0 || tids[i] != tid))
        i++;
    return i;
}

void books_take(struct books *b, trace_id_t trid, const pid_t *tid, uint32_t lanes)
{
    struct posixtrace_thread_info t;
    uint64_t lost;
    uint32_t lane;
    int none;

    memset(b, 0, sizeof *b);
    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        DEMAND_OK(posixtrace_threadlist_getnext(trid, &t, sizeof t, &none));
        if (none)
            break;
        lost = 0;
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            lost += t.lost[c];
        b->sum += lost;
        lane = lane_of(t.tid, tid, lanes);
        if (lane == lanes) {
            b->others += t.recorded;
            b->others_lost += lost;
            continue;
        }
        b->recorded[lane] += t.recorded;
        b->lost[lane] += lost;
        b->refused[lane] += t.lost[POSIXTRACE_LOST_FULL] + t.lost[POSIXTRACE_LOST_NO_MEMORY] +
                            t.lost[POSIXTRACE_LOST_NESTED];
    }
    b->all = audit_lost(trid);
}
