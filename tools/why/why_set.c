/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What several logs have together; see why.h. */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

enum { SHOWN_NAMES = 300 };

/* ---- rows ---- */

static const struct posixtrace_why_instance *instance(const struct why_row *row)
{
    return posixtrace_why_instance(row->view->why, row->index);
}

/* The longest first, those that are open last; of equal ones in the order of the logs. */
static int by_length(const void *a, const void *b)
{
    const struct why_row *x = a, *y = b;
    const struct posixtrace_why_instance *i = instance(x), *k = instance(y);
    int64_t one = i->end_ns - i->begin_ns, other = k->end_ns - k->begin_ns;

    if (i->open != k->open)
        return i->open ? 1 : -1;
    if (one != other)
        return one > other ? -1 : 1;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void add_rows(struct why_set *set, const struct why_view *v)
{
    for (size_t i = 0; posixtrace_why_instance(v->why, i); i++) {
        set->rows = tool_grow(set->rows, set->row_count + 1, sizeof *set->rows);
        set->rows[set->row_count++] = (struct why_row){ v, i };
    }
}

/* The first ones that have ended, and the first ones that are open. */
static void keep(struct why_set *set, size_t worst)
{
    size_t kept = 0, ended = 0, open = 0;

    for (size_t i = 0; i < set->row_count; i++) {
        size_t *count = instance(&set->rows[i])->open ? &open : &ended;

        if (++*count <= worst)
            set->rows[kept++] = set->rows[i];
    }
    set->row_count = kept;
}

/* ---- sums ---- */

static int add_lengths(struct why_set *set, const posixtrace_statistics_t *more)
{
    int error = 0;

    if (!more)
        return 0;
    if (!set->statistics)
        error = posixtrace_statistics_create(&set->statistics);
    return error ? error : posixtrace_statistics_merge(set->statistics, more);
}

static void add_summary(struct posixtrace_why_summary *to,
                        const struct posixtrace_why_summary *from)
{
    if (from->events > 0 && (to->events == 0 || from->first_ns < to->first_ns))
        to->first_ns = from->first_ns;
    if (from->events > 0 && (to->events == 0 || from->last_ns > to->last_ns))
        to->last_ns = from->last_ns;
    to->count += from->count;
    to->open += from->open;
    to->unknown += from->unknown;
    to->unkeyed += from->unkeyed;
    to->events += from->events;
    to->switches += from->switches;
    to->calls += from->calls;
    to->begins += from->begins;
    to->ends += from->ends;
    to->gaps += from->gaps;
    to->unmarked |= from->unmarked;
    to->long_calls_only |= from->long_calls_only;
}

/* ---- pairs ---- */

static bool is_begin(const char *name, size_t *stem)
{
    size_t length = strlen(name);

    *stem = length - 6;
    return length > 6 && strcmp(name + length - 6, ":begin") == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct log_type *)a)->name, ((const struct log_type *)b)->name);
}

/* Of one log in the order of its types, of several by name. */
static void put_pairs(struct why_set *set)
{
    struct log_type *all = NULL;
    size_t count = 0, stem;

    for (size_t i = 0; i < set->count; i++) {
        struct log_type *types = NULL;
        size_t more = 0;

        if (log_file_types(set->views[i].log, &types, &more) != EXIT_DONE)
            continue;
        all = tool_grow(all, count + more + 1, sizeof *all);
        if (more > 0)
            memcpy(all + count, types, more * sizeof *all);
        count += more;
        free(types);
    }
    if (set->several && count > 0)
        qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count && strlen(set->pairs) < SHOWN_NAMES / 2; i++)
        if (is_begin(all[i].name, &stem) && (i == 0 || strcmp(all[i - 1].name, all[i].name) != 0))
            why_add(set->pairs, sizeof set->pairs, "%s%.*s", set->pairs[0] ? ", " : "", (int)stem,
                    all[i].name);
    free(all);
}

/* ---- the set ---- */

int why_set_make(struct why_set *set, size_t worst)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < set->count; i++) {
        add_rows(set, &set->views[i]);
        add_summary(&set->summary, set->views[i].summary);
        error = add_lengths(set, set->views[i].summary->statistics);
    }
    if (error)
        return tool_error("cannot explain %s: %s", set->shown, failure_reason(error));
    set->summary.statistics = set->statistics;
    set->summary.median_ns = set->count == 1 ? set->views[0].summary->median_ns
                             : set->statistics
                                 ? posixtrace_statistics_percentile(set->statistics, 50)
                                 : 0;
    if (set->several && set->row_count > 0) {
        qsort(set->rows, set->row_count, sizeof *set->rows, by_length);
        keep(set, worst);
    }
    put_pairs(set);
    return EXIT_DONE;
}

void why_set_free(struct why_set *set)
{
    free(set->rows);
    posixtrace_statistics_free(set->statistics);
}
