/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Arguments of a line of traceprinter, "pid:1 tid:2 priority:10", made words again. */
#include <string.h>
#include "analysis/format/qnx/traceprinter.h"

bool pt_traceprinter_field(const char **fields, struct pt_traceprinter_field *field)
{
    const char *at = *fields + strspn(*fields, "; ");

    if (!*at)
        return false;
    field->kind = *at;
    field->name = at + strcspn(at, " ") + 1;
    field->length = strcspn(field->name, ";");
    *fields = field->name + field->length;
    return true;
}

static void skip_space(struct pt_traceprinter_args *a)
{
    a->at += strspn(a->at, " \t,");
}

/* A comment of our export, or nothing. */
static bool at_end(struct pt_traceprinter_args *a)
{
    skip_space(a);
    return !*a->at || (a->at[0] == '#' && a->at[1] == ' ');
}

bool pt_traceprinter_take_name(struct pt_traceprinter_args *a, const char *name, size_t length)
{
    skip_space(a);
    if (strncmp(a->at, name, length) != 0 || a->at[length] != ':')
        return false;
    a->at += length + 1;
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* 0x and digits, or decimal with a sign, up to white space, a comma or a parenthesis. */
bool pt_traceprinter_take_word(struct pt_traceprinter_args *a, uint32_t *value)
{
    const char *p = a->at;
    bool minus = *p == '-', hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    uint64_t v = 0;
    const char *begin;

    p += hex ? 2 : minus;
    for (begin = p; digit(*p) >= 0 && (hex || digit(*p) < 10); p++) {
        v = v * (hex ? 16 : 10) + (uint64_t)digit(*p);
        if (v > UINT32_MAX)
            return false;
    }
    if (p == begin || (*p && !strchr(" \t,(", *p)))
        return false;
    *value = minus ? -(uint32_t)v : (uint32_t)v;
    a->at = p;
    return true;
}

static bool put_word(struct pt_traceprinter_args *a, uint32_t value)
{
    if (a->length + 4 > PT_KEV_DATA_MAX)
        return false;
    pt_kev_store(a->data + a->length, value);
    a->length += 4;
    return true;
}

/* Adds the text, padded with zeros to whole pairs of words. */
static bool put_text(struct pt_traceprinter_args *a, const char *text, size_t length)
{
    size_t whole = (a->length + length + 1 + 7) / 8 * 8;

    if (whole > PT_KEV_DATA_MAX)
        return false;
    memcpy(a->data + a->length, text, length);
    memset(a->data + a->length + length, 0, whole - a->length - length);
    a->length = whole;
    return true;
}

static bool take_digits(struct pt_traceprinter_args *a)
{
    const char *p = a->at;

    for (; digit(p[0]) >= 0 && digit(p[1]) >= 0; p += 2) {
        if (a->length == PT_KEV_DATA_MAX)
            return false;
        a->data[a->length++] = (uint8_t)(digit(p[0]) << 4 | digit(p[1]));
    }
    a->at = p;
    return !*p || *p == ' ';
}

/* Takes further words with any names; or "more:" and digits. */
static bool take_more(struct pt_traceprinter_args *a)
{
    uint32_t value;

    if (pt_traceprinter_take_name(a, "more", 4))
        return take_digits(a);
    while (!at_end(a)) {
        a->at += strcspn(a->at, ": \t");
        if (*a->at++ != ':' || !pt_traceprinter_take_word(a, &value) || !put_word(a, value))
            return false;
    }
    return true;
}

static bool take_field(struct pt_traceprinter_args *a, const struct pt_traceprinter_field *f)
{
    uint32_t value;

    if (f->kind == 'b')
        return take_more(a);
    if (!pt_traceprinter_take_name(a, f->name, f->length))
        return false;
    if (f->kind == 's') {
        if (!put_text(a, a->at, strlen(a->at)))
            return false;
        a->at += strlen(a->at);
        return true;
    }
    return pt_traceprinter_take_word(a, &value) && put_word(a, value);
}

bool pt_traceprinter_take_fields(struct pt_traceprinter_args *a, const char *fields)
{
    struct pt_traceprinter_args before = *a;
    struct pt_traceprinter_field f;

    while (pt_traceprinter_field(&fields, &f))
        if (!take_field(a, &f)) {
            *a = before;
            return false;
        }
    if (at_end(a))
        return true;
    *a = before;
    return false;
}

bool pt_traceprinter_take_data(struct pt_traceprinter_args *a)
{
    struct pt_traceprinter_args before = *a;

    if (pt_traceprinter_take_name(a, "data", 4) && take_digits(a) && at_end(a))
        return true;
    *a = before;
    return false;
}

bool pt_traceprinter_take_string(struct pt_traceprinter_args *a)
{
    struct pt_traceprinter_args before = *a;
    const char *end;

    if (pt_traceprinter_take_name(a, "STR", 3) && *a->at == '"' &&
        (end = strrchr(a->at + 1, '"')) && !end[1] &&
        put_text(a, a->at + 1, (size_t)(end - a->at - 1)))
        return true;
    *a = before;
    return false;
}
