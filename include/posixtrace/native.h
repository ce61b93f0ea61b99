/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A table of a log (posixtrace/tables.h) as blocks of ClickHouse's format Native, which an INSERT
 * of that engine takes.  'posixtrace load' sends them; docs/fleet.md has its protocol.
 *
 * Link with -lposixtrace-analysis.  A writer belongs to one thread at a time.  Functions of type
 * int return 0 or an error number.  None is async-signal-safe.
 */
#ifndef POSIXTRACE_NATIVE_H
#define POSIXTRACE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "../trace.h"
#include <posixtrace/tables.h>

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/*
 * Rows have two columns before those of the table: attempt (UInt64) and loaded (DateTime), the
 * same in all rows.  They say which attempt to load the log the row belongs to, and when that
 * began.  tables: of the same stream, for all of its tables, so that the log is read less often;
 * they live as long as the writer.  NULL: it makes its own, with host and clocks as of struct
 * posixtrace_tables_options.  fields: how many columns of fields there are at most, 0: 400; fields
 * of others are in the column data only.
 */
struct posixtrace_native_options {
    uint64_t attempt;
    uint32_t loaded; /* seconds since 1970 */
    uint32_t fields;
    const char *host;
    const posixtrace_sync_t *clocks;
    posixtrace_tables_t *tables;
};

struct posixtrace_native_column {
    const char *name; /* UTF-8 without NUL, else any characters; at most 200 bytes */
    const char *type; /* of the engine: "Nullable(Int64)" */
    bool is_field;    /* not one that all logs have */
};

/* Rows, as bytes in pieces. */
struct posixtrace_native_block {
    const struct iovec *pieces;
    size_t count; /* of pieces */
    uint64_t rows;
};

typedef struct posixtrace_native posixtrace_native_t;

/*
 * Makes a writer of a table (enum posixtrace_table) of a pre-recorded stream; options may be NULL.
 * The caller frees it before the stream is closed.
 *
 * EINVAL  trid is not a pre-recorded stream, native is NULL, there is no such table, or size is 0
 *         and options is not NULL
 * ENOMEM; others as posixtrace_get_info()
 */
int posixtrace_native_create(trace_id_t trid, unsigned table,
                             const struct posixtrace_native_options *options, size_t size,
                             posixtrace_native_t **native);
void posixtrace_native_free(posixtrace_native_t *native); /* or NULL */

/* i from 0; NULL after the last.  They are complete before the first block, and belong to
 * native. */
const struct posixtrace_native_column *posixtrace_native_column(const posixtrace_native_t *native,
                                                                size_t i);
/* The type of the engine of a table's column.  Constant text. */
const char *posixtrace_native_type(const struct posixtrace_column *column);
/* Fields that have no column of their own. */
size_t posixtrace_native_left_out(const posixtrace_native_t *native);
/* Gives a column of a field another name, where the engine's table has one of that name and another
 * type.  NULL: it has none, and the field is in the column data.  EINVAL: it is not a column of a
 * field, or native has written; ENOMEM */
int posixtrace_native_rename(posixtrace_native_t *native, size_t i, const char *name);
/* The bytes of a name of a column as it is a file of the engine: a file's name has 255 at most. */
enum { POSIXTRACE_NATIVE_NAME_MAX = 200 };

/*
 * Reads the log from its start, and calls block for each block of rows: its bytes are the pieces,
 * one after the other.  They live until it returns; another result of it than 0 ends the call,
 * which returns it.  Columns without a value in a block are not in it.  The memory that is used has
 * a bound, whatever the length of the log.  To be called once.
 *
 * EINVAL  a NULL argument, or the second call
 * ENOMEM; others as posixtrace_next_events()
 */
int posixtrace_native_write(posixtrace_native_t *native,
                            int (*block)(void *context,
                                         const struct posixtrace_native_block *block),
                            void *context);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
