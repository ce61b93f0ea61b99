/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Parsed descriptions of event data (posixtrace/typed.h): the fields in order, without padding.
 * One allocation, never changed.
 */
#ifndef PT_MODEL_LAYOUT_H
#define PT_MODEL_LAYOUT_H

#include <posixtrace/typed.h>

struct posixtrace_layout {
    struct posixtrace_field *fields;
    struct posixtrace_enumerator *enumerators;
    char *text; /* names of both */
    size_t count;
    size_t size; /* of the data, if fixed; else 0 */
    bool big_endian;
    bool says_order; /* le or be was written */
};

/* Parses a description from a program; 0, -EINVAL with *fault, -ENAMETOOLONG, -ENOMEM. */
int pt_layout_parse(const char *description, struct posixtrace_layout **layout,
                    struct posixtrace_layout_fault *fault);
/* Parses a description from a log or a stream: earlier versions accepted names of values that the
 * field cannot have, and the same name for the same value twice. */
int pt_layout_read(const char *description, struct posixtrace_layout **layout);
/* Memory for the layout of a description, and pt_layout_read() into it: async-signal-safe. */
size_t pt_layout_room(const char *description);
int pt_layout_build(const char *description, void *room);
size_t pt_layout_find(const struct posixtrace_layout *l, const char *name);

/* As the functions of posixtrace/typed.h, but for a negative error number. */
int pt_layout_split(const struct posixtrace_layout *l, const void *data, size_t len,
                    struct posixtrace_value *values, size_t *fields);
uint64_t pt_value_integer(const struct posixtrace_layout *l, size_t field,
                          const struct posixtrace_value *value, size_t i);
double pt_value_float(const struct posixtrace_layout *l, size_t field,
                      const struct posixtrace_value *value, size_t i);
const char *pt_field_enumerator(const struct posixtrace_field *f, int64_t value);
/* Is it one of the value's names?  There may be several. */
bool pt_field_is_called(const struct posixtrace_field *f, int64_t value, const char *name);
/* Is it the name of some value? */
bool pt_field_has_name(const struct posixtrace_field *f, const char *name);

#endif
