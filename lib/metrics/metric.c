/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* One metric: by its name, of two events of the program, and what is known of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "metrics/machine.h"
#include "metrics/set.h"

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
    error = posixtrace_metric_set_builtin("linux", &set);
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

/* The text of the set "user" with $NAME, $INITIAL and $FINAL filled in. */
static void fill_in(FILE *to, const char *text, const char *const values[3])
{
    static const char *const words[] = { "$NAME", "$INITIAL", "$FINAL" };

    while (*text) {
        size_t i = 0;

        while (i < 3 && strncmp(text, words[i], strlen(words[i])) != 0)
            i++;
        if (i == 3) {
            fputc(*text++, to);
            continue;
        }
        put_quoted(to, values[i]);
        text += strlen(words[i]);
    }
}

int posixtrace_new_user_metric(const char *metric_name, const char *initial_event,
                               const char *final_event, bool include_system,
                               posixtrace_metric_t **metric)
{
    const char *const values[] = { metric_name, initial_event, final_event };
    const char *form = include_system ? "user" : "user-nosystem";
    posixtrace_metric_set_t *set;
    char *text = NULL;
    size_t len = 0;
    FILE *memory;
    int error;

    if (!metric || !is_good_name(metric_name) || !is_good_name(initial_event) ||
        !is_good_name(final_event) || strpbrk(metric_name, "\n") || strpbrk(initial_event, "\n") ||
        strpbrk(final_event, "\n"))
        return EINVAL;
    if (strcmp(initial_event, final_event) == 0)
        form = include_system ? "user-same" : "user-same-nosystem";
    memory = open_memstream(&text, &len);
    if (!memory)
        return ENOMEM;
    fill_in(memory, posixtrace_metric_set_text(form), values);
    error = fclose(memory) != 0 ? ENOMEM : posixtrace_metric_set_parse(text, len, &set, NULL);
    free(text);
    if (error)
        return error;
    *metric = take_out(set, set->metrics[0]);
    return 0;
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

const char *posixtrace_metric_event(const posixtrace_metric_t *metric, size_t i, bool *needed)
{
    if (i >= metric->event_count)
        return NULL;
    if (needed)
        *needed = metric->needed[i];
    return metric->events[i];
}
