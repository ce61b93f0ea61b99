/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The struct pt_stream of a stream identifier, for tests of lib/stream. */
#ifndef SUPPORT_STREAM_INSIDE_H
#define SUPPORT_STREAM_INSIDE_H

#include <check.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "shm/slot.h"
#include "stream/handle.h"

/* Its segment, which stays mapped until shutdown. */
static inline struct pt_seg *segment_of(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    pt_handle_put(s);
    return s->seg;
}

/* The slot of the thread that began to trace last. */
static inline struct pt_slot *slot_of_last_writer(struct pt_seg *seg)
{
    struct pt_slot *last = pt_seg_slot(seg, 0);

    for (uint32_t i = 1; i < pt_slot_count(seg); i++)
        if (pt_seg_slot(seg, i)->wid > last->wid)
            last = pt_seg_slot(seg, i);
    return last;
}

static inline struct posixtrace_info info_of(trace_id_t trid)
{
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    return info;
}

#endif
