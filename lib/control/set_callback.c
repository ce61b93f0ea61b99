/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See set_callback.h. */
#include <errno.h>
#include <stdlib.h>
#include "control/set_callback.h"
#include "place/place.h"
#include "process/filter_callback.h"
#include "process/thread.h"
#include "stream/control_lock.h"

/* The stream's bit in the page of this process; PT_STREAMS: none. */
static unsigned bit_here(const struct pt_stream *s, const struct pt_self *self)
{
    unsigned bit = 0;

    if (s->uid != pt_place_uid())
        return PT_STREAMS;
    while (bit < PT_STREAMS && !(s->seg->file[0] ? pt_page_bit_is_of(self->page, bit, s->seg->file)
                                                 : s->self == self && !s->other && s->bit == bit))
        bit++;
    return bit;
}

static int change(struct pt_stream *s, struct pt_self *self, uint32_t id,
                  const struct pt_filter_callback *fresh, const struct pt_filter_callback **old)
{
    unsigned bit = bit_here(s, self);
    int r;

    if (bit == PT_STREAMS)
        return -ESRCH;
    r = pt_filter_callback_exchange(self, bit, id, fresh, old);
    if (r < 0)
        return r;
    /* Pages that cannot be reached need no change: only gates of this process change. */
    pt_control_lock_settle(s, false);
    return 0;
}

int pt_filter_callback_set(struct pt_stream *s, uint32_t id, posixtrace_handler_t function,
                           void *context)
{
    const struct pt_filter_callback *old = NULL;
    struct pt_filter_callback *fresh = NULL;
    struct pt_self *self;
    int r = pt_self_make(&self), e;

    if (r < 0)
        return r;
    if (function && !(fresh = malloc(sizeof *fresh)))
        return -ENOMEM;
    if (fresh)
        *fresh = (struct pt_filter_callback){ function, context };
    r = pt_control_lock_begin(s);
    if (r < 0) {
        free(fresh);
        return r;
    }
    e = change(s, self, id, fresh, &old);
    /* If another thread took the lock away while the gates were set, the next holder sets them
     * again. */
    pt_control_lock_end(s);
    if (e < 0) {
        free(fresh);
        return e;
    }
    /* A thread that is still in an event after a second keeps it. */
    if (pt_threads_left())
        free((void *)(uintptr_t)old);
    return 0;
}
