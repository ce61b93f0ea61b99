/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Follows a log that is being written.
 *
 * The position is the number of the last part of a round that was delivered.  It stays
 * valid however the file changes, and shows for every packet whether it is new.  A round
 * is delivered when its ROUND packet is in the file, because only then the reader knows
 * that the round is complete.  So the events are those of the complete log, in the same
 * order, late events included.
 *
 * A LOOP log may overwrite events that were not read yet, even while they are being read.
 * So the reader copies the packets of a round as it checks them, and compares their number
 * with that in the ROUND packet.  It delivers nothing of an incomplete round: the events of
 * a thread before and after the gap would look adjacent.  It stops before the next complete
 * round until it has reported the gap to the caller.
 *
 * A round of more packets or bytes than are kept at once (a stream of some GiB, or of very
 * many threads that take turns), or that would cost too much to unpack, is delivered in pieces,
 * once its ROUND is in the file.
 * Events are in order within a piece; those of one thread are in order in the whole round.
 *
 * A log that a recovery has completed without the writer's segment is read again each time,
 * like one that is being written: a recovery that finds the segment replaces the end by the
 * rest of the events.
 */
#include <errno.h>
#include <string.h>
#include "base/array.h"
#include "log/reader/state.h"

enum { STOP, GIVE, GO_ON };

static int keep_packet(struct pt_log_reader *r, const struct pt_packet_data *p)
{
    struct pt_follow *f = &r->follow;
    uint64_t at = f->used;

    if (pt_array_grow_to(&f->bytes, &f->room, f->used + p->head.bytes, 256u << 10) < 0)
        return -ENOMEM;
    memcpy(f->bytes + at, p, p->head.bytes);
    f->used += p->head.bytes;
    return pt_reader_note(
        &r->round, pt_stored_wid(&p->author),
        (struct pt_note){
            .offset = at, .bytes = p->head.bytes, .first_ts = p->first_ts, .last_ts = p->last_ts },
        pt_reader_unpacked_bytes(p));
}

static void drop_round(struct pt_log_reader *r)
{
    pt_reader_round_clear(&r->round);
    r->follow.used = 0;
}

/* False: the packet was delivered before.  At the start of reading, the first part that the
 * walk meets is the oldest one in the file. */
static bool is_new(struct pt_log_reader *r, const struct pt_packet_head *p, uint64_t offset)
{
    struct pt_follow *f = &r->follow;

    if ((p->type != PT_PACKET_DATA && p->type != PT_PACKET_ROUND) || p->round <= f->part)
        return false;
    if (f->seen == 0 && f->packets == 0) {
        f->seen = p->round - 1;
        f->missing = pt_reader_starts_late(r, offset);
    }
    if (p->round != f->seen + 1) {
        f->missing = true;
        f->seen = p->round - 1;
        f->packets = 0;
    }
    return true;
}

static int take_data(struct pt_log_reader *r, const struct pt_packet_head *p)
{
    struct pt_follow *f = &r->follow;

    f->packets++;
    if (f->missing) {
        drop_round(r);
        return GO_ON;
    }
    if (keep_packet(r, (const void *)p) != 0)
        return -ENOMEM;
    if (f->used + PT_PACKET_DATA_MAX <= PT_ROUND_BYTES && !pt_reader_round_is_large(r))
        return GO_ON;
    /* The round is large: in pieces, if all of it is there, else later. */
    return (f->held && p->round > r->whole.part) || f->gap ? STOP : GIVE;
}

static int take_round(struct pt_log_reader *r, const struct pt_packet_round *p)
{
    struct pt_follow *f = &r->follow;

    pt_reader_note_full(r, p);
    pt_reader_note_hidden(r, &p->head);
    f->missing = f->missing || f->packets != p->packets;
    f->seen = p->head.round;
    f->packets = 0;
    if (p->head.flags & PT_ROUND_CONTINUES)
        return GO_ON;
    if (!(r->round.note_count && f->gap && !f->missing))
        f->next = r->ring_bytes ? 0 : r->walk.offset;
    if (f->missing) {
        drop_round(r);
        f->gap = true;
        f->missing = false;
    } else if (r->round.note_count) {
        if (f->gap)
            return STOP;
        f->part = f->seen;
        return GIVE;
    }
    f->part = f->seen;
    return GO_ON;
}

/* Delivers the packets after the last ROUND, when no more can follow. */
static int take_rest(struct pt_log_reader *r)
{
    struct pt_follow *f = &r->follow;
    int error;

    if (f->part < r->last_part && pt_reader_ends_early(r)) {
        f->missing = true;
        f->seen = r->last_part - 1;
    }
    if (f->missing) {
        f->gap = true;
        f->missing = false;
        f->part = f->seen < UINT64_MAX ? f->seen + 1 : f->seen;
    }
    if (f->gap)
        return STOP;
    f->part = UINT64_MAX;
    error = pt_reader_note_tail(r);
    return error ? error : r->round.note_count ? GIVE : STOP;
}

int pt_reader_collect_whole(struct pt_log_reader *r)
{
    struct pt_follow *f = &r->follow;
    const struct pt_packet_head *packet;
    uint64_t offset;
    int rc = GO_ON;

    f->used = 0;
    if (r->ended)
        return STOP;
    while (rc == GO_ON) {
        rc = pt_walk_next(&r->walk, &packet, &offset);
        if (rc <= 0)
            break;
        if (!is_new(r, packet, offset))
            rc = GO_ON;
        else if (packet->type == PT_PACKET_DATA)
            rc = take_data(r, packet);
        else
            rc = take_round(r, (const void *)packet);
        if (rc == STOP || rc == GIVE) {
            r->ended = rc == STOP;
            if (rc == STOP)
                drop_round(r);
            return rc;
        }
    }
    if (rc < 0)
        return rc;
    r->ended = true;
    if (!f->held)
        rc = take_rest(r);
    if (rc == STOP)
        drop_round(r);
    return rc;
}

/* Keeps the time from which the caller wants to read. */
static void go_on(struct pt_log_reader *r, bool nothing_new)
{
    bool seeking = r->seeking;
    size_t points;
    const struct pt_sync *table = pt_reader_table(r, &points);

    if (r->scanned.again) {
        nothing_new = false;
        r->follow.from = r->follow.next < r->scanned.upto ? r->follow.next : r->scanned.upto;
    }
    pt_reader_restart(r, r->follow.from ? r->follow.from : r->first_offset);
    if (nothing_new)
        r->walk.segment_count = 0;
    r->seeking = seeking;
    r->seek_ts = pt_sync_invert(table, points, r->seek_ns);
    r->follow.seen = r->follow.part;
    r->follow.packets = 0;
    r->follow.missing = r->follow.gap = false;
}

int pt_log_reader_follow(struct pt_log_reader *r, bool held)
{
    struct pt_follow *f = &r->follow;
    bool gap = f->gap, first = !f->on, alone = pt_log_reader_lacks_tail(r);
    bool known = (r->complete && !alone) || r->has_tail;
    int error = 0;

    if (!r->source.seekable)
        return -ESPIPE;
    if (!first && (r->round.current || r->round.contest.count || r->round.packets.count ||
                   (!f->held && !gap)))
        return 0;
    if (first)
        pt_follow_forget(f);
    known = known || (!first && !f->held);
    f->on = true;
    f->from = 0;
    r->ended = true;
    if (!known)
        error = pt_reader_reopen(r);
    if (error)
        return error;
    f->held = !r->has_tail && (pt_log_reader_lacks_tail(r) || ((held || alone) && !r->complete));
    go_on(r, !known && !r->has_end && f->from == 0);
    return gap;
}
