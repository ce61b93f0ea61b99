/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* One metric: found by its name, made of two events of the program, and its properties. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "analysis/metrics/language/machine.h"
#include "analysis/metrics/language/set.h"
#include "analysis/metrics/language/lexer.h"

/* Takes the only or the index-th metric out of a set, which is freed. */
static posixtrace_metric_t *take_out(posixtrace_metric_set_t *set,
                                     const posixtrace_metric_t *metric)
{
    posixtrace_metric_t *taken = NULL;

    for (size_t i = 0; i < set->count; i++)
        if (set->metrics[i] == metric) {
            taken = set->metrics[i];
            set->metrics[i] = NULL;
        }
    posixtrace_metric_set_free(set);
    return taken;
}

int posixtrace_system_metric(const char *metric_name, posixtrace_metric_t **metric)
{
    posixtrace_metric_set_t *set;
    int error;

    if (!metric_name || !metric)
        return EINVAL;
    error = posixtrace_metric_set_open("linux", &set);
    if (error)
        return error;
    *metric = take_out(set, posixtrace_metric_set_find(set, metric_name));
    return *metric ? 0 : ENOENT;
}

static bool is_good_name(const char *name)
{
    return name && *name && strlen(name) <= TRACE_EVENT_NAME_MAX;
}

/* The name in quotation marks. */
static void put_quoted(FILE *to, const char *name)
{
    fputc('"', to);
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            fputc('\\', to);
        fputc(*name, to);
    }
    fputc('"', to);
}

/* The text of a metric $NAME with its names filled in: where they are words, so not in
 * quotation marks or comments. */
static void fill_in(FILE *to, const char *text, const char *const values[3])
{
    static const char *const names[] = { "$NAME", "$INITIAL", "$FINAL" };
    const char *from = text;
    struct pt_lexer words;

    pt_lexer_begin(&words, text, strlen(text));
    for (; words.word.kind != PT_WORD_END; pt_lexer_next(&words))
        for (size_t i = 0; i < 3; i++) {
            if (!pt_lexer_is(&words, names[i]))
                continue;
            fwrite(from, 1, (size_t)(words.at - from) - strlen(names[i]), to);
            put_quoted(to, values[i]);
            from = words.at;
        }
    fputs(from, to);
}

static bool are_good(const char *const values[3])
{
    for (size_t i = 0; i < 3; i++)
        if (!is_good_name(values[i]) || strchr(values[i], '\n'))
            return false;
    return true;
}

int pt_metric_fill(const char *text, const char *const values[3], posixtrace_metric_t **metric,
                   struct posixtrace_metric_fault *fault)
{
    posixtrace_metric_set_t *set;
    char *filled = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&filled, &len);
    int error;

    if (!memory)
        return ENOMEM;
    fill_in(memory, text, values);
    error = fclose(memory) != 0 ? ENOMEM : posixtrace_metric_set_parse(filled, len, &set, fault);
    free(filled);
    if (error)
        return error;
    *metric = take_out(set, set->metrics[0]);
    return 0;
}

static int make(const char *text, const char *const values[3], posixtrace_metric_t **metric)
{
    return pt_metric_fill(text, values, metric, NULL);
}

int posixtrace_new_user_metric(const char *metric_name, const char *initial_event,
                               const char *final_event, bool include_system,
                               posixtrace_metric_t **metric)
{
    const char *const values[] = { metric_name, initial_event, final_event };
    const char *form = include_system ? "user" : "user-nosystem";

    if (!metric || !are_good(values))
        return EINVAL;
    if (strcmp(initial_event, final_event) == 0)
        form = include_system ? "user-same" : "user-same-nosystem";
    return make(posixtrace_metric_set_text(form), values, metric);
}

int posixtrace_metric_set_user(const posixtrace_metric_set_t *set, const char *metric_name,
                               const char *initial_event, const char *final_event,
                               enum posixtrace_user_time time, posixtrace_metric_t **metric)
{
    const char *const values[] = { metric_name, initial_event, final_event };
    bool same;

    if (!set || !metric || !are_good(values))
        return EINVAL;
    same = strcmp(initial_event, final_event) == 0;
    if (time == POSIXTRACE_USER_OF_SET && set->user)
        return same ? ENOTSUP : make(set->user, values, metric);
    switch (time) {
    case POSIXTRACE_USER_OF_SET:
    case POSIXTRACE_USER_ELAPSED:
        return make(posixtrace_metric_set_text(same ? "user-same-elapsed" : "user-elapsed"), values,
                    metric);
    case POSIXTRACE_USER_CPU:
    case POSIXTRACE_USER_NOSYSTEM:
        return posixtrace_new_user_metric(metric_name, initial_event, final_event,
                                          time == POSIXTRACE_USER_CPU, metric);
    default: return EINVAL;
    }
}

void posixtrace_metric_free(posixtrace_metric_t *metric)
{
    if (metric)
        pt_machine_deinit(metric);
    free(metric);
}

const char *posixtrace_metric_name(const posixtrace_metric_t *metric)
{
    return metric->name;
}

const char *posixtrace_metric_about(const posixtrace_metric_t *metric)
{
    return metric->about ? metric->about : "";
}

bool posixtrace_metric_by_object(const posixtrace_metric_t *metric)
{
    return metric && metric->by_object;
}

const char *posixtrace_metric_event(const posixtrace_metric_t *metric, size_t i, bool *needed)
{
    if (i >= metric->event_count)
        return NULL;
    if (needed)
        *needed = metric->needed[i];
    return metric->events[i];
}
