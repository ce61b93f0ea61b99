/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records an event in several streams; for each of them the protocol is that of event.h.  The
 * callers, posix_trace_event() and its relatives, come here when the gate word is not that of the
 * thread's copy of a writer.
 *
 * An event takes the fastest of three paths that its conditions allow:
 *
 *   ready      pt_event_multi: events of 8 bytes on the TSC clock, in the same streams as
 *              the event before, and the copies below are valid
 *   rest       put_rest: any size and any plain clock
 *   other      pt_event_other: makes the list of the writers, or caches the writer of one stream
 *   slow       pt_event_slow: writers that are not attached, different clocks, streams with a
 *              filter to evaluate
 *
 * All paths read the clock and store the time in the thread's record (pt_thread_settle) once for
 * all streams.  The ready path also checks room and time once: all chunks have room for the events
 * up to the count ready_until, and all bases are near enough for times from ready_base to
 * ready_base + ready_span.  The members of each writer that it loads are copied into ready[], side
 * by side.
 *
 * Another process can write the commit word.  The ready path does not use it: its records
 * have one size and consecutive counts, so the count determines the place of a record.  The
 * other paths compare the commit word with the writer's private limit.
 *
 * Invariant: the copies are valid as long as no other event has used a writer of level 0.
 * Every event of that level increments the count, so it suffices that several_count, the
 * count of the last event in several streams, is the one before ours.  A signal handler that
 * runs before this event is inside may record any number of events of level 0.  The count is
 * incremented after the thread's word is stored, so all of those have counted before
 * (test/model/ready.pml; in the other order, our number would be that of the last of them).
 * An event that is left by siglongjmp, or that had to attend to readers or full chunks, does
 * not store several_count or clears ready_until: the next event takes the rest path.
 */
#include "base/assert.h"
#include "writer/chain.h"
#include "writer/event.h"
#include "writer/writer.h"

/* Bytes of one event in every stream, and the distance of the prefetch.  The prefetch is
 * useless for the last ten events or so of a chunk. */
enum { NEED = PT_EVENT_8, AHEAD = 256 };

/* Makes the list of the writers of a gate word; false if they do not all have the same plain
 * clock.  t->several is stored only when the list is complete. */
static PT_COLD bool learn_several(struct pt_thread *t, const struct pt_page *page, uint64_t open)
{
    int clock = open ? t->writers0[__builtin_ctzll(open)].plain_clock : PT_CLOCK_NOT_PLAIN;
    struct pt_writer **end = &t->several_writers;
    uint64_t bit;

    /* Streams with a filter take the slow path; the cached writer list stays valid. */
    if (open & pt_load_relaxed(&page->shadows))
        return false;
    pt_thread_forget_several(t);
    /* Cleared before the list is made: if siglongjmp leaves this function half-way, a time of
     * another clock must not count as the last time of these writers. */
    pt_fence_compiler();
    t->several_last = 0;
    pt_fence_compiler();
    if (clock == PT_CLOCK_NOT_PLAIN)
        return false;
    t->several_changes = pt_load_acquire(&page->changes);
    pt_for_each_bit(bit, open)
    {
        struct pt_writer *writer = &t->writers0[bit];

        if (!pt_writer_is_good(writer, pt_load_relaxed(&page->epoch[bit])) ||
            writer->plain_clock != clock) {
            t->several_writers = NULL;
            return false;
        }
        writer->next = NULL;
        pt_fence_compiler();
        *end = writer;
        end = &writer->next;
    }
    pt_assert(clock != PT_CLOCK_NOT_PLAIN && t->several_writers);
    t->several_clock = clock;
    pt_fence_compiler();
    pt_store_relaxed(&t->several, open);
    pt_fence_seqcst();
    for (struct pt_writer *writer = t->several_writers; writer; writer = writer->next)
        if (pt_load_relaxed(&writer->epoch) == 0) { /* see thread.h */
            pt_thread_forget_several(t);
            return false;
        }
    return true;
}

/* Fills ready[] for the next events of 8 bytes.  If the bases are too far apart, for none. */
static void make_ready(struct pt_thread *t, uint64_t count)
{
    uint64_t room = UINT64_MAX, oldest = UINT64_MAX, newest = 0;
    struct pt_ready *r = t->ready;

    for (const struct pt_writer *writer = t->several_writers; writer; writer = writer->next, r++) {
        uint64_t pos = pt_writer_position(writer),
                 left = writer->limit > pos ? writer->limit - pos : 0;

        *r = (struct pt_ready){ writer->chunk, writer->base, writer->slot, writer->attention,
                                (uintptr_t)writer->chunk + pos - (uintptr_t)(count + 1) * NEED };
        room = left < room ? left : room;
        oldest = writer->base < oldest ? writer->base : oldest;
        newest = writer->base > newest ? writer->base : newest;
    }
    pt_assert(r <= t->ready + PT_STREAMS);
    *r = (struct pt_ready){ .chunk = NULL };
    t->ready_base = newest;
    t->ready_span = PT_DELTA_MAX - (newest - oldest);
    t->ready_until = r == t->ready || newest - oldest > PT_DELTA_MAX ? 0 : count + room / NEED;
}

/* Does the event with that count end inside each chunk, and is its time near each base? */
PT_VALIDATOR bool ready_has_room(const struct pt_thread *t, uint64_t count)
{
    const struct pt_ready *r = t->ready;

    for (const struct pt_writer *writer = t->several_writers; writer; writer = writer->next, r++) {
        uintptr_t at = r->origin + (uintptr_t)count * NEED, chunk = (uintptr_t)writer->chunk;

        if (r->chunk != writer->chunk || r->slot != writer->slot || r->base != writer->base ||
            at < chunk || at + NEED > chunk + writer->limit)
            return false;
    }
    return r->chunk == NULL;
}

static void attend_writers(struct pt_thread *t)
{
    for (struct pt_writer *writer = t->several_writers; writer; writer = writer->next)
        pt_event_attend(writer);
}

/*
 * In a child that a handler has forked since the event was entered, or just before, the thread may
 * have another record by now: it is not inside with that one, and count is not its own.  Then the
 * child makes the call for itself.  The ready path needs no such check: the numbers of that record
 * begin above count (pt_thread_get), so its last one is not the one before.
 */
static inline bool is_inside(const struct pt_thread *t)
{
    return pt_likely(pt_load_relaxed(&t->word) & PT_THREAD_LEVEL);
}

static PT_COLD void record_anew(uint32_t id, const void *data, size_t len, uint64_t addr)
{
    pt_event_slow(id, data, len, addr, pt_event_frame());
}

/*
 * Any size of data, any plain clock.  count: the event's.  Loads attention after each writer's
 * commit, and attends to readers only after all writers are written.  The writers may be inside
 * already.
 */
static PT_NOINLINE void put_rest(struct pt_thread *t, uint64_t count, uint32_t id, const void *data,
                                 size_t len, uint64_t addr)
{
    uint64_t ts, commit, onward = 0, bit;
    bool attention = false;

    if (!is_inside(t)) {
        record_anew(id, data, len, addr);
        return;
    }
    for (struct pt_writer *writer = t->several_writers; writer; writer = writer->next)
        pt_store_relaxed(&writer->slot->inside, count);
    pt_fence_compiler();
    len = data ? len : 0;
    ts = pt_clock_now(t->several_clock);
    pt_thread_settle(t);
    for (struct pt_writer *writer = t->several_writers; writer; writer = writer->next) {
        /* Nanoseconds may repeat; the times of one writer rise. */
        if (t->several_clock != PT_CLOCK_TSC && ts <= writer->last)
            ts = writer->last + 1;
        if (pt_unlikely(!pt_event_has_room(writer, len, &commit) ||
                        !pt_event_put(writer, commit, id, data, len, addr, ts, &writer->last)) &&
            !pt_writer_write(writer, id, data, len, addr, ts) && writer->onward)
            onward |= 1ull << (writer - t->writers0);
        pt_store_release(&writer->slot->inside, 0u);
        pt_fence_compiler();
        attention |= pt_load_relaxed(writer->attention) != 0;
    }
    if (attention)
        attend_writers(t);
    pt_for_each_bit(bit, onward)
        pt_chain_follow(pt_self_peek(), t, 0, &t->writers0[bit], id, data, len, addr);
    t->ready_until = 0;
    /* The copies pay only if the previous event was in these streams, too. */
    if (count == t->several_count + 1 && t->several_clock == PT_CLOCK_TSC)
        make_ready(t, count);
    t->several_count = count;
    pt_event_leave(&t->word);
}

/* All writers are written, and readers or full chunks of some need attention. */
static PT_COLD void attend_all(struct pt_thread *t)
{
    pt_thread_settle(t); /* the time up to which a closed chunk was written */
    attend_writers(t);
    t->ready_until = 0;
    pt_event_leave(&t->word);
}

/* Called if the list of writers is missing or out of date: makes it, or takes the slow path. */
static PT_COLD void learn_and_put(struct pt_thread *t, uint64_t count, uint32_t id,
                                  const void *data, size_t len, uint64_t addr)
{
    const struct pt_page *page = pt_event_page(pt_load_pointer(&pt_gates));
    uintptr_t frame;

    if (learn_several(t, page, pt_load_relaxed(&page->gates[id]))) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    frame = (uintptr_t)pt_load_relaxed(&t->word);
    pt_event_leave(&t->word);
    pt_event_slow(id, data, len, addr, frame);
}

/* As learn_several(), for the writer of one stream: of the event's, which was found good after
 * changes was loaded.  Its time so far is in writer->last. */
static PT_COLD void learn_one(struct pt_thread *t, uint64_t changes, uint64_t open,
                              struct pt_writer *writer)
{
    pt_assert(writer->plain_clock == PT_CLOCK_TSC && open == 1ull << (writer - t->writers0));
    pt_thread_forget_one(t);
    pt_fence_compiler();
    t->one_last = 0;
    t->one.changes = changes;
    t->one_max = writer->max_inline;
    pt_writer_copy(writer, &t->one);
    pt_fence_compiler();
    t->one_writer = writer;
    pt_fence_compiler();
    pt_store_relaxed(&t->one.gate, open);
    pt_fence_seqcst();
    if (pt_load_relaxed(&writer->epoch) == 0) /* see thread.h */
        pt_thread_forget_one(t);
}

/* An event in one stream, whose writer is attached, is cached when it is the second in that stream:
 * a thread whose events are by turns in this stream and in that one does not pay for it. */
void pt_event_other(uint32_t id, const void *data, size_t len, uint64_t addr, uint64_t count,
                    struct pt_thread *t)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    const struct pt_page *page = pt_event_page(gates);
    uint64_t changes = pt_load_acquire(&page->changes), open = pt_load_relaxed(&gates[id]), commit;
    unsigned bit = open ? (unsigned)__builtin_ctzll(open) : 0;
    struct pt_writer *writer = &t->writers0[bit];

    if (!is_inside(t)) {
        record_anew(id, data, len, addr);
        return;
    }
    if (pt_unlikely(open & (open - 1)) || pt_unlikely(!open) ||
        pt_unlikely(pt_load_relaxed(&page->epoch[bit]) != pt_load_relaxed(&t->fast[bit]))) {
        learn_and_put(t, count, id, data, len, addr);
        return;
    }
    if (t->one_seen == open && writer->max_inline >= PT_EVENT_WORDS * 8 &&
        (pt_load_relaxed(&t->one.gate) != open || t->one.changes != changes))
        learn_one(t, changes, open, writer);
    t->one_seen = open;
    pt_store_relaxed(&writer->slot->inside, count);
    pt_fence_compiler();
    len = data ? len : 0;
    if (pt_unlikely(!pt_event_has_room(writer, len, &commit)) ||
        pt_unlikely(!pt_event_put(writer, commit, id, data, len, addr, pt_clock_now(PT_CLOCK_TSC),
                                  &writer->last))) {
        pt_event_no_room(id, data, len, addr, writer);
        return;
    }
    pt_event_leave_writer(writer);
    pt_event_leave(&t->word);
}

/* The record of eight bytes for one stream, and its commit; the stream's attention word. */
static inline __attribute__((always_inline)) uint32_t put_ready(const struct pt_ready *r,
                                                                uint64_t count, uint32_t delta,
                                                                uint32_t id, uint64_t value,
                                                                uint64_t addr)
{
    uint8_t *at = (uint8_t *)(r->origin + (uintptr_t)count * NEED);

    __builtin_prefetch(at + AHEAD, 1);
    pt_record_put_head(at, PT_RECORD_EVENT, id, 8, delta, addr);
    __builtin_memcpy(at + PT_RECORD_HEAD, &value, 8);
    pt_fence_compiler();
    pt_publish_own((uint64_t *)(void *)r->chunk, NEED + (1ull << 32));
    pt_fence_compiler();
    pt_store_release(&r->slot->inside, 0u);
    pt_fence_compiler();
    return pt_load_relaxed(r->attention);
}

/* All calls are tail calls, so that this path needs no callee-saved registers. */
void pt_event_multi(uint32_t id, const void *data, size_t len, uint64_t addr, uint64_t count)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    const struct pt_page *page = pt_event_page(gates);
    struct pt_thread *t = pt_thread_self;
    uint64_t ts, value;
    const struct pt_ready *r;
    uint32_t attention = 0;

    if (pt_unlikely(pt_load_relaxed(&gates[id]) != pt_load_plain(&t->several)) ||
        pt_unlikely(pt_load_relaxed(&page->changes) != t->several_changes)) {
        pt_event_other(id, data, len, addr, count, t);
        return;
    }
    if (pt_unlikely(len != 8) || pt_unlikely(!data) || pt_unlikely(count > t->ready_until) ||
        pt_unlikely(count != t->several_count + 1)) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    for (r = t->ready; r->slot; r++)
        pt_store_relaxed(&r->slot->inside, count);
    pt_fence_compiler();
    __builtin_memcpy(&value, data, sizeof value);
    ts = pt_clock_now(PT_CLOCK_TSC);
    if (pt_unlikely(ts - t->ready_base > t->ready_span)) {
        put_rest(t, count, id, data, len, addr);
        return;
    }
    pt_assert_valid(ready_has_room(t, count));
    t->several_last = ts;
    for (r = t->ready; r->chunk; r++)
        attention |= put_ready(r, count, (uint32_t)(ts - r->base), id, value, addr);
    if (pt_unlikely(attention)) {
        attend_all(t);
        return;
    }
    t->several_count = pt_load_relaxed(&t->count); /* ours; not kept in a register */
    pt_event_leave(&t->word);
}

void pt_event_words_other(uint32_t id, size_t size, uint64_t first, uint64_t second, uint64_t addr,
                          uintptr_t frame)
{
    const uint64_t data[PT_EVENT_WORDS] = { first, second };
    struct pt_thread *t = pt_thread_self;

    size = size < sizeof data ? size : sizeof data;
    if (pt_unlikely(pt_load_plain(&t->word) != PT_THREAD_IDLE))
        pt_event_slow(id, data, size, addr, frame);
    else
        pt_event_multi(id, data, size, addr, pt_event_enter(t, frame));
}

/* A reader that saw this event under way sleeps until it is left, whatever comes of it.  In a child
 * that was forked meanwhile t is not the thread's record any more: this is the parent's event. */
void pt_event_words_no_room(struct pt_thread *t, uint64_t id_size, uint64_t first, uint64_t second,
                            uint64_t addr, uintptr_t frame)
{
    pt_thread_settle(t); /* the time up to which a closed chunk was written */
    pt_event_leave_writer(t->one_writer);
    pt_event_leave(&t->word);
    if (pt_likely(t == pt_thread_self))
        pt_event_words_other((uint32_t)id_size, (size_t)(id_size >> 32), first, second, addr,
                             frame);
}
