/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See filter_callback.h. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/sys.h"
#include "process/filter_callback.h"
#include "process/thread.h"

struct pt_filter_callbacks {
    pt_u64 epoch;                                   /* of the bit that they are for */
    const struct pt_filter_callback *of[PT_ID_MAX]; /* [0]: of all types without one of their own */
};

static struct pt_filter_callbacks *handlers_of(const struct pt_self *self, unsigned bit,
                                               uint64_t epoch)
{
    struct pt_filter_callbacks *all = pt_load_acquire(&self->handlers[bit]);

    return all && pt_load_acquire(&all->epoch) == epoch ? all : NULL;
}

static const struct pt_filter_callback *find(const struct pt_filter_callbacks *all, uint32_t id)
{
    const struct pt_filter_callback *own = pt_load_acquire(&all->of[id]);

    return own || id <= PT_ID_SYSTEM_LAST ? own : pt_load_acquire(&all->of[0]);
}

bool pt_filter_callback_decides(const struct pt_page *page, unsigned bit, uint32_t id)
{
    const struct pt_self *self;
    const struct pt_filter_callbacks *all;

    if (!pt_load_acquire(&page->stream[bit].handled))
        return false;
    self = pt_self_peek();
    if (!self || self->page != page)
        return true;
    all = handlers_of(self, bit, pt_load_seqcst(&page->epoch[bit]));
    return all && id != 0 && find(all, id);
}

/*
 * The levels of the thread's event number count in which a function runs, as bits.  A function that
 * is left by siglongjmp() leaves its bit.  The bit does not count in another event, nor for an
 * event of the same or an outer level, which cannot be inside that function.
 */
static _Thread_local struct {
    uint64_t count;
    uint32_t levels;
} running __attribute__((tls_model("initial-exec")));

/*
 * Events that the function itself causes, such as calls that a library records as system events,
 * are left out: calling the function for them would never end.
 */
static bool call(const struct pt_filter_callback *h, const struct posixtrace_event *event)
{
    const struct pt_thread *t = pt_thread_current();
    uint64_t level = t ? (pt_load_relaxed(&t->word) & PT_THREAD_LEVEL) : 0;
    uint32_t outer, bit = 1u << level;
    bool wanted;

    if (t && running.count != pt_load_relaxed(&t->count)) {
        running.levels = 0;
        running.count = pt_load_relaxed(&t->count);
    }
    outer = running.levels & (bit - 1);
    if (outer && pt_event_is_own(event->id))
        return false;
    running.levels = outer | bit;
    pt_fence_compiler();
    wanted = h->function(h->context, event);
    pt_fence_compiler();
    running.levels = outer;
    return wanted;
}

bool pt_filter_callback_wants(const struct pt_self *self, unsigned bit, uint64_t epoch,
                              const struct posixtrace_event *event)
{
    const struct pt_filter_callbacks *all = handlers_of(self, bit, epoch);
    const struct pt_filter_callback *h = all ? find(all, event->id) : NULL;

    return !h || call(h, event);
}

void pt_filter_callback_forget(struct pt_self *self, unsigned bit)
{
    struct pt_filter_callbacks *all = pt_load_acquire(&self->handlers[bit]);
    bool left;

    if (!all)
        return;
    pt_store_release(&all->epoch, (uint64_t)0);
    left = pt_threads_left();
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        const struct pt_filter_callback *none = NULL, *h = pt_exchange_seqcst(&all->of[id], none);

        if (left)
            free((void *)(uintptr_t)h);
    }
}

/* The table of the bit, emptied if it was another stream's. */
static struct pt_filter_callbacks *take_table(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    struct pt_filter_callbacks *all = pt_load_acquire(&self->handlers[bit]);

    if (!all) {
        all = pt_sys_pages(sizeof *all);
        if (!all)
            return NULL;
        pt_store_release(&all->epoch, epoch);
        pt_store_release(&self->handlers[bit], all);
    }
    if (pt_load_acquire(&all->epoch) == epoch)
        return all;
    pt_filter_callback_forget(self, bit);
    pt_store_release(&all->epoch, epoch);
    return all;
}

int pt_filter_callback_exchange(struct pt_self *self, unsigned bit, uint32_t id,
                                const struct pt_filter_callback *fresh,
                                const struct pt_filter_callback **old)
{
    struct pt_filter_callbacks *all;

    if (pt_page_take_shadow(self->page, bit) < 0)
        return -EAGAIN;
    all = take_table(self, bit, pt_load_seqcst(&self->page->epoch[bit]));
    if (!all)
        return -ENOMEM;
    *old = pt_exchange_seqcst(&all->of[id], fresh);
    pt_store_seqcst(&self->page->stream[bit].handled, 1u); /* before the gates: process/gates.c */
    return 0;
}

void pt_filter_callback_inherit(struct pt_self *child, unsigned bit, const struct pt_self *parent,
                                unsigned parents_bit)
{
    struct pt_filter_callbacks *all = handlers_of(
        parent, parents_bit, pt_load_seqcst(&parent->page->epoch[parents_bit]));
    uint64_t own, both;

    if (!all || pt_page_take_shadow(child->page, bit) < 0)
        return;
    pt_store_release(&all->epoch, pt_load_seqcst(&child->page->epoch[bit]));
    pt_store_release(&child->handlers[bit], all);
    pt_store_release(&child->page->stream[bit].handled, 1u);
    /* From here on who sets a gate decides so.  Those that are open already: in one step, so
     * that none is opened that a controller has closed meanwhile (process/join.c). */
    own = 1ull << bit;
    both = own | pt_page_shadow(child->page, bit);
    for (uint32_t id = 1; id < PT_ID_MAX; id++) {
        uint64_t word = pt_load_seqcst(&child->page->gates[id]);

        while ((word & both) == own && find(all, id) &&
               !pt_cas_seqcst(&child->page->gates[id], &word, word | both))
            ;
    }
}
