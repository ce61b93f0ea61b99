/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits for locks by the thread that waited and the one that held the lock: a row for each lock
 * and two threads, as many as ROWS_MOST; further ones of a lock are one row without threads.
 */
#include "analysis/report/report_state.h"
#include "text/sum.h"

#include <errno.h>

enum { ROWS_MOST = 1 << 16 };

struct contention {
    struct posixtrace_report_contention row;
};

int pt_report_contends(posixtrace_report_t *r, const struct pt_report_thread *th,
                       const struct pt_report_open *open, const struct pt_report_thread *holder,
                       int64_t ns)
{
    struct pt_report_key key = { .a = (uintptr_t)open->object,
                                 .b = (uintptr_t)th,
                                 .c = (uintptr_t)holder };
    bool others = r->contention.count >= ROWS_MOST && !pt_report_map_find(&r->contention, key);
    int64_t length = ns - open->ns;
    struct contention *c;

    if (others)
        key.b = key.c = 0;
    c = pt_report_map_make(&r->contention, key, sizeof *c);
    if (!c)
        return ENOMEM;
    pt_sum_add(&c->row.total_ns, length);
    if (c->row.waits++ == 0 || length > c->row.longest_ns) {
        c->row.longest_ns = length;
        c->row.longest_at_ns = open->ns;
    }
    c->row.pid = open->object->row.pid;
    c->row.object = open->object->row.object;
    c->row.tid = others ? 0 : th->row.tid;
    c->row.holder_tid = others || !holder ? 0 : holder->row.tid;
    return 0;
}

const struct posixtrace_report_contention *posixtrace_report_contend(const posixtrace_report_t *r,
                                                                     size_t i)
{
    const struct contention *c = r && i < r->contention.count ? r->contention.items[i] : NULL;

    return c ? &c->row : NULL;
}
