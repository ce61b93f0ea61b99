/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A file under construction: row groups, each with a chunk of every column there is at that time,
 * and the footer.
 *
 * Columns are added while the log is read.  The metadata of groups is in a temporary file until the
 * end, when all columns are known: then the groups before a column's first value get a chunk
 * without values each, after the last group.
 */
#ifndef PT_PARQUET_FILE_H
#define PT_PARQUET_FILE_H

#include "analysis/format/common/format.h"
#include "analysis/format/parquet/column.h"
#include "analysis/format/parquet/encodings.h"
#include "analysis/format/parquet/thrift.h"

struct pt_parquet_file {
    struct pt_job *job;
    FILE *to;
    const char *table; /* its name */
    FILE *groups_file; /* metadata of the groups: struct pt_parquet_group, and its chunks */
    uint64_t at;       /* bytes written */
    uint64_t rows;
    size_t groups;
    struct pt_parquet_column **columns;
    size_t count, room;
    struct pt_bytes pairs; /* key-value metadata, as thrift */
    size_t pair_count;
    /* Of the chunk that is being written: */
    struct pt_bytes page, dictionary, packed, packed_dictionary, delta, scratch, meta;
    struct pt_parquet_numbers numbers;
    struct pt_texts texts;
    struct pt_bytes text_ids;
    void *compressor;
};

/* In groups_file; the chunks' metadata follows. */
struct pt_parquet_group {
    uint64_t rows, chunks, at, bytes, packed, meta;
};

/* 0, or job->error, here and below. */
int pt_parquet_file_open(struct pt_parquet_file *f, struct pt_job *job, FILE *to,
                         const char *table);
void pt_parquet_file_free(struct pt_parquet_file *f);
/* Belongs to the file; NULL: no memory.  name: UTF-8, to be copied. */
struct pt_parquet_column *pt_parquet_file_column(struct pt_parquet_file *f, const char *name,
                                                 size_t length, enum pt_parquet_type type,
                                                 enum pt_parquet_meaning meaning, unsigned bits);
void pt_parquet_file_pair(struct pt_parquet_file *f, const char *key, const char *value);
/* Writes the rows that the columns hold, and clears them. */
int pt_parquet_file_group(struct pt_parquet_file *f, size_t rows);
int pt_parquet_file_end(struct pt_parquet_file *f);

int pt_parquet_file_write(struct pt_parquet_file *f, const void *at, size_t size);
int pt_parquet_file_put(struct pt_parquet_file *f, const struct pt_bytes *bytes);
int pt_parquet_file_no_memory(struct pt_parquet_file *f);

/* Writes the chunk of a column, and puts its metadata into f->meta; adds to the sizes. */
int pt_parquet_chunk_write(struct pt_parquet_file *f, const struct pt_parquet_column *c,
                           size_t rows, struct pt_parquet_group *sizes);
/* The page of a chunk without values, into f->page with its head in f->meta, and the metadata of
 * such a chunk at that place. */
void pt_parquet_chunk_empty(struct pt_parquet_file *f, size_t rows);
void pt_parquet_chunk_empty_meta(struct pt_thrift *t, const struct pt_parquet_column *c,
                                 size_t rows, uint64_t at, size_t bytes);

/* The schema, and its orders, as fields of the footer. */
void pt_parquet_put_schema(struct pt_thrift *t, const char *table,
                           struct pt_parquet_column *const *columns, size_t count);
void pt_parquet_put_orders(struct pt_thrift *t, size_t count);

#endif
