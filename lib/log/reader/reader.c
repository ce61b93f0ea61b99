/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Opens a log.  A complete log has at its end all that a reader needs: names, sync
 * points, totals, index.  An incomplete one is surveyed: a walk over all its packets,
 * oldest first, collects the same.  From a pipe the reader learns them as it reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/open_above.h"
#include "base/sys.h"
#include "log/byteorder.h"
#include "log/reader/state.h"

/* Reads the packet of a type at an offset.  1: *packet stored; 0: none there. */
static int packet_at(struct pt_log_reader *r, uint64_t offset, unsigned type,
                     const struct pt_packet_head **packet)
{
    const struct pt_packet_head *p;
    int error;

    if (offset % PT_PACKET_ALIGN || offset >= r->size)
        return 0;
    p = pt_input_fetch(&r->source, offset, sizeof *p, &error);
    if (!p || pt_le16(p->type) != type || !pt_packet_is_plausible(p, r->size - offset))
        return error;
    p = pt_input_fetch(&r->source, offset, pt_le32(p->bytes), &error);
    if (!p || !pt_packet_is_whole(p, r->seed))
        return error;
    *packet = pt_byteorder_read(&r->source.order, p);
    return *packet ? 1 : -ENOMEM;
}

/* The offset of END: from the header, or from the last bytes of the file. */
static uint64_t find_end(struct pt_log_reader *r)
{
    struct pt_packet_trailer trailer;

    if (r->end_offset)
        return r->end_offset;
    if (r->size < PT_LOG_DATA_START + sizeof trailer ||
        pt_input_read(&r->source, &trailer, sizeof trailer, r->size - sizeof trailer) != 0 ||
        pt_le32(trailer.magic) != PT_TRAILER_MAGIC || pt_le32(trailer.bytes) > r->size ||
        pt_le64(trailer.offset) != r->size - pt_le32(trailer.bytes))
        return 0;
    return pt_le64(trailer.offset);
}

static int learn_index(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    const struct pt_packet_index *p;
    const struct pt_index_entry *e;
    int rc = packet_at(r, r->index_offset, PT_PACKET_INDEX, &packet);

    if (rc <= 0)
        return rc;
    p = (const void *)packet;
    e = (const void *)(p + 1);
    for (uint32_t i = 0; i < p->count && i < PT_INDEX_MAX - 1; i++, e++) {
        if (e->offset % PT_PACKET_ALIGN || e->offset < PT_LOG_DATA_START)
            continue;
        rc = pt_index_append(&r->index, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Reads END and the closing area.  1: done; 0: the log has no (valid) END. */
static int open_complete(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    const struct pt_packet_end *end;
    int rc;

    r->end_offset = find_end(r);
    if (!r->end_offset)
        return 0;
    rc = packet_at(r, r->end_offset, PT_PACKET_END, &packet);
    if (rc <= 0)
        return rc;
    end = (const void *)packet;
    if (end->closing_offset < PT_LOG_DATA_START || end->closing_offset % PT_PACKET_ALIGN ||
        end->closing_offset > r->end_offset || end->state.oldest_offset < PT_LOG_DATA_START ||
        end->state.oldest_offset % PT_PACKET_ALIGN)
        return 0;
    pt_reader_forget_scan(r);
    r->closing_offset = r->data_end = end->closing_offset;
    r->index_offset = end->index_offset;
    r->first_offset = end->state.oldest_offset;
    r->newest_lsn = end->last_lsn;
    rc = pt_reader_learn_end(r, end);
    if (rc)
        return rc;
    rc = pt_reader_learn_all(r, r->closing_offset, r->end_offset);
    if (rc == 0)
        rc = learn_index(r);
    return rc < 0 ? rc : 1;
}

/* The status in the header block.  1: *packet stored; 0: there is none. */
static int emergency(struct pt_log_reader *r, const struct pt_packet_head **packet)
{
    uint32_t magic = 0;
    int rc;

    if (r->source.seekable &&
        pt_input_read(&r->source, &magic, sizeof magic, PT_LOG_STATUS_OFF) == 0 &&
        pt_le32(magic) != PT_PACKET_MAGIC)
        return 0;
    rc = packet_at(r, PT_LOG_STATUS_OFF, PT_PACKET_ROUND, packet);
    return rc == 1 ? ((*packet)->flags & PT_ROUND_EMERGENCY) != 0 : rc;
}

/* n events that the emergency status counts as not written were written later. */
static void take_back_errors(struct pt_log_reader *r, uint64_t n)
{
    const unsigned c = POSIXTRACE_LOST_LOG_ERROR;
    uint64_t part = n < r->state.unknown_lost[c] ? n : r->state.unknown_lost[c];

    r->state.lost[c] -= n < r->state.lost[c] ? n : r->state.lost[c];
    r->state.unknown_lost[c] -= part;
    n -= part;
    for (size_t i = 0; n && i < r->totals.count; i++) {
        struct pt_total *e = &r->totals.entries[i];

        part = n < e->log_lost[c] ? n : e->log_lost[c];
        e->log_lost[c] -= part;
        r->totals.lost[c] -= part;
        n -= part;
    }
}

/* A LOOP log gives parts up while nothing can be written over them: the events are still there,
 * and the emergency status counts them as overwritten. */
static void take_back_spared(struct pt_log_reader *r)
{
    const unsigned c = POSIXTRACE_LOST_LOG_OVERWRITTEN;
    struct pt_log_state *s = &r->state;

    for (size_t i = 0; i < r->totals.count; i++) {
        struct pt_total *e = &r->totals.entries[i];
        uint64_t n = e->part_events, part = n < e->log_lost[c] ? n : e->log_lost[c];

        e->part_events = 0;
        e->log_lost[c] -= part;
        r->totals.lost[c] -= part;
        s->lost[c] -= n < s->lost[c] ? n : s->lost[c];
        n -= part;
        s->unknown_lost[c] -= n < s->unknown_lost[c] ? n : s->unknown_lost[c];
    }
}

/* The emergency status counts if it is newer than the last ROUND.  The number of events
 * before it shows how many were written or overwritten after it. */
static int learn_emergency(struct pt_log_reader *r)
{
    const struct pt_packet_head *packet;
    int rc = emergency(r, &packet);

    if (rc != 1 || packet->lsn <= r->state_lsn)
        return rc < 0 ? rc : 0;
    rc = pt_reader_learn(r, packet);
    take_back_spared(r);
    if (r->early_events > r->state.events)
        take_back_errors(r, r->early_events - r->state.events);
    else
        pt_reader_count_overwritten(r, r->early_events);
    return rc;
}

/* The lists of some authors may be in a part of a ring that is being overwritten.  Numbers
 * that the sums have and no list has belong to unknown authors. */
static void name_nobody(struct pt_log_reader *r)
{
    struct pt_log_state *s = &r->state;

    if (s->recorded > r->totals.recorded + s->unknown_recorded)
        s->unknown_recorded = s->recorded - r->totals.recorded;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        if (s->lost[c] > r->totals.lost[c] + s->unknown_lost[c])
            s->unknown_lost[c] = s->lost[c] - r->totals.lost[c];
}

void pt_reader_restart(struct pt_log_reader *r, uint64_t from)
{
    pt_reader_round_clear(&r->round);
    pt_input_forget(&r->source);
    r->source.keep = PT_SOURCE_KEEP_NOTHING;
    pt_reader_walk(r, &r->walk, &r->source, from);
    r->start_at = from == r->first_offset ? r->first_at : from;
    r->tail_taken = false;
    r->seeking = r->found = false;
    r->ended = false;
    r->error = 0;
    r->bad_inside = 0;
    r->count = (struct pt_count){ .begun = false };
    r->gap = false;
    r->sync_at = PT_NO_SYNC;
    r->sync_from = r->sync_to = 0;
}

static int open_file(struct pt_log_reader *r)
{
    const struct pt_packet_head *status;
    struct stat st;
    int rc;

    if (pt_descriptor_check(&r->file) < 0 || fstat(r->file.fd, &st) != 0)
        return -EBADF;
    r->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : INT64_MAX;
    if (r->left_out && r->left_out < r->size)
        r->size = r->left_out;
    rc = r->left_out ? 0 : open_complete(r);
    if (rc == 0) {
        /* Closed by an emergency status only, or not at all. */
        r->complete = r->complete && !r->end_offset && !r->left_out;
        r->end_offset = 0;
        rc = emergency(r, &status);
        r->emergency_lsn = rc == 1 ? status->lsn : 0;
        r->given_up = rc == 1 ? ((const struct pt_packet_round *)status)->state.oldest_round : 0;
        /* It counts the events of packets before it, and changes what the scan has found. */
        if (rc != 0)
            pt_reader_forget_scan(r);
        if (rc >= 0)
            rc = pt_reader_survey(r);
        if (r->emergency_lsn)
            r->scanned.good = false;
        if (rc == 0)
            rc = learn_emergency(r);
        if (r->ring_bytes || r->totals.forgot)
            name_nobody(r);
        r->complete = r->complete && r->state.end;
    }
    /* The copy in the header helps where those of the log are not readable. */
    if (rc >= 0 && !r->sync_count && r->header_sync.mult)
        rc = pt_reader_add_sync(r, &r->header_sync);
    if (rc < 0)
        return rc;
    pt_reader_restart(r, r->first_offset);
    return 0;
}

/* A LOOP log that has wrapped cannot be read in file order: from a pipe it is first
 * copied into a file without a name. */
static int spool(struct pt_log_reader *r)
{
    const char *folder = secure_getenv("TMPDIR");
    uint64_t offset = 0;
    const void *at;
    int fd, error = 0;

    fd = pt_open_above(AT_FDCWD, folder && *folder ? folder : "/tmp",
                       O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    while ((at = pt_input_fetch(&r->source, offset, 1, &error)) != NULL) {
        size_t n = (size_t)(r->source.start + r->source.length - offset);

        error = pt_sys_write_at(fd, at, n, offset);
        if (error)
            break;
        offset += n;
    }
    if (!error)
        error = pt_descriptor_copy(&r->file, fd);
    close(fd);
    if (error)
        return error;
    pt_input_deinit(&r->source);
    pt_input_init(&r->source, &r->file, true);
    r->spooled = true;
    return 0;
}

static int open_reader(struct pt_log_reader *r)
{
    struct stat st;
    bool seekable;
    int error;

    if (fstat(r->file.fd, &st) != 0)
        return -errno;
    seekable = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
    pt_input_init(&r->source, &r->file, seekable);
    error = pt_reader_header(r);
    if (error)
        return error;
    if (!seekable && r->ring_bytes)
        error = spool(r);
    if (error || r->source.seekable)
        return error ? error : open_file(r);
    r->complete = false;
    r->data_end = INT64_MAX;
    pt_reader_restart(r, PT_LOG_DATA_START);
    return 0;
}

int pt_reader_reopen(struct pt_log_reader *r)
{
    int error = pt_reader_header(r);

    if (!error)
        error = pt_reader_look_again(r);
    if (error)
        return error;
    memset(r->counts, 0, sizeof r->counts);
    r->counted = r->has_end = false;
    r->newest_lsn = r->closing_offset = r->index_offset = 0;
    r->unlearned = 0;
    return open_file(r);
}

int pt_log_reader_again(struct pt_log_reader *r)
{
    uint8_t id[sizeof r->params.id];
    int error;

    memcpy(id, r->params.id, sizeof id);
    r->left_out = 0;
    error = pt_reader_reopen(r);
    return !error && memcmp(id, r->params.id, sizeof id) != 0 ? -ESTALE : error;
}

bool pt_log_reader_lacks_tail(const struct pt_log_reader *r)
{
    return r->complete && r->has_end && r->alone && r->source.seekable;
}

/* The names and sync points after the ring are the only copies; INDEX comes after them. */
int pt_log_reader_leave_out_end(struct pt_log_reader *r, uint64_t *size)
{
    uint64_t at = r->ring_bytes ? r->index_offset : r->closing_offset;

    if (at < r->closing_offset || at > r->end_offset || at % PT_PACKET_ALIGN)
        return -EINVAL;
    r->left_out = *size = at;
    return pt_reader_reopen(r);
}

int pt_log_reader_new(struct pt_log_reader **reader, int fd)
{
    struct pt_log_reader *r = calloc(1, sizeof *r);
    int error;

    if (!r)
        return -ENOMEM;
    error = pt_descriptor_note(&r->file, fd);
    if (error) {
        free(r);
        return error;
    }
    r->most_notes = PT_ROUND_NOTES;
    r->most_unpacked = PT_ROUND_UNPACKED;
    r->known_lsn = PT_NO_LIMIT;
    pt_index_init(&r->index);
    pt_author_stats_init(&r->totals);
    r->totals.max = PT_TOTALS_READER_MAX;
    r->totals.forgets = true;
    pt_loser_tree_init(&r->round.contest);
    pt_loser_tree_init(&r->round.packets);
    error = open_reader(r);
    if (error) {
        pt_log_reader_free(r);
        return error;
    }
    *reader = r;
    return 0;
}

void pt_log_reader_free(struct pt_log_reader *r)
{
    if (!r)
        return;
    pt_piece_base_deinit(&r->base);
    pt_string_table_deinit(&r->texts);
    free(r->syncs);
    free(r->map);
    free(r->tail);
    free(r->threads);
    pt_index_deinit(&r->index);
    pt_author_stats_deinit(&r->totals);
    pt_reader_round_deinit(&r->round);
    pt_input_deinit(&r->source);
    pt_unpacker_deinit(&r->unpacker);
    free(r->follow.bytes);
    free(r->block);
    if (r->spooled)
        pt_descriptor_close(&r->file);
    free(r);
}

const struct pt_log_params *pt_log_reader_params(const struct pt_log_reader *r)
{
    return &r->params;
}

bool pt_log_reader_complete(const struct pt_log_reader *r)
{
    return r->complete;
}

const char *pt_log_reader_text(const struct pt_log_reader *r, enum pt_text kind, uint32_t id)
{
    const char *text = pt_string_table_get(&r->texts, kind, id);

    if (text || !r->tail_texts || id >= r->tail_texts->text_end[kind])
        return text;
    return r->tail_texts->text[kind][id];
}

uint32_t pt_log_reader_text_end(const struct pt_log_reader *r, enum pt_text kind)
{
    uint32_t end = r->texts.end[kind], more = r->tail_texts ? r->tail_texts->text_end[kind] : 0;

    return end > more ? end : more;
}
