/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Traces in the formats of other tools: `posixtrace export` and `posixtrace import` as functions;
 * and event data as fields, formatted for display.
 *
 * Link with -lposixtrace-analysis.  Functions return 0 or an error number unless they say
 * otherwise.  They are thread-safe, but an object belongs to one thread at a time; none is
 * async-signal-safe.  Formats and their texts are constant.  Times are ns since 1970.
 */
#ifndef POSIXTRACE_FORMAT_H
#define POSIXTRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/sync.h>
#include <posixtrace/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats ---- */

struct posixtrace_format_option {
    const char *name; /* NULL: the last of a list */
    const char *about;
};

struct posixtrace_format {
    const char *name;        /* "ctf" */
    const char *about;       /* one line */
    bool exports, imports;   /* in this build */
    bool is_directory;       /* its traces are folders of files */
    bool also_directory;     /* its traces are files, or folders of files */
    const char *unavailable; /* NULL, or why this build does not have the format */
    const struct posixtrace_format_option *options; /* ends with a name of NULL */
};

/* i from 0; NULL after the last. */
const struct posixtrace_format *posixtrace_format_get(size_t i);
/* NULL: there is none of that name. */
const struct posixtrace_format *posixtrace_format_find(const char *name);

/* The parameters of a conversion, and its results.  Members that only the program knows stay as
 * they are, and have no effect. */
struct posixtrace_conversion {
    const char *const *options; /* "name=value" or "name", ends with NULL; or NULL */
    const char *name;           /* of the input or the output, for messages; or NULL */
    /* Called with a message for the user: the format cannot represent something, a line was
     * skipped.  At most some twenty times for one kind; or NULL. */
    void (*note)(void *context, const char *text);
    /* Now and then, with the events so far, of an export those that were read; or NULL. */
    int (*progress)(void *context, uint64_t events);
    /* In the place of read(2) or write(2) of the descriptor, which may then be -1; results as
     * theirs, with errno; or NULL. */
    ssize_t (*read)(void *context, void *to, size_t size);
    ssize_t (*write)(void *context, const void *from, size_t size);
    void *context;
    uint64_t events;   /* set: converted */
    uint64_t left_out; /* set: events that the format cannot carry; not those refused by wants */
    char error[240];   /* set: in words, with line or offset, what went wrong */
    /* Export: is this event part of the result?  The trace is written as if there were no
     * others: a caller that leaves out the marks of lost events (POSIX_TRACE_OVERFLOW and
     * RESUME) makes a trace that looks whole.  NULL: all are. */
    bool (*wants)(void *context, const struct posixtrace_event *event);
    /* Export: wants refuses all earlier events.  A gap that began before this time and lasts
     * until then begins with a mark at this time.  NULL: there is no such time. */
    const int64_t *from_ns;
    /* Export: the clocks that were applied to the stream, for formats that have their errors
     * (parquet).  NULL: none. */
    const posixtrace_sync_t *clocks;
};

/*
 * Writes the events of a stream that are left to read to fd, which is not closed, from its
 * offset on; the directory exists and is empty.  Memory does not grow with the number of events.
 *
 * EINVAL    a NULL argument, size 0, no such format, or it is (not) one of directories, or a wrong
 *           option: conversion->error names it
 * ENOTSUP   the format cannot be exported, or not by this build
 * what progress returned, if that was not 0
 * others    as posixtrace_next_event(), or of writing: conversion->error says more
 */
int posixtrace_export(trace_id_t trid, const char *format, int fd,
                      struct posixtrace_conversion *conversion, size_t size);
int posixtrace_export_directory(trace_id_t trid, const char *format, const char *directory,
                                struct posixtrace_conversion *conversion, size_t size);

/* One of several logs that become one trace. */
struct posixtrace_export_log {
    trace_id_t trid;
    const char *label; /* what names its processes; not NULL */
    /* As those of struct posixtrace_conversion, which have no effect then; with a context of its
     * own. */
    bool (*wants)(void *context, const struct posixtrace_event *event);
    void *context;
    const int64_t *from_ns;
};

enum { POSIXTRACE_EXPORT_LOGS = 214, POSIXTRACE_EXPORT_STEP = 10000000 };

/*
 * As posixtrace_export(), the events of several streams as one trace, "chrome" or "perfetto": in
 * the order of time by the times that each stream has.  log_size is sizeof logs[0].  Processes have
 * the label of their log before their names; to their numbers, and those of threads, number i
 * (from 0) times POSIXTRACE_EXPORT_STEP is added.
 *
 * EINVAL     also: count is 0 or more than POSIXTRACE_EXPORT_LOGS, or a label is NULL
 * ENOTSUP    also: the format is of one log
 * EOVERFLOW  a number of a process or thread is not below POSIXTRACE_EXPORT_STEP
 */
int posixtrace_export_logs(const struct posixtrace_export_log *logs, size_t log_size, size_t count,
                           const char *format, int fd, struct posixtrace_conversion *conversion,
                           size_t size);

/*
 * Adds the events of a foreign trace, on fd from its offset on, to a log under construction, in
 * the order of time.  fd is not closed.
 * When the call reports a fault, it has added the events before the fault.
 *
 * EINVAL, ENOTSUP, and what progress returned, as above
 * EILSEQ    the input is not of the format: conversion->error says where
 * others    as posixtrace_log_builder_add(), or of reading
 */
int posixtrace_import(const char *format, int fd, posixtrace_log_builder_t *builder,
                      struct posixtrace_conversion *conversion, size_t size);
int posixtrace_import_directory(const char *format, const char *directory,
                                posixtrace_log_builder_t *builder,
                                struct posixtrace_conversion *conversion, size_t size);

/* ---- events as lines ---- */

/*
 * The formats of lines, "jsonl" and "csv", an event at a time: for programs that select
 * events or wait for them.  posixtrace_export() writes the same.
 */
typedef struct posixtrace_rows posixtrace_rows_t;

/* ascii: all else is escaped.  EINVAL: a NULL pointer, or no such format of lines; ENOMEM */
int posixtrace_rows_create(trace_id_t trid, const char *format, bool ascii,
                           posixtrace_rows_t **rows);
void posixtrace_rows_free(posixtrace_rows_t *rows); /* or NULL */
/* The text before the first line; it may be empty. */
const char *posixtrace_rows_head(const posixtrace_rows_t *rows);
/* The line of an event of trid, with its end, until the next call.  NULL: no memory. */
const char *posixtrace_rows_line(posixtrace_rows_t *rows, const struct posixtrace_event *event,
                                 size_t *length);

/* ---- checking BTF ---- */

/* Something in a BTF file that its specification forbids.  Texts are never NULL. */
struct posixtrace_btf_finding {
    uint64_t line;      /* from 1 */
    const char *entity; /* that the event is for; "" for the line as a whole */
    const char *state;  /* before it, of a process, runnable or semaphore; or "" */
    const char *action; /* or "" */
    const char *text;   /* the fault; all four are good during the callback only */
};

struct posixtrace_btf_report {
    char version[32]; /* that the file names; "" if none */
    char rules[16];   /* by which it was checked: "2.2.1" */
    uint64_t lines, events, findings;
};

#define POSIXTRACE_BTF_FROM_START 1u /* nothing was active or in use before the first line */

/*
 * Holds a trace in Best Trace Format against the specification of its version, or, where
 * version is not NULL, of that one ("2.1.5", "2.2.1", "2.3.0").  finding may be NULL; it is
 * called in the order of the lines, and ends the check by another result than 0, which is
 * returned.  Findings are a result, no error.  fd is read to its
 * end and not closed.  Memory is bounded.
 *
 * EINVAL  a NULL argument, size 0, a version that is not known, or other flags
 * ENOMEM, and errors of reading
 */
int posixtrace_btf_check(int fd, const char *version, unsigned flags,
                         int (*finding)(void *context, const struct posixtrace_btf_finding *f),
                         void *context, struct posixtrace_btf_report *report, size_t size);

/* ---- event data as fields ---- */

/*
 * Data in words, `order=5 price=1.5 symbol="ABC"`, or as a JSON object,
 * `{"order":5,"price":1.5,"symbol":"ABC"}`.  As snprintf(): stores at most size bytes, with NUL,
 * and returns the length of the whole text; 0: the data does not fit the layout.
 */
size_t posixtrace_layout_text(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size);
size_t posixtrace_layout_json(const posixtrace_layout_t *layout, const void *data, size_t len,
                              char *to, size_t size);

#ifdef __cplusplus
}
#endif
#endif
