/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records of the threads that trace, private to the process and to this copy of the library.  They
 * are in MADV_WIPEONFORK memory: in a forked child the word reads 0, and the event takes the slow
 * path.
 *
 * word   0: no living thread.  PT_THREAD_IDLE: outside.  Else the frame address of the innermost
 *        event, its low bits replaced by the level, the number of event frames on this thread's
 *        stacks.  One word, because a handler that loads the level must get the frame that belongs
 *        to it.
 * taken  whose the record is: PT_THREAD_FREE, no thread's; PT_THREAD_CLAIMED, of a thread that
 *        prepares it; PT_THREAD_OWNED, of the thread pid, tid.  PT_THREAD_TURN is added with each
 *        claim.  Another thread claims an owned record if the kernel knows no such thread: it
 *        loads taken, asks, and claims by compare-and-exchange with what it loaded.  So it claims
 *        nothing that a third thread has claimed meanwhile, whose numbers it has not asked for
 * outer  outer[l]: the word of level l while level l + 1 is inside it
 * count  number of events begun at level 0; distinguishes them.  It is incremented after the word
 *        is stored.  In the other order a handler's event of level 0 would get the same number, and
 *        the ready path of writer/event_multi.c would not notice it
 *
 * Trust.  Any process of the same user can write any value to the page and to segments.  A writer
 * is good while its epoch, which is private, equals the page's.  Without a writer, events compare
 * the page's words with pt_thread_never(), a random number that no other process knows; a constant
 * could be in the page.  An old value of the page can return, so no writer may be good for the
 * epoch of a segment that was unmapped.
 *
 * word protects mappings.  An event stores it, then checks its gate again.  A thread that wants to
 * unmap a segment closes the gates, issues pt_barrier_all() and waits until every thread is outside
 * or at a later count: an event that counts after that barrier also checks its gate after it.
 *
 * Unmapping a segment takes five steps, in this order:
 *   1  remove it from pt_self's known[]
 *   2  wait as above: events that could find it there are over, so no thread makes a writer
 *      into it any more
 *   3  invalidate the writers into it, in every record of the process: fast[bit], the epoch at
 *      each level, and one and several if they have the bit
 *   4  wait as above: events that found such a writer good before 3 are over
 *   5  unmap it
 * Up to 3 each of these words has one writer, its thread.  Step 3 stores only "none", and only
 * over that epoch (by compare-and-exchange), or over any epoch if no stream has the bit; the
 * thread stores that epoch only in an event for which 2 waits.  one and several depend on
 * epochs: learn_one() and learn_several() store them, issue a full fence, then load the epochs
 * again; 3 clears the epoch, issues a full fence, then loads both.  So the thread finds the epoch
 * cleared, or 3 finds the new list.  The event itself may use the list, since 4 waits for it
 * (test/model/forget.pml).
 * A second load of an epoch by the thread can return 0; the rest of the writer stays valid during
 * the event.
 */
#ifndef PT_PROCESS_THREAD_H
#define PT_PROCESS_THREAD_H

#include <stddef.h>
#include "process/self.h"

#define PT_THREAD_IDLE               8u
#define PT_THREAD_LEVEL              7u
#define PT_THREAD_CUT                (-1) /* pid of a record: see fork.h */
#define PT_THREAD_FREE               0u
#define PT_THREAD_CLAIMED            1u
#define PT_THREAD_OWNED              2u
#define PT_THREAD_TURN               4u
#define pt_thread_word(frame, level) ((uint64_t)((frame) & ~(uintptr_t)15) | (level))
/* pt_thread_word(frame, 1u) for a call frame address.  On x86-64 that is a multiple of 8, as every
 * stack pointer at a call, and bit 3 belongs neither to the level nor to the frame. */
#if defined __x86_64__
#define pt_thread_word_1(frame) ((uint64_t)(frame) + 1u)
#else
#define pt_thread_word_1(frame) pt_thread_word(frame, 1u)
#endif

#define PT_EVENT_INLINE 256u
/* Writers of the stream need fences, or its data are of less than 8 bytes. */
#define PT_CLOCK_NOT_PLAIN (-1)

/* The state of a thread for writing into one stream at one level.  Events load from the first 64
 * bytes, except the first 8: see struct pt_slot. */
struct pt_writer {
    pt_u64 epoch;   /* page->epoch[bit] this is good for; 0: none, see above */
    uint8_t *chunk; /* begins with the commit word, also where there is no chunk */
    uint64_t limit; /* end of the chunk; 0: none */
    uint64_t base;  /* base time in force */
    struct pt_slot *slot;
    struct pt_seg_header *h;
    struct pt_writer *next; /* of the writers for several streams, see struct pt_thread */
    uint32_t *attention;    /* pt_attention(h) */
    __attribute__((aligned(64))) uint64_t last; /* time of the last record */
    uint64_t *word;                             /* of the thread */
    uint32_t max_inline; /* most data that the inline copy is for: see PT_EVENT_INLINE */
    uint32_t max_data;
    int32_t plain_clock; /* the stream's, or PT_CLOCK_NOT_PLAIN */
    uint32_t slot_index;
    uint32_t chunk_index;
    bool onward;  /* the last refused event is for the next stream, see writer/chain.h */
    bool counted; /* the last refused event is lost, and was counted */
    bool refused; /* there was no slot or no chunk for it, which was counted */
    struct pt_seg *seg;
    struct pt_filter_eval
        *sieve; /* writer/filter_eval.c; kept for the stream that has the bit next */
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct pt_writer) == 128, "two cache lines");

/* Is it the writer of the stream with that epoch, which was loaded from the page? */
static inline bool pt_writer_is_good(const struct pt_writer *writer, uint64_t epoch)
{
    return epoch != 0 && pt_load_relaxed(&writer->epoch) == epoch;
}

static inline uint64_t pt_writer_committed(const struct pt_writer *writer)
{
    return pt_load_relaxed((uint64_t *)(void *)writer->chunk);
}

/* The position of the next record, in bytes from the start of the chunk. */
static inline uint32_t pt_writer_position(const struct pt_writer *writer)
{
    return (uint32_t)pt_writer_committed(writer);
}

/*
 * What an event in one stream loads: a copy of the members of the writer of level 0 for the gate
 * word that was last seen with one bit.  Good while page->changes is the same.  The stream's clock
 * is the TSC.  Each change of the writer changes the copy (pt_writer_copy_one); an event that was
 * left by siglongjmp may have changed the writer alone, so the next one forgets the copy.
 */
struct pt_one {
    pt_u64 gate; /* pt_thread_never(): none is known */
    uint64_t changes;
    uint8_t *chunk;
    int64_t last_8; /* the last place, from the first record's on, at which the record of an event
                     * of 8 bytes may begin; negative: none */
    uint64_t base;
    struct pt_slot *slot;
    uint32_t *attention;
};
/* The bytes of an event with 8 bytes of data. */
#define PT_EVENT_8 (PT_RECORD_HEAD + 8u)

static inline PT_ALWAYS_INLINE void pt_writer_copy(const struct pt_writer *writer,
                                                   struct pt_one *one)
{
    one->chunk = writer->chunk;
    one->last_8 = (int64_t)writer->limit - (int64_t)(sizeof(struct pt_chunk) + PT_EVENT_8);
    one->base = writer->base;
    one->slot = writer->slot;
    one->attention = writer->attention;
}

/* The members of a writer that an event in several streams loads, see writer/event_multi.c. */
struct pt_ready {
    uint8_t *chunk;
    uint64_t base;
    struct pt_slot *slot;
    uint32_t *attention;
    uintptr_t origin; /* where the record of an event with count 0 would be */
};

struct pt_thread {
    int32_t several_clock;
    struct pt_one one;
    /* Words that events store to: see struct pt_slot. */
    __attribute__((aligned(64))) pt_u64 word;
    pt_u64 count;
    pt_u64 one_last, several_last; /* see pt_thread_settle */
    uint64_t several_count;        /* of the last event in several streams */
    pt_u64 nested;                 /* events begun at other levels */
    pt_u64 waits;                  /* the last number of shm/waiting.h */
    uint32_t one_max;              /* one_writer->max_inline */
    uint64_t outer[PT_LEVELS];
    struct pt_writer *writers[PT_LEVELS];
    pt_u64 taken;
    struct pt_thread *next;
    uintptr_t stack_top; /* the thread's own stack is below it */
    uint32_t unwatched;  /* the thread may end without a call of pt_thread_exit */
    int32_t pid, tid;
    uint64_t thread_id;
    char name[16];
    struct pt_writer *one_writer; /* one is a copy of it; NULL: there is none */
    uint64_t
        one_seen; /* the gate word of the last event in one stream for which one was not good */
    /* The writers of level 0 for the gate word that was last seen with more than
     * one bit, good while page->changes is the same.  All have plain_clock
     * several_clock; several pt_thread_never(): none are known. */
    pt_u64 several;
    uint64_t several_changes;
    struct pt_writer *several_writers; /* linked by next */
    /* All of ready[] are good for times from ready_base, ready_span long, and have room up
     * to the event whose count is ready_until. */
    uint64_t ready_base, ready_span, ready_until;
    struct pt_ready ready[PT_STREAMS + 1]; /* ends with one whose chunk is NULL */
    /* writers0[bit].epoch where plain_clock is the TSC, else pt_thread_never(). */
    __attribute__((aligned(128))) pt_u64 fast[PT_STREAMS];
    struct pt_writer writers0[PT_STREAMS];
};
_Static_assert(offsetof(struct pt_thread, word) == 64, "see struct pt_slot and pt_thread_none");

/* The thread of a writer: also where pt_thread_self is another by now, see fork.h. */
static inline struct pt_thread *pt_writer_thread(const struct pt_writer *writer)
{
    return (struct pt_thread *)(void *)((char *)writer->word - offsetof(struct pt_thread, word));
}

/* The writer's chunk, limit or base has changed. */
static inline void pt_writer_copy_one(const struct pt_writer *writer)
{
    struct pt_thread *t = writer->word ? pt_writer_thread(writer) : NULL;

    if (t && t->one_writer == writer)
        pt_writer_copy(writer, &t->one);
}

/* The numbers of the bits that are set, from the lowest on. */
#define pt_for_each_bit(bit, word)                                                           \
    for (uint64_t left_ = (word); left_ && ((bit) = (uint64_t)__builtin_ctzll(left_), true); \
         left_ &= left_ - 1)

/* The calling thread's record.  Before it has one that is pt_thread_none, an array with the first
 * words of a record: its word is not idle, so an event does not have to ask whether there is a
 * record. */
extern _Thread_local struct pt_thread *pt_thread_self __attribute__((tls_model("initial-exec")))
PT_HIDDEN;
#define PT_THREAD_NONE_WORDS 16
extern pt_u64 pt_thread_none[PT_THREAD_NONE_WORDS] PT_HIDDEN;

/* NULL: it has none. */
static inline struct pt_thread *pt_thread_current(void)
{
    struct pt_thread *t = pt_thread_self;

    return (void *)t == (void *)pt_thread_none ? NULL : t;
}

static inline bool pt_thread_is(const struct pt_thread *t, unsigned taken)
{
    return pt_load_relaxed(&t->taken) % PT_THREAD_TURN == taken;
}

/* The calling thread's record, made if need be; NULL: no memory, or this is a child that a handler
 * has forked meanwhile, whose pt_self is another one.  Async-signal-safe. */
struct pt_thread *pt_thread_get(struct pt_self *self);
/* A thread uses mapped segments without a record, for want of memory: mappings stay for it, too.
 * Signals are held meanwhile. */
struct pt_stranger {
    sigset_t before;
    uint32_t instance;
};
void pt_thread_stranger_begin(struct pt_stranger *s) PT_HIDDEN;
void pt_thread_stranger_end(const struct pt_stranger *s) PT_HIDDEN;
/*
 * An event in several streams notes its time once, in several_last, and that of the writer
 * one_writer in one_last; others note it in writer->last.  Makes writer->last of all of them right;
 * to be called at level 0 before any is read, and before the writers change.
 */
void pt_thread_settle(struct pt_thread *t);
/* The same; and no writer is known for one stream, or for several, from now on; or for either. */
void pt_thread_forget_one(struct pt_thread *t);
void pt_thread_forget_several(struct pt_thread *t);
void pt_thread_forget_known(struct pt_thread *t);
/* A value that no word of a page has, except with a probability of 2^-64. */
uint64_t pt_thread_never(void);
/* A record that looks as one that fork has wiped, of no list; NULL: no memory. */
struct pt_thread *pt_thread_make(void);
/* Is it the record of a half event in a forked child (fork.h)?  Such an event uses private copies
 * of the mappings and may never end, so no thread waits for it. */
static inline bool pt_thread_is_cut(const struct pt_thread *t)
{
    return pt_load_relaxed(&t->pid) == PT_THREAD_CUT;
}
/* Gives the caller the protection of an event, so that it can use the process's streams: segments
 * found in the page after this are not unmapped.  False: the caller is a handler inside an
 * event. */
bool pt_thread_enter(struct pt_thread *t);
void pt_thread_leave(struct pt_thread *t);
/* Detaches the writer from its stream. */
void pt_thread_drop_writer(struct pt_thread *t, unsigned level, unsigned bit);
/* The writers of a level; NULL: no memory. */
struct pt_writer *pt_thread_writers(struct pt_thread *t, unsigned level);

/* Makes the library notice the end of threads at once, if that needs no allocation in each thread;
 * else a sweep notices it.  For control calls only. */
void pt_thread_watch_exits(void);

/* Called after the gates of a stream were closed: waits until no thread can be in an event that
 * found them open, for a second at most.  False: a thread still may. */
bool pt_threads_left(void);
/* Step 3 of unmapping, above: invalidates the writers for that epoch; epoch 0: for all epochs that
 * the bit has had.  Called inside an event, or with signals held. */
void pt_threads_forget(unsigned bit, uint64_t epoch);
/* Is every other thread outside, and this one in no more than one event?  Then nothing that was
 * removed from the page before the call is in use.  Never waits. */
bool pt_threads_are_out(void);
/* Called in a child made by fork(), or by _Fork() where that is wrapped: makes its events look for
 * a page of their own, and wipes the records where the kernel does not (MADV_WIPEONFORK is in
 * Linux 4.14 and also works for clone()). */
void pt_thread_forget_parent(void);
/* Called when the calling thread ends: releases its slots and chunks in every stream. */
void pt_thread_exit(struct pt_thread *t);

#endif
