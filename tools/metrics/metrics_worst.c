/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * metrics --worst=N: where and when the longest measurements of each metric were, and the command
 * that prints the events of that time.
 */
#include "metrics/metrics_worst.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"
#include "measure/metrics_text.h"
#include "metrics/metrics_rows.h"

struct sorted {
    struct metrics_worst worst;
    int64_t length;
};

static int by_length(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    if (x->worst.m->end_ns != y->worst.m->end_ns)
        return x->worst.m->end_ns < y->worst.m->end_ns ? -1 : 1;
    return x->worst.m->tid < y->worst.m->tid ? -1 : x->worst.m->tid > y->worst.m->tid;
}

size_t metrics_worst_of(const struct metrics_view *v, size_t metric, struct metrics_worst **list)
{
    struct sorted *all = NULL;
    size_t count = 0;

    for (size_t i = 0; i < v->groups.count; i++) {
        const struct metrics_group *g = &v->groups.rows[i];

        if (g->metric != metric || !metrics_view_shows(v, g))
            continue;
        all = tool_grow(all, count + g->worst_count + 1, sizeof *all);
        for (size_t k = 0; k < g->worst_count; k++)
            all[count++] = (struct sorted){ { &g->worst[k], g },
                                            metrics_groups_length(&v->groups, &g->worst[k]) };
    }
    if (count > 0)
        qsort(all, count, sizeof *all, by_length);
    count = count < v->form.worst ? count : v->form.worst;
    *list = tool_grow(NULL, count + 1, sizeof **list);
    for (size_t i = 0; i < count; i++)
        (*list)[i] = all[i].worst;
    free(all);
    return count;
}

/* ---- the command ---- */

/* As --from and --to take it. */
static void put_time(char *to, size_t size, const struct metrics_view *v, int64_t ns)
{
    const struct log_file *log = v->parts[0].log;
    int64_t since = 0;

    if (!v->several && log->seekable && !__builtin_sub_overflow(ns, log->info.first_ns, &since) &&
        since >= 0)
        snprintf(to, size, "+%" PRId64 ".%09" PRId64 "s", since / 1000000000, since % 1000000000);
    else
        snprintf(to, size, "%" PRId64, ns);
}

char *metrics_worst_command(const struct metrics_view *v, struct metrics_where where,
                            const struct posixtrace_measurement *m)
{
    bool two = where.from != where.log;
    char from[48], to[48], thread[32] = "", *text = NULL, *first;

    put_time(from, sizeof from, v, m->begin_ns);
    put_time(to, sizeof to, v, m->end_ns);
    if (m->tid != 0 && !two)
        snprintf(thread, sizeof thread, " --tid=%d", (int)m->tid);
    first = strdup(metrics_form_log(v->parts[where.from].log));
    if (!first ||
        asprintf(&text, "posixtrace print --from=%s --to=%s%s %s%s%s", from, to, thread, first,
                 two ? " " : "", two ? metrics_form_log(v->parts[where.log].log) : "") < 0)
        text = tool_zeroed(1);
    free(first);
    return text;
}

/* ---- text ---- */

static void print_one(const struct metrics_view *v, const struct metrics_worst *w)
{
    const struct posixtrace_measurement *m = w->m;
    const struct metrics_group *g = w->group;
    char *name = metrics_shown(OUTPUT_TEXT, !g->of_object              ? g->thread
                                            : g->longest_tid == m->tid ? g->longest_thread
                                                                       : "");
    char *command = metrics_worst_command(v, g->where, m), begin[48], object[SITES_TEXT + 16] = "";
    int64_t length = metrics_groups_length(&v->groups, m);
    int64_t least = metrics_groups_least(&v->groups, m);
    char range[64] = "";

    if (least < length)
        snprintf(range, sizeof range, "%s..", units_time(least));
    put_time(begin, sizeof begin, v, m->begin_ns);
    if (posixtrace_metric_by_object(m->metric))
        snprintf(object, sizeof object, ", object %s",
                 metrics_object_name(v, g->where, m->pid, m->begin_ns, m->key));
    snprintf(range + strlen(range), sizeof range - strlen(range), "%s",
             metrics_time_at_most(length));
    out_format("%9s at %s in %s%s%s%s%s%s%s\n", range, begin,
               v->several ? metrics_view_label(v, g->where) : "", v->several ? " " : "",
               metrics_thread(m->tid, m->thread_id), *name ? " " : "", name, object,
               m->bound ? " (bound)" : "");
    out_format("          %s\n", command);
    free(command);
    free(name);
}

/* As lines of the format: the measurements and nothing else. */
static void put_lines(struct metrics_view *v, const struct metrics_worst *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        metrics_view_put(v, list[i].group->where, list[i].m);
}

void metrics_print_worst(struct metrics_view *v)
{
    for (size_t i = 0; i < v->pick->count; i++) {
        struct metrics_worst *list;
        size_t count = metrics_worst_of(v, i, &list);
        char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(v->pick->metrics[i]));

        if (v->form.format != OUTPUT_TEXT)
            put_lines(v, list, count);
        else if (count > 0)
            out_format("\n# %s: the longest%s\n", name, count > 1 ? " ones" : "");
        for (size_t k = 0; k < count && v->form.format == OUTPUT_TEXT; k++)
            print_one(v, &list[k]);
        free(name);
        free(list);
    }
}
