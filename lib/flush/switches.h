/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches of the traced threads in a stream with log.
 *
 * The kernel reports them to a source (lib/source), which this layer uses through a table of
 * functions.  Traced threads write nothing.  In each round the flush thread takes the switches
 * before the watermark from the source, treats them as any event (windows, clear, filter, automatic
 * stop, losses of LOOP) and writes them into the log, one packet for each thread.
 *
 * Authors.  The switches of a thread have an author of their own: its pid, tid, pthread_t and name,
 * a writer number of the stream, level PT_LEVEL_MADE.  So a reader's merge puts them among the
 * thread's events by time.  They are not in the accounts, which count the events that threads
 * store.  A log that ends with SIGKILL has the switches of its complete rounds, and its counts are
 * right.
 *
 * Losses have no thread.  The segment counts them, so that the counts survive a kill: losses of the
 * kernel's rings in lost_switches; switches for which the backlog had no room, or that a stream
 * refused after it stopped itself, among the losses without a slot.
 *
 * If the kernel refuses to report them, another source samples the CPU time of each thread from
 * time to time (PT_SWITCH_TIME), and threads that record waiting calls add samples of their own
 * (pt_event_cpu_time).  From these a reader can bound the time that a thread was off the processor.
 * A lost sample is not counted, since a later one replaces it.
 *
 * Time.  A source gives the switches times of the stream's clock, so that they compare
 * with the threads' own events.
 */
#ifndef PT_FLUSH_SWITCHES_H
#define PT_FLUSH_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_accounts;
struct pt_log_writer;
struct pt_name_turn;
struct pt_collect;
struct pt_stream;

enum pt_switch_what {
    PT_SWITCH_IN,
    PT_SWITCH_OUT,
    PT_SWITCH_PREEMPTED,
    PT_SWITCH_TIME,  /* not a switch: the CPU time of the thread, see pt_switch */
    PT_SWITCH_ENDED, /* the thread has ended and leaves processor value; its tid may be reused */
    PT_SWITCH_LOST,  /* the source lost value switches before this time */
    PT_SWITCH_LOST_BY_KERNEL, /* the kernel lost value switches */
    PT_SWITCH_FORKED,         /* the thread was created, with its parent's name */
    PT_SWITCH_NAMED           /* the thread has a new name */
};

/* Entries that are not events; their losses are not counted. */
static inline bool pt_switch_is_note(uint32_t what)
{
    return what == PT_SWITCH_ENDED || what == PT_SWITCH_FORKED || what == PT_SWITCH_NAMED;
}

static inline bool pt_switch_is_loss(uint32_t what)
{
    return what == PT_SWITCH_LOST || what == PT_SWITCH_LOST_BY_KERNEL;
}

struct pt_switch {
    uint64_t ts; /* of the stream's clock */
    int32_t pid, tid;
    uint32_t what; /* enum pt_switch_what */
    /* The processor; LOST: how many; TIME: up to so much more, in ns; FORKED: by which tid. */
    uint32_t value;
    /* The kernel event that reported it.  If a thread started at the same time as the source, two
     * kernel events may report it; only the first one counts. */
    uint32_t origin;
    uint32_t order; /* among equal times */
    union {
        uint64_t run_ns; /* TIME */
        char name[16];   /* NAMED: with NUL */
    };
};

struct pt_switch_request {
    int32_t pid;         /* whose threads, existing and new ones */
    bool children;       /* and those of the processes that these make */
    bool newest;         /* without room the oldest go, else the latest */
    uint64_t ring_bytes; /* of each of the kernel's rings, a power of two; 0: the source chooses */
    int clock;           /* the stream's, enum pt_clock_kind */
    uint64_t room;       /* switches to be kept until they are taken, at least */
    /* Called by a thread of the source, when so many wait that they should be taken. */
    void (*filling)(void *context);
    void *context;
    struct pt_seg *seg; /* the threads that record in it */
};

/* What a look at the threads has found, since the one before: have any run, have
 * any recorded something? */
enum { PT_LOOK_RAN = 1, PT_LOOK_RECORDED = 2 };

struct pt_switch_source;

struct pt_switch_ops {
    /* Called by the flush thread, in whose descriptor table everything stays.  0, or why
     * the system refuses it. */
    int (*open)(struct pt_switch_source **source, const struct pt_switch_request *request);
    /* All switches before that time, by time; none of them comes later.  They are given
     * again, with those after them, until done() is called. */
    size_t (*take)(struct pt_switch_source *source, uint64_t before, const struct pt_switch **list);
    void (*done)(struct pt_switch_source *source);
    void (*close)(struct pt_switch_source *source);
    /* NULL: not needed.  Finds out how long the threads have run by now: PT_LOOK_*. */
    unsigned (*look)(struct pt_switch_source *source);
    /* NULL: it has no rings.  Bytes of each. */
    uint64_t (*ring_bytes)(const struct pt_switch_source *source);
};

/* From now on new streams use these, and the second where those are refused, if not
 * NULL.  Without any they answer ENOSYS. */
void pt_switches_use(const struct pt_switch_ops *ops, const struct pt_switch_ops *instead);

struct pt_switches;

/* 0, or a negative errno; *switches may be there all the same, then it is about how long
 * threads run. */
int pt_switches_open(struct pt_switches **switches, struct pt_stream *s, void (*filling)(void *),
                     void *context);
void pt_switches_close(struct pt_switches *w);

/* As struct pt_switch_ops; not where switches are NULL or need none. */
bool pt_switches_can_look(const struct pt_switches *w);
/* 0: without rings. */
uint64_t pt_switches_ring_bytes(const struct pt_switches *w);
unsigned pt_switches_look(struct pt_switches *w);

/* Part of pt_collect_write, after the chunks: the windows are known.  -ENOMEM: nothing
 * was handed over, the next round does it. */
int pt_switches_write(struct pt_switches *w, struct pt_collect *r);
/* After it, in each round: the latest names of the threads go into the log; those that have
 * ended are forgotten. */
void pt_switches_name(struct pt_switches *w, struct pt_accounts *accounts,
                      struct pt_name_turn *turn, struct pt_log_writer *log);

/* True: by its switches, a traced process has a thread that has not ended.  It may have recorded no
 * event yet. */
bool pt_switches_outlived(const struct pt_switches *w);

#endif
