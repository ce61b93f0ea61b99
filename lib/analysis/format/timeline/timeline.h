/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The contents of a timeline viewer: events as slices and instants on the tracks of threads,
 * counters of processes, flows from event to event, and the threads on each processor.  This part
 * is common to the formats of viewers; each has a struct pt_tl_ops that writes the bytes.
 *
 * Which events begin and end slices: the option pair, the calls of posixtrace/system.h,
 * and names that end in begin and end (timeline_types.c).  Slices of one track are nested when they
 * reach the back end: if those of the program cross, the inner one is ended and begun again.  An
 * end without a beginning is an instant.  Slices that are open when a thread ends, or when another
 * thread gets its number, end there; those that are open when events of their thread are lost,
 * are cut there (timeline_gaps.c).
 *
 * Memory does not grow with the trace.  Tracks are kept in a table of fixed size.  The least
 * recently used one is dropped; when it is used again, it is described to the back end again.
 * Slices that were open on it stay open.
 */
#ifndef PT_FORMAT_TIMELINE_H
#define PT_FORMAT_TIMELINE_H

#include <posixtrace/info.h>
#include "analysis/format/common/format.h"

enum {
    PT_TL_OPEN = 64,     /* slices open at once on one track */
    PT_TL_OPTIONS = 64,  /* pair, counter, flow and flow-end together */
    PT_TL_FLOWS = 8,     /* of one event */
    PT_TL_CPUS = 1024,   /* more make readers of Perfetto refuse the whole trace */
    PT_TL_TYPES = 4096,  /* beyond every event id that a stream can have */
    PT_TL_TRACKS = 16384 /* in the table */
};

/* Kinds of notes, for pt_job_note(). */
enum {
    PT_TL_NOTE_OPTION,
    PT_TL_NOTE_CROSSED,
    PT_TL_NOTE_DEEP,
    PT_TL_NOTE_TRACKS,
    PT_TL_NOTE_BACK_END
};

/* The slice that an event ended, whole: nothing is missing in it. */
struct pt_tl_past {
    bool any;
    uint32_t label;
    int64_t since, ns;
};

/* A thread; a process, where tid is 0; what belongs to no process, where both are. */
struct pt_tl_track {
    int32_t pid, tid;
    int32_t cpu;                      /* it runs there; -1: on none that is known */
    uint32_t beyond;                  /* slices that were begun and found no room in open */
    uint64_t used;                    /* number of the last event on it; 0: a free entry */
    uint64_t counters;                /* of a process: bits for the back end, one an option */
    uint64_t thread_id;               /* its pthread_t; 0: not known yet */
    bool ended;                       /* the thread has ended: cpu is -1 */
    int32_t held;                     /* and it has this processor, but perhaps exits; or -1 */
    int64_t held_ns;                  /* since then */
    char name[16];                    /* "" where unknown */
    uint16_t depth, open[PT_TL_OPEN]; /* labels */
    int64_t since[PT_TL_OPEN];        /* when they began, also after they were cut in two */
    struct pt_tl_past past;           /* of the event before the present one */
};

/* An option that names a field of an event type. */
struct pt_tl_option {
    enum { PT_TL_PAIR, PT_TL_COUNTER, PT_TL_FLOW, PT_TL_FLOW_END } what;
    char *text;          /* as given: for messages, and as name of the counter */
    char *event, *field; /* of pairs: the beginning and the end */
    char *label;         /* of pairs */
    bool used;
};

struct pt_tl_type {
    char *name;
    size_t class_length;                 /* of the name's part before the first ':' */
    int32_t begin, end;                  /* labels; -1: neither */
    uint8_t role;                        /* timeline_types.c */
    uint64_t options;                    /* bits: those that are about its fields */
    const posixtrace_layout_t *resolved; /* that fields was found in */
    uint8_t fields[PT_TL_OPTIONS];       /* by option */
    uint64_t good;                       /* bits: options whose field is there and fits */
};

enum {
    PT_TL_PLAIN,
    PT_TL_LONG_CALL,   /* a call whole, when it ends */
    PT_TL_STILL_WAITS, /* the thread is in a call */
    PT_TL_BEGINS_THREAD,
    PT_TL_ENDS_THREAD,
    PT_TL_IN,
    PT_TL_OUT,
    PT_TL_PREEMPTED
};

/* Why a thread leaves its processor. */
enum pt_tl_leave { PT_TL_IS_PREEMPTED, PT_TL_WAITS, PT_TL_ENDS };

struct pt_tl_flow {
    uint64_t id;
    bool ends;
};

/* An event as the back end sees it. */
struct pt_tl_event {
    const struct posixtrace_event *e;
    const struct pt_tl_type *type;
    const posixtrace_layout_t *layout; /* NULL: data is only bytes */
    bool misfit;                       /* it is described, but not as it is */
    const char *ignores;               /* names of types, of an event that says so; or NULL */
    size_t fields, flow_count;
    struct posixtrace_value values[POSIXTRACE_FIELDS_MAX];
    struct pt_tl_flow flows[PT_TL_FLOWS];
};

/* What runs on a processor: nothing that is traced, where tid is 0. */
struct pt_tl_runner {
    int32_t pid, tid;
    int64_t since;
    char name[16];
};

struct pt_timeline;

/* The back end; errors are noted by pt_job_fail(). */
struct pt_tl_ops {
    /* Before all else: the time of the first event. */
    void (*first)(void *self, int64_t ns);
    /* The track is new or has another name; a process comes before its threads. */
    void (*track)(void *self, const struct pt_tl_track *t);
    /* The slice is the last one of t->open when it begins; when it ends, t->since[t->depth] is the
     * time when it began.  ev NULL: it was ended or begun again for another's sake. */
    void (*begin)(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                  const struct pt_tl_event *ev);
    void (*end)(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                const struct pt_tl_event *ev);
    void (*instant)(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev);
    /* A slice from since to the time of ev, in none that began after since. */
    void (*whole)(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                  const struct pt_tl_event *ev);
    /* Field number field of ev is a sample of the counter that the option made; or NULL. */
    void (*counter)(void *self, struct pt_tl_track *process, const struct pt_tl_event *ev,
                    unsigned option, size_t field);
    /* prev leaves the processor; next has it from now on; or NULL. */
    void (*run)(void *self, int64_t ns, uint32_t cpu, const struct pt_tl_runner *prev,
                enum pt_tl_leave why, const struct pt_tl_runner *next);
    /* Events of that thread, or if both numbers are 0 of all, that the trace lost. */
    void (*lost)(void *self, const struct pt_tl_track *t, int64_t ns,
                 const uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
    /* Each event, before its slices and the like; or NULL. */
    void (*event)(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev);
    /* The slice ended after ns, or then, unseen; as end.  NULL: end, with ev NULL. */
    void (*cut)(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                const char *because);
    /* After the cuts of a track, or of one that is watched: its events may be missing; or NULL. */
    void (*gap)(void *self, const struct pt_tl_track *t);
    /* The track is dropped, and its open slices have no end; or NULL. */
    void (*forget)(void *self, const struct pt_tl_track *t);
};

/* The options of each such format: for its table. */
#define PT_TL_OPTION_LINES                                                                     \
    { "pair", "BEGIN,END or BEGIN,END,LABEL: these two events are a slice; may be repeated" }, \
        { "pairs", "no: names as x:begin and x:end are no slices, only the pairs given are" }, \
        { "counter", "EVENT.FIELD: a counter of that field's values; may be repeated" },       \
        { "flow", "EVENT.FIELD: arrows between events of the same value; may be repeated" },   \
    {                                                                                          \
        "flow-end", "EVENT.FIELD: the same, and the last arrow of that value; may be repeated" \
    }

/* Reads the options; NULL: job->error. */
struct pt_timeline *pt_timeline_new(struct pt_job *job, const struct pt_tl_ops *ops, void *self);
void pt_timeline_free(struct pt_timeline *tl); /* or NULL */
/* The next event to the back end; false: there is none, or an error. */
bool pt_timeline_next(struct pt_timeline *tl);
/* Those of several logs to their back ends, in the order of time, until there are none; false: an
 * error, or *failed was set. */
bool pt_timelines_run(struct pt_timeline *const *list, size_t count, const bool *failed);
/* After the last event: reports lost events, and options that matched none. */
void pt_timeline_end(struct pt_timeline *tl);
/* Is a time whole, so that the event at its end belongs to the one at its start?  False: events
 * were lost or not recorded in it. */
bool pt_timeline_is_whole(const struct pt_timeline *tl, int64_t since, int64_t ns);
/* A number below PT_TL_TRACKS, of this track until it is dropped. */
size_t pt_timeline_index(const struct pt_timeline *tl, const struct pt_tl_track *t);
/* The next gap of the track is reported also where it has no open slice then. */
void pt_timeline_watch(struct pt_timeline *tl, const struct pt_tl_track *t);
/* The name of a process; "" where it is not known. */
const char *pt_timeline_process_name(const struct pt_timeline *tl, int32_t pid);
const char *pt_timeline_label(const struct pt_timeline *tl, uint32_t label);
const struct pt_tl_option *pt_timeline_option(const struct pt_timeline *tl, unsigned option);
const struct pt_tl_runner *pt_timeline_runner(const struct pt_timeline *tl, uint32_t cpu);

#endif
