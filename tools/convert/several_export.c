/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See several_export.h.  One batch of events of each log is in memory.
 */
#include "convert/several_export.h"

#include <errno.h>
#include <posixtrace/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/tool.h"
#include "common/utf8.h"
#include "input/earliest.h"

enum { BATCH = 128 };

struct source {
    struct input_log *in;
    posixtrace_rows_t *rows;
    char *log; /* what stands before the rest of a line */
    struct posixtrace_event batch[BATCH];
    size_t at, count;
    int64_t key; /* the time of its next event, not before that of the one before */
};

struct merged {
    struct source *sources;
    size_t count;
    struct earliest next;
    FILE *file;
    bool csv;
    uint64_t read, written;
};

/* The name of the log as the first member of an object, or the first column. */
static char *make_log(const char *path, bool csv)
{
    char *text = tool_grow(NULL, strlen(path) + 4, UTF8_MAX_ESCAPE), *to = text;

    to = stpcpy(to, csv ? "\"" : "{\"log\":\"");
    to = utf8_show(to, path, csv ? UTF8_CSV : UTF8_JSON);
    strcpy(to, "\",");
    return text;
}

static int read_error(const struct source *s, int error)
{
    return tool_error("cannot read on in %s: %s", s->in->log.shown, strerror(error));
}

/* Goes to the next event that is wanted; *none: there is none. */
static int find_next(struct merged *m, struct source *s, bool *none)
{
    for (*none = false;; s->at++) {
        if (s->at == s->count) {
            int error = posixtrace_next_events(s->in->log.trid, s->batch, sizeof s->batch[0], BATCH,
                                               &s->count);

            if (error)
                return read_error(s, error);
            s->at = 0;
            *none = s->count == 0;
            if (*none)
                return EXIT_DONE;
            m->read += s->count;
            progress_at(m->read);
        }
        if (select_keeps(&s->in->select, s->in->log.trid, &s->batch[s->at]))
            break;
    }
    if (s->batch[s->at].ns > s->key)
        s->key = s->batch[s->at].ns;
    return EXIT_DONE;
}

static int begin(struct merged *m, struct logs *logs, const char *format)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < logs->count; i++) {
        struct source *s = &m->sources[i];
        bool none;
        int error;

        s->in = logs->at[i];
        s->key = INT64_MIN;
        s->log = make_log(s->in->log.path, m->csv);
        m->count++;
        error = posixtrace_rows_create(s->in->log.trid, format, false, &s->rows);
        if (error)
            return read_error(s, error);
        status = find_next(m, s, &none);
        if (status == EXIT_DONE && !none)
            earliest_add(&m->next, i, s->key);
    }
    if (m->csv)
        fprintf(m->file, "log,%s", posixtrace_rows_head(m->sources[0].rows));
    return status;
}

/* The line of the earliest event of all. */
static int write_first(struct merged *m)
{
    struct source *s = &m->sources[earliest_first(&m->next)];
    size_t length;
    const char *line = posixtrace_rows_line(s->rows, &s->batch[s->at], &length);
    bool none;
    int status;

    if (!line)
        return read_error(s, ENOMEM);
    fputs(s->log, m->file);
    fwrite(line + !m->csv, 1, length - !m->csv, m->file); /* of an object without its brace */
    m->written++;
    s->at++;
    status = find_next(m, s, &none);
    if (status == EXIT_DONE && none)
        earliest_drop(&m->next);
    else if (status == EXIT_DONE)
        earliest_advance(&m->next, s->key);
    return status;
}

static int write_all(struct merged *m, struct logs *logs, const char *format, const char *output)
{
    int status = begin(m, logs, format);

    while (status == EXIT_DONE && m->next.count > 0 && !ferror(m->file))
        status = write_first(m);
    if (status != EXIT_DONE)
        return status;
    errno = 0;
    if (fflush(m->file) == 0 && !ferror(m->file))
        return EXIT_DONE;
    return tool_error("cannot write %s: %s", output, strerror(errno ? errno : EIO));
}

int several_export(struct logs *logs, const char *format, int fd, const char *output,
                   uint64_t *written)
{
    struct merged m = { .csv = strcmp(format, "csv") == 0 };
    int copy = dup(fd), status;

    m.file = copy < 0 ? NULL : fdopen(copy, "w");
    if (!m.file) {
        status = tool_error("cannot write %s: %s", output, strerror(errno));
        if (copy >= 0)
            close(copy);
        return status;
    }
    m.sources = tool_zeroed(logs->count * sizeof *m.sources);
    earliest_init(&m.next, logs->count);
    status = write_all(&m, logs, format, output);
    *written = m.written;
    for (size_t i = 0; i < m.count; i++) {
        posixtrace_rows_free(m.sources[i].rows);
        free(m.sources[i].log);
    }
    earliest_free(&m.next);
    free(m.sources);
    fclose(m.file);
    return status;
}
