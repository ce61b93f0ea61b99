/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The streams that are watched: counters, lists of threads, and as many events as the processor
 * time allows.
 *
 * A refresh reads the counters and waits of all threads, which need no events.  Then it reads the
 * events of each stream up to the present, as an onlooker that takes nothing away.  Where there are
 * more than it may read, or the stream has no room for them until the next refresh, it reads
 * several times, and skips to a stretch of time before the present: pairs that are longer are
 * missed then, unless their thread did nothing else, and the screen says which share was read.
 */
#ifndef TOP_STREAM_H
#define TOP_STREAM_H

#include "top/top_state.h"

/* Shares of a processor: at TOP_RATE events a second and TOP_FEW_THREADS threads, and below; and at
 * any number.  Parts of these: the planned use of all together; the least for reading events. */
#define TOP_SHARE_LOW   0.01
#define TOP_SHARE_HIGH  0.06
#define TOP_PLANNED     0.58
#define TOP_READS_LEAST 0.2
enum { TOP_RATE = 100000, TOP_FEW_THREADS = 2000 };

struct top_set {
    const char *word;   /* a stream or process; NULL: all of the user */
    struct sites sites; /* options about names at addresses */
    bool frozen;        /* nothing that a picture names is freed */
    struct top_stream **streams;
    size_t count;
    unsigned refused;               /* streams that could not be opened */
    uint64_t refresh;               /* number of refreshes so far */
    int64_t look_ns;                /* the last one, CLOCK_MONOTONIC */
    int64_t wall_ns;                /* the same, since 1970 */
    int64_t begun_ns;               /* the first one */
    int64_t cpu_ns;                 /* processor time until then */
    double seconds;                 /* between the last two */
    double rate;                    /* events a second, of all streams */
    size_t threads;                 /* the same */
    double cost;                    /* share of a processor since the one before */
    double left_ns;                 /* processor time that was not used lately */
    double other_ns;                /* of a refresh, but for reading events: the most lately */
    double event_ns;                /* what recording an event costs, as measured here */
    posixtrace_expression_t *wants; /* the filter of the screen, or NULL */
};

/* EXIT_DONE, or another status after a message. */
int top_set_open(struct top_set *set, const char *word);
void top_set_look(struct top_set *set);
/* Reads events between two refreshes, where the streams have no room for those of all the time. */
void top_set_read_more(struct top_set *set);
/* The time after which to do that, in ns. */
int64_t top_set_period(const struct top_set *set);
void top_set_close(struct top_set *set);
/* How long to wait after a refresh so that no more than the allowed share is used, in ns. */
int64_t top_set_pause(const struct top_set *set);
int64_t top_clock(int clock);
void top_set_filter(struct top_set *set, posixtrace_expression_t *wants);

/* ---- top_stream.c ---- */

/* sites: options about names at addresses. */
struct top_stream *top_stream_new(const struct posixtrace_stream *info, trace_id_t trid,
                                  const struct sites *sites);
/* Begins again with the present: the list of threads has those that ended as long as the stream is
 * attached. */
void top_stream_renew(struct top_stream *s);
void top_stream_free(struct top_stream *s);
/* How many seconds may pass between readings so that none are overwritten. */
double top_stream_period(const struct top_stream *s);
/* Skips, and reads events, between two refreshes. */
void top_stream_read_more(struct top_stream *s, double budget_ns);
/* Counters and threads. */
void top_stream_list(struct top_stream *s, uint64_t refresh, double seconds);
/* The events to the present, or some that fit into so much processor time; and losses. */
void top_stream_read(struct top_stream *s, double budget_ns, double seconds);

/* ---- top_proc.c ---- */

/* States of threads that are not known to wait, of at most 'most' of them; and which have ended. */
void top_proc_look(struct top_stream *s, uint64_t refresh, unsigned most);

/* ---- top_graph.c ---- */

/* Which thread waits for which other one, and cycles of these, numbered from *number on. */
void top_graph_make(struct top_stream *s, size_t *number);

#endif
