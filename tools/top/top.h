/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace top: what the threads of running programs do now.
 *
 *   top_set.c, top_stream.c   reads counters and events of streams          top_stream.h
 *   top_events.c, _calls, _locks, _graph, _proc   what they mean            top_state.h
 *   top_model.c, _rows.c      the picture of one refresh: plain values      here
 *   top_screen.c, _tables.c   the model as lines, a pure function           top_screen.h
 *   top_json.c                the model as JSON
 *   top_terminal.c, _keys.c   the terminal, and keys                        top_terminal.h
 *
 * The model has texts as they are in the stream; the screen and JSON escape them.
 */
#ifndef TOP_H
#define TOP_H

#include <posixtrace/info.h>

#include "top/top_stream.h"

enum top_sort { TOP_BY_TIME, TOP_BY_RATE, TOP_BY_NAME, TOP_SORTS };
enum { TOP_WINDOWS = 3 };
extern const int top_windows[TOP_WINDOWS]; /* seconds: 1, 10, 60 */

struct top_stream_row {
    struct top_stream *of;
    const char *name; /* or the file */
    pid_t owner, pid; /* the process that created it; one that it traces, or 0 */
    unsigned processes;
    bool running, ended;
    int policy;
    uint64_t size, bytes; /* event memory, and how much is in use */
    uint64_t events;      /* since top began */
    double rate;
    uint64_t lost[POSIXTRACE_LOSS_CAUSES]; /* since the stream began */
    double lost_rate[POSIXTRACE_LOSS_CAUSES];
    double share;     /* of the events that was read */
    int64_t stretch;  /* ns at the end of the refresh, whose events were read; 0: all */
    bool locks_known; /* its filter leaves out no event of locks */
};

struct top_pair_row {
    const struct top_stream_row *stream;
    const char *name;
    double per_s;  /* in the last ten seconds, or since the first event */
    bool at_least; /* as below */
    struct top_latency {
        uint64_t count;
        int64_t p50, p99, max;
        bool at_least; /* events of that time were not read, or are lost */
    } of[TOP_WINDOWS];
};

enum top_state { TOP_RUNNING, TOP_RUNNABLE, TOP_WAITING, TOP_BLOCKED, TOP_UNKNOWN, TOP_STATES };

struct top_thread_row {
    const struct top_stream_row *stream;
    pid_t pid, tid;
    char name[16];
    enum top_state state;
    double rate, run, ready;     /* events a second; shares of a processor, < 0: not known */
    const char *call;            /* that it waits in; NULL: none */
    const struct top_thread *of; /* where the texts come from */
    char object[SITES_TEXT];     /* "": none */
    char caller[SITES_TEXT];     /* "": not known */
    int64_t since, waited;       /* ns since 1970, and until now; 0: not known */
    bool brief;        /* the wait began, or another one did, while the events were read */
    bool wants_holder; /* it waits for a lock or a thread */
    pid_t holder;      /* the thread that it waits for; 0: not known */
    char holder_name[16];
    size_t deadlock, place; /* the number of the cycle, and the place in it */
};

struct top_lock_row {
    struct top_stream *stream;
    struct top_lock *of;
    pid_t pid;
    char name[SITES_TEXT];
    struct top_total last; /* calls in the last ten seconds */
    double per_s, busy;    /* of these: a second; the time of all threads in them, of 1 */
    bool at_least;         /* events of that time were not read, or are lost */
    unsigned waiters;
    pid_t holder;
    char holder_name[16];
};

struct top_site_row {
    struct top_stream *stream;
    struct top_site *of;
    pid_t pid;
    char where[SITES_TEXT];
    const char *call;
    struct top_total last;
    double per_s, busy;
    bool at_least;
};

struct top_model {
    int64_t now;    /* ns since 1970 */
    double seconds; /* since the refresh before; 0: there was none */
    struct top_stream_row *streams;
    size_t stream_count;
    struct top_pair_row *pairs;
    size_t pair_count;
    struct top_thread_row *threads; /* those of deadlocks first, each before the one it waits for */
    size_t thread_count, deadlocks;
    size_t by_state[TOP_STATES];
    struct top_lock_row *locks;
    size_t lock_count;
    struct top_site_row *sites;
    size_t site_count;
    unsigned refused;
    uint64_t left_out;
    double rate, lost_rate;
    double tracing; /* share of a processor that recording takes; < 0: not known */
    double event_ns;
    double cost;  /* of a processor, that top takes */
    double share; /* of all events that was read */
    enum top_sort sort;
    char filter[256];
};

/* ---- top_model.c, top_rows.c ---- */

/* named: of how many rows of each table addresses are shown as names. */
void top_model_make(struct top_model *m, struct top_set *set, enum top_sort sort, size_t named);
void top_model_free(struct top_model *m);

void top_rows_threads(struct top_model *m, struct top_stream *s, const struct top_stream_row *row);
void top_rows_pairs(struct top_model *m, struct top_stream *s, const struct top_stream_row *row);
void top_rows_locks(struct top_model *m, struct top_stream *s);
void top_rows_sites(struct top_model *m, struct top_stream *s);
/* Orders all tables, and finds the texts of their first rows. */
void top_rows_end(struct top_model *m, size_t named);

/* ---- top_screen.c ---- */

const char *top_state_word(enum top_state state);
const char *top_sort_word(enum top_sort sort);

/* ---- top_json.c ---- */

void top_put_json(const struct top_model *m);

#endif
