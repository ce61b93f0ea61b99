/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See table.h. */
#include <errno.h>
#include <inttypes.h>
#include "analysis/format/parquet/table.h"

/* ---- columns ---- */

static const struct {
    enum pt_parquet_type type;
    enum pt_parquet_meaning meaning;
    unsigned bits;
} forms[] = {
    [POSIXTRACE_COLUMN_TEXT] = { PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0 },
    [POSIXTRACE_COLUMN_BYTES] = { PT_PARQUET_BYTES, PT_PARQUET_PLAIN, 0 },
    [POSIXTRACE_COLUMN_INT32] = { PT_PARQUET_INT32, PT_PARQUET_SIGNED, 32 },
    [POSIXTRACE_COLUMN_INT64] = { PT_PARQUET_INT64, PT_PARQUET_SIGNED, 64 },
    [POSIXTRACE_COLUMN_UINT64] = { PT_PARQUET_INT64, PT_PARQUET_UNSIGNED, 64 },
    [POSIXTRACE_COLUMN_TIME] = { PT_PARQUET_INT64, PT_PARQUET_TIME, 64 },
    [POSIXTRACE_COLUMN_BOOL] = { PT_PARQUET_BOOLEAN, PT_PARQUET_PLAIN, 1 },
};

static void put_text(struct pt_parquet_column *c, const char *text, size_t length)
{
    struct pt_bytes good = { .at = NULL };

    pt_parquet_put_text(&good, text, length);
    c->text.failed = c->text.failed || good.failed ||
                     pt_texts_number(&c->names, good.at, good.used) == UINT32_MAX;
    pt_bytes_free(&good);
}

/* What all rows of the log have. */
static void put_common(struct pt_parquet_column *c, const struct posixtrace_column *about,
                       const struct posixtrace_cell *cell)
{
    c->one_text = about->type == POSIXTRACE_COLUMN_TEXT;
    c->one_number = !c->one_text;
    if (cell->null)
        return;
    if (c->one_number)
        pt_parquet_put64(&c->values, (uint64_t)cell->number);
    else
        put_text(c, cell->text, cell->length);
}

static bool add_column(struct pt_parquet_table *t, const struct posixtrace_column *about,
                       const struct pt_parquet_options *o)
{
    struct pt_parquet_column *c = pt_parquet_file_column(
        &t->file, about->name, strlen(about->name), forms[about->type].type,
        forms[about->type].meaning, forms[about->type].bits);

    if (!c || t->count == PT_PARQUET_COLUMNS)
        return false;
    if (o->integer_time && about->type == POSIXTRACE_COLUMN_TIME)
        c->meaning = PT_PARQUET_SIGNED;
    c->optional = about->optional;
    c->has_names = about->type == POSIXTRACE_COLUMN_TEXT;
    if (about->of_log)
        put_common(c, about, &posixtrace_tables_origin(o->tables)[t->count]);
    t->columns[t->count++] = c;
    return true;
}

int pt_parquet_table_open(struct pt_parquet_table *t, struct pt_job *job, unsigned table,
                          const struct pt_parquet_options *o, FILE *to)
{
    const struct posixtrace_column *about;

    t->table = table;
    if (pt_parquet_file_open(&t->file, job, to, posixtrace_table_name(table)) != 0)
        return job->error;
    while ((about = posixtrace_table_column(table, t->count)))
        if (!add_column(t, about, o))
            return pt_parquet_file_no_memory(&t->file);
    return 0;
}

void pt_parquet_table_free(struct pt_parquet_table *t)
{
    pt_parquet_file_free(&t->file);
    for (size_t i = 0; i < PT_PARQUET_COLUMNS; i++)
        pt_bytes_free(&t->valued[i]);
    pt_bytes_free(&t->scratch);
}

/* ---- rows ---- */

void pt_parquet_table_name(struct pt_parquet_table *t, size_t column, const char *text,
                           size_t length)
{
    struct pt_parquet_column *c = t->columns[column];

    t->scratch.used = 0;
    pt_parquet_put_text(&t->scratch, text, length);
    c->text.failed |= t->scratch.failed;
    pt_parquet_column_name(c, t->scratch.at, t->scratch.used);
}

static void put_cell(struct pt_parquet_table *t, size_t column, const struct posixtrace_cell *cell)
{
    struct pt_parquet_column *c = t->columns[column];
    uint8_t byte = cell->number != 0;

    if (cell->null)
        return;
    if (c->optional)
        pt_parquet_table_has(t, column);
    if (c->has_names)
        pt_parquet_table_name(t, column, cell->text, cell->length);
    else if (c->type == PT_PARQUET_BOOLEAN)
        pt_parquet_put(&c->values, &byte, 1);
    else if (pt_parquet_is_wide(c))
        pt_parquet_put64(&c->values, (uint64_t)cell->number);
    else
        pt_parquet_put32(&c->values, (uint32_t)cell->number);
}

int pt_parquet_table_row(struct pt_parquet_table *t, const struct posixtrace_cell *cells)
{
    for (size_t i = POSIXTRACE_COLUMN_POSITION; i < t->count; i++) {
        put_cell(t, i, &cells[i]);
        t->bytes += cells[i].null ? 0 : cells[i].length;
    }
    t->rows++;
    return t->rows == PT_PARQUET_ROWS || t->bytes >= PT_PARQUET_GROUP_BYTES
               ? pt_parquet_table_group(t)
               : 0;
}

int pt_parquet_table_group(struct pt_parquet_table *t)
{
    int error = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i]->optional && !t->columns[i]->one_text && !t->columns[i]->one_number)
            t->columns[i]->rows = t->valued[i].used == t->rows * sizeof(uint32_t) &&
                                          !t->valued[i].failed
                                      ? NULL
                                      : &t->valued[i];
    if (t->rows > 0)
        error = pt_parquet_file_group(&t->file, t->rows);
    for (size_t i = 0; i < t->count; i++)
        pt_bytes_clear(&t->valued[i]);
    t->rows = 0;
    t->bytes = 0;
    return error;
}

/* ---- the end ---- */

static void put_number_pair(struct pt_parquet_file *f, const char *key, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, value);
    pt_parquet_file_pair(f, key, digits);
}

/* What the log has lost, by cause, as it is known at its end. */
static void put_losses(struct pt_parquet_file *f)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], sum = 0;
    struct posixtrace_info info;
    char key[100];

    if (!pt_job_losses(f->job, lost) || posixtrace_get_info(f->job->trid, &info, sizeof info) != 0)
        return;
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        sum += lost[i];
        snprintf(key, sizeof key, "posixtrace.lost.%s", posixtrace_loss_cause_text(i));
        if (lost[i])
            put_number_pair(f, key, lost[i]);
    }
    put_number_pair(f, "posixtrace.lost", sum);
    put_number_pair(f, "posixtrace.skipped_bytes", info.skipped_bytes);
}

int pt_parquet_table_end(struct pt_parquet_table *t)
{
    if (pt_parquet_table_group(t) != 0)
        return t->file.job->error;
    put_losses(&t->file);
    return pt_parquet_file_end(&t->file);
}
