/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The internals of a sequence of pieces, shared by
 *
 *   sequence.c      the files, and reading them in order
 *   sequence_sum.c  the sums of all of them, and the gaps between them
 */
#ifndef PT_CONTROL_SEQUENCE_STATE_H
#define PT_CONTROL_SEQUENCE_STATE_H

#include <sys/types.h>
#include <trace.h>
#include "control/sequence.h"

struct pt_sequence_piece {
    char *path;
    uint32_t number;
    bool complete;
    off_t size;
    uint64_t events;
    bool gap;          /* something is missing before it */
    int64_t before_ns; /* the latest event of the pieces before */
    int64_t first_ns;
    int64_t last_ns; /* the latest event up to its end */
};

/* A thread, in the order in which they came. */
struct pt_sequence_thread {
    struct posixtrace_thread_info info;
    size_t order;
};

struct pt_sequence {
    struct pt_sequence_piece *list; /* by number */
    size_t count, room;
    struct posixtrace_info info;
    struct posix_trace_status_info status;
    uint32_t refused;
    bool outlived;
    struct pt_sequence_thread *threads;
    size_t thread_count, thread_room, thread_order;
    struct pt_string_table texts;
    struct pt_sync *syncs;
    size_t sync_count, sync_room;
    struct pt_knot *knots; /* of another clock in place of the log's, or NULL */
    size_t knot_count;
    uint64_t marks_made; /* OVERFLOW, and as many RESUME */
    bool summed, counted;
    uint64_t counts[PT_ID_MAX];

    struct pt_stream *part; /* the piece that is read, a stream of its own */
    size_t at;
    bool vanished;  /* a piece before the next one */
    unsigned marks; /* still to be given before its events: 2: OVERFLOW and RESUME */
    bool gap;       /* the caller does not know yet that something is missing */
    int64_t mark_ns[2];
    uint64_t rounds, last_round; /* before this piece; the last one that was given */
    struct pt_author maker;
    int64_t block_ns[2];
    uint16_t block_ids[2];
};

/* sequence.c: as pt_recorded_open(); -ENOENT: it is gone; -ESTALE: another log has its name. */
int pt_sequence_open_piece(const struct pt_sequence *q, size_t index, struct pt_stream **part);

/* sequence.c: removes the sums. */
void pt_sequence_forget_sums(struct pt_sequence *q);
/* sequence_sum.c: looks at each piece; those that cannot be read are left out.  0 or a negative
 * errno. */
int pt_sequence_sum(struct pt_sequence *q);

#endif
