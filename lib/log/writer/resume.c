/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Continues a log that its writer did not complete: rebuilds the writer's state from the
 * packets, oldest first, as if it had just written them.
 *
 * The only changes of the file here are that a log that grows is cut after its last whole
 * packet, and that the header is written of one whose ring ends beyond its file, or whose earlier
 * version of the writer did not know a form of packets that this one may add.  So a resume that
 * fails leaves the log readable.
 */
#include <fcntl.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "log/reader/state.h"
#include "log/writer/resume.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"

static int redo_data(struct pt_log_writer *w, const struct pt_packet_head *head,
                     struct pt_unpacker *unpacker)
{
    struct pt_log_packet packet, piece;
    struct pt_cutter cutter;
    int rc;

    /* The packet is set after every error: one that cannot be unpacked has 0 bytes, and no
     * record. */
    if (pt_packet_unpack_data(&packet, (const void *)head, unpacker) == -ENOMEM)
        return -ENOMEM;
    pt_cut_begin(&cutter, &packet);
    rc = pt_cut_next(&cutter, UINT32_MAX, &piece, &w->types);
    if (rc == 1)
        pt_log_writer_account(w, &piece, head->bytes);
    if (head->flags & PT_DATA_FULL_STOP)
        w->full = true;
    return rc == -ENOMEM ? rc : 0;
}

static int redo_round(struct pt_log_writer *w, const struct pt_packet_head *head)
{
    int error = pt_log_writer_loops(w) ? pt_ring_reserve_part(w) : 0;

    if (error)
        return error;
    if (!w->part_open)
        w->part_start = w->ring.head - head->bytes;
    w->round = head->round;
    w->last_round_lsn = head->lsn;
    pt_log_writer_close_part(w, (head->flags & PT_ROUND_CONTINUES) != 0);
    return 0;
}

static int redo(struct pt_log_writer *w, const struct pt_packet_head *head,
                struct pt_unpacker *unpacker)
{
    w->lsn = head->lsn > w->lsn ? head->lsn : w->lsn;
    if (head->type == PT_PACKET_DATA)
        return redo_data(w, head, unpacker);
    if (head->type == PT_PACKET_ROUND)
        return redo_round(w, head);
    return 0;
}

/* Converts a file offset in the ring to a position at or after the head. */
static uint64_t position_of(const struct pt_log_writer *w, uint64_t offset)
{
    uint64_t at = offset - PT_LOG_DATA_START, bytes = w->ring.bytes;

    if (!bytes)
        return at;
    return w->ring.head + (at + bytes - w->ring.head % bytes) % bytes;
}

static int redo_all(struct pt_log_writer *w, const struct pt_log_reader *r, struct pt_input *source)
{
    struct pt_unpacker unpacker = { .buffer = NULL };
    const struct pt_packet_head *head;
    struct pt_walk walk;
    uint64_t offset;
    int rc;

    pt_reader_walk(r, &walk, source, r->first_offset);
    /* The first packet's position is its offset, one turn of the ring later. */
    w->ring.head = r->first_offset - PT_LOG_DATA_START + w->ring.bytes;
    while ((rc = pt_walk_next(&walk, &head, &offset)) == 1) {
        w->ring.head = position_of(w, offset) + head->bytes;
        rc = redo(w, head, &unpacker);
        if (rc)
            break;
    }
    pt_unpacker_deinit(&unpacker);
    return rc;
}

/* Finds the end of the names and sync points after a ring: the end of the last whole packet
 * there, in w->ring.meta. */
static int find_meta_end(struct pt_log_writer *w, const struct pt_log_reader *r,
                         struct pt_input *source)
{
    const struct pt_packet_head *head;
    struct pt_walk walk;
    uint64_t offset;
    int rc;

    w->ring.meta = PT_LOG_DATA_START + w->ring.bytes;
    pt_walk_init(&walk, source, r->seed, w->ring.meta, r->size);
    while ((rc = pt_walk_next(&walk, &head, &offset)) == 1) {
        w->ring.meta = offset + head->bytes;
        w->lsn = head->lsn > w->lsn ? head->lsn : w->lsn;
    }
    return rc;
}

static int take_texts(struct pt_log_writer *w, const struct pt_log_reader *r)
{
    int error = pt_string_table_copy(&w->texts, &r->texts);

    /* Sync points that only the tail has are not noted: they must still be written. */
    for (size_t i = 0; i < pt_log_reader_sync_count(r) && !error; i++)
        error = pt_log_writer_note_sync(w, &r->syncs[i]);
    return error;
}

/* Takes the status of the log, until the caller gives another one. */
static void take_state(struct pt_log_writer *w, const struct pt_log_reader *r)
{
    const struct pt_log_state *s = &r->state;
    struct pt_log_status *status = &w->status;

    status->watermark = s->watermark;
    status->status_running = s->running;
    status->stream_full = s->stream_full;
    status->stream_overrun = s->stream_overrun;
    status->flush_error = s->flush_error;
    status->late = s->late;
    status->peak_bytes = s->peak_bytes;
    status->reserved_bytes = s->reserved_bytes;
    status->advised_size = s->advised_size;
    status->refused = s->refused;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++) {
        /* The sum has numbers that no list has: in an emergency status, the control writers'. */
        if (pt_cause_is_of_log(c)) {
            w->totals.lost[c] = s->lost[c];
            w->totals.folded_lost[c] = s->unknown_lost[c];
        } else {
            status->lost_unknown_author[c] = s->unknown_lost[c];
        }
    }
    status->recorded_unknown_author = s->unknown_recorded;
    status->lost_switches = r->lost_switches;
    w->buried = s->buried;
    w->reported = s->reported;
    w->overran = s->log_overrun != 0;
    if (!w->ring.bytes && r->first_offset != PT_LOG_DATA_START)
        w->clear_offset = r->first_offset;
    /* Its writer had no room on the disk for the STOP, or that was cut off, or none was
     * needed, which pt_log_writer_stop() finds again. */
    w->stop_due = !w->full && s->log_full && w->params.attr.log_policy == POSIX_TRACE_UNTIL_FULL;
    w->full = w->full || w->stop_due;
}

/* Takes the reader's totals, which are those of the log: the reader has read all lists and
 * the emergency status, and has counted the events that are in none of them. */
static int take_totals(struct pt_log_writer *w, const struct pt_log_reader *r)
{
    int error = 0;

    for (size_t i = 0; i < r->totals.count && !error; i++) {
        const struct pt_total *e = &r->totals.entries[i];
        struct pt_log_author_totals totals = { .author = e->author, .recorded = e->recorded };

        memcpy(totals.lost, e->lost, sizeof totals.lost);
        error = pt_author_stats_set(&w->totals, &totals);
        for (unsigned c = 0; c < PT_LOSS_CAUSES && !error; c++)
            pt_author_stats_lose(&w->totals, e->author.wid, c, e->log_lost[c]);
    }
    return error;
}

static int rebuild(struct pt_log_writer *w, struct pt_log_reader *r)
{
    struct pt_input source;
    int error;

    pt_input_init(&source, &r->file, true);
    error = redo_all(w, r, &source);
    if (!error && w->ring.bytes)
        error = find_meta_end(w, r, &source);
    pt_input_deinit(&source);
    if (!error)
        error = take_totals(w, r);
    if (!error)
        error = take_texts(w, r);
    if (error)
        return error;
    take_state(w, r);
    /* The dead writer has numbered packets that it could not write.  The accounts and the
     * emergency status name these numbers, so no packet of ours may have one of them. */
    if (w->lsn < r->emergency_lsn)
        w->lsn = r->emergency_lsn;
    if (w->lsn < r->booked_lsn)
        w->lsn = r->booked_lsn;
    w->flushed_round = w->round;
    for (size_t i = 0; i < w->totals.count; i++)
        w->totals.entries[i].dirty = true;
    pt_output_discard(&w->out, pt_ring_offset(w, w->ring.head));
    if (w->ring.bytes != r->ring_bytes || pt_log_writer_features(w) != r->features)
        error = pt_log_writer_header(w, 0, 0, 0);
    return error || w->ring.bytes ? error : pt_output_truncate(&w->out, w->out.position);
}

static int resume(struct pt_log_writer **writer, int fd, struct pt_log_reader *r,
                  const struct pt_output_gate *gate, bool rehearses)
{
    int error, flags = fcntl(fd, F_GETFL);
    struct pt_log_writer *w;

    if (flags < 0)
        return -errno;
    if ((flags & O_APPEND) || r->complete || !r->source.seekable)
        return -EINVAL;
    if ((flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->params = r->params;
    w->seed = r->seed;
    w->round = 1;
    w->ring.bytes = r->ring_bytes;
    /* The packets of a tail need the ring that its writer has chosen. */
    if (r->tail_count == 0)
        pt_ring_fit(w, r->size);
    w->resumed = true;
    w->emergency = true; /* if there is one: erased as soon as all could be written */
    pt_author_stats_init(&w->totals);
    pt_index_init(&w->index);
    error = pt_output_init(&w->out, fd, true, 0);
    if (!error && r->base.number)
        error = pt_piece_base_copy(&w->own_base, &r->base);
    w->base = w->own_base.number ? &w->own_base : NULL;
    w->out.gate = gate;
    w->out.rehearses = rehearses;
    /* The end of the file may be of a recovery that was killed, which had made it longer. */
    w->out.size = r->size;
    if (!error)
        error = rebuild(w, r);
    if (error) {
        pt_log_writer_free(w);
        return error;
    }
    *writer = w;
    return 0;
}

int pt_log_writer_resume(struct pt_log_writer **writer, int fd, struct pt_log_reader *r,
                         const struct pt_output_gate *gate)
{
    return resume(writer, fd, r, gate, false);
}

int pt_log_writer_rehearse(struct pt_log_writer **writer, int fd, struct pt_log_reader *r)
{
    return resume(writer, fd, r, NULL, true);
}

uint64_t pt_log_writer_reach(const struct pt_log_writer *w)
{
    return w->out.reach;
}

int pt_log_writer_extend(struct pt_log_writer *w, uint64_t size)
{
    return pt_output_extend(&w->out, size);
}
