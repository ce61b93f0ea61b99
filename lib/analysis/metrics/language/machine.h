/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The automaton of a metric, as parsed from the text and as tables.
 *
 * Labels and kinds of states are those of the paper (posixtrace/metrics.h), section 3.  The paper
 * leaves open how long a segment lasts (docs/decisions/0013): here it lasts until the tuple that
 * leaves its last state; with a lambda that is the tuple that entered it.
 */
#ifndef PT_METRICS_MACHINE_H
#define PT_METRICS_MACHINE_H

#include <posixtrace/event.h>
#include <posixtrace/metrics.h>

enum pt_kind { PT_KIND_BEGIN, PT_KIND_END, PT_KIND_CANCEL, PT_KIND_IN, PT_KIND_OUT, PT_KIND_COND };

enum { PT_STATES_MAX = 256, PT_EVENTS_MAX = 64, PT_NAME_MAX = 256, PT_METRICS_MAX = 256 };

/* Whose event, of the automaton's thread or of another. */
enum pt_who { PT_OWN, PT_OTHER, PT_WHO };

#define PT_NOWHERE (-1)

/* The time of the entered state.  PAST: the due time, unless that is in the future. */
enum pt_at { PT_AT_SAME, PT_AT_EVENT, PT_AT_DUE, PT_AT_PAST };

/* Which events a label fits: all, those without an error, those with a due time, those before
 * their due time, those that continue a sleep that ended before its due time. */
enum pt_only { PT_ONLY_ANY, PT_ONLY_OK, PT_ONLY_DUE, PT_ONLY_EARLY, PT_ONLY_AGAIN };

struct pt_way {
    int16_t target; /* or PT_NOWHERE */
    uint8_t at;     /* enum pt_at; SAME: for a lambda, the time before it */
    uint8_t only;   /* enum pt_only */
};

struct pt_state {
    char *name;
    enum pt_kind kind;
    struct pt_way lambda;
    unsigned line, column;
};

struct posixtrace_metric {
    char *name, *about;
    struct pt_state *states; /* the first is where every automaton begins */
    size_t state_count;
    char **events;
    bool *needed;
    size_t event_count;
    /* ways[(row * PT_WHO + who) * state_count + state]; a row for each event, and one for all
     * that are not named: "*".  Then as many again: what an event leads to whose way is only
     * for some, where it is none of these. */
    struct pt_way *ways;
    bool by_object;       /* an automaton for each object of a thread, not one; */
    bool by_item;         /* with by_object: of a process, whichever thread's the events are */
    uint8_t key_bytes;    /* by_object: an object is so many bytes of an event's data, */
    uint16_t key_at;      /* from there on */
    bool count_all;       /* events of all threads are intermediate */
    bool change;          /* reports the difference to the measurement before */
    bool positive;        /* others are no measurements */
    bool looks_at_others; /* some way is taken by events of other threads */
    bool looks_at_all;    /* some way is taken by "*" */
    bool eager;           /* others' events lead out of the first state */
    unsigned line;
};

/* From one time to another.  Times come out of logs and out of events' data, and may be any
 * numbers: differences go round instead of overflowing. */
static inline int64_t pt_ns_from(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

static inline struct pt_way *pt_machine_way(const posixtrace_metric_t *m, size_t row,
                                            enum pt_who who, size_t state)
{
    return &m->ways[(row * PT_WHO + who) * m->state_count + state];
}

static inline size_t pt_machine_rows(const posixtrace_metric_t *m)
{
    return 2 * (m->event_count + 1);
}

static inline bool pt_way_is_due(const struct pt_way *way)
{
    return way->at == PT_AT_DUE || way->at == PT_AT_PAST;
}

/* The row for those of an event that another way is not for. */
static inline size_t pt_machine_otherwise(const posixtrace_metric_t *m, size_t event)
{
    return event + m->event_count + 1;
}

/* Is the type the event of that name, or what a further description of it is called, as
 * order#2 is one of order? */
bool pt_is_type_of(const char *event, const char *type);
/* The metric's event for the type, event_count: none.  One with exactly its name has priority. */
size_t pt_machine_event(const posixtrace_metric_t *m, const char *type);

static inline bool pt_machine_looks_at(const posixtrace_metric_t *m, const char *type)
{
    return pt_machine_event(m, type) < m->event_count;
}

/* Called when all edges are known: computes the members that depend on them. */
void pt_machine_finish(posixtrace_metric_t *m);
/* Can an end be reached from the first state without an event? SIZE_MAX: with all. */
bool pt_machine_ends(const posixtrace_metric_t *m, size_t without);
/* Marks the states that can be reached from the first state. */
void pt_machine_reach(const posixtrace_metric_t *m, size_t without, bool *reached);
void pt_machine_deinit(posixtrace_metric_t *m);

const char *pt_kind_name(enum pt_kind kind);

/* Are they the same metric name?  Case, blanks, "_" and "-" do not matter. */
bool pt_same_name(const char *a, const char *b);

#endif
