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
 *   4  gate word = that of the cached       else another path; one has a value that no gate word
 *      writer                               has if there is none, even if another process changes
 *                                           the page
 *   5  load page->changes                   sees whether the bit was taken back before 3
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
 * Four paths; each falls back to the next one, which can start from the beginning
 * because the earlier one has stored nothing that remains, or continue inside the event.
 *   pt_event_record   inline: 8 bytes, one stream, the thread's copy of the writer, room
 *   pt_event_multi  any number of streams and clocks, the thread's cached list (several_writers)
 *   pt_event_other  all writers attached; caches them
 *   pt_event_slow     first events, nested events, events that handlers left half-way, forks
 * All calls out of the first are tail calls: it needs no stack frame.
 */
/* Inside at level 0; count: the event's. */
void pt_event_multi(uint32_t id, const void *data, size_t len, uint64_t addr, uint64_t count)
    PT_HIDDEN PT_NOINLINE;
void pt_event_other(uint32_t id, const void *data, size_t len, uint64_t addr, uint64_t count,
                    struct pt_thread *t) PT_HIDDEN PT_NOINLINE;
void pt_event_slow(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
    PT_HIDDEN PT_COLD;
/* Records the CPU time of the calling thread. */
void pt_event_cpu_time(uint64_t addr, uintptr_t frame) PT_HIDDEN PT_COLD;
/* Data in registers: see pt_event_record_words. */
#define PT_EVENT_WORDS 2u
void pt_event_words_other(uint32_t id, size_t size, uint64_t first, uint64_t second, uint64_t addr,
                          uintptr_t frame) PT_HIDDEN PT_NOINLINE;
/* The same, inside the copied writer of t, which has no room for it.  Leaves it first.  id_size:
 * the size above 32 bits of the id, since six arguments fit registers. */
void pt_event_words_no_room(struct pt_thread *t, uint64_t id_size, uint64_t first, uint64_t second,
                            uint64_t addr, uintptr_t frame) PT_HIDDEN PT_COLD;
/* Inside at level 0, in one stream, that of the thread's copy: any size of data. Leaves the
 * event. */
void pt_event_sized(uint32_t id, const void *data, size_t len, uint64_t addr, struct pt_thread *t)
    PT_HIDDEN PT_NOINLINE;
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
    pt_store_relaxed(&t->word, pt_thread_word_1(frame));
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

/*
 * Steps 7 to 9 with the copy of a writer; false: not done.  The commit word is in shared memory, so
 * any value may be there.  The position in it is taken from the first record's place on, modulo
 * 2^32: one outside the chunk is beyond last_8.
 * copied: len, or with a shorter len the constant multiple of 8 that has as many words.
 */
static inline PT_ALWAYS_INLINE bool pt_event_put_one(const struct pt_one *one, uint32_t id,
                                                     const void *data, size_t len, size_t copied,
                                                     uint64_t addr, uint64_t *last)
{
    const uint32_t need = pt_record_size((uint32_t)copied);
    uint8_t *chunk = one->chunk, *at;
    uint64_t step = need + (1ull << 32), next, ts, delta;
    uint32_t offset;

    /* Else the compiler makes one constant from another, which takes longer. */
    if (__builtin_constant_p(copied))
        pt_settle(step);
    next = step + pt_load_plain((uint64_t *)(void *)chunk);
    offset = (uint32_t)next - need - (uint32_t)sizeof(struct pt_chunk);
    if (pt_unlikely((int64_t)offset + need - PT_EVENT_8 > one->last_8))
        return false;
    ts = pt_clock_now(PT_CLOCK_TSC);
    delta = ts - one->base;
    if (pt_unlikely(delta > PT_DELTA_MAX))
        return false;
    at = chunk + sizeof(struct pt_chunk) + offset;
    pt_record_put_head(at, PT_RECORD_EVENT, id, (uint32_t)len, (uint32_t)delta, addr);
    if (__builtin_constant_p(copied))
        __builtin_memcpy(at + PT_RECORD_HEAD, data, copied);
    else
        pt_event_copy(at + PT_RECORD_HEAD, data, len);
    *last = ts;
    pt_fence_compiler();
    pt_store_release((uint64_t *)(void *)chunk, next);
    return true;
}

/* What a thread's event in one stream uses is a copy of a valid writer. */
PT_VALIDATOR bool pt_event_one_is_copy(const struct pt_thread *t)
{
    const struct pt_writer *writer = t->one_writer;
    struct pt_one is;

    if (!writer || writer->word != &t->word || t->one_max != writer->max_inline)
        return false;
    pt_writer_copy(writer, &is);
    return is.chunk == t->one.chunk && is.last_8 == t->one.last_8 && is.base == t->one.base &&
           is.slot == t->one.slot && is.attention == t->one.attention &&
           is.slot == pt_seg_slot(writer->seg, writer->slot_index) &&
           writer->limit <= writer->seg->g.chunk_size;
}

/* Steps 10 to 12, with the copy of the writer. */
static inline PT_ALWAYS_INLINE void pt_event_finish(struct pt_thread *t)
{
    pt_store_release(&t->one.slot->inside, 0u);
    pt_fence_compiler();
    if (pt_unlikely(pt_load_plain(t->one.attention)))
        pt_event_attention(t->one_writer);
    else
        pt_event_leave(&t->word);
}

/* A macro, because __builtin_return_address(0) is evaluated in the function that contains it. */
#define pt_event_here() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* open: the gate word, some bit of it is set. */
static inline PT_ALWAYS_INLINE void pt_event_record_open(const uint64_t *gates, uint64_t open,
                                                         uint32_t id, const void *data, size_t len)
{
    struct pt_thread *t = pt_thread_self;
    uint64_t count;

    if (pt_unlikely(pt_load_plain(&t->word) != PT_THREAD_IDLE)) {
        pt_event_slow(id, data, len, pt_event_here(), pt_event_frame());
        return;
    }
    count = pt_event_enter(t, pt_event_frame());
    if (pt_unlikely(open != pt_load_plain(&t->one.gate)) ||
        pt_unlikely(pt_load_relaxed(&pt_event_page(gates)->changes) != t->one.changes)) {
        pt_event_multi(id, data, len, pt_event_here(), count);
        return;
    }
    pt_assert_valid(pt_event_one_is_copy(t));
    pt_store_relaxed(&t->one.slot->inside, count);
    pt_fence_compiler();
    if (pt_unlikely(len != 8) || pt_unlikely(!data))
        pt_event_sized(id, data, len, pt_event_here(), t);
    else if (pt_unlikely(!pt_event_put_one(&t->one, id, data, 8, 8, pt_event_here(), &t->one_last)))
        pt_event_no_room(id, data, len, pt_event_here(), t->one_writer);
    else
        pt_event_finish(t);
}

/* The gate word of an event type of the program's; 0 for other numbers. */
static inline PT_ALWAYS_INLINE uint64_t pt_event_gate(const uint64_t *gates, uint32_t id)
{
    size_t user = (uint32_t)(id - PT_ID_USER_FIRST);

    pt_settle(user);
    if (pt_unlikely(user >= TRACE_USER_EVENT_MAX))
        return 0;
    return pt_load_plain(&(gates + user)[PT_ID_USER_FIRST]);
}

static inline PT_ALWAYS_INLINE void pt_event_record(uint32_t id, const void *data, size_t len)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open = pt_event_gate(gates, id);

    if (pt_likely(open == 0))
        return;
    pt_event_record_open(gates, open, id, data, len);
}

/*
 * Data in registers: the first size bytes of words 64-bit words as they would lie in memory.  The
 * thread's copy is of a writer that takes 16 bytes.  What does not fit leaves the event again, for
 * pt_event_words_other, which has the data in memory.
 */
static inline PT_ALWAYS_INLINE void pt_event_record_words(uint32_t id, size_t size,
                                                          const uint64_t *data, unsigned words)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open = pt_event_gate(gates, id), count;
    struct pt_thread *t;

    if (pt_likely(open == 0))
        return;
    t = pt_thread_self;
    if (pt_unlikely(pt_load_plain(&t->word) != PT_THREAD_IDLE) ||
        pt_unlikely(size - 1 - 8 * (words - 1) > 7))
        goto other;
    count = pt_event_enter(t, pt_event_frame());
    if (pt_likely(open == pt_load_plain(&t->one.gate)) &&
        pt_likely(pt_load_relaxed(&pt_event_page(gates)->changes) == t->one.changes)) {
        pt_assert_valid(pt_event_one_is_copy(t) && t->one_max >= PT_EVENT_WORDS * 8);
        pt_store_relaxed(&t->one.slot->inside, count);
        pt_fence_compiler();
        if (pt_likely(pt_event_put_one(&t->one, id, data, size, words * 8, pt_event_here(),
                                       &t->one_last))) {
            pt_event_finish(t);
            return;
        }
        pt_event_words_no_room(t, id | (uint64_t)size << 32, data[0], words > 1 ? data[1] : 0,
                               pt_event_here(), pt_event_frame());
        return;
    }
    pt_event_leave(&t->word);
other:
    pt_event_words_other(id, size < words * 8 ? size : words * 8, data[0], words > 1 ? data[1] : 0,
                         pt_event_here(), pt_event_frame());
}

#endif
