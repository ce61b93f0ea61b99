/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What the ways of posixtrace import share: one import under way. */
#ifndef IMPORT_H
#define IMPORT_H

#include <posixtrace/format.h>
#include <posixtrace/log.h>

#include "jsonl.h"
#include "lines.h"
#include "new_file.h"

struct import {
    struct lines lines;
    const char *in_path;
    char *in;                       /* the input's name for messages */
    const char *log_path;
    struct new_file target;
    posixtrace_log_builder_t *builder;
    struct jsonl_event *event;
    const struct posixtrace_format *format;   /* NULL: jsonl */
    bool from_given, force;
    double cost_ns;
    uint64_t not_described;         /* descriptions that were passed over */
};

/* A builder on the new file; EXIT_DONE, or it was said. */
int import_open_builder(struct import *im);
/* Finishes it, if there is one. */
int import_close_builder(struct import *im);

/* All of an import of jsonl. */
int import_lines(struct import *im);

#endif
