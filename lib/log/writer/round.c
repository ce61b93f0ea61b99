/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Ends rounds, and handles failing writes.
 *
 * The header block of a log is 4096 bytes that are on disk since the log was
 * created.  When packets cannot be written any more (disk full), a ROUND packet with
 * the status goes there (the emergency status), because overwriting needs no space.
 * It counts events that are only in the buffer as lost, and is erased when they
 * could be written after all.
 */
#include <posixtrace/info.h>
#include <string.h>
#include "base/assert.h"
#include "base/sys.h"
#include "log/writer/state.h"

int pt_log_writer_set_totals(struct pt_log_writer *w, const struct pt_log_status *status,
                             const struct pt_log_author_totals *authors, size_t count)
{
    int error = 0;

    if (status)
        w->status = *status;
    for (size_t i = 0; i < count; i++) {
        int rc = pt_author_stats_set(&w->totals, &authors[i]);

        if (rc)
            error = rc;
    }
    return error;
}

/* The oldest part that is in the log, the one being written included. */
static void fill_oldest(const struct pt_log_writer *w, struct pt_log_state *s)
{
    s->oldest_round = 1;
    s->oldest_offset = w->clear_offset ? w->clear_offset : PT_LOG_DATA_START;
    if (!pt_log_writer_loops(w))
        return;
    if (w->ring.count) {
        const struct pt_part *oldest = pt_ring_part(&w->ring, 0);

        s->oldest_round = oldest->number;
        s->oldest_offset = pt_ring_offset(w, oldest->start);
        s->first_ts = oldest->events ? oldest->first_ts : s->first_ts;
    } else {
        s->oldest_round = w->round;
        s->oldest_offset = pt_ring_offset(w, w->part_open ? w->part_start : w->ring.head);
        s->first_ts = w->part_open ? w->part_first : s->first_ts;
    }
}

void pt_log_writer_state(struct pt_log_writer *w, struct pt_log_state *s)
{
    const struct pt_log_status *status = &w->status;

    memset(s, 0, sizeof *s);
    s->watermark = status->watermark;
    s->running = status->status_running;
    s->stream_full = status->stream_full;
    s->stream_overrun = status->stream_overrun;
    s->flush_error = status->flush_error;
    s->log_full = pt_log_writer_is_full(w) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    s->log_overrun = w->overran ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    s->late = status->late;
    s->peak_bytes = status->peak_bytes;
    s->reserved_bytes = status->reserved_bytes;
    s->advised_size = status->advised_size;
    s->refused = status->refused;
    s->events = w->events;
    s->bytes = w->data_bytes;
    s->first_ts = w->events ? w->first_ts : 0;
    s->last_ts = w->events ? w->last_ts : 0;
    s->unknown_recorded = status->recorded_unknown_author + w->totals.folded_recorded;
    s->recorded = status->recorded_unknown_author + w->totals.recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        s->unknown_lost[c] = status->lost_unknown_author[c] + w->totals.folded_lost[c];
        s->lost[c] = status->lost_unknown_author[c] + w->totals.lost[c];
    }
    s->unknown_lost[POSIXTRACE_LOST_FULL] += status->lost_switches;
    s->lost[POSIXTRACE_LOST_FULL] += status->lost_switches;
    s->buried = w->buried;
    s->reported = w->reported;
    fill_oldest(w, s);
}

/* The part is in the log, its ROUND included: the next one begins. */
void pt_log_writer_close_part(struct pt_log_writer *w, bool goes_on)
{
    pt_assert(w->part_start <= w->ring.head && w->part_open == (w->part_packets > 0));
    if (pt_log_writer_loops(w))
        pt_ring_push_part(w);
    else if (w->part_open)
        pt_index_add(&w->index, PT_LOG_DATA_START + w->part_start, w->ring.head - w->part_start,
                     w->part_first, w->part_last, false);
    w->part_open = false;
    w->part_events = w->part_packets = w->part_bytes = 0;
    w->part_first = w->part_last = 0;
    w->part_goes_on = goes_on;
    w->round++;
    pt_log_writer_mark(w);
}

uint32_t pt_log_writer_more_size(const struct pt_log_writer *w)
{
    return w->status.lost_switches ? sizeof(struct pt_packet_more) : 0;
}

void pt_log_writer_put_more(const struct pt_log_writer *w, void *to)
{
    const struct pt_packet_more more = { w->status.lost_switches };

    memcpy(to, &more, pt_log_writer_more_size(w));
}

/* How many authors a ROUND of at most limit bytes can list, of those wanted. */
static uint32_t list_size(const struct pt_log_writer *w, bool all, uint64_t limit)
{
    uint64_t fixed = sizeof(struct pt_packet_round) + pt_log_writer_more_size(w);
    uint64_t room = (limit - fixed) / sizeof(struct pt_packet_author);
    uint32_t n = 0;

    pt_assert_call(limit >= fixed);
    if (all)
        return (uint32_t)(w->totals.count < room ? w->totals.count : room);
    for (size_t i = 0; i < w->totals.count && n < room; i++)
        n += w->totals.entries[i].dirty;
    return n;
}

void pt_log_writer_leave_out(const struct pt_total *e, struct pt_log_state *state)
{
    if (e->author.wid <= 1) /* control writers are no threads */
        return;
    state->unknown_recorded += e->recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        state->unknown_lost[c] += e->lost[c] + e->log_lost[c];
}

/* Those for which a list of all has no room are in the next one. */
static void list_authors(struct pt_log_writer *w, struct pt_packet_round *p, uint32_t count,
                         bool all, bool stays)
{
    struct pt_packet_author *to = (void *)(p + 1);
    uint32_t n = 0;

    for (size_t i = 0; i < w->totals.count && (all || n < count); i++) {
        struct pt_total *e = &w->totals.entries[i];

        if (!all && !e->dirty)
            continue;
        if (n == count) {
            pt_log_writer_leave_out(e, &p->state);
            e->dirty = true;
            continue;
        }
        pt_author_stats_put(&to[n++], e);
        if (stays) {
            e->dirty = false;
            e->listed_in = w->round;
        }
    }
    pt_assert(n == count);
}

/* Of the round that ends. */
static unsigned take_hides(struct pt_log_writer *w, unsigned flags)
{
    bool hides = w->status.hides && !(flags & PT_ROUND_CONTINUES);

    w->status.hides = w->status.hides && !hides;
    return hides ? PT_ROUND_HIDES : 0;
}

int pt_log_writer_round(struct pt_log_writer *w, unsigned flags)
{
    bool loops = pt_log_writer_loops(w), all = w->totals.folded_now && !loops;
    bool replaceable = w->full && w->params.seekable && !w->part_open;
    uint32_t more = pt_log_writer_more_size(w);
    uint32_t least = sizeof(struct pt_packet_round) + 4 * sizeof(struct pt_packet_author) + more;
    uint32_t limit = loops ? pt_ring_round_limit(w) : PT_PACKET_MAX, authors, bytes;
    struct pt_packet_round *p;
    int rc = loops ? pt_ring_reserve_part(w) : 0;

    authors = list_size(w, all, limit > least ? limit : least);
    bytes = (uint32_t)(sizeof *p + authors * sizeof(struct pt_packet_author)) + more;
    if (replaceable && w->replace.bytes > bytes)
        bytes = w->replace.bytes;
    if (!rc && loops)
        rc = pt_ring_place(w, bytes, false);
    if (rc)
        return rc < 0 ? rc : -ENOSPC;
    p = pt_output_reserve(&w->out, bytes, &rc);
    if (!p)
        return rc;
    memset(p, 0, bytes);
    if (!w->part_open)
        w->part_start = w->ring.head;
    pt_log_writer_state(w, &p->state);
    p->state.authors = authors;
    p->events = w->part_events;
    p->packets = w->part_packets;
    p->bytes = w->part_bytes;
    p->first_ts = w->part_first;
    p->last_ts = w->part_last;
    list_authors(w, p, authors, all, !replaceable);
    pt_log_writer_put_more(w, (struct pt_packet_author *)(void *)(p + 1) + authors);
    w->replace.offset = replaceable ? pt_output_offset(&w->out) : 0;
    w->replace.lsn = w->lsn;
    w->replace.bytes = replaceable ? bytes : 0;
    p->head.flags = (uint16_t)(flags | (all ? PT_ROUND_ALL : 0) | take_hides(w, flags));
    pt_log_writer_seal(w, &p->head, PT_PACKET_ROUND, bytes);
    w->last_round_lsn = w->lsn;
    pt_output_commit(&w->out, bytes, 0, 0);
    w->ring.head += bytes;
    w->totals.folded_now = w->totals.folded_now && (loops || replaceable);
    pt_log_writer_close_part(w, (flags & PT_ROUND_CONTINUES) != 0);
    return 0;
}

uint64_t pt_log_writer_waiting(const struct pt_log_writer *w, uint64_t first, uint64_t last)
{
    uint64_t n = 0;

    for (size_t i = 0; i < w->out.packet_count; i++)
        if (w->out.packets[i].wid >= first && w->out.packets[i].wid <= last)
            n += w->out.packets[i].events;
    return n;
}

/* True: the author lost events or its numbers changed.  A list in a ROUND that may still be
 * in the buffer does not count. */
static bool is_loser(const struct pt_log_writer *w, const struct pt_total *e)
{
    return e->dirty || e->listed_in >= w->flushed_round || e->log_lost[POSIXTRACE_LOST_LOG_ERROR] ||
           pt_log_writer_waiting(w, e->author.wid, e->author.wid);
}

static bool losers_fit(const struct pt_log_writer *w, uint32_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < w->totals.count; i++)
        n += is_loser(w, &w->totals.entries[i]);
    return n <= room;
}

/* Lists the authors that have lost events or have changed, with their waiting events added to their
 * losses.  If they do not all fit, the sums contain those that are not listed (flag ALL).  The
 * control writers are not threads: their waiting events are only in the sum of all. */
static uint32_t list_losers(const struct pt_log_writer *w, struct pt_packet_round *p, uint32_t room)
{
    struct pt_packet_author *to = (void *)(p + 1);
    uint64_t unlisted = pt_log_writer_waiting(w, 2, UINT64_MAX);
    bool fit = losers_fit(w, room);
    uint32_t n = 0;

    p->head.flags |= fit ? 0 : PT_ROUND_ALL;
    for (size_t i = 0; i < w->totals.count; i++) {
        const struct pt_total *e = &w->totals.entries[i];
        uint64_t waits = pt_log_writer_waiting(w, e->author.wid, e->author.wid);

        if (fit && !is_loser(w, e))
            continue;
        if (n < room) {
            pt_author_stats_put(&to[n], e);
            to[n++].lost[POSIXTRACE_LOST_LOG_ERROR] += waits;
            unlisted -= e->author.wid > 1 ? waits : 0;
        } else {
            pt_log_writer_leave_out(e, &p->state);
        }
    }
    p->state.unknown_lost[POSIXTRACE_LOST_LOG_ERROR] += unlisted;
    return n;
}

void pt_log_writer_emergency(struct pt_log_writer *w, int error, int end)
{
    union {
        struct pt_packet_round round;
        uint8_t bytes[PT_LOG_STATUS_MAX];
    } block;
    struct pt_packet_round *p = &block.round;
    uint64_t waits = pt_log_writer_waiting(w, 0, UINT64_MAX);
    uint32_t more = pt_log_writer_more_size(w), bytes;
    uint32_t room = (uint32_t)((sizeof block - sizeof *p - more) / sizeof(struct pt_packet_author));

    if (!w->params.seekable || w->resumed)
        return;
    memset(&block, 0, sizeof block);
    pt_log_writer_state(w, &p->state);
    pt_assert(w->resumed || p->state.events >= waits);
    p->head.flags = PT_ROUND_EMERGENCY;
    p->state.authors = list_losers(w, p, room);
    p->state.lost[POSIXTRACE_LOST_LOG_ERROR] += waits;
    p->state.events -= waits;
    p->state.end = end;
    if (!p->state.flush_error)
        p->state.flush_error = error;
    p->head.lsn = w->lsn + 1;
    p->head.round = w->round;
    pt_log_writer_put_more(w, (struct pt_packet_author *)(void *)(p + 1) + p->state.authors);
    bytes = (uint32_t)(sizeof *p + p->state.authors * sizeof(struct pt_packet_author)) + more;
    pt_assert(p->state.authors <= room && bytes <= sizeof block);
    pt_packet_seal(&p->head, PT_PACKET_ROUND, bytes, w->seed);
    if (pt_output_write_at(&w->out, &block, bytes, PT_LOG_STATUS_OFF) == 0)
        w->emergency = true;
}

bool pt_log_is_barred(const struct pt_log_writer *w)
{
    return w->params.seekable && !pt_sys_allows_size(PT_LOG_STATUS_OFF + PT_LOG_STATUS_MAX);
}

int pt_log_writer_flush(struct pt_log_writer *w)
{
    static const struct pt_packet_head none;
    int error = pt_output_flush(&w->out);

    if (!error)
        w->flushed_round = w->round;
    if (!error && w->emergency &&
        pt_output_write_at(&w->out, &none, sizeof none, PT_LOG_STATUS_OFF) == 0)
        w->emergency = false;
    return error;
}

/* Removes the last ROUND of a full log, if nothing came after it.  The next one is written over it,
 * and a kill in between would leave neither: until the next one is complete, the emergency status
 * has the contents of the old one. */
static int take_back_round(struct pt_log_writer *w)
{
    int error;

    if (!w->replace.bytes || w->part_open ||
        w->replace.offset + w->replace.bytes != pt_output_offset(&w->out))
        return 0;
    error = pt_output_seek(&w->out, w->replace.offset);
    if (error)
        return error;
    pt_assert(w->ring.head >= w->replace.bytes && w->round > 1 && w->lsn >= w->replace.lsn);
    w->ring.head -= w->replace.bytes;
    w->lsn = w->replace.lsn;
    w->round--;
    pt_log_writer_emergency(w, 0, 0);
    return 0;
}

int pt_log_writer_tell(struct pt_log_writer *w, int error)
{
    if (!error)
        error = w->rest_error;
    w->rest_error = 0;
    return error;
}

int pt_log_end_round(struct pt_log_writer *w, const struct pt_log_status *status,
                     const struct pt_log_author_totals *authors, size_t count)
{
    int totals = pt_log_writer_set_totals(w, status, authors, count), error = totals;
    int due = pt_log_writer_catch_up(w);

    if (!error && w->copies_due)
        error = due;
    if (!error && w->stop_due)
        error = pt_log_writer_stop(w);
    if (!error)
        error = take_back_round(w);
    if (!error)
        error = pt_log_writer_round(w, 0);
    if (!error)
        error = pt_log_writer_flush(w);
    /* If the file was cut, bytes that could not be written are lost with the rest. */
    if (!error || pt_log_writer_is_cut(w))
        error = pt_log_writer_mend(w);
    if (!error)
        error = totals ? totals : due;
    error = pt_log_writer_tell(w, error);
    if (error)
        pt_log_writer_emergency(w, -error, 0);
    return error;
}
