/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The formats jsonl and csv: a whole stream in the lines of rows.c, and back. */
#include <errno.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/csv_json/rows_read.h"

static int write_lines(struct pt_job *job, posixtrace_rows_t *rows)
{
    const char *line = posixtrace_rows_head(rows);
    size_t length = strlen(line);
    struct posixtrace_event e;

    if (fwrite(line, 1, length, job->file) != length)
        return pt_job_fail_file(job);
    while (pt_job_next(job, &e)) {
        line = posixtrace_rows_line(rows, &e, &length);
        if (!line)
            return pt_job_fail(job, ENOMEM, "no memory for a line");
        if (fwrite_unlocked(line, 1, length, job->file) != length)
            return pt_job_fail_file(job);
    }
    return job->error;
}

static int write_rows(struct pt_job *job)
{
    posixtrace_rows_t *rows;
    int error = posixtrace_rows_create(job->trid, job->format->about.name, false, &rows);

    if (error)
        return pt_job_fail(job, error, "cannot prepare lines: %s", strerror(error));
    error = write_lines(job, rows);
    posixtrace_rows_free(rows);
    return error;
}

static int read_csv(struct pt_job *job)
{
    return pt_rows_import(job, &pt_row_csv);
}

static int read_jsonl(struct pt_job *job)
{
    return pt_rows_import(job, &pt_row_jsonl);
}

const struct pt_format pt_format_csv = {
    .about = { .name = "csv",
               .about = "comma-separated values with a header row, RFC 4180",
               .exports = true,
               .imports = true },
    .write = write_rows,
    .read = read_csv,
};

const struct pt_format pt_format_jsonl = {
    .about = { .name = "jsonl",
               .about = "one JSON object a line, nothing lost",
               .exports = true,
               .imports = true },
    .write = write_rows,
    .read = read_jsonl,
};
