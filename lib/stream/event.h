/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The path of an event, posix_trace_event().
 *
 * Protocol, for one stream (more: the same stores for each, one clock reading)
 *   1  load the gate word; 0: return.  That is the whole cost of an event that
 *      nobody wants.
 *   2  word: not idle (first event, forked child, a handler inside an event, or
 *      what a siglongjmp left): slow path
 *   3  count += 1; word = our frame, level 1: we are inside, mappings stay
 *   4  load the gate word again             who closed it before 3 is seen here
 *   5  lane for the stream, right epoch     else slow path
 *   6  slot->inside = count                 then the clock: see ring/watermark.h
 *   7  room, short delta, short data        else slow path, still inside
 *   8  write the record behind the commit position
 *   9  lane->commit, chunk->commit          release: the commit
 *  10  slot->inside = 0                     release
 *  11  load attention                       a sleeping reader, an auto-stop: slow
 *  12  word = idle
 *
 * A signal between any two steps.  The handler's events see the level of 3 and
 * write as another writer, in lanes, slot and chunk of their own; before 3 they
 * use ours, completely, which is as if they had come before us.  Nothing is
 * shared between levels but counters changed by one atomic instruction.
 *
 * A handler left by siglongjmp, pthread_exit or cancellation leaves word and
 * inside set.  The next event of the thread finds the level in use and compares
 * frames (pt_event_slow); a thread that ends gives everything back.
 *
 * SIGKILL between any two steps: up to 9 the event does not exist, after it it
 * does; position and count change in one store.
 *
 * The compiler fences order our stores for signal handlers and, through
 * membarrier, for consumers on other processors.
 */
#ifndef PT_STREAM_EVENT_H
#define PT_STREAM_EVENT_H

#include <stddef.h>
#include "base/clock.h"
#include "stream/thread.h"

/* Everything that the fast path does not do. */
void pt_event_slow(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
    PT_HIDDEN PT_COLD;
/* Inside at level 0, in stream bit alone, clock not yet used: writes with what it takes. */
void pt_event_slow_inside(struct pt_thread *t, unsigned bit, uint32_t id, const void *data,
                          size_t len, uint64_t addr, uint64_t ts) PT_HIDDEN PT_COLD;
/* The lane of a stream, attached; the thread is inside.  NULL: there is none, and
 * a loss is counted. */
struct pt_lane *pt_event_lane(struct pt_self *self, struct pt_thread *t, unsigned level,
                              unsigned bit) PT_HIDDEN PT_COLD;
/* After an event: somebody waits, or the stream has stopped itself. */
void pt_event_attention(struct pt_lane *lane) PT_HIDDEN PT_COLD;

static inline struct pt_page *pt_event_page(const uint64_t *gates)
{
    return (struct pt_page *)(void *)((char *)(uintptr_t)gates - offsetof(struct pt_page, gates));
}

/* Small sizes without a call: the data of most events is a few words. */
static inline void pt_event_copy(uint8_t *to, const void *from, size_t len)
{
    if (pt_likely(len == 8)) {
        __builtin_memcpy(to, from, 8);
    } else if (len <= 64 && len % 8 == 0) {
        for (size_t i = 0; i < len; i += 8)
            __builtin_memcpy(to + i, (const uint8_t *)from + i, 8);
    } else {
        __builtin_memcpy(to, from, len);
    }
}

static inline void pt_event_record(uint32_t id, const void *data, size_t len, uint64_t addr,
                                   uintptr_t frame)
{
    const uint64_t *gates = pt_load_relaxed(&pt_gates);
    uint64_t open, count, ts, commit;
    struct pt_thread *t;
    struct pt_lane *lane;
    unsigned bit;
    uint32_t need, pos;

    if (pt_unlikely(id - PT_ID_USER_FIRST >= TRACE_USER_EVENT_MAX))
        return;
    open = pt_load_relaxed(&gates[id]);
    if (pt_likely(open == 0))
        return;
    t = pt_thread_self;
    if (pt_unlikely(!t || (open & (open - 1))))
        goto slow;
    if (pt_unlikely(pt_load_relaxed(&t->word) != PT_THREAD_IDLE))
        goto slow;
    count = t->count + 1;
    pt_store_release(&t->count, count);
    pt_fence_compiler();
    pt_store_relaxed(&t->word, pt_thread_word(frame, 1u));
    pt_fence_compiler();
    bit = (unsigned)__builtin_ctzll(open);
    lane = &t->lane0[bit];
    if (pt_unlikely(pt_load_relaxed(&gates[id]) != open ||
                    pt_load_relaxed(&pt_event_page(gates)->epoch[bit]) != lane->epoch ||
                    lane->special)) {
        pt_fence_compiler();
        pt_store_release(&t->word, (uint64_t)PT_THREAD_IDLE);
        goto slow;
    }
    pt_store_relaxed(&lane->slot->inside, count);
    pt_fence_compiler();
    ts = pt_clock_now(PT_CLOCK_TSC);
    commit = lane->commit;
    pos = (uint32_t)commit;
    need = pt_record_size((uint32_t)len);
    if (pt_likely(len <= lane->max_data && pos + need <= lane->limit &&
                  ts - lane->base <= UINT32_MAX)) {
        uint8_t *at = lane->chunk + pos;

        pt_record_put_head(at, PT_RECORD_EVENT, id, (uint32_t)len, (uint32_t)(ts - lane->base),
                           addr);
        pt_event_copy(at + PT_RECORD_HEAD, data, len);
        commit += need + (1ull << 32);
        lane->last = ts;
        pt_fence_compiler();
        lane->commit = commit;
        pt_store_release((uint64_t *)(void *)lane->chunk, commit);
        pt_store_release(&lane->slot->inside, 0u);
        pt_fence_compiler();
        if (pt_unlikely(pt_load_relaxed(&lane->h->attention)))
            pt_event_attention(lane);
    } else {
        pt_event_slow_inside(t, bit, id, data, len, addr, ts);
    }
    pt_fence_compiler();
    pt_store_release(&t->word, (uint64_t)PT_THREAD_IDLE);
    return;
slow:
    pt_event_slow(id, data, len, addr, frame);
}

#endif
