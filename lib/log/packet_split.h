/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Cuts packets to size and counts their events by type.  One walk over a caller's
 * packet checks its records, finds where it can be cut, and counts.
 */
#ifndef PT_LOG_TALLY_H
#define PT_LOG_TALLY_H

#include "log/contents.h"
#include "log/types.h"
#include "shm/record.h"

struct pt_cutter {
    const struct pt_log_packet *packet;
    struct pt_decoder decoder; /* at the start of the next piece */
    uint64_t done;             /* events before that */
};

static inline void pt_cut_begin(struct pt_cutter *cutter, const struct pt_log_packet *packet)
{
    cutter->packet = packet;
    cutter->decoder.p = packet->records;
    cutter->decoder.end = cutter->decoder.p + packet->bytes;
    cutter->decoder.base = packet->base_ts;
    cutter->done = 0;
}

/*
 * The next piece: as many whole events as fit into max_bytes of records.  types
 * (cleared first) counts them.  1: *piece stored, with 0 events if not even the
 * next one fits; 0: nothing is left; -EBADMSG: not records of events.
 */
int pt_cut_next(struct pt_cutter *cutter, uint32_t max_bytes, struct pt_log_packet *piece,
                struct pt_types *types);
/* Passes over the next event. */
void pt_cut_skip(struct pt_cutter *cutter);
/* How many events are left, as far as the records are good. */
uint64_t pt_cut_left(const struct pt_cutter *cutter);

/* 1: an event of a valid type; 0: end; -EBADMSG */
static inline int pt_decode_event(struct pt_decoder *d, struct pt_record *r)
{
    int rc = pt_decode_next(d, r);

    if (pt_likely(rc == 1 && r->kind == PT_RECORD_EVENT && r->id - 1u < PT_ID_MAX - 1u))
        return 1;
    return rc == 0 ? 0 : -EBADMSG;
}

#endif
