/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The report of selftest: rows kept in the order in which they came, printed
 * as a table of 80 columns for a bug report, or as JSON for a program.
 */
#include "selftest/selftest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { ROWS = 64, TEXT = 400, NAME_COLUMNS = 14, FIGURE_COLUMNS = 23 };

enum kind { FACT, PASSED, FAILED, FIGURE, MISSING };

static struct row {
    enum kind kind;
    const char *key, *what, *unit;
    double value;
    int decimals;
    char text[TEXT];
} rows[ROWS];
static size_t count;

static struct row *add(enum kind kind, const char *what)
{
    struct row *r = &rows[count < ROWS ? count++ : ROWS - 1];

    r->kind = kind;
    r->what = what;
    return r;
}

void report_fact(const char *what, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(add(FACT, what)->text, TEXT, format, args);
    va_end(args);
}

void report_check(bool passed, const char *what, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(add(passed ? PASSED : FAILED, what)->text, TEXT, format, args);
    va_end(args);
}

void report_figure(const char *key, const char *what, double value, int decimals, const char *unit)
{
    struct row *r = add(FIGURE, what);

    r->key = key;
    r->value = value;
    r->decimals = decimals;
    r->unit = unit;
}

void report_missing(const char *key, const char *what, const char *format, ...)
{
    struct row *r = add(MISSING, what);
    va_list args;

    r->key = key;
    va_start(args, format);
    vsnprintf(r->text, TEXT, format, args);
    va_end(args);
}

static size_t how_many(enum kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += rows[i].kind == kind;
    return n;
}

static void print_row(const struct row *r)
{
    switch (r->kind) {
    case FACT:
        out_format("%-*s  ", NAME_COLUMNS, r->what);
        out_wrapped(r->text, NAME_COLUMNS + 2, NAME_COLUMNS + 2);
        break;
    case PASSED:
    case FAILED:
        out_format("%s  %-*s  ", r->kind == PASSED ? "passed" : "FAILED", NAME_COLUMNS, r->what);
        out_wrapped(r->text, NAME_COLUMNS + 10, NAME_COLUMNS + 10);
        break;
    case FIGURE: out_format("%10.*f %-10s  %s\n", r->decimals, r->value, r->unit, r->what); break;
    case MISSING:
        out_format("%10s %-10s  %s: ", "-", "", r->what);
        out_wrapped(r->text, FIGURE_COLUMNS + strlen(r->what) + 2, FIGURE_COLUMNS);
        break;
    }
}

/* Facts, then checks, then figures, each in the order of their addition. */
static void print_table(double seconds)
{
    static const enum kind last[] = { FACT, FAILED, MISSING };
    size_t failed = how_many(FAILED), passed = how_many(PASSED);
    enum kind from = FACT;

    out_format("posixtrace selftest, %.1f s\n", seconds);
    for (size_t group = 0; group < 3; group++) {
        out_text("\n");
        for (size_t i = 0; i < count; i++) {
            if (rows[i].kind >= from && rows[i].kind <= last[group])
                print_row(&rows[i]);
        }
        from = last[group] + 1;
    }
    out_format("\n%zu of %zu checks passed%s\n", passed, passed + failed,
               failed ? "; please report the FAILED ones with this table" : "");
}

static void json_row(const struct row *r)
{
    switch (r->kind) {
    case FACT: json_text(r->what, r->text); break;
    case PASSED:
    case FAILED:
        json_open(r->what, '{');
        json_truth("passed", r->kind == PASSED);
        json_text("text", r->text);
        json_close();
        break;
    case FIGURE:
    case MISSING:
        json_open(r->key, '{');
        json_text("what", r->what);
        if (r->kind == MISSING) {
            json_text("missing", r->text);
        } else {
            json_number("value", r->value, r->decimals);
            json_text("unit", r->unit);
        }
        json_close();
        break;
    }
}

static void print_json(double seconds)
{
    static const char *const titles[] = { "facts", "checks", "figures" };
    static const enum kind last[] = { FACT, FAILED, MISSING };
    enum kind from = FACT;

    json_open(NULL, '{');
    json_truth("passed", how_many(FAILED) == 0);
    json_number("seconds", seconds, 1);
    for (size_t group = 0; group < 3; group++) {
        json_open(titles[group], '{');
        for (size_t i = 0; i < count; i++) {
            if (rows[i].kind >= from && rows[i].kind <= last[group])
                json_row(&rows[i]);
        }
        json_close();
        from = last[group] + 1;
    }
    json_close();
}

int report_print(enum output_format format, double seconds)
{
    if (format == OUTPUT_JSONL)
        print_json(seconds);
    else
        print_table(seconds);
    return how_many(FAILED) == 0 && how_many(PASSED) > 0 ? EXIT_DONE : EXIT_FAILED;
}
