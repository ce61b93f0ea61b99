/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The sections and their order; see report.h.
 */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/tool.h"
#include "common/units.h"

static void add(struct report_rows *list, const struct report_part *part, const void *row)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->rows = tool_grow(list->rows, list->room, sizeof *list->rows);
    }
    list->rows[list->count++] = (struct report_row){ row, part };
}

int64_t report_wait_sum(const struct posixtrace_report_thread *t)
{
    int64_t sum = t->unnamed_ns;

    for (unsigned i = 0; i < POSIXTRACE_WAIT_KINDS; i++)
        sum += t->wait_ns[i];
    return sum;
}

static int larger_first(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

/* Those that may have used a processor most, then those that there were longest. */
static int by_run(const void *a, const void *b)
{
    const struct posixtrace_report_thread *x = *(const void *const *)a,
                                          *y = *(const void *const *)b;
    int order = larger_first(x->run_ns + x->runnable_ns, y->run_ns + y->runnable_ns);

    order = order ? order : larger_first(x->unknown_ns, y->unknown_ns);
    order = order ? order : larger_first(x->total_ns, y->total_ns);
    order = order ? order : larger_first(y->pid, x->pid);
    return order ? order : larger_first(y->tid, x->tid);
}

static int by_preempted(const void *a, const void *b)
{
    const struct posixtrace_report_thread *x = *(const void *const *)a,
                                          *y = *(const void *const *)b;
    int order = larger_first(x->preempted_ns, y->preempted_ns);

    order = order ? order : larger_first(y->pid, x->pid);
    return order ? order : larger_first(y->tid, x->tid);
}

static int by_waited(const void *a, const void *b)
{
    const struct posixtrace_report_object *x = *(const void *const *)a,
                                          *y = *(const void *const *)b;
    int order = larger_first(x->total_ns, y->total_ns);

    order = order ? order : larger_first((int64_t)x->open, (int64_t)y->open);
    order = order ? order : larger_first((int64_t)x->calls, (int64_t)y->calls);
    order = order ? order : larger_first(y->pid, x->pid);
    return order ? order : x->object < y->object ? -1 : x->object > y->object;
}

static int by_site(const void *a, const void *b)
{
    const struct posixtrace_report_site *x = *(const void *const *)a, *y = *(const void *const *)b;
    int order = larger_first(x->total_ns, y->total_ns);

    order = order ? order : larger_first((int64_t)x->waits, (int64_t)y->waits);
    order = order ? order : larger_first(y->pid, x->pid);
    return order ? order : x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int by_contention(const void *a, const void *b)
{
    const struct posixtrace_report_contention *x = *(const void *const *)a,
                                              *y = *(const void *const *)b;
    int order = larger_first(x->total_ns, y->total_ns);

    order = order ? order : larger_first(y->pid, x->pid);
    order = order ? order : larger_first(y->tid, x->tid);
    order = order ? order : larger_first(y->holder_tid, x->holder_tid);
    return order ? order : x->object < y->object ? -1 : x->object > y->object;
}

static int by_total(const void *a, const void *b)
{
    const struct posixtrace_report_pair *x = *(const void *const *)a, *y = *(const void *const *)b;

    return larger_first(x->total_ns, y->total_ns);
}

static enum report_section section_of(const struct posixtrace_report_object *o)
{
    if (o->kind == POSIXTRACE_WAIT_LOCK)
        return REPORT_LOCKS;
    if (o->kind == POSIXTRACE_WAIT_WORK)
        return REPORT_WORK;
    return o->is_descriptor ? REPORT_DESCRIPTORS : REPORT_WAITS;
}

static int by_pid(const void *a, const void *b)
{
    const struct posixtrace_report_thread *x = *(const void *const *)a,
                                          *y = *(const void *const *)b;

    return larger_first(y->pid, x->pid);
}

static void add_threads(struct report_view *v, const struct report_part *p)
{
    struct report_rows *threads = &v->rows[REPORT_THREADS];
    const struct posixtrace_report_thread *t;
    size_t first = threads->count;

    for (size_t i = 0; (t = posixtrace_report_thread(p->report, i)) != NULL; i++) {
        if (t->preempted > 0)
            add(&v->rows[REPORT_PREEMPTORS], p, t);
        if (!t->selected || (t->total_ns == 0 && t->events + t->switches == 0))
            continue;
        add(threads, p, t);
        v->events += t->events;
        v->cost_ns += (double)t->events * p->event_ns;
    }
    if (threads->count > first)
        qsort(threads->rows + first, threads->count - first, sizeof *threads->rows, by_pid);
    for (size_t i = first; i < threads->count; i++)
        v->processes += i == first || by_pid(&threads->rows[i - 1], &threads->rows[i]) != 0;
}

static void add_objects(struct report_view *v, const struct report_part *p)
{
    const struct posixtrace_report_object *o;

    for (size_t i = 0; (o = posixtrace_report_object(p->report, i)) != NULL; i++) {
        enum report_section section = section_of(o);

        if (section == REPORT_LOCKS)
            v->calls += o->calls;
        if (o->waits + o->unknown + o->open > 0)
            add(&v->rows[section], p, o);
    }
}

static void add_part(struct report_view *v, const struct report_part *p)
{
    const struct posixtrace_report_contention *c;
    const struct posixtrace_report_site *site;
    const struct posixtrace_report_pair *pair;

    add_threads(v, p);
    add_objects(v, p);
    for (size_t i = 0; (site = posixtrace_report_site(p->report, i)) != NULL; i++)
        if (site->kind != POSIXTRACE_WAIT_WORK)
            add(&v->rows[REPORT_SITES], p, site);
    for (size_t i = 0; !v->several && (pair = posixtrace_report_pair(p->report, i)) != NULL; i++)
        if (pair->count + pair->unknown > 0)
            add(&v->rows[REPORT_PAIRS], p, pair);
    for (size_t i = 0; (c = posixtrace_report_contend(p->report, i)) != NULL; i++)
        add(&v->rows[REPORT_CONTENTION], p, c);
}

int report_rows_make(struct report_view *v)
{
    static int (*const orders[REPORT_SECTIONS])(
        const void *, const void *) = { by_run,  by_waited, by_waited,    by_total,     by_waited,
                                        by_site, by_waited, by_preempted, by_contention };
    int error = v->several ? report_parts_pairs(v) : 0;

    for (size_t i = 0; i < v->part_count; i++)
        add_part(v, &v->parts[i]);
    for (size_t i = 0; i < v->sum_count; i++)
        if (v->sums[i].row.count + v->sums[i].row.unknown > 0)
            add(&v->rows[REPORT_PAIRS], v->sums[i].part, &v->sums[i].row);
    v->has_cost = true;
    for (size_t i = 0; i < v->part_count; i++)
        v->has_cost &= v->parts[i].event_ns > 0;
    for (unsigned s = 0; s < REPORT_SECTIONS; s++)
        if (v->rows[s].count > 0)
            qsort(v->rows[s].rows, v->rows[s].count, sizeof *v->rows[s].rows, orders[s]);
    return error;
}

void report_rows_free(struct report_view *v)
{
    for (unsigned s = 0; s < REPORT_SECTIONS; s++)
        free(v->rows[s].rows);
    report_parts_free(v);
}

size_t report_shown(const struct report_view *v, enum report_section section)
{
    size_t count = v->rows[section].count;

    return v->top > 0 && count > v->top ? v->top : count;
}

const struct posixtrace_report_thread *report_thread(const struct report_view *v,
                                                     enum report_section section, size_t i)
{
    return v->rows[section].rows[i].row;
}

const struct posixtrace_report_object *report_object(const struct report_view *v,
                                                     enum report_section section, size_t i)
{
    return v->rows[section].rows[i].row;
}

const struct posixtrace_report_site *report_site(const struct report_view *v, size_t i)
{
    return v->rows[REPORT_SITES].rows[i].row;
}

const struct posixtrace_report_contention *report_contention(const struct report_view *v, size_t i)
{
    return v->rows[REPORT_CONTENTION].rows[i].row;
}

const struct posixtrace_report_pair *report_pair(const struct report_view *v, size_t i)
{
    return v->rows[REPORT_PAIRS].rows[i].row;
}

/* Input and output were recorded. */
static bool has_io(const struct report_view *v)
{
    return v->rows[REPORT_DESCRIPTORS].count > 0 || v->rows[REPORT_WORK].count > 0;
}

static const char *why_no_calls(const struct report_view *v, enum report_section section)
{
    static char text[160];

    if (select_is_any(v->parts[0].select))
        return "none is selected";
    if (v->summary.long_calls_only)
        return "no such call was as long as 'record --longer-than' says";
    if (section == REPORT_SITES)
        return "no wait is in the log that says where it was called: 'posixtrace record --system'";
    if (section == REPORT_DESCRIPTORS)
        return has_io(v) ? "no call on a descriptor is in the log"
                         : "no call on a descriptor is in the log: 'posixtrace record --system=io'";
    if (section == REPORT_WORK)
        return has_io(v) ? "no call of poll, select or epoll is in the log"
                         : "no call of poll, select or epoll is in the log: 'posixtrace record "
                           "--system=io'";
    if (section == REPORT_WAITS)
        return v->calls > 0 && has_io(v) ? "no other wait is in the log"
                                         : "no other wait is in the log: 'posixtrace record "
                                           "--system=locks,sleep,threads'";
    if (v->calls == 0)
        return "no call for a lock is in the log: 'posixtrace record --system=locks'";
    snprintf(text, sizeof text, "locks were taken %s time%s, without a wait", units_count(v->calls),
             v->calls == 1 ? "" : "s");
    return text;
}

const char *report_why_empty(const struct report_view *v, enum report_section section)
{
    if (v->rows[section].count > 0)
        return NULL;
    if (v->summary.events == 0 && v->info.events > 0)
        return section == REPORT_THREADS
                   ? "unknown: the log is cut, or was full ('record --log-size=N'), before it had "
                     "events of all threads"
                   : "unknown";
    switch (section) {
    case REPORT_THREADS: return "no event of a thread is selected, or in the log";
    case REPORT_PAIRS:
        if (select_is_any(v->parts[0].select))
            return "none is selected";
        return "no pair of events NAME:begin and NAME:end; 'posixtrace metrics --user' measures "
               "others";
    case REPORT_PREEMPTORS:
        if (v->summary.switches == 0)
            return "no context switch is in the log: 'posixtrace record --system=switches'";
        return v->summary.preempted_by_others > 0  ? "by threads that are not in the log"
               : select_is_any(v->parts[0].select) ? "none is selected"
                                                   : "no thread was preempted";
    default: return why_no_calls(v, section);
    }
}
