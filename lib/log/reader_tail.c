/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a dead writer united with what its segment still holds.  An event
 * is known by its place, (chunk number, offset in the chunk), which is the same
 * in both: a record of the segment is new if no packet of the log covers it.
 */
#include <errno.h>
#include <stdlib.h>
#include "log/reader_state.h"

struct range {
    uint64_t chunk;
    uint32_t from, to;
};

/* What the log has of chunks that the tail has, too. */
struct ranges {
    const struct pt_log_tail *tail;
    struct range *list;
    size_t count, room;
};

static bool tail_has_chunk(const struct pt_log_tail *tail, uint64_t chunk)
{
    size_t low = 0, high = tail->packet_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tail->packets[middle].chunk_seq < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tail->packet_count && tail->packets[low].chunk_seq == chunk;
}

static int add_range(void *context, const struct pt_log_packet *p)
{
    struct ranges *ranges = context;

    if (!tail_has_chunk(ranges->tail, p->chunk_seq))
        return 0;
    if (ranges->count == ranges->room) {
        size_t room = ranges->room ? ranges->room * 2 : 64;
        struct range *list = realloc(ranges->list, room * sizeof *list);

        if (!list)
            return -ENOMEM;
        ranges->list = list;
        ranges->room = room;
    }
    ranges->list[ranges->count++] =
        (struct range){ p->chunk_seq, p->chunk_off, p->chunk_off + p->bytes };
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Is the byte of a chunk in one of the ranges (sorted, not overlapping)? */
static bool is_covered(const struct ranges *ranges, uint64_t chunk, uint32_t at)
{
    size_t low = 0, high = ranges->count;
    const struct range *r;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        r = &ranges->list[middle];
        if (r->chunk < chunk || (r->chunk == chunk && r->from <= at))
            low = middle + 1;
        else
            high = middle;
    }
    r = low ? &ranges->list[low - 1] : NULL;
    return r && r->chunk == chunk && at < r->to;
}

static int add_packet(struct pt_log_reader *r, size_t *room, const struct pt_log_packet *packet)
{
    if (r->tail_count == *room) {
        size_t n = *room ? *room * 2 : 64;
        struct pt_log_packet *tail = realloc(r->tail, n * sizeof *tail);

        if (!tail)
            return -ENOMEM;
        r->tail = tail;
        *room = n;
    }
    r->tail[r->tail_count++] = *packet;
    if (!r->events || packet->first_ts < r->first_ts)
        r->first_ts = packet->first_ts;
    if (!r->events || packet->last_ts > r->last_ts)
        r->last_ts = packet->last_ts;
    r->events += packet->events;
    return 0;
}

/* Adds the runs of events of one packet that the log does not have. */
static int add_uncovered(struct pt_log_reader *r, const struct ranges *ranges, size_t *room,
                         const struct pt_log_packet *packet)
{
    struct pt_log_packet run = { .events = 0 };
    struct pt_cutter cutter;
    struct pt_record record;
    int error = 0;

    pt_cut_begin(&cutter, packet);
    for (uint64_t n = 0; !error; n++) {
        const uint8_t *at = cutter.decoder.p;
        uint64_t base = cutter.decoder.base;
        uint32_t off = packet->chunk_off + (uint32_t)(at - (const uint8_t *)packet->records);
        bool more = pt_decode_event(&cutter.decoder, &record) == 1;

        if (run.events && (!more || is_covered(ranges, packet->chunk_seq, off))) {
            error = add_packet(r, room, &run);
            run.events = 0;
        }
        if (!more)
            break;
        if (is_covered(ranges, packet->chunk_seq, off))
            continue;
        if (!run.events) {
            run = *packet;
            run.chunk_off = off;
            run.records = at;
            run.base_ts = base;
            run.first_no = packet->first_no + n;
            run.first_ts = run.last_ts = record.ts;
            run.events = 0;
        }
        run.events++;
        run.bytes = (uint32_t)(cutter.decoder.p - (const uint8_t *)run.records);
        if (record.ts > run.last_ts)
            run.last_ts = record.ts;
    }
    return error;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The segment's numbers replace those of the last ROUND; what the log itself
 * lost only the log knows; sums never shrink. */
static int take_status(struct pt_log_reader *r, const struct pt_log_tail *tail)
{
    struct pt_log_state *s = &r->state;
    const struct pt_log_status *status = &tail->status;
    int error = 0;

    for (size_t i = 0; i < tail->author_count && !error; i++)
        error = pt_totals_set(&r->totals, &tail->authors[i]);
    if (error)
        return error;
    s->watermark = status->watermark;
    s->running = status->status_running;
    s->stream_full = status->stream_full;
    s->stream_overrun = status->stream_overrun;
    s->flush_error = status->flush_error ? status->flush_error : s->flush_error;
    s->late = status->late;
    s->peak_bytes = status->peak_bytes;
    s->reserved_bytes = status->reserved_bytes;
    s->advised_size = status->advised_size;
    s->unknown_recorded = greater(s->unknown_recorded, status->recorded_unknown_author);
    s->recorded = r->totals.recorded + s->unknown_recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        s->unknown_lost[c] = greater(s->unknown_lost[c], status->lost_unknown_author[c]);
        s->lost[c] = r->totals.lost[c] + s->unknown_lost[c];
    }
    return 0;
}

int pt_log_reader_set_tail(struct pt_log_reader *r, const struct pt_log_tail *tail)
{
    struct ranges ranges = { .tail = tail };
    size_t room = 0;
    int error = 0;

    r->logged_syncs = r->sync_count;
    for (size_t i = 0; i < tail->sync_count && !error; i++)
        error = pt_reader_add_sync(r, &tail->syncs[i]);
    if (!error)
        error = pt_log_reader_each_packet(r, add_range, &ranges);
    if (!error && ranges.count)
        qsort(ranges.list, ranges.count, sizeof *ranges.list, by_place);
    for (size_t i = 0; i < tail->packet_count && !error; i++)
        error = add_uncovered(r, &ranges, &room, &tail->packets[i]);
    free(ranges.list);
    if (!error)
        error = take_status(r, tail);
    if (!error) {
        r->tail_names = tail->names;
        r->has_tail = true;
        r->counted = false;
    }
    return error;
}

const struct pt_log_packet *pt_log_reader_tail(const struct pt_log_reader *r, size_t *count)
{
    *count = r->tail_count;
    return r->tail;
}

bool pt_log_reader_has_name(const struct pt_log_reader *r, uint32_t id)
{
    return id < PT_ID_MAX && r->names[id];
}

size_t pt_log_reader_sync_count(const struct pt_log_reader *r)
{
    return r->has_tail ? r->logged_syncs : r->sync_count;
}
