/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The metrics that the summary or the statistics omit, in as few lines as possible: a
 * sentence for each metric whose numbers are in doubt, and lists of the others.
 */
#include "metrics/metrics_doubts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "measure/metrics_text.h"
#include "metrics/metrics_jobs.h"
#include "metrics/metrics_time.h"
#include "common/tool.h"

/* Names, each with its remark, with commas between. */
struct list {
    char *text;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct list *l, const char *format, ...)
{
    va_list args;
    char item[512];
    size_t length;

    va_start(args, format);
    vsnprintf(item, sizeof item, format, args);
    va_end(args);
    length = strlen(item);
    l->text = tool_grow(l->text, l->used + length + 3, 1);
    l->used += (size_t)sprintf(l->text + l->used, "%s%s", l->used ? ", " : "", item);
}

static void print_list(const struct metrics_view *v, const char *before, struct list *l,
                       const char *after)
{
    if (l->used > 0)
        metrics_remark(v, "%s%s%s", before, l->text, after);
    free(l->text);
}

/* What threads that are not periodic have of it, and the table has not. */
static void add_hidden(struct list *l, const char *name, const struct metrics_sum *sum)
{
    if (sum->hidden_count > 0 && sum->hidden_unknown > 0)
        add(l, "%s %s and %s unknown", name, units_count(sum->hidden_count),
            units_count(sum->hidden_unknown));
    else if (sum->hidden_count > 0)
        add(l, "%s %s", name, units_count(sum->hidden_count));
    else
        add(l, "%s %s unknown", name, units_count(sum->hidden_unknown));
}

struct lists {
    struct list none, aperiodic, unmeasured;
    int64_t at_most_ns; /* of one of none, that a gap may hide */
    bool of_all;        /* unmeasured counts threads that are not shown */
    bool of_log;        /* it counts events that are not selected */
};

/* Begun, and not measured though nothing was lost; counted over all threads. */
static void add_unmeasured(struct lists *lists, const char *name, const struct metrics_sum *sum)
{
    const struct posixtrace_doubt *d = &sum->doubt;
    struct list *l = &lists->unmeasured;

    if (d->unfinished > 0)
        add(l, "%s %s unfinished", name, units_count(d->unfinished));
    if (d->restarted > 0)
        add(l, "%s %s restarted before their end", name, units_count(d->restarted));
    if (d->discarded > 0)
        add(l, "%s %s discarded", name, units_count(d->discarded));
    lists->of_log = sum->of_log;
    lists->of_all |= sum->hidden > 0 && (d->unfinished > 0 || d->restarted > 0 || d->discarded > 0);
}

static void add_none(struct lists *lists, const char *name, const struct metrics_sum *sum)
{
    add(&lists->none, "%s", name);
    if (sum->doubt.at_most_ns > lists->at_most_ns)
        lists->at_most_ns = sum->doubt.at_most_ns;
}

static void print_none(const struct metrics_view *v, struct lists *lists)
{
    char after[128] = "";

    if (lists->at_most_ns > 0)
        snprintf(after, sizeof after, "; where events were lost there may be some of %s",
                 metrics_up_to(lists->at_most_ns));
    snprintf(after + strlen(after), sizeof after - strlen(after), "; --metric=NAME says %s",
             lists->at_most_ns > 0 ? "more" : "why");
    print_list(v, "No measurement: ", &lists->none, after);
}

void metrics_say_unheard(const struct metrics_view *v, bool all)
{
    struct lists lists = { .none = { NULL, 0 } };
    struct metrics_sum sum;

    for (size_t i = 0; i < v->pick->count; i++) {
        metrics_view_sum(v, i, &sum);
        if (!v->heard[i] && (all || sum.doubt.at_most_ns > 0))
            add_none(&lists, unquoted(posixtrace_metric_name(v->pick->metrics[i])), &sum);
    }
    print_none(v, &lists);
}

static bool leaves_by_switch(const posixtrace_metric_t *metric)
{
    const char *name;

    for (size_t i = 0; (name = posixtrace_metric_event(metric, i, NULL)) != NULL; i++)
        if (strcmp(name, "posixtrace_switch_out") == 0 ||
            strcmp(name, "posixtrace_switch_preempted") == 0)
            return true;
    return false;
}

void metrics_say_waits(const struct metrics_view *v)
{
    struct list l = { NULL, 0 };
    struct metrics_sum sum;

    if (metrics_view_saw(v, "posixtrace_switch_out") ||
        metrics_view_saw(v, "posixtrace_switch_preempted") ||
        metrics_view_saw(v, "posixtrace_switch_in"))
        return;
    for (size_t i = 0; i < v->pick->count; i++) {
        metrics_view_sum(v, i, &sum);
        if (sum.count > sum.bounds && leaves_by_switch(v->pick->metrics[i]))
            add(&l, "%s", unquoted(posixtrace_metric_name(v->pick->metrics[i])));
    }
    if (l.used > 0)
        metrics_remark(v, "%s %s no context switches, so time off the processor is in: %s%s",
                       v->shown, v->several ? "have" : "has", l.text,
                       v->parts[0].log->fd < 0 ? "; a stream's switches are only in its log"
                       : metrics_lost(v) > 0
                           ? "; they may be among the events that were lost, else 'posixtrace "
                             "record --system=switches -- CMD' records them"
                           : "; 'posixtrace record --system=switches -- CMD' records them");
    free(l.text);
}

static void take(const struct metrics_view *v, size_t metric, struct lists *lists)
{
    const char *name = unquoted(posixtrace_metric_name(v->pick->metrics[metric]));
    bool unknown;
    struct metrics_sum sum;

    metrics_view_sum(v, metric, &sum);
    unknown = metrics_is_unknown(v, metric, &sum);
    if (v->withheld[metric] > 0)
        metrics_time_report(v, metric);
    if (sum.hidden > 0 && v->heard[metric])
        add_hidden(&lists->aperiodic, name, &sum);
    if (sum.hidden > 0 && v->heard[metric] && sum.shown == 0)
        return;
    if (sum.count == 0 && !unknown && v->withheld[metric] > 0)
        return;
    else if (sum.count == 0 && !unknown &&
             (v->pick->list[metric].named || (v->heard[metric] && sum.doubt.at_most_ns > 0)))
        metrics_say_why(v, metric, &sum);
    else if (sum.count == 0 && !unknown)
        add_none(lists, name, &sum);
    else if (sum.bounds > 0 || unknown || sum.doubt.at_most_ns > sum.max_ns)
        metrics_say_sum(v, metric, &sum);
    else
        add_unmeasured(lists, name, &sum);
}

void metrics_print_brief(const struct metrics_view *v)
{
    struct lists lists = { .none = { NULL, 0 } };

    for (size_t i = 0; i < v->pick->count; i++)
        take(v, i, &lists);
    print_list(v,
               lists.of_log   ? "In the whole log: "
               : lists.of_all ? "Not in the table, of all threads: "
                              : "Not in the table: ",
               &lists.unmeasured, "");
    print_list(v, "Of threads that are not periodic, and not shown: ", &lists.aperiodic,
               "; --metric=NAME shows them");
    print_none(v, &lists);
    metrics_say_waits(v);
}
