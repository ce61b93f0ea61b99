/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See resolve.h.  In each state at most one edge fits each tuple: a label with "i" or "not i" has
 * priority over one without, and any event over "*".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/resolve.h"

struct pt_written *pt_written_add(struct pt_written_list *list)
{
    if (list->count == list->room) {
        size_t room = list->room * 2 + 16;
        struct pt_written *more = realloc(list->at, room * sizeof *more);

        if (!more)
            return NULL;
        list->at = more;
        list->room = room;
    }
    memset(&list->at[list->count], 0, sizeof *list->at);
    return &list->at[list->count++];
}

static bool fails_at(struct pt_parser *p, unsigned line, unsigned column, const char *text,
                     const char *name)
{
    p->words.word.kind = PT_WORD_NAME;
    p->words.word.line = line;
    p->words.word.column = column;
    return pt_parse_fails(p, text, name);
}

static size_t index_of(const posixtrace_metric_t *m, const char *event)
{
    size_t e = 0;

    while (e < m->event_count && strcmp(m->events[e], event) != 0)
        e++;
    return e;
}

static bool gather_events(struct pt_parser *p, posixtrace_metric_t *m,
                          const struct pt_written_list *list)
{
    m->events = calloc(PT_EVENTS_MAX, sizeof *m->events);
    m->needed = calloc(PT_EVENTS_MAX, sizeof *m->needed);
    for (size_t i = 0; m->events && m->needed && i < list->count; i++) {
        const struct pt_written *w = &list->at[i];

        if (w->kind != PT_LABEL_EVENT || index_of(m, w->event) < m->event_count)
            continue;
        if (m->event_count == PT_EVENTS_MAX)
            return fails_at(p, w->line, w->column,
                            "'%.100s' is one event too many: a metric has "
                            "at most 64",
                            w->event);
        m->events[m->event_count] = strdup(w->event);
        if (!m->events[m->event_count])
            break;
        m->event_count++;
    }
    if (m->events && m->needed)
        m->ways = malloc(pt_machine_rows(m) * PT_WHO * m->state_count * sizeof *m->ways);
    if (!m->ways) {
        p->error = ENOMEM;
        return false;
    }
    for (size_t i = 0; i < pt_machine_rows(m) * PT_WHO * m->state_count; i++)
        m->ways[i] = (struct pt_way){ .target = PT_NOWHERE };
    return true;
}

static bool find_target(struct pt_parser *p, const posixtrace_metric_t *m,
                        const struct pt_written *w, struct pt_way *way)
{
    *way = w->way;
    for (size_t s = 0; s < m->state_count; s++)
        if (strcmp(m->states[s].name, w->target) == 0) {
            way->target = (int16_t)s;
            return true;
        }
    return fails_at(p, w->target_line, w->target_column, "there is no state '%.100s'", w->target);
}

static bool is_general(const struct pt_written *w)
{
    return w->of[PT_OWN] && w->of[PT_OTHER];
}

static bool is_taken(const struct pt_way *way)
{
    return way->target != PT_NOWHERE;
}

/* Stores the edge if no other one has priority, or only one with a condition. */
static void put(posixtrace_metric_t *m, size_t event, enum pt_who who, size_t state,
                const struct pt_way *way)
{
    struct pt_way *at = pt_machine_way(m, event, who, state);

    if (is_taken(at) && at->only && !way->only)
        at = pt_machine_way(m, pt_machine_otherwise(m, event), who, state);
    if (!is_taken(at))
        *at = *way;
}

static bool put_event(struct pt_parser *p, posixtrace_metric_t *m, const struct pt_written *w)
{
    size_t e = w->kind == PT_LABEL_STAR ? m->event_count : index_of(m, w->event);
    struct pt_way way;

    if (!find_target(p, m, w, &way))
        return false;
    for (int who = 0; who < PT_WHO; who++) {
        struct pt_way *at = pt_machine_way(m, e, (enum pt_who)who, w->state);

        if (!w->of[who])
            continue;
        if (is_taken(at) && !is_general(w) &&
            (!at->only || way.only ||
             is_taken(pt_machine_way(m, pt_machine_otherwise(m, e), (enum pt_who)who, w->state))))
            return fails_at(p, w->line, w->column,
                            "state '%.100s' has another way for this "
                            "event already",
                            m->states[w->state].name);
        put(m, e, (enum pt_who)who, w->state, &way);
    }
    return true;
}

/* Two ways without "i": the second would never be taken. */
static bool look_for_twins(struct pt_parser *p, const posixtrace_metric_t *m,
                           const struct pt_written_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct pt_written *a = &list->at[k], *b = &list->at[i];

            if (a->state != b->state)
                continue;
            if ((a->kind == PT_LABEL_LAMBDA) || (b->kind == PT_LABEL_LAMBDA))
                return fails_at(p, b->line, b->column,
                                "state '%.100s' is left by lambda at once: "
                                "it has no second way",
                                m->states[b->state].name);
            if (a->kind == b->kind && is_general(a) && is_general(b) &&
                (!a->way.only || b->way.only) && strcmp(a->event, b->event) == 0)
                return fails_at(p, b->line, b->column,
                                "state '%.100s' has another way for this "
                                "event already",
                                m->states[b->state].name);
        }
    return true;
}

/* Events that fit no label take the edge of "*". */
static void spread_star(posixtrace_metric_t *m)
{
    for (size_t s = 0; s < m->state_count; s++)
        for (int who = 0; who < PT_WHO; who++) {
            const struct pt_way *star = pt_machine_way(m, m->event_count, (enum pt_who)who, s);
            bool stays = star->target == (int16_t)s && m->states[s].kind != PT_KIND_BEGIN;

            for (size_t e = 0; is_taken(star) && !stays && e < m->event_count; e++)
                put(m, e, (enum pt_who)who, s, star);
            if (stays)
                *pt_machine_way(m, m->event_count, (enum pt_who)who,
                                s) = (struct pt_way){ .target = PT_NOWHERE };
        }
}

static bool put_lambdas(struct pt_parser *p, posixtrace_metric_t *m,
                        const struct pt_written_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].kind == PT_LABEL_LAMBDA &&
            !find_target(p, m, &list->at[i], &m->states[list->at[i].state].lambda))
            return false;
    for (size_t s = 0; s < m->state_count; s++) {
        size_t steps = 0;

        for (int at = (int)s; at != PT_NOWHERE; at = m->states[at].lambda.target)
            if (steps++ > m->state_count)
                return fails_at(p, m->states[s].line, m->states[s].column,
                                "lambdas lead from state '%.100s' round and round",
                                m->states[s].name);
    }
    return true;
}

/* A metric by item takes events of all threads alike, in its own automaton. */
static bool make_own(struct pt_parser *p, const posixtrace_metric_t *m,
                     struct pt_written_list *list)
{
    for (size_t i = 0; m->by_item && i < list->count; i++) {
        struct pt_written *w = &list->at[i];

        if (w->kind == PT_LABEL_EVENT && !is_general(w))
            return fails_at(p, w->line, w->column,
                            "metric '%.100s' is by item, whichever thread's "
                            "the events are: no label has \"i\" or \"not i\"",
                            m->name);
        w->of[PT_OTHER] &= w->kind != PT_LABEL_EVENT;
    }
    return true;
}

/* An object's automaton is made by an event of the thread, and is gone in the first state. */
static bool fits_object(struct pt_parser *p, const posixtrace_metric_t *m)
{
    if (!m->by_object || (!m->looks_at_others && !m->looks_at_all))
        return true;
    if (m->by_item)
        return fails_at(p, m->line, 1, "metric '%.100s' is by item: it has no label \"*\"",
                        m->name);
    return fails_at(p, m->line, 1,
                    "metric '%.100s' is by object: all its labels must be of the "
                    "form \"EVENT, i\"; \"by item\" is for events of several threads",
                    m->name);
}

bool pt_resolve(struct pt_parser *p, posixtrace_metric_t *m, struct pt_written_list *list)
{
    if (m->state_count == 0)
        return fails_at(p, m->line, 1, "metric '%.100s' has no states", m->name);
    if (!make_own(p, m, list) || !look_for_twins(p, m, list) || !gather_events(p, m, list) ||
        !put_lambdas(p, m, list))
        return false;
    /* Those for one or the other first, so that the general ones give way. */
    for (int general = 0; general < 2; general++)
        for (size_t i = 0; i < list->count; i++)
            if (list->at[i].kind != PT_LABEL_LAMBDA && is_general(&list->at[i]) == general &&
                !put_event(p, m, &list->at[i]))
                return false;
    spread_star(m);
    pt_machine_finish(m);
    return fits_object(p, m);
}
