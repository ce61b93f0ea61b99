/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See attached.h. */
#include <errno.h>
#include "base/clock.h"
#include "shm/liveness.h"
#include "stream/attached.h"

#define LOOK_NS 200000000u

bool pt_attached_is_over(struct pt_stream *s, bool now)
{
    const struct pt_seg_header *h = s->seg->h;
    uint64_t ns = pt_clock_ns(CLOCK_MONOTONIC), last = pt_load_seqcst(&s->looked_ns);

    if (pt_load_seqcst(&h->closed) || pt_load_seqcst(&s->over))
        return true;
    if (!now && ns - last < LOOK_NS)
        return false;
    pt_store_seqcst(&s->looked_ns, ns);
    return pt_owner_liveness(h, s->seg->dev, s->seg->ino) == PT_DEAD;
}

int pt_attached_check(struct pt_stream *s)
{
    if (s->kind != PT_STREAM_ATTACHED)
        return 0;
    if (pt_attached_is_over(s, true))
        return -ENXIO;
    return s->readable_only ? -ENOTSUP : 0;
}
