/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Completing a log, and emptying it.
 *
 * A complete log ends in its closing area: copies of all sync points and names
 * (the originals are spread over the log, or after the ring), the index, and
 * END.  Then the header is written again; that makes the log complete.  If a write
 * fails, the header's emergency status holds the numbers of END, and the file ends
 * after the last packet that is whole.
 */
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "log/writer/state.h"

#define CLOSE_TRIES 64

/* Makes the index of a LOOP log from the parts that it has at its end. */
static int index_parts(struct pt_log_writer *w)
{
    int error = 0;

    pt_index_clear(&w->index);
    w->first_ts = w->last_ts;
    for (size_t i = 0; !error && i < w->ring.count; i++) {
        const struct pt_part *part = pt_ring_part(&w->ring, i);

        if (!part->events)
            continue;
        if (part->first_ts < w->first_ts)
            w->first_ts = part->first_ts;
        error = pt_index_add(&w->index, pt_ring_offset(w, part->start), part->bytes, part->first_ts,
                             part->last_ts, part->goes_on);
    }
    return error;
}

static int put_index(struct pt_log_writer *w)
{
    size_t entries = w->index.count * sizeof *w->index.entries;
    uint32_t bytes = (uint32_t)(sizeof(struct pt_packet_index) + entries);
    struct pt_packet_index *p;
    int error;

    p = pt_output_reserve(&w->out, bytes, &error);
    if (!p)
        return error;
    memset(p, 0, sizeof *p);
    pt_assert(w->index.count <= PT_INDEX_MAX);
    p->count = (uint32_t)w->index.count;
    if (entries)
        memcpy(p + 1, w->index.entries, entries);
    pt_log_writer_seal(w, &p->head, PT_PACKET_INDEX, bytes);
    pt_output_commit(&w->out, bytes, 0, 0);
    return 0;
}

static uint32_t put_counts(const struct pt_log_writer *w, struct pt_packet_count *to)
{
    uint32_t n = 0;

    for (uint32_t id = 1; id < PT_ID_MAX; id++) {
        if (!w->counts[id] || w->uncounted)
            continue;
        if (to)
            to[n] = (struct pt_packet_count){ .id = id, .count = w->counts[id] };
        n++;
    }
    return n;
}

/* How many authors the END can list. */
static uint32_t list_size(const struct pt_log_writer *w, uint32_t rest)
{
    uint32_t room = (PT_PACKET_MAX - rest) / sizeof(struct pt_packet_author);

    return w->totals.count < room ? (uint32_t)w->totals.count : room;
}

static void *list_authors(const struct pt_log_writer *w, struct pt_packet_end *p)
{
    struct pt_packet_author *to = (void *)(p + 1);

    for (size_t i = 0; i < w->totals.count; i++)
        if (i < p->state.authors)
            pt_author_stats_put(to++, &w->totals.entries[i]);
        else
            pt_log_writer_leave_out(&w->totals.entries[i], &p->state);
    return to;
}

static int put_end(struct pt_log_writer *w, int end, uint64_t closing)
{
    uint32_t counts = put_counts(w, NULL);
    uint32_t rest = (uint32_t)(sizeof(struct pt_packet_end) + sizeof(struct pt_packet_trailer) +
                               counts * sizeof(struct pt_packet_count)) +
                    pt_log_writer_more_size(w);
    uint32_t authors = list_size(w, rest);
    uint32_t bytes = rest + authors * (uint32_t)sizeof(struct pt_packet_author);
    struct pt_packet_trailer *trailer;
    struct pt_packet_count *after;
    struct pt_packet_end *p;
    uint64_t first_ts = w->first_ts;
    int error;

    p = pt_output_reserve(&w->out, bytes, &error);
    if (!p)
        return error;
    memset(p, 0, bytes);
    pt_log_writer_state(w, &p->state);
    p->state.first_ts = w->events ? first_ts : 0;
    p->state.end = end;
    p->state.authors = authors;
    p->state.counts = counts;
    p->closing_offset = closing;
    p->index_offset = pt_output_offset(&w->out) - sizeof(struct pt_packet_index) -
                      w->index.count * sizeof *w->index.entries;
    p->last_lsn = w->last_round_lsn;
    p->head.flags = (uint16_t)((w->alone ? PT_END_ALONE : 0) | (w->outlived ? PT_END_OUTLIVED : 0) |
                               (w->continued ? PT_END_CONTINUED : 0));
    p->rounds = w->round - 1;
    after = list_authors(w, p);
    put_counts(w, after);
    pt_log_writer_put_more(w, after + counts);
    trailer = (void *)((uint8_t *)p + bytes - sizeof *trailer);
    pt_assert((uint8_t *)trailer >= (uint8_t *)after);
    trailer->offset = pt_output_offset(&w->out);
    trailer->bytes = bytes;
    trailer->magic = PT_TRAILER_MAGIC;
    pt_log_writer_seal(w, &p->head, PT_PACKET_END, bytes);
    pt_output_commit(&w->out, bytes, 0, 0);
    return 0;
}

static int put_closing(struct pt_log_writer *w, int end)
{
    uint64_t closing, end_offset, file_end;
    int error = 0;

    if (w->ring.bytes) {
        error = pt_output_seek(&w->out, w->ring.meta);
        closing = PT_LOG_DATA_START + w->ring.bytes;
    } else {
        closing = pt_output_offset(&w->out);
        error = pt_log_writer_copies(w);
    }
    if (!error && pt_log_writer_loops(w))
        error = index_parts(w);
    if (!error)
        error = put_index(w);
    end_offset = pt_output_offset(&w->out);
    if (!error)
        error = put_end(w, end, closing);
    file_end = pt_output_offset(&w->out);
    if (!error)
        error = pt_log_writer_flush(w);
    if (error || !w->params.seekable)
        return error;
    /* Making the file as long as it should be hides a cut. */
    if (pt_log_writer_is_cut(w))
        return 0;
    error = w->out.size == file_end ? 0 : pt_output_truncate(&w->out, file_end);
    return error ? error : pt_log_writer_header(w, PT_LOG_COMPLETE, end_offset, file_end);
}

/* A write failed: closes the log so that the packets on the disk can be read. */
static void close_anyway(struct pt_log_writer *w, int error, int end)
{
    uint64_t whole;

    if (pt_log_writer_is_cut(w))
        pt_log_writer_go_back(w);
    whole = w->out.whole;
    pt_log_writer_emergency(w, -error, end);
    if (!w->resumed && !w->emergency)
        pt_log_writer_catch_up(w);
    if (!w->emergency || w->resumed)
        return;
    if ((!w->ring.bytes || whole >= PT_LOG_DATA_START + w->ring.bytes) &&
        pt_output_truncate(&w->out, whole) != 0)
        return;
    /* No later round will repair it, and no reader takes a header that was written in part. */
    for (int i = 0; i < CLOSE_TRIES && !w->closed; i++)
        w->closed = pt_log_writer_header(w, PT_LOG_COMPLETE, 0, 0) == 0;
}

/* Another program may cut the file again during the last writes.  Cuts that the checks before
 * the writes find are mended, at most CLOSE_TRIES times. */
static int close_log(struct pt_log_writer *w, int end)
{
    int error = 0;

    for (int i = 0; i < CLOSE_TRIES; i++) {
        error = pt_log_writer_mend(w);
        if (!error)
            error = put_closing(w, end);
        if (!pt_log_writer_is_cut(w))
            return error;
    }
    return error ? error : -EIO;
}

int pt_log_complete(struct pt_log_writer *w, int end, const struct pt_log_status *status,
                    const struct pt_log_author_totals *authors, size_t count)
{
    int totals = pt_log_writer_set_totals(w, status, authors, count), error = totals;

    if (w->closed)
        return 0;
    pt_assert_call(count == 0 || authors);
    w->alone = end == POSIXTRACE_END_RECOVERED && !status;
    w->outlived = end == POSIXTRACE_END_SHUTDOWN && status && status->outlived;
    /* An error of it comes again where the log is closed. */
    pt_log_writer_catch_up(w);
    if (!error && w->stop_due)
        error = pt_log_writer_stop(w);
    /* Once the emergency status is gone, a log that is cut here needs its numbers.  The dead
     * writer's segment, where it is found later, may have more of the round. */
    if (!error && (w->part_open || w->part_goes_on || w->emergency || w->status.hides))
        error = pt_log_writer_round(w, w->alone ? PT_ROUND_CONTINUES : 0);
    if (!error)
        error = pt_log_writer_flush(w);
    /* If the file was cut, packets that could not be written are lost with the rest. */
    if (!error || pt_log_writer_is_cut(w))
        error = close_log(w, end);
    if (error)
        close_anyway(w, error, end);
    else
        w->closed = true;
    return pt_log_writer_tell(w, error ? error : totals);
}

int pt_log_complete_piece(struct pt_log_writer *w)
{
    w->continued = true;
    return pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0);
}

/* Everything but the identity, names and sync points is as in a new log.  That the number of a
 * round is missing shows readers which have the events from before the clear that they do not
 * get others. */
static void forget(struct pt_log_writer *w)
{
    pt_author_stats_clear(&w->totals);
    pt_index_clear(&w->index);
    pt_ring_deinit(&w->ring);
    pt_types_clear(&w->part_types);
    memset(w->counts, 0, sizeof w->counts);
    w->events = w->unnamed = w->data_bytes = w->first_ts = w->last_ts = 0;
    w->part_events = w->part_packets = w->part_bytes = w->part_first = w->part_last = 0;
    w->part_author_count = 0;
    w->part_open = w->part_goes_on = w->full = w->stop_due = w->stopped = false;
    w->overrun = w->overran = w->uncounted = false;
    /* As the next status will say. */
    w->status.stream_full = w->status.stream_overrun = w->status.flush_error = 0;
    w->status.late = 0;
    w->mark_count = 0;
    w->replace.bytes = 0;
    w->round++;
}

/* An empty round.  If it cannot be written, the next one shows the same gap. */
static int put_gap(struct pt_log_writer *w)
{
    int error = pt_log_writer_round(w, 0);

    return error ? error : pt_log_writer_flush(w);
}

/* A pipe cannot be emptied: a ROUND marks that the log begins after it. */
static int clear_pipe(struct pt_log_writer *w)
{
    uint64_t head = w->ring.head;

    forget(w);
    pt_output_uncount(&w->out, w->out.position, w->out.length);
    w->ring.head = head;
    w->totals.folded_now = true; /* the ROUND lists all authors, and there are none */
    w->clear_offset = pt_output_offset(&w->out) + sizeof(struct pt_packet_round) +
                      pt_log_writer_more_size(w);
    return put_gap(w);
}

bool pt_log_has_authors(const struct pt_log_writer *w)
{
    return w->totals.count > 0;
}

int pt_log_clear(struct pt_log_writer *w)
{
    int error;

    if (!w->params.seekable)
        return clear_pipe(w);
    error = pt_output_truncate(&w->out, PT_LOG_DATA_START);
    if (error)
        return error;
    pt_output_discard(&w->out, PT_LOG_DATA_START);
    w->out.was_cut = false;
    forget(w);
    w->header_due = w->copies_due = true;
    error = pt_log_writer_catch_up(w);
    if (!w->copies_due) {
        int gap = put_gap(w);

        error = error ? error : gap;
    }
    /* The numbers of an earlier one are from before the clear. */
    if (error)
        pt_log_writer_emergency(w, -error, 0);
    return error;
}
