/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writing a log file (docs/log-format.md).  Used by the flush thread of a
 * stream, by recovery and by the builder; knows nothing of any of them.
 *
 * One caller at a time.  Every call returns 0 or a negative errno; after an
 * error of write(2) the writer stays usable: the packet that failed is not in
 * the log, and a later call tries again at the same place.  The caller has
 * SIGXFSZ and SIGPIPE blocked.
 *
 * Order of calls: new; then names and sync points before the first packet
 * that needs them; packets; end_round; ...; complete; free.
 *
 * Packets wait in a buffer until it is full or the round ends.  Those still in
 * it when the disk refuses more count as LOST_LOG_ERROR in what the log says of
 * itself, until they can be written after all.
 */
#ifndef PT_LOG_WRITER_H
#define PT_LOG_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include "log/types.h"
#include "model/attr.h"
#include "model/event.h"

#define PT_LOSS_CAUSES 7   /* as enum posixtrace_loss_cause */

struct pt_log_params {
    uint8_t  id[16];
    struct pt_attr attr;        /* effective attributes of the stream; log policy and size count */
    int32_t  clock;             /* enum posixtrace_clock */
    int32_t  pid;               /* of the traced process */
    uint8_t  boot_id[16];       /* of the machine that writes, zeros if unknown */
    bool     seekable;          /* regular file: pwrite at offsets; else write in order */
    /* Called before and after each write, which a pipe may hold up for ever; or NULL.  What
     * the caller's other threads may see of the writer does not change in between. */
    void   (*waits)(void *context, bool waits);
    void    *waits_context;
};

/* In place of a chunk's number, with the time: an event that the consumer made. */
#define PT_LOG_MADE (1ull << 63)
/* In place of a nesting level: such events that tell of a thread.  No books are kept
 * about them. */
#define PT_LEVEL_MADE 254u

/* Part of one chunk, by one author, in time order. */
struct pt_log_packet {
    struct pt_author author;
    uint64_t chunk_seq;    /* which chunk: unique in the stream; or PT_LOG_MADE with a time */
    uint32_t chunk_off;    /* where in the chunk the records begin */
    uint32_t bytes;        /* of records */
    uint32_t events;
    uint64_t first_no;     /* the author's number of the first event */
    uint64_t base_ts;      /* base for the first record's delta */
    uint64_t first_ts, last_ts;
    const void *records;
    uint64_t lsn;          /* of a packet that was read from a log; in a tail: its place
                            * in the order in which a flush round writes them, from 1 */
    /* What the caller has found while it went over the records, each of them: how
     * many events of which type.  NULL: the writer goes over them itself. */
    const struct pt_type_count *types;
    uint32_t type_count;
};

/* What is known of one author: cumulative. */
struct pt_log_author_totals {
    struct pt_author author;
    uint64_t recorded;                /* events it stored in the stream */
    uint64_t lost[PT_LOSS_CAUSES];    /* the stream's; the writer adds the log's own */
    bool     ended;                   /* no event and no totals of it will come any more */
    /* Of a tail (reader.h) only: how many of its events the log was given since it was
     * last cleared, and the number after the last one of them. */
    uint64_t logged, logged_to;
};

struct pt_log_status {
    uint64_t watermark;          /* all events before it are in this round or earlier */
    int32_t  status_running;     /* posix_trace_status_info as of now */
    int32_t  stream_full, stream_overrun;
    int32_t  flush_error;
    uint64_t late;
    uint64_t peak_bytes, reserved_bytes, advised_size;
    uint32_t refused;   /* bits 0-15 processes, 16-31 threads for which there was no room */
    /* Of threads that the totals do not name (any more), cumulative.  A number
     * is either here or in an author's totals, never in both. */
    uint64_t lost_unknown_author[PT_LOSS_CAUSES];
    uint64_t recorded_unknown_author;
    uint64_t lost_switches;      /* context switches that the kernel lost; in none of the above */
};

struct pt_log_writer;

/*
 * fd is not consumed.  A regular file is truncated and written from offset 0 by
 * pwrite: it must not be O_APPEND.  Writes the header: -ENOSPC etc. leave
 * nothing allocated.  -EINVAL: LOOP and UNTIL_FULL logs need seekable.
 */
int pt_log_writer_new(struct pt_log_writer **writer, int fd, const struct pt_log_params *params);
/* Frees without completing the log. */
void pt_log_writer_free(struct pt_log_writer *w);

/* A text counts once: more of the same kind and id are passed over. */
int pt_log_put_text(struct pt_log_writer *w, enum pt_text kind, uint32_t id, const char *text);
const char *pt_log_text(const struct pt_log_writer *w, enum pt_text kind, uint32_t id);
/* A point that is not later than the last one is passed over. */
int pt_log_put_sync(struct pt_log_writer *w, const struct pt_sync *point);
#define PT_SYNCS_AT_ONCE 64u
/* Later ones, up to so many. */
int pt_log_put_syncs(struct pt_log_writer *w, const struct pt_sync *points, unsigned n);

/*
 * Stores the events of a packet.  The log-full policies may split it, and give
 * up what is older or what is left; they count what is lost that way.
 *
 * PT_LOG_STORED, or PT_LOG_DISCARDED: an UNTIL_FULL log is full, all or the last
 * events of the packet were not stored and are counted as LOST_LOG_FULL; the
 * writer has made STOP the last event.  -EBADMSG: the records are not what a
 * writer of events makes (looked at where types is NULL).  After an error nothing
 * of the packet is stored.
 */
enum pt_log_put { PT_LOG_STORED, PT_LOG_DISCARDED };
int pt_log_put_packet(struct pt_log_writer *w, const struct pt_log_packet *packet);

/* To be called instead of put_packet for a packet that could not be written
 * (after an error): counts its events as LOST_LOG_ERROR. */
void pt_log_drop_packet(struct pt_log_writer *w, const struct pt_log_packet *packet);

/* The latest name of the thread of a packet's author: goes with the next end_round or complete. */
void pt_log_name_author(struct pt_log_writer *w, uint64_t wid, const char name[16]);

/* authors: those whose totals, or names, changed since the last round. */
int pt_log_end_round(struct pt_log_writer *w, const struct pt_log_status *status,
                     const struct pt_log_author_totals *authors, size_t count);

/* Forgets every packet (posix_trace_clear); names and sync points stay. */
int pt_log_clear(struct pt_log_writer *w);

bool pt_log_full(const struct pt_log_writer *w);      /* log_full_status */
bool pt_log_overrun(struct pt_log_writer *w, bool reset);
uint64_t pt_log_lost(const struct pt_log_writer *w, unsigned cause);

/*
 * What the log has made of the packets that it was given since it was new or last
 * cleared: their events are in the log or lost by it.  A checkpoint for recovery: it
 * counts the events up to packet lsn that are still in the file, and the rest of these
 * is lost by the log, whatever the file says of it.
 */
struct pt_log_books {
    uint64_t lsn;       /* of the last packet: those that come have greater ones */
    uint64_t events;    /* in the log */
    uint64_t waiting;   /* of these, in the buffer only, after a write that failed */
    uint64_t full, overwritten, error;   /* lost, by cause */
};
void pt_log_books(const struct pt_log_writer *w, struct pt_log_books *books);

/* Index, final status, end mark.  end: enum posixtrace_end (SHUTDOWN or
 * RECOVERED).  Ends the last round itself if packets follow the last one.
 * status NULL: as it was said last. */
int pt_log_complete(struct pt_log_writer *w, int end, const struct pt_log_status *status,
                    const struct pt_log_author_totals *authors, size_t count);

#endif
