/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Automata at work: one of each metric for each thread (or object of a thread), fed
 * with tuples of event, thread and time.
 *
 * What it costs.  An event finds the metrics that know it by its id.  Of each, the
 * automaton of its own thread is stepped; those of other threads only where they are in
 * a state that such an event leads out of, which lists of the automata by state tell.  So
 * nothing grows with the number of threads but what the metric asks for.
 *
 * Intermediate events are differences of counters that every event moves: no automaton
 * has to see those that do not concern it.
 *
 * Gaps.  Where events were lost the state of an automaton is unknown.  Each gap
 * has a number, and so has each event inside one, where some threads lose theirs and others
 * do not.  An automaton that is touched after a new number is in doubt from then on, until
 * what it sees leaves one thing possible: uncertainty.h has the rule.
 */
#ifndef PT_METRICS_ENGINE_H
#define PT_METRICS_ENGINE_H

#include <sys/queue.h>
#include <uthash.h>
#include "analysis/metrics/engine/gaps.h"
#include "analysis/metrics/language/machine.h"

struct pt_thread;
struct pt_share;
struct pt_pending;
struct pt_uncertainty;
struct pt_edges;

/* Why events are missing; several may go on at once. */
enum pt_gap { PT_GAP_STOPPED = 1, PT_GAP_OVERFLOW = 2, PT_GAP_UNREAD = 4, PT_GAP_UNMARKED = 8 };

enum { PT_CACHE_LINE = 64 };
enum pt_segment { PT_SEGMENT_NONE, PT_SEGMENT_IN, PT_SEGMENT_COND };

/* What every event of the metric looks at, close together: most lead nowhere. */
struct pt_hot {
    uint64_t gap; /* the last one that it knows of */
    int16_t state;
    bool measuring, doubtful;
};

struct pt_automaton {
    LIST_ENTRY(pt_automaton) same_state;
    struct pt_hot *hot;
    struct pt_thread *thread;
    int64_t begin, length, segment_begin;
    uint64_t events, segment_events;
    int64_t before;                /* length of the measurement before, with has_before */
    int64_t due;                   /* the last that it saw, with has_due */
    int64_t due_from, due_seen;    /* and when: the first and the last time */
    uint64_t due_gap;              /* the last gap before that */
    int64_t sure_from;             /* when its last doubt ended */
    struct pt_uncertainty *doubts; /* uncertainty.h; if doubtful */
    uint8_t segment;               /* enum pt_segment */
    bool has_before, has_due;
    bool unsure_due_from;   /* events with the same due time may be lost, or between them */
    bool unsure_before;     /* before is the most that it may have been */
    struct pt_share *share; /* bounds.h; NULL: none of its measurements needed one */
};
LIST_HEAD(pt_automata, pt_automaton);

struct pt_object_key {
    uint32_t pid, tid;
    uint64_t thread_id, object;
    uint64_t machine;
};

/* Of a metric by object; there while it is in another than its first state. */
struct pt_object {
    struct pt_object_key key;
    struct pt_hot hot;
    struct pt_automaton automaton;
    struct pt_object *next; /* among the spare ones */
    UT_hash_handle hh;
};

/* At ns the thread had run for least to most ns since it began; gap: in which of the
 * pieces between gaps that was. */
struct pt_ran {
    int64_t ns, least, most;
    uint64_t gap;
    bool known;
};

struct pt_thread_key {
    uint32_t pid, tid;
    uint64_t thread_id; /* 0 where the kernel's number is known */
};

/* What every event looks at comes last, in a cache line of its own as far as it goes: where
 * threads are many, each turn of one begins with loading it. */
struct pt_thread {
    uint64_t thread_id;
    uint32_t objects;          /* automata by object that it has now */
    bool items;                /* no thread: it stands for a process, of metrics by item */
    struct pt_ran ran, before; /* the last telling, and the one before it */
    LIST_HEAD(, pt_share) shares;
    LIST_HEAD(, pt_pending) pending;
    UT_hash_handle hh;
    __attribute__((aligned(PT_CACHE_LINE))) struct pt_thread_key key;
    uint64_t events;               /* that it has stored */
    struct pt_automaton *automata; /* one a machine, in the same block */
    struct pt_hot hot[];
};

/* A way and the lambdas that follow it, as one; see transitions.c. */
struct pt_transition {
    int16_t state;     /* where it leads to */
    bool whole;        /* it is all there is to do; else the rest is empty */
    bool from_in;      /* what comes first is of type in */
    bool leaves;       /* a segment ends, if there is one */
    bool ends, begins; /* a measurement does, in this order */
    uint8_t segment;   /* enum pt_segment, that it leads to */
};

/* One metric in a run. */
struct pt_machine {
    const posixtrace_metric_t *metric;
    size_t index;
    struct pt_transition *transitions; /* [event * state_count + state]; NULL as in_state is not */
    struct pt_automata *in_state;      /* by state, then those in doubt; NULL unless it looks
                                       * at others */
    uint64_t gap;                      /* that all its automata know of, if it does */
    struct pt_edges *edges;            /* uncertainty.h; NULL: no gap yet */
    uint8_t *leaves;                   /* by state, bounds.h; NULL: no state does */
    bool at_due;                       /* it may begin before the event that begins it */
    bool due_of_others;                /* other threads' due times, of which none is kept */
    bool has_due;                      /* one of these, or due times decide on ways */
    bool loose;                        /* times in the past count otherwise: no gap has a bound */
    bool woken_by_others;              /* events of other threads lead out of its first state */
    struct posixtrace_doubt doubt;
};

struct pt_tuple {
    const struct posixtrace_event *event;
    struct pt_thread *thread; /* or NULL */
    int64_t ns;
};

enum { PT_RECENT = 1024 };

struct pt_engine {
    struct pt_machine *machines;
    size_t count;
    struct pt_thread *threads;
    struct pt_thread *last;              /* of the event before; NULL: look */
    struct pt_thread *recent[PT_RECENT]; /* by a part of the key */
    struct pt_object *objects, *spare;
    unsigned long long factor; /* of their hash: random, a log chooses the keys */
    struct pt_automaton **scratch;
    size_t scratch_room;
    uint64_t events;                 /* all of them */
    uint64_t stored;                 /* those of threads, the current one included */
    const struct pt_thread *current; /* whose it is */
    int64_t now;
    uint64_t gap; /* how many there were */
    struct pt_gaps gaps;
    int64_t first_ns;          /* of the first event, or the earliest due time before it */
    int64_t gap_first, gap_to; /* the start of the first gap, the end of the latest */
    int64_t gap_to_before;     /* the same before the latest began */
    unsigned in_gap;           /* PT_GAP_* */
    int (*measured)(void *, const struct posixtrace_measurement *);
    void *context;
    int stopped;                   /* what measured returned */
    bool bounds;                   /* the stream tells how long threads ran */
    bool switches;                 /* it has context switches */
    TAILQ_HEAD(, pt_pending) line; /* measurements that wait, bounds.h */
    size_t waiting;
};

int pt_engine_init(struct pt_engine *e, const posixtrace_metric_t *const *metrics, size_t count);
void pt_engine_deinit(struct pt_engine *e);

/* The thread of an event, made if need be, or NULL where it is bound to none.  0 or ENOMEM. */
int pt_engine_thread(struct pt_engine *e, const struct posixtrace_event *event,
                     struct pt_thread **thread);
/* What the items of the event's process belong to, made if need be; NULL: no memory. */
struct pt_thread *pt_engine_items(struct pt_engine *e, const struct posixtrace_event *event);
/* What an event type is to the automata of its own thread, or to all others. */
struct pt_label {
    const struct pt_way *ways;      /* by state */
    const struct pt_way *otherwise; /* the same, for errors, where those are for no errors */
    const struct pt_transition *transitions; /* by state, or NULL */
    bool begins;                             /* its own: can it begin a measurement? */
    bool leads;                              /* out of any state */
    bool due;                                /* its data have a due time */
};

/* What an event type is to one machine. */
struct pt_meaning {
    struct pt_machine *machine;
    struct pt_label own, other;
    bool alone; /* one automaton hears it, that of the thread, and only if
                                       * it leads that anywhere */
};

/* step.c: the way that an event is for the automaton's state, if any, and the lambdas
 * after it. */
void pt_step(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a,
             const struct pt_label *label, const struct pt_tuple *tuple);

struct pt_meaning pt_engine_meaning(struct pt_machine *m, size_t index);
/* Steps the automata of one machine. 0 or ENOMEM. */
int pt_engine_feed(struct pt_engine *e, const struct pt_meaning *meaning,
                   const struct pt_tuple *tuple);

/* The same.  Of most automata it changes nothing, and of most metrics only the
 * thread's own hears of it. */
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

/* It measures nothing any more, and the next thread with its number is another one. */
void pt_engine_thread_ends(struct pt_engine *e, struct pt_thread *thread);
/* Events were lost from then on, up to then, for this reason. */
void pt_engine_gap_begin(struct pt_engine *e, enum pt_gap why, int64_t ns);
void pt_engine_gap_end(struct pt_engine *e, enum pt_gap why, int64_t ns);
/* It was the end: nothing is lost after it. */
void pt_engine_gap_is_end(struct pt_engine *e);
/* After an event inside a gap. */
void pt_engine_gap_goes_on(struct pt_engine *e);
/* Settles open measurements; no event may be fed after it. */
void pt_engine_end(struct pt_engine *e);

/* engine.c and threads.c */
void pt_automaton_init(struct pt_automaton *a, struct pt_hot *hot, struct pt_thread *thread);
void pt_automaton_settle(struct pt_engine *e, struct pt_machine *m, struct pt_automaton *a);
void pt_engine_settle_object(struct pt_engine *e, struct pt_object *o);
/* Of a metric by object: all objects that no event was seen of. */
void pt_engine_settle_thread(struct pt_engine *e, struct pt_machine *m, struct pt_thread *t);
struct pt_object *pt_engine_object(struct pt_engine *e, const struct pt_machine *m,
                                   struct pt_thread *thread, uint64_t object, bool make);
void pt_engine_drop_object(struct pt_engine *e, struct pt_object *object);

#endif
