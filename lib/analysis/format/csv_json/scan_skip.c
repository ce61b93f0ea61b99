/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Skips any value of JSON. */
#include <string.h>
#include "analysis/format/csv_json/scan.h"

enum { DEPTH_MAX = 64 };

static bool is_digit(const struct pt_text_scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool skip_digits(struct pt_text_scan *s)
{
    if (!is_digit(s))
        return pt_scan_fail(s, "a digit");
    while (is_digit(s))
        s->at++;
    return true;
}

static bool skip_number(struct pt_text_scan *s)
{
    if (pt_scan_is_at(s, '-'))
        s->at++;
    if (pt_scan_is_at(s, '0'))
        s->at++;
    else if (!skip_digits(s))
        return false;
    if (pt_scan_is_at(s, '.')) {
        s->at++;
        if (!skip_digits(s))
            return false;
    }
    if (pt_scan_is_at(s, 'e') || pt_scan_is_at(s, 'E')) {
        s->at++;
        if (pt_scan_is_at(s, '+') || pt_scan_is_at(s, '-'))
            s->at++;
        return skip_digits(s);
    }
    return true;
}

static bool skip_scalar(struct pt_text_scan *s)
{
    static const char *const words[] = { "true", "false", "null" };

    if (pt_scan_is_at(s, '"'))
        return pt_scan_string(s, NULL, 0, NULL);
    if (is_digit(s) || pt_scan_is_at(s, '-'))
        return skip_number(s);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);

        if ((size_t)(s->end - s->at) >= length && memcmp(s->at, words[i], length) == 0) {
            s->at += length;
            return true;
        }
    }
    return pt_scan_fail(s, "a value");
}

static bool skip_key(struct pt_text_scan *s)
{
    pt_scan_space(s);
    if (!pt_scan_string(s, NULL, 0, NULL))
        return false;
    pt_scan_space(s);
    return pt_scan_take(s, ':', "':'");
}

/* The open levels: objects has a bit for each, 1 in an object. */
struct nest {
    uint64_t objects;
    unsigned depth;
};

/* The front of a value: all of it, or the bracket and perhaps a key; *complete: all. */
static bool skip_front(struct pt_text_scan *s, struct nest *nest, bool *complete)
{
    bool object;

    pt_scan_space(s);
    *complete = true;
    if (!pt_scan_is_at(s, '{') && !pt_scan_is_at(s, '['))
        return skip_scalar(s);
    object = *s->at == '{';
    if (nest->depth++ == DEPTH_MAX)
        return pt_scan_fail(s, "at most 64 values inside each other");
    s->at++;
    nest->objects = nest->objects << 1 | object;
    pt_scan_space(s);
    *complete = pt_scan_is_at(s, object ? '}' : ']');
    return *complete || !object || skip_key(s);
}

/* After a value: the levels that end here, up to the next value. */
static bool skip_back(struct pt_text_scan *s, struct nest *nest)
{
    while (nest->depth > 0) {
        bool object = nest->objects & 1;

        pt_scan_space(s);
        if (!pt_scan_is_at(s, object ? '}' : ']'))
            return pt_scan_take(s, ',', object ? "',' or '}'" : "',' or ']'") &&
                   (!object || skip_key(s));
        s->at++;
        nest->depth--;
        nest->objects >>= 1;
    }
    return true;
}

bool pt_scan_skip_value(struct pt_text_scan *s)
{
    struct nest nest = { 0, 0 };
    bool complete;

    do
        if (!skip_front(s, &nest, &complete) || (complete && !skip_back(s, &nest)))
            return false;
    while (nest.depth > 0);
    return true;
}
