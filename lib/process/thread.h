/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records of the threads that trace, private to the process and to this copy
 * of the library.  They lie in MADV_WIPEONFORK memory: in a forked child the
 * word reads 0, which the event path takes for "look again".
 *
 * word   0: not a living thread's.  PT_THREAD_IDLE: outside.  Else the frame
 *        address of the innermost event, its low bits replaced by the level:
 *        how many event frames lie on this thread's stacks.  One word, because
 *        a handler that finds the level must find the frame that belongs to it.
 * outer  outer[l]: the word of level l while level l + 1 is inside it
 * count  events begun at level 0: tells one from the next.  It goes up after the word is
 *        stored: before, a handler's event of level 0 would get the same number, and the
 *        ready way of writer/event_multi.c would not know of it
 *
 * Trust.  Any process of the same user can write any value to the page and to segments.  A
 * lane is good while its epoch, which is private, is the page's; where there is no lane, events
 * compare the page's words with pt_thread_never(), a random number that no other process knows,
 * since each constant could stand in the page.  What stood there once can come back: so no lane
 * is good any more for the epoch of a segment that is unmapped.
 *
 * word protects mappings: an event stores it, then looks at its gate again;
 * who wants to unmap a segment closes the gates, issues pt_barrier_all() and
 * then waits for every thread to be outside or at a later count: an event that counts after
 * that barrier looks at its gate after it, too.
 *
 * Who unmaps a segment does five things, in this order:
 *   1  takes it out of pt_self's known[]
 *   2  waits as above: events that could find it there are over, so that nobody makes a lane
 *      into it any more
 *   3  forgets the lanes into it, of every record of the process: fast[bit], the epoch at each
 *      level, and several where it has the bit
 *   4  waits as above: events that found such a lane good before 3 are over
 *   5  unmaps
 * Up to 3 each of these words has one writer, its thread.  In 3 the other one stores only "none",
 * and only in the place of that epoch (by compare-and-exchange), or of any where no stream has the
 * bit; the thread stores that epoch only in an event that 2 waits for.  several is made of
 * several epochs: learn_several() stores it, has a full fence, then looks at the epochs again; 3
 * takes the epoch away, has a full fence, then looks at several.  So the thread finds the epoch
 * gone, or 3 finds what it has learnt; the event itself may use it, since 4 waits for it
 * (test/model/forget.pml).
 * An epoch that the thread loads twice can be 0 the second time; what the lane says stays
 * true for the event.
 */
#ifndef PT_PROCESS_THREAD_H
#define PT_PROCESS_THREAD_H

#include <stddef.h>
#include "process/self.h"

#define PT_THREAD_IDLE               8u
#define PT_THREAD_LEVEL              7u
#define PT_THREAD_CUT                (-1) /* pid of a record: see fork.h */
#define pt_thread_word(frame, level) ((uint64_t)((frame) & ~(uintptr_t)15) | (level))

#define PT_EVENT_INLINE 256u
/* Writers of the stream need fences, or its data are of less than 8 bytes. */
#define PT_CLOCK_NOT_PLAIN (-1)

/* What a thread needs to write into one stream at one level.  What events load is
 * in the first 64 bytes but for the first 8: see struct pt_slot. */
struct pt_lane {
    pt_u64 epoch;   /* page->epoch[bit] this is good for; 0: none, see above */
    uint8_t *chunk; /* begins with the commit word, also where there is no chunk */
    uint64_t limit; /* end of the chunk; 0: none */
    uint64_t base;  /* base time in force */
    struct pt_slot *slot;
    struct pt_seg_header *h;
    struct pt_lane *next; /* of the lanes for several streams, see struct pt_thread */
    __attribute__((aligned(64))) uint64_t last; /* time of the last record */
    uint64_t *word;                             /* of the thread */
    uint32_t max_inline; /* most data that the inline copy is for: see PT_EVENT_INLINE */
    uint32_t max_data;
    int32_t plain_clock; /* the stream's, or PT_CLOCK_NOT_PLAIN */
    uint32_t slot_index;
    uint32_t chunk_index;
    bool onward;  /* what was refused last is for the next stream, see writer/chain.h */
    bool counted; /* what was refused last is lost, and that was counted */
    bool refused; /* there was no slot or no chunk for it, and that was counted */
    struct pt_seg *seg;
    struct pt_sieve *sieve; /* writer/filter_eval.c; kept for the stream that has the bit next */
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct pt_lane) == 128, "two cache lines");

/* Is it the lane of the stream with that epoch, which was loaded from the page? */
static inline bool pt_lane_is_good(const struct pt_lane *lane, uint64_t epoch)
{
    return epoch != 0 && pt_load_relaxed(&lane->epoch) == epoch;
}

static inline uint64_t pt_lane_committed(const struct pt_lane *lane)
{
    return pt_load_relaxed((uint64_t *)(void *)lane->chunk);
}

/* Where the next record goes, in bytes from the chunk's begin. */
static inline uint32_t pt_lane_position(const struct pt_lane *lane)
{
    return (uint32_t)pt_lane_committed(lane);
}

/* What a lane says that an event in several streams loads, see writer/event_multi.c. */
struct pt_ready {
    uint8_t *chunk;
    uint64_t base;
    struct pt_slot *slot;
    struct pt_seg_header *h;
    uintptr_t origin; /* where the record of an event with count 0 would be */
};

struct pt_thread {
    uint64_t pad;
    /* The lanes of level 0 for the gate word that was last seen with more than
     * one bit, good while page->changes is the same.  All have plain_clock
     * several_clock; several pt_thread_never(): none are known. */
    pt_u64 several;
    uint64_t several_changes;
    struct pt_lane *several_lanes; /* linked by next */
    int32_t several_clock;
    uint32_t taken;
    /* All of ready[] are good for times from ready_base, ready_span long, and have room up
     * to the event whose count is ready_until. */
    uint64_t ready_base, ready_span, ready_until;
    /* What events store to: see struct pt_slot. */
    __attribute__((aligned(64))) pt_u64 word;
    pt_u64 count;
    pt_u64 several_last;    /* see pt_thread_settle */
    uint64_t several_count; /* of the last event in several streams */
    pt_u64 nested;          /* events begun at other levels */
    uint64_t outer[PT_LEVELS];
    struct pt_lane *lanes[PT_LEVELS];
    struct pt_thread *next;
    uintptr_t stack_top; /* the thread's own stack is below it */
    uint32_t unwatched;  /* the thread may end without a call of pt_thread_exit */
    int32_t pid, tid;
    uint64_t thread_id;
    char name[16];
    struct pt_ready ready[PT_STREAMS + 1]; /* behind the last one is one of NULL */
    /* lane0[bit].epoch where plain_clock is the TSC, else pt_thread_never(). */
    __attribute__((aligned(128))) pt_u64 fast[PT_STREAMS];
    struct pt_lane lane0[PT_STREAMS];
};
_Static_assert(offsetof(struct pt_thread, word) == 64, "see struct pt_slot");

/* The numbers of the bits that are set, from the lowest on. */
#define pt_for_each_bit(bit, word)                                                           \
    for (uint64_t left_ = (word); left_ && ((bit) = (uint64_t)__builtin_ctzll(left_), true); \
         left_ &= left_ - 1)

extern _Thread_local struct pt_thread *pt_thread_self __attribute__((tls_model("initial-exec")))
PT_HIDDEN;

/* The calling thread's record, made if need be; NULL: no memory.  Async-signal-safe. */
struct pt_thread *pt_thread_get(struct pt_self *self);
/* Threads that are inside an event without a record, for want of memory: mappings
 * stay for them, too. */
extern uint32_t pt_thread_strangers PT_HIDDEN;
/*
 * An event in several streams notes its time once, in several_last, where that
 * in one stream notes it in lane->last.  Makes lane->last of all of them right;
 * to be called at level 0 before any is read, and before the lanes change.
 */
void pt_thread_settle(struct pt_thread *t);
/* The same; and no lanes are known for several streams from now on. */
void pt_thread_forget_several(struct pt_thread *t);
/* What no word of a page is, but by a chance of 1 to 2^64. */
uint64_t pt_thread_never(void);
/* A record that looks as one that fork has wiped, of no list; NULL: no memory. */
struct pt_thread *pt_thread_make(void);
/* The thread of a lane: also where pt_thread_self is another by now, see fork.h. */
static inline struct pt_thread *pt_lane_thread(const struct pt_lane *lane)
{
    return (struct pt_thread *)(void *)((char *)lane->word - offsetof(struct pt_thread, word));
}
/* The record of a half event in a forked child (fork.h): it uses private copies of what was
 * mapped, and may never end, so that nobody waits for it. */
static inline bool pt_thread_is_cut(const struct pt_thread *t)
{
    return pt_load_relaxed(&t->pid) == PT_THREAD_CUT;
}
/* Under the same protection as an event, for who looks at the process's streams: what is
 * loaded from the page afterwards is not unmapped.  False: a handler inside an event. */
bool pt_thread_enter(struct pt_thread *t);
void pt_thread_leave(struct pt_thread *t);
/* The lane is of no stream from now on. */
void pt_thread_drop_lane(struct pt_thread *t, unsigned level, unsigned bit);
/* The lanes of a level; NULL: no memory. */
struct pt_lane *pt_thread_lanes(struct pt_thread *t, unsigned level);

/* Makes thread exit noticed at once, where that can be had without allocation
 * at each thread; else a sweep notices.  From control calls only. */
void pt_thread_watch_exits(void);

/* After the gates of a stream are closed: waits until no thread can still be in
 * an event that saw them open, for a second at most.  False: one is. */
bool pt_threads_left(void);
/* Step 3 of the unmapping above: no lane is good for that epoch, or, if it is 0, for any that
 * the bit has had.  Inside an event, or with signals held. */
void pt_threads_forget(unsigned bit, uint64_t epoch);
/* Is every other thread outside, and this one in no more than one event?  What was
 * taken out of the page before the call is then in nobody's use.  Never waits. */
bool pt_threads_are_out(void);
/* In a child made by fork(): its events look for a page of their own; and what the
 * kernel does by itself where it knows MADV_WIPEONFORK (Linux 4.14), which also
 * works for _Fork() and clone(). */
void pt_thread_forget_parent(void);
/* The calling thread ends: gives back what it holds in every stream. */
void pt_thread_exit(struct pt_thread *t);

#endif
