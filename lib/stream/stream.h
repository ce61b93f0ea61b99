/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream as its creator (or, for a log, its opener) holds it.
 *
 * Locks, outermost first:
 *   control   state, filter, control writer, type list; never held while waiting
 *             for events
 *   turn      held to wait for reading by those who take that often or for long: the
 *             flush thread and the callers that ask for the books, so that none of them
 *             starves the other
 *   reading   the consumer's state (live or log).  Held by a reader while it
 *             works, not while it sleeps; by the flush thread, not while it writes.
 * A thread that holds one of them has cancellation disabled.
 *
 * Lifetime: handles count references; posix_trace_shutdown and _close take the
 * stream out of the table, wake sleeping readers, wait for the references of
 * other calls to go, then free it.
 */
#ifndef PT_STREAM_STREAM_H
#define PT_STREAM_STREAM_H

#include <pthread.h>
#include "base/descriptor.h"
#include "consumer/consumer.h"
#include "log/reader/reader.h"
#include "log/string_table.h"
#include "shm/onlook.h"
#include "writer/writer.h"

enum pt_stream_kind {
    PT_STREAM_ACTIVE = 1,
    PT_STREAM_LOGGED = 2,
    PT_STREAM_RECORDED = 4,
    PT_STREAM_ATTACHED = 8,
    PT_STREAM_ANY = 15
};

#define PT_READABLE (PT_STREAM_ACTIVE | PT_STREAM_RECORDED | PT_STREAM_ATTACHED)

struct pt_balance;
struct pt_flusher;
struct pt_layout_cache;
struct pt_sequence;
struct pt_tail;
struct pt_target;

struct pt_stream {
    struct pt_handle *handle;
    enum pt_stream_kind kind;
    pt_u64 instance;      /* of the process that may use it */
    struct pt_self *self; /* active */
    pthread_mutex_t control, turn, reading;
    uint32_t closing;
    uint32_t next_type;   /* of the type list */
    struct pt_event last; /* the event that posixtrace_next_event points into */
    /* of the types whose fields were read, or NULL; reading lock */
    struct pt_layout_cache *layouts;

    /* active: the target, see control/target.h */
    struct pt_page *page;
    struct pt_names *names;
    struct pt_string_table *texts; /* copies of names that were requested; reading lock */
    char names_file[64];
    uint32_t pid;
    uint64_t start;
    uid_t uid;    /* whose directory page, names and segment are in */
    bool other;   /* not this process */
    unsigned bit; /* in that process's page */

    struct pt_seg *seg;
    struct pt_writer writer; /* the control writer's; slot NULL: none */
    pt_u64 control_word;     /* the segment's lock as we have it, or left it: control_lock.c */
    bool control_passed;     /* passed by since, or gates are still to be set */
    unsigned passes;         /* how often in a row */
    sigset_t mask;           /* of the thread that steers, before it began */
    struct pt_consumer live;
    uint32_t syncs;                 /* points of the clock up to the last event; reading lock */
    struct pt_balance *balance;     /* which the list of threads is read from, or NULL */
    uint32_t thread_at;             /* position in that list, or in the log's */
    struct pt_flusher *flusher;     /* NULL without log */
    bool log_is_left;               /* that could not be written: the segment is kept */
    uint32_t held;                  /* by pt_held_begin(); 0: not counted */
    struct pt_fill_watermark *fill; /* NULL: no notification of its fill level */
    trace_id_t next;                /* control/set_chain.c: the stream after it; 0: none */

    /* attached */
    struct pt_onlook onlook;
    pt_u64 looked_ns;   /* whether the creator lives */
    pt_u64 flush_since; /* flush_errors at its last request of a flush, + 1 << 32; 0: none yet */
    uint32_t over;      /* it does not, and all that there was has been looked at */
    bool readable_only; /* another pid namespace */

    /* recorded */
    struct pt_descriptor file; /* in the table of the program */
    struct pt_log_reader *log;
    struct pt_sequence *pieces; /* NULL, or log is the reader of one of them: control/sequence.h */
    struct pt_tail *tail;       /* the rest from a dead writer's segment, or NULL */
    bool writer_alive;
};

/* False in a child that was forked after the stream was made, as by a handler in the middle
 * of a call. */
static inline bool pt_stream_is_ours(const struct pt_stream *s)
{
    return s->instance == pt_self_instance();
}

/* The part of creation and destruction that all kinds of streams share.  NULL: no memory. */
struct pt_stream *pt_stream_new(enum pt_stream_kind kind);
void pt_stream_free(struct pt_stream *s);
/* Takes reading, in turn. */
void pt_stream_lock_reading(struct pt_stream *s);

/* Control events; between pt_control_lock_begin and pt_control_lock_end. */
bool pt_stream_put_control(struct pt_stream *s, uint32_t id, const void *data, uint32_t len,
                           uint64_t addr);
/* One of FLUSH_START, FLUSH_STOP, if the stream runs. */
void pt_stream_put_mark(struct pt_stream *s, uint32_t id, uint64_t addr);
/* Notes in the segment whether the window is open; written: with a record. */
void pt_stream_note_window(struct pt_stream *s, uint32_t id, bool written);
/* Opens or closes the gates in every process that the stream traces.  Opening has the errors of
 * pt_pages_each(); closing has none (pages.h). */
int pt_stream_update_gates(struct pt_stream *s, bool open);
/* So that the gates of all traced processes can be set to ask; -EAGAIN, and errors of
 * pt_pages_each(). */
int pt_stream_make_room(struct pt_stream *s);

/* Takes the stream out of the pages of other processes.  False: not out of all, and one that
 * was not reached may still write. */
bool pt_stream_forget_processes(struct pt_stream *s);

/* ---- attached streams, whose creator may end ---- */

/* Has it been shut down, or its creator died?  The latter is looked at no more
 * than five times a second, unless now. */
bool pt_attached_is_over(struct pt_stream *s, bool now);
/* May it be controlled?  0, -ENXIO, -ENOTSUP. */
int pt_attached_check(struct pt_stream *s);

#endif
