/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which thread ran instead of one that was preempted: the one that got the same processor in the
 * same change of the kernel from one thread to the next.
 */
#include "analysis/report/report_state.h"
#include "text/sum.h"

#include <errno.h>

/* The kernel stamps the two halves of a change within a few microseconds. */
enum { CHANGE_NS = 20000 };

struct pt_report_cpu {
    struct pt_report_thread *preempted;
    uint64_t gap;
};

static void credit(posixtrace_report_t *r, const struct pt_report_thread *th, int64_t ns)
{
    struct posixtrace_report_summary *s = &r->summary;
    struct posixtrace_report_thread *row = th->preemptor ? &th->preemptor->row : NULL;
    int64_t length = ns - th->preempted_ns;

    if (th->preempted_ns < r->options.from_ns || ns > r->options.to_ns || !th->wanted)
        return;
    if (!row) {
        s->preempted_by_others++;
        pt_sum_add(&s->preempted_by_others_ns, length);
        if (length > s->preempted_by_others_longest_ns)
            s->preempted_by_others_longest_ns = length;
        return;
    }
    pt_sum_add(&row->preempted_ns, length);
    if (row->preempted++ == 0 || length > row->preempted_longest_ns) {
        row->preempted_longest_ns = length;
        row->preempted_longest_at_ns = th->preempted_ns;
        row->preempted_longest_tid = th->row.tid;
    }
}

int pt_report_cpu_switch(posixtrace_report_t *r, struct pt_report_thread *th,
                         enum pt_report_role role, const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = pt_report_u32(e, 0) };
    struct pt_report_cpu *cpu;

    if (role == PT_REPORT_SWITCH_OUT)
        return 0;
    cpu = pt_report_map_make(&r->cpus, key, sizeof *cpu);
    if (!cpu)
        return ENOMEM;
    if (role == PT_REPORT_PREEMPTED) {
        th->preempted_ns = e->ns;
        th->preemptor = NULL;
        cpu->preempted = th;
        cpu->gap = r->gap;
        return 0;
    }
    if (th->place == PT_REPORT_READY)
        credit(r, th, e->ns);
    if (cpu->preempted && cpu->preempted != th && cpu->gap == r->gap &&
        cpu->preempted->place == PT_REPORT_READY &&
        e->ns - cpu->preempted->preempted_ns <= CHANGE_NS)
        cpu->preempted->preemptor = th;
    cpu->preempted = NULL;
    return 0;
}
