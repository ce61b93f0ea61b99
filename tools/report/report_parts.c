/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What several logs have together; see report.h. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

static void add_times(struct posixtrace_report_summary *to,
                      const struct posixtrace_report_summary *from)
{
    if (from->events > 0 && (to->events == 0 || from->first_ns < to->first_ns))
        to->first_ns = from->first_ns;
    if (from->events > 0 && (to->events == 0 || from->last_ns > to->last_ns))
        to->last_ns = from->last_ns;
    if (from->preempted_by_others_longest_ns > to->preempted_by_others_longest_ns)
        to->preempted_by_others_longest_ns = from->preempted_by_others_longest_ns;
    to->preempted_by_others_ns += from->preempted_by_others_ns;
    to->gap_ns += from->gap_ns;
}

static void add_summary(struct posixtrace_report_summary *to,
                        const struct posixtrace_report_summary *from)
{
    add_times(to, from);
    to->events += from->events;
    to->switches += from->switches;
    to->cpu_times += from->cpu_times;
    to->calls += from->calls;
    to->pairs += from->pairs;
    to->gaps += from->gaps;
    to->crossing += from->crossing;
    to->preempted_by_others += from->preempted_by_others;
    to->unmarked |= from->unmarked;
    to->long_calls_only |= from->long_calls_only;
}

void report_parts_sum(struct report_view *v)
{
    memset(&v->summary, 0, sizeof v->summary);
    v->info = v->parts[0].log->info;
    for (size_t i = 0; i < v->part_count; i++) {
        const struct posixtrace_info *info = &v->parts[i].log->info;

        add_summary(&v->summary, v->parts[i].summary);
        v->has_unread |= log_file_has_unread(v->parts[i].log);
        if (i == 0)
            continue;
        v->info.events += info->events;
        v->info.skipped_bytes += info->skipped_bytes;
        for (unsigned k = 0; k < POSIXTRACE_LOSS_CAUSES; k++)
            v->info.lost[k] += info->lost[k];
        if (info->end == POSIXTRACE_END_CUT)
            v->info.end = info->end;
    }
}

/* ---- pairs ---- */

static struct report_sum *sum_of(struct report_view *v, const struct posixtrace_report_pair *pair)
{
    struct report_sum *sum;

    for (size_t i = 0; i < v->sum_count; i++)
        if (strcmp(v->sums[i].row.name, pair->name) == 0)
            return &v->sums[i];
    v->sums = tool_grow(v->sums, v->sum_count + 1, sizeof *v->sums);
    sum = &v->sums[v->sum_count++];
    memset(sum, 0, sizeof *sum);
    sum->row.name = pair->name;
    return sum;
}

static int add_pair(struct report_view *v, const struct report_part *part,
                    const struct posixtrace_report_pair *pair)
{
    struct report_sum *sum = sum_of(v, pair);
    struct posixtrace_report_pair *to = &sum->row;
    int error = 0;

    if (!sum->part || (pair->count > 0 && (to->count == 0 || pair->longest_ns > to->longest_ns))) {
        to->longest_ns = pair->longest_ns;
        to->longest_at_ns = pair->longest_at_ns;
        to->longest_pid = pair->longest_pid;
        to->longest_tid = pair->longest_tid;
        sum->part = part;
    }
    to->count += pair->count;
    to->unknown += pair->unknown;
    to->open += pair->open;
    to->total_ns += pair->total_ns;
    if (!pair->statistics)
        return 0;
    if (!sum->statistics)
        error = posixtrace_statistics_create(&sum->statistics);
    to->statistics = sum->statistics;
    return error ? error : posixtrace_statistics_merge(sum->statistics, pair->statistics);
}

int report_parts_pairs(struct report_view *v)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < v->part_count; i++) {
        const struct posixtrace_report_pair *pair;

        for (size_t k = 0;
             error == 0 && (pair = posixtrace_report_pair(v->parts[i].report, k)) != NULL; k++)
            error = add_pair(v, &v->parts[i], pair);
    }
    return error;
}

void report_parts_free(struct report_view *v)
{
    for (size_t i = 0; i < v->sum_count; i++)
        posixtrace_statistics_free(v->sums[i].statistics);
    free(v->sums);
}
