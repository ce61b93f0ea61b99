/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See waiting.h. */
#include "shm/waiting.h"
#include "writer/event.h"
#include "writer/waiting.h"

/* The content for a slot; w NULL: none. */
static void store(struct pt_thread *t, struct pt_slot *slot, const struct posixtrace_waiting *w,
                  uint64_t began)
{
    const struct pt_slot_waiting put = { .began = began,
                                         .object = w ? w->object : 0,
                                         .caller = w ? w->caller : 0,
                                         .type = w ? w->type : 0,
                                         .call = w ? w->call : 0 };

    if (!w) {
        pt_waiting_clear(slot);
        return;
    }
    pt_count_own(&t->waits);
    pt_waiting_put(slot, pt_load_relaxed(&t->waits), &put);
}

/* In a stream with another clock than that of this process's streams, a call that just begins
 * began now; one that was interrupted, at a time that is not known. */
static uint64_t began_in(const struct pt_writer *writer, const struct posixtrace_waiting *w,
                         bool begins)
{
    int clock = writer->seg->g.clock;

    if (!w || clock == pt_clock_choose())
        return w ? w->began : 0;
    return begins ? pt_clock_now(clock) : 0;
}

static PT_COLD void store_slow(uint64_t streams, const struct posixtrace_waiting *w, bool begins)
{
    struct pt_self *self = pt_self_get();
    struct pt_thread *t = self ? pt_thread_get(self) : NULL;
    bool entered = t && pt_thread_enter(t);
    uint64_t bit;

    /* 0: a child that was forked meanwhile. */
    if (!t || pt_load_relaxed(&t->word) == 0)
        return;
    streams &= ~pt_load_seqcst(&self->page->shadows);
    pt_for_each_bit(bit, streams)
    {
        struct pt_writer *writer = &t->writers0[bit];

        if (entered && begins)
            writer = pt_event_writer(self, t, 0, (unsigned)bit, 0);
        else if (!pt_writer_is_good(writer, pt_load_seqcst(&self->page->epoch[bit])))
            writer = NULL;
        if (writer)
            store(t, writer->slot, w, began_in(writer, w, begins));
    }
    if (entered)
        pt_thread_leave(t);
}

/*
 * A single stream whose clock is the time stamp counter, in which the thread has a slot; false: not
 * done.
 */
static PT_ALWAYS_INLINE inline bool store_fast(uint64_t streams, const struct posixtrace_waiting *w)
{
    struct pt_thread *t = pt_thread_self;
    const struct pt_page *page = pt_event_page(pt_load_pointer(&pt_gates));
    uint64_t bit = (uint64_t)__builtin_ctzll(streams);
    bool good;

    if (pt_unlikely(pt_load_plain(&t->word) != PT_THREAD_IDLE) ||
        pt_unlikely(streams & (streams - 1)))
        return false;
    pt_event_enter(t, pt_event_frame());
    good = pt_load_relaxed(&page->epoch[bit]) == pt_load_relaxed(&t->fast[bit]);
    if (pt_likely(good))
        store(t, t->writers0[bit].slot, w, w ? w->began : 0);
    pt_event_leave(&t->word);
    return good;
}

void pt_waiting_begin(const struct posixtrace_waiting *w, int clock)
{
    if (pt_unlikely(clock != PT_CLOCK_TSC) || pt_unlikely(!store_fast(w->streams, w)))
        store_slow(w->streams, w, true);
}

void pt_waiting_end(uint64_t streams, const struct posixtrace_waiting *outer)
{
    uint64_t again = outer ? outer->streams : 0, over = streams & ~again;

    if (over && !store_fast(over, NULL))
        store_slow(over, NULL, false);
    if (pt_unlikely(again != 0))
        store_slow(again, outer, false);
}
