/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Names in an expression that nothing has: probably misspelt.  An expression that looks for
 * them is not wrong, since a type may be opened later, or be described in another log.
 */
#include "input/filter_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/tool.h"

enum { NEAR_MAX = 256, FIELDS_MAX = 4096 };

/* The types of one log or of several. */
struct known {
    const char *shown; /* how the logs are called in messages */
    struct log_type *types;
    posixtrace_fields_t **fields; /* of each type: those of its log */
    size_t count;
};

static void add_type(struct known *k, const struct log_type *type, posixtrace_fields_t *fields)
{
    k->types = tool_grow(k->types, k->count + 1, sizeof *k->types);
    k->fields = tool_grow(k->fields, k->count + 1, sizeof(posixtrace_fields_t *));
    k->types[k->count] = *type;
    k->fields[k->count++] = fields;
}

/* The types that a log names, and the system types that it can have, whether or not it has
 * recorded them. */
static bool add_log(struct known *k, const struct log_file *log, posixtrace_fields_t *fields)
{
    struct log_type *types;
    size_t count;

    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return false;
    for (size_t i = 0; i < count; i++)
        add_type(k, &types[i], fields);
    free(types);
    for (trace_event_id_t id = 1; id < POSIX_TRACE_UNNAMED_USEREVENT; id++) {
        struct log_type type = { .id = id };

        if (posix_trace_eventid_get_name(log->trid, id, type.name) == 0)
            add_type(k, &type, fields);
    }
    return true;
}

static const posixtrace_layout_t *layout_of(const struct known *k, size_t i)
{
    return posixtrace_fields_layout(k->fields[i], k->types[i].id);
}

static bool is_known(const struct known *k, const struct filter_option *w, size_t test)
{
    for (size_t i = 0; i < k->count; i++)
        if (posixtrace_expression_test_suits(w->expression, test, k->types[i].name,
                                             layout_of(k, i)))
            return true;
    return false;
}

/* All names of fields; the list is for free(). */
static const char **field_names(const struct known *k)
{
    const char **list = tool_grow(NULL, FIELDS_MAX + 1, sizeof *list);
    size_t used = 0;

    for (size_t i = 0; i < k->count; i++) {
        const posixtrace_layout_t *l = layout_of(k, i);
        size_t count = l ? posixtrace_layout_count(l) : 0;

        for (size_t field = 0; field < count && used < FIELDS_MAX; field++)
            list[used++] = posixtrace_layout_field(l, field)->name;
    }
    list[used] = NULL;
    return list;
}

/* The part of a type's name to compare: for a pattern with fixed first bytes, as many bytes, one
 * more or one less; for a class or group its name. */
static size_t part_of(const struct posixtrace_expression_test *t, const char *name, size_t fixed,
                      size_t try)
{
    if (strcmp(t->subject, "event") != 0)
        return strcspn(name, strcmp(t->subject, "class") == 0 ? ":" : ".:/");
    return t->name[fixed] == '\0' ? NEAR_MAX - 1 : fixed + try - (fixed > 0);
}

/* Finds a similar name of a type, a class or a group; false: there is none. */
static bool find_near(const struct known *k, const struct posixtrace_expression_test *t,
                      char to[NEAR_MAX])
{
    size_t fixed = t->pattern ? strcspn(t->name, "*?[\\") : strlen(t->name), found;
    char word[NEAR_MAX], (*part)[NEAR_MAX] = tool_grow(NULL, 3 * k->count + 1, sizeof *part);
    const char **list = tool_grow(NULL, 3 * k->count + 1, sizeof *list), *near;

    /* One letter is one error away from any name. */
    snprintf(word, sizeof word, "%.*s", t->name[fixed] && fixed < 2 ? 0 : (int)fixed, t->name);
    for (size_t i = 0; i < 3 * k->count; i++) {
        const char *name = k->types[i / 3].name;

        snprintf(part[i], sizeof part[i], "%.*s", (int)part_of(t, name, fixed, i % 3), name);
        list[i] = part[i];
    }
    list[3 * k->count] = NULL;
    near = options_nearest(word, list);
    for (found = 0; near && list[found] != near; found++)
        ;
    if (near)
        snprintf(to, NEAR_MAX, "%s",
                 strcmp(t->subject, "event") == 0 ? k->types[found / 3].name : near);
    free(list);
    free(part);
    return near;
}

static const char *words_of(const struct posixtrace_expression_test *t)
{
    if (strcmp(t->subject, "event") == 0)
        return t->pattern && strpbrk(t->name, "*?[") ? "has a name like" : "is called";
    return strcmp(t->subject, "class") == 0 ? "is of the class" : "is in the group";
}

static void say_type(const struct known *k, const struct filter_option *w,
                     const struct posixtrace_expression_test *t, const char *const *fields)
{
    char *name = quote_copy(t->name), near[NEAR_MAX];
    bool field = false;

    for (size_t i = 0; fields[i]; i++)
        field |= strcmp(fields[i], t->name) == 0;
    if (field)
        tool_note("%s: no event type of %s %s %s; for the field of that name write '%s != 0'",
                  w->option, k->shown, words_of(t), name, unquoted(t->name));
    else if (find_near(k, t, near))
        tool_note("%s: no event type of %s %s %s; did you mean %s?", w->option, k->shown,
                  words_of(t), name, quote(near));
    else
        tool_note("%s: no event type of %s %s %s", w->option, k->shown, words_of(t), name);
    free(name);
}

static void say_field(const struct known *k, const struct filter_option *w, const char *name,
                      const char *const *fields)
{
    const char *near = options_nearest(name, fields);
    bool has = false;

    for (size_t i = 0; fields[i]; i++)
        has |= strcmp(fields[i], name) == 0;
    if (has)
        tool_note("%s: no field %s of %s can have the value that it is compared with; a name of a "
                  "value stands without quotes, a string in double quotes",
                  w->option, quote(name), k->shown);
    else if (near)
        tool_note("%s: no event type of %s has a field %s; did you mean '%s'?", w->option, k->shown,
                  quote(name), near);
    else
        tool_note("%s: no event type of %s has a field %s", w->option, k->shown, quote(name));
}

/* Not the same twice. */
static bool was_said(const struct filter_option *w, size_t test,
                     const struct posixtrace_expression_test *t)
{
    struct posixtrace_expression_test other;

    for (size_t i = 0; i < test; i++)
        if (posixtrace_expression_get_test(w->expression, i, &other, sizeof other) == 0 &&
            strcmp(other.subject, t->subject) == 0 && strcmp(other.name, t->name) == 0)
            return true;
    return false;
}

static void warn(const struct known *k, const struct filter_option *w)
{
    struct posixtrace_expression_test t;
    const char **fields = field_names(k);

    for (size_t i = 0; posixtrace_expression_get_test(w->expression, i, &t, sizeof t) == 0; i++) {
        if (is_known(k, w, i) || was_said(w, i, &t))
            continue;
        if (strcmp(t.subject, "field") == 0)
            say_field(k, w, t.name, fields);
        else
            say_type(k, w, &t, fields);
    }
    free(fields);
}

void filter_option_warn_all(const struct filter_option *w, const struct log_file *const *logs,
                            size_t count, const char *shown)
{
    posixtrace_fields_t **fields = tool_grow(NULL, count, sizeof(posixtrace_fields_t *));
    struct known k = { .shown = shown };
    size_t opened = 0;

    while (w->expression && opened < count &&
           posixtrace_fields_create(logs[opened]->trid, &fields[opened]) == 0 &&
           add_log(&k, logs[opened], fields[opened]))
        opened++;
    if (w->expression && opened == count)
        warn(&k, w);
    for (size_t i = 0; i < opened; i++)
        posixtrace_fields_free(fields[i]);
    free(fields);
    free(k.types);
    free(k.fields);
}

void filter_option_warn(const struct filter_option *w, const struct log_file *log)
{
    filter_option_warn_all(w, &log, 1, log->shown);
}
