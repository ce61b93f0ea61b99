/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parts of the writer of OTLP/JSON (docs/formats/otlp.md), a back end of the timeline.
 *
 *   otlp.c             the export, and what the timeline calls
 *   otlp_open.c        the spans that are open on a thread
 *   otlp_context.c     parents: spans around a span, contexts, fields of its event
 *   otlp_ids.c         trace and span ids
 *   otlp_span.c        the text of a span that has ended
 *   otlp_attributes.c  data of events as attributes
 *   otlp_losses.c      losses as spans
 *   otlp_lines.c       lines of up to 1,000 spans of one process
 *
 * A span is written when it ends.  Until then memory has the attributes of its first event and the
 * events within it, as JSON: PT_OTLP_TEXT bytes of a span, PT_OTLP_HELD of all.  What finds no room
 * is counted in the span as dropped.
 */
#ifndef PT_FORMAT_OTLP_H
#define PT_FORMAT_OTLP_H

#include <posixtrace/system.h>
#include "analysis/format/common/json.h"
#include "analysis/format/common/sites.h"
#include "analysis/format/timeline/timeline.h"

enum {
    PT_OTLP_LINE_SPANS = 1000,
    PT_OTLP_LINE_BYTES = 1000000, /* the collector's file receiver splits longer ones than 1 MiB */
    PT_OTLP_SPAN_BYTES = 150000,  /* of one span at most */
    PT_OTLP_TEXT = 32 << 10,
    PT_OTLP_HELD = 64 << 20,
    PT_OTLP_ATTRIBUTES = 32 << 10, /* bytes of the attributes of one event */
    PT_OTLP_EVENTS = 128,          /* of one span */
    PT_OTLP_PROCESSES = 16         /* whose lines are under construction */
};

/* Kinds of notes beside those of the timeline. */
enum { PT_OTLP_NOTE_INSTANT = 5, PT_OTLP_NOTE_SWITCH, PT_OTLP_NOTE_EARLY };

/* A span of this log or of another process. */
struct pt_otlp_place {
    bool any;
    uint8_t trace[16], span[8];
    uint8_t flags; /* of W3C Trace Context */
};

struct pt_otlp_ids {
    struct pt_otlp_place self, parent, link;
    bool remote; /* the parent is of another process, or said to be by the event */
};

struct pt_otlp_open {
    const char *name;
    int64_t since;
    struct pt_otlp_ids ids;
    bool is_thread;                    /* the life of a thread: the parent of none */
    bool begun;                        /* by an event of its own */
    struct pt_otlp_place inner;        /* a context that was recorded inside, and is in force */
    const posixtrace_layout_t *layout; /* of its first event */
    char *text;                        /* attributes, then events; each after a comma */
    uint32_t used, room, attributes;   /* bytes; of them attributes */
    uint32_t dropped_attributes, events, dropped_events;
};

/* A thread that has open spans, or a context.  The last ones, suspended, have been ended by the
 * timeline for the sake of one below them, and may be begun again. */
struct pt_otlp_thread {
    struct pt_tl_track track; /* its numbers and its name */
    struct pt_otlp_place context;
    size_t count, room, suspended;
    struct pt_otlp_open *open;
};

struct pt_otlp_process { /* and the spans of its next line */
    int32_t pid;
    uint64_t used; /* number of the last span; 0: a free entry */
    char name[16];
    char *text;
    size_t bytes, room, spans;
};

struct pt_otlp {
    struct pt_job *job;
    struct pt_timeline *timeline;
    struct pt_sites sites;
    struct posixtrace_info info;
    char version[32];
    const char *service, *log_file;
    bool instants, command;
    int64_t first_ns, last_ns;
    uint64_t repeat; /* spans that have begun at last_begin */
    int64_t last_begin;
    uint64_t clock; /* spans so far */
    size_t held;    /* bytes of texts of open spans */
    struct pt_otlp_thread *suspender;
    int64_t suspended_ns;
    int64_t gap_ns, stop_ns; /* begin of a gap; INT64_MIN: there is none */
    struct pt_otlp_process processes[PT_OTLP_PROCESSES];
    struct pt_otlp_thread *threads[PT_TL_TRACKS];
    struct pt_json scratch, out; /* scratch has no file */
};

/* How a span ended. */
struct pt_otlp_end {
    int64_t ns;
    const struct pt_tl_event *ev; /* or NULL */
    const char *cut;              /* why the end is not known; or NULL */
    bool open;                    /* it has not */
};

/* ---- otlp_open.c ---- */

struct pt_otlp_thread *pt_otlp_thread(struct pt_otlp *o, const struct pt_tl_track *t); /* or NULL */
/* Made, where it is not there; NULL: job->error */
struct pt_otlp_thread *pt_otlp_thread_make(struct pt_otlp *o, const struct pt_tl_track *t);
void pt_otlp_thread_free(struct pt_otlp *o, struct pt_otlp_thread *th);
void pt_otlp_open(struct pt_otlp *o, const struct pt_tl_track *t, const char *name,
                  const struct pt_tl_event *ev);
void pt_otlp_add_event(struct pt_otlp *o, struct pt_otlp_open *span, const struct pt_tl_event *ev);
/* The last span that is not suspended ends. */
void pt_otlp_close(struct pt_otlp *o, struct pt_otlp_thread *th, const struct pt_otlp_end *end);
/* Suspended ones, if there are any, ended with their thread. */
void pt_otlp_end_suspended(struct pt_otlp *o);

/* ---- otlp_context.c ---- */

/* The parent of a span that begins on the thread now. */
void pt_otlp_parent(const struct pt_otlp_thread *th, struct pt_otlp_ids *ids);
/* Ids that the event of a span has in fields; those that are still missing are derived. */
void pt_otlp_complete(struct pt_otlp *o, const struct pt_tl_track *t, int64_t ns, const char *name,
                      const struct pt_tl_event *ev, struct pt_otlp_ids *ids);
bool pt_otlp_is_context(const struct pt_tl_event *ev);
void pt_otlp_take_context(struct pt_otlp *o, const struct pt_tl_track *t,
                          const struct pt_tl_event *ev);

/* ---- otlp_ids.c ---- */

/* Ids that are the same whenever this log is exported. */
void pt_otlp_derive(struct pt_otlp *o, const struct pt_tl_track *t, int64_t ns, const char *name,
                    struct pt_otlp_place *to, bool trace_too);
/* size bytes from hexadecimal digits of either case; false: they are none, or are all zero. */
bool pt_otlp_from_digits(const char *digits, size_t length, uint8_t *to, size_t size);

/* ---- otlp_span.c ---- */

void pt_otlp_write(struct pt_otlp *o, const struct pt_tl_track *t, const struct pt_otlp_open *span,
                   const struct pt_otlp_end *end);

/* ---- otlp_attributes.c ---- */

/* In scratch, each after a comma; what has no room is counted in *dropped.  begun: the span that
 * the event ends, whose first event has data of its own: names that are there, too, get a prefix;
 * or NULL. */
void pt_otlp_put_data(struct pt_otlp *o, const struct pt_tl_event *ev,
                      const struct pt_otlp_open *begun, uint32_t *dropped);
/* Function and line of the call that recorded the event.  Returns the function's name, if it is
 * one that the span is about; or NULL. */
const char *pt_otlp_put_code(struct pt_otlp *o, const struct pt_tl_event *ev);
/* One attribute.  False: it has no room in scratch. */
bool pt_otlp_put_text(struct pt_json *j, const char *key, const void *text, size_t length);
void pt_otlp_put_int(struct pt_json *j, const char *key, int64_t value);
void pt_otlp_put_true(struct pt_json *j, const char *key);
/* ,"status":{...} of an event that ends a span, if it tells of an error. */
void pt_otlp_put_status(struct pt_json *j, const struct pt_tl_event *ev);

/* ---- otlp_losses.c ---- */

/* A mark of the stream where events are missing or present again; false: it is none. */
bool pt_otlp_mark(struct pt_otlp *o, const struct pt_tl_event *ev);
void pt_otlp_lost(struct pt_otlp *o, const struct pt_tl_track *t,
                  const uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
/* Gaps that last until the end. */
void pt_otlp_end_gaps(struct pt_otlp *o);

/* ---- otlp_lines.c ---- */

/* Where the text of a span of that process goes; NULL: job->error */
struct pt_otlp_process *pt_otlp_span_begin(struct pt_otlp *o, int32_t pid);
/* A part of it: the text in scratch, which is empty then. */
void pt_otlp_take(struct pt_otlp *o, struct pt_otlp_process *p);
void pt_otlp_append(struct pt_otlp *o, struct pt_otlp_process *p, const char *text, size_t length);
void pt_otlp_lines_end(struct pt_otlp *o);
void pt_otlp_lines_free(struct pt_otlp *o);

#endif
