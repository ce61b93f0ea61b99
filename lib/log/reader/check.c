/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Verifies a log: every packet's checksum, every record inside, the end.  It has a
 * walk of its own and does not change the file.
 */
#include <errno.h>
#include <string.h>
#include "log/reader/state.h"

struct check {
    int (*finding)(void *, const struct posixtrace_log_finding *);
    void *context;
    bool ended; /* by finding() */
    struct posixtrace_log_report report;
    struct pt_unpacker unpacker;
};

static void find(struct check *c, uint64_t offset, uint64_t bytes, const char *text)
{
    struct posixtrace_log_finding f = { .offset = offset, .bytes = bytes, .text = text };

    c->report.damaged = 1;
    if (c->finding && !c->ended)
        c->ended = c->finding(c->context, &f) != 0;
}

static void unreadable(void *context, uint64_t offset, uint64_t bytes)
{
    struct check *c = context;

    c->report.skipped_bytes += bytes;
    find(c, offset, bytes, "bytes that are no packet, or whose checksum is wrong");
}

static void check_records(struct check *c, const struct pt_packet_head *head, uint64_t offset)
{
    const struct pt_packet_data *data = (const void *)head;
    struct pt_log_packet packet;
    struct pt_cutter cutter;
    struct pt_record record;
    uint64_t events = 0, rest;

    if (pt_packet_unpack_data(&packet, data, &c->unpacker) < 0) {
        c->report.skipped_bytes += data->packed_bytes;
        c->report.salvaged_bytes -= data->packed_bytes;
        find(c, offset + sizeof *data, data->packed_bytes, "records that cannot be unpacked");
        return;
    }
    pt_cut_begin(&cutter, &packet);
    while (pt_decode_event(&cutter.decoder, &record) == 1)
        events++;
    rest = (uint64_t)(cutter.decoder.end - cutter.decoder.p);
    /* In compressed records the place of a bad one is unknown. */
    if (rest && pt_packet_is_packed(data))
        rest = data->packed_bytes;
    if (rest) {
        c->report.skipped_bytes += rest;
        c->report.salvaged_bytes -= rest;
        find(c, offset + head->bytes - rest, rest, "records that cannot be decoded");
    } else if (events != packet.events) {
        find(c, offset, head->bytes, "a packet with another number of events than it says");
    }
    c->report.events += events;
}

/* Checks every packet of a walk; the walk reports unreadable bytes between them. */
static int check_walk(struct check *c, struct pt_walk *walk)
{
    const struct pt_packet_head *head;
    uint64_t offset;
    int rc = 0;

    walk->finding = unreadable;
    walk->context = c;
    while (!c->ended && (rc = pt_walk_next(walk, &head, &offset)) == 1) {
        c->report.packets++;
        c->report.salvaged_bytes += head->bytes;
        if (head->type == PT_PACKET_DATA)
            check_records(c, head, offset);
        if (head->type == PT_PACKET_ROUND && !(head->flags & PT_ROUND_CONTINUES))
            c->report.rounds++;
    }
    return rc;
}

/* Compares the numbers of END with those that were found. */
static void check_totals(struct check *c, const struct pt_log_reader *r)
{
    if (r->has_end && !c->report.damaged && r->state.events != c->report.events)
        find(c, r->end_offset, 0, "the end mark counts another number of events");
    if (r->complete)
        return;
    find(c, r->size, 0,
         r->events || c->report.rounds ? "no end mark: the log was not completed, or it was cut"
                                       : "no end mark and no complete round");
}

static int check_file(struct check *c, const struct pt_log_reader *r, struct pt_input *source)
{
    struct pt_walk walk;
    int rc;

    c->report.salvaged_bytes = PT_LOG_DATA_START;
    pt_reader_walk(r, &walk, source, r->first_offset);
    rc = check_walk(c, &walk);
    if (rc == 0 && r->has_end) {
        pt_walk_init(&walk, source, r->seed, r->closing_offset, r->size);
        rc = check_walk(c, &walk);
    } else if (rc == 0 && r->ring_bytes) {
        pt_walk_init(&walk, source, r->seed, r->meta_start, r->size);
        rc = check_walk(c, &walk);
    }
    return rc;
}

int pt_log_check(int fd, int (*finding)(void *, const struct posixtrace_log_finding *),
                 void *context, struct posixtrace_log_report *report)
{
    struct check check = { .finding = finding, .context = context };
    struct pt_log_reader *reader;
    struct pt_input source;
    int rc = pt_log_reader_new(&reader, fd);

    if (rc)
        return rc;
    if (!reader->params.seekable || reader->spooled) {
        pt_log_reader_free(reader);
        return -ESPIPE;
    }
    pt_input_init(&source, &reader->file, true);
    rc = check_file(&check, reader, &source);
    pt_input_deinit(&source);
    pt_unpacker_deinit(&check.unpacker);
    if (rc == 0) {
        check.report.complete = reader->complete;
        check_totals(&check, reader);
        *report = check.report;
    }
    pt_log_reader_free(reader);
    return rc < 0 ? rc : 0;
}
