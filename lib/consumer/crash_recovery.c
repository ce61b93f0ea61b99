/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See crash_recovery.h.
 *
 * The code of a flush round collects the tail: pt_tail_open() finds the segment of the
 * id, checks that its owner is dead, and copies it to private memory.  A consumer on that copy
 * (pt_consumer_finish: no watermark holds events back) makes one round whose sink keeps the packets
 * in memory.  The checkpoint in the segment gives the accounts up to the last commit, so the
 * same events in the log and in the chunks are counted once.
 *
 * The segment is not changed until pt_tail_unlink(), which the caller calls after the log has its
 * end, so a killed recovery can be repeated.  Callers: recovery of a log, reading of an incomplete
 * log (control/recorded.c), the list of streams, tombstones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/brief_files.h"
#include "base/sys.h"
#include "consumer/checkpoint.h"
#include "consumer/collect.h"
#include "consumer/crash_recovery.h"
#include "page/mapping_list.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/owner.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "shm/syncpoint.h"

struct corpse {
    struct pt_seg seg;
    struct pt_consumer live;
    struct pt_names *names;
    struct pt_log_packet *packets;
    size_t count, room;
    const char **texts[PT_TEXTS]; /* in names, or constant */
    uint32_t text_end[PT_TEXTS];
    struct pt_sync *syncs;
};

static int keep_packet(void *context, const struct pt_log_packet *packet)
{
    struct corpse *c = context;
    struct pt_log_packet *p;

    if (pt_array_grow(&c->packets, &c->room, c->count, sizeof *c->packets) < 0)
        return -ENOMEM;
    p = &c->packets[c->count];
    *p = *packet;
    p->types = NULL; /* the round's own table */
    p->lsn = c->count + 1;
    /* Events that the round makes live on the stack. */
    if (packet->chunk_seq & PT_LOG_MADE) {
        void *copy = malloc(packet->bytes);

        if (!copy)
            return -ENOMEM;
        p->records = memcpy(copy, packet->records, packet->bytes);
    }
    c->count++;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct pt_log_packet *x = a, *y = b;

    if (x->chunk_seq != y->chunk_seq)
        return x->chunk_seq < y->chunk_seq ? -1 : 1;
    return x->chunk_off < y->chunk_off ? -1 : x->chunk_off > y->chunk_off;
}

/* Room for the texts of a kind. */
static int make_texts(struct corpse *c, enum pt_text kind, uint32_t end)
{
    c->texts[kind] = calloc(end + 1, sizeof *c->texts[kind]);
    if (!c->texts[kind])
        return -ENOMEM;
    c->text_end[kind] = end;
    return 0;
}

static int gather_mappings(struct corpse *c)
{
    uint32_t end = pt_mapping_list_end(c->names);
    int r = make_texts(c, PT_TEXT_MAPPING, end);

    for (uint32_t id = 1; r == 0 && id < end; id++)
        c->texts[PT_TEXT_MAPPING][id] = pt_mapping_list_get(c->names, id);
    return r;
}

static int gather_texts(struct corpse *c, int dir)
{
    const char *file = c->seg.h->names_file;
    const char *text;
    uint32_t id;
    int r = make_texts(c, PT_TEXT_NAME, PT_ID_MAX);

    if (r == 0)
        r = make_texts(c, PT_TEXT_DESCRIPTION, PT_ID_MAX);
    if (r < 0)
        return r;
    if (!memchr(file, '\0', sizeof c->seg.h->names_file) || !file[0] || strchr(file, '/'))
        return 0;
    r = pt_names_copy(&c->names, dir, file);
    if (r < 0)
        return pt_is_shortage(r) ? r : 0;
    for (id = PT_ID_NAMED_FIRST; id < PT_ID_MAX; id++)
        c->texts[PT_TEXT_NAME][id] = pt_names_get(c->names, id);
    for (uint32_t i = 0; (text = pt_names_description_at(c->names, i, &id)) || id; i++)
        if (text && !c->texts[PT_TEXT_DESCRIPTION][id])
            c->texts[PT_TEXT_DESCRIPTION][id] = text;
    for (id = PT_ID_OWN_FIRST; pt_names_own_in_use(c->names) && id <= PT_ID_OWN_LAST; id++) {
        c->texts[PT_TEXT_NAME][id] = pt_event_system_name(id);
        c->texts[PT_TEXT_DESCRIPTION][id] = pt_event_system_description(id);
    }
    return gather_mappings(c);
}

static int gather_syncs(struct pt_tail *t, struct corpse *c)
{
    uint32_t n = pt_syncpoint_count(c->seg.h);

    c->syncs = calloc(n + 1, sizeof *c->syncs);
    if (!c->syncs)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        pt_syncpoint_get(c->seg.h, i, &c->syncs[i]);
    t->tail.syncs = c->syncs;
    t->tail.sync_count = n;
    return 0;
}

/* The remaining events of the stream, in one round. */
static int gather_packets(struct corpse *c, bool *hides)
{
    struct pt_collect_sink sink = { keep_packet, c };
    struct pt_collect *round = malloc(sizeof *round); /* too large for a small stack */
    int r = round ? pt_collect_init(round, &c->live, &sink) : -ENOMEM;

    if (r < 0) {
        free(round);
        return r;
    }
    pt_consumer_finish(&c->live);
    pt_auto_stop_recover(&c->live.stops, &c->live.windows);
    r = pt_consumer_refresh(&c->live);
    pt_accounts_take(&c->live.accounts, true);
    if (r == 0)
        r = pt_collect_write(round);
    *hides = round->hides;
    pt_collect_deinit(round);
    free(round);
    return r;
}

/* The checkpoint has all changes before its watermark. */
static void restore_window(struct pt_consumer *l)
{
    const struct pt_seg_header *h = l->seg->h;
    enum pt_window_then window = pt_checkpoint_window(l->seg);

    if (window != PT_WINDOW_UNKNOWN)
        pt_windows_set(&l->windows, window == PT_WINDOW_OPEN,
                       h->books[h->books_now & 1u].watermark);
}

static int gather(struct pt_tail *t, struct corpse *c, int dir)
{
    struct pt_seg_header *h = c->seg.h;
    int r = gather_texts(c, dir);

    pt_checkpoint_positions(&c->seg);
    if (r == 0)
        r = pt_consumer_init(&c->live, &c->seg);
    if (r == 0) {
        /* A thread inside an event at the clear may have recorded it since. */
        c->live.clear_ts = h->clear_ts;
        pt_losses_begin_at(&c->live.losses, h->clear_ts);
        pt_losses_restore(&c->live.losses);
        restore_window(&c->live);
        r = gather_packets(c, &t->tail.status.hides);
    }
    if (r == 0)
        r = pt_checkpoint_tail(&c->live.accounts, &t->tail);
    if (r == 0)
        r = gather_syncs(t, c);
    if (r < 0)
        return r;
    if (c->count)
        qsort(c->packets, c->count, sizeof *c->packets, by_place);
    t->tail.packets = c->packets;
    t->tail.packet_count = c->count;
    memcpy(t->tail.text, c->texts, sizeof t->tail.text);
    memcpy(t->tail.text_end, c->text_end, sizeof t->tail.text_end);
    t->tail.status.watermark = UINT64_MAX;
    t->tail.status.stream_overrun = h->overrun != 0;
    t->tail.status.stream_full = pt_state_is_full(h->state);
    t->tail.status.advised_size = pt_slot_advised_size(&c->seg);
    t->tail.status.refused = pt_seg_refused(&c->seg);
    t->tail.status.peak_bytes = (uint64_t)h->peak_chunks * c->seg.g.chunk_size;
    t->tail.status.reserved_bytes = (uint64_t)pt_seg_chunk_count(&c->seg) * c->seg.g.chunk_size;
    return 0;
}

void pt_tail_close(struct pt_tail *t)
{
    struct corpse *c = t ? t->private_ : NULL;

    if (c) {
        for (size_t i = 0; i < c->count; i++)
            if (c->packets[i].chunk_seq & PT_LOG_MADE)
                free((void *)(uintptr_t)c->packets[i].records);
        free(c->packets);
        free(t->tail.authors);
        for (unsigned kind = 0; kind < PT_TEXTS; kind++)
            free(c->texts[kind]);
        free(c->syncs);
        free(c->names);
        pt_consumer_deinit(&c->live);
        pt_seg_unmap(&c->seg);
        free(c);
    }
    free(t);
}

/* A log that has no pieces is its own first one. */
static uint32_t piece_of(uint32_t number)
{
    return number ? number : 1;
}

bool pt_tail_fits(const struct pt_tail *t, const struct pt_log_reader *r)
{
    return piece_of(t->tail.booked.piece) == piece_of(pt_log_reader_params(r)->piece);
}

/* Reads only the header: is there a segment of that id, and is its owner dead? */
static int examine(int dir, const char *file, const uint8_t id[16])
{
    struct pt_seg_header *h = pt_seg_new_headers(1);
    struct stat st;
    int r = h ? pt_seg_read_header(dir, pt_place_uid(), file, h, &st) : -ENOMEM;

    if (r < 0)
        r = pt_is_shortage(r) ? r : PT_TAIL_NONE;
    else if (memcmp(h->id, id, 16) != 0)
        r = PT_TAIL_NONE;
    else
        r = pt_owner_liveness(h, st.st_dev, st.st_ino) == PT_DEAD ? PT_TAIL_FOUND
                                                                  : PT_TAIL_WRITER_ALIVE;
    free(h);
    return r;
}

static int open_tail(struct pt_tail **tail, const uint8_t id[16])
{
    int dir = pt_dir_open(false), r;
    struct pt_tail *t;
    struct corpse *c;
    char file[64];

    if (dir < 0)
        return pt_is_shortage(dir) ? dir : PT_TAIL_NONE;
    pt_dir_hex_name(file, sizeof file, 's', id, ".seg");
    r = examine(dir, file, id);
    if (r != PT_TAIL_FOUND) {
        close(dir);
        return r;
    }
    t = calloc(1, sizeof *t);
    c = calloc(1, sizeof *c);
    if (!t || !c) {
        free(t);
        free(c);
        close(dir);
        return -ENOMEM;
    }
    t->private_ = c;
    memcpy(t->file, file, sizeof file);
    r = pt_owner_clear(file, true);
    if (r == 0)
        r = pt_seg_copy(&c->seg, dir, file);
    if (r == 0)
        r = gather(t, c, dir);
    close(dir);
    if (r < 0) {
        pt_tail_close(t);
        /* Its owner or another process has removed it since: the log has all events. */
        return r == -EINVAL || r == -ENOENT ? PT_TAIL_NONE : r;
    }
    *tail = t;
    return PT_TAIL_FOUND;
}

int pt_tail_open(struct pt_tail **tail, const uint8_t id[16])
{
    int r;

    pt_brief_files_enter();
    r = open_tail(tail, id);
    pt_brief_files_leave();
    return r;
}

/* Exact with a log.  Without one, the events of the last round may be in the log, if the kill
 * came between the write and the checkpoint. */
int pt_tail_missing(struct pt_tail *tail, int log, uint64_t *events)
{
    struct pt_log_reader *r = NULL;
    const struct pt_log_packet *p = tail->tail.packets;
    size_t count = tail->tail.packet_count;
    int e = log >= 0 ? pt_log_reader_new(&r, log) : -EBADF;

    if (e == 0 && !pt_tail_fits(tail, r))
        e = -ESTALE;
    if (e == 0)
        e = pt_log_reader_set_tail(r, &tail->tail);
    if (e == 0)
        p = pt_log_reader_tail(r, &count);
    *events = 0;
    for (size_t i = 0; i < count; i++)
        *events += p[i].events;
    if (r)
        pt_log_reader_free(r);
    return e == -ENOMEM ? e : 0;
}

/* True: fd is another file than the log of the stream.  A pipe is in no other file. */
static bool is_copy(const struct pt_seg_header *h, int fd)
{
    struct stat st;

    return pt_seg_log_ino(h) != 0 &&
           (fstat(fd, &st) != 0 || st.st_dev != h->log_dev || st.st_ino != pt_seg_log_ino(h));
}

void pt_tail_unlink(const struct pt_tail *t, int fd)
{
    const struct corpse *c = t->private_;
    int dir = is_copy(c->seg.h, fd) ? -1 : pt_dir_open(false);

    if (dir < 0)
        return;
    pt_seg_remove(dir, t->file);
    close(dir);
}
