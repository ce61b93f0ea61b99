/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Task files: one task a line,
 *
 *   name priority period [deadline=T] [J=T] [C=T] [B=T] [JST=T] [SB=T] [DUW=T]
 *                        [tid=N|thread=NAME]
 *
 * words between blanks or tabs, "#" begins a comment.  A name with blanks is in double quotes.  A
 * time is a number with a unit (ns, us, ms, s) and, if need be, decimals; nothing is rounded.
 */
#include "rta/rta.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct word {
    const char *at;
    size_t length;
};

struct parser {
    const char *line;     /* where the line begins */
    const char *at, *end; /* in it */
    unsigned number;
    struct rta_task *tasks;
    size_t count;
    struct rta_fault *fault;
};

/* Long words are shown in part. */
enum { SHOWN = 40 };

__attribute__((format(printf, 3, 4))) static bool fail(struct parser *p, const char *at,
                                                       const char *format, ...)
{
    va_list args;

    p->fault->line = p->number;
    p->fault->column = (unsigned)(at - p->line) + 1;
    va_start(args, format);
    vsnprintf(p->fault->text, sizeof p->fault->text, format, args);
    va_end(args);
    return false;
}

static int shown(struct word w)
{
    return w.length < SHOWN ? (int)w.length : SHOWN;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* False: the line has no more words. */
static bool next_word(struct parser *p, struct word *w)
{
    while (p->at < p->end && is_blank(*p->at))
        p->at++;
    w->at = p->at;
    if (p->at == p->end || *p->at == '#')
        return false;
    for (bool quoted = false; p->at < p->end; p->at++) {
        if (!quoted && (is_blank(*p->at) || *p->at == '#'))
            break;
        quoted ^= *p->at == '"';
    }
    w->length = (size_t)(p->at - w->at);
    return true;
}

static bool is(struct word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

/* "12.5ms" in ns; false: not a time, more than RTA_TIME_MAX, or finer than 1 ns. */
static bool read_time(struct word w, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    const char *at = w.at, *end = w.at + w.length;
    int64_t value = 0, unit = 0, scale;
    struct word suffix;

    while (at < end && (isdigit((unsigned char)*at) || *at == '.'))
        at++;
    suffix = (struct word){ at, (size_t)(end - at) };
    end = at;
    at = w.at;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (is(suffix, units[i].name))
            unit = units[i].ns;
    }
    if (suffix.length == 0 && end - at == 1 && *at == '0')
        unit = 1;
    if (unit == 0 || at == end || *at == '.' || end[-1] == '.')
        return false;
    for (; at < end && *at != '.'; at++) {
        if (value > RTA_TIME_MAX / 10)
            return false;
        value = value * 10 + (*at - '0') * unit;
    }
    if (at < end)
        at++;
    for (scale = unit; at < end; at++) {
        if (*at == '.' || (scale < 10 && *at != '0'))
            return false;
        scale /= 10;
        value += (*at - '0') * scale;
    }
    *ns = value;
    return value <= RTA_TIME_MAX;
}

bool rta_time(const char *text, int64_t *ns)
{
    return read_time((struct word){ text, strlen(text) }, ns);
}

static bool take_time(struct parser *p, struct word w, const char *what, bool may_be_zero,
                      int64_t *ns)
{
    if (!read_time(w, ns))
        return fail(p, w.at,
                    "%s: expected a time such as 2.5ms (ns, us, ms or s, up to 10^9 s, "
                    "not finer than 1 ns), found '%.*s'",
                    what, shown(w), w.at);
    if (*ns == 0 && !may_be_zero)
        return fail(p, w.at, "%s: expected more than 0", what);
    return true;
}

static bool take_number(struct parser *p, struct word w, const char *what, int least, int *number)
{
    const char *at = w.at, *end = w.at + w.length;
    bool minus = at < end && *at == '-';
    int64_t value = 0;

    if (minus)
        at++;
    if (at == end)
        value = INT64_MAX;
    for (; at < end && value <= INT32_MAX; at++)
        value = isdigit((unsigned char)*at) ? value * 10 + (*at - '0') : INT64_MAX;
    value = minus ? -value : value;
    if (value > INT32_MAX || value < least)
        return fail(p, w.at, "%s: expected a number from %d to %d, found '%.*s'", what, least,
                    INT32_MAX, shown(w), w.at);
    *number = (int)value;
    return true;
}

static bool take_name(struct parser *p, struct word w, const char *what, char *name)
{
    if (w.length > 0 && *w.at == '"') {
        if (w.length < 2 || w.at[w.length - 1] != '"')
            return fail(p, w.at, "%s: the closing quote is missing", what);
        w.at++;
        w.length -= 2;
    }
    if (w.length == 0 || w.length > RTA_NAME_MAX)
        return fail(p, w.at, "%s: expected 1 to %d bytes, found %zu", what, RTA_NAME_MAX, w.length);
    memcpy(name, w.at, w.length);
    name[w.length] = '\0';
    return true;
}

/* Every option once: bit 0 to RTA_VALUES - 1 the values, then the others. */
enum { DEADLINE = RTA_VALUES, JITTER, THREAD, OPTIONS };

static int option_of(struct word key)
{
    for (int i = 0; i < RTA_VALUES; i++) {
        if (is(key, rta_value_name((enum rta_value)i)))
            return i;
    }
    if (is(key, "deadline"))
        return DEADLINE;
    if (is(key, "J"))
        return JITTER;
    return is(key, "tid") || is(key, "thread") ? THREAD : OPTIONS;
}

static bool take_option(struct parser *p, struct rta_task *t, struct word w, unsigned *seen)
{
    const char *equals = memchr(w.at, '=', w.length);
    struct word key = { w.at, equals ? (size_t)(equals - w.at) : w.length };
    struct word value = { w.at + key.length + 1, w.length - key.length - 1 };
    int option = option_of(key);

    if (!equals || option == OPTIONS)
        return fail(p, w.at,
                    "expected deadline=, J=, C=, B=, JST=, SB=, DUW=, tid= or thread=, "
                    "found '%.*s'",
                    shown(w), w.at);
    if (*seen & 1u << option)
        return fail(p, w.at, "'%.*s' is given twice", (int)key.length, key.at);
    *seen |= 1u << option;
    if (option == DEADLINE)
        return take_time(p, value, "deadline", false, &t->deadline);
    if (option == JITTER)
        return take_time(p, value, "J", true, &t->jitter);
    if (option == THREAD && is(key, "tid"))
        return take_number(p, value, "tid", 1, &t->tid);
    if (option == THREAD)
        return take_name(p, value, "thread", t->thread);
    return take_time(p, value, rta_value_name((enum rta_value)option), true, &t->value[option]);
}

static bool has_name(const struct parser *p, const char *name, unsigned *line)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->tasks[i].name, name) == 0) {
            *line = p->tasks[i].line;
            return true;
        }
    }
    return false;
}

/* The words that every task has. */
static bool take_head(struct parser *p, struct rta_task *t, struct word name)
{
    struct word w;
    unsigned line;

    if (!take_name(p, name, "name", t->name))
        return false;
    if (has_name(p, t->name, &line))
        return fail(p, name.at, "task '%s' is there already, in line %u", t->name, line);
    if (!next_word(p, &w))
        return fail(p, w.at, "expected a priority after the name");
    if (!take_number(p, w, "priority", -INT32_MAX, &t->priority))
        return false;
    if (!next_word(p, &w))
        return fail(p, w.at, "expected a period after the priority");
    return take_time(p, w, "period", false, &t->period);
}

static bool take_task(struct parser *p, struct word name)
{
    struct rta_task *t = &p->tasks[p->count];
    unsigned seen = 0;
    struct word w;

    if (p->count == RTA_TASKS_MAX)
        return fail(p, name.at, "more than %d tasks", RTA_TASKS_MAX);
    *t = (struct rta_task){ .line = p->number };
    for (int i = 0; i < RTA_VALUES; i++)
        t->value[i] = -1;
    if (!take_head(p, t, name))
        return false;
    t->deadline = t->period;
    memcpy(t->thread, t->name, sizeof t->thread);
    while (next_word(p, &w)) {
        if (!take_option(p, t, w, &seen))
            return false;
    }
    p->count++;
    return true;
}

bool rta_parse(const char *text, size_t length, struct rta_task *tasks, size_t *count,
               struct rta_fault *fault)
{
    struct parser p = { .tasks = tasks, .fault = fault };
    const char *end = text + length;
    struct word w;

    for (p.line = text; p.line < end; p.line = p.end + 1) {
        p.number++;
        p.end = memchr(p.line, '\n', (size_t)(end - p.line));
        if (!p.end)
            p.end = end;
        p.at = memchr(p.line, '\0', (size_t)(p.end - p.line));
        if (p.at)
            return fail(&p, p.at, "a zero byte; this is no text");
        p.at = p.line;
        if (next_word(&p, &w) && !take_task(&p, w))
            return false;
    }
    *count = p.count;
    if (p.count > 0)
        return true;
    p.number = p.number ? p.number : 1;
    p.line = text;
    return fail(&p, text, "there is no task");
}
