/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See waiting.h. */
#include "base/assert.h"
#include "shm/waiting.h"

#define LOOK_TURNS 100u

/* A wait that may be: of a type that begins a call, and a call that is one. */
static bool is_valid(const struct pt_slot_waiting *w)
{
    return pt_event_begins_call(w->type) &&
           (w->call == UINT32_MAX || pt_event_call_name(w->call) != NULL);
}

bool pt_waiting_look(struct pt_seg *seg, uint32_t index, uint64_t wid, struct pt_slot_waiting *w)
{
    const struct pt_slot *s = pt_seg_slot(seg, index);

    pt_assert_call(index < pt_load_acquire(&seg->slots_open));
    for (unsigned turns = 0; turns < LOOK_TURNS; turns++) {
        uint64_t number = pt_load_acquire(&s->waiting.number);

        if (number == 0 || pt_load_acquire(&s->wid) != wid)
            return false;
        w->number = number;
        w->began = pt_load_relaxed(&s->waiting.began);
        w->object = pt_load_relaxed(&s->waiting.object);
        w->caller = pt_load_relaxed(&s->waiting.caller);
        w->type = pt_load_relaxed(&s->waiting.type);
        w->call = pt_load_relaxed(&s->waiting.call);
        pt_fence_acquire();
        if (pt_load_relaxed(&s->waiting.number) == number && pt_load_relaxed(&s->wid) == wid)
            return is_valid(w);
    }
    return false;
}
