/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The value of an expression: 0, 1, or -1 if it depends on something unknown.  An "and" with a
 * false operand is false, an "or" with a true one is true, also if the others are unknown.  It
 * allocates nothing, and its recursion is at most three times as deep as the brackets that the
 * parser accepts.
 */
#include <errno.h>
#include <float.h>
#include <string.h>
#include "base/assert.h"
#include "model/expression.h"
#include "model/layout.h"
#include "model/ctype_c.h"

#define UNKNOWN (-1)

/* Is c in the set of bytes that follows a [?  *end: the byte after its ], or NULL without one. */
static bool is_in_set(const char *set, char c, const char **end)
{
    bool no = *set == '!' || *set == '^', in = false;
    const char *p = set + no;

    do {
        unsigned char low = (unsigned char)*p, high = low, byte = (unsigned char)c;

        if (!low) {
            *end = NULL;
            return false;
        }
        if (p[1] == '-' && p[2] && p[2] != ']') {
            p += 2;
            high = (unsigned char)*p;
        }
        in |= byte >= low && byte <= high;
    } while (*++p != ']');
    *end = p + 1;
    return in != no;
}

/* Does the first element of the pattern match c?  *rest: the pattern after that element. */
static bool is_one(const char *pattern, char c, const char **rest)
{
    if (*pattern == '[') {
        bool in = is_in_set(pattern + 1, c, rest);

        if (*rest)
            return in;
    }
    if (*pattern == '\\' && pattern[1]) {
        *rest = pattern + 2;
        return pattern[1] == c;
    }
    *rest = pattern + 1;
    return *pattern == '?' || *pattern == c;
}

/* *: any bytes, ?: one, [a-z]: one of these, \: the next as it is. */
static bool is_like(const char *text, size_t len, const char *pattern)
{
    const char *end = text + len, *star = NULL, *again = NULL, *rest;

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
            continue;
        }
        if (text == end && *pattern == '\0')
            return true;
        if (text < end && *pattern && is_one(pattern, *text, &rest)) {
            pattern = rest;
            text++;
            continue;
        }
        if (!star || again == end)
            return false;
        pattern = star;
        text = ++again;
    }
}

static bool relates(int order, enum pt_relation relation)
{
    switch (relation) {
    case PT_EQUAL: return order == 0;
    case PT_UNEQUAL: return order != 0;
    case PT_LESS: return order < 0;
    case PT_LESS_EQUAL: return order <= 0;
    case PT_MORE: return order > 0;
    case PT_MORE_EQUAL: return order >= 0;
    default: return false;
    }
}

/* The order where one of them is NaN, which is unequal to everything and nothing else. */
#define UNORDERED 2

static bool relates_float(int order, enum pt_relation relation)
{
    return order == UNORDERED ? relation == PT_UNEQUAL : relates(order, relation);
}

static int order_floats(double a, double b)
{
    return a < b ? -1 : a > b ? 1 : a >= b ? 0 : UNORDERED;
}

/*
 * Compares an integer and a float, each by its exact value: as doubles, integers above 2^53 would
 * be equal to their neighbours.  The integer is compared with the float's integer part, which fits
 * the integer's type after the checks; if they are equal, the fraction decides.
 */
static int order_integer_float(uint64_t v, bool negative, double d)
{
    double whole;

    if (!(d >= 0) && !(d < 0))
        return UNORDERED;
    if (negative != (d < 0))
        return negative ? -1 : 1;
    if (negative) {
        if (d < -0x1p63)
            return 1;
        whole = (double)(int64_t)d;
        if ((int64_t)v != (int64_t)d)
            return (int64_t)v < (int64_t)d ? -1 : 1;
    } else {
        if (d >= 0x1p64)
            return -1;
        whole = (double)(uint64_t)d;
        if (v != (uint64_t)d)
            return v < (uint64_t)d ? -1 : 1;
    }
    return order_floats(whole, d);
}

static bool test_text(const struct posixtrace_expression *e, const struct pt_node *n,
                      const char *text, size_t len)
{
    const char *value = pt_expression_text(e, n->string);
    bool equal = strlen(value) == len && memcmp(value, text, len) == 0;

    if (n->relation == PT_LIKE)
        return is_like(text, len, value);
    return (n->relation == PT_EQUAL) == equal;
}

/* Compares two integers; each may be outside the range of the other's type. */
static bool test_integer(const struct pt_node *n, uint64_t v, bool negative)
{
    int order;

    if (n->operand == PT_OPERAND_FLOAT)
        return relates_float(order_integer_float(v, negative, n->value.number), n->relation);
    if (negative != n->negative)
        order = negative ? -1 : 1;
    else
        order = (v > n->value.integer) - (v < n->value.integer);
    return relates(order, n->relation);
}

/* The name without the mark of a further description: that of "order" is order#2.  The length
 * of the name if it has none. */
static size_t unmarked_length(const char *name, size_t len)
{
    size_t digits = 0;

    while (digits < len && pt_is_digit(name[len - 1 - digits]))
        digits++;
    if (digits == 0 || digits + 1 >= len || name[len - 1 - digits] != '#' ||
        name[len - digits] == '0' || (digits == 1 && name[len - 1] == '1'))
        return len;
    return len - digits - 1;
}

/* Compares a part of the type's name, for any relation. */
static bool is_named(const struct posixtrace_expression *e, const struct pt_node *n,
                     const char *part, size_t len)
{
    const char *value = pt_expression_text(e, n->string);

    return n->relation == PT_LIKE ? is_like(part, len, value)
                                  : strlen(value) == len && memcmp(part, value, len) == 0;
}

/* A name of len bytes, in the ways one may mean it. */
static bool is_meant(const struct posixtrace_expression *e, const struct pt_node *n,
                     const char *name, size_t len)
{
    const char *colon = memchr(name, ':', len);

    if (n->subject == PT_SUBJECT_EVENT)
        return is_named(e, n, name, len);
    if (n->subject == PT_SUBJECT_CLASS)
        return is_named(e, n, name, colon ? (size_t)(colon - name) : 0);
    /* A group holds the type of its name, and those that continue it after a separator. */
    for (size_t part = 0; part <= len; part++)
        if ((part == len || strchr(".:/", name[part])) && is_named(e, n, name, part))
            return true;
    return false;
}

/* A condition for a name is also for the types of its further descriptions. */
static bool has_name(const struct posixtrace_expression *e, const struct pt_node *n,
                     const char *name)
{
    size_t len = strlen(name), unmarked = unmarked_length(name, len);

    return is_meant(e, n, name, len) || (unmarked < len && is_meant(e, n, name, unmarked));
}

/* A number with a point is rounded to the type of the field: an f32 that is shown as 1.1 equals
 * 1.1. */
static bool test_float(const struct pt_node *n, double d, unsigned bits)
{
    double number = n->value.number;
    int order;

    if (n->relation == PT_TRUE)
        return d < 0 || d > 0;
    if (n->operand == PT_OPERAND_INTEGER) {
        order = order_integer_float(n->value.integer, n->negative, d);
        return relates_float(order == UNORDERED ? order : -order, n->relation);
    }
    if (bits == 32 && number >= -FLT_MAX && number <= FLT_MAX)
        number = (double)(float)number;
    return n->operand == PT_OPERAND_FLOAT && relates_float(order_floats(d, number), n->relation);
}

static bool test_element(const struct posixtrace_expression *e, const struct pt_node *n,
                         const struct posixtrace_layout *l, size_t field,
                         const struct posixtrace_value *value, size_t i)
{
    const struct posixtrace_field *f = &l->fields[field];
    uint64_t v;

    if (f->kind == POSIXTRACE_FIELD_FLOAT)
        return test_float(n, pt_value_float(l, field, value, i), f->bits);
    v = pt_value_integer(l, field, value, i);
    if (n->relation == PT_TRUE)
        return v != 0;
    if (n->operand == PT_OPERAND_WORD) {
        const char *word = pt_expression_text(e, n->string);
        bool is = f->kind == POSIXTRACE_FIELD_BOOL ? strcmp(v ? "true" : "false", word) == 0
                                                   : pt_field_is_called(f, (int64_t)v, word);

        return is == (n->relation == PT_EQUAL);
    }
    if (n->operand == PT_OPERAND_STRING)
        return f->kind == POSIXTRACE_FIELD_CHAR && test_text(e, n, (const char *)value->at + i, 1);
    return test_integer(n, v, f->kind == POSIXTRACE_FIELD_SIGNED && (int64_t)v < 0);
}

/* For an array: is it true for one of the elements? */
static int test_field(const struct posixtrace_expression *e, const struct pt_node *n,
                      const struct pt_subject_event *s)
{
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    const struct posixtrace_field *f;
    size_t field, count;
    bool text;

    if (!s->layout)
        return !s->event && s->may_describe ? UNKNOWN : 0;
    field = pt_layout_find(s->layout, pt_expression_text(e, n->name));
    if (field == s->layout->count)
        return 0;
    if (!s->event)
        return UNKNOWN;
    f = &s->layout->fields[field];
    pt_layout_split(s->layout, s->event->data, s->event->data_len, values, &count);
    if (field >= count)
        return 0;
    text = f->kind == POSIXTRACE_FIELD_STRING || (f->kind == POSIXTRACE_FIELD_CHAR && f->array);
    if (text || f->kind == POSIXTRACE_FIELD_BYTES) {
        if (n->relation == PT_TRUE)
            return values[field].count != 0;
        return text && n->operand == PT_OPERAND_STRING &&
               test_text(e, n, values[field].at, values[field].count);
    }
    for (size_t i = 0; i < values[field].count; i++)
        if (test_element(e, n, s->layout, field, &values[field], i))
            return 1;
    return 0;
}

static int test(const struct posixtrace_expression *e, const struct pt_node *n,
                const struct pt_subject_event *s)
{
    int64_t v;

    if (n->subject <= PT_SUBJECT_GROUP)
        return has_name(e, n, s->name) == (n->relation != PT_UNEQUAL);
    if (n->subject == PT_SUBJECT_FIELD)
        return test_field(e, n, s);
    if (!s->event && n->subject == PT_SUBJECT_PID && s->pid)
        return test_integer(n, (uint64_t)s->pid, false);
    if (!s->event)
        return UNKNOWN;
    if (n->subject == PT_SUBJECT_THREAD)
        return test_text(e, n, s->event->thread_name, strlen(s->event->thread_name));
    v = n->subject == PT_SUBJECT_PID   ? s->event->pid
        : n->subject == PT_SUBJECT_TID ? s->event->tid
                                       : (int64_t)s->event->data_len;
    return test_integer(n, (uint64_t)v, v < 0);
}

static int value_of(const struct posixtrace_expression *e, uint16_t at,
                    const struct pt_subject_event *s)
{
    const struct pt_node *n = &e->node[at];
    int settles = n->op == PT_NODE_OR, all = !settles, v;

    pt_assert(at < e->nodes);
    if (n->op == PT_NODE_TEST)
        return test(e, n, s);
    if (n->op == PT_NODE_NOT) {
        pt_assert(n->child < at);
        v = value_of(e, n->child, s);
        return v == UNKNOWN ? UNKNOWN : !v;
    }
    for (unsigned child = n->child + 1u; child; child = e->node[child - 1].next) {
        pt_assert(child - 1 < at); /* so the recursion ends */
        v = value_of(e, (uint16_t)(child - 1), s);
        if (v == settles)
            return v;
        if (v == UNKNOWN)
            all = UNKNOWN;
    }
    return all;
}

int pt_expression_value(const struct posixtrace_expression *e, const struct pt_subject_event *s)
{
    pt_assert_call(e->nodes > 0);
    return value_of(e, (uint16_t)(e->nodes - 1), s);
}

const struct pt_node *pt_expression_test(const struct posixtrace_expression *e, size_t i)
{
    for (uint16_t at = 0; at < e->nodes; at++) {
        const struct pt_node *n = &e->node[at];

        if (n->op != PT_NODE_TEST ||
            (n->subject > PT_SUBJECT_GROUP && n->subject != PT_SUBJECT_FIELD))
            continue;
        if (i-- == 0)
            return n;
    }
    return NULL;
}

/* Can it be compared with a value of the field? */
static bool can_compare(const struct posixtrace_expression *e, const struct pt_node *n,
                        const struct posixtrace_field *f)
{
    const char *word = pt_expression_text(e, n->string);
    bool number = n->operand == PT_OPERAND_INTEGER || n->operand == PT_OPERAND_FLOAT;

    if (n->relation == PT_TRUE)
        return true;
    switch (f->kind) {
    case POSIXTRACE_FIELD_STRING: return n->operand == PT_OPERAND_STRING;
    case POSIXTRACE_FIELD_BYTES: return false;
    case POSIXTRACE_FIELD_FLOAT: return number;
    case POSIXTRACE_FIELD_CHAR:
        if (n->operand == PT_OPERAND_STRING || f->array)
            return n->operand == PT_OPERAND_STRING;
        break;
    case POSIXTRACE_FIELD_BOOL:
        if (n->operand == PT_OPERAND_WORD)
            return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
        break;
    default: break;
    }
    return number || (n->operand == PT_OPERAND_WORD && pt_field_has_name(f, word));
}

bool pt_expression_test_suits(const struct posixtrace_expression *e, const struct pt_node *test,
                              const char *event_name, const struct posixtrace_layout *layout)
{
    size_t field;

    if (test->subject != PT_SUBJECT_FIELD)
        return has_name(e, test, event_name);
    field = layout ? pt_layout_find(layout, pt_expression_text(e, test->name)) : 0;
    return layout && field < layout->count && can_compare(e, test, &layout->fields[field]);
}
