/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The internals of a log reader, shared by its files:
 *
 *   header.c    the header block
 *   reader.c    opening
 *   metadata.c  names, sync points and totals in packets
 *   scan.c      the replacement for END in an incomplete log
 *   packets.c   the packets of a round, by author
 *   round.c     collecting and loading them
 *   contest.c   which author, or packet, comes next
 *   name.c      the latest names of their authors
 *   next.c      the next event, rewind, seek
 *   block.c     the next packet's events, as arrays
 *   info.c      totals, threads, counts, status
 *   follow.c    reading a file that grows
 *   tail.c      uniting the log with a dead writer's segment
 *   check.c, resume.c  walk through the packets for purposes of their own
 *
 * Events come round by round.  First the reader notes the packets of a round (struct pt_note),
 * those of each author in the order of the file; then one cursor for each author reads them, and a
 * loser tree finds the earliest event.  A small round is read in place in the source's window, a
 * large one packet by packet.
 */
#ifndef PT_LOG_READER_STATE_H
#define PT_LOG_READER_STATE_H

#include "log/cells.h"
#include "log/index.h"
#include "log/reader/reader.h"
#include "log/reader/loser_tree.h"
#include "log/reader/walk.h"
#include "log/packet_split.h"
#include "log/reader/piece.h"
#include "log/string_table.h"
#include "log/author_stats.h"
#include "model/sync.h"

#define PT_NO_NOTE UINT32_MAX

/* Notes, and bytes in memory, at which a round is given in pieces. */
#define PT_ROUND_NOTES (1u << 20)
#define PT_ROUND_BYTES (1u << 30)

/* Bytes of unpacked records that the cursors of a round hold together.  Above that a cursor
 * holds a piece of its packet, and unpacks it once more for each next piece: 100 bytes of a
 * log may be 1 MiB of records, for each of very many authors.  The pieces are in proportion to
 * the authors' largest packets, and a round whose largest packets are PT_ROUND_UNPACKS times as
 * much together is given in pieces of its own.  So no packet is unpacked more than
 * PT_ROUND_UNPACKS + 2 times. */
#define PT_ROUND_UNPACKED (64u << 20)
#define PT_ROUND_UNPACKS  16u

/* One packet of the round. */
struct pt_note {
    uint64_t offset;
    const struct pt_log_packet *tail; /* in memory, or NULL: in the file */
    uint64_t first_ts, last_ts;
    uint64_t lsn; /* in the file: of that packet and no other */
    uint32_t bytes;
    uint32_t next; /* of the same author; PT_NO_NOTE: last */
};

/* The members that each event needs come first, then those that its author needs. */
#define PT_CURSOR_ALIGN 64u
struct pt_packet_cursor {
    _Alignas(PT_CURSOR_ALIGN) struct pt_decoder decoder;
    struct pt_record record; /* the event at the cursor */
    struct pt_cells cells;   /* of a packet of columns; else none are left */
    struct pt_author author;
    uint32_t next_note, last_note;
    uint8_t *buffer; /* holds the packet unless it is in the window */
    size_t room;
    size_t held;       /* of pt_reader_round.held */
    uint32_t done;     /* bytes of records in earlier pieces of next_note */
    uint32_t largest;  /* bytes of the records of its largest packet that has to be unpacked */
    uint32_t events;   /* of the packet, or piece, that was loaded; as it says */
    uint64_t first_no; /* the author's number of the first of them */
    bool over;         /* nothing of it is left */
    bool begun;        /* blocks are read: the first of a packet whose events were read singly; */
    bool waits;        /* the event at the cursor was not given yet */
};

struct pt_reader_round {
    struct pt_note *notes;
    size_t note_count, note_room;
    struct pt_packet_cursor *cursors;
    size_t cursor_count, cursor_room;
    uint32_t *hash; /* cursor index + 1, by wid */
    size_t hash_room;
    uint64_t factor;                  /* of the hash: a log chooses its wids */
    struct pt_loser_tree contest;     /* of the cursors, by their indices */
    struct pt_loser_tree packets;     /* of their next packets, while blocks are read */
    uint64_t number;                  /* counts rounds, for blocks */
    struct pt_packet_cursor *current; /* whose event was given last */
    size_t held;                      /* bytes of whole packets that the cursors unpacked */
    uint64_t largest;                 /* sum of the cursors' */
    bool damaged;                     /* some of its events are missing */
    bool hides;                       /* before each event, and after, others may be missing, as
                                       * the filter left out the marks */
    bool unsorted;                    /* an author's notes are not in the order of time */
};

/* Are all packets of a part there?  ROUND has their number. */
struct pt_count {
    bool begun;
    bool torn;        /* bytes were skipped since the last ROUND */
    uint64_t part;    /* the last one that has ended */
    uint64_t packets; /* of events, after that part */
    uint64_t skipped; /* bytes, at the last packet */
    uint64_t lost;    /* events that could not be written, as of the last ROUND */
};

/* Where a scan has met a packet; bytes 0: it has met none. */
struct pt_met {
    uint64_t offset, lsn;
    uint32_t bytes, crc;
    bool is_round;
};

/*
 * The end of the last scan of a log that has no ring, so that the next one reads later packets only
 * (scan.c).  All that was learned before is good as long as the last packet is in its place: a
 * writer that finds its file cut, or clears it, writes other packets there, with higher numbers.  A
 * full log replaces its last ROUND: then the packet before that one is the proof.
 */
struct pt_scanned {
    bool good;
    bool again; /* the file has been opened again, and is the same up to upto */
    uint64_t upto;
    struct pt_met last, before;
    uint64_t first_offset, begin, before_newest, skipped;
    bool goes_on;
    struct {
        size_t count;
        uint64_t bytes;
        struct pt_index_entry last;
    } index; /* without the part that has no ROUND yet */
};

/* The position in a file that grows; see follow.c. */
struct pt_follow {
    bool on;
    bool held;        /* the writer lives: packets without a ROUND wait for it */
    bool gap;         /* rounds are missing before the next one that is whole */
    bool missing;     /* something of the round that is being collected is */
    uint64_t part;    /* the last one that was given or is gone; 0: none */
    uint64_t seen;    /* the last one whose ROUND came by */
    uint64_t packets; /* of events, after that part */
    uint64_t from;    /* the first packet after part, from the scan; 0: none */
    uint64_t next;    /* no ring: where part ends, if its end was read; 0: unknown */
    uint8_t *bytes;   /* the packets of the round, without gaps */
    size_t used, room;
};

/*
 * An UNTIL_FULL log that is full.  An author whose events did not fit has lost them after its last
 * one that did; one that has none in the last round, after the watermark of the round before.  Up
 * to the earliest of these times the events of all authors are there.
 */
struct pt_full {
    bool on;
    bool reported; /* to the caller of next_whole */
    uint64_t ts;
    uint64_t watermark; /* of the last ROUND that ends a round; 0: none */
};

/* The next event of the packet.  1; 0: its end; -EBADMSG. */
static inline int pt_cursor_step(struct pt_packet_cursor *c)
{
    if (!c->cells.left)
        return pt_decode_event(&c->decoder, &c->record);
    pt_cells_next(&c->cells, &c->record);
    return 1;
}

#define PT_NO_SYNC SIZE_MAX

/* A thread that has made control records, and the writer that names it. */
struct pt_namesake {
    int32_t pid, tid;
    uint64_t thread_id;
    uint64_t changes; /* of the totals, when it was looked for; 0: it was not */
    uint64_t wid;     /* 0: no writer */
};
#define PT_NAMESAKES 16u

struct pt_log_reader {
    struct pt_log_params params;
    struct pt_descriptor file;
    bool spooled; /* file is our own copy of the data from a pipe */
    struct pt_input source;
    uint32_t seed;
    uint32_t features; /* of the header */
    uint64_t size;     /* of the file when it was opened */
    uint64_t left_out; /* where the end begins that is taken as not there; or 0 */

    bool complete;
    bool alone;     /* END: a recovery made it, without the segment */
    bool outlived;  /* END: traced processes ran on */
    bool continued; /* END: another piece follows */
    bool has_end;   /* END was read: totals and counts are final */
    bool ended;     /* reading has come to the end */
    uint64_t ring_bytes, meta_start;
    uint64_t first_offset; /* of the oldest round */
    uint64_t data_end;     /* linear: where packets of events end */
    uint64_t closing_offset, index_offset, end_offset;
    uint64_t newest_lsn; /* ring */
    uint64_t parts;      /* with END: how many were written */

    struct pt_piece_base base; /* of a piece; number 0: it has none */
    struct pt_string_table texts;
    const struct pt_log_tail *tail_texts; /* NULL: there is no tail */
    struct pt_sync header_sync;
    struct pt_sync *syncs;
    size_t sync_count, sync_room;
    size_t logged_syncs; /* those that are in the log, not only in a tail */
    struct pt_sync *map; /* converts in their place, if the caller has set another clock */
    size_t map_count;    /* 0: it has not */
    struct pt_index index;
    struct pt_author_stats totals;
    struct pt_log_state state; /* the last one seen, */
    uint64_t lost_switches;    /* which are not in it */
    uint64_t state_lsn;
    uint64_t events, bytes; /* found by the scan */
    uint64_t emergency_lsn; /* of the status in the header block; 0: none */
    uint64_t given_up;      /* it names that part as the oldest one: those before it are lost */
    uint64_t early_events;  /* found in packets before that, but for parts that are lost */
    uint64_t first_lsn;     /* of the oldest packet of a round; 0: none */
    uint64_t first_at;      /* its offset */
    uint64_t last_part;     /* of the newest packet of a round */
    struct {
        uint64_t lsn, part, watermark; /* of the last ROUND that ends a round; 0: none */
        uint64_t lost;                 /* lost by the log, from its own counts */
    } whole;
    uint32_t most_notes;  /* PT_ROUND_NOTES, but in tests */
    size_t most_unpacked; /* PT_ROUND_UNPACKED, but in tests */
    uint64_t first_ts, last_ts;
    struct pt_scanned scanned;
    uint64_t skipped;    /* bytes, by the scan */
    uint64_t unlearned;  /* bytes of names and sync points, without a copy */
    uint64_t bad_inside; /* bytes, of packets whose records were not readable, or are gone */
    int error;           /* that ended reading, until the next rewind */
    bool counted;
    uint64_t counts[PT_ID_MAX];

    struct posixtrace_thread_info *threads; /* as listed last */
    size_t thread_count;

    struct pt_walk walk;
    struct pt_reader_round round;
    struct pt_count count;
    bool gap; /* events are missing before the next one */
    struct pt_full full;
    struct pt_follow follow;
    struct pt_unpacker unpacker;
    struct pt_columns_view view; /* of the packet of columns that was loaded last */
    bool view_only, viewed;      /* load no more than that, where possible; it was done */
    uint8_t *block;              /* arrays of the block that was given last */
    size_t block_room;
    bool found;          /* seeking: a block of this round was given */
    struct pt_sync sync; /* in force for ts in [sync_from, sync_to) */
    uint64_t sync_from, sync_to;
    size_t sync_at; /* the last point that was in force; PT_NO_SYNC: no event was read */
    bool seeking;
    int64_t seek_ns;
    uint64_t seek_ts;
    uint64_t given_ts; /* pipe: of the last event given */
    bool given;

    uint64_t booked_lsn;        /* with a tail: its books know the packets up to here */
    uint64_t known_lsn;         /* of the last packet that the tail completes, or PT_NO_LIMIT */
    uint64_t start_at;          /* reading begins with the packet of a round there */
    bool ends_whole;            /* the last packet of the log ends a round */
    struct pt_log_packet *tail; /* packets that the log does not have, or NULL */
    size_t tail_count;
    bool has_tail, tail_taken, tail_hides;

    struct pt_namesake namesakes[PT_NAMESAKES]; /* by tid */
};

/* reader.c */
/* Reads from that offset on. */
void pt_reader_restart(struct pt_log_reader *r, uint64_t from);
/* Opens the same file again, in its present state.  -ESTALE: it is another log. */
int pt_reader_reopen(struct pt_log_reader *r);

/* header.c */
/* Reads the header block and takes its values.  -EINVAL: not a log; -ENOTSUP: this build cannot
 * read it; -ESTALE: another log than the one that is followed. */
int pt_reader_header(struct pt_log_reader *r);

/* metadata.c */
/* Takes the contents of a NAME, SYNC or ROUND packet; 0 or -ENOMEM. */
int pt_reader_learn(struct pt_log_reader *r, const struct pt_packet_head *packet);
/* The same for all packets in a range, except ROUNDs. */
int pt_reader_learn_all(struct pt_log_reader *r, uint64_t from, uint64_t to);
int pt_reader_learn_end(struct pt_log_reader *r, const struct pt_packet_end *end);
int pt_reader_add_sync(struct pt_log_reader *r, const struct pt_sync *point);

/* scan.c */
/* A walk over the packets of events (and, if linear, names and sync points),
 * oldest first.  source must not be the reader's own while that is in use. */
void pt_reader_walk(const struct pt_log_reader *r, struct pt_walk *walk, struct pt_input *source,
                    uint64_t from);
int pt_reader_survey(struct pt_log_reader *r);
/* Forgets what scans have found. */
void pt_reader_forget_scan(struct pt_log_reader *r);
/* The header was read again.  Is the file the same up to the end of the last scan?  If not,
 * forgets that scan. */
int pt_reader_look_again(struct pt_log_reader *r);
/* The newest status counts more events than were found up to it: in a ring, the round that
 * the writer did not end has overwritten the missing ones. */
void pt_reader_count_overwritten(struct pt_log_reader *r, uint64_t found);

/* next.c */
/* Looks up the sync point for ts and how far it is good. */
void pt_reader_find_sync(struct pt_log_reader *r, uint64_t ts);

/* packets.c */
void pt_reader_round_deinit(struct pt_reader_round *round);
void pt_reader_round_clear(struct pt_reader_round *round);
/* Adds a packet of an author to the round; unpacked: bytes of its records, if they have to be
 * unpacked, else 0.  0 or -ENOMEM. */
int pt_reader_note(struct pt_reader_round *round, uint64_t wid, struct pt_note entry,
                   uint32_t unpacked);
/* The time of an author's last event in the round; or before if its notes are not in order, and
 * before if it has none. */
uint64_t pt_reader_last_of(const struct pt_reader_round *round, uint64_t wid, uint64_t before);
/* Each author's by time.  In a file they are, unless its writer could not store one that
 * a dead process's memory still has.  0 or -ENOMEM. */
int pt_reader_sort_notes(struct pt_reader_round *round);

/* round.c */
/* The packet of a round that the walk gives first is at offset.  True: a recovery has overwritten
 * others before it, whose bytes become unreadable ones. */
bool pt_reader_starts_late(struct pt_log_reader *r, uint64_t offset);
/* The walk has ended.  True: a recovery has overwritten the newest packets; in the same way. */
bool pt_reader_ends_early(struct pt_log_reader *r);
/* Collects the packets of the next round that has any.  1; 0: none is left; negative errno. */
int pt_reader_collect(struct pt_log_reader *r);
/* The cursor's packet was read; bytes left of it are bad. */
void pt_reader_leave_packet(struct pt_log_reader *r, struct pt_packet_cursor *c);
/* Loads the cursor's next packet that can be read.  1; 0: there is none; negative errno. */
int pt_reader_load_packet(struct pt_log_reader *r, struct pt_packet_cursor *c);
/* The cursor's next event, which is not simply the next record: its packet has
 * ended, or is bad inside.  1; 0: there is none; negative errno. */
int pt_reader_next_packet(struct pt_log_reader *r, struct pt_packet_cursor *c);
/* True: the collected part of the round has reached the limits of memory or work that hold for all
 * files. */
static inline bool pt_reader_round_is_large(const struct pt_log_reader *r)
{
    return r->round.note_count >= r->most_notes ||
           r->round.largest >= (uint64_t)r->most_unpacked * PT_ROUND_UNPACKS;
}
/* For pt_reader_note(). */
static inline uint32_t pt_reader_unpacked_bytes(const struct pt_packet_data *p)
{
    return pt_packet_is_packed(p) ? p->record_bytes : 0;
}

int pt_reader_note_tail(struct pt_log_reader *r);

/* contest.c */
/* Makes the next round that has events, or the rest of one that was read by blocks, the one that
 * is read.  1; 0: there is none any more; negative errno. */
int pt_reader_next_round(struct pt_log_reader *r);
/* The same, for blocks: sets *c to the cursor whose packet comes next.  pt_reader_packet_done()
 * follows when the packet was read. */
int pt_reader_first_packet(struct pt_log_reader *r, struct pt_packet_cursor **c);
void pt_reader_packet_done(struct pt_log_reader *r, struct pt_packet_cursor *c);

/* Called for each ROUND, after the packets that it covers were noted. */
void pt_reader_note_hidden(struct pt_log_reader *r, const struct pt_packet_head *packet);
void pt_reader_note_full(struct pt_log_reader *r, const struct pt_packet_round *packet);

/* name.c */
/* Gives an author that a packet names its latest name. */
void pt_reader_latest_name(struct pt_log_reader *r, struct pt_author *author);

/* The table that converts times, and how many points it has. */
static inline const struct pt_sync *pt_reader_table(const struct pt_log_reader *r, size_t *count)
{
    *count = r->map_count ? r->map_count : r->sync_count;
    return r->map_count ? r->map : r->syncs;
}

static inline bool pt_reader_has_sync(const struct pt_log_reader *r, uint64_t ts)
{
    return ts >= r->sync_from && ts < r->sync_to;
}

static inline int64_t pt_reader_ns(struct pt_log_reader *r, uint64_t ts)
{
    if (pt_unlikely(!pt_reader_has_sync(r, ts)))
        pt_reader_find_sync(r, ts);
    return pt_sync_apply(&r->sync, ts);
}

/* follow.c */
/* Like collect() in round.c, but for complete rounds only. */
int pt_reader_collect_whole(struct pt_log_reader *r);
/* Forgets the position: reading begins elsewhere. */
static inline void pt_follow_forget(struct pt_follow *f)
{
    f->part = f->seen = f->packets = f->next = 0;
    f->gap = f->missing = false;
}

#endif
