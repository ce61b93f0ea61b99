/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Cutting packets; see packet_split.h. */
#include "base/assert.h"
#include "log/packet_split.h"

int pt_cut_next(struct pt_cutter *cutter, uint32_t max_bytes, struct pt_log_packet *piece,
                struct pt_types *types)
{
    struct pt_decoder *d = &cutter->decoder;
    const uint8_t *from = d->p;
    struct pt_record r;
    uint32_t events = 0;

    pt_types_clear(types);
    *piece = *cutter->packet;
    piece->records = from;
    piece->types = NULL;
    piece->chunk_off += (uint32_t)(from - (const uint8_t *)cutter->packet->records);
    piece->first_no += cutter->done;
    piece->base_ts = d->base;
    piece->first_ts = piece->last_ts = 0;
    for (;;) {
        struct pt_decoder before = *d;
        int rc = pt_decode_event(d, &r);

        if (rc < 0)
            return rc;
        if (rc == 0)
            break;
        if ((size_t)(d->p - from) > max_bytes) {
            *d = before;
            goto full;
        }
        if (events++ == 0)
            piece->first_ts = r.ts;
        if (r.ts > piece->last_ts)
            piece->last_ts = r.ts;
        pt_types_add(types, r.id, 1);
    }
    if (!events)
        return 0;
full:
    piece->events = events;
    piece->bytes = (uint32_t)(d->p - from);
    pt_assert(piece->bytes <= max_bytes && piece->bytes <= cutter->packet->bytes);
    cutter->done += events;
    return 1;
}

void pt_cut_skip(struct pt_cutter *cutter)
{
    struct pt_record r;

    if (pt_decode_event(&cutter->decoder, &r) == 1)
        cutter->done++;
}

uint64_t pt_cut_left(const struct pt_cutter *cutter)
{
    struct pt_decoder d = cutter->decoder;
    struct pt_record r;
    uint64_t n = 0;

    while (pt_decode_event(&d, &r) == 1)
        n++;
    return n;
}
