/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The contents of a log, as callers pass them to the writer and receive them from the reader:
 * packets of events, the totals of authors, the status of a flush cycle.
 */
#ifndef PT_LOG_CONTENTS_H
#define PT_LOG_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "log/types.h"
#include "model/attr.h"
#include "model/event.h"

#define PT_LOSS_CAUSES 7 /* as enum posixtrace_loss_cause */

struct pt_log_params {
    uint8_t id[16];
    struct pt_attr attr; /* effective attributes of the stream; log policy and size count */
    int32_t clock;       /* enum posixtrace_clock */
    int32_t pid;         /* of the traced process */
    uint8_t boot_id[16]; /* of the machine that writes, zeros if unknown */
    char host[64];       /* its name, terminated; "" if unknown */
    uint32_t piece;      /* of a log in pieces: which one, from 1; 0: it is no piece */
    uint64_t ino;        /* of a piece: its file */
    bool seekable;       /* regular file: pwrite at offsets; else write in order */
    /* Called before and after each write, since a pipe may block for ever; or NULL.  The
     * state of the writer that other threads of the caller read does not change between
     * the two calls. */
    void (*waits)(void *context, bool waits);
    void *waits_context;
};

/* In place of a chunk's number, with the time: an event that the consumer made. */
#define PT_LOG_MADE (1ull << 63)
/* And in place of the position, this for each event type: more than any such event is long. */
#define PT_LOG_MADE_STEP 512u
/* Added for OVERFLOW and RESUME of a loss, whose end is then in place of the time. */
#define PT_LOG_MADE_LOSS 256u
/* In place of a nesting level: marks made events that describe a thread.  Accounts do
 * not count them. */
#define PT_LEVEL_MADE 254u

/* A further chunk of a packet. */
struct pt_log_part {
    uint64_t chunk_seq;
    uint32_t chunk_off, bytes; /* as in struct pt_log_packet */
};

/* Part of one chunk, by one author, in time order.  In a log it may be joined: its records are
 * those of several chunks. */
struct pt_log_packet {
    struct pt_author author;
    uint64_t chunk_seq; /* which chunk: unique in the stream; or PT_LOG_MADE */
    uint32_t chunk_off; /* where in the chunk the records begin */
    uint32_t bytes;     /* of records */
    uint32_t events;
    uint64_t first_no; /* the author's number of the first event */
    uint64_t base_ts;  /* base for the first record's delta */
    uint64_t first_ts, last_ts;
    const void *records;
    const struct pt_log_part *parts; /* after the first chunk, whose bytes are the rest */
    uint32_t part_count;             /* 0: it is not joined */
    uint64_t lsn;                    /* of a packet that was read from a log; in a tail: its place
                            * in the order in which a flush round writes them, from 1 */
    /* Events by type, which the caller counted while it walked all records.  NULL: the
     * writer walks and counts them itself. */
    const struct pt_type_count *types;
    uint32_t type_count;
};

/* The numbers of one author, all cumulative. */
struct pt_log_author_totals {
    struct pt_author author;
    uint64_t recorded;             /* events it stored in the stream */
    uint64_t lost[PT_LOSS_CAUSES]; /* the stream's; the writer adds the log's own */
    bool ended;                    /* no event and no totals of it will come any more */
    /* In a tail (log/reader/reader.h) only: how many of the author's events the log was given since
     * it was last cleared, and the number after the last one of them. */
    uint64_t logged, logged_to;
};

struct pt_log_status {
    uint64_t watermark;     /* all events before it are in this round or earlier */
    int32_t status_running; /* posix_trace_status_info as of now */
    int32_t stream_full, stream_overrun;
    int32_t flush_error;
    uint64_t late;
    uint64_t peak_bytes, reserved_bytes, advised_size;
    uint32_t refused; /* bits 0-15 processes, 16-31 threads for which there was no room */
    /* Sums over threads that the totals do not name (any more), cumulative.  An event is counted
     * either here or in an author's totals, never in both. */
    uint64_t lost_unknown_author[PT_LOSS_CAUSES];
    uint64_t recorded_unknown_author;
    uint64_t lost_switches; /* context switches that the kernel lost; in none of the above */
    bool outlived;          /* of the last round: traced processes are still running */
    bool hides;             /* of this round: the filter left out a mark of missing events */
};

/*
 * The accounts of the log over all packets that it was given since it was created or last
 * cleared: each of their events is in the log or lost by it.  A checkpoint for recovery:
 * recovery counts the events up to packet lsn that are still in the file; the log has lost the
 * other events up to that packet, also if the file has other counts.
 */
struct pt_log_books {
    uint64_t lsn;     /* of the last packet; later packets have greater ones */
    uint64_t events;  /* in the log */
    uint64_t waiting; /* those of events that a failed write left in the buffer only */
    uint64_t full, overwritten, error; /* lost, by cause */
    uint32_t piece;                    /* of a log in pieces, as in pt_log_params */
    uint64_t ino;
};

#endif
