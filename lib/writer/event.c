/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The slow half of an event; the protocol is in event.h. */
#include "base/assert.h"
#include "process/fork.h"
#include "process/thread_name.h"
#include "process/unmade.h"
#include "shm/attention.h"
#include "shm/loss_interval.h"
#include "shm/slot.h"
#include "writer/chain.h"
#include "writer/event.h"
#include "writer/filter_eval.h"
#include "writer/frame.h"
#include "writer/writer.h"

/* Did a handler leave an event of this writer by siglongjmp?  Where it was closing its chunk after
 * the event, only the slot shows it: see pt_writer_close_chunk(). */
static bool is_left(const struct pt_writer *writer)
{
    const struct pt_slot *s = writer->slot;

    return pt_load_relaxed(&s->inside) != 0 ||
           (writer->limit != 0 && pt_load_relaxed(&s->chunk) != writer->chunk_index + 1);
}

static void recover_level(const struct pt_thread *t, unsigned level, const struct pt_page *page)
{
    struct pt_writer *writers = t->writers[level];

    for (unsigned bit = 0; writers && bit < PT_STREAMS; bit++)
        if (pt_writer_is_good(&writers[bit], pt_load_seqcst(&page->epoch[bit])) &&
            is_left(&writers[bit]))
            pt_writer_recover(&writers[bit]);
}

/*
 * Enters level.  First it recovers events that siglongjmp left half-way at the levels from level to
 * was: their writers continue after the last commit.  Until then the word has the level was, so
 * that a handler's event uses none of these writers.
 */
static uint64_t enter_level(struct pt_thread *t, const struct pt_page *page, uintptr_t frame,
                            unsigned level, unsigned was)
{
    pt_u64 *count = level ? &t->nested : &t->count;

    pt_assert_call(level < PT_LEVELS && was <= PT_LEVELS);
    pt_store_relaxed(&t->word, pt_thread_word(frame, level < was ? was : level + 1));
    pt_fence_compiler();
    pt_count_own(count);
    pt_fence_seqcst();
    if (level < was) {
        for (unsigned l = level; l < was; l++)
            recover_level(t, l, page);
        pt_fence_compiler();
        pt_store_release(&t->word, pt_thread_word(frame, level + 1));
        pt_fence_seqcst();
    }
    return pt_load_relaxed(count);
}

/* A loss of a thread that has no slot in the stream. */
static void count_no_slot(struct pt_seg *seg, unsigned cause)
{
    pt_add_relaxed(&seg->h->lost_no_slot[cause], 1u);
    pt_loss_interval_note(seg);
}

/* The segment.  NULL also in a half event of a forked child: where the fork came while the segment
 * was mapped, the mapping is the shared one.  After the look it is known, and parted. */
static struct pt_seg *map_here(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    struct pt_seg *seg = pt_self_segment(self, bit, epoch);

    return pt_self_peek() == self ? seg : NULL;
}

/* The same where the stream may not be mapped, and there is no memory or descriptor for that. */
static void count_no_writer(struct pt_self *self, unsigned bit, uint64_t epoch, unsigned cause)
{
    struct pt_seg *seg = map_here(self, bit, epoch);

    if (seg)
        count_no_slot(seg, cause);
    else if (pt_self_peek() == self)
        pt_self_miss(self, bit, epoch, 1);
}

/*
 * Nested too deep: lost in each stream whose gate is open.  One with an expression or a
 * function is not asked, for want of a writer to ask with: the event counts as lost there.
 * Where the thread does not write at level 0, the stream counts.
 */
static void count_nested(struct pt_self *self, struct pt_thread *t, uint64_t open, size_t len)
{
    uint64_t bit;

    pt_for_each_bit(bit, open & ~pt_load_seqcst(&self->page->shadows))
    {
        uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
        struct pt_writer *writer = &t->writers0[bit];

        if (pt_writer_is_good(writer, epoch))
            pt_writer_lost(writer, PT_LOST_NESTED, len);
        else
            count_no_writer(self, (unsigned)bit, epoch, PT_LOST_NESTED);
    }
}

/* A process that the stream has no room for: the event is lost, if the stream runs, and its event
 * set has the type now.  No controller changes the gates of the process. */
static void count_refused(struct pt_self *self, struct pt_seg *seg, unsigned bit, uint64_t epoch,
                          uint32_t id)
{
    if (!seg || pt_load_seqcst(&seg->h->closed)) {
        pt_page_revoke_bit(self->page, bit, epoch);
    } else if (pt_state_runs(pt_load_seqcst(&seg->h->state)) &&
               pt_seg_wants(seg->h, pt_seg_filter(seg->h), id)) {
        pt_add_relaxed(&seg->h->lost_no_slot[PT_LOST_NO_MEMORY], 1u);
        pt_loss_interval_note(seg);
    }
}

/* The writer has a slot of that stream from now on; or no slot. */
static bool attach(struct pt_thread *t, unsigned level, unsigned bit, struct pt_seg *seg,
                   uint64_t epoch, const struct pt_author *author)
{
    struct pt_writer *writer = &t->writers[level][bit];

    pt_assert_call(level < PT_LEVELS && bit < PT_STREAMS);
    writer->word = &t->word;
    if (pt_writer_attach(writer, seg, epoch, author) < 0)
        return false;
    pt_thread_name_again(t, seg, writer->slot_index);
    pt_fence_compiler();
    if (level == 0 && writer->plain_clock == PT_CLOCK_TSC)
        pt_store_relaxed(&t->fast[bit], epoch);
    return true;
}

struct pt_writer *pt_event_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                  unsigned bit, uint32_t id)
{
    uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
    struct pt_writer *writers = pt_thread_writers(t, level),
                     *writer = writers ? &writers[bit] : NULL;
    struct pt_author author = {
        .level = level, .pid = t->pid, .tid = t->tid, .thread_id = t->thread_id
    };
    struct pt_seg *seg;

    pt_assert_call(level < PT_LEVELS && bit < PT_STREAMS);
    if (writer && pt_writer_is_good(writer, epoch)) {
        /* A handler's event that a further handler left by siglongjmp, into the first one,
         * which returned: the word does not show it any more. */
        if (pt_unlikely(is_left(writer)))
            pt_writer_recover(writer);
        return writer;
    }
    if (writer)
        pt_thread_drop_writer(t, level, bit);
    seg = pt_self_segment(self, bit, epoch);
    /* In a child that was forked inside the event: under its parent's name.  Forked after this
     * look, the child has a private copy of the segment, which is known by now (process/fork.h). */
    if (pt_self_peek() != self || pt_fork_has_cut(t))
        return NULL;
    if (pt_unlikely(pt_load_relaxed(&self->page->stream[bit].refused))) {
        if (id)
            count_refused(self, seg, bit, epoch, id);
        return NULL;
    }
    if (!seg) {
        if (id)
            pt_self_miss(self, bit, epoch, 1);
        return NULL;
    }
    __builtin_memcpy(author.name, t->name, sizeof author.name);
    if (level == 0)
        pt_thread_forget_known(t);
    if (writer && attach(t, level, bit, seg, epoch, &author))
        return writer;
    if (writer && seg->chunk_reach)
        pt_writer_refuse(writer, seg->h);
    if (id)
        count_no_slot(seg, PT_LOST_NO_MEMORY);
    return NULL;
}

void pt_event_attend(struct pt_writer *writer)
{
    uint32_t a = pt_load_relaxed(writer->attention);

    if (a & (PT_WAIT_READER | PT_WAIT_FLUSHER))
        pt_stream_wake(writer->h, PT_WAIT_READER | PT_WAIT_FLUSHER);
    /* Without a chunk there is nothing to close; its last event was looked at before. */
    if ((a & PT_WAIT_STOPPED) && writer->limit != 0) {
        uint64_t state = pt_load_seqcst(&writer->h->state);

        if (!pt_state_is_full(state))
            return;
        /* Written between the stop and now: the reader will count it as lost, unless the
         * stream has had a successor in a chain. */
        if (writer->last > pt_state_ts(writer->h, state) &&
            !pt_load_relaxed(&writer->h->keeps_late))
            pt_note_overrun(writer->h);
        pt_writer_close_chunk(writer);
    }
}

void pt_event_leave_writer(struct pt_writer *writer)
{
    pt_store_release(&writer->slot->inside, 0u);
    if (writer->plain_clock == PT_CLOCK_NOT_PLAIN)
        pt_fence_seqcst();
    pt_fence_compiler();
    if (pt_load_relaxed(writer->attention))
        pt_event_attend(writer);
}

/*
 * Reads the thread's run time before and after the event's time: the run time at the event is
 * between the two, even if the thread was interrupted.  If a new chunk is needed, the event gets a
 * later time, so it records a lower bound only, and another event follows.
 */
static void write_cpu_time(struct pt_writer *writer, uint64_t run, uint64_t addr)
{
    struct pt_cpu_time t = { run, PT_CPU_TIME_OPEN };
    bool room = false;

    for (int i = 0; !room && i < 2; i++) {
        uint64_t ts, now;

        room = pt_writer_has_room(writer, sizeof t);
        if (!room)
            pt_writer_close_chunk(writer);
        ts = pt_clock_now(writer->seg->g.clock);
        now = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (room)
            t.more_ns = now > run ? now - run : 0;
        if (!pt_writer_write(writer, PT_ID_CPU_TIME, &t, sizeof t, addr, ts))
            return;
    }
}

/* Without those streams that are to be asked and do not want it. */
static uint64_t ask(struct pt_self *self, struct pt_thread *t, unsigned level, uint64_t open,
                    uint64_t shadows, uint32_t id, const void *data, size_t len, uint64_t addr)
{
    struct pt_writer *writers = pt_thread_writers(t, level);
    uint64_t wanted = open & ~shadows, bit;
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct posixtrace_event event;

    pt_filter_eval_event(self, t, &event, name, id, data, len, addr);
    pt_for_each_bit(
        bit, open & ~shadows) if (writers && (open & pt_page_shadow(self->page, (unsigned)bit)) &&
                                  !pt_filter_eval_wants(self, &writers[bit], (unsigned)bit, &event))
        wanted &= ~(1ull << bit);
    return wanted;
}

/* Records the event in all streams that want it, with filters and chains.  Called inside, at this
 * level. */
static void record_in(struct pt_self *self, struct pt_thread *t, unsigned level, uint64_t inside,
                      uint32_t id, const void *data, size_t len, uint64_t addr)
{
    uint64_t open = pt_load_seqcst(&self->page->gates[id]), ready = 0, ts = 0, bit;
    uint64_t run = id == PT_ID_CPU_TIME ? pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    uint64_t shadows = pt_load_seqcst(&self->page->shadows), onward = 0;
    int kind = PT_CLOCK_NOT_PLAIN;

    pt_assert_call(level < PT_LEVELS && id < PT_ID_MAX);
    if (open & shadows)
        open = ask(self, t, level, open, shadows, id, data, len, addr);
    if (!open)
        return;
    pt_for_each_bit(bit, open)
    {
        struct pt_writer *writer = pt_event_writer(self, t, level, (unsigned)bit, id);

        if (!writer)
            continue;
        pt_assert(writer->word == &t->word && writer == &t->writers[level][bit]);
        ready |= 1ull << bit;
        pt_store_relaxed(&writer->slot->inside, inside);
    }
    pt_fence_seqcst();
    pt_for_each_bit(bit, ready)
    {
        struct pt_writer *writer = &t->writers[level][bit];

        if (id == PT_ID_CPU_TIME) {
            write_cpu_time(writer, run, addr);
            onward |= (uint64_t)writer->onward << bit;
            continue;
        }
        if (writer->seg->g.clock != kind)
            ts = pt_clock_now(kind = writer->seg->g.clock);
        pt_writer_write(writer, id, data, len, addr, ts);
        onward |= (uint64_t)writer->onward << bit;
    }
    pt_fence_compiler();
    pt_for_each_bit(bit, ready) pt_event_leave_writer(&t->writers[level][bit]);
    pt_for_each_bit(bit, onward)
        pt_chain_follow(self, t, level, &t->writers[level][bit], id, data, len, addr);
}

/* A thread for which there is no memory at all: its losses are counted in the streams.  False: this
 * is a child that was forked since the caller found self, which is its parent's. */
static bool count_stranger(struct pt_self *self, uint32_t id)
{
    struct pt_stranger stranger;
    uint64_t open, bit;

    pt_thread_stranger_begin(&stranger);
    if (pt_self_peek() != self) {
        pt_thread_stranger_end(&stranger);
        return false;
    }
    open = pt_load_seqcst(&self->page->gates[id]) & ~pt_load_seqcst(&self->page->shadows);
    pt_for_each_bit(bit, open) count_no_writer(
        self, (unsigned)bit, pt_load_seqcst(&self->page->epoch[bit]), PT_LOST_NO_MEMORY);
    pt_thread_stranger_end(&stranger);
    return true;
}

/* For streams that a forked child inherits, the parent's gates decide which would have the
 * event. */
static void count_inherited(const struct pt_self *parent, uint32_t id)
{
    uint64_t open = pt_load_seqcst(&parent->page->gates[id]), bit;

    pt_for_each_bit(bit, open & ~pt_load_seqcst(&parent->page->shadows))
    {
        struct pt_seg *seg = pt_self_inherited(parent, (unsigned)bit);

        if (seg && pt_state_runs(pt_load_seqcst(&seg->h->state)))
            count_no_slot(seg, PT_LOST_NO_MEMORY);
    }
}

/* Counts the loss of a process that cannot join its streams, for lack of memory or a descriptor.
 * False: another thread has made that meanwhile. */
static bool count_unmade(uint32_t id)
{
    bool heir = pt_self_parent() != NULL;
    const struct pt_self *parent = NULL;
    struct pt_stranger stranger;

    if (heir) {
        pt_thread_stranger_begin(&stranger);
        parent = pt_self_parent();
        if (parent)
            count_inherited(parent, id);
        pt_thread_stranger_end(&stranger);
    }
    if (!parent && pt_self_is_made())
        return false;
    pt_unmade_note(id, 1);
    return true;
}

/* NULL: the event was counted. */
static struct pt_self *find_self(uint32_t id)
{
    struct pt_self *self;

    do
        self = pt_self_get();
    while (!self && !count_unmade(id));
    return self;
}

void pt_event_slow(uint32_t id, const void *data, size_t len, uint64_t addr, uintptr_t frame)
{
    struct pt_self *self = find_self(id);
    struct pt_thread *t;
    unsigned level, was;
    uint64_t outer, inside;

    if (!self || pt_load_relaxed(&self->page->gates[id]) == 0)
        return;
    if (!data)
        len = 0;
    t = pt_thread_get(self);
    if (pt_unlikely(!t)) {
        if (!count_stranger(self, id))
            pt_event_slow(id, data, len, addr, frame);
        return;
    }
    pt_assert(t == pt_thread_self);
    outer = pt_load_relaxed(&t->word);
    was = (unsigned)(outer & PT_THREAD_LEVEL);
    if (was)
        outer = pt_frame_living_word(t, outer, frame & ~(uintptr_t)15);
    level = (unsigned)(outer & PT_THREAD_LEVEL);
    if (level >= PT_LEVELS) {
        count_nested(self, t, pt_load_relaxed(&self->page->gates[id]), len);
        return;
    }
    if (level)
        t->outer[level] = outer;
    inside = enter_level(t, self->page, frame, level, was);
    /* Forked between the first look and here: all that was found is the parent's. */
    if (pt_unlikely(pt_self_peek() != self)) {
        pt_store_release(&t->word, outer);
        pt_event_slow(id, data, len, addr, frame);
        return;
    }
    if (!level && was)
        pt_thread_forget_known(t);
    if (!level)
        pt_thread_settle(t);
    record_in(self, t, level, inside, id, data, len, addr);
    pt_fence_compiler();
    pt_store_release(&t->word, outer);
}

void pt_event_cpu_time(uint64_t addr, uintptr_t frame)
{
    pt_event_slow(PT_ID_CPU_TIME, NULL, 0, addr, frame);
}

void pt_event_sized(uint32_t id, const void *data, size_t len, uint64_t addr, struct pt_thread *t)
{
    if (pt_unlikely(!data))
        len = 0;
    if (pt_unlikely(len > t->one_max) ||
        pt_unlikely(!pt_event_put_one(&t->one, id, data, len, len, addr, &t->one_last)))
        pt_event_no_room(id, data, len, addr, t->one_writer);
    else
        pt_event_finish(t);
}

void pt_event_no_room(uint32_t id, const void *data, size_t len, uint64_t addr,
                      struct pt_writer *writer)
{
    struct pt_thread *t = pt_writer_thread(writer);

    pt_assert_call(writer >= t->writers0 && writer < t->writers0 + PT_STREAMS);
    if (writer->limit != 0)
        pt_thread_settle(t);
    /* A full stream does not ask for the time. */
    if (!pt_writer_turns_away(writer, id, len)) {
        pt_writer_write(writer, id, data, len, addr, pt_clock_now(writer->seg->g.clock));
    }
    pt_fence_compiler();
    pt_event_leave_writer(writer);
    if (pt_unlikely(writer->onward))
        pt_chain_follow(pt_self_peek(), t, 0, writer, id, data, len, addr);
    pt_event_leave(&t->word);
}

void pt_event_attention(struct pt_writer *writer)
{
    struct pt_thread *t = pt_writer_thread(writer);

    pt_thread_settle(t);
    pt_event_attend(writer);
    pt_event_leave(&t->word);
}
