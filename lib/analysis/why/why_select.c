/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which instances are explained.  Pass 1: statistics, and the lengths of the worst, in a heap whose
 * first is the least.  Pass 2: each that is as long as the 1 % slowest, or among the worst, and a
 * sample of those about the median, at most TYPICAL.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why_state.h"
#include "text/sum.h"

enum { TYPICAL = 512 };

static const double low_percent = 40, high_percent = 60, slow_percent = 99;

/* ---- pass 1 ---- */

static void sink(int64_t *heap, size_t count, size_t i)
{
    for (;;) {
        size_t least = 2 * i + 1;
        int64_t value = heap[i];

        if (least + 1 < count && heap[least + 1] < heap[least])
            least++;
        if (least >= count || heap[least] >= value)
            return;
        heap[i] = heap[least];
        heap[least] = value;
        i = least;
    }
}

static void add_length(posixtrace_why_t *w, int64_t length)
{
    struct pt_why_subject *s = w->subject;
    if (s->worst_count < w->options.worst) {
        s->worst[s->worst_count++] = length;
        if (s->worst_count == w->options.worst)
            for (size_t i = s->worst_count / 2; i-- > 0;)
                sink(s->worst, s->worst_count, i);
    } else if (s->worst_count > 0 && length > s->worst[0]) {
        s->worst[0] = length;
        sink(s->worst, s->worst_count, 0);
    }
}

static void count_instance(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    struct pt_why_subject *s = w->subject;
    int64_t length = i->end_ns - i->begin_ns;

    s->summary.count++;
    w->reach = pt_why_larger(w->reach, length);
    add_length(w, length);
    if (posixtrace_statistics_add(s->statistics, length) != 0)
        w->error = ENOMEM;
}

/* ---- between them ---- */

static uint64_t count_from(const posixtrace_statistics_t *s, int64_t from, int64_t to)
{
    uint64_t sum = 0, count;
    int64_t low, high;

    for (size_t i = 0; posixtrace_statistics_bar(s, i, &low, &high, &count) == 0; i++)
        if (low <= to && high >= from)
            sum += count;
    return sum;
}

void pt_why_choose(posixtrace_why_t *w)
{
    struct pt_why_subject *s = w->subject;

    s->least_ns = INT64_MAX;
    for (size_t i = 0; i < s->worst_count; i++)
        s->least_ns = pt_why_smaller(s->least_ns, s->worst[i]);
    if (s->summary.count == 0)
        return;
    s->summary.slow_ns = posixtrace_statistics_percentile(s->statistics, slow_percent);
    s->summary.median_ns = posixtrace_statistics_percentile(s->statistics, 50);
    s->low_ns = posixtrace_statistics_percentile(s->statistics, low_percent);
    s->high_ns = posixtrace_statistics_percentile(s->statistics, high_percent);
    s->step = 1 + count_from(s->statistics, s->low_ns, s->high_ns) / TYPICAL;
}

/* ---- pass 2 ---- */

static bool is_before(const struct posixtrace_why_instance *a,
                      const struct posixtrace_why_instance *b)
{
    int64_t longer = (a->end_ns - a->begin_ns) - (b->end_ns - b->begin_ns);

    return longer != 0 ? longer > 0 : a->begin_ns < b->begin_ns;
}

void pt_why_keep_segments(posixtrace_why_t *w, struct pt_why_kept *k)
{
    size_t size = w->rows.count * sizeof *w->rows.rows;

    k->segments.rows = malloc(size ? size : 1);
    if (!k->segments.rows) {
        w->error = ENOMEM;
        return;
    }
    if (size)
        memcpy(k->segments.rows, w->rows.rows, size);
    k->segments.count = w->rows.count;
    k->row.segments = w->rows.count;
}

/* The worst are in their order. */
static void keep(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    struct pt_why_subject *s = w->subject;
    size_t at = s->kept_count;

    while (at > 0 && is_before(i, &s->kept[at - 1].row))
        at--;
    if (at == w->options.worst)
        return;
    if (s->kept_count == w->options.worst)
        free(s->kept[--s->kept_count].segments.rows);
    memmove(s->kept + at + 1, s->kept + at, (s->kept_count - at) * sizeof *s->kept);
    s->kept_count++;
    s->kept[at] = (struct pt_why_kept){ .row = *i };
    pt_why_keep_segments(w, &s->kept[at]);
}

static bool is_sampled(posixtrace_why_t *w, int64_t length)
{
    struct pt_why_subject *s = w->subject;
    return length >= s->low_ns && length <= s->high_ns && s->seen_typical++ % s->step == 0;
}

static void explain(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    struct pt_why_subject *s = w->subject;
    int64_t length = i->end_ns - i->begin_ns;
    bool slow = length >= s->summary.slow_ns, typical = is_sampled(w, length);
    bool worst = length >= s->least_ns;

    if (!slow && !typical && !worst)
        return;
    pt_why_resolve(w, i);
    if (w->error)
        return;
    if (typical) {
        s->typical++;
        pt_why_causes_add(w, false);
    }
    if (slow) {
        s->summary.slow++;
        pt_sum_add(&s->summary.beyond_ns, length - s->summary.median_ns);
        pt_why_causes_add(w, true);
    }
    if (worst)
        keep(w, i);
}

void pt_why_instance(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    if (w->pass == 1)
        count_instance(w, i);
    else
        explain(w, i);
}

/* The oldest are kept, as many as of the worst. */
void pt_why_open(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    struct pt_why_subject *s = w->subject;
    size_t at = s->open_count;
    struct pt_why_kept *list = s->kept + w->options.worst;

    if (w->pass == 1) {
        s->summary.open++;
        w->reach = pt_why_larger(w->reach, i->end_ns - i->begin_ns);
        return;
    }
    while (at > 0 && is_before(i, &list[at - 1].row))
        at--;
    if (at == w->options.worst)
        return;
    if (s->open_count == w->options.worst)
        s->open_count--;
    memmove(list + at + 1, list + at, (s->open_count - at) * sizeof *list);
    s->open_count++;
    list[at] = (struct pt_why_kept){ .row = *i };
}

void pt_why_resolve_at(posixtrace_why_t *w)
{
    struct pt_why_subject *s = w->subject;
    struct posixtrace_why_instance i = { .begin_ns = w->at_part.at.from,
                                         .end_ns = w->at_part.at.to,
                                         .pid = w->at_pid,
                                         .tid = w->options.at_tid,
                                         .end_pid = w->at_pid,
                                         .end_tid = w->options.at_tid };

    if (!w->at_found || w->at_done)
        return;
    w->at_done = true;
    s->summary.count = 1;
    pt_why_resolve(w, &i);
    s->kept[0].row = i;
    s->kept_count = 1;
    pt_why_keep_segments(w, &s->kept[0]);
}
