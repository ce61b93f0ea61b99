/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The metrics that a log is measured by: a set, and the pairs of its event types. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/language/machine.h"
#include "analysis/tables/measurements.h"

static const char begin_mark[] = ":begin", end_mark[] = ":end";

/* The names of a log's event types, one after the other, each with its NUL. */
struct names {
    char *text;
    size_t used, room;
};

static bool add_name(struct names *n, const char *name)
{
    size_t size = strlen(name) + 1, room = 2 * n->room + size + 1024;
    char *more;

    if (n->used + size > n->room) {
        more = realloc(n->text, room);
        if (!more)
            return false;
        n->text = more;
        n->room = room;
    }
    memcpy(n->text + n->used, name, size);
    n->used += size;
    return true;
}

/* occurring: of types that have an event. */
static int list_names(trace_id_t trid, struct names *n, struct names *occurring)
{
    uint64_t count;
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 0, error = posix_trace_eventtypelist_rewind(trid);

    while (!error) {
        error = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
        if (error || unavailable)
            break;
        if (posix_trace_eventid_get_name(trid, id, name) != 0)
            continue;
        if (!add_name(n, name) || (posixtrace_event_count(trid, id, &count) == 0 && count > 0 &&
                                   !add_name(occurring, name)))
            error = ENOMEM;
    }
    return error;
}

static bool has_name(const struct names *n, const char *name)
{
    for (size_t at = 0; at < n->used; at += strlen(n->text + at) + 1)
        if (strcmp(n->text + at, name) == 0)
            return true;
    return false;
}

/* Has the log an event that the metric looks at? */
static bool is_heard(const posixtrace_metric_t *metric, const struct names *occurring)
{
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, NULL)); i++)
        for (size_t at = 0; at < occurring->used; at += strlen(occurring->text + at) + 1)
            if (pt_is_type_of(event, occurring->text + at))
                return true;
    return false;
}

static int put(struct pt_tables_metrics *m, const posixtrace_metric_t *metric)
{
    const posixtrace_metric_t **more = realloc(m->list, (m->count + 1) * sizeof *more);

    if (!more)
        return ENOMEM;
    m->list = more;
    m->list[m->count++] = metric;
    return 0;
}

/* The pair that begins with an event of that name, if it is one. */
static int add_pair(struct pt_tables_metrics *m, const struct names *n, const char *begin)
{
    size_t length = strlen(begin), mark = sizeof begin_mark - 1;
    char name[TRACE_EVENT_NAME_MAX + 1], end[TRACE_EVENT_NAME_MAX + sizeof end_mark];
    posixtrace_metric_t *metric;
    int error;

    if (length <= mark || strcmp(begin + length - mark, begin_mark) != 0)
        return 0;
    memcpy(name, begin, length - mark);
    name[length - mark] = '\0';
    stpcpy(stpcpy(end, name), end_mark);
    if (!has_name(n, end))
        return 0;
    error = posixtrace_metric_set_user(m->set, name, begin, end, POSIXTRACE_USER_ELAPSED, &metric);
    if (error == EINVAL) /* with a newline in it: no metric can have that name */
        return 0;
    if (error)
        return error;
    error = put(m, metric);
    m->own += !error;
    if (error)
        posixtrace_metric_free(metric);
    return error;
}

int pt_tables_metrics_make(struct pt_tables_metrics *m, const posixtrace_tables_t *t)
{
    struct names names = { .text = NULL }, occurring = { .text = NULL };
    const posixtrace_metric_t *metric;
    int error = 0;

    for (size_t i = 0; t->options.metrics && !error && i < t->options.metric_count; i++)
        error = put(m, t->options.metrics[i]);
    if (t->options.metrics || error)
        return error;
    error = posixtrace_metric_set_open("linux", &m->set);
    if (!error)
        error = list_names(t->trid, &names, &occurring);
    for (size_t i = 0; !error && (metric = posixtrace_metric_set_get(m->set, i)); i++)
        if (is_heard(metric, &occurring))
            error = put(m, metric);
    for (size_t at = 0; !error && at < names.used; at += strlen(names.text + at) + 1)
        error = add_pair(m, &names, names.text + at);
    free(names.text);
    free(occurring.text);
    return error;
}

void pt_tables_metrics_free(struct pt_tables_metrics *m)
{
    for (size_t i = m->count - m->own; i < m->count; i++)
        posixtrace_metric_free((posixtrace_metric_t *)(uintptr_t)m->list[i]);
    posixtrace_metric_set_free(m->set);
    free(m->list);
}
