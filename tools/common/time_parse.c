/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading and writing moments; see time_parse.h.
 */
#include "common/time_parse.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/stdout_buffer.h"

#define SECOND 1000000000LL

/* Digits at *at into *value, moving *at on; false if there are none or too many. */
static bool digits(const char **at, int64_t *value)
{
    const char *begin = *at;
    int64_t v = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, **at - '0', &v))
            return false;
    }
    *value = v;
    return *at > begin;
}

/* An optional ".digits" at *at, in units of 'unit' nanoseconds, into *ns.  unit
 * is a power of ten or a minute; digits below 1 ns must be zero. */
static bool fraction(const char **at, int64_t unit, int64_t *ns)
{
    int64_t scale = unit;

    *ns = 0;
    if (**at != '.')
        return true;
    if ((*at)[1] < '0' || (*at)[1] > '9')
        return false;
    for ((*at)++; **at >= '0' && **at <= '9'; (*at)++) {
        int digit = **at - '0';

        if (digit * scale % 10 != 0 || (scale == 0 && digit != 0))
            return false;
        *ns += digit * scale / 10;
        scale /= 10;
    }
    return true;
}

/* "digits[.digits]" in units of unit, up to the end of the number. */
static bool amount(const char **at, int64_t unit, int64_t *ns)
{
    int64_t whole, part;

    return digits(at, &whole) && fraction(at, unit, &part) &&
           !__builtin_mul_overflow(whole, unit, &whole) && !__builtin_add_overflow(whole, part, ns);
}

static bool parse_relative(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t unit;
    } units[] = {
        { "s", SECOND }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { "min", 60 * SECOND },
    };
    const char *suffix = text + strspn(text, "0123456789.");

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(suffix, units[i].name) == 0)
            return amount(&text, units[i].unit, ns) && text == suffix;
    }
    return false;
}

/* Exactly 'count' digits and then the character 'next'. */
static bool field(const char **at, int count, char next, int *value)
{
    *value = 0;
    for (; count > 0; count--, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *value = *value * 10 + (**at - '0');
    }
    if (next == '\0')
        return true;
    return *(*at)++ == next;
}

static bool parse_iso(const char *at, int64_t *ns)
{
    struct tm given = { 0 }, made;
    int64_t part, whole;
    time_t seconds;

    if (!field(&at, 4, '-', &given.tm_year) || !field(&at, 2, '-', &given.tm_mon) ||
        !field(&at, 2, 'T', &given.tm_mday) || !field(&at, 2, ':', &given.tm_hour) ||
        !field(&at, 2, ':', &given.tm_min) || !field(&at, 2, '\0', &given.tm_sec) ||
        !fraction(&at, SECOND, &part) || strcmp(at, "Z") != 0)
        return false;
    given.tm_year -= 1900;
    given.tm_mon--;
    made = given;
    seconds = timegm(&made);
    /* timegm() turns February 30 into March 2: such a date was no date */
    if (made.tm_mon != given.tm_mon || made.tm_mday != given.tm_mday ||
        made.tm_hour != given.tm_hour || made.tm_min != given.tm_min ||
        made.tm_sec != given.tm_sec || seconds < 0)
        return false;
    return !__builtin_mul_overflow((int64_t)seconds, SECOND, &whole) &&
           !__builtin_add_overflow(whole, part, ns);
}

bool when_parse(const char *text, struct when *when)
{
    const char *at = text;
    int64_t ns;
    bool good;

    when->kind = WHEN_ABSOLUTE;
    if (text[0] == '+') {
        when->kind = WHEN_RELATIVE;
        good = parse_relative(text + 1, &ns);
    } else if (text[0] == '@') {
        at++;
        good = amount(&at, SECOND, &ns) && *at == '\0';
    } else if (strchr(text, '-')) {
        good = parse_iso(text, &ns);
    } else {
        good = digits(&at, &ns) && *at == '\0';
    }
    if (good)
        when->ns = ns;
    return good;
}

int64_t when_resolve(const struct when *when, int64_t first)
{
    int64_t ns;

    if (when->kind == WHEN_ABSOLUTE)
        return when->ns;
    return __builtin_add_overflow(first, when->ns, &ns) ? INT64_MAX : ns;
}

char *when_put_iso(char *to, int64_t ns)
{
    int64_t part = ns % SECOND;
    time_t seconds = (time_t)(ns / SECOND);
    struct tm tm;

    if (part < 0) {
        part += SECOND;
        seconds--;
    }
    gmtime_r(&seconds, &tm);
    to += strftime(to, 24, "%Y-%m-%dT%H:%M:%S", &tm);
    *to++ = '.';
    to = put_nine(to, (uint32_t)part);
    *to++ = 'Z';
    return to;
}

static char *next_buffer(void)
{
    static char buffers[4][48];
    static unsigned next;

    return buffers[next++ % 4];
}

const char *when_iso(int64_t ns)
{
    char *buffer = next_buffer();

    *when_put_iso(buffer, ns) = '\0';
    return buffer;
}

const char *when_span(int64_t ns)
{
    char *buffer = next_buffer();
    double size = ns < 0 ? -(double)ns : (double)ns;
    double value = (double)ns;
    const char *unit = size < 1e3 ? "ns" : size < 1e6 ? "us" : size < 1e9 ? "ms" : "s";

    value /= size < 1e3 ? 1 : size < 1e6 ? 1e3 : size < 1e9 ? 1e6 : 1e9;
    snprintf(buffer, 48, size < 1e3 || size >= 1e13 ? "%.0f %s" : "%.4g %s", value, unit);
    return buffer;
}
