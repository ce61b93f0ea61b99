/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Unknown measurements, in which events were lost, those that have no end, and why a
 * metric has none at all.
 *
 * In a table they are part of the result.  The other formats have no place for them:
 * there they go to stderr, where they matter to a user who asked for the metric.
 */
#include "metrics/metrics_doubts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "measure/metrics_measure.h"
#include "measure/metrics_names.h"
#include "measure/metrics_text.h"
#include "metrics/metrics_time.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { LINE = 1024, SHOWN_EVENTS = 3 };

struct line {
    char text[LINE];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void append(struct line *l, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= sizeof l->text)
        l->used = sizeof l->text - 1;
}

static void say(const struct metrics_view *v, const struct line *l)
{
    metrics_remark(v, "%s", l->text);
}

/* ---- measurements that are not known ---- */

/* Only bounds of the time off the processor are known, or of a time between two hosts. */
static void append_bounds(struct line *l, const struct metrics_view *v,
                          const struct metrics_sum *sum)
{
    double count = (double)sum->count;

    append(l, ", %s bound%s, because %s: the mean is %s us,",
           sum->bounds == sum->count ? "each a" : units_count(sum->bounds),
           sum->bounds == sum->count || sum->bounds == 1 ? "" : "s",
           v->keys ? "the clocks of hosts have errors" : "context switches were refused",
           metrics_us_range(metrics_rounded(sum->least_sum_ns / count),
                            metrics_rounded(sum->sum_ns / count)));
    append(l, " the longest %s us", metrics_us_range(sum->least_max_ns, sum->max_ns));
}

/* Begun, and not measured though nothing was lost: that is counted over all threads. */
static void append_rest(struct line *l, const struct metrics_view *v, const struct metrics_sum *sum)
{
    const struct posixtrace_doubt *d = &sum->doubt;

    if (d->unfinished > 0)
        append(l, ", %s unfinished", units_count(d->unfinished));
    if (d->restarted > 0)
        append(l, ", %s restarted before their end", units_count(d->restarted));
    if (d->discarded > 0)
        append(l, ", %s discarded", units_count(d->discarded));
    if ((sum->hidden > 0 || sum->of_log) &&
        (d->unfinished > 0 || d->restarted > 0 || d->discarded > 0))
        append(l, sum->of_log ? v->several ? " (in all of the logs)" : " (in the whole log)"
                              : " (in all threads)");
}

static const char *why_part_has_no_end(const struct metrics_part *part)
{
    struct posixtrace_info info;

    if (posixtrace_get_info(part->log->trid, &info, sizeof info) != 0)
        return NULL;
    if (info.end == POSIXTRACE_END_CUT)
        return part->view->several ? "one of the logs is cut" : "the log is cut";
    if (info.lost[POSIXTRACE_LOST_LOG_FULL])
        return part->view->several ? "one of the logs was full" : "the log was full";
    if (info.lost[POSIXTRACE_LOST_FULL])
        return part->view->several ? "one of the streams was full" : "the stream was full";
    return NULL;
}

/* Why nothing limits what may have been at the end of the log; NULL: it is for another reason. */
static const char *why_no_end(const struct metrics_view *v)
{
    const char *why = NULL;

    for (size_t i = 0; !why && i < v->part_count; i++)
        why = why_part_has_no_end(&v->parts[i]);
    return why;
}

/* Of places that are unknown. */
static const char *why_unknown(const struct metrics_view *v, size_t metric, uint64_t unknown)
{
    uint64_t clocks = v->keys ? v->pair_bounds.unknown[metric] : 0;

    if (!v->keys)
        return "where events were lost";
    if (clocks == 0) /* a log may also begin between the two events */
        return "where events were lost or not recorded";
    return clocks < unknown ? "where events were lost or not recorded, or two hosts have clocks of "
                              "unknown error"
                            : "where two hosts have clocks of unknown error";
}

void metrics_say_sum(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum)
{
    const struct posixtrace_doubt *d = &sum->doubt;
    bool is_clock = v->keys && v->pair_bounds.unknown[metric] > 0;
    const char *why = d->at_most_ns >= POSIXTRACE_NO_BOUND && !is_clock ? why_no_end(v) : NULL;
    struct line l = { "", 0 };

    append(&l, "%s: %s measured", unquoted(posixtrace_metric_name(v->pick->metrics[metric])),
           units_count(sum->count));
    if (sum->bounds > 0)
        append_bounds(&l, v, sum);
    if (d->unknown > 0)
        append(&l, ", unknown in %s place%s %s: the largest is %s us%s", units_count(d->unknown),
               d->unknown == 1 ? "" : "s", why_unknown(v, metric, d->unknown),
               metrics_us_range(sum->max_ns, sum->at_most_ns),
               sum->at_most_ns > sum->max_ns ? "" : " all the same");
    if (d->at_most_ns > sum->max_ns && d->at_most_ns > sum->at_most_ns)
        append(&l, ", and %sa thread that %shas lost all of its events may have one of %s",
               sum->of_log ? "in the whole log " : "",
               sum->hidden_at_most_ns < d->at_most_ns ? "" : "is not periodic or ",
               metrics_up_to(d->at_most_ns));
    if (why)
        append(&l, ", because %s", why);
    append_rest(&l, v, sum);
    if (v->form.format == OUTPUT_TEXT || sum->bounds > 0 || d->unknown > 0 ||
        d->at_most_ns > sum->max_ns)
        say(v, &l);
}

/* ---- metrics without a measurement ---- */

static bool is_switch(const char *event)
{
    return strncmp(event, "posixtrace_switch_", 18) == 0;
}

static bool is_call(const char *event)
{
    return strncmp(event, "posixtrace_", 11) == 0 && !is_switch(event);
}

/* Events that did not occur: those that are needed; or all, where none did. */
struct missing {
    const char *events[SHOWN_EVENTS];
    size_t count;
    bool switches, calls, other;
};

static void find_missing(const struct metrics_view *v, const posixtrace_metric_t *metric,
                         struct missing *missing)
{
    bool needed = false, all = !metrics_view_hears_any(v, metric), has_needed = false;
    const char *event;

    memset(missing, 0, sizeof *missing);
    for (size_t i = 0; all && posixtrace_metric_event(metric, i, &needed); i++)
        has_needed |= needed;
    all &= !has_needed;
    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, &needed)) != NULL; i++) {
        if ((!needed && !all) || metrics_view_saw(v, event))
            continue;
        if (missing->count < SHOWN_EVENTS)
            missing->events[missing->count] = event;
        missing->count++;
        missing->switches |= is_switch(event);
        missing->calls |= is_call(event);
        missing->other |= !is_switch(event) && !is_call(event);
    }
}

/* An event of a call.  Where the log has one, 'record --system=calls' recorded them all. */
static bool is_wrapped(const char *event)
{
    static const char *const kinds[] = {
        "mutex_", "rwlock_", "cond_", "sem_", "barrier_", "sleep"
    };

    for (size_t i = 0; is_call(event) && i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(event + 11, kinds[i], strlen(kinds[i])) == 0)
            return true;
    }
    return false;
}

static bool saw_any(const struct metrics_view *v, bool (*is_kind)(const char *event))
{
    for (const char *const *name = metrics_system_names(); *name; name++) {
        if (is_kind(*name) && metrics_view_saw(v, *name))
            return true;
    }
    return false;
}

bool metrics_saw_calls(const struct metrics_view *v)
{
    return saw_any(v, is_wrapped);
}

uint64_t metrics_lost(const struct metrics_view *v)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < v->part_count; i++) {
        struct posixtrace_info info;

        if (posixtrace_get_info(v->parts[i].log->trid, &info, sizeof info) == 0)
            lost += log_file_lost(info.lost);
    }
    return lost;
}

/* A type without an event did not occur, unless its events were lost. */
static void append_absent(struct line *l, const struct metrics_view *v, bool several,
                          const char *absent)
{
    uint64_t lost = metrics_lost(v);

    append(l, "%s%s a filter left %s out", absent, lost > 0 ? "," : ", or",
           several ? "them" : "it");
    if (lost > 0)
        append(l, ", or %s among the %s events that were lost", several ? "they are" : "it is",
               units_count(lost));
}

static void append_advice(struct line *l, const struct metrics_view *v,
                          const struct missing *missing)
{
    uint64_t lost = metrics_lost(v);
    bool calls = missing->calls && !metrics_saw_calls(v);
    bool switches = missing->switches && !saw_any(v, is_switch);

    if ((calls || switches) && lost > 0)
        append(l, "; %s may be among the %s events that were lost, else",
               missing->count > 1 ? "they" : "it", units_count(lost));
    if (calls || switches)
        append(l, "%s 'posixtrace record --system=%s%s%s -- CMD' records any that occur",
               lost > 0 ? "" : ";", calls ? "calls" : "", calls && switches ? "," : "",
               switches ? "switches" : "");
    else
        append_absent(l, v, missing->count > 1,
                      missing->count > 1 ? "; the log has other system events: these did not occur"
                                         : "; the log has other system events: this did not occur");
}

static void append_missing(struct line *l, const struct metrics_view *v,
                           const struct missing *missing)
{
    append(l, "no event ");
    for (size_t i = 0; i < missing->count && i < SHOWN_EVENTS; i++)
        append(l, "%s%s", i ? ", " : "", unquoted(missing->events[i]));
    if (missing->count > SHOWN_EVENTS)
        append(l, " and %zu more", missing->count - SHOWN_EVENTS);
    append(l, " in %s", v->shown);
    if (missing->switches && metrics_view_saw(v, "posixtrace_cpu_time"))
        append(l, "; context switches were refused when it was recorded, and 'posixtrace doctor' "
                  "says there what allows them");
    else if (missing->switches || missing->calls)
        append_advice(l, v, missing);
    else if (missing->other)
        append_absent(l, v, missing->count > 1,
                      missing->count > 1 ? "; the program did not trace them"
                                         : "; the program did not trace it");
}

/* Has the log events that the run was not given? */
static bool left_some_out(const struct metrics_view *v)
{
    if (v->keys)
        return false;
    for (size_t i = 0; i < v->part_count; i++) {
        struct posixtrace_info info;

        if (posixtrace_get_info(v->parts[i].log->trid, &info, sizeof info) == 0 &&
            info.end != POSIXTRACE_END_ACTIVE &&
            info.events > posixtrace_metric_run_events(v->parts[i].run))
            return true;
    }
    return false;
}

/* Because it was full: it has all rounds, and all of its events but the last ones are given. */
static bool was_full(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->part_count; i++) {
        struct posixtrace_info info;

        if (posixtrace_get_info(v->parts[i].log->trid, &info, sizeof info) == 0 &&
            info.lost[POSIXTRACE_LOST_LOG_FULL] && info.skipped_bytes == 0 &&
            info.end != POSIXTRACE_END_CUT)
            return true;
    }
    return false;
}

/* Has the log one of the missing events, though the run has not met it? */
static bool is_in_log(const struct metrics_view *v, const struct missing *missing)
{
    struct log_type *types = NULL;
    size_t count = 0;
    bool found = false;

    if (metrics_view_types(v, &types, &count) != EXIT_DONE)
        return false;
    for (size_t i = 0; i < missing->count && i < SHOWN_EVENTS; i++)
        for (size_t k = 0; k < count; k++)
            found |= types[k].count > 0 && strcmp(types[k].name, missing->events[i]) == 0;
    free(types);
    return found;
}

/* True: it was said why the events that the run was given do not suffice. */
static bool append_left_out(struct line *l, const struct metrics_view *v,
                            const struct missing *missing)
{
    if (missing->count == 0 || !left_some_out(v))
        return false;
    if (!was_full(v))
        append(l, "flush rounds of %s are not whole, and no other has what it needs", v->shown);
    else if (is_in_log(v, missing))
        append(l,
               "%s was full, and only its last events, among which some are missing, have "
               "what it needs",
               v->shown);
    else
        return false;
    return true;
}

void metrics_say_why(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum)
{
    const posixtrace_metric_t *m = v->pick->metrics[metric];
    const struct posixtrace_doubt *d = &sum->doubt;
    struct line l = { "", 0 };
    struct missing missing;

    append(&l, "%s: none; ", unquoted(posixtrace_metric_name(m)));
    find_missing(v, m, &missing);
    if (append_left_out(&l, v, &missing)) {
        /* said */
    } else if (metrics_view_events(v) == 0) {
        append(&l, "%s %s no events", v->shown, v->several ? "have" : "has");
    } else if (missing.count > 0) {
        append_missing(&l, v, &missing);
    } else if (sum->of_log && left_some_out(v) && !was_full(v)) {
        append(&l,
               "flush rounds of %s are not whole, and the selection has no measurement in "
               "the others",
               v->shown);
    } else if (sum->of_log) {
        append(&l, "the log has its events, and the selection none that it measures");
    } else if (d->unfinished > 0 || d->discarded > 0) {
        append(&l, "%s without an end, %s discarded", units_count(d->unfinished),
               units_count(d->discarded));
    } else {
        append(&l, "its events are there, and nothing among them that it measures");
    }
    if (d->at_most_ns > 0)
        append(&l, "; where events were lost there may be one of %s", metrics_up_to(d->at_most_ns));
    if (v->form.format == OUTPUT_TEXT || v->pick->list[metric].named ||
        (v->heard[metric] && d->at_most_ns > 0))
        say(v, &l);
}

bool metrics_is_unknown(const struct metrics_view *v, size_t metric, const struct metrics_sum *sum)
{
    return sum->doubt.unknown > 0 && metrics_view_hears_needed(v, v->pick->metrics[metric]);
}

void metrics_print_doubts(const struct metrics_view *v)
{
    struct metrics_sum sum;
    bool any = v->form.format != OUTPUT_TEXT;

    for (size_t i = 0; i < v->pick->count; i++) {
        metrics_view_sum(v, i, &sum);
        if (!any)
            out_text("\n");
        any = true;
        if (v->withheld[i] > 0)
            metrics_time_report(v, i);
        if (sum.count > 0 || metrics_is_unknown(v, i, &sum))
            metrics_say_sum(v, i, &sum);
    }
    for (size_t i = 0; i < v->pick->count; i++) {
        metrics_view_sum(v, i, &sum);
        if (v->form.format == OUTPUT_TEXT && !v->heard[i])
            continue;
        if (v->withheld[i] == 0 && sum.count == 0 && !metrics_is_unknown(v, i, &sum))
            metrics_say_why(v, i, &sum);
    }
    if (v->form.format == OUTPUT_TEXT)
        metrics_say_unheard(v, true);
    metrics_say_waits(v);
}
