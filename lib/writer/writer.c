/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See writer.h. */
#include <errno.h>
#include <string.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "process/owner.h"
#include "shm/attention.h"
#include "shm/loss_interval.h"
#include "shm/pool.h"
#include "shm/slot.h"
#include "shm/syncpoint.h"
#include "writer/chain.h"
#include "writer/writer.h"

/* The bytes that may precede an event in a chunk that is new to the writer. */
#define GROUP_BYTES(len) (PT_RECORD_OVERHEAD + pt_record_size(len))

/* The fast path loads the commit word of any writer, then finds that there is no room. */
static uint64_t no_chunk;

static bool has_chunk(const struct pt_writer *writer)
{
    return writer->limit != 0;
}

/* The private part: the chunk is the segment's, and the limit inside it. */
PT_VALIDATOR bool is_valid(const struct pt_writer *writer)
{
    if (writer->slot != pt_seg_slot(writer->seg, writer->slot_index) || writer->h != writer->seg->h)
        return false;
    if (!has_chunk(writer))
        return writer->chunk == (uint8_t *)&no_chunk;
    return writer->chunk_index < pt_load_acquire(&writer->seg->chunks_open) &&
           writer->chunk == (uint8_t *)pt_seg_chunk(writer->seg, writer->chunk_index) &&
           writer->limit <= writer->seg->g.chunk_size;
}

static void drop_chunk(struct pt_writer *writer)
{
    writer->limit = 0;
    pt_fence_compiler();
    writer->chunk = (uint8_t *)&no_chunk;
    pt_writer_copy_one(writer);
}

static void bind_writer(struct pt_writer *writer, struct pt_seg *seg, uint32_t index)
{
    pt_assert_call(index < pt_load_acquire(&seg->slots_open));
    writer->seg = seg;
    writer->h = seg->h;
    writer->attention = pt_attention(seg->h);
    writer->slot = pt_seg_slot(seg, index);
    writer->slot_index = index;
    writer->max_data = (uint32_t)seg->g.attr.max_data;
    pt_assert(writer->max_data <= PT_MAX_DATA);
    writer->max_inline = writer->max_data < PT_EVENT_INLINE ? writer->max_data : PT_EVENT_INLINE;
    writer->plain_clock = seg->g.fences || !pt_barrier_works() || writer->max_data < 8
                              ? PT_CLOCK_NOT_PLAIN
                              : seg->g.clock;
    drop_chunk(writer);
    writer->base = 0;
    writer->last = 0;
    writer->refused = false;
}

int pt_writer_attach(struct pt_writer *writer, struct pt_seg *seg, uint64_t epoch,
                     const struct pt_author *author)
{
    uint32_t index;
    int r = pt_slot_attach(seg, author, pt_copy_mark(), &index);

    if (r < 0)
        return r;
    bind_writer(writer, seg, index);
    pt_fence_compiler();
    pt_store_relaxed(&writer->epoch, epoch);
    return 0;
}

bool pt_writer_take_up(struct pt_writer *writer, struct pt_seg *seg, uint32_t index, uint32_t at)
{
    struct pt_chunk *c;
    uint64_t word, first;
    uint32_t backed;

    bind_writer(writer, seg, index);
    if (at == 0)
        return true;
    if (at > pt_seg_reachable(seg, at))
        return false;
    c = pt_seg_chunk(seg, at - 1);
    word = pt_load_acquire(&pt_seg_info(seg, at - 1)->word);
    if (pt_word_state(word) != PT_CHUNK_OWNED || pt_word_slot(word) != index ||
        !pt_word_is(word, pt_load_acquire(&c->gen)))
        return false;
    backed = pt_seg_backed(seg, at - 1); /* 0 only if another process wrote it there */
    if (backed == 0)
        return false;
    writer->chunk = (uint8_t *)c;
    writer->chunk_index = at - 1;
    writer->limit = backed;
    writer->last = pt_load_relaxed(&c->base_ts);
    pt_chunk_times(seg, at - 1, sizeof *c, &first, &writer->last);
    pt_assert_valid(is_valid(writer));
    return true;
}

void pt_writer_lost(struct pt_writer *writer, unsigned cause, size_t len)
{
    pt_assert_call(cause < PT_LOST_OWN);
    /* The slot's owner counts alone, and its handlers. */
    pt_count_own(&writer->slot->lost[cause]);
    /* More of the stream's memory would not have helped the others. */
    if (cause == PT_LOST_FULL)
        pt_add_own(&writer->slot->lost_bytes, (uint64_t)pt_record_size((uint32_t)len));
    if (cause == PT_LOST_NO_MEMORY || cause == PT_LOST_NESTED)
        pt_loss_interval_note(writer->seg);
    else
        pt_note_overrun(writer->h);
}

void pt_writer_refuse(struct pt_writer *writer, struct pt_seg_header *h)
{
    if (!writer->refused)
        pt_note_refused(&h->refused_writers);
    writer->refused = true;
}

static void commit(struct pt_writer *writer, uint64_t value)
{
    pt_assert(has_chunk(writer) && (uint32_t)value <= writer->limit);
    pt_fence_compiler();
    pt_store_release((uint64_t *)(void *)writer->chunk, value);
}

/* next_no before chunk, chunk before the state: a consumer counts each event once, also
 * after this thread has died between two stores (shm/slot.h). */
void pt_writer_close_chunk(struct pt_writer *writer)
{
    struct pt_slot *s = writer->slot;

    if (!has_chunk(writer))
        return;
    pt_assert_valid(is_valid(writer));
    pt_store_release(&s->next_no, pt_slot_recorded(writer->seg, writer->slot_index));
    pt_store_release(&s->chunk, 0u);
    pt_pool_close(writer->seg, writer->chunk_index, writer->slot_index, writer->last);
    drop_chunk(writer);
    pt_pool_tell_full(writer->seg);
}

/* Is there room for so many bytes at that place, in a chunk that gets memory as it is used?  The
 * memory at least doubles each time, so there are few system calls. */
static bool has_bytes(struct pt_writer *writer, uint32_t at, uint32_t bytes)
{
    uint64_t end = (uint64_t)at + bytes, want = writer->limit * 2;
    uint32_t size = writer->seg->g.chunk_size;

    if (end <= writer->limit)
        return true;
    if (!has_chunk(writer) || end > size)
        return false;
    want = want < end ? end : want < size ? want : size;
    if (pt_seg_back_chunk(writer->seg, writer->chunk_index, (uint32_t)want) < 0)
        return false;
    writer->limit = pt_seg_backed(writer->seg, writer->chunk_index);
    pt_writer_copy_one(writer);
    pt_assert(want >= end && writer->limit <= size);
    return end <= writer->limit;
}

/*
 * The place for a record group of need bytes, after the last commit; NULL: there is no room.
 * The position is in shared memory: it is loaded once, with the commit word that the record's
 * own is made from, and checked against the writer's private limit.
 */
static uint8_t *place_for(struct pt_writer *writer, uint32_t need, uint64_t *committed)
{
    uint64_t word = pt_writer_committed(writer);
    uint32_t at = (uint32_t)word;

    if (!has_chunk(writer) || at < sizeof(struct pt_chunk) || !has_bytes(writer, at, need))
        return NULL;
    pt_assert((uint64_t)at + need <= writer->limit);
    *committed = word;
    return writer->chunk + at;
}

/* Writes the AUTHOR record in a chunk that this thread has adopted from another, or that threads
 * with one control writer share. */
static void put_author(struct pt_writer *writer)
{
    struct pt_record_author a = { writer->slot->author,
                                  pt_slot_recorded(writer->seg, writer->slot_index) };
    uint64_t committed;
    uint8_t *at = place_for(writer, pt_record_size(sizeof a), &committed);

    if (!at)
        return;
    pt_assert_valid(is_valid(writer));
    pt_record_put_head(at, PT_RECORD_AUTHOR, 0, sizeof a, 0, 0);
    pt_happens_before(writer->slot);
    memcpy(at + PT_RECORD_HEAD, &a, sizeof a);
    commit(writer, committed + pt_record_size(sizeof a));
}

void pt_writer_set_author(struct pt_writer *writer, const struct pt_author *author, uint32_t room)
{
    pt_copy_watched(&writer->slot->author, author, sizeof *author);
    if (!has_chunk(writer))
        return;
    if (!has_bytes(writer, pt_writer_position(writer), room + GROUP_BYTES(0)))
        pt_writer_close_chunk(writer);
    else
        put_author(writer);
}

bool pt_writer_has_room(struct pt_writer *writer, uint32_t len)
{
    return has_bytes(writer, pt_writer_position(writer), GROUP_BYTES(len));
}

/* overwrites: a LOOP stream gives up its oldest chunk, if no other is free. */
static enum pt_pool_take take_chunk(struct pt_writer *writer, uint32_t need, bool overwrites)
{
    struct pt_seg *seg = writer->seg;
    struct pt_slot *s = writer->slot;
    uint32_t index;
    bool loop = overwrites && writer->seg->g.attr.stream_policy == POSIX_TRACE_LOOP;
    enum pt_pool_take r = pt_pool_take(seg, writer->slot_index, need, loop, &index);
    struct pt_chunk *c;

    pt_assert_call(!has_chunk(writer));
    if (r != PT_POOL_TAKEN && r != PT_POOL_ADOPTED)
        return r;
    pt_assert(index < pt_load_acquire(&seg->chunks_open));
    c = pt_seg_chunk(seg, index);
    writer->chunk = (uint8_t *)c;
    writer->chunk_index = index;
    writer->base = c->base_ts;
    writer->limit = pt_seg_backed(seg, index);
    if (!has_bytes(writer, pt_writer_position(writer), need)) {
        pt_pool_close(seg, index, writer->slot_index, c->last_ts);
        drop_chunk(writer);
        pt_pool_tell_full(seg);
        return PT_POOL_NO_MEMORY;
    }
    if (r == PT_POOL_ADOPTED) {
        writer->base = 0; /* unknown: the next record begins with its full time */
        /* If it is closed before this thread writes, its last event is that of its last owner. */
        if (writer->last < pt_load_relaxed(&c->last_ts))
            writer->last = pt_load_relaxed(&c->last_ts);
        put_author(writer);
    }
    pt_writer_copy_one(writer);
    pt_store_release(&s->chunk_base, s->next_no - (pt_writer_committed(writer) >> 32));
    pt_store_release(&s->chunk, index + 1);
    pt_syncpoint_look(writer->h, writer->seg->g.clock, c->base_ts);
    return r;
}

bool pt_writer_reserve(struct pt_writer *writer, bool overwrites)
{
    enum pt_pool_take r = PT_POOL_TAKEN;

    if (!has_chunk(writer))
        r = take_chunk(writer, GROUP_BYTES(writer->max_data), overwrites);

    return r == PT_POOL_TAKEN || r == PT_POOL_ADOPTED;
}

bool pt_writer_back(struct pt_writer *writer)
{
    uint32_t at = pt_writer_position(writer), size = writer->seg->g.chunk_size;

    return at <= size && has_bytes(writer, at, size - at);
}

/* The event that is being written is lost.  Not in pt_writer_lost(), which handlers call that are
 * nested too deep, while we write. */
static void lose(struct pt_writer *writer, unsigned cause, size_t len)
{
    writer->counted = true;
    pt_writer_lost(writer, cause, len);
}

/* The stream is full: the next one's event, if there is one. */
static void leave_to_next(struct pt_writer *writer, size_t len)
{
    writer->onward = pt_chain_has_next(writer->h);
    if (!writer->onward)
        lose(writer, PT_LOST_FULL, len);
}

/*
 * The writer has found no chunk since it read that state.  It stops the stream as of now, not
 * as of its event: between the two other writers may have filled the stream, and the consumer
 * refuses all that is later than the stop.  False: the stream was started again meanwhile, and
 * may have room.
 */
static bool stop_or_lose(struct pt_writer *writer, uint64_t state, size_t len)
{
    uint64_t now = state;

    if (pt_state_of(state) == PT_RUNNING &&
        !pt_stream_stop_full(writer->h, &now, pt_clock_now(writer->seg->g.clock)) &&
        pt_state_of(now) == PT_RUNNING)
        return false;
    if (pt_state_runs(now)) /* else stamped outside the stream's windows */
        leave_to_next(writer, len);
    return true;
}

/* Finds a chunk for a record with len bytes.  False: none; the event was counted or passed on.  A
 * user event whose gate was wrong, or open just before the stop, takes none: in a LOOP stream it
 * would overwrite events that are still to be read after the stop. */
static bool find_chunk(struct pt_writer *writer, uint32_t id, size_t len)
{
    for (;;) {
        uint64_t state = pt_load_seqcst(&writer->h->state);
        enum pt_pool_take r;

        if (id > PT_ID_SYSTEM_LAST && !pt_state_runs(state))
            return false;
        /* A late event of another process: the chunks may have no memory any more. */
        if (pt_load_seqcst(&writer->h->closed) && writer->slot->author.level != PT_LEVEL_CONTROL)
            return false;
        r = take_chunk(writer, GROUP_BYTES((uint32_t)len), true);
        if (r == PT_POOL_TAKEN || r == PT_POOL_ADOPTED)
            return true;
        if (r != PT_POOL_NO_MEMORY && writer->seg->g.attr.stream_policy != POSIX_TRACE_LOOP) {
            if (stop_or_lose(writer, state, len))
                return false;
        } else {
            if (!pt_state_runs(pt_load_seqcst(&writer->h->state)))
                return false;
            lose(writer, PT_LOST_NO_MEMORY, len);
            if (pt_seg_chunk_count(writer->seg) == writer->seg->g.chunk_max)
                pt_writer_refuse(writer, writer->h);
            return false;
        }
    }
}

/* Makes room for need bytes, of an event with n bytes of data, in another chunk.  Returns the
 * place, with the chunk's commit word in *committed and the event's time in *ts, or NULL. */
static uint8_t *place_in_next(struct pt_writer *writer, uint32_t id, uint32_t n, uint32_t need,
                              uint64_t *committed, uint64_t *ts)
{
    uint8_t *at;

    pt_writer_close_chunk(writer);
    if (pt_owner_gone(writer) || !find_chunk(writer, id, n))
        return NULL;
    at = place_for(writer, PT_RECORD_HEAD + need, committed);
    if (!at) { /* only where another process writes into our chunk */
        lose(writer, PT_LOST_NO_MEMORY, n);
        return NULL;
    }
    /* Nothing in the chunk is later than this.  If a stop has come meanwhile, the event may be
     * after its STOP; in a chain, the first stream counts it.  But the stop takes the time of STOP
     * only after it has closed the gates.  Until then find_chunk() refuses the thread's events
     * without a chunk, too, so that none is missing between others. */
    *ts = pt_clock_now(writer->seg->g.clock);
    pt_clock_settle();
    if (id > PT_ID_SYSTEM_LAST && !pt_state_runs(pt_load_seqcst(&writer->h->state))) {
        pt_writer_close_chunk(writer);
        return NULL;
    }
    return at;
}

/* How much of the data is recorded. */
static uint32_t recorded_bytes(const struct pt_writer *writer, size_t len)
{
    return len > writer->max_data ? writer->max_data : (uint32_t)len;
}

bool pt_writer_turns_away(struct pt_writer *writer, uint32_t id, size_t len)
{
    uint64_t state = pt_load_relaxed(&writer->h->state);

    writer->onward = writer->counted = false;
    if ((id & PT_RECORD_ID_MASK) <= PT_ID_SYSTEM_LAST || !pt_state_is_full(state))
        return false;
    if (!pt_owner_gone(writer) && pt_state_runs(state))
        leave_to_next(writer, recorded_bytes(writer, len));
    return true;
}

bool pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                     uint64_t addr, uint64_t ts)
{
    uint32_t n = recorded_bytes(writer, len), need = pt_record_size(n);
    uint32_t flags = n < len ? PT_RECORD_TRUNCATED : id & PT_RECORD_TRUNCATED;
    uint64_t committed;
    uint8_t *at;

    pt_assert_valid(is_valid(writer));
    if (pt_writer_turns_away(writer, id, len))
        return false;
    id &= PT_RECORD_ID_MASK;
    pt_assert_call(id != 0 && id < PT_ID_MAX);
    at = place_for(writer, PT_RECORD_HEAD + need, &committed);
    if (!at) {
        at = place_in_next(writer, id, n, need, &committed, &ts);
        if (!at)
            return false;
    }
    if (ts <= writer->last && writer->seg->g.clock != PT_CLOCK_TSC)
        ts = writer->last + 1;
    if (ts < writer->base || ts - writer->base > PT_DELTA_MAX) {
        pt_record_put_head(at, PT_RECORD_TIME, 0, 0, 0, ts);
        at += PT_RECORD_HEAD;
        need += PT_RECORD_HEAD;
        writer->base = ts;
        pt_writer_copy_one(writer);
    }
    pt_assert(ts >= writer->base && ts - writer->base <= PT_DELTA_MAX);
    pt_assert(at + pt_record_size(n) <= writer->chunk + writer->limit);
    pt_record_put_head(at, PT_RECORD_EVENT, id | flags, n, (uint32_t)(ts - writer->base), addr);
    if (n)
        memcpy(at + PT_RECORD_HEAD, data, n);
    writer->last = ts;
    commit(writer, committed + need + (1ull << 32));
    return true;
}

void pt_writer_recover(struct pt_writer *writer)
{
    struct pt_slot *s = writer->slot;
    uint32_t at = pt_load_relaxed(&s->chunk);

    pt_pool_repair(writer->seg, writer->slot_index);
    if (at == 0 || at > pt_seg_reachable(writer->seg, at)) {
        drop_chunk(writer);
    } else {
        writer->chunk_index = at - 1;
        writer->chunk = (uint8_t *)pt_seg_chunk(writer->seg, at - 1);
        writer->limit = pt_seg_backed(writer->seg, at - 1);
        writer->base = 0; /* a TIME record may or may not have been committed */
        pt_writer_copy_one(writer);
    }
    pt_assert_valid(is_valid(writer));
    pt_store_release(&s->inside, 0u);
}
