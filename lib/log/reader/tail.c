/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Unites the log of a dead writer with the events in its segment.  The place of an event,
 * (chunk number, offset in the chunk), identifies it in both: a record of the segment is
 * new if no packet of the log covers it.
 *
 * The tail's counts are from the dead consumer's last checkpoint (consumer/checkpoint.h), which
 * names the last packet of the log that they include.  Packets after that one are unbooked.  An
 * unbooked event may be in the log, in the tail or in both.  Where the log lost events of the
 * unbooked round, the tail may still have them:
 *
 *   a ring that the unbooked round has filled entirely: the log has overwritten the
 *   packets of the round before the oldest one in the file, and counts their events as
 *   lost.  The newest packet of the log shows how much of the round was written, because
 *   recovery makes the same round again with its packets in the same order
 *
 *   an unbooked round whose end is in the log: events older than its watermark that are
 *   not in the log are lost, as its ROUND says
 *
 *   else the events of the tail are read, and sorted among those of the log
 *
 * OVERFLOW and RESUME of losses are in no chunk, and recovery makes them for the newest loss that
 * the segment knows, which may contain one that has its marks in the log.  So what counts is
 * whether the log, or the tail's books, have a RESUME for a loss with the same end or a later one,
 * and whether the last mark is an OVERFLOW (put_marks).  They are put as a pair: no event of the
 * tail is from before the end of the loss, so RESUME is between the two sides of each part of it
 * that has no marks yet.
 *
 * While they are read, another process may recover the log: it adds the same events to the file,
 * and in a ring overwrites older ones.  The packets that it adds have higher numbers than those
 * that the log had here (known_lsn), and are passed over.  So no event is read twice; for events
 * that were overwritten before they were read, the reader marks a gap.
 */
#include <errno.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include "base/array.h"
#include "log/reader/tail.h"

static int by_wid(const void *a, const void *b)
{
    uint64_t x = ((const struct pt_author_share *)a)->author->author.wid;
    uint64_t y = ((const struct pt_author_share *)b)->author->author.wid;

    return x < y ? -1 : x > y;
}

static int list_shares(struct pt_union *u)
{
    size_t n = u->tail->author_count;

    u->shares = calloc(n + 1, sizeof *u->shares);
    if (!u->shares)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        u->shares[i].author = &u->tail->authors[i];
    qsort(u->shares, n, sizeof *u->shares, by_wid);
    return 0;
}

struct pt_author_share *pt_union_share(const struct pt_union *u, uint64_t wid)
{
    struct pt_log_author_totals author = { .author.wid = wid };
    struct pt_author_share key = { .author = &author }, *found;

    found = bsearch(&key, u->shares, u->tail->author_count, sizeof key, by_wid);
    return found ? found : &u->shares[u->tail->author_count];
}

/* NULL for control writers and the consumer, which have no numbers. */
static struct pt_author_share *numbered(struct pt_union *u, uint64_t wid)
{
    struct pt_author_share *share = pt_union_share(u, wid);

    return share->author || wid > 1 ? share : NULL;
}

static void add_present(struct pt_union *u, uint64_t wid, uint64_t n)
{
    struct pt_author_share *share = numbered(u, wid);

    if (share)
        share->present += n;
}

/* The tail has an event that the log has, too.  The numbers of a named author count it
 * only once. */
static void note_twice(struct pt_union *u, uint64_t wid, const struct pt_range *range)
{
    if (range->unbooked || !pt_union_share(u, wid)->author)
        add_present(u, wid, (uint64_t)-1);
}

/* The type if it is a mark of a loss; else 0.  Earlier versions gave those of LOOP streams no place
 * of their own; the other marks of FLUSH streams are of automatic stops. */
static uint32_t mark_of(const struct pt_log_reader *r, const struct pt_log_packet *p)
{
    uint32_t id = p->chunk_off / PT_LOG_MADE_STEP, kind = p->chunk_off % PT_LOG_MADE_STEP;
    bool loops = r->params.attr.stream_policy == POSIX_TRACE_LOOP;

    if (!(p->chunk_seq & PT_LOG_MADE) || (id != POSIX_TRACE_OVERFLOW && id != POSIX_TRACE_RESUME))
        return 0;
    return kind == PT_LOG_MADE_LOSS || (kind == 0 && loops) ? id : 0;
}

static void note_mark(struct pt_union *u, uint32_t mark, const struct pt_log_packet *p)
{
    uint64_t end = p->chunk_seq & ~PT_LOG_MADE;

    u->mark = mark;
    if (mark == POSIX_TRACE_RESUME && end > u->resumed)
        u->resumed = end;
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

static void count_range(struct pt_union *u, const struct pt_log_packet *p, bool unbooked)
{
    struct pt_author_share *share = numbered(u, p->author.wid);

    if ((p->chunk_seq & PT_LOG_MADE) && p->last_ts > u->made_ts)
        u->made_ts = p->last_ts;
    if (unbooked)
        add_present(u, p->author.wid, p->events);
    else if (share)
        share->booked += p->events;
}

static int add_range(void *context, const struct pt_log_packet *p)
{
    struct pt_union *u = context;
    bool unbooked = p->lsn > u->tail->booked.lsn;
    uint32_t mark = mark_of(u->reader, p);
    int error;

    if (mark)
        note_mark(u, mark, p);
    u->booked += unbooked ? 0 : p->events;
    /* Those that the consumer made for threads are in no chunk, and no account counts them. */
    if (p->author.level != PT_LEVEL_MADE)
        count_range(u, p, unbooked);
    if (!tail_has_chunk(u->tail, p->chunk_seq))
        return 0;
    error = pt_array_grow(&u->ranges, &u->room, u->count, sizeof *u->ranges);
    if (error)
        return error;
    u->ranges[u->count++] = (struct pt_range){ p->chunk_seq, p->chunk_off, p->chunk_off + p->bytes,
                                               unbooked };
    if (unbooked && !(p->chunk_seq & PT_LOG_MADE)) {
        u->chunk = p->chunk_seq;
        u->offset = p->chunk_off + p->bytes;
    }
    return 0;
}

/* Finds whether the log lost events of the unbooked round, and which ones it was given. */
static void find_given(struct pt_union *u, const struct pt_log_reader *r)
{
    const struct pt_log_books *booked = &u->tail->booked;
    bool whole = r->whole.lsn > booked->lsn;
    bool filled = r->ring_bytes && r->first_lsn > booked->lsn;

    if (!filled && !(whole && r->whole.lost > booked->full + booked->error))
        return;
    if (whole)
        u->given_ts = r->whole.watermark;
    for (size_t i = 0; !whole && u->offset && i < u->tail->packet_count; i++) {
        const struct pt_log_packet *p = &u->tail->packets[i];

        if (p->chunk_seq == u->chunk && p->chunk_off < u->offset)
            u->given = p->lsn;
    }
}

/* True: the unbooked round gave this event to the log. */
static bool was_given(const struct pt_union *u, const struct pt_log_packet *packet, uint32_t off,
                      uint64_t ts)
{
    if (packet->chunk_seq & PT_LOG_MADE)
        return false;
    return ts < u->given_ts || packet->lsn < u->given ||
           (u->given && packet->lsn == u->given && off < u->offset);
}

/* The log has lost an event that the tail has: in the books, or in the round after them. */
static bool was_lost(struct pt_union *u, const struct pt_log_packet *packet, uint32_t off,
                     uint64_t number, uint64_t ts)
{
    struct pt_author_share *share = numbered(u, packet->author.wid);

    if (share && share->author && number < share->author->logged_to)
        return true;
    if (!was_given(u, packet, off, ts))
        return false;
    if (share)
        share->dropped++;
    u->dropped++;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct pt_range *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The range (they are sorted and do not overlap) with the byte of a chunk, or NULL. */
static const struct pt_range *covering(const struct pt_union *u, uint64_t chunk, uint32_t at)
{
    size_t low = 0, high = u->count;
    const struct pt_range *r;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        r = &u->ranges[middle];
        if (r->chunk < chunk || (r->chunk == chunk && r->from <= at))
            low = middle + 1;
        else
            high = middle;
    }
    r = low ? &u->ranges[low - 1] : NULL;
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

/* An event that the consumer made may be older than the complete rounds of the log, or
 * than the last made event in it: then it takes that time. */
static struct pt_log_packet in_time(const struct pt_log_packet *packet, const struct pt_union *u)
{
    uint64_t floor = u->made_ts > u->floor ? u->made_ts : u->floor;
    struct pt_log_packet p = *packet;

    if ((p.chunk_seq & PT_LOG_MADE) && p.first_ts < floor)
        p.base_ts = p.first_ts = p.last_ts = floor;
    return p;
}

/* The consumer makes an event again unless the log shows that it has made it. */
static bool is_in_earlier_piece(const struct pt_log_reader *r, const struct pt_log_packet *packet)
{
    return (packet->chunk_seq & PT_LOG_MADE) && r->base.number &&
           packet->last_ts <= r->base.made_ts;
}

/* Adds the runs of events of one packet that the log does not have. */
static int add_uncovered(struct pt_log_reader *r, struct pt_union *u, size_t *room,
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
        const struct pt_range *range = covering(u, packet->chunk_seq, off);

        bool gone = range || (more && was_lost(u, packet, off, packet->first_no + n, record.ts));

        if (run.events && (!more || gone)) {
            error = add_packet(r, room, &run);
            run.events = 0;
        }
        if (!more)
            break;
        if (range && packet->author.level != PT_LEVEL_MADE)
            note_twice(u, packet->author.wid, range);
        if (gone)
            continue;
        u->late += record.ts < u->floor && !(packet->chunk_seq & PT_LOG_MADE);
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

/* The tail's first mark of a loss with that number or a later one; NULL: there is none. */
static const struct pt_log_packet *mark_from(const struct pt_union *u, uint64_t no)
{
    const struct pt_log_packet *found = NULL;

    for (size_t i = 0; i < u->tail->packet_count; i++) {
        const struct pt_log_packet *p = &u->tail->packets[i];

        if (mark_of(u->reader, p) && p->first_no >= no && (!found || p->first_no < found->first_no))
            found = p;
    }
    return found;
}

/* Adds the marks of losses that log and books lack. */
static int put_marks(struct pt_log_reader *r, struct pt_union *u, size_t *room)
{
    const struct pt_log_packet *p;
    int error = 0;

    for (uint64_t no = 0; !error && (p = mark_from(u, no)) != NULL; no = p->first_no + 1) {
        uint32_t mark = mark_of(r, p);
        bool is_open = u->mark == POSIX_TRACE_OVERFLOW;
        bool is_new = (p->chunk_seq & ~PT_LOG_MADE) > u->resumed;
        struct pt_log_packet packet = in_time(p, u);

        if (mark == POSIX_TRACE_OVERFLOW ? is_open || !is_new : !is_open && !is_new)
            continue;
        note_mark(u, mark, p);
        error = add_packet(r, room, &packet);
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

/* What the log lacks. */
static int add_packets(struct pt_log_reader *r, struct pt_union *u)
{
    size_t room = 0;
    int error = 0;

    for (size_t i = 0; i < u->tail->packet_count && !error; i++) {
        struct pt_log_packet packet = in_time(&u->tail->packets[i], u);

        if (!is_in_earlier_piece(r, &u->tail->packets[i]) && !mark_of(r, &packet))
            error = add_uncovered(r, u, &room, &packet);
    }
    if (!error)
        error = put_marks(r, u, &room);
    if (r->tail_count)
        qsort(r->tail, r->tail_count, sizeof *r->tail, by_time);
    return error;
}

int pt_log_reader_set_tail(struct pt_log_reader *r, struct pt_log_tail *tail)
{
    uint64_t before = r->whole.lsn > tail->booked.lsn ? r->whole.watermark : tail->watermark;
    struct pt_union u = { .reader = r,
                          .tail = tail,
                          .mark = tail->overflowing ? POSIX_TRACE_OVERFLOW : 0,
                          .resumed = tail->lost_told,
                          .floor = before < r->last_ts ? before : r->last_ts };
    int error;

    pt_piece_subtract_tail(&r->base, &tail->status, tail->authors, tail->author_count);
    error = list_shares(&u);

    r->scanned.good = false; /* the totals will be those of both */
    if (!r->has_end)
        r->known_lsn = r->walk.most_lsn = r->scanned.last.lsn;
    r->ends_whole = r->whole.part == r->last_part;
    r->logged_syncs = r->sync_count;
    for (size_t i = 0; i < tail->sync_count && !error; i++)
        error = pt_reader_add_sync(r, &tail->syncs[i]);
    if (!error)
        error = pt_log_reader_each_packet(r, add_range, &u);
    if (!error && u.count)
        qsort(u.ranges, u.count, sizeof *u.ranges, by_place);
    find_given(&u, r);
    if (!error)
        error = add_packets(r, &u);
    tail->status.late += u.late;
    if (!error)
        error = pt_union_balance(r, &u);
    free(u.ranges);
    free(u.shares);
    if (!error) {
        r->tail_texts = tail;
        r->booked_lsn = tail->booked.lsn;
        r->has_tail = true;
        r->tail_hides = tail->status.hides;
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
    return pt_string_table_get(&r->texts, kind, id) != NULL;
}

size_t pt_log_reader_sync_count(const struct pt_log_reader *r)
{
    return r->has_tail ? r->logged_syncs : r->sync_count;
}
