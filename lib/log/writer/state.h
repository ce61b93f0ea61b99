/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The inside of a log writer, shared by the files that make one up:
 *
 *   writer.c    life
 *   metadata.c  the header of the file, names, descriptions, sync points
 *   store.c     storing packets under the log-full policy
 *   join.c      joining small packets
 *   round.c     ROUND packets, and the emergency status when writing fails
 *   ring.c      LOOP: wrapping, giving up the oldest rounds
 *   end.c       completing and clearing
 *   cut.c       continuing after another program has cut the file
 *   resume.c    rebuilding this state from a log that was left
 *
 * A round of the caller is written as one part or, in a LOOP log, as several
 * (PT_ROUND_CONTINUES), because a LOOP log gives up whole parts.
 */
#ifndef PT_LOG_WRITER_STATE_H
#define PT_LOG_WRITER_STATE_H

#include <errno.h>
#include "base/assert.h"
#include "log/format.h"
#include "log/index.h"
#include "log/packet_split.h"
#include "log/reader/piece.h"
#include "log/string_table.h"
#include "log/author_stats.h"
#include "log/writer/output.h"
#include "log/writer/writer.h"

struct pt_part_count {
    uint64_t key; /* wid, or event id */
    uint32_t events;
};

/* A part of the log.  A LOOP log remembers the events that would be lost with it. */
struct pt_part {
    uint64_t number;
    uint64_t start; /* as pt_ring.head */
    uint64_t bytes; /* in the file, its ROUND included */
    uint64_t first_ts, last_ts;
    uint64_t events, data_bytes;
    bool goes_on; /* not the first part of its round */
    uint32_t authors, ids;
    struct pt_part_count *counts; /* by author, then by id */
};

/*
 * The ring of a LOOP log.  Positions only grow; their place in the file is
 * data_start + position % bytes once the ring is fixed.  Before that the ring
 * is as long as the file and nothing has been given up.
 */
struct pt_ring {
    uint64_t bytes;        /* 0: not fixed yet */
    uint64_t head;         /* place of the next packet */
    uint64_t meta;         /* file offset for the next NAME or SYNC after the ring */
    struct pt_part *parts; /* surviving ones, oldest first, circular */
    size_t first, count, room;
};

#define PT_MARKS 512u

struct pt_log_writer {
    struct pt_log_params params;
    struct pt_output out;
    struct pt_packer packer;
    struct pt_log_join *join; /* NULL until packets are joined */
    struct pt_byteorder_buffer order;
    uint32_t seed;
    uint64_t lsn;            /* of the last packet */
    uint64_t last_round_lsn; /* of the last ROUND packet */
    uint64_t round;          /* number of the part being written */
    uint64_t flushed_round;  /* those before are on disk entirely */

    const struct pt_piece_base *base; /* NULL, or of a piece; the caller's, or: */
    struct pt_piece_base own_base;
    struct pt_string_table texts;
    struct pt_sync *syncs;
    size_t sync_count, sync_room;

    struct pt_author_stats totals;
    struct pt_log_status status; /* the caller's, of the last round */
    struct pt_types types;       /* of the piece in hand */
    uint64_t counts[PT_ID_MAX];  /* in the log */
    uint64_t events, data_bytes;
    uint64_t unnamed; /* of the events, those that no thread generated */
    uint64_t first_ts, last_ts;
    uint64_t clear_offset; /* pipes: the log begins here since the last clear */

    /* the part being written */
    uint64_t part_start; /* as ring.head */
    uint64_t part_events, part_packets, part_bytes;
    uint64_t part_first, part_last;
    bool part_goes_on;
    bool part_open;             /* has DATA */
    struct pt_types part_types; /* LOOP only */
    uint64_t *part_authors;     /* wids, LOOP only */
    size_t part_author_count, part_author_room;

    struct pt_index index; /* unless LOOP, which makes it from its parts */
    struct pt_ring ring;
    /* How much was in the log after some of its ROUNDs, the latest ones all; unless LOOP. */
    struct pt_mark {
        uint64_t offset, events, unnamed, data_bytes, last_ts;
        bool full;    /* the log was, and its STOP is in front of this place */
        bool stopped; /* as below */
    } marks[PT_MARKS];
    unsigned mark_count;
    int rest_error;              /* which lost the rest of a packet, until a call returns it */
    bool header_due, copies_due; /* could not be written, or not entirely: the next round does */
    bool uncounted;              /* counts are higher than the events in the log */
    bool full;
    bool overrun;              /* since it was asked for */
    bool overran;              /* ever: the value in the log */
    bool stop_due;             /* full, and the STOP could not be written yet */
    bool stopped;              /* the last event, by time, is a STOP */
    bool emergency;            /* the status block in the header is in use */
    bool closed;               /* completed */
    bool outlived;             /* shutdown while traced processes are running */
    bool alone;                /* recovery without the dead writer's segment */
    bool continued;            /* a piece, and the next one has begun */
    bool resumed;              /* recovery: after a failure the log is not changed further */
    uint64_t buried, reported; /* parts of the losses, see log/reader/reader.h */

    /* The last ROUND of a full log has only totals: the next one may replace it, so that a full log
     * does not grow. */
    struct {
        uint64_t offset, lsn;
        uint32_t bytes;
    } replace;
};

/* The log size.  Sums and small multiples of it do not overflow. */
static inline uint64_t pt_log_writer_size(const struct pt_log_writer *w)
{
    uint64_t size = w->params.attr.log_size;

    return size < INT64_MAX / 4 ? size : INT64_MAX / 4;
}

static inline bool pt_log_writer_loops(const struct pt_log_writer *w)
{
    return w->params.attr.log_policy == POSIX_TRACE_LOOP;
}

/* The next packet of the log, filled but for its head. */
static inline uint32_t pt_log_writer_seal(struct pt_log_writer *w, struct pt_packet_head *head,
                                          unsigned type, uint32_t bytes)
{
    pt_assert_call(bytes >= sizeof *head && bytes % PT_PACKET_ALIGN == 0);
    head->lsn = ++w->lsn;
    head->round = w->round;
    pt_packet_seal(head, type, bytes, w->seed);
    return bytes;
}

static inline bool pt_log_writer_is_full(const struct pt_log_writer *w)
{
    return w->full || w->ring.bytes != 0;
}

/* metadata.c */
/* The whole header block of a new log. */
int pt_log_writer_begin_file(struct pt_log_writer *w);
/* Those that its packets may have. */
uint32_t pt_log_writer_features(const struct pt_log_writer *w);
int pt_log_writer_header(struct pt_log_writer *w, uint32_t flags, uint64_t end_offset,
                         uint64_t file_end);
#define PT_TEXT_PACKET_MAX (sizeof(struct pt_packet_text) + PT_DESCRIPTION_MAX + PT_PACKET_ALIGN)
uint32_t pt_log_writer_text_packet(struct pt_log_writer *w, void *at, enum pt_text kind,
                                   uint32_t id);
uint32_t pt_log_writer_sync_packet(struct pt_log_writer *w, void *at, const struct pt_sync *points,
                                   uint32_t count);
int pt_log_writer_note_sync(struct pt_log_writer *w, const struct pt_sync *point);
/* Copies of all sync points and names, into the buffer. */
int pt_log_writer_copies(struct pt_log_writer *w);
/* Writes the header and the copies, if they are due. */
int pt_log_writer_catch_up(struct pt_log_writer *w);

/* store.c */
void pt_log_writer_account(struct pt_log_writer *w, const struct pt_log_packet *piece,
                           uint32_t bytes);
int pt_log_writer_stop(struct pt_log_writer *w);

/* round.c */
int pt_log_writer_round(struct pt_log_writer *w, unsigned flags);
int pt_log_writer_set_totals(struct pt_log_writer *w, const struct pt_log_status *status,
                             const struct pt_log_author_totals *authors, size_t count);
void pt_log_writer_state(struct pt_log_writer *w, struct pt_log_state *state);
/* The part after the authors of a ROUND or END, see format.h. */
uint32_t pt_log_writer_more_size(const struct pt_log_writer *w);
void pt_log_writer_put_more(const struct pt_log_writer *w, void *to);
/* An author for which a list of all has no room: the status has its numbers without a name. */
void pt_log_writer_leave_out(const struct pt_total *e, struct pt_log_state *state);
/* The error, or that of an earlier call that could not return it. */
int pt_log_writer_tell(struct pt_log_writer *w, int error);
void pt_log_writer_close_part(struct pt_log_writer *w, bool goes_on);
void pt_log_writer_emergency(struct pt_log_writer *w, int error, int end);
int pt_log_writer_flush(struct pt_log_writer *w);
/* Events of the authors from first to last that are in the buffer only. */
uint64_t pt_log_writer_waiting(const struct pt_log_writer *w, uint64_t first, uint64_t last);

/* cut.c */
/* A part of a log that grows has ended. */
void pt_log_writer_mark(struct pt_log_writer *w);
bool pt_log_writer_is_cut(struct pt_log_writer *w);
/* The file was cut: counts the events after the cut and in the buffer as lost. */
int pt_log_writer_go_back(struct pt_log_writer *w);
/* If the file was cut: as above, names, sync points and a ROUND are written again, and the log
 * continues. */
int pt_log_writer_mend(struct pt_log_writer *w);

/* ring.c */
/* All parts are lost for a cause. */
void pt_ring_give_up_all(struct pt_log_writer *w, unsigned cause);
/* Makes room in the ring for bytes more and moves there; a part that would get too long is ended
 * first.  1: it can never fit. */
int pt_ring_place(struct pt_log_writer *w, uint32_t bytes, bool data);
uint32_t pt_ring_piece_limit(const struct pt_log_writer *w); /* records of a packet */
uint32_t pt_ring_event_limit(const struct pt_log_writer *w); /* records of one event */
uint64_t pt_ring_part_limit(const struct pt_log_writer *w);  /* DATA packets of a part */
uint32_t pt_ring_round_limit(const struct pt_log_writer *w); /* a ROUND packet */
int pt_ring_reserve_part(struct pt_log_writer *w);           /* so that pushing cannot fail */
void pt_ring_push_part(struct pt_log_writer *w);
uint64_t pt_ring_offset(const struct pt_log_writer *w, uint64_t position);
void pt_ring_fit(struct pt_log_writer *w, uint64_t file_size); /* before there are parts */
void pt_ring_deinit(struct pt_ring *ring);

static inline struct pt_part *pt_ring_part(const struct pt_ring *ring, size_t i)
{
    return &ring->parts[(ring->first + i) % ring->room];
}

/* join.c */
void pt_log_join_free(struct pt_log_writer *w);

#endif
