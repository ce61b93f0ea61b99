/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The part of importing a QNX trace that does not depend on the form of the input.  Events come in
 * nearly in order of time.  They are sorted, get names, threads and additional system events, and
 * go into the log.
 */
#ifndef PT_FORMAT_KEV_IMPORT_H
#define PT_FORMAT_KEV_IMPORT_H

#include "analysis/format/qnx/kev.h"
#include "analysis/format/qnx/kev_roundtrip.h"

/* Notes, by kind. */
enum {
    PT_KEV_NOTE_LOSS,
    PT_KEV_NOTE_ORDER,
    PT_KEV_NOTE_PARTS,
    PT_KEV_NOTE_RECORDS,
    PT_KEV_NOTE_HEADER,
    PT_KEV_NOTE_MANY,
    PT_KEV_NOTE_OURS
};

/* A whole event. */
struct pt_kev_event {
    int64_t ns;
    uint64_t where;  /* offset or line of its first record */
    uint32_t header; /* of that */
    bool cut, text;  /* cut: incomplete; text: data has the form of PT_KEV_TEXT */
    bool loss;       /* no event: a place where others are missing */
    uint32_t length;
    const uint8_t *data; /* in the input's byte order */
};

struct pt_kev_order;
struct pt_kev_roundtrip;

struct pt_kev_thread {
    uint32_t pid, tid;       /* tid 0: a process */
    int64_t ready_ns;        /* ready since then, after a wait for an outside event */
    int8_t cpu;              /* -1: it does not run */
    bool used, waits, ready; /* waits: for an outside event */
    char name[16];
};

#define PT_KEV_THREADS    32768u
#define PT_KEV_MOST_TYPES (TRACE_USER_EVENT_MAX - 24)

struct pt_kev_type {
    char name[80];
    uint8_t words; /* number of words at the start of its data */
    bool string;   /* a string follows them */
};

struct pt_kev_import {
    struct pt_job *job;
    const char *unit; /* that events are found by: "offset" or "line" */
    struct pt_kev_rules rules;
    struct pt_kev_clock clock;
    bool big_endian;

    struct pt_kev_order *order;
    int64_t pushed_ns, taken_ns; /* the latest event that came in; the last one that was passed
                                  * on */
    int64_t hold_ns;             /* time of the first event that is still incomplete */
    uint64_t late;               /* events that came too late to be put in order */

    uint8_t kind[64]; /* the kind of each thread state: enum in kev_threads.c */
    uint16_t types;
    bool described_lost, described_other;
    uint16_t slot[PT_KEV_FORMS][PT_KEV_TYPES]; /* 0: not met; else of type, and 1 more */
    uint8_t shape[PT_KEV_TYPES];               /* of several records; kev_events.c */
    struct pt_kev_type type[PT_KEV_MOST_TYPES];
    uint8_t *data; /* of the event that is made */

    char *attributes; /* of the header: name and value, with NULs */
    size_t attribute_bytes;
    bool begun;
    struct pt_kev_roundtrip *ours; /* NULL: the trace is not of our export */
    bool ours_of_qnx;              /* and has a header that came from QNX */
    bool ours_marked;              /* and user events 1022, 1023 that are not ours have no mark */

    struct pt_kev_thread *running[PT_KEV_CPUS];
    unsigned thread_count;
    struct pt_kev_thread thread[PT_KEV_THREADS];
};

/* False: job->error is set.  Options are read. */
bool pt_kev_import_begin(struct pt_kev_import *im, struct pt_job *job, const char *unit);
/* One attribute of the header, "CPU_NUM"; false: job->error is set. */
bool pt_kev_import_attribute(struct pt_kev_import *im, const char *name, const char *value);
/* Called once after all attributes; false: job->error is set. */
bool pt_kev_import_attributes_end(struct pt_kev_import *im);
const char *pt_kev_import_find(const struct pt_kev_import *im, const char *name); /* or NULL */
/* Writes the pending events into the log. */
bool pt_kev_import_end(struct pt_kev_import *im);
void pt_kev_import_free(struct pt_kev_import *im);

/* ---- kev_order.c ---- */

struct pt_kev_order *pt_kev_order_new(void);
void pt_kev_order_free(struct pt_kev_order *order);
/* The event is copied.  False: job->error is set. */
bool pt_kev_push(struct pt_kev_import *im, const struct pt_kev_event *e);
bool pt_kev_push_loss(struct pt_kev_import *im, uint64_t where, uint32_t missing, uint32_t expected,
                      uint32_t found);
bool pt_kev_order_flush(struct pt_kev_import *im);

/* ---- kev_events.c ---- */

/* In order of time now. */
bool pt_kev_take(struct pt_kev_import *im, const struct pt_kev_event *e);

/* ---- kev_threads.c ---- */

void pt_kev_threads_init(struct pt_kev_import *im);
/* NULL: there are too many threads, which was reported. */
struct pt_kev_thread *pt_kev_thread(struct pt_kev_import *im, uint32_t pid, uint32_t tid);
void pt_kev_threads_name(struct pt_kev_import *im, uint32_t pid, uint32_t tid, const char *name);
const char *pt_kev_threads_name_of(struct pt_kev_import *im, const struct pt_kev_thread *t);
/* System events before and after an event of a thread's state. */
bool pt_kev_threads_before(struct pt_kev_import *im, const struct pt_kev_event *e,
                           struct pt_kev_thread *t);
bool pt_kev_threads_after(struct pt_kev_import *im, const struct pt_kev_event *e,
                          struct pt_kev_thread *t);
/* Called when the running threads are not known. */
void pt_kev_threads_forget(struct pt_kev_import *im);

/* ---- kev_roundtrip_read.c ---- */

struct pt_kev_roundtrip *pt_kev_roundtrip_new(void);
void pt_kev_roundtrip_free(struct pt_kev_roundtrip *ours);
/* Is the number of an event of class USER one of ours? */
bool pt_kev_is_ours(const struct pt_kev_import *im, uint32_t header);
/* *taken: it was one of our export.  False: job->error is set. */
bool pt_kev_roundtrip_take(struct pt_kev_import *im, const struct pt_kev_event *e, bool *taken);

#endif
