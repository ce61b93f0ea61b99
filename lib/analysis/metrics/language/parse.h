/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* From the text of metrics to automata; posixtrace-metrics(5) is the grammar. */
#ifndef PT_METRICS_PARSE_H
#define PT_METRICS_PARSE_H

#include "analysis/metrics/language/lexer.h"

struct pt_parser {
    struct pt_lexer words;
    struct posixtrace_metric_fault *fault;
    int error; /* EINVAL, ENOMEM */
};

/* Reads one metric, w.word being "metric"; false: p->error is set, *m is empty. */
bool pt_parse_metric(struct pt_parser *p, posixtrace_metric_t *m);

/* Reports an error at the current word; false. */
__attribute__((format(printf, 2, 3))) bool pt_parse_fails(struct pt_parser *p, const char *format,
                                                          ...);

#endif
