/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Columns; see column.h. */
#include <stdlib.h>
#include "analysis/format/parquet/column.h"

void pt_parquet_column_name(struct pt_parquet_column *c, const void *text, size_t length)
{
    pt_parquet_put32(&c->values, pt_texts_number(&c->names, text, length));
}

size_t pt_parquet_column_count(const struct pt_parquet_column *c, size_t rows)
{
    if (c->one_text)
        return c->names.count ? rows : 0;
    if (c->one_number)
        return c->values.used ? rows : 0;
    return c->values.used / pt_parquet_element(c);
}

bool pt_parquet_column_failed(const struct pt_parquet_column *c)
{
    return c->values.failed || c->text.failed || c->names.text.failed || c->names.offsets.failed ||
           c->names.slots.failed || (c->rows && c->rows->failed);
}

void pt_parquet_column_clear(struct pt_parquet_column *c)
{
    if (!c->one_number)
        pt_bytes_clear(&c->values);
    pt_bytes_clear(&c->text);
    if (!c->one_text)
        pt_texts_clear(&c->names);
}

void pt_parquet_column_free(struct pt_parquet_column *c)
{
    free(c->name);
    pt_bytes_free(&c->values);
    pt_bytes_free(&c->text);
    pt_texts_free(&c->names);
}
