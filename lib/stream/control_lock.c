/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See control_lock.h.
 *
 * Purpose.  Start, stop and filter change the state word, the filter, the gates in the
 * pages of all traced processes, and (by a record of the control writer) the windows.
 * Any process that has the segment mapped may do so, and may be killed or stopped at any
 * instruction.  So other threads can take the lock over, and a former holder that does not
 * know it yet can do no harm to the data that the lock protects.
 *
 * The lock is one word, h->control: thread id of the holder, slot of the control
 * writer, and a count that changes with each hand over and while the holder makes progress.
 * Each change is one compare-and-exchange:
 *
 *   free(S, n)  -> held(me, S, n+1)   taken
 *   held(H, ..) -> held(me, -, n+1)   H does not exist, or the word has not changed for
 *                                     PT_STALL_NS: taken over; without a slot
 *   held(me, -) -> held(me, S')       a new control slot was made
 *   held(me, S, n) -> held(me, S, n+1)  progress: one that sets the gates of many processes may
 *                                     take longer than PT_STALL_NS
 *   held(me, S) -> free(S, n+1)       given back; fails if the lock was taken over
 *
 * Chunks.  A chunk has one writer.  slot->user is the thread that writes in a control
 * slot: 0 -> me before the first store into its chunk, me -> 0 before the lock is given
 * back.  A thread that takes the lock over makes a new slot and leaves the old one to the
 * former holder.  Any thread may end a control slot that the lock word does not name
 * (pt_slot_end_control), but only by a change of user from 0 or a dead thread to
 * UINT32_MAX; after that no thread can become its user, and its chunk is closed.  So a
 * holder that is stopped between taking the lock and 0 -> me finds that it has no slot;
 * one that is stopped in the middle of a record continues in a chunk that is still its
 * own.  If it is killed at any point, other threads end its slot.
 *
 * Time.  A holder takes the time of a record, then checks the lock word, then writes the
 * record.  If the lock was taken over before the check, it writes nothing; if later, the
 * record is older than all records of the new holder.  Readers take windows in the order
 * of time, and ignore a START or STOP that comes late and is older than the last one that
 * they know (pt_windows.ts).
 *
 * State and filter.  A compare-and-exchange from the value that was read under the lock
 * changes each of them.  A thread that takes the lock over first writes the same state with
 * another time into the state word, so that a late change by the former holder fails.  A
 * filter is prepared in one of PT_FILTERS places, claimed like a slot, and one store of its
 * index puts it into force.  The filter of the last automatic restart keeps its place
 * (shm/start_filter.h).
 * Gates are single bits, each set or cleared after a check of the lock word.  A former
 * holder sets at most one of them wrong, and corrects it: pt_control_lock_end() returns false, and
 * the next pt_control_lock_begin() sets all gates as the state requires.
 *
 * The missing record.  A holder that is killed between the change of the state and the
 * record leaves, for example, a stream that is suspended and whose window is open.  The
 * next holder writes the STOP or START that the state requires.  If h->window, the last
 * holder's note, shows that the record exists, the new one is no event of the trace (like
 * one of a filtered type).
 *
 * No room.  START reserves room for the STOP after it, whichever thread calls.  If START
 * itself finds no room, no reader would learn of the window.  So a stream that is full at
 * its start stops itself at once: SUSPENDED -> AUTOSTOPPED with the time of the start.
 * Events count as lost from there on, and the consumer makes the START when it has made
 * room (pt_windows.opened_ts).  A LOOP stream makes room by writing, so there a lack of room
 * means that memory is exhausted: the stream stays suspended, and start returns an error.
 *
 * Waiting.  On a futex, in steps, because a holder that dies wakes no waiter.  A holder that
 * makes no progress for PT_STALL_NS loses the lock to a waiter.
 *
 * Signals.  A signal handler of the holder could fork: the child would return into the
 * change with its parent's lock word, and write to the same chunk as the parent.  It could
 * also control the same stream.  So the holder blocks signals until it gives the lock back.
 *
 * Thread ids mean nothing outside their pid namespace: a process of another one can attach
 * to the stream and read it, but not control it (control/attach.h).
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "shm/liveness.h"
#include "shm/pool.h"
#include "shm/slot.h"
#include "shm/start_filter.h"
#include "stream/control_lock.h"

#define STEP_NS 20000000u /* between looks whether the holder exists */
/* If the word keeps changing for longer than this, or the lock is lost so often, another
 * process is overwriting the word: then the caller proceeds without the lock. */
#define PATIENCE_NS (8 * PT_STALL_NS)
#define MOST_PASSES 100u

static uint32_t my_tid(void)
{
    return (uint32_t)pt_sys_tid() & 0x3fffffu;
}

static bool is_gone(uint32_t tid)
{
    return tid == my_tid() || pt_tid_is_gone((int32_t)tid);
}

static void sleep_a_step(struct pt_seg_header *h, uint64_t word, uint64_t now)
{
    uint64_t at = now + STEP_NS;
    struct timespec until = { (time_t)(at / 1000000000u), (long)(at % 1000000000u) };
    uint32_t futex = pt_load_seqcst(&h->control_futex);

    pt_store_seqcst(&h->control_waits, 1u);
    if (pt_load_seqcst(&h->control) == word)
        pt_futex_wait(&h->control_futex, futex, CLOCK_MONOTONIC, &until);
}

/* Takes the lock.  Returns the word that was replaced; s->control_word is the new one. */
static uint64_t take(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t word = pt_load_seqcst(&h->control), seen = word;
    uint64_t now = pt_clock_ns(CLOCK_MONOTONIC), since = now, first = now;

    for (;;) {
        uint32_t holder = pt_control_tid(word);

        if (holder == 0 || is_gone(holder) || now - since >= PT_STALL_NS ||
            now - first >= PATIENCE_NS) {
            uint64_t mine = pt_control_make(my_tid(), holder ? 0 : pt_control_slot_1(word),
                                            pt_control_turn(word) + 1);

            if (pt_cas_seqcst(&h->control, &word, mine)) {
                s->control_word = mine;
                return word;
            }
        } else {
            sleep_a_step(h, word, now);
            word = pt_load_seqcst(&h->control);
        }
        now = pt_clock_ns(CLOCK_MONOTONIC);
        if (word != seen) {
            seen = word;
            since = now;
        }
    }
}

/* Took the calling thread the lock?  The word in the segment may be another by now. */
PT_VALIDATOR bool took_it(const struct pt_stream *s)
{
    return pt_control_tid(s->control_word) == my_tid();
}

/* Is the writer the slot's that our word names, or no slot's? */
PT_VALIDATOR bool writer_is_valid(const struct pt_stream *s)
{
    return !s->writer.slot || (s->writer.seg == s->seg && s->writer.slot_index < PT_SLOT_MAX &&
                               s->writer.slot == pt_seg_slot(s->seg, s->writer.slot_index));
}
bool pt_control_lock_holds(const struct pt_stream *s)
{
    return pt_load_seqcst(&s->seg->h->control) == s->control_word;
}

void pt_control_lock_renew(struct pt_stream *s)
{
    uint64_t word = s->control_word, next;

    if (pt_control_tid(word) == 0)
        return;
    next = pt_control_make(pt_control_tid(word), pt_control_slot_1(word),
                           pt_control_turn(word) + 1);
    if (pt_cas_seqcst(&s->seg->h->control, &word, next))
        s->control_word = next;
}

/* ---- the control writer ---- */

static bool become_user(struct pt_slot *slot)
{
    uint32_t nobody = 0;

    return pt_cas_seqcst(&slot->user, &nobody, my_tid());
}

/* Another process has written in the slot since: continues after its last commit.  False: the
 * slot, or its chunk, is not in a state that a control writer leaves. */
static bool take_up(struct pt_stream *s, uint32_t index)
{
    struct pt_seg *seg = s->seg;
    struct pt_slot *slot;
    struct pt_author author;
    uint32_t at;

    pt_assert_call(took_it(s));
    s->writer.slot = NULL;
    if (index >= pt_slot_count(seg))
        return false;
    slot = pt_seg_slot(seg, index);
    pt_copy_unchecked(&author, &slot->author, sizeof author);
    if (!pt_slot_is_live(pt_load_acquire(&slot->state)) || author.level != PT_LEVEL_CONTROL ||
        !become_user(slot))
        return false;
    at = pt_load_acquire(&slot->chunk);
    if (!pt_writer_take_up(&s->writer, seg, index, at)) {
        pt_store_seqcst(&slot->user, 0u);
        return false;
    }
    return true;
}

/* A control slot of our own, named by the lock word.  Without one (no memory)
 * records are lost; the next holder tries again. */
static void make_slot(struct pt_stream *s)
{
    struct pt_author author = { .level = PT_LEVEL_CONTROL,
                                .pid = (int32_t)getpid(),
                                .tid = pt_sys_tid() };
    struct pt_seg_header *h = s->seg->h;
    uint64_t word = s->control_word, with_slot;

    pt_assert_call(took_it(s));
    s->writer.slot = NULL;
    if (pt_writer_attach(&s->writer, s->seg, 1, &author) < 0) {
        s->writer.slot = NULL;
        return;
    }
    with_slot = pt_control_make(pt_control_tid(word), s->writer.slot_index + 1,
                                pt_control_turn(word));
    if (!become_user(s->writer.slot) || !pt_cas_seqcst(&h->control, &word, with_slot)) {
        uint32_t me = my_tid();

        pt_cas_seqcst(&s->writer.slot->user, &me, 0u);
        pt_slot_end_control(s->seg, s->writer.slot_index);
        s->writer.slot = NULL;
        return;
    }
    pt_assert(pt_control_slot_1(with_slot) == s->writer.slot_index + 1);
    s->control_word = with_slot;
}

int pt_control_lock_init(struct pt_stream *s)
{
    s->control_word = pt_control_make(my_tid(), 0, 0);
    pt_store_seqcst(&s->seg->h->control, s->control_word);
    make_slot(s);
    if (!s->writer.slot)
        return -ENOMEM;
    pt_store_seqcst(&s->writer.slot->user, 0u);
    s->control_word = pt_control_make(0, s->writer.slot_index + 1, 1);
    pt_store_seqcst(&s->seg->h->control, s->control_word);
    return 0;
}

/* ---- completing the change of a former holder ---- */

/* Writes the same state with another time, so that a late change fails.  The state of a full
 * stream keeps its time: a late change between AUTOSTOPPED and HALTED is then by a start or
 * stop that has not returned yet, which repeats it when it finds that it lost the lock. */
static uint64_t renew_state(const struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    uint64_t state = pt_load_seqcst(&h->state), now;

    do {
        if (pt_state_of(state) != PT_SUSPENDED && pt_state_of(state) != PT_RUNNING)
            return state;
        now = pt_clock_now(seg->g.clock);
    } while (!pt_state_change(h, &state, pt_state_of(state), now));
    return pt_state_make(pt_state_of(state), now);
}

static void put_missing_record(struct pt_stream *s, bool running)
{
    uint32_t there = pt_load_relaxed(&s->seg->h->window) == running ? PT_RECORD_TRUNCATED : 0;
    struct pt_set filter;
    int by_call = 0;

    if (running) {
        pt_set_copy(&filter, pt_seg_filter(s->seg->h));
        pt_stream_put_control(s, POSIX_TRACE_START | there, &filter, sizeof filter, 0);
    } else {
        pt_stream_put_control(s, POSIX_TRACE_STOP | there, &by_call, sizeof by_call, 0);
    }
}

int pt_control_lock_settle(struct pt_stream *s, bool after_another)
{
    struct pt_seg_header *h = s->seg->h;

    pt_assert_call(took_it(s));
    if (after_another)
        put_missing_record(s, pt_state_runs(renew_state(s->seg)));
    return pt_stream_update_gates(s, pt_state_runs(pt_load_seqcst(&h->state)) &&
                                         !pt_load_seqcst(&h->closed));
}

/* ---- begin and end ---- */

int pt_control_lock_begin(struct pt_stream *s)
{
    uint64_t before, left;
    sigset_t mask;
    bool clean;
    int r = pt_attached_check(s);

    if (r < 0)
        return r;
    pt_thread_hold_signals(&mask);
    if (!pt_stream_is_ours(s)) {
        pt_thread_let_signals(&mask);
        return -EINVAL;
    }
    pthread_mutex_lock(&s->control);
    s->mask = mask;
    left = s->control_word;
    before = take(s);
    clean = pt_control_tid(before) == 0;
    if (s->kind == PT_STREAM_ATTACHED && pt_load_seqcst(&s->seg->h->closed)) {
        s->writer.slot = NULL;
        pt_control_lock_end(s);
        return -ENXIO;
    }
    if (!clean || pt_control_slot_1(before) == 0)
        make_slot(s);
    else if (before != left || !s->writer.slot || !become_user(s->writer.slot))
        if (!take_up(s, pt_control_slot_1(before) - 1))
            make_slot(s);
    if (!clean && pt_control_slot_1(before))
        pt_slot_end_control(s->seg, pt_control_slot_1(before) - 1);
    pt_assert(took_it(s) && writer_is_valid(s));
    /* Pages that cannot be reached now are tried again the next time. */
    s->control_passed = (!clean || s->control_passed) && pt_control_lock_settle(s, !clean) < 0;
    return 0;
}

bool pt_control_lock_end(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t word = s->control_word;
    uint64_t left = pt_control_make(0, pt_control_slot_1(word), pt_control_turn(word) + 1);
    sigset_t mask = s->mask;
    bool held;

    pt_assert_call(took_it(s));
    pt_assert(writer_is_valid(s) && s->passes < MOST_PASSES);
    if (s->writer.slot)
        pt_store_seqcst(&s->writer.slot->user, 0u);
    held = pt_cas_seqcst(&h->control, &word, left);
    s->control_word = left;
    s->control_passed |= !held;
    s->passes = held ? 0 : s->passes + 1;
    if (!held && s->writer.slot) {
        pt_slot_end_control(s->seg, s->writer.slot_index);
        s->writer.slot = NULL;
    }
    if (held && pt_load_seqcst(&h->control_waits)) {
        pt_store_seqcst(&h->control_waits, 0u);
        pt_add_seqcst(&h->control_futex, 1u);
        pt_futex_wake_all(&h->control_futex);
    }
    if (s->passes >= MOST_PASSES) {
        s->passes = 0;
        held = true;
    }
    pthread_mutex_unlock(&s->control);
    pt_thread_let_signals(&mask);
    return held;
}

/* ---- the filter ---- */

/* Claims a place to prepare a filter in; PT_FILTERS: stalled threads hold all of them. */
static unsigned claim_place(struct pt_seg_header *h, uint64_t now)
{
    unsigned kept = pt_start_filter_place(pt_load_seqcst(&h->start_filter));

    for (unsigned i = 1; i < PT_FILTERS; i++) {
        unsigned place = (unsigned)((now + i) % PT_FILTERS);
        uint32_t user = pt_load_seqcst(&h->filter_user[place]);

        if (place != kept && (user == 0 || is_gone(user)) &&
            pt_cas_seqcst(&h->filter_user[place], &user, my_tid()))
            return place;
    }
    return PT_FILTERS;
}

bool pt_control_lock_set_filter(struct pt_stream *s, const struct pt_set *set,
                                const char *expression, uint64_t *version)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t now = pt_load_seqcst(&h->filter_now);
    unsigned place = claim_place(h, now);
    pt_u64 text[PT_FILTER_TEXT / 8] = { 0 };
    bool done;

    pt_assert_call(took_it(s));
    pt_assert(place <= PT_FILTERS);
    if (place == PT_FILTERS)
        return false;
    if (expression)
        strncpy((char *)text, expression, PT_FILTER_TEXT - 1);
    else
        pt_seg_expression(h, (char *)text);
    pt_set_copy(&h->filters[place], set);
    pt_copy_watched(h->expressions[place], text, sizeof text);
    *version = (now / PT_FILTERS + 1) * PT_FILTERS + place;
    done = pt_control_lock_holds(s) && pt_cas_seqcst(&h->filter_now, &now, *version);
    pt_store_seqcst(&h->filter_user[place], 0u);
    return done;
}
