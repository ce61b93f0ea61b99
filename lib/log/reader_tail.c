/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a dead writer united with what its segment still holds.  An event
 * is known by its place, (chunk number, offset in the chunk), which is the same
 * in both: a record of the segment is new if no packet of the log covers it.
 *
 * The tail's numbers are as of the dead consumer's last round (stream/books.h).
 * They count as overwritten what is in the log behind that round's last packet,
 * unless the tail has it, too; and of writers that they do not name, what they
 * take as given and the tail gives again would be missing in what was overwritten.
 * Both are counted here, by author (struct share), and set right.
 */
#include <errno.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include "base/grow.h"
#include "log/reader_state.h"

struct range {
    uint64_t chunk;
    uint32_t from, to;
    bool unbooked;         /* behind the last packet of the tail's numbers */
};

/* Of an author that the tail names: events that it has as overwritten and that
 * are there, less those that it has as given twice; modulo 2^64. */
struct share {
    struct pt_log_author_totals *author;
    uint64_t present;
};

/* What the log has of chunks that the tail has, too. */
struct ranges {
    struct pt_log_tail *tail;
    struct range *list;
    size_t count, room;
    struct share *shares;  /* by wid */
    uint64_t unnamed;      /* the same of all others */
    uint64_t made_ts;      /* of the consumer's own last event in the log */
    uint64_t floor;        /* all that is older is in whole rounds of the log */
    uint64_t late;         /* but for events of writers that stood still */
};

static int by_wid(const void *a, const void *b)
{
    uint64_t x = ((const struct share *)a)->author->author.wid;
    uint64_t y = ((const struct share *)b)->author->author.wid;

    return x < y ? -1 : x > y;
}

static int list_shares(struct ranges *ranges)
{
    size_t n = ranges->tail->author_count;

    ranges->shares = calloc(n + 1, sizeof *ranges->shares);
    if (!ranges->shares)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ranges->shares[i].author = &ranges->tail->authors[i];
    qsort(ranges->shares, n, sizeof *ranges->shares, by_wid);
    return 0;
}

static struct share *share_of(const struct ranges *ranges, uint64_t wid)
{
    struct pt_log_author_totals author = { .author.wid = wid };
    struct share key = { .author = &author };

    return bsearch(&key, ranges->shares, ranges->tail->author_count, sizeof key, by_wid);
}

/* Control writers and the consumer have no numbers. */
static void add_present(struct ranges *ranges, uint64_t wid, uint64_t n)
{
    struct share *share = share_of(ranges, wid);

    if (share)
        share->present += n;
    else if (wid > 1)
        ranges->unnamed += n;
}

/* The tail has an event that the log has.  A named author's numbers do not take it
 * again where they have it already. */
static void note_twice(struct ranges *ranges, uint64_t wid, const struct range *range)
{
    if (range->unbooked || !share_of(ranges, wid))
        add_present(ranges, wid, (uint64_t)-1);
}

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
    bool unbooked = p->lsn > ranges->tail->lsn;
    int error;

    /* In no chunk, and in nobody's numbers. */
    if (p->author.level == PT_LEVEL_MADE)
        return 0;
    if ((p->chunk_seq & PT_LOG_MADE) && p->last_ts > ranges->made_ts)
        ranges->made_ts = p->last_ts;
    if (unbooked)
        add_present(ranges, p->author.wid, p->events);
    if (!tail_has_chunk(ranges->tail, p->chunk_seq))
        return 0;
    error = pt_grow(&ranges->list, &ranges->room, ranges->count, sizeof *ranges->list);
    if (error)
        return error;
    ranges->list[ranges->count++] =
        (struct range){ p->chunk_seq, p->chunk_off, p->chunk_off + p->bytes, unbooked };
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The range (they are sorted and do not overlap) with the byte of a chunk, or NULL. */
static const struct range *covering(const struct ranges *ranges, uint64_t chunk, uint32_t at)
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
    return r && r->chunk == chunk && at < r->to ? r : NULL;
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

/* What the consumer makes may speak of a time that the log has left behind: in whole
 * rounds, or with what it made itself in its last one. */
static struct pt_log_packet in_time(const struct pt_log_packet *packet,
                                    const struct ranges *ranges)
{
    uint64_t floor = ranges->made_ts > ranges->floor ? ranges->made_ts : ranges->floor;
    struct pt_log_packet p = *packet;

    if ((p.chunk_seq & PT_LOG_MADE) && p.first_ts < floor)
        p.base_ts = p.first_ts = p.last_ts = floor;
    return p;
}

/* Adds the runs of events of one packet that the log does not have. */
static int add_uncovered(struct pt_log_reader *r, struct ranges *ranges, size_t *room,
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
        const struct range *range = covering(ranges, packet->chunk_seq, off);

        if (run.events && (!more || range)) {
            error = add_packet(r, room, &run);
            run.events = 0;
        }
        if (!more)
            break;
        if (range) {
            note_twice(ranges, packet->author.wid, range);
            continue;
        }
        ranges->late += record.ts < ranges->floor && !(packet->chunk_seq & PT_LOG_MADE);
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

/* An author's packets must follow each other; a chunk that it adopted may be older
 * than one that it left. */
static int by_time(const void *a, const void *b)
{
    const struct pt_log_packet *x = a, *y = b;

    if (x->first_ts != y->first_ts)
        return x->first_ts < y->first_ts ? -1 : 1;
    if (x->author.wid != y->author.wid)
        return x->author.wid < y->author.wid ? -1 : 1;
    return x->first_no < y->first_no ? -1 : x->first_no > y->first_no;
}

/* As the tail counts them less those that are there; never below 0. */
static void set_right(uint64_t *overwritten, uint64_t present)
{
    int64_t n = (int64_t)(*overwritten - present);

    *overwritten = n > 0 ? (uint64_t)n : 0;
}

static uint64_t rest_of(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

/* The segment's numbers replace those of the last ROUND.  Its sums are of all that
 * it does not name, the log has entries for some of those: the rest stays without a
 * name.  What the log itself lost only the log knows. */
static int take_numbers(struct pt_log_reader *r, const struct ranges *ranges)
{
    struct pt_log_tail *tail = ranges->tail;
    struct pt_log_status *status = &tail->status;
    struct pt_log_state *s = &r->state;
    struct pt_log_author_totals named = { .recorded = 0 };

    set_right(&status->lost_unknown_author[POSIXTRACE_LOST_OVERWRITTEN], ranges->unnamed);
    for (size_t i = 0; i < tail->author_count; i++) {
        struct pt_log_author_totals *a = ranges->shares[i].author;

        set_right(&a->lost[POSIXTRACE_LOST_OVERWRITTEN], ranges->shares[i].present);
        if (pt_totals_set(&r->totals, a) < 0)
            return -ENOMEM;
        named.recorded += a->recorded;
        for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
            named.lost[c] += a->lost[c];
    }
    s->unknown_recorded = rest_of(status->recorded_unknown_author,
                                  r->totals.recorded - named.recorded);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        if (!pt_cause_is_of_log(c))
            s->unknown_lost[c] = rest_of(status->lost_unknown_author[c],
                                         r->totals.lost[c] - named.lost[c]);
    s->recorded = r->totals.recorded + s->unknown_recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        s->lost[c] = r->totals.lost[c] + s->unknown_lost[c];
    return 0;
}

/* What a writer that goes on with the log says, it says of what it does not list. */
static void take_status(struct pt_log_reader *r, struct pt_log_status *status)
{
    struct pt_log_state *s = &r->state;

    s->watermark = status->watermark;
    s->running = status->status_running;
    s->stream_full = status->stream_full;
    s->stream_overrun = status->stream_overrun;
    s->flush_error = status->flush_error ? status->flush_error : s->flush_error;
    s->late = status->late += s->late;
    s->peak_bytes = status->peak_bytes;
    s->reserved_bytes = status->reserved_bytes;
    s->advised_size = status->advised_size;
    status->recorded_unknown_author = s->unknown_recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        status->lost_unknown_author[c] = pt_cause_is_of_log(c) ? 0 : s->unknown_lost[c];
}

int pt_log_reader_set_tail(struct pt_log_reader *r, struct pt_log_tail *tail)
{
    struct ranges ranges = {
        .tail = tail,
        .floor = r->state.watermark < r->last_ts ? r->state.watermark : r->last_ts,
    };
    size_t room = 0;
    int error = list_shares(&ranges);

    r->logged_syncs = r->sync_count;
    for (size_t i = 0; i < tail->sync_count && !error; i++)
        error = pt_reader_add_sync(r, &tail->syncs[i]);
    if (!error)
        error = pt_log_reader_each_packet(r, add_range, &ranges);
    if (!error && ranges.count)
        qsort(ranges.list, ranges.count, sizeof *ranges.list, by_place);
    for (size_t i = 0; i < tail->packet_count && !error; i++) {
        struct pt_log_packet packet = in_time(&tail->packets[i], &ranges);

        error = add_uncovered(r, &ranges, &room, &packet);
    }
    if (r->tail_count)
        qsort(r->tail, r->tail_count, sizeof *r->tail, by_time);
    if (!error)
        error = take_numbers(r, &ranges);
    tail->status.late += ranges.late;
    free(ranges.list);
    free(ranges.shares);
    if (!error) {
        take_status(r, &tail->status);
        r->tail_texts = tail;
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

bool pt_log_reader_has_text(const struct pt_log_reader *r, enum pt_text kind, uint32_t id)
{
    return pt_texts_get(&r->texts, kind, id) != NULL;
}

size_t pt_log_reader_sync_count(const struct pt_log_reader *r)
{
    return r->has_tail ? r->logged_syncs : r->sync_count;
}
