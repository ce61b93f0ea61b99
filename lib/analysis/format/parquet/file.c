/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A file under construction; see file.h. */
#include <errno.h>
#include <stdlib.h>
#include "analysis/format/common/spool.h"
#include "analysis/format/parquet/compress.h"
#include "analysis/format/parquet/file.h"

#define MAGIC "PAR1"

enum { VERSION = 2 };
/* Fields of the format's structures. */
enum { FILE_VERSION = 1, FILE_ROWS = 3, FILE_GROUPS, FILE_PAIRS, FILE_CREATED_BY };
enum { GROUP_CHUNKS = 1, GROUP_BYTES, GROUP_ROWS, GROUP_AT = 5, GROUP_PACKED };

static int fail_temporary(struct pt_parquet_file *f)
{
    int error = errno ? errno : EIO;

    return pt_job_fail(f->job, error, "cannot use a temporary file (TMPDIR): %s", strerror(error));
}

int pt_parquet_file_open(struct pt_parquet_file *f, struct pt_job *job, FILE *to, const char *table)
{
    int error;

    f->job = job;
    f->to = to;
    f->table = table;
    error = pt_temporary_file(&f->groups_file);
    if (error)
        return pt_job_fail(job, error, "cannot make a temporary file (TMPDIR): %s",
                           strerror(error));
    return pt_parquet_file_write(f, MAGIC, 4);
}

void pt_parquet_file_free(struct pt_parquet_file *f)
{
    struct pt_bytes *const scratch[] = { &f->pairs, &f->page,    &f->dictionary, &f->packed,
                                         &f->delta, &f->scratch, &f->meta,       &f->text_ids };

    for (size_t i = 0; i < f->count; i++) {
        pt_parquet_column_free(f->columns[i]);
        free(f->columns[i]);
    }
    free(f->columns);
    for (size_t i = 0; i < sizeof scratch / sizeof scratch[0]; i++)
        pt_bytes_free(scratch[i]);
    pt_parquet_numbers_free(&f->numbers);
    pt_texts_free(&f->texts);
    pt_parquet_compress_free(f->compressor);
    if (f->groups_file)
        fclose(f->groups_file);
}

struct pt_parquet_column *pt_parquet_file_column(struct pt_parquet_file *f, const char *name,
                                                 size_t length, enum pt_parquet_type type,
                                                 enum pt_parquet_meaning meaning, unsigned bits)
{
    struct pt_parquet_column *c = calloc(1, sizeof *c), **more;

    if (f->count == f->room && c) {
        more = realloc(f->columns, (f->room * 2 + 32) * sizeof *more);
        f->room = more ? f->room * 2 + 32 : f->room;
        f->columns = more ? more : f->columns;
    }
    if (c)
        c->name = strndup(name, length);
    if (!c || !c->name || f->count == f->room) {
        if (c)
            free(c->name);
        free(c);
        return NULL;
    }
    c->type = type;
    c->meaning = meaning;
    c->bits = bits;
    f->columns[f->count++] = c;
    return c;
}

void pt_parquet_file_pair(struct pt_parquet_file *f, const char *key, const char *value)
{
    struct pt_bytes texts[2] = { { .at = NULL } };
    struct pt_thrift t = { .to = &f->pairs };

    pt_parquet_put_text(&texts[0], key, strlen(key));
    pt_parquet_put_text(&texts[1], value, strlen(value));
    pt_thrift_element(&t);
    for (int i = 0; i < 2; i++)
        pt_thrift_binary(&t, i + 1, texts[i].at, texts[i].used);
    pt_thrift_end(&t);
    f->pairs.failed = f->pairs.failed || texts[0].failed || texts[1].failed;
    f->pair_count++;
    pt_bytes_free(&texts[0]);
    pt_bytes_free(&texts[1]);
}

int pt_parquet_file_group(struct pt_parquet_file *f, size_t rows)
{
    struct pt_parquet_group g = { .rows = rows, .chunks = f->count, .at = f->at };

    f->meta.used = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (pt_parquet_chunk_write(f, f->columns[i], rows, &g) != 0)
            return f->job->error;
        pt_parquet_column_clear(f->columns[i]);
    }
    if (f->meta.failed)
        return pt_parquet_file_no_memory(f);
    g.meta = f->meta.used;
    f->groups++;
    f->rows += rows;
    errno = 0;
    if (fwrite_unlocked(&g, 1, sizeof g, f->groups_file) != sizeof g ||
        fwrite_unlocked(f->meta.at, 1, f->meta.used, f->groups_file) != f->meta.used)
        return fail_temporary(f);
    return 0;
}

/* ---- the end ---- */

static int read_back(struct pt_parquet_file *f, void *to, size_t size)
{
    errno = 0;
    return fread_unlocked(to, 1, size, f->groups_file) == size ? 0 : fail_temporary(f);
}

/* Calls do_group for each group, whose metadata is next in groups_file. */
static int for_groups(struct pt_parquet_file *f, uint64_t *late,
                      int (*do_group)(struct pt_parquet_file *, const struct pt_parquet_group *,
                                      uint64_t *))
{
    struct pt_parquet_group g;
    int error = 0;

    errno = 0;
    if (fflush(f->groups_file) != 0 || fseeko(f->groups_file, 0, SEEK_SET) != 0)
        return fail_temporary(f);
    for (size_t i = 0; i < f->groups && !error; i++) {
        error = read_back(f, &g, sizeof g);
        if (!error)
            error = do_group(f, &g, late);
    }
    return error;
}

/* The chunks of columns that came after the group. */
static int write_late(struct pt_parquet_file *f, const struct pt_parquet_group *g, uint64_t *late)
{
    int error = 0;

    (void)late;
    pt_parquet_chunk_empty(f, g->rows);
    for (size_t i = g->chunks; i < f->count && !error; i++)
        error = pt_parquet_file_put(f, &f->scratch);
    errno = 0;
    if (!error && fseeko(f->groups_file, (off_t)g->meta, SEEK_CUR) != 0)
        error = fail_temporary(f);
    return error;
}

/* A group in the footer. */
static int write_group(struct pt_parquet_file *f, const struct pt_parquet_group *g, uint64_t *late)
{
    struct pt_thrift t = { .to = &f->meta };
    uint64_t empty;
    uint8_t *to;

    pt_parquet_chunk_empty(f, g->rows);
    empty = f->scratch.used;
    f->meta.used = 0;
    pt_thrift_element(&t);
    pt_thrift_list(&t, GROUP_CHUNKS, PT_THRIFT_STRUCT, f->count);
    to = pt_bytes_add(&f->meta, g->meta);
    if (!to)
        return pt_parquet_file_no_memory(f);
    if (read_back(f, to, g->meta) != 0)
        return f->job->error;
    for (size_t i = g->chunks; i < f->count; i++, *late += empty)
        pt_parquet_chunk_empty_meta(&t, f->columns[i], g->rows, *late, empty);
    empty *= f->count - g->chunks;
    pt_thrift_i64(&t, GROUP_BYTES, (int64_t)(g->bytes + empty));
    pt_thrift_i64(&t, GROUP_ROWS, (int64_t)g->rows);
    pt_thrift_i64(&t, GROUP_AT, (int64_t)g->at);
    pt_thrift_i64(&t, GROUP_PACKED, (int64_t)(g->packed + empty));
    pt_thrift_end(&t);
    return pt_parquet_file_put(f, &f->meta);
}

/* The part of the footer before the groups, or the one after them. */
static int write_head(struct pt_parquet_file *f, struct pt_thrift *t)
{
    t->to->used = 0;
    pt_thrift_i32(t, FILE_VERSION, VERSION);
    pt_parquet_put_schema(t, f->table, f->columns, f->count);
    pt_thrift_i64(t, FILE_ROWS, (int64_t)f->rows);
    pt_thrift_list(t, FILE_GROUPS, PT_THRIFT_STRUCT, f->groups);
    return pt_parquet_file_put(f, t->to);
}

static int write_tail(struct pt_parquet_file *f, struct pt_thrift *t)
{
    static const char created_by[] = "posixtrace";

    t->to->used = 0;
    pt_thrift_list(t, FILE_PAIRS, PT_THRIFT_STRUCT, f->pair_count);
    pt_parquet_put(t->to, f->pairs.at, f->pairs.used);
    pt_thrift_binary(t, FILE_CREATED_BY, created_by, sizeof created_by - 1);
    pt_parquet_put_orders(t, f->count);
    pt_thrift_end(t);
    t->to->failed = t->to->failed || f->pairs.failed;
    return pt_parquet_file_put(f, t->to);
}

int pt_parquet_file_end(struct pt_parquet_file *f)
{
    struct pt_bytes text = { .at = NULL };
    struct pt_thrift t = { .to = &text };
    uint64_t late = f->at, begin;
    int error = for_groups(f, NULL, write_late);

    begin = f->at;
    if (!error)
        error = write_head(f, &t);
    if (!error)
        error = for_groups(f, &late, write_group);
    if (!error)
        error = write_tail(f, &t);
    text.used = 0;
    if (!error && f->at - begin > INT32_MAX)
        error = pt_job_fail(f->job, EFBIG, "the footer of the file would be longer than 2 GiB");
    pt_parquet_put32(&text, (uint32_t)(f->at - begin));
    pt_parquet_put(&text, MAGIC, 4);
    if (!error)
        error = pt_parquet_file_put(f, &text);
    pt_bytes_free(&text);
    return error;
}
