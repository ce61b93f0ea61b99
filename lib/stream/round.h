/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One flush round: from the chunks of a segment to packets of a log.  Used by
 * the flush thread, and by who gathers what a dead writer's segment holds.
 * Goes chunk by chunk, not event by event in time order: readers merge.
 */
#ifndef PT_STREAM_ROUND_H
#define PT_STREAM_ROUND_H

#include "stream/live.h"

/* Where the packets go. */
struct pt_round_sink {
    int (*packet)(void *context, const struct pt_log_packet *packet);
    void *context;
};

struct pt_window {
    uint64_t ts;
    bool open;
};

/* Records that become a packet, still in their chunk. */
struct pt_run {
    struct pt_log_packet packet;
    uint32_t index;
};

struct pt_round {
    struct pt_live *live;
    struct pt_round_sink sink;
    struct pt_window *windows;     /* START and STOP of this round, by time */
    size_t window_count, window_room;
    struct pt_run *runs;
    size_t run_count, run_room;
    uint32_t *touched;             /* chunks to publish as consumed after the write */
    size_t touched_count, touched_room;
    uint8_t *copy;                 /* of a chunk that LOOP may take away meanwhile */
    bool more;                     /* events newer than the watermark are left */
    uint64_t made_no;              /* numbers of the events we make */
};

int pt_round_init(struct pt_round *r, struct pt_live *live, const struct pt_round_sink *sink);
void pt_round_deinit(struct pt_round *r);

/* After pt_live_refresh: hands over everything older than the watermark. */
int pt_round_write(struct pt_round *r);
/* After the packets are safe: gives the chunks back. */
void pt_round_commit(struct pt_round *r);

/* Totals of the writers whose counts changed (all: of every writer), in a malloced
 * array; -ENOMEM.  Also the sums of those nobody knows any more. */
int pt_round_totals(struct pt_live *l, bool all, struct pt_log_author_totals **totals,
                    size_t *count, struct pt_log_status *status);

#endif
