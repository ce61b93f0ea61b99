/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See machine.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/machine.h"

bool pt_is_type_of(const char *event, const char *type)
{
    size_t length = strlen(event);
    const char *number;

    if (strncmp(type, event, length) != 0 || (type[length] != '\0' && type[length] != '#'))
        return false;
    if (type[length] == '\0')
        return true;
    number = type + length + 1;
    return *number >= '1' && *number <= '9' && strcmp(number, "1") != 0 &&
           number[strspn(number, "0123456789")] == '\0';
}

size_t pt_machine_event(const posixtrace_metric_t *m, const char *type)
{
    size_t e = 0;

    while (e < m->event_count && strcmp(m->events[e], type) != 0)
        e++;
    for (size_t i = 0; e == m->event_count && i < m->event_count; i++)
        if (pt_is_type_of(m->events[i], type))
            return i;
    return e;
}

const char *pt_kind_name(enum pt_kind kind)
{
    static const char *const names[] = { "begin", "end", "cancel", "in", "out", "cond" };

    return names[kind];
}

static const char *skip(const char *s)
{
    while (*s == ' ' || *s == '_' || *s == '-')
        s++;
    return s;
}

bool pt_same_name(const char *a, const char *b)
{
    for (a = skip(a), b = skip(b); *a && *b; a = skip(a + 1), b = skip(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return *a == *b;
}

static void reach_from(const posixtrace_metric_t *m, size_t without, size_t state, bool *reached)
{
    int lambda = m->states[state].lambda.target;

    if (lambda != PT_NOWHERE)
        reached[lambda] = true;
    for (size_t row = 0; row < pt_machine_rows(m); row++)
        for (int who = 0; row % (m->event_count + 1) != without && who < PT_WHO; who++) {
            int target = pt_machine_way(m, row, who, state)->target;

            if (target != PT_NOWHERE)
                reached[target] = true;
        }
}

void pt_machine_reach(const posixtrace_metric_t *m, size_t without, bool *reached)
{
    size_t known = 0, count = 1;

    memset(reached, 0, m->state_count * sizeof *reached);
    reached[0] = true;
    while (known < count) {
        known = count;
        count = 0;
        for (size_t s = 0; s < m->state_count; s++)
            if (reached[s])
                reach_from(m, without, s, reached);
        for (size_t s = 0; s < m->state_count; s++)
            count += reached[s];
    }
}

bool pt_machine_ends(const posixtrace_metric_t *m, size_t without)
{
    bool reached[PT_STATES_MAX];

    pt_machine_reach(m, without, reached);
    for (size_t s = 0; s < m->state_count; s++)
        if (reached[s] && m->states[s].kind == PT_KIND_END)
            return true;
    return false;
}

void pt_machine_finish(posixtrace_metric_t *m)
{
    for (size_t e = 0; e <= m->event_count; e++)
        for (size_t s = 0; s < m->state_count; s++) {
            bool own = pt_machine_way(m, e, PT_OWN, s)->target != PT_NOWHERE;
            bool other = pt_machine_way(m, e, PT_OTHER, s)->target != PT_NOWHERE;

            m->looks_at_others |= other;
            m->looks_at_all |= e == m->event_count && (own || other);
            m->eager |= other && s == 0;
        }
    for (size_t e = 0; e < m->event_count; e++)
        m->needed[e] = !pt_machine_ends(m, e);
}

void pt_machine_deinit(posixtrace_metric_t *m)
{
    for (size_t s = 0; s < m->state_count; s++)
        free(m->states[s].name);
    for (size_t e = 0; e < m->event_count; e++)
        free(m->events[e]);
    free(m->states);
    free(m->events);
    free(m->needed);
    free(m->ways);
    free(m->name);
    free(m->about);
}
