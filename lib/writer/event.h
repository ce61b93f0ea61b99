/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The path of an event, posix_trace_event().
 *
 * Protocol, for one stream (more: the same stores for each, one clock reading)
 *   1  load the gate word; 0: return.  That is the whole cost of an event that
 *      no stream records.
 *   2  word: not idle (first event, forked child, a handler inside an event, or
 *      an event that a siglongjmp left): slow path
 *   3  word = our frame, level 1: we are inside, mappings stay; then count += 1, in this
 *      order: events of handlers before the store of the word have counted by then
 *   4  load the epoch of the gate bit       sees whether the bit was taken back before 3
 *   5  writer for the stream, that epoch    else slow path; without a writer fast[] has a value
 *                                           that equals no epoch, even if another process changes
 *                                           the page
 *   6  slot->inside = count                 then the clock: see shm/watermark.h
 *   7  room, short delta, short data        else slow path, still inside
 *   8  write the record after the commit position
 *   9  chunk->commit                        release: the commit
 *  10  slot->inside = 0                     release
 *  11  load attention                       a sleeping reader, an auto-stop: slow
 *  12  word = idle
 *
 * A signal between any two steps.  After 3 the handler's events see the level and write as another
 * writer, in writers, slot and chunk of their own.  Before 3 they use ours and complete, as if they
 * had come before our event.  Levels share only counters that one atomic instruction changes.
 *
 * A handler left by siglongjmp, pthread_exit or cancellation leaves word and
 * inside set.  The next event of the thread finds the level in use and compares frames
 * (pt_event_slow); a thread that ends releases everything.  If the interrupted event ends first,
 * only inside stays set, in a writer of a higher level: the next event that uses the writer finds
 * it (pt_event_writer).
 *
 * SIGKILL between any two steps: before 9 the event does not exist, after 9 it does; position and
 * count change in one store.
 *
 * The compiler fences order our stores for signal handlers and, through
 * membarrier, for consumers on other processors.
 */
#ifndef PT_WRITER_EVENT_H
#define PT_WRITER_EVENT_H

#include <stddef.h>
#include "base/assert.h"
#include "base/clock.h"
#include "process/thread.h"

/*
 * Three paths; each falls back to the next one, which can start from the beginning
 * because the earlier one has stored nothing that remains.
 *   pt_event_record   inline: 8 bytes, one stream, its clock is the TSC, room for the record
 *   pt_event_multi  any number of streams and clocks, all writers attached
 *   pt_event_slow     first events, nested events, events that handlers left half-way, forks
 * All calls out of the first are tail calls: it needs no stack frame.
 */
void pt_event_multi(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
    PT_HIDDEN PT_NOINLINE;
void pt_event_slow(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
    PT_HIDDEN PT_COLD;
/* Records the CPU time of the calling thread. */
void pt_event_cpu_time(uint64_t addr, uintptr_t frame) PT_HIDDEN PT_COLD;
/* Inside at level 0, in the stream of this writer alone: any size of data. Leaves the event. */
void pt_event_sized(uint32_t id, const void *data, size_t len, uint64_t addr,
                    struct pt_writer *writer) PT_HIDDEN PT_NOINLINE;
/* The same, when the chunk is to be changed, or the data are too long, or the time is
 * too far from the base. */
void pt_event_no_room(uint32_t id, const void *data, size_t len, uint64_t addr,
                      struct pt_writer *writer) PT_HIDDEN PT_COLD;
/* A thread waits for the stream, or the stream has stopped itself. */
void pt_event_attend(struct pt_writer *writer) PT_HIDDEN PT_COLD;
/* The same, of an event that is written and not left yet. Leaves it. */
void pt_event_attention(struct pt_writer *writer) PT_HIDDEN PT_COLD;
/* Leaves the writer's slot, then wakes readers and closes chunks that others wait for. */
void pt_event_leave_writer(struct pt_writer *writer) PT_HIDDEN PT_COLD;
/* The writer of a stream, attached; the thread is inside.  NULL: there is none.  With that an
 * event of type id is lost, if that is not 0: it is counted in the segment, or once the process has
 * mapped that (pt_self_miss). */
struct pt_writer *pt_event_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                  unsigned bit, uint32_t id) PT_HIDDEN PT_COLD;

/* Tells event frames of a stack apart; needs no frame pointer. */
#define pt_event_frame() ((uintptr_t)__builtin_dwarf_cfa())

static inline struct pt_page *pt_event_page(const uint64_t *gates)
{
    return (struct pt_page *)(void *)((char *)(uintptr_t)gates - offsetof(struct pt_page, gates));
}

/* Step 3.  The word first: from then on no handler's event is of level 0 and counts, so
 * that the number is this event's alone. */
static inline uint64_t pt_event_enter(struct pt_thread *t, uintptr_t frame)
{
    pt_assert_call((pt_load_relaxed(&t->word) & PT_THREAD_LEVEL) == 0);
    pt_assert_call(t == pt_thread_self);
    pt_store_relaxed(&t->word, pt_thread_word(frame, 1u));
    pt_fence_compiler();
    pt_count_own(&t->count);
    pt_fence_compiler();
    return pt_load_relaxed(&t->count);
}

static inline void pt_event_leave(uint64_t *word)
{
    pt_fence_compiler();
    pt_store_release(word, (uint64_t)PT_THREAD_IDLE);
}

/* Copies up to PT_EVENT_INLINE bytes without a call; the last two stores may overlap. */
static inline void pt_event_copy(uint8_t *to, const void *from, size_t len)
{
    const uint8_t *f = from;

    if (len >= 16) {
        const uint8_t *last = f + len - 16;
        uint8_t *to_last = to + len - 16;

        for (; f < last; f += 16, to += 16)
            __builtin_memcpy(to, f, 16);
        __builtin_memcpy(to_last, last, 16);
    } else if (len >= 8) {
        __builtin_memcpy(to, f, 8);
        __builtin_memcpy(to + len - 8, f + len - 8, 8);
    } else if (len >= 4) {
        __builtin_memcpy(to, f, 4);
        __builtin_memcpy(to + len - 4, f + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = f[i];
    }
}

/* Step 7 but for the time, which a full stream does not ask for: is there room at *commit?
 * A constant len makes it short; the writer is then known to take that much. */
static inline PT_ALWAYS_INLINE bool pt_event_has_room(const struct pt_writer *writer, size_t len,
                                                      uint64_t *commit)
{
    *commit = pt_load_relaxed((uint64_t *)(void *)writer->chunk);
    if (!__builtin_constant_p(len) && pt_unlikely(len > writer->max_inline))
        return false;
    return pt_likely((uint64_t)(uint32_t)*commit + pt_record_size((uint32_t)len) <= writer->limit);
}

/* Steps 7 to 9 for one writer, where there is room; false: not done, the base is too old.
 * last: where the time of the writer's last record is noted, see pt_thread_settle. */
static inline PT_ALWAYS_INLINE bool pt_event_put(struct pt_writer *writer, uint64_t commit,
                                                 uint32_t id, const void *data, size_t len,
                                                 uint64_t addr, uint64_t ts, uint64_t *last)
{
    uint8_t *chunk = writer->chunk, *at = chunk + (uint32_t)commit;
    uint64_t delta = ts - writer->base, need = pt_record_size((uint32_t)len);

    if (pt_unlikely(delta > PT_DELTA_MAX))
        return false;
    pt_assert(writer->limit != 0 && (uint32_t)commit + need <= writer->limit);
    pt_assert(writer->limit <= writer->seg->g.chunk_size);
    pt_assert(ts >= writer->base && len <= writer->max_data);
    pt_record_put_head(at, PT_RECORD_EVENT, id, (uint32_t)len, (uint32_t)delta, addr);
    if (__builtin_constant_p(len))
        __builtin_memcpy(at + PT_RECORD_HEAD, data, len);
    else
        pt_event_copy(at + PT_RECORD_HEAD, data, len);
    *last = ts;
    pt_fence_compiler();
    pt_store_release((uint64_t *)(void *)chunk, commit + need + (1ull << 32));
    return true;
}

/* Steps 10 to 12. */
static inline PT_ALWAYS_INLINE void pt_event_finish(struct pt_writer *writer)
{
    pt_assert(writer->slot == pt_seg_slot(writer->seg, writer->slot_index));
    pt_store_release(&writer->slot->inside, 0u);
    pt_fence_compiler();
    if (pt_unlikely(pt_load_relaxed(&writer->h->attention)))
        pt_event_attention(writer);
    else
        pt_event_leave(writer->word);
}

/* A macro, because __builtin_return_address(0) is evaluated in the function that contains it. */
#define pt_event_here() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* open: the gate word, some bit of it is set. */
static inline PT_ALWAYS_INLINE void pt_event_record_open(const uint64_t *gates, uint64_t open,
                                                         uint32_t id, const void *data, size_t len)
{
    uint64_t bit, count, commit;
    struct pt_thread *t;
    struct pt_writer *writer;

    t = pt_thread_self;
    if (pt_unlikely(!t) || pt_unlikely(pt_load_relaxed(&t->word) != PT_THREAD_IDLE)) {
        pt_event_slow(id, data, len, pt_event_here(), pt_event_frame());
        return;
    }
    if (pt_unlikely(open & (open - 1)))
        goto several;
    count = pt_event_enter(t, pt_event_frame());
    bit = (uint64_t)__builtin_ctzll(open);
    writer = &t->writers0[bit];
    if (pt_unlikely(pt_load_relaxed(&pt_event_page(gates)->epoch[bit]) !=
                    pt_load_relaxed(&t->fast[bit]))) {
        pt_event_leave(&t->word);
        goto several;
    }
    pt_store_relaxed(&writer->slot->inside, count);
    pt_fence_compiler();
    if (pt_unlikely(len != 8) || pt_unlikely(!data)) {
        pt_event_sized(id, data, len, pt_event_here(), writer);
        return;
    }
    if (pt_unlikely(!pt_event_has_room(writer, 8, &commit)) ||
        pt_unlikely(!pt_event_put(writer, commit, id, data, 8, pt_event_here(),
                                  pt_clock_now(PT_CLOCK_TSC), &writer->last)))
        pt_event_no_room(id, data, len, pt_event_here(), writer);
    else
        pt_event_finish(writer);
    return;
several:
    pt_event_multi(id, data, len, pt_event_here(), pt_event_frame());
}

static inline PT_ALWAYS_INLINE void pt_event_record(uint32_t id, const void *data, size_t len)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open;

    if (pt_unlikely(id - PT_ID_USER_FIRST >= TRACE_USER_EVENT_MAX))
        return;
    open = pt_load_relaxed(&gates[id]);
    if (pt_likely(open == 0))
        return;
    pt_event_record_open(gates, open, id, data, len);
}

#endif
