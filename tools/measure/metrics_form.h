/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which rows posixtrace metrics shows, and what they have: --by, --stats, --each, --percentiles,
 * --histogram, --worst, --format.
 */
#ifndef METRICS_FORM_H
#define METRICS_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/format_option.h"
#include "input/log_file.h"

/* A row for each metric; metric and thread; metric and object; measurement. */
enum metrics_rows { METRICS_SUMMARY, METRICS_STATS, METRICS_OBJECTS, METRICS_EACH };

enum { METRICS_PERCENTILES = 8, METRICS_WORST_MAX = 1000 };

struct metrics_form {
    enum output_format format; /* JSONL for --format=json, too */
    enum metrics_rows rows;
    bool chosen; /* rows were asked for */
    bool json;   /* one object */
    bool histogram;
    size_t worst; /* 0: not asked for */
    double percents[METRICS_PERCENTILES];
    size_t percent_count; /* 0: not asked for, until metrics_form_make() */
};

/* Values of the options.  EXIT_DONE, or EXIT_USAGE after a message. */
int metrics_form_rows(struct metrics_form *f, enum metrics_rows rows);
int metrics_form_by(struct metrics_form *f, const char *value);
int metrics_form_percentiles(struct metrics_form *f, const char *value);
int metrics_form_worst(struct metrics_form *f, const char *value);
int metrics_form_format(struct metrics_form *f, const char *value);
/* Fills in what was not asked for.  The same. */
int metrics_form_make(struct metrics_form *f);

/* "99.9", or "99_9" with that mark; one of eight static buffers, reused in turn. */
const char *metrics_form_percent(double percent, char mark);
/* The log as a word of a command, "LOG" where it was standard input. */
const char *metrics_form_log(const struct log_file *log);

#endif
