/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/emit.h: what a line that traces needs before it runs first. */
#include <posixtrace/emit.h>
#include <stdio.h>
#include <string.h>
#include "api/names.h"
#include "base/atomics.h"
#include "model/letters.h"
#include "stream/event.h"
#include "stream/gates.h"

#define NAME_BYTES 64u   /* of a field, with NUL */

struct text {
    char   bytes[PT_DESCRIPTION_MAX + 1];
    size_t length;
};

/* The last identifier before the first bracket that does not begin the expression. */
static void name_of(const char *expression, char name[NAME_BYTES])
{
    size_t end = 0, from = 0, to = 0;

    if (*expression == '"' || *expression == '\'')
        expression = "";
    while (expression[end] && (end == 0 || !strchr("([{", expression[end])))
        end++;
    for (size_t i = 0; i < end; i++) {
        if (!pt_is_word_byte(expression[i], false))
            continue;
        from = i;
        while (i < end && pt_is_word_byte(expression[i], false))
            i++;
        to = i;
    }
    if (to - from >= NAME_BYTES)
        to = from + NAME_BYTES - 1;
    memcpy(name, expression + from, to - from);
    name[to - from] = '\0';
}

/* Is it the name of a field already?  Fields are "type name; ". */
static bool is_taken(const struct text *t, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = t->bytes; (p = strchr(p, ' ')); p++)
        if (strncmp(p + 1, name, length) == 0 && (!p[1 + length] || p[1 + length] == ';'))
            return true;
    return false;
}

static void add_field(struct text *t, const char *type, const char *expression, size_t number)
{
    char name[NAME_BYTES];
    int n;

    name_of(expression, name);
    if (!name[0] || pt_is_digit(name[0]) || is_taken(t, name))
        snprintf(name, sizeof name, "arg%zu", number);
    n = snprintf(t->bytes + t->length, sizeof t->bytes - t->length, "%s%s %s",
                 number > 1 ? "; " : "", type, name);
    t->length += (size_t)n;
}

PT_PUBLIC trace_event_id_t posixtrace_site_open(trace_event_id_t *site, const char *event_name,
                                                const char *const *types,
                                                const char *const *fields, size_t count)
{
    struct text t = { .length = 0 };
    struct pt_self *self;
    trace_event_id_t id;

    for (size_t i = 0; i < count && i < 16; i++)
        add_field(&t, types[i], fields[i], i + 1);
    if (pt_eventid_open(event_name, &id, &self) != 0)
        return 0;
    if (count)
        pt_event_describe(self->names, id, t.bytes);
    pt_gates_named(self, id);
    pt_store_relaxed(site, id);
    return id;
}

PT_PUBLIC int posixtrace_event_wanted(trace_event_id_t event)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);

    return event < PT_ID_MAX && pt_load_relaxed(&gates[event]) != 0;
}
