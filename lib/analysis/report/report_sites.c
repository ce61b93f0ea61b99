/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waits by the place in the program that made the call: one row for each caller, kind and call.
 */
#include "analysis/report/report_state.h"
#include "text/sum.h"

#include <errno.h>

struct site {
    struct posixtrace_report_site row;
    posixtrace_statistics_t *statistics;
};

int pt_report_site_waits(posixtrace_report_t *r, const struct pt_report_thread *th,
                         const struct pt_report_open *open, int64_t ns)
{
    unsigned kind = open->call->kind;
    struct pt_report_key key = { .a = (uint32_t)th->row.pid,
                                 .b = (uint64_t)kind << 32 | open->number,
                                 .c = open->caller };
    struct site *s = open->caller ? pt_report_map_make(&r->sites, key, sizeof *s) : NULL;
    int64_t length = ns - open->ns;

    if (!open->caller)
        return 0; /* of a log of a version that had none */
    if (!s || (!s->statistics && posixtrace_statistics_create(&s->statistics) != 0))
        return ENOMEM;
    pt_sum_add(&s->row.total_ns, length);
    if (s->row.waits++ == 0 || length > s->row.longest_ns) {
        s->row.longest_ns = length;
        s->row.longest_at_ns = open->ns;
        s->row.longest_tid = th->row.tid;
    }
    s->row.kind = kind;
    s->row.is_descriptor = open->call->subject == PT_REPORT_DESCRIPTOR;
    s->row.call = open->number;
    s->row.pid = th->row.pid;
    s->row.caller = open->caller;
    s->row.statistics = s->statistics;
    return posixtrace_statistics_add(s->statistics, length);
}

const struct posixtrace_report_site *posixtrace_report_site(const posixtrace_report_t *r, size_t i)
{
    const struct site *s = r && i < r->sites.count ? r->sites.items[i] : NULL;

    return s ? &s->row : NULL;
}

void pt_report_sites_free(posixtrace_report_t *r)
{
    for (size_t i = 0; i < r->sites.count; i++) {
        struct site *s = r->sites.items[i];

        posixtrace_statistics_free(s->statistics);
    }
    pt_report_map_deinit(&r->sites);
}
