/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See further_types.h. */
#include "input/further_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

/* The number of a further description, as in order#2, and the length of the name before its
 * mark; 0: the name has none. */
static unsigned long number_of(const char *name, size_t *length)
{
    const char *mark = strrchr(name, '#');
    unsigned long number;
    char *end;

    if (!mark || mark[1] < '1' || mark[1] > '9')
        return 0;
    number = strtoul(mark + 1, &end, 10);
    *length = (size_t)(mark - name);
    return *end || number == 1 ? 0 : number;
}

/* A name that is too long for the mark has lost its end: all such names share the rest. */
static bool is_further(const struct log_type *type, const struct log_type *of)
{
    size_t length;

    if (!number_of(type->name, &length) || strncmp(type->name, of->name, length) != 0)
        return false;
    return of->name[length] == '\0' ||
           (strlen(type->name) == TRACE_EVENT_NAME_MAX && strlen(of->name) > length &&
            strlen(of->name) + strlen(type->name + length) > TRACE_EVENT_NAME_MAX &&
            !number_of(of->name, &length));
}

/* The number of types that type may be a further one of; above 1 only if names were cut. */
static size_t bases_of(const struct log_type *types, size_t count, const struct log_type *type)
{
    size_t bases = 0;

    for (size_t i = 0; i < count; i++)
        bases += types[i].id > POSIX_TRACE_UNNAMED_USEREVENT && is_further(type, &types[i]);
    return bases;
}

static void print_one(const struct log_type *types, size_t count, const struct log_type *of,
                      const char *in_front, size_t indent)
{
    const struct log_type *first = NULL, *last = NULL;
    size_t further = 0;
    char text[3 * TRACE_EVENT_NAME_MAX * UTF8_MAX_ESCAPE + 100];

    for (size_t i = 0; i < count; i++) {
        if (!is_further(&types[i], of) || bases_of(types, count, &types[i]) > 1)
            continue;
        first = first ? first : &types[i];
        last = &types[i];
        further++;
    }
    if (further == 0)
        return;
    out_text(in_front);
    if (further == 1)
        snprintf(text, sizeof text, "%s in 2 ways: the further type is %s", quote(of->name),
                 quote(first->name));
    else
        snprintf(text, sizeof text, "%s in %zu ways: the further types are %s to %s",
                 quote(of->name), further + 1, quote(first->name), quote(last->name));
    out_wrapped(text, strlen(in_front), indent);
}

static void print_ambiguous(const struct log_type *type, const char *in_front, size_t indent)
{
    char text[TRACE_EVENT_NAME_MAX * UTF8_MAX_ESCAPE + 100];

    snprintf(text, sizeof text, "%s is a further type of one whose name begins so",
             quote(type->name));
    out_text(in_front);
    out_wrapped(text, strlen(in_front), indent);
}

int further_types_print(const struct log_file *log, const char *in_front, size_t indent)
{
    struct log_type *types;
    size_t count;
    int status = log_file_types(log, &types, &count);

    if (status != EXIT_DONE)
        return status;
    for (size_t i = 0; i < count; i++)
        if (types[i].id > POSIX_TRACE_UNNAMED_USEREVENT)
            print_one(types, count, &types[i], in_front, indent);
    for (size_t i = 0; i < count; i++)
        if (bases_of(types, count, &types[i]) > 1)
            print_ambiguous(&types[i], in_front, indent);
    free(types);
    return EXIT_DONE;
}
