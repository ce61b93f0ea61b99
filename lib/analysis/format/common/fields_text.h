/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_layout_text() and _json(), with one more argument. */
#ifndef PT_FORMAT_FIELDS_TEXT_H
#define PT_FORMAT_FIELDS_TEXT_H

#include <posixtrace/typed.h>

/* ascii: all other characters are escaped. */
size_t pt_fields_write(const posixtrace_layout_t *layout, const void *data, size_t len, bool json,
                       bool ascii, char *to, size_t size);
/* JSON of one field: its length, and as much of it as fits with a NUL. */
size_t pt_fields_write_value(const posixtrace_layout_t *layout, size_t field,
                             const struct posixtrace_value *value, char *to, size_t size);

#endif
