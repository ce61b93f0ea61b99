/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Which event types are counters: those of the program with one field, which is a number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

static bool ends_in(const char *name, const char *word)
{
    size_t length = strlen(name), tail = strlen(word);

    return length > tail && strcmp(name + length - tail, word) == 0;
}

static bool is_part_of_pair(const char *name)
{
    static const char *const words[] = { "begin", "enter", "entry", "end", "exit" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ends_in(name, words[i]))
            return true;
    return false;
}

/* The name of its one field, or NULL. */
static const char *number_of(const posixtrace_layout_t *layout)
{
    const struct posixtrace_field *f;

    if (!layout || posixtrace_layout_count(layout) != 1)
        return NULL;
    f = posixtrace_layout_field(layout, 0);
    if (f->array || f->enumerator_count > 0 ||
        (f->kind != POSIXTRACE_FIELD_UNSIGNED && f->kind != POSIXTRACE_FIELD_SIGNED &&
         f->kind != POSIXTRACE_FIELD_FLOAT))
        return NULL;
    return f->name;
}

int pt_html_find_counters(trace_id_t trid, posixtrace_fields_t *fields, char **to)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 0;
    unsigned count = 0;
    int error = posix_trace_eventtypelist_rewind(trid);

    while (!error && count < PT_TL_OPTIONS &&
           posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 && !unavailable) {
        const char *field;

        if (id < POSIX_TRACE_UNNAMED_USEREVENT || posix_trace_eventid_get_name(trid, id, name) != 0)
            continue;
        field = number_of(posixtrace_fields_layout(fields, id));
        if (!field || is_part_of_pair(name) || strncmp(name, "posixtrace_", 11) == 0)
            continue;
        if (asprintf(&to[count], "counter=%s.%s", name, field) < 0)
            error = ENOMEM;
        to[count + (error == 0)] = NULL;
        count += error == 0;
    }
    return error;
}
