/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What can be said of an automaton that is written well and may be wrong all the same. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/machine.h"
#include "analysis/metrics/language/set.h"

struct sayer {
    int (*say)(void *, const struct posixtrace_metric_fault *);
    void *context;
    int ended; /* what say() returned last */
};

__attribute__((format(printf, 4, 5))) static void say(struct sayer *s, unsigned line,
                                                      unsigned column, const char *format, ...)
{
    struct posixtrace_metric_fault fault = { .line = line, .column = column };
    va_list args;

    va_start(args, format);
    vsnprintf(fault.text, sizeof fault.text, format, args);
    va_end(args);
    if (s->say && !s->ended)
        s->ended = s->say(s->context, &fault);
}

static bool has_way_out(const posixtrace_metric_t *m, size_t state)
{
    if (m->states[state].lambda.target != PT_NOWHERE)
        return true;
    for (size_t row = 0; row < pt_machine_rows(m); row++)
        for (int who = 0; who < PT_WHO; who++) {
            int target = pt_machine_way(m, row, (enum pt_who)who, state)->target;

            if (target != PT_NOWHERE && target != (int)state)
                return true;
        }
    return false;
}

static void check_metric(struct sayer *s, const posixtrace_metric_t *m)
{
    bool reached[PT_STATES_MAX], begins = false;

    pt_machine_reach(m, SIZE_MAX, reached);
    for (size_t i = 0; i < m->state_count; i++) {
        const struct pt_state *state = &m->states[i];

        begins |= reached[i] && state->kind == PT_KIND_BEGIN;
        if (!reached[i])
            say(s, state->line, state->column, "state '%.100s' cannot be reached", state->name);
        else if (!has_way_out(m, i))
            say(s, state->line, state->column,
                "no way leads out of state '%.100s': after one "
                "measurement there is no other",
                state->name);
    }
    if (!begins)
        say(s, m->line, 1, "metric '%.100s' has no begin that can be reached", m->name);
    if (!pt_machine_ends(m, SIZE_MAX))
        say(s, m->line, 1, "metric '%.100s' has no end that can be reached", m->name);
}

int posixtrace_metric_set_check(const posixtrace_metric_set_t *set,
                                int (*each)(void *context,
                                            const struct posixtrace_metric_fault *fault),
                                void *context)
{
    struct sayer s = { each, context, 0 };

    for (size_t i = 0; set && i < set->count && !s.ended; i++)
        check_metric(&s, set->metrics[i]);
    if (set && set->count == 0)
        say(&s, 0, 0, "there is no metric in it");
    return s.ended;
}
