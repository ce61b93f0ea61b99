/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Runs the automata of metrics: one for each metric and thread (or object of a thread).  Input are
 * tuples of event, thread and time, in the order of the trace.  The only caller is
 * lib/analysis/metrics/run.
 *
 * Cost.  An event finds by its id the metrics that use it.  Each of them steps the automaton of the
 * event's own thread.  Automata of other threads are stepped only if their state has an edge for
 * this event; lists of automata by state find them.  So the cost of an event does not grow with the
 * number of threads, unless a metric has such edges.
 *
 * Intermediate events are counted as differences of counters that each event increments, so
 * automata are not stepped for them.
 *
 * Gaps.  If events were lost, the state of an automaton is unknown.  A gap gets a number when it
 * starts, and another one with each event inside it, since some threads lose events while others do
 * not.  Invariant: an automaton is stepped only after it has noticed the latest number
 * (pt_hot.gap).  It then is in doubt until the events it sees leave one possibility; uncertainty.h
 * has the rule.
 */
#ifndef PT_METRICS_ENGINE_H
#define PT_METRICS_ENGINE_H

#include <sys/queue.h>
#include <uthash.h>
#include "analysis/metrics/engine/gaps.h"
#include "analysis/metrics/language/machine.h"

struct pt_traced_thread;
struct pt_share;
struct pt_pending;
struct pt_uncertainty;
struct pt_edges;

/* Why events are missing; bits, since several causes may last at once. */
enum pt_gap { PT_GAP_STOPPED = 1, PT_GAP_OVERFLOW = 2, PT_GAP_UNREAD = 4, PT_GAP_UNMARKED = 8 };

enum { PT_CACHE_LINE = 64 };
enum pt_segment { PT_SEGMENT_NONE, PT_SEGMENT_IN, PT_SEGMENT_COND };

/* The members that every event of the metric loads, in one place: most events change nothing. */
struct pt_hot {
    uint64_t gap; /* number of the last gap that it has noticed */
    int16_t state;
    bool measuring, doubtful;
};

struct pt_automaton {
    LIST_ENTRY(pt_automaton) same_state;
    struct pt_hot *hot;
    struct pt_traced_thread *thread;
    int64_t begin, length, segment_begin;
    uint64_t events, segment_events;
    int64_t before;                /* length of the previous measurement, valid with has_before */
    int64_t due;                   /* the last due time, valid with has_due */
    int64_t due_from, due_seen;    /* when that due time was first and last seen */
    uint64_t due_gap;              /* number of the last gap before that */
    int64_t sure_from;             /* when its last doubt ended */
    struct pt_uncertainty *doubts; /* uncertainty.h; if doubtful */
    uint8_t segment;               /* enum pt_segment */
    bool has_before, has_due;
    bool unsure_due_from;   /* lost events may have had, or changed, this due time */
    bool unsure_before;     /* before is an upper bound */
    bool unwanted;          /* wants refused the event that began the measurement */
    struct pt_share *share; /* bounds.h; NULL: no measurement has needed one */
};
LIST_HEAD(pt_automata, pt_automaton);

struct pt_object_key {
    uint32_t pid, tid;
    uint64_t thread_id, object;
    uint64_t machine;
};

/* An automaton of a metric by object.  It exists while it is not in its first state. */
struct pt_object {
    struct pt_object_key key;
    struct pt_hot hot;
    struct pt_automaton automaton;
    struct pt_object *next; /* in the list of spare objects */
    UT_hash_handle hh;
};

/* A CPU-time sample: at the time ns the thread had run for least to most ns since its start.  gap:
 * the number of the last gap at that time. */
struct pt_ran {
    int64_t ns, least, most;
    uint64_t gap;
    bool known;
};

struct pt_thread_key {
    uint32_t pid, tid;
    uint64_t thread_id; /* 0 where the kernel's number is known */
};

/* The members that every event loads come last, from the start of a cache line on: with many
 * threads each event of another thread loads that line. */
struct pt_traced_thread {
    uint64_t thread_id;
    uint32_t objects;          /* number of its automata by object */
    bool items;                /* not a thread: it represents a process, for metrics by item */
    struct pt_ran ran, before; /* the last CPU-time sample, and the one before it */
    LIST_HEAD(, pt_share) shares;
    LIST_HEAD(, pt_pending) pending;
    UT_hash_handle hh;
    __attribute__((aligned(PT_CACHE_LINE))) struct pt_thread_key key;
    uint64_t events;               /* number of its events so far */
    struct pt_automaton *automata; /* one for each machine, in the same allocation */
    struct pt_hot hot[];
};

/* The joint effect of an edge (a way) and the lambdas after it; see transitions.c. */
struct pt_transition {
    int16_t state;     /* the last state */
    bool whole;        /* this structure describes all of it; else the other members are not set */
    bool from_in;      /* the first state is of type in */
    bool leaves;       /* ends a segment, if there is one */
    bool ends, begins; /* ends, then begins a measurement */
    uint8_t segment;   /* enum pt_segment of the last state */
};

/* One metric in a run. */
struct pt_machine {
    const posixtrace_metric_t *metric;
    size_t index;
    struct pt_transition *transitions; /* [event * state_count + state]; NULL with in_state */
    struct pt_automata *in_state;      /* automata by state, then those in doubt; NULL unless the
                                        * metric has edges for events of others */
    uint64_t gap;                      /* with in_state: the last gap that all automata have
                                        * noticed */
    struct pt_edges *edges;            /* uncertainty.h; NULL: no gap yet */
    uint8_t *leaves;                   /* PT_LEAVES_* by state, bounds.h; NULL: all 0 */
    bool at_due;                       /* a measurement may begin before its event */
    bool due_of_others;                /* it uses due times of other threads, which are not
                                        * stored */
    bool has_due;                      /* one of both, or edges depend on due times */
    bool loose;                        /* it uses due times in other states than begin, so
                                        * measurements in a gap have no bound */
    bool woken_by_others;              /* its first state has an edge for events of other threads */
    struct posixtrace_doubt doubt;
};

struct pt_tuple {
    const struct posixtrace_event *event;
    struct pt_traced_thread *thread; /* or NULL */
    int64_t ns;
};

enum { PT_RECENT = 1024 };

struct pt_engine {
    struct pt_machine *machines;
    size_t count;
    struct pt_traced_thread *threads;
    struct pt_traced_thread *last;              /* thread of the previous event; NULL: search */
    struct pt_traced_thread *recent[PT_RECENT]; /* cache by a part of the key */
    struct pt_object *objects, *spare;
    unsigned long long factor; /* of the hash, random: a log can choose the keys */
    struct pt_automaton **scratch;
    size_t scratch_room;
    uint64_t events;                        /* number of all events */
    uint64_t stored;                        /* number of events of threads, with the current one */
    const struct pt_traced_thread *current; /* thread of the current event */
    const struct posixtrace_event *event;   /* the current event of a thread */
    int64_t now;
    uint64_t gap; /* the latest gap's number, 0: none */
    struct pt_gaps gaps;
    int64_t first_ns;          /* time of the first event, or the earliest due time before it */
    int64_t gap_first, gap_to; /* the start of the first gap, the end of the latest */
    int64_t gap_to_before;     /* gap_to before the latest gap */
    unsigned in_gap;           /* PT_GAP_* */
    bool endless;              /* nothing tells when the latest gap ended */
    int (*measured)(void *, const struct posixtrace_measurement *);
    void *context;
    /* Is the measurement that the event begins reported?  NULL: each one is. */
    bool (*wants)(void *, const struct posixtrace_event *);
    void *wants_context;
    int stopped;                    /* the first value other than 0 that measured returned, or
                                    * ENOMEM */
    bool bounds;                    /* the stream has CPU-time samples */
    bool switches;                  /* the stream has context switches */
    TAILQ_HEAD(, pt_pending) queue; /* measurements that wait, bounds.h */
    size_t waiting;
};

int pt_engine_init(struct pt_engine *e, const posixtrace_metric_t *const *metrics, size_t count);
void pt_engine_deinit(struct pt_engine *e);

/* Finds or makes the thread of an event; NULL if it belongs to none.  0 or ENOMEM. */
int pt_engine_thread(struct pt_engine *e, const struct posixtrace_event *event,
                     struct pt_traced_thread **thread);
/* Finds or makes the entry that represents the event's process, for metrics by item; NULL: no
 * memory. */
struct pt_traced_thread *pt_engine_items(struct pt_engine *e, const struct posixtrace_event *event);
/* The effect of an event type on automata of its own thread, or of all others. */
struct pt_label {
    const struct pt_way *ways;      /* by state */
    const struct pt_way *otherwise; /* the same, for events that do not fulfil the condition of the
                                     * edge in ways */
    const struct pt_transition *transitions; /* by state, or NULL */
    bool begins;                             /* own thread: can it begin a measurement? */
    bool leads;                              /* has an edge from any state */
    bool due;                                /* its data have a due time */
};

/* The effect of an event type on one machine. */
struct pt_meaning {
    struct pt_machine *machine;
    struct pt_label own, other;
    bool alone; /* only the automaton of the event's thread can change, by an edge from its state */
};

/* step.c: follows the edge for the event from the automaton's state, if there is one, and the
 * lambdas after it. */
void pt_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
             const struct pt_label *label, const struct pt_tuple *tuple);

struct pt_meaning pt_engine_meaning(struct pt_machine *m, size_t index);
/* Steps the automata of one machine. 0 or ENOMEM. */
int pt_engine_feed(struct pt_engine *e, const struct pt_meaning *meaning,
                   const struct pt_tuple *tuple);

/* The same, with a short path for the usual case: only the thread's own automaton can change, and
 * it does not. */
static inline int pt_engine_hear(struct pt_engine *e, const struct pt_meaning *meaning,
                                 const struct pt_tuple *tuple)
{
    size_t index = meaning->machine->index;
    const struct pt_hot *hot;

    if (!meaning->alone || !tuple->thread)
        return pt_engine_feed(e, meaning, tuple);
    hot = &tuple->thread->hot[index];
    if (meaning->own.ways[hot->state].target == PT_NOWHERE && hot->gap == e->gap &&
        !hot->doubtful && !(meaning->own.begins && hot->measuring))
        return 0;
    pt_step(e, meaning->machine, &tuple->thread->automata[index], &meaning->own, tuple);
    return 0;
}

/* Ends the measurements of a thread.  The next thread with its number is another one. */
void pt_engine_thread_ends(struct pt_engine *e, struct pt_traced_thread *thread);
/* A gap for this reason starts or ends at ns. */
void pt_engine_gap_begin(struct pt_engine *e, enum pt_gap why, int64_t ns);
void pt_engine_gap_end(struct pt_engine *e, enum pt_gap why, int64_t ns);
/* The trace ends with the current gap, so no event is missing there. */
void pt_engine_gap_is_end(struct pt_engine *e);
/* Called after an event inside a gap: the gap gets a new number. */
void pt_engine_gap_goes_on(struct pt_engine *e);
/* Finishes open measurements.  No event may follow.  Open gaps last until last_ns, or the last
 * event; endless: or longer. */
void pt_engine_end(struct pt_engine *e, int64_t last_ns, bool endless);

/* engine.c and threads.c */
void pt_automaton_init(struct pt_automaton *a, struct pt_hot *hot, struct pt_traced_thread *thread);
void pt_automaton_settle(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
void pt_engine_settle_object(struct pt_engine *e, struct pt_object *o);
/* For a metric by object: reports the objects of the thread that had no event. */
void pt_engine_settle_thread(struct pt_engine *e, struct pt_machine *m, struct pt_traced_thread *t);
struct pt_object *pt_engine_object(struct pt_engine *e, const struct pt_machine *m,
                                   struct pt_traced_thread *thread, uint64_t object, bool make);
void pt_engine_drop_object(struct pt_engine *e, struct pt_object *object);

#endif
