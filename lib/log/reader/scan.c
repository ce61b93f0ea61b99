/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The scan of an incomplete log: one pass over all its packets, oldest first, that collects the
 * contents that END would have, and an index.  It ends with the newest valid packet, and counts
 * unreadable bytes.  A log that has no ring and is followed is scanned from the end of the last
 * scan on (struct pt_scanned).
 */
#include <errno.h>
#include <string.h>
#include "log/byteorder.h"
#include "log/reader/state.h"

void pt_reader_walk(const struct pt_log_reader *r, struct pt_walk *walk, struct pt_input *source,
                    uint64_t from)
{
    uint64_t ring_end = PT_LOG_DATA_START + r->ring_bytes;

    /* A packet that was cut in the zeros at its end is whole again when a recovery has made the
     * file longer: it counts as whole before that, too. */
    source->pads = r->ring_bytes != 0;
    if (!r->ring_bytes) {
        pt_walk_init(walk, source, r->seed, from, r->data_end);
        walk->most_lsn = r->known_lsn;
        return;
    }
    if (from >= r->first_offset) {
        pt_walk_init(walk, source, r->seed, from, ring_end);
        pt_walk_add_segment(walk, PT_LOG_DATA_START, r->first_offset);
    } else {
        pt_walk_init(walk, source, r->seed, from, r->first_offset);
    }
    walk->ring = true;
    /* END names the oldest packet: unreadable bytes there are damage, not overwritten. */
    walk->started = r->has_end;
    walk->area = (struct pt_segment){ PT_LOG_DATA_START, ring_end };
    walk->newest_lsn = r->newest_lsn;
    walk->most_lsn = r->known_lsn;
    walk->stop_at_newest = r->has_end;
}

/* Finds the newest ROUND of a ring: reading begins at the part that it names as the
 * oldest.  Also reads the names and sync points after the ring. */
static int find_newest(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    struct pt_walk walk;
    uint64_t offset;
    int rc;

    pt_walk_init(&walk, &r->source, r->seed, PT_LOG_DATA_START, r->meta_start);
    walk.any_order = true;
    while ((rc = pt_walk_next(&walk, &packet, &offset)) == 1) {
        const struct pt_packet_round *round = (const void *)packet;
        uint64_t oldest;

        if (packet->type != PT_PACKET_ROUND || packet->lsn <= r->newest_lsn)
            continue;
        r->newest_lsn = packet->lsn;
        oldest = round->state.oldest_offset;
        if (oldest >= PT_LOG_DATA_START && oldest < r->meta_start && oldest % PT_PACKET_ALIGN == 0)
            r->first_offset = oldest;
    }
    if (rc < 0)
        return rc;
    return pt_reader_learn_all(r, r->meta_start, r->size);
}

/* Events after the last ROUND have numbers, but no totals yet.  Events that the stream's
 * consumer made are in no chunk and have no numbers. */
static void survey_numbers(struct pt_log_reader *r, struct pt_total *total,
                           const struct pt_packet_data *p)
{
    const struct pt_piece_author *before = pt_piece_base_find(&r->base, pt_stored_wid(&p->author));
    uint64_t recorded = p->first_no + p->events;

    if (before)
        recorded = recorded > before->next_no ? recorded - before->next_no : 0;

    if (pt_stored_wid(&p->author) == 0 || p->chunk_seq == 0 || (p->chunk_seq & PT_LOG_MADE) ||
        recorded <= total->recorded)
        return;
    r->totals.recorded += recorded - total->recorded;
    total->recorded = recorded;
}

static int survey_data(struct pt_log_reader *r, const struct pt_packet_data *p)
{
    struct pt_log_packet packet;
    struct pt_total *total;

    pt_packet_get_data(&packet, p);
    if (p->events) {
        if (!r->events || p->first_ts < r->first_ts)
            r->first_ts = p->first_ts;
        if (!r->events || p->last_ts > r->last_ts)
            r->last_ts = p->last_ts;
    }
    r->events += p->events;
    r->bytes += p->head.bytes;
    total = pt_author_stats_find(&r->totals, packet.author.wid);
    if (!total)
        total = pt_author_stats_get(&r->totals, &packet.author);
    if (!total)
        return -ENOMEM;
    if (p->head.lsn < r->emergency_lsn && p->head.round < r->given_up)
        total->part_events += p->events;
    else if (p->head.lsn < r->emergency_lsn)
        r->early_events += p->events;
    survey_numbers(r, total, p);
    return 0;
}

void pt_reader_count_overwritten(struct pt_log_reader *r, uint64_t found)
{
    uint64_t n;

    if (!r->ring_bytes || r->state.events <= found)
        return;
    n = r->state.events - found;
    r->state.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] += n;
    r->state.unknown_lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] += n;
    r->state.log_overrun = POSIX_TRACE_OVERRUN;
}

/* A log that was written to a pipe and cleared begins after its last clear. */
static bool is_clear(const struct pt_log_reader *r, const struct pt_packet_round *round,
                     uint64_t offset)
{
    uint64_t oldest = round->state.oldest_offset;

    return !r->ring_bytes && oldest == offset + round->head.bytes && oldest <= r->size;
}

static void survey_clear(struct pt_log_reader *r, uint64_t from)
{
    r->first_offset = from;
    r->events = r->bytes = r->first_ts = r->last_ts = r->first_lsn = 0;
    pt_index_clear(&r->index);
}

/* The part that began at begin (if it has events) and whose ROUND is at offset. */
static int survey_round(struct pt_log_reader *r, const struct pt_packet_round *round,
                        uint64_t begin, uint64_t offset, bool goes_on)
{
    if (is_clear(r, round, offset))
        survey_clear(r, round->state.oldest_offset);
    else if (begin)
        return pt_index_add(&r->index, begin, offset + round->head.bytes - begin, round->first_ts,
                            round->last_ts, goes_on);
    return 0;
}

/* Notes the last complete round, and where a reader that follows the log continues. */
static void note_new(struct pt_log_reader *r, const struct pt_packet_head *packet, uint64_t offset)
{
    const struct pt_packet_round *round = (const void *)packet;

    if (packet->type != PT_PACKET_DATA && packet->type != PT_PACKET_ROUND)
        return;
    if (!r->first_lsn) {
        r->first_lsn = packet->lsn;
        r->first_at = offset;
    }
    r->last_part = packet->round;
    if (packet->type == PT_PACKET_ROUND && !(packet->flags & PT_ROUND_CONTINUES)) {
        r->whole.lsn = packet->lsn;
        r->whole.part = packet->round;
        r->whole.watermark = round->state.watermark;
        r->whole.lost = 0;
        for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
            r->whole.lost += pt_cause_is_of_log(c) ? round->state.lost[c] : 0;
    }
    if (r->follow.on && r->follow.from == 0 && packet->round > r->follow.part)
        r->follow.from = offset;
}

void pt_reader_forget_scan(struct pt_log_reader *r)
{
    pt_index_clear(&r->index);
    pt_author_stats_clear(&r->totals);
    memset(&r->state, 0, sizeof r->state);
    r->state_lsn = r->events = r->bytes = r->first_ts = r->last_ts = 0;
    r->skipped = r->early_events = r->first_lsn = r->first_at = r->last_part = 0;
    memset(&r->whole, 0, sizeof r->whole);
    r->scanned.good = false;
}

/* 1: the packet is in its place; 0; negative errno. */
static int is_there(struct pt_log_reader *r, const struct pt_met *met)
{
    const struct pt_packet_head *p;
    int error, rc;

    if (met->bytes == 0)
        return 0;
    p = pt_input_fetch(&r->source, met->offset, met->bytes, &error);
    rc = p && pt_packet_is_plausible(p, met->bytes) && pt_le32(p->bytes) == met->bytes &&
         pt_le64(p->lsn) == met->lsn && pt_le32(p->crc) == met->crc &&
         pt_packet_is_whole(p, r->seed);
    return error ? error : rc;
}

int pt_reader_look_again(struct pt_log_reader *r)
{
    struct pt_scanned *s = &r->scanned;
    bool good = s->good && !r->ring_bytes && !r->left_out && r->source.seekable;
    int rc = good ? is_there(r, &s->last) : 0;

    s->again = false;
    if (rc == 0 && good && s->last.is_round) {
        rc = is_there(r, &s->before);
        s->upto = s->last.offset;
    } else {
        s->upto = s->last.offset + s->last.bytes;
    }
    if (rc < 0)
        return rc;
    s->again = rc == 1;
    if (!s->again)
        pt_reader_forget_scan(r);
    return 0;
}

/* Takes back what the end of the last scan has added to the index.  The walk from there on. */
static void go_on(struct pt_log_reader *r, struct pt_walk *walk)
{
    struct pt_scanned *s = &r->scanned;
    bool replaced = s->upto == s->last.offset;

    r->first_offset = s->first_offset;
    r->index.count = s->index.count;
    r->index.bytes = s->index.bytes;
    if (s->index.count)
        r->index.entries[s->index.count - 1] = s->index.last;
    pt_reader_walk(r, walk, &r->source, s->upto);
    walk->last_lsn = replaced ? s->before.lsn : s->last.lsn;
    walk->skipped = s->skipped;
    if (replaced)
        s->last = s->before;
}

static void begin_scan(struct pt_log_reader *r, struct pt_walk *walk)
{
    if (r->scanned.good && r->scanned.again) {
        go_on(r, walk);
        return;
    }
    r->scanned = (struct pt_scanned){ .good = false };
    pt_reader_walk(r, walk, &r->source, r->first_offset);
}

static void note_met(struct pt_scanned *s, const struct pt_packet_head *packet, uint64_t offset,
                     const struct pt_walk *walk)
{
    s->before = s->last;
    s->last = (struct pt_met){ offset, packet->lsn, packet->bytes, packet->crc,
                               packet->type == PT_PACKET_ROUND };
    s->skipped = walk->skipped;
}

/* The index gets a part without an end, which the next scan takes back. */
static int end_scan(struct pt_log_reader *r)
{
    struct pt_scanned *s = &r->scanned;
    struct pt_index *x = &r->index;
    int error = 0;

    s->first_offset = r->first_offset;
    s->index.count = x->count;
    s->index.bytes = x->bytes;
    if (x->count)
        s->index.last = x->entries[x->count - 1];
    if (s->begin)
        error = pt_index_add(x, s->begin, 0, 0, UINT64_MAX, s->goes_on);
    s->good = !r->ring_bytes && s->last.bytes && x->count >= s->index.count;
    return error;
}

static int survey_packet(struct pt_log_reader *r, const struct pt_packet_head *packet,
                         uint64_t offset)
{
    struct pt_scanned *s = &r->scanned;
    int rc;

    note_new(r, packet, offset);
    if (packet->type == PT_PACKET_DATA) {
        s->begin = s->begin ? s->begin : offset;
        return survey_data(r, (const void *)packet);
    }
    rc = pt_reader_learn(r, packet);
    if (rc == 0 && packet->type == PT_PACKET_ROUND) {
        rc = survey_round(r, (const void *)packet, s->begin, offset, s->goes_on);
        s->goes_on = (packet->flags & PT_ROUND_CONTINUES) != 0;
        s->begin = 0;
        s->before_newest = r->events;
    }
    return rc;
}

int pt_reader_survey(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    struct pt_walk walk;
    uint64_t offset;
    int rc = 0;

    r->data_end = r->size;
    if (r->ring_bytes)
        rc = find_newest(r);
    if (rc < 0)
        return rc;
    begin_scan(r, &walk);
    while ((rc = pt_walk_next(&walk, &packet, &offset)) == 1) {
        note_met(&r->scanned, packet, offset, &walk);
        rc = survey_packet(r, packet, offset);
        if (rc)
            break;
    }
    if (rc == 0)
        rc = end_scan(r);
    else
        r->scanned.good = false;
    r->skipped = walk.skipped;
    pt_reader_count_overwritten(r, r->scanned.before_newest);
    return rc;
}
