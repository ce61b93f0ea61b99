/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event types: the columns of their fields, and the values of an event in these.
 */
#ifndef PT_PARQUET_TYPES_H
#define PT_PARQUET_TYPES_H

#include "analysis/format/parquet/file.h"
#include "analysis/tables/forms.h"

enum { PT_PARQUET_TYPES = 4096, PT_PARQUET_FIELDS = 4000 };

struct pt_parquet_field {
    struct pt_parquet_column *column;
    const struct posixtrace_field *field;
    enum pt_form form;
    bool vague; /* an enumeration in which values share a name */
};

struct pt_parquet_type_columns {
    const posixtrace_layout_t *layout; /* NULL: no description */
    bool big_endian, whole;            /* whole: each field has a column */
    size_t count;                      /* of fields that have one */
    struct pt_parquet_field *fields;
    struct pt_bytes rows; /* in this group, that have values */
};

struct pt_parquet_types {
    struct pt_parquet_file *file;
    struct pt_parquet_type_columns *types[PT_PARQUET_TYPES];
    size_t fields;        /* columns of fields */
    struct pt_texts used; /* names of columns */
    size_t bytes;         /* of texts that were added since the last group */
};

/* The values of an event, in that row; true: they are all of its data.  False also after an error
 * (the job's). */
bool pt_parquet_types_put(struct pt_parquet_types *t, const struct posixtrace_event *e,
                          uint32_t row);
/* After a group. */
void pt_parquet_types_clear(struct pt_parquet_types *t);
void pt_parquet_types_free(struct pt_parquet_types *t);

/* Makes the columns of a type, at its first event; NULL: no memory. */
struct pt_parquet_type_columns *pt_parquet_types_describe(struct pt_parquet_types *t,
                                                          const struct posixtrace_event *e);

#endif
