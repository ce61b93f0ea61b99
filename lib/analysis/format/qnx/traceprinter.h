/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The common part of the reader and the writer of traceprinter's text. */
#ifndef PT_FORMAT_TRACEPRINTER_H
#define PT_FORMAT_TRACEPRINTER_H

#include "analysis/format/qnx/kev.h"

/* A field of a piece of a description, "u32 pid; u32 tid". */
struct pt_traceprinter_field {
    char kind; /* 'u' decimal, 'x' hexadecimal, 's' string, 'b' bytes */
    const char *name;
    size_t length;
};

/* Takes one off the front; false: there is none. */
bool pt_traceprinter_field(const char **fields, struct pt_traceprinter_field *field);

/* ---- traceprinter_args.c ---- */

struct pt_traceprinter_args {
    const char *at; /* the rest of the line, up to its NUL */
    uint8_t *data;  /* PT_KEV_DATA_MAX bytes */
    size_t length;
};

/* Takes "name:" off the front; false: it is not there. */
bool pt_traceprinter_take_name(struct pt_traceprinter_args *a, const char *name, size_t length);
bool pt_traceprinter_take_word(struct pt_traceprinter_args *a, uint32_t *value);
/* Arguments of those fields; false: it is others, and nothing was taken. */
bool pt_traceprinter_take_fields(struct pt_traceprinter_args *a, const char *fields);
/* data: and digits. */
bool pt_traceprinter_take_data(struct pt_traceprinter_args *a);
/* STR:"..." */
bool pt_traceprinter_take_string(struct pt_traceprinter_args *a);

#endif
