/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See unmade.h. */
#include "base/clock.h"
#include "process/thread.h"
#include "process/unmade.h"

#define EVENTS      64u
#define MOST_EVENTS 4096u
#define RETRY_NS    10000000u

/* 8 KiB that a process does not touch, and so has no memory for, until an attempt fails.  They
 * cannot be allocated then: what failed may be an allocation, in a signal handler. */
static struct {
    pt_u64 instance; /* of the process whose attempts failed; 0: none did */
    pt_u64 first[2]; /* by kind of clock, when the first attempt failed */
    pt_u64 tried_ns;
    pt_u64 count; /* of its events; threads that count at once may count less */
    uint32_t heir;
} unmade;

/* How many events of each type were lost before the last attempt, and since then. */
struct losses {
    pt_u64 before[PT_ID_MAX], recent[PT_ID_MAX];
};
_Static_assert(sizeof(struct losses) == (PT_SELF_WORDS - PT_SELF_OWN_WORDS) * sizeof(uint64_t),
               "they fit into the words");

/* Memory that fork wipes, so that a child finds none.  NULL: there is no memory. */
static struct losses *losses(void)
{
    uint64_t *words = pt_self_words();

    return words ? (struct losses *)(void *)(words + PT_SELF_OWN_WORDS) : NULL;
}

static bool is_own(void)
{
    uint64_t instance = pt_load_acquire(&unmade.instance);

    return instance != 0 && instance == pt_self_instance();
}

static bool is_turn(uint64_t count)
{
    if (count % EVENTS != 0)
        return false;
    return pt_load_relaxed(&unmade.heir) || count % MOST_EVENTS == 0 || (count & (count - 1)) == 0;
}

/* One thread of several tries. */
bool pt_unmade_is_due(void)
{
    uint64_t now, tried;

    if (!is_own())
        return true;
    pt_count_own(&unmade.count);
    if (is_turn(pt_load_relaxed(&unmade.count)))
        return true;
    now = pt_clock_ns(CLOCK_MONOTONIC_COARSE);
    tried = pt_load_relaxed(&unmade.tried_ns);
    return now - tried >= RETRY_NS && pt_cas_seqcst(&unmade.tried_ns, &tried, now);
}

/* If several threads fail at the same time, each does this. */
static void begin(uint64_t instance)
{
    pt_store_relaxed(&unmade.count, 0u);
    pt_store_relaxed(&unmade.first[PT_CLOCK_TSC], pt_clock_now(PT_CLOCK_TSC));
    pt_store_relaxed(&unmade.first[PT_CLOCK_MONOTONIC], pt_clock_now(PT_CLOCK_MONOTONIC));
    pt_store_release(&unmade.instance, instance);
}

void pt_unmade_failed(bool heir)
{
    uint64_t instance = pt_self_instance();
    struct losses *l = losses();

    pt_store_relaxed(&unmade.tried_ns, pt_clock_ns(CLOCK_MONOTONIC_COARSE));
    pt_store_relaxed(&unmade.heir, (uint32_t)heir);
    if (!is_own() && instance != 0)
        begin(instance);
    for (uint32_t id = 0; l && id < PT_ID_MAX; id++)
        if (pt_load_relaxed(&l->recent[id]))
            pt_add_relaxed(&l->before[id], pt_exchange_seqcst(&l->recent[id], 0u));
}

void pt_unmade_note(uint32_t id, uint64_t events)
{
    struct losses *l = losses();
    struct pt_self *self;

    if (id >= PT_ID_MAX || !is_own() || !l)
        return;
    pt_add_seqcst(&l->recent[id], events);
    /* Made meanwhile by another thread, which may not have seen this. */
    self = pt_self_peek();
    if (self)
        pt_unmade_settle(self);
}

/* Those of bits whose streams were running already when the first attempt failed. */
static uint64_t ran_before(const struct pt_self *self, uint64_t bits)
{
    uint64_t ran = 0, bit;

    pt_for_each_bit(bit, bits)
    {
        const struct pt_seg *seg = pt_load_acquire(&self->known[bit].seg);
        uint64_t state = seg ? pt_load_seqcst(&seg->h->state) : 0;

        if (seg && pt_state_runs(state) &&
            pt_state_ts(seg->h, state) <= pt_load_relaxed(&unmade.first[seg->g.clock]))
            ran |= 1ull << bit;
    }
    return ran;
}

/* The gate bits of streams in which the losses were not counted at once. */
static uint64_t uncounted(const struct pt_self *self)
{
    return pt_load_seqcst(&self->page->used) & ~pt_load_seqcst(&self->page->shadows) &
           ~self->from_parent;
}

static void settle_type(struct pt_self *self, struct losses *l, uint32_t id, uint64_t bits,
                        uint64_t ran)
{
    uint64_t recent = pt_exchange_seqcst(&l->recent[id], 0u);
    uint64_t before = pt_exchange_seqcst(&l->before[id], 0u), bit;

    pt_for_each_bit(bit, bits & pt_load_seqcst(&self->page->gates[id]))
    {
        uint64_t lost = recent + (ran >> bit & 1 ? before : 0);

        if (lost)
            pt_self_miss(self, (unsigned)bit, pt_load_seqcst(&self->page->epoch[bit]), lost);
    }
}

/* No segment is unmapped meanwhile: the thread may have no record yet. */
void pt_unmade_settle(struct pt_self *self)
{
    struct losses *l = losses();
    struct pt_stranger stranger;
    uint64_t bits, ran;

    if (!is_own() || !l)
        return;
    pt_thread_stranger_begin(&stranger);
    bits = uncounted(self);
    ran = ran_before(self, bits);
    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        if (pt_load_seqcst(&l->recent[id]) | pt_load_seqcst(&l->before[id]))
            settle_type(self, l, id, bits, ran);
    pt_thread_stranger_end(&stranger);
}
