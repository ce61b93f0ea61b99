/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The chunks of a segment as sorted inputs, and their merge.  A cursor reads one chunk while its
 * writer records more events, or while LOOP may take the chunk away.  A heap has the cursors that
 * stand at an event, by the time of that event.
 *
 * Invariants.  known[i] is the cursor of the present contents of chunk i, or NULL.  A cursor is in
 * the heap exactly while it is queued.  A chunk that LOOP has recycled leaves known; its cursor
 * stays in the heap until it reaches the top, and the new contents get a cursor of their own.
 * Bytes of a chunk are read first, and used only if the chunk's info word still has the cursor's
 * generation afterwards (pt_cursor_valid).
 *
 * chunk->consumed.  The writer that takes a chunk stores the new generation with the first
 * position, before chunk->gen.  From then on only the consumer stores it: the cursor in known[],
 * after the event was copied (consumer.c) or is safe in the log (collect.c).  A writer that
 * recycles the chunk loads it, announces what follows as lost, then changes the info word.
 * So an announcement can be too early, but is never missing: an event that is overwritten between
 * its copy and the store of its position was delivered, and is announced all the same.  The numbers
 * of lost events do not depend on announcements (accounting.h).
 *
 * Callers hold the reading lock: consumer.c reads events through the heap, collect.c chunk by
 * chunk through known, balance.c only looks.
 */
#ifndef PT_CONSUMER_CURSOR_H
#define PT_CONSUMER_CURSOR_H

#include "consumer/window.h"
#include "log/merge.h"
#include "shm/record.h"
#include "shm/segment.h"

/* One chunk that is being read. */
struct pt_cursor {
    struct pt_merge_node node;
    uint32_t index;
    uint64_t gen;
    uint32_t off;   /* of the current record */
    uint32_t size;  /* of the current record, with a TIME or AUTHOR record before it */
    uint32_t start; /* offset of the record after AUTHOR, and the time base there */
    uint64_t start_base;
    uint32_t limit; /* commit position at the last load */
    uint64_t base;
    uint64_t no; /* the author's number for the current event */
    struct pt_author author;
    struct pt_record record; /* the current one; data points into the chunk */
    bool queued;             /* in the merge */
    bool bad;                /* the chunk has bytes that no writer makes; passive: not read on */
};

struct pt_cursors {
    struct pt_seg *seg;
    bool passive;      /* publishes no position, frees no chunk */
    uint64_t from_gen; /* passive: free chunks have contents from this generation on */
    struct pt_merge merge;
    struct pt_cursor **known; /* by chunk index */
    uint32_t known_room;
};

void pt_cursors_init(struct pt_cursors *cs, struct pt_seg *seg);
void pt_cursors_deinit(struct pt_cursors *cs);

/* Finds new contents and commits of all chunks.  Positions that a dead consumer has published are
 * skipped, and w is set by the START and STOP among them.  0 or -ENOMEM. */
int pt_cursors_scan(struct pt_cursors *cs, struct pt_windows *w);
/* Empties the merge; frees the cursors that are in no other table. */
void pt_cursors_unqueue(struct pt_cursors *cs);
/* That of the control writer's oldest chunk that has not been recycled; NULL: none is known. */
const struct pt_cursor *pt_cursors_oldest_control(const struct pt_cursors *cs);
/* Is the control writer's record with that number the next one to be read, or, as of the last scan,
 * not made yet?  False: it may have been taken away. */
bool pt_cursors_control_is_at(const struct pt_cursors *cs, uint64_t no);

enum pt_cursor_step { PT_CURSOR_EVENT, PT_CURSOR_END, PT_CURSOR_GONE };
/* Decodes the record at c->off into c->record.  GONE: overwritten, or not a valid record. */
enum pt_cursor_step pt_cursor_decode(struct pt_cursors *cs, struct pt_cursor *c);
/* Advances past the current record and publishes the position. */
void pt_cursor_consume(struct pt_cursors *cs, struct pt_cursor *c);
/* Is the chunk still the one the cursor was made for? */
bool pt_cursor_valid(const struct pt_cursors *cs, const struct pt_cursor *c);
void pt_cursor_drop(struct pt_cursors *cs, struct pt_cursor *c);
/* Frees a chunk that is full and read to its end, and then the cursor. */
bool pt_cursor_retire(struct pt_cursors *cs, struct pt_cursor *c);
/* Is the record the first of its chunk? */
static inline bool pt_cursor_is_first(const struct pt_cursor *c)
{
    return c->off == sizeof(struct pt_chunk);
}

/* *open: the window before the first record of a control writer's chunk.  False: the chunk has
 * been recycled. */
bool pt_cursor_window_before(const struct pt_cursors *cs, const struct pt_cursor *c, bool *open);

#endif
