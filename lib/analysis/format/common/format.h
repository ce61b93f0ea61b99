/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of a format: a description, and one or two functions that work on a job.  Each
 * format is a folder with the format's name, and a line in table.c.  Above the public line:
 * <trace.h> and <posixtrace/...> only.
 */
#ifndef PT_FORMAT_FORMAT_H
#define PT_FORMAT_FORMAT_H

#include <stdio.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include <posixtrace/info.h>

/* One conversion under way. */
struct pt_job {
    struct posixtrace_conversion *c;
    const struct pt_format *format;
    trace_id_t trid;                   /* export: events come from here */
    posixtrace_fields_t *fields;       /* export: of trid */
    posixtrace_log_builder_t *builder; /* import: events go there */
    FILE *file;                        /* to be written or read; not of directories */
    int fd;                            /* the same as the caller gave it, or -1 */
    const char *directory;
    struct posixtrace_event *ahead; /* export: events that were read together */
    size_t ahead_room, ahead_count, ahead_at;
    uint64_t read;               /* export: events, also those that the caller does not want */
    struct posixtrace_event gap; /* export: mark of a gap that began before c->from_ns */
    bool gap_is_open;
    int error;         /* the first one; 0 */
    int write_error;   /* of the caller's write(), which is not called again; 0 */
    uint64_t notes[8]; /* of each kind that were reported */
    /* Export of several logs: */
    const char *label;     /* of the log; NULL: it is the only one */
    uint32_t number, logs; /* its place among so many */
};

/* The number that the output has for a process or a thread. */
static inline int64_t pt_job_number(const struct pt_job *job, int32_t number)
{
    return number + (int64_t)job->number * POSIXTRACE_EXPORT_STEP;
}

/* All return 0 or a positive errno, having called pt_job_fail(). */
struct pt_format {
    struct posixtrace_format about;
    int (*write)(struct pt_job *job); /* export, or NULL */
    int (*read)(struct pt_job *job);  /* import, or NULL */
    /* Export of several logs to one file, which each job has; or NULL.  The job that failed has
     * the error. */
    int (*write_logs)(struct pt_job *const *jobs, size_t count);
};

extern const struct pt_format *const pt_formats[]; /* ends with NULL */
extern const struct pt_format pt_format_btf, pt_format_chrome, pt_format_csv, pt_format_ctf,
    pt_format_folded, pt_format_jsonl, pt_format_kev, pt_format_kiwi, pt_format_otlp,
    pt_format_parquet, pt_format_perfetto, pt_format_rkh, pt_format_shark, pt_format_traceprinter,
    pt_format_trazer, pt_format_tree;

/* The next event of an export: 1, or 0 at the end and after an error (job->error). */
int pt_job_next(struct pt_job *job, struct posixtrace_event *event);
/* Export: how many events the log has lost, by cause; false: it cannot be read.  And in all. */
bool pt_job_losses(const struct pt_job *job, uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
uint64_t pt_job_lost(const struct pt_job *job);
/* An event was not carried over.  The first of a kind (0 to 7, the format's own) are
 * reported with why; NULL: only counted. */
void pt_job_left_out(struct pt_job *job, unsigned kind, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
/* Something worth telling that costs no event. */
void pt_job_note(struct pt_job *job, unsigned kind, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* Now and then of work before the first event, done: how far.  False: job->error is set. */
bool pt_job_progress(struct pt_job *job, uint64_t done);

/* Import: adds one event, or the description of a type.  False: job->error is set. */
bool pt_job_add(struct pt_job *job, const struct posixtrace_event *event);
bool pt_job_describe(struct pt_job *job, const char *event_name, const char *description);

/* The value of the n-th option of that name, from 0; "" of one without; NULL: not given. */
const char *pt_job_option(const struct pt_job *job, const char *name, size_t n);

/* Stores the error text, and returns error, a positive errno.  Only the first error counts. */
int pt_job_fail(struct pt_job *job, int error, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for job->file, after ferror(): EIO if errno is 0. */
int pt_job_fail_file(struct pt_job *job);

#endif
