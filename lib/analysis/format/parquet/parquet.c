/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Parquet: the events of a log as one table, docs/formats/parquet.md.  Columns of all events come
 * first, then one for each field of each described type that has events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analysis/format/parquet/types.h"
#include "text/number.h"

enum { ROWS = 1 << 17, BYTES = 32 << 20 }; /* of a group at most, but for the last event */

enum fixed {
    HOST,
    BOOT,
    LOG,
    POSITION,
    PID,
    TID,
    THREAD_ID,
    THREAD,
    TIME,
    EVENT,
    TRUNCATED,
    ADDRESS,
    DATA,
    FIXED
};

struct writer {
    struct pt_job *job;
    struct pt_parquet_file file;
    struct pt_parquet_types types;
    struct pt_parquet_column *fixed[FIXED];
    struct pt_parquet_bytes data_rows; /* that have data */
    uint32_t rows;                     /* of this group */
    size_t bytes;
    struct pt_parquet_bytes name;
    uint32_t names[PT_PARQUET_TYPES]; /* number of a type's name in this group + 1 */
    uint32_t thread;                  /* number of the name before, in this group */
    char thread_name[64];             /* it, if it is not longer */
    bool has_thread;
};

static bool make_columns(struct writer *w)
{
    static const struct {
        const char *name;
        enum pt_parquet_type type;
        enum pt_parquet_meaning meaning;
        unsigned bits;
        bool one_text, names, optional;
    } columns[FIXED] = {
        [HOST] = { "host", PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0, true, true, true },
        [BOOT] = { "boot", PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0, true, true, true },
        [LOG] = { "log", PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0, true, true, false },
        [POSITION] = { "position", PT_PARQUET_INT64, PT_PARQUET_SIGNED, 64, .names = false },
        [PID] = { "pid", PT_PARQUET_INT32, PT_PARQUET_SIGNED, 32, .names = false },
        [TID] = { "tid", PT_PARQUET_INT32, PT_PARQUET_SIGNED, 32, .names = false },
        [THREAD_ID] = { "thread_id", PT_PARQUET_INT64, PT_PARQUET_UNSIGNED, 64, .names = false },
        [THREAD] = { "thread", PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0, .names = true },
        [TIME] = { "time", PT_PARQUET_INT64, PT_PARQUET_TIME, 64, .names = false },
        [EVENT] = { "event", PT_PARQUET_BYTES, PT_PARQUET_TEXT, 0, .names = true },
        [TRUNCATED] = { "truncated", PT_PARQUET_BOOLEAN, PT_PARQUET_PLAIN, 1, .names = false },
        [ADDRESS] = { "address", PT_PARQUET_INT64, PT_PARQUET_UNSIGNED, 64, .names = false },
        [DATA] = { "data", PT_PARQUET_BYTES, PT_PARQUET_PLAIN, 0, .optional = true },
    };

    for (size_t i = 0; i < FIXED; i++) {
        w->fixed[i] = pt_parquet_file_column(&w->file, columns[i].name, strlen(columns[i].name),
                                             columns[i].type, columns[i].meaning, columns[i].bits);
        if (!w->fixed[i])
            return false;
        w->fixed[i]->one_text = columns[i].one_text;
        w->fixed[i]->has_names = columns[i].names;
        w->fixed[i]->optional = columns[i].optional;
    }
    w->fixed[DATA]->rows = &w->data_rows;
    return true;
}

static void set_text(struct pt_parquet_column *c, const char *text)
{
    struct pt_parquet_bytes good = { .at = NULL };

    pt_parquet_put_text(&good, text, strlen(text));
    c->text.failed = c->text.failed || good.failed ||
                     pt_parquet_texts_number(&c->names, good.at, good.used) == UINT32_MAX;
    pt_parquet_bytes_free(&good);
}

/* An identity in hexadecimal; "" for zeros. */
static void put_identity(char to[2 * 16 + 1], const uint8_t id[16])
{
    static const uint8_t none[16];

    to[0] = '\0';
    if (memcmp(id, none, sizeof none) != 0)
        *pt_number_bytes(to, id, sizeof none) = '\0';
}

/* What the log knows of itself, and not the machine that the export runs on. */
static void set_origin(struct writer *w)
{
    const char *host = pt_job_option(w->job, "host", 0);
    struct posixtrace_info info = { .events = 0 };
    char id[2 * sizeof info.id + 1] = "";
    int error = posixtrace_get_info(w->job->trid, &info, sizeof info);

    if (error) {
        pt_job_fail(w->job, error, "cannot read what the log says of itself: %s", strerror(error));
        return;
    }
    put_identity(id, info.boot_id);
    if (id[0])
        set_text(w->fixed[BOOT], id);
    pt_number_bytes(id, info.id, sizeof info.id);
    set_text(w->fixed[LOG], id);
    if (!host && info.host[0])
        host = info.host;
    if (host)
        set_text(w->fixed[HOST], host);
}

static bool take_options(struct writer *w)
{
    const char *time = pt_job_option(w->job, "time", 0);

    if (!time || strcmp(time, "timestamp") == 0)
        return true;
    if (strcmp(time, "integer") != 0) {
        pt_job_fail(w->job, EINVAL, "--time=%s: it is timestamp or integer", time);
        return false;
    }
    w->fixed[TIME]->meaning = PT_PARQUET_SIGNED;
    return true;
}

/* ---- events ---- */

static void put_text_name(struct writer *w, enum fixed column, const char *text)
{
    w->name.used = 0;
    if (!pt_parquet_put_text(&w->name, text, strlen(text)) || w->name.failed)
        w->fixed[column]->text.failed |= w->name.failed;
    pt_parquet_column_name(w->fixed[column], w->name.at, w->name.used);
}

static uint32_t last_number(const struct pt_parquet_column *c)
{
    return c->values.failed ? 0 : pt_parquet_get32(&c->values, c->values.used / 4 - 1);
}

static void put_event_name(struct writer *w, const struct posixtrace_event *e)
{
    uint32_t *number = e->id < PT_PARQUET_TYPES ? &w->names[e->id] : NULL;

    if (number && *number) {
        pt_parquet_put32(&w->fixed[EVENT]->values, *number - 1);
        return;
    }
    put_text_name(w, EVENT, e->name);
    if (number)
        *number = last_number(w->fixed[EVENT]) + 1;
}

static void put_thread_name(struct writer *w, const char *name)
{
    if (w->has_thread && strcmp(w->thread_name, name) == 0) {
        pt_parquet_put32(&w->fixed[THREAD]->values, w->thread);
        return;
    }
    put_text_name(w, THREAD, name);
    w->thread = last_number(w->fixed[THREAD]);
    w->has_thread = strlen(name) < sizeof w->thread_name;
    if (w->has_thread)
        strcpy(w->thread_name, name);
}

static void put_data(struct writer *w, const struct posixtrace_event *e)
{
    struct pt_parquet_column *c = w->fixed[DATA];

    pt_parquet_put32(&w->data_rows, w->rows);
    pt_parquet_put32(&c->values, (uint32_t)e->data_len);
    pt_parquet_put(&c->text, e->data, e->data_len);
}

static void put_event(struct writer *w, const struct posixtrace_event *e)
{
    struct pt_parquet_column *const *c = w->fixed;
    uint8_t truncated = e->truncation != POSIX_TRACE_NOT_TRUNCATED;

    pt_parquet_put64(&c[POSITION]->values, w->job->read - 1);
    pt_parquet_put32(&c[PID]->values, (uint32_t)e->pid);
    pt_parquet_put32(&c[TID]->values, (uint32_t)e->tid);
    pt_parquet_put64(&c[THREAD_ID]->values, e->thread_id);
    pt_parquet_put64(&c[TIME]->values, (uint64_t)e->ns);
    pt_parquet_put64(&c[ADDRESS]->values, e->prog_address);
    pt_parquet_put(&c[TRUNCATED]->values, &truncated, 1);
    put_thread_name(w, e->thread_name);
    put_event_name(w, e);
    if (!pt_parquet_types_put(&w->types, e, w->rows))
        put_data(w, e);
    w->bytes += e->data_len;
    w->rows++;
}

static int end_group(struct writer *w)
{
    int error = w->rows ? pt_parquet_file_group(&w->file, w->rows) : 0;

    w->rows = 0;
    w->bytes = 0;
    w->has_thread = false;
    memset(w->names, 0, sizeof w->names);
    pt_parquet_bytes_clear(&w->data_rows);
    pt_parquet_types_clear(&w->types);
    return error;
}

/* ---- the file ---- */

static void put_number_pair(struct writer *w, const char *key, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, value);
    pt_parquet_file_pair(&w->file, key, digits);
}

/* What the log has lost, by cause, as it is known at its end. */
static void put_losses(struct writer *w)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], sum = 0;
    struct posixtrace_info info;
    char key[100];

    if (!pt_job_losses(w->job, lost) || posixtrace_get_info(w->job->trid, &info, sizeof info) != 0)
        return;
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        sum += lost[i];
        snprintf(key, sizeof key, "posixtrace.lost.%s", posixtrace_loss_cause_text(i));
        if (lost[i])
            put_number_pair(w, key, lost[i]);
    }
    put_number_pair(w, "posixtrace.lost", sum);
    put_number_pair(w, "posixtrace.skipped_bytes", info.skipped_bytes);
}

static int write_events(struct writer *w)
{
    struct posixtrace_event e;

    while (!w->job->error && pt_job_next(w->job, &e)) {
        put_event(w, &e);
        if (w->rows == ROWS || w->bytes + w->types.bytes >= BYTES)
            end_group(w);
    }
    if (!w->job->error)
        end_group(w);
    if (!w->job->error) {
        put_losses(w);
        pt_parquet_file_end(&w->file);
    }
    return w->job->error;
}

static int write_parquet(struct pt_job *job)
{
    struct writer *w = calloc(1, sizeof *w);

    if (!w)
        return pt_job_fail(job, ENOMEM, "no memory");
    w->job = job;
    w->types.file = &w->file;
    if (pt_parquet_file_open(&w->file, job) == 0) {
        if (!make_columns(w)) {
            pt_parquet_file_no_memory(&w->file);
        } else if (take_options(w)) {
            set_origin(w);
            write_events(w);
        }
    }
    pt_parquet_types_free(&w->types);
    pt_parquet_file_free(&w->file);
    pt_parquet_bytes_free(&w->data_rows);
    pt_parquet_bytes_free(&w->name);
    free(w);
    return job->error;
}

static const struct posixtrace_format_option options[] = {
    { "host", "NAME: the machine's name, in the place of the log's" },
    { "time", "integer: the column time is a number, not a timestamp (timestamp)" },
    { NULL, NULL }
};

const struct pt_format pt_format_parquet = {
    .about = { .name = "parquet",
               .about = "Apache Parquet, a table for DuckDB, Spark, pandas",
               .exports = true,
               .options = options },
    .write = write_parquet
};
