/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The reader of traceprinter's text in its parts. */
#ifndef PT_FORMAT_TRACEPRINTER_READ_H
#define PT_FORMAT_TRACEPRINTER_READ_H

#include "analysis/format/qnx/kev_import.h"
#include "analysis/format/qnx/traceprinter.h"

#define PT_TRACEPRINTER_LINE_MAX  (160u << 10)
#define PT_TRACEPRINTER_BLOCK     (2 * PT_TRACEPRINTER_LINE_MAX)
#define PT_TRACEPRINTER_CELLS     1024u
#define PT_TRACEPRINTER_LABEL_MAX 63u

struct pt_traceprinter_cell {
    char label[PT_TRACEPRINTER_LABEL_MAX + 1]; /* "THREAD  :THRUNNING" */
    int32_t type;
};

struct pt_traceprinter_reader {
    struct pt_kev_import *im;
    char *block; /* bytes read and not yet used */
    size_t from, to;
    bool ended, too_long; /* too_long: the line that is being read */
    uint64_t line, event_line;
    char *event; /* the line of an event, which others may continue */
    size_t event_length;
    bool in_events, any;
    uint64_t bad, first_bad;
    bool known; /* a sequence number was seen */
    uint32_t next;
    uint8_t *data;
    struct pt_traceprinter_cell cell[PT_TRACEPRINTER_CELLS];
};

struct pt_traceprinter_names {
    const char *whole, *event, *call;
    size_t whole_length, label_length, event_length, call_length;
};

/* 1: a line, without its end; 0: the end; -1: one that is too long; -2: an error. */
int pt_traceprinter_line(struct pt_traceprinter_reader *r, char **text, size_t *length);
/* "THREAD  :THRUNNING", "KER_CALL:MSG_SENDV/11", "USREVENT:EVENT:100,": taken apart, and
 * off the front.  False: there is no such thing. */
bool pt_traceprinter_names(struct pt_traceprinter_args *a, struct pt_traceprinter_names *n);
/* The type of that event; -1: not known. */
int pt_traceprinter_type(struct pt_traceprinter_reader *r, struct pt_traceprinter_names *n,
                         struct pt_traceprinter_args *a);

#endif
