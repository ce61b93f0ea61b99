/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_pairs.h.
 */
#include "metrics/metrics_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/tool.h"

static const char begin_mark[] = ":begin", end_mark[] = ":end";

/* The length of x in x:begin, 0 for another name. */
static size_t stem(const char *name)
{
    size_t length = strlen(name), mark = sizeof begin_mark - 1;

    return length > mark && strcmp(name + length - mark, begin_mark) == 0 ? length - mark : 0;
}

/* The type x:end of x:begin, or NULL. */
static const struct log_type *end_of(const struct log_type *types, size_t count,
                                     const struct log_type *begin)
{
    size_t length = stem(begin->name);

    for (size_t i = 0; length > 0 && i < count; i++) {
        if (strncmp(types[i].name, begin->name, length) == 0 &&
            strcmp(types[i].name + length, end_mark) == 0)
            return &types[i];
    }
    return NULL;
}

static bool is_there(const struct metrics_pick *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].own && strcmp(posixtrace_metric_name(p->metrics[i]), name) == 0)
            return true;
    }
    return false;
}

static int add_pair(struct metrics_pick *p, const char *name, const struct log_type *begin,
                    const struct log_type *end)
{
    struct metrics_picked made = { .time = POSIXTRACE_USER_ELAPSED, .named = !p->all };
    int error = posixtrace_metric_set_user(p->set, name, begin->name, end->name, made.time,
                                           &made.own);

    if (error == EINVAL && p->all) /* with a newline in it */
        return EXIT_DONE;
    if (error != 0)
        return tool_error("cannot make the metric %s: %s", quote(name), strerror(error));
    made.metric = made.own;
    metrics_pick_put(p, &made);
    return EXIT_DONE;
}

/* Of those that are wanted by name, if the log has it. */
static int add_wanted(struct metrics_pick *p, const char *name, const struct log_type *types,
                      size_t count)
{
    if (is_there(p, name))
        return EXIT_DONE;
    for (size_t i = 0; i < count; i++) {
        const struct log_type *end = end_of(types, count, &types[i]);

        if (end && stem(types[i].name) == strlen(name) &&
            strncmp(types[i].name, name, strlen(name)) == 0)
            return add_pair(p, name, &types[i], end);
    }
    return EXIT_DONE;
}

int metrics_pairs_add(struct metrics_pick *p, const struct log_file *log)
{
    struct log_type *types = NULL;
    char name[sizeof types->name];
    size_t count = 0;
    int status = p->all || p->wanted_count > 0 ? log_file_types(log, &types, &count) : EXIT_DONE;

    for (size_t i = 0; p->all && status == EXIT_DONE && i < count; i++) {
        const struct log_type *end = end_of(types, count, &types[i]);

        if (!end)
            continue;
        memcpy(name, types[i].name, sizeof name);
        name[stem(name)] = '\0';
        if (!is_there(p, name))
            status = add_pair(p, name, &types[i], end);
    }
    for (size_t i = 0; status == EXIT_DONE && i < p->wanted_count; i++)
        status = add_wanted(p, p->wanted[i], types, count);
    free(types);
    return status;
}

int metrics_pairs_check(const struct metrics_pick *p)
{
    const posixtrace_metric_t *metric;
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < p->wanted_count; i++)
        if (!is_there(p, p->wanted[i]))
            status = metrics_find(p->set, p->set_word, p->wanted[i], &metric);
    return status;
}

/* ---- pairs that were not measured ---- */

enum { ESCAPE_MAX = 4 };

/* As a field of --user, within single quotes of a shell. */
static char *put_field(char *to, const char *name)
{
    for (; *name; name++) {
        if (*name == '\'')
            to = stpcpy(to, "'\\'"); /* and what ends the quotes begins them again */
        if (*name == ':' || *name == '\\')
            *to++ = '\\';
        *to++ = *name;
    }
    *to = '\0';
    return to;
}

static void report_pair(const struct metrics_view *v, const char *name)
{
    char field[TRACE_EVENT_NAME_MAX * ESCAPE_MAX + 1];

    put_field(field, name);
    if (strchr(name, '\n'))
        metrics_remark(v, "%s: not measured, because no metric can have a newline in its name",
                       unquoted(name));
    else if (utf8_are_plain((const uint8_t *)name, strlen(name), UTF8_TERMINAL_ASCII))
        metrics_remark(v,
                       "%s: not measured, because %s named its events only as they came; "
                       "'--user=%s:%s\\:begin:%s\\:end' measures it",
                       unquoted(name), v->shown, field, field, field);
    else
        metrics_remark(v,
                       "%s: not measured, because %s named its events only as they came; "
                       "'--user' measures it",
                       unquoted(name), v->shown);
}

void metrics_pairs_report(const struct metrics_view *v)
{
    struct log_type *types = NULL;
    char name[sizeof types->name];
    size_t count = 0;

    if (!v->pick->all || metrics_view_types(v, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!end_of(types, count, &types[i]))
            continue;
        memcpy(name, types[i].name, sizeof name);
        name[stem(name)] = '\0';
        if (!is_there(v->pick, name))
            report_pair(v, name);
    }
    free(types);
}
