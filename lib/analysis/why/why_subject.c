/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Subjects: the pairs or the metric that are explained, which share the passes and the spans. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/language/machine.h"
#include "analysis/why/why_state.h"

/* ---- making ---- */

static bool copy_text(char **to, const char *text)
{
    *to = text ? strdup(text) : NULL;
    return !text || *to;
}

static bool name_pair(struct pt_why_subject *s, const char *pair)
{
    if (asprintf(&s->begin, "%s:begin", pair) < 0)
        s->begin = NULL;
    if (asprintf(&s->end, "%s:end", pair) < 0)
        s->end = NULL;
    return s->begin && s->end;
}

static bool init(const posixtrace_why_t *w, struct pt_why_subject *s)
{
    const struct posixtrace_why_options *o = &w->options;
    size_t number = (size_t)(s - w->subjects);

    if (o->pair_count > 0 ? !name_pair(s, o->pairs[number])
                          : !copy_text(&s->begin, o->begin) || !copy_text(&s->end, o->end))
        return false;
    s->worst = calloc(o->worst + 1, sizeof *s->worst);
    s->kept = calloc(2 * o->worst + 2, sizeof *s->kept);
    return s->worst && s->kept && posixtrace_statistics_create(&s->statistics) == 0;
}

int pt_why_subjects_init(posixtrace_why_t *w)
{
    size_t count = w->options.pair_count > 0 ? w->options.pair_count : 1;

    w->subjects = calloc(count, sizeof *w->subjects);
    w->subject = w->subjects;
    if (!w->subjects)
        return ENOMEM;
    for (; w->subject_count < count; w->subject_count++)
        if (!init(w, &w->subjects[w->subject_count])) {
            w->subject_count++; /* what it has is freed with it */
            return ENOMEM;
        }
    return 0;
}

static void deinit(const posixtrace_why_t *w, struct pt_why_subject *s)
{
    for (size_t i = 0; s->kept && i < s->kept_count; i++)
        free(s->kept[i].segments.rows);
    for (size_t i = 0; s->kept && i < s->open_count; i++)
        free(s->kept[w->options.worst + i].segments.rows);
    pt_report_map_deinit(&s->causes);
    posixtrace_statistics_free(s->statistics);
    free(s->kept);
    free(s->worst);
    free(s->sorted);
    free(s->begin);
    free(s->end);
}

void pt_why_subjects_deinit(posixtrace_why_t *w)
{
    for (size_t i = 0; i < w->subject_count; i++)
        deinit(w, &w->subjects[i]);
    free(w->subjects);
}

/* ---- while events are read ---- */

/* Is it that type, or a further description of its name? */
static bool is_named(const char *name, const char *wanted)
{
    return name && wanted && pt_is_type_of(wanted, name);
}

unsigned pt_why_subject_marks(const posixtrace_why_t *w, const char *name)
{
    unsigned all = w->options.metric ? PT_WHY_ALL : 0;

    for (size_t i = 0; i < w->subject_count; i++) {
        const struct pt_why_subject *s = &w->subjects[i];
        unsigned marks = (is_named(name, s->begin) ? PT_WHY_BEGINS : 0u) |
                         (is_named(name, s->end) ? PT_WHY_ENDS : 0u);

        if (marks)
            return all | marks | (unsigned)i << PT_WHY_SUBJECT;
    }
    return all;
}

/* ---- results ---- */

static void resolve_open(posixtrace_why_t *w)
{
    for (size_t i = 0; i < w->subject->open_count && !w->error; i++) {
        struct pt_why_kept *k = &w->subject->kept[w->options.worst + i];

        pt_why_resolve(w, &k->row);
        pt_why_keep_segments(w, k);
    }
}

static void sum_up(const posixtrace_why_t *w, struct pt_why_subject *subject)
{
    const struct posixtrace_report_summary *all = &w->report->summary;
    struct posixtrace_why_summary *s = &subject->summary;

    s->events = all->events;
    s->calls = all->calls;
    s->switches = all->switches;
    s->gaps = all->gaps;
    s->unmarked = all->unmarked;
    s->long_calls_only = all->long_calls_only;
    s->first_ns = all->first_ns;
    s->last_ns = all->last_ns;
    s->statistics = s->count > 0 ? subject->statistics : NULL;
}

void pt_why_subjects_end(posixtrace_why_t *w)
{
    for (size_t i = 0; i < w->subject_count; i++) {
        w->subject = &w->subjects[i];
        resolve_open(w);
        if (i == 0)
            pt_why_resolve_at(w);
        pt_why_causes_end(w);
        sum_up(w, w->subject);
    }
    w->subject = w->subjects;
}

int posixtrace_why_select(posixtrace_why_t *w, size_t pair)
{
    if (!w || !w->ended || pair >= w->subject_count)
        return EINVAL;
    w->subject = &w->subjects[pair];
    return 0;
}
