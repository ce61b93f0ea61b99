/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the logs of a view say together; see metrics_view.h.
 */
#include "metrics/metrics_doubts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_out.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/utf8.h"
#include "input/logs.h"
#include "measure/metrics_measure.h"
#include "measure/metrics_names.h"
#include "measure/metrics_text.h"

/* With --pair no run has looked at the events. */
static bool logs_have(const struct metrics_view *v, const char *event)
{
    struct log_type *types = NULL;
    size_t count = 0;
    bool saw = false;

    if (metrics_view_types(v, &types, &count) != EXIT_DONE)
        return false;
    for (size_t i = 0; !saw && i < count; i++)
        saw = types[i].count > 0 && strcmp(types[i].name, event) == 0;
    free(types);
    return saw;
}

bool metrics_view_saw(const struct metrics_view *v, const char *event)
{
    if (v->keys)
        return logs_have(v, event);
    for (size_t i = 0; i < v->part_count; i++)
        if (posixtrace_metric_run_saw(v->parts[i].run, event))
            return true;
    return false;
}

bool metrics_view_hears_any(const struct metrics_view *v, const posixtrace_metric_t *metric)
{
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, NULL)) != NULL; i++)
        if (metrics_view_saw(v, event))
            return true;
    return false;
}

bool metrics_view_hears_needed(const struct metrics_view *v, const posixtrace_metric_t *metric)
{
    bool needed = false;
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, &needed)) != NULL; i++)
        if (needed && !metrics_view_saw(v, event))
            return false;
    return metrics_view_hears_any(v, metric);
}

bool metrics_view_hears_in(const struct metrics_view *v, size_t metric, uint32_t log)
{
    const struct metrics_picked *picked = &v->pick->list[metric];

    if (!v->several || picked->named)
        return true;
    if (v->parts[log].hears)
        return v->parts[log].hears[metric];
    return picked->own ? v->parts[log].knows[metric]
                       : metrics_hears_any(v->parts[log].run, picked->metric);
}

static void doubt_keys(const struct metrics_view *v, size_t metric, struct posixtrace_doubt *doubt)
{
    struct posixtrace_pair_doubt d;

    posixtrace_pair_run_doubt(v->keys, metric, &d, sizeof d);
    if (d.at_most_ns > 0 && v->pair_widest[metric] > 0)
        d.at_most_ns = v->pair_widest[metric] < POSIXTRACE_NO_BOUND - d.at_most_ns
                           ? d.at_most_ns + v->pair_widest[metric]
                           : POSIXTRACE_NO_BOUND;
    if (v->pair_bounds.unknown)
        d.unknown += v->pair_bounds.unknown[metric];
    *doubt = (struct posixtrace_doubt){ .unknown = d.unknown,
                                        .unfinished = d.unfinished,
                                        .restarted = d.restarted,
                                        .at_most_ns = d.at_most_ns };
}

void metrics_view_doubt(const struct metrics_view *v, size_t metric, struct posixtrace_doubt *doubt)
{
    struct posixtrace_doubt one;

    memset(doubt, 0, sizeof *doubt);
    if (v->keys) {
        doubt_keys(v, metric, doubt);
        return;
    }
    for (size_t i = 0; i < v->part_count; i++) {
        if (!metrics_view_hears_in(v, metric, (uint32_t)i))
            continue;
        posixtrace_metric_run_doubt(v->parts[i].run, metric, &one, sizeof one);
        doubt->unknown += one.unknown;
        doubt->unfinished += one.unfinished;
        doubt->restarted += one.restarted;
        doubt->discarded += one.discarded;
        if (one.at_most_ns > doubt->at_most_ns)
            doubt->at_most_ns = one.at_most_ns;
    }
}

uint64_t metrics_view_events(const struct metrics_view *v)
{
    uint64_t events = v->keys ? posixtrace_pair_run_events(v->keys) : 0;

    for (size_t i = 0; i < v->part_count; i++)
        events += posixtrace_metric_run_events(v->parts[i].run);
    return events;
}

/* ---- names ---- */

static size_t put_label(char *to, const char *label)
{
    char *shown = metrics_shown(OUTPUT_TEXT, label);
    size_t columns, length;

    length = (size_t)(utf8_cut_here(shown, shown + strlen(shown), LOGS_LABEL, &columns) - shown);
    memcpy(to, shown, length);
    to[length] = '\0';
    free(shown);
    return length;
}

const char *metrics_view_label(const struct metrics_view *v, struct metrics_where where)
{
    static char buffers[4][2 * LOGS_LABEL * 4 + 16];
    static unsigned next;
    char *buffer = buffers[next++ % 4], *to = buffer;

    if (!v->several)
        return "-";
    if (where.from != where.log) {
        to += put_label(to, v->parts[where.from].label);
        *to++ = '>';
    }
    put_label(to, v->parts[where.log].label);
    return buffer;
}

void metrics_view_put_logs(const struct metrics_view *v, struct metrics_where where)
{
    if (!v->several)
        return;
    json_text("log", v->parts[where.log].log->path);
    if (where.from != where.log)
        json_text("begin_log", v->parts[where.from].log->path);
}

const char *metrics_view_csv_logs(const struct metrics_view *v)
{
    return v->several ? "log," : "";
}

void metrics_view_put_csv_logs(const struct metrics_view *v, struct metrics_where where)
{
    if (!v->several)
        return;
    metrics_put_name(OUTPUT_CSV, v->parts[where.log].log->path);
    out_text(",");
}

/* ---- types ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct log_type *)a)->name, ((const struct log_type *)b)->name);
}

/* Joins those with the same name. */
static size_t join(struct log_type *types, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(types, count, sizeof *types, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(types[kept - 1].name, types[i].name) == 0)
            types[kept - 1].count += types[i].count;
        else
            types[kept++] = types[i];
    }
    return kept;
}

int metrics_view_types(const struct metrics_view *v, struct log_type **types, size_t *count)
{
    struct log_type *all = NULL;
    size_t used = 0;

    if (v->part_count == 1)
        return log_file_types(v->parts[0].log, types, count);
    for (size_t i = 0; i < v->part_count; i++) {
        struct log_type *some = NULL;
        size_t more = 0;
        int status = log_file_types(v->parts[i].log, &some, &more);

        if (status != EXIT_DONE) {
            free(all);
            return status;
        }
        all = tool_grow(all, used + more + 1, sizeof *all);
        if (more > 0)
            memcpy(all + used, some, more * sizeof *all);
        used += more;
        free(some);
    }
    *types = all;
    *count = join(all, used);
    return EXIT_DONE;
}

static bool has_type(const struct log_type *types, size_t count, const posixtrace_metric_t *metric)
{
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, NULL)) != NULL; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(types[k].name, event) == 0)
                return true;
    return false;
}

int metrics_view_learn(struct metrics_view *v)
{
    for (size_t i = 0; i < v->part_count; i++) {
        struct log_type *types = NULL;
        size_t count = 0;
        int status = log_file_types(v->parts[i].log, &types, &count);

        if (status != EXIT_DONE)
            return status;
        v->parts[i].knows = tool_zeroed(v->pick->count * sizeof *v->parts[i].knows);
        for (size_t m = 0; m < v->pick->count; m++)
            v->parts[i].knows[m] = has_type(types, count, v->pick->metrics[m]);
        free(types);
    }
    return EXIT_DONE;
}

bool metrics_view_is_selected(const struct metrics_view *v)
{
    return select_is_any(v->parts[0].select->s);
}

const char *metrics_view_selection(const struct metrics_view *v)
{
    return select_text(v->parts[0].select->s);
}

/* ---- events that the log does not know ---- */

static int say_unknown(const struct metrics_view *v, const struct log_type *types, size_t count,
                       const char *event)
{
    const char **names = tool_grow(NULL, count + 1, sizeof *names), *near;

    for (size_t i = 0; i < count; i++)
        names[i] = types[i].name;
    names[count] = NULL;
    near = options_nearest(event, names);
    free(names);
    if (near)
        return tool_error("no event type %s in %s; did you mean %s?", quote(event), v->shown,
                          quote(near));
    return tool_error("no event type %s in %s; 'posixtrace info' lists those that are there",
                      quote(event), v->shown);
}

static bool knows(const struct log_type *types, size_t count, const char *event)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(types[i].name, event) == 0)
            return true;
    }
    return false;
}

/* Of the system: a log need not name those that it has no event of. */
static bool is_system_name(const char *event)
{
    return strncmp(event, "posixtrace_", 11) == 0 && !metrics_name_is_wrong(event);
}

static bool is_empty(const struct metrics_view *v)
{
    for (size_t i = 0; i < v->part_count; i++) {
        struct posixtrace_info info;

        if (posixtrace_get_info(v->parts[i].log->trid, &info, sizeof info) == 0 && info.events > 0)
            return false;
    }
    return true;
}

static int check_metric(const struct metrics_view *v, const posixtrace_metric_t *metric,
                        const struct log_type *types, size_t count)
{
    const char *event;
    bool needed = false;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, &needed)) != NULL; i++) {
        if (needed && !knows(types, count, event) && !is_system_name(event))
            return say_unknown(v, types, count, event);
    }
    return EXIT_DONE;
}

int metrics_check_events(const struct metrics_view *v)
{
    struct log_type *types = NULL;
    size_t count = 0;
    int status;

    if (v->pick->users == 0 || is_empty(v))
        return EXIT_DONE;
    status = metrics_view_types(v, &types, &count);
    for (size_t i = 0; status == EXIT_DONE && i < v->pick->count; i++) {
        if (v->pick->list[i].own)
            status = check_metric(v, v->pick->metrics[i], types, count);
    }
    free(types);
    return status;
}
