/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Command lines and suggestions; see options.h.
 */
#include "common/options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"

#ifndef POSIXTRACE_VERSION
#error "the build defines POSIXTRACE_VERSION"
#endif

const char options_version[] = "posixtrace " POSIXTRACE_VERSION "\n";

enum { WORD_MAX = 24, OPTIONS_MAX = 160 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap of neighbours) between two short words. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1];

    for (size_t i = 0; i <= a_len; i++) {
        for (size_t j = 0; j <= b_len; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = (unsigned)(i + j);
                continue;
            }
            cost[i][j] = least(cost[i - 1][j], cost[i][j - 1]) + 1;
            cost[i][j] = least(cost[i][j], cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a_len][b_len];
}

const char *options_nearest(const char *word, const char *const *list)
{
    size_t length = strlen(word);
    const char *best = NULL;
    /* A word of three letters may have one wrong letter, so that 'foo' does not suggest 'loop'. */
    unsigned best_cost = (unsigned)(length / 3 + (length > 3 || length < 3)) + 1;

    if (length == 0 || length > WORD_MAX)
        return NULL;
    for (; *list; list++) {
        unsigned cost = strlen(*list) > WORD_MAX ? best_cost
                                                 : distance(word, length, *list, strlen(*list));

        /* the beginning of a word is as near as one typing error */
        if (length > 1 && strncmp(word, *list, length) == 0)
            cost = 1;
        if (cost < best_cost) {
            best_cost = cost;
            best = *list;
        }
    }
    return best;
}

int options_index(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++) {
        if (strcmp(word, list[i]) == 0)
            return i;
    }
    return -1;
}

int options_bad_word(const char *what, const char *value, const char *const *list)
{
    const char *near = options_nearest(value, list);
    char known[240];
    size_t used = 0;

    if (near)
        return tool_usage("unknown %s %s; did you mean '%s'?", what, quote(value), near);
    known[0] = '\0';
    for (int i = 0; list[i] && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", list[i]);
    return tool_usage("unknown %s %s; known: %s", what, quote(value), known);
}

static int unknown_option(const struct options *o, const char *name, size_t length)
{
    const char *list[OPTIONS_MAX];
    char word[64], written[72];
    const char *near;
    size_t count = 0;

    length = length < sizeof word ? length : sizeof word - 1;
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    snprintf(written, sizeof written, "--%s", word);
    for (const struct option_spec *s = o->verb->options; s->name && count < OPTIONS_MAX - 3; s++) {
        if (s->name[1])
            list[count++] = s->name;
    }
    list[count++] = "help";
    list[count++] = "version";
    list[count] = NULL;
    near = options_nearest(word, list);
    if (near)
        return tool_usage("unknown option %s; did you mean '--%s'?", quote(written), near);
    return tool_usage("unknown option %s", quote(written));
}

static int stop(struct options *o, int status)
{
    o->status = status;
    return OPTION_STOP;
}

static int stop_with(struct options *o, const char *text)
{
    out_text(text);
    return stop(o, EXIT_DONE);
}

/* The option that s describes; equals: the character before its value in the same word, or
 * NULL. */
static int take(struct options *o, const struct option_spec *s, const char *equals)
{
    const char *dashes = s->name[1] ? "--" : "-";

    if (equals && !s->takes_value)
        return stop(o, tool_usage("option '%s%s' takes no value, found %s", dashes, s->name,
                                  quote(equals + 1)));
    o->value = equals ? equals + 1 : NULL;
    if (s->takes_value == true && !equals) {
        if (!*o->words)
            return stop(o, tool_usage("option '%s%s' needs a value", dashes, s->name));
        o->value = *o->words++;
    }
    return s->code;
}

static int short_option(struct options *o, const char *word)
{
    for (const struct option_spec *s = o->verb->options; s->name; s++) {
        if (s->name[0] != word[1] || s->name[1])
            continue;
        if (!word[2])
            return take(o, s, NULL);
        if (s->takes_value)
            return take(o, s, word + 1 + (word[2] == '='));
    }
    return stop(o, tool_usage("unknown option %s; options begin with two dashes", quote(word)));
}

/* The options that every verb has. */
enum { HELP = -2, VERSION = -3 };
static const struct option_spec common[] = { { "help", false, HELP },
                                             { "version", false, VERSION },
                                             { NULL, false, 0 } };

static const struct option_spec *find_long(const struct option_spec *s, const char *name,
                                           size_t length)
{
    for (; s->name; s++) {
        if (length > 1 && strlen(s->name) == length && strncmp(s->name, name, length) == 0)
            return s;
    }
    return NULL;
}

static int long_option(struct options *o, const char *name)
{
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_spec *s = find_long(o->verb->options, name, length);
    int code;

    /* Some verbs have --version=VERSION, for the version of a format. */
    if (!s || (strcmp(name, "version") == 0 && !*o->words))
        s = find_long(common, name, length);
    if (!s)
        return stop(o, unknown_option(o, name, length));
    code = take(o, s, equals);
    if (code == HELP)
        return stop_with(o, o->verb->help);
    return code == VERSION ? stop_with(o, options_version) : code;
}

int options_next(struct options *o)
{
    const char *word = *o->words;

    if (!word)
        return OPTION_END;
    o->words++;
    if (o->operands_only || word[0] != '-' || word[1] == '\0') {
        o->value = word;
        return OPTION_OPERAND;
    }
    if (strcmp(word, "--") == 0) {
        o->operands_only = true;
        return options_next(o);
    }
    if (strcmp(word, "-h") == 0)
        return stop_with(o, o->verb->help);
    if (strcmp(word, "-V") == 0)
        return stop_with(o, options_version);
    if (word[1] != '-')
        return short_option(o, word);
    return long_option(o, word + 2);
}

int options_set_log(const char **path, const char *value)
{
    if (*path)
        return tool_usage("one log at a time: %s and %s", quote(*path), quote(value));
    *path = value;
    return EXIT_DONE;
}

int options_one_log(struct options *o, int (*act)(const char *path))
{
    const char *path = NULL;
    int code;

    while ((code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP)
            return o->status;
        if (options_set_log(&path, o->value) != EXIT_DONE)
            return EXIT_USAGE;
    }
    return path ? act(path) : tool_usage("no log named");
}

int options_size(const char *option, const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

    if (text[0] < '0' || text[0] > '9' || value == 0 || end[unit != NULL] != '\0' ||
        value > (SIZE_MAX >> 1) >> shift)
        return tool_usage("option '--%s' needs bytes, as 65536, 64K or 1M, found %s", option,
                          quote(text));
    *size = (uint64_t)value << shift;
    return EXIT_DONE;
}
