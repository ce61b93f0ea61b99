/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/emit.h: the preparation of a tracing line when it runs first.
 *
 * Lines that give one name to different fields get types of their own: the first description
 * of "order" has that name, each further one "order#2", "order#3" and so on.  A type keeps the
 * first description that is published for it (page/names.h), and every line tries the names in
 * this order until it finds its own description: so threads, children and libraries that open
 * the same lines at the same time end with the same types.
 */
#include <posixtrace/emit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/trace_names.h"
#include "base/atomics.h"
#include "model/layout.h"
#include "model/ctype_c.h"
#include "process/gates.h"
#include "writer/event.h"

#define NAME_BYTES 64u /* of a field, with NUL */

struct text {
    char bytes[PT_DESCRIPTION_MAX + 1];
    size_t length;
};

/* The last identifier before the first bracket that does not begin the expression; of
 * posixtrace_text(string, length) that of the string. */
static void name_of(const char *expression, char name[NAME_BYTES])
{
    static const char text[] = "posixtrace_text(";
    size_t end = 0, from = 0, to = 0;

    if (strncmp(expression, text, sizeof text - 1) == 0)
        expression += sizeof text - 1;
    if (*expression == '"' || *expression == '\'')
        expression = "";
    while (expression[end] && (end == 0 || !strchr("([{,", expression[end])))
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
    /* An argument may itself be called arg2. */
    for (size_t i = number; !name[0] || pt_is_digit(name[0]) || is_taken(t, name); i++)
        snprintf(name, sizeof name, "arg%zu", i);
    n = snprintf(t->bytes + t->length, sizeof t->bytes - t->length, "%s%s %s",
                 number > 1 ? "; " : "", type, name);
    t->length += (size_t)n;
}

static bool is_plain_integer(int kind)
{
    return kind == POSIXTRACE_FIELD_UNSIGNED || kind == POSIXTRACE_FIELD_HEX;
}

/* Does x give the same values the same names?  It may have more: hexadecimal, and names of
 * values. */
static bool reads_as(const struct posixtrace_layout *x, const struct posixtrace_layout *y)
{
    if (x->count != y->count || x->big_endian != y->big_endian)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const struct posixtrace_field *a = &x->fields[i], *b = &y->fields[i];

        if (strcmp(a->name, b->name) != 0 || a->bits != b->bits || a->array != b->array ||
            a->count_bits != b->count_bits || a->count != b->count ||
            (a->kind != b->kind && !(is_plain_integer(a->kind) && is_plain_integer(b->kind))))
            return false;
    }
    return true;
}

/* Does the type already have such a description? */
static bool is_described_as_well(const struct pt_names *names, uint32_t id, const char *text)
{
    char known[PT_DESCRIPTION_MAX + 1];
    struct posixtrace_layout *x = NULL, *y = NULL;
    bool same;

    same = pt_names_read_description(names, id, known) && pt_layout_read(known, &x) == 0 &&
           pt_layout_read(text, &y) == 0;
    if (same && !y->says_order)
        y->big_endian = x->big_endian;
    same = same && reads_as(x, y);
    free(x);
    free(y);
    return same;
}

/* "order#2": a name that is too long for that loses its end, at a character's end. */
static void name_again(const char *event_name, unsigned n, char name[TRACE_EVENT_NAME_MAX + 1])
{
    char mark[16];
    size_t size = (size_t)snprintf(mark, sizeof mark, "#%u", n), length = strlen(event_name);

    if (length > TRACE_EVENT_NAME_MAX - size) {
        length = TRACE_EVENT_NAME_MAX - size;
        while (length && ((unsigned char)event_name[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(name, event_name, length);
    memcpy(name + length, mark, size + 1);
}

/*
 * The first of the types called event_name, event_name#2 and so on whose data is described by
 * text: *id is that of event_name, and gets the result.  A type that cannot be described, for
 * lack of room, must not be described by others either.  -EPERM: there are no more types.
 */
static int open_described(struct pt_names *names, const char *event_name, const char *text,
                          trace_event_id_t *id)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    uint32_t found = *id;
    int r = pt_event_describe(names, found, text);

    for (unsigned n = 2; r == -EEXIST || (r == -ENOSPC && pt_names_description(names, found));
         n++) {
        if (is_described_as_well(names, found, text)) {
            r = 0;
            break;
        }
        name_again(event_name, n, name);
        r = pt_names_id(names, name, true, &found);
        if (r == 0)
            r = pt_event_describe(names, found, text);
    }
    *id = found;
    return r == -ENOSPC ? 0 : r;
}

PT_PUBLIC trace_event_id_t posixtrace_site_open(trace_event_id_t *site, const char *event_name,
                                                const char *const *types, const char *const *fields,
                                                size_t count)
{
    struct text t = { .length = 0 };
    struct pt_self *self;
    trace_event_id_t id;

    for (size_t i = 0; i < count && i < 16; i++)
        add_field(&t, types[i], fields[i], i + 1);
    if (pt_eventid_open(event_name, &id, &self) != 0)
        return 0;
    /* Under a type with another description, the data would be misread. */
    if (count) {
        int r = open_described(self->names, event_name, t.bytes, &id);

        if (r < 0 && r != -EPERM)
            return 0;
    }
    pt_gates_named(self, id);
    pt_store_release(site, id);
    return id;
}

PT_PUBLIC const uint64_t *const *posixtrace_site_gates(void)
{
    return (const uint64_t *const *)&pt_gates;
}

PT_PUBLIC void posixtrace_event_word(trace_event_id_t event, size_t size, uint64_t first)
{
    pt_event_record_words(event, size, &first, 1);
}

PT_PUBLIC void posixtrace_event_words(trace_event_id_t event, size_t size, uint64_t first,
                                      uint64_t second)
{
    const uint64_t data[PT_EVENT_WORDS] = { first, second };

    pt_event_record_words(event, size, data, 2);
}

PT_PUBLIC bool posixtrace_event_wanted(trace_event_id_t event)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);

    return event < PT_ID_MAX && pt_load_relaxed(&gates[event]) != 0;
}
