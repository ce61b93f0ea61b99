/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Described fields of events as columns: the form that a field has in its column, the column's
 * name, and the text of the forms that are text.  docs/formats/parquet.md has the rules, which all
 * engines share.
 */
#ifndef PT_TABLES_FORMS_H
#define PT_TABLES_FORMS_H

#include <posixtrace/typed.h>
#include "analysis/tables/dictionary.h"

enum pt_form {
    PT_FORM_NUMBER, /* an integer */
    PT_FORM_FLOAT,
    PT_FORM_BOOL,
    PT_FORM_CHAR,
    PT_FORM_STRING, /* or an array of char */
    PT_FORM_NAME,   /* of an enumeration */
    PT_FORM_BYTES,  /* in hexadecimal */
    PT_FORM_LIST    /* JSON */
};

enum pt_form pt_form_of(const struct posixtrace_field *f);
/* Do two values of its enumeration have one name? */
bool pt_form_is_vague(const struct posixtrace_field *f);
/* The name of a column, which no other of used has: EVENT.field, or with #2 and so on.  False: no
 * memory. */
bool pt_form_name(struct pt_texts *used, const char *event, const char *field,
                  struct pt_bytes *name);

/* Appends a value of the form CHAR, STRING, BYTES or LIST as text.  True: it has all of the
 * field, if that is not vague. */
bool pt_form_put(struct pt_bytes *to, enum pt_form form, const posixtrace_layout_t *layout,
                 size_t i, const struct posixtrace_value *v);
/* The same of the form NAME: the text of an element, which is in digits or the layout's. */
const char *pt_form_value_name(const struct posixtrace_field *f, uint64_t v, char digits[40],
                               size_t *length);

#endif
