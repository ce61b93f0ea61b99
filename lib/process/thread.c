/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "process/thread.h"
#include "shm/liveness.h"
#include "shm/slot.h"

#define KEYS_WITHOUT_MALLOC 32u /* glibc keeps the first keys inside the thread itself */
#define QUIESCE_NS          1000000000ull

/* No thread stores to it. */
pt_u64 pt_thread_none[PT_THREAD_NONE_WORDS] __attribute__((aligned(128)));
_Thread_local struct pt_thread *pt_thread_self
    __attribute__((tls_model("initial-exec"))) = (struct pt_thread *)(void *)pt_thread_none;

static pt_u64 strangers;
static pthread_key_t exit_key;
static uint32_t exit_key_state; /* 0 none, 1 being made, 2 usable, 3 not usable */
/* How often a record of the calling thread was given back.  Destructors that trace make
 * another one; after the last round of destructors nothing notices the thread's exit. */
static _Thread_local unsigned exits __attribute__((tls_model("initial-exec")));

static void at_exit(void *record)
{
    exits++;
    pt_thread_exit(record);
}

void pt_thread_watch_exits(void)
{
    uint32_t none = 0;

    if (pt_load_acquire(&exit_key_state) != 0 || !pt_cas_seqcst(&exit_key_state, &none, 1u))
        return;
    if (pthread_key_create(&exit_key, at_exit) != 0)
        pt_store_release(&exit_key_state, 3u);
    else
        pt_store_release(&exit_key_state, exit_key < KEYS_WITHOUT_MALLOC ? 2u : 3u);
}

struct pt_thread *pt_thread_make(void)
{
    return pt_sys_wiped_pages(sizeof(struct pt_thread));
}

uint64_t pt_thread_never(void)
{
    static pt_u64 known; /* 0: not yet */
    uint64_t now = pt_load_relaxed(&known), drawn;

    if (now)
        return now;
    pt_sys_random(&drawn, sizeof drawn);
    drawn += drawn == 0;
    return pt_cas_seqcst(&known, &now, drawn) ? drawn : now;
}

void pt_thread_drop_writer(struct pt_thread *t, unsigned level, unsigned bit)
{
    /* Loaded once: a handler may fork here, and the child's record is wiped. */
    struct pt_writer *writers = pt_load_acquire(&t->writers[level]);

    pt_assert_call(level < PT_LEVELS && bit < PT_STREAMS);
    if (level == 0)
        pt_store_relaxed(&t->fast[bit], pt_thread_never());
    if (writers)
        pt_store_relaxed(&writers[bit].epoch, 0u);
}

/* was: what the caller has loaded.  False: another thread was faster. */
static bool claim(struct pt_thread *t, uint64_t was)
{
    uint64_t turn = was - was % PT_THREAD_TURN + PT_THREAD_TURN;

    return pt_cas_seqcst(&t->taken, &was, turn + PT_THREAD_CLAIMED);
}

/* The caller has claimed it. */
static void set_taken(struct pt_thread *t, unsigned taken)
{
    uint64_t was = pt_load_relaxed(&t->taken);

    pt_store_release(&t->taken, was - was % PT_THREAD_TURN + taken);
}

/* A record of a thread that does not exist any more and whose exit nothing has noticed. */
static struct pt_thread *take_dead(struct pt_self *self)
{
    bool all = pt_load_acquire(&exit_key_state) != 2;

    if (!all && pt_load_acquire(&self->unwatched) == 0)
        return NULL;
    for (struct pt_thread *t = pt_load_acquire(&self->threads); t; t = t->next) {
        uint64_t taken = pt_load_acquire(&t->taken);

        if (taken % PT_THREAD_TURN != PT_THREAD_OWNED || !(all || pt_load_relaxed(&t->unwatched)) ||
            !pt_thread_is_gone(pt_load_relaxed(&t->pid), pt_load_relaxed(&t->tid)) ||
            !claim(t, taken))
            continue;
        pt_store_seqcst(&t->word, 0u);
        pt_thread_forget_known(t);
        for (unsigned level = 0; level < PT_LEVELS; level++)
            for (unsigned bit = 0; bit < PT_STREAMS && pt_load_relaxed(&t->writers[level]); bit++)
                pt_thread_drop_writer(t, level, bit);
        return t;
    }
    return NULL;
}

/* A record that the list has, and that no thread has. */
static struct pt_thread *take_free(struct pt_self *self)
{
    if (pt_load_acquire(&self->free_records) == 0)
        return NULL;
    for (struct pt_thread *t = pt_load_acquire(&self->threads); t; t = t->next) {
        uint64_t taken = pt_load_relaxed(&t->taken);

        if (taken % PT_THREAD_TURN == PT_THREAD_FREE && claim(t, taken)) {
            pt_add_seqcst(&self->free_records, (uint32_t)-1);
            return t;
        }
    }
    return NULL;
}

static void give_record(struct pt_self *self, struct pt_thread *t)
{
    set_taken(t, PT_THREAD_FREE);
    pt_add_seqcst(&self->free_records, 1u);
}

/* The end of its thread may come unnoticed.  The count is never below the number of these
 * records, also if a handler that interrupts this does not return. */
static void set_unwatched(struct pt_self *self, struct pt_thread *t, bool on)
{
    bool was = pt_load_relaxed(&t->unwatched) != 0;

    if (on && !was)
        pt_add_seqcst(&self->unwatched, 1u);
    pt_store_relaxed(&t->unwatched, (uint32_t)on);
    if (was && !on)
        pt_add_seqcst(&self->unwatched, (uint32_t)-1);
}

/* The list is a process's own, with its pt_self: a forked child has another one.  It is walked
 * only if there is something to be found: it has a record of each thread that lives. */
static struct pt_thread *take_record(struct pt_self *self)
{
    struct pt_thread *t = take_free(self);

    if (t)
        return t;
    t = take_dead(self);
    if (t)
        return t;
    t = pt_thread_make();
    if (!t)
        return NULL;
    t->taken = PT_THREAD_CLAIMED;
    t->next = pt_load_acquire(&self->threads);
    while (!pt_cas_seqcst(&self->threads, &t->next, t))
        ;
    return t;
}

/*
 * The numbers by which the kernel knows whether the thread still exists.  A child
 * that shares our memory (vfork, clone with CLONE_VM) has a process id of its own.
 * If it also runs on the thread-local memory of a thread of ours, that one waits for
 * it and has the record after it: the numbers are that thread's, which the C library
 * keeps there.  In a pid namespace of its own the child is 1, as the process may be.
 */
static void note_numbers(struct pt_thread *t, const struct pt_self *self)
{
    int32_t pid = pt_sys_pid(), tid = pt_sys_tid(), lender = pt_thread_number();

    if ((pid != (int32_t)self->pid || tid == 1) && lender != tid && lender > 0 &&
        !pt_thread_is_gone((int32_t)self->pid, lender)) {
        pid = (int32_t)self->pid;
        tid = lender;
    }
    pt_store_relaxed(&t->pid, pid);
    pt_store_relaxed(&t->tid, tid);
}

/*
 * The upper end of the thread's stack.  glibc and musl place the object of pthread_self() there,
 * also in a stack that the program has made.  The initial thread's stack has the program's name
 * there and is above all other memory.  A thread whose id is the process's can be any thread that
 * has forked: its stack is the nearer one.
 */
static uintptr_t stack_top(const struct pt_thread *t)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), own = (uintptr_t)t->thread_id;

    return t->tid != t->pid || here < own ? own : (uintptr_t)getauxval(AT_EXECFN);
}

/* A record that fork has wiped has no pid, also where a half-way event of the parent's has
 * stored to its word since.  That of a child which shares our memory, and has thread-local
 * memory of its own, has the child's numbers. */
static bool is_own(const struct pt_thread *t, const struct pt_self *self)
{
    int32_t pid;

    if (pt_load_relaxed(&t->word) == 0)
        return false;
    pid = pt_load_relaxed(&t->pid);
    return pid == (int32_t)self->pid ||
           (pid > 0 && pid == pt_sys_pid() && pt_load_relaxed(&t->tid) == pt_sys_tid());
}

struct pt_thread *pt_thread_get(struct pt_self *self)
{
    struct pt_thread *old = pt_thread_self, *t;
    int saved = errno;

    if (is_own(old, self))
        return old;
    t = take_record(self);
    if (!t) {
        errno = saved;
        return NULL;
    }
    note_numbers(t, self);
    pt_assert(pt_thread_is(t, PT_THREAD_CLAIMED) && pt_load_relaxed(&t->pid) > 0);
    t->thread_id = (uint64_t)(uintptr_t)pthread_self();
    t->stack_top = stack_top(t);
    memset(t->name, 0, sizeof t->name);
    prctl(PR_GET_NAME, (unsigned long)t->name, 0, 0, 0);
    t->name[15] = '\0';
    pt_store_release(&t->writers[0], t->writers0);
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        pt_store_relaxed(&t->fast[bit], pt_thread_never());
    pt_store_relaxed(&t->one.gate, pt_thread_never());
    pt_store_relaxed(&t->several, pt_thread_never());
    /* Forked since it was taken: in the child it is wiped, and in the parent's list.  A fork from
     * here on wipes its pid: is_own(). */
    if (pt_self_peek() != self) {
        errno = saved;
        return NULL;
    }
    /* The numbers continue those of an earlier record: see writer/event_multi.c. */
    if (pt_load_relaxed(&t->count) < pt_load_relaxed(&old->count))
        pt_store_relaxed(&t->count, pt_load_relaxed(&old->count));
    set_unwatched(self, t, exits > 0);
    pt_store_release(&t->word, (uint64_t)PT_THREAD_IDLE);
    set_taken(t, PT_THREAD_OWNED);
    /* A handler of this thread may have come here while we were busy; then its
     * record is the thread's. */
    if (!pt_cas_seqcst(&pt_thread_self, &old, t)) {
        pt_store_release(&t->word, 0u);
        give_record(self, t);
        t = old;
    } else if (pt_load_acquire(&exit_key_state) == 2) {
        pthread_setspecific(exit_key, t);
    }
    errno = saved;
    return t;
}

void pt_thread_settle(struct pt_thread *t)
{
    struct pt_writer *one = pt_load_relaxed(&t->one_writer); /* once: as above */

    if (one && one->last < t->one_last)
        one->last = t->one_last;
    for (struct pt_writer *writer = t->several_writers; writer; writer = writer->next)
        if (writer->last < t->several_last)
            writer->last = t->several_last;
}

void pt_thread_forget_one(struct pt_thread *t)
{
    pt_thread_settle(t);
    pt_store_relaxed(&t->one.gate, pt_thread_never());
    pt_fence_compiler();
    t->one_writer = NULL;
}

void pt_thread_forget_several(struct pt_thread *t)
{
    pt_thread_settle(t);
    pt_store_relaxed(&t->several, pt_thread_never());
    t->ready_until = 0;
    pt_fence_compiler();
    t->several_writers = NULL;
}

void pt_thread_forget_known(struct pt_thread *t)
{
    pt_thread_forget_one(t);
    pt_thread_forget_several(t);
}

bool pt_thread_enter(struct pt_thread *t)
{
    if (pt_load_relaxed(&t->word) != PT_THREAD_IDLE)
        return false;
    pt_store_seqcst(&t->word, pt_thread_word((uintptr_t)__builtin_frame_address(0), 1u));
    pt_count_own(&t->count);
    pt_fence_seqcst();
    /* Forked after the record was found. */
    if (!pt_self_peek()) {
        pt_thread_leave(t);
        return false;
    }
    return true;
}

void pt_thread_leave(struct pt_thread *t)
{
    pt_store_seqcst(&t->word, (uint64_t)PT_THREAD_IDLE);
}

struct pt_writer *pt_thread_writers(struct pt_thread *t, unsigned level)
{
    pt_assert_call(level < PT_LEVELS);
    if (!t->writers[level]) {
        struct pt_writer *writers = pt_sys_wiped_pages(PT_STREAMS * sizeof *writers);

        /* A handler that came in between has set it already. */
        if (writers && t->writers[level]) {
            munmap(writers, PT_STREAMS * sizeof *writers);
            writers = NULL;
        }
        if (writers)
            pt_store_release(&t->writers[level], writers);
    }
    return t->writers[level];
}

/* The records of this process; NULL also in a child that has not called yet. */
static struct pt_thread *first_thread(void)
{
    struct pt_self *self = pt_self_peek();

    return self ? pt_load_acquire(&self->threads) : NULL;
}

bool pt_threads_left(void)
{
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + QUIESCE_NS;
    struct timespec pause = { 0, 20000 };

    pt_barrier_all();
    for (struct pt_thread *t = first_thread(); t; t = t->next) {
        uint64_t count = pt_load_acquire(&t->count);

        if (t == pt_thread_self || pt_thread_is_cut(t))
            continue;
        while ((pt_load_acquire(&t->word) & PT_THREAD_LEVEL) &&
               pt_load_acquire(&t->count) == count) {
            if (pt_thread_is_gone(pt_load_relaxed(&t->pid), pt_load_relaxed(&t->tid)))
                break;
            if (pt_clock_ns(CLOCK_MONOTONIC) > until)
                return false;
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        }
    }
    while (pt_self_inside(&strangers) != 0) {
        if (pt_clock_ns(CLOCK_MONOTONIC) > until)
            return false;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return true;
}

void pt_thread_stranger_begin(struct pt_stranger *s)
{
    pt_thread_hold_signals(&s->before);
    s->instance = pt_self_enter(&strangers);
}

void pt_thread_stranger_end(const struct pt_stranger *s)
{
    pt_self_leave(&strangers, s->instance);
    pt_thread_let_signals(&s->before);
}

/* 0: any epoch. */
static void forget_epoch(pt_u64 *word, uint64_t epoch, uint64_t none)
{
    uint64_t was = epoch ? epoch : pt_load_seqcst(word);

    while (!pt_cas_seqcst(word, &was, none) && !epoch)
        ;
}

/* one or several, if it has the bit. */
static void forget_known(pt_u64 *known, unsigned bit)
{
    uint64_t was = pt_load_seqcst(known);

    if (was >> bit & 1)
        pt_cas_seqcst(known, &was, pt_thread_never());
}

/* What the calling thread knows is not known from here on, either: its event may use it yet.
 * No handler of it traces at level 0 meanwhile. */
static void forget_writers(struct pt_thread *t, unsigned bit, uint64_t epoch)
{
    pt_assert_call(bit < PT_STREAMS);
    forget_epoch(&t->fast[bit], epoch, pt_thread_never());
    for (unsigned level = 0; level < PT_LEVELS; level++) {
        struct pt_writer *writers = pt_load_acquire(&t->writers[level]);

        if (writers)
            forget_epoch(&writers[bit].epoch, epoch, 0);
    }
    pt_fence_seqcst();
    if (t == pt_thread_self && ((t->one.gate | t->several) >> bit & 1))
        pt_thread_forget_known(t);
    forget_known(&t->one.gate, bit);
    forget_known(&t->several, bit);
}

void pt_threads_forget(unsigned bit, uint64_t epoch)
{
    for (struct pt_thread *t = first_thread(); t; t = t->next)
        forget_writers(t, bit, epoch);
}

bool pt_threads_are_out(void)
{
    const struct pt_thread *self = pt_thread_current();

    if (!self || (pt_load_relaxed(&self->word) & PT_THREAD_LEVEL) > 1)
        return false;
    pt_barrier_all();
    for (struct pt_thread *t = first_thread(); t; t = t->next)
        if (t != self && !pt_thread_is_cut(t) && (pt_load_acquire(&t->word) & PT_THREAD_LEVEL))
            return false;
    return pt_self_inside(&strangers) == 0;
}

void pt_thread_forget_parent(void)
{
    struct pt_thread *t = first_thread(), *next; /* where nothing is wiped: the parent's */
    struct pt_self *self = pt_self_peek();

    /* Made in the child, for a signal handler or a fork handler that came before this one. */
    if (self && (int32_t)self->pid == pt_sys_pid())
        return;
    pt_self_look_again();
    if (!pt_self_forget_parent())
        return;
    for (; t; t = next) {
        next = t->next;
        if (!pt_thread_is_cut(t))
            memset(t, 0, sizeof *t);
    }
}

/* Is the writer good, so that its slot and chunk can be released?  Sets inside, as an event does:
 * another process that shuts the stream down waits for that before it frees the memory.
 * pt_slot_detach() clears inside. */
static bool enter_writer(const struct pt_thread *t, const struct pt_writer *l, const pt_u64 *epoch)
{
    if (!pt_writer_is_good(l, pt_load_seqcst(epoch)))
        return false;
    pt_assert(l->slot == pt_seg_slot(l->seg, l->slot_index));
    pt_store_relaxed(&l->slot->inside, pt_load_relaxed(&t->count));
    pt_fence_seqcst();
    if (pt_writer_is_good(l, pt_load_seqcst(epoch)))
        return true;
    pt_store_release(&l->slot->inside, 0u);
    return false;
}

/* name: the thread's name at its end; NULL: it is not the calling thread. */
static void detach_level(struct pt_thread *t, unsigned level, const struct pt_page *page,
                         const char *name)
{
    struct pt_writer *writers = t->writers[level];

    for (unsigned bit = 0; writers && bit < PT_STREAMS; bit++) {
        struct pt_writer *l = &writers[bit];
        bool good = enter_writer(t, l, &page->epoch[bit]);

        /* First: a handler's event nested too deep counts with the writer while it is good. */
        pt_thread_drop_writer(t, level, bit);
        pt_fence_compiler();
        if (good && name)
            pt_slot_name(l->seg, l->slot_index, name);
        if (good)
            pt_slot_detach(l->seg, l->slot_index, l->last);
        l->limit = 0;
    }
}

void pt_thread_exit(struct pt_thread *t)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct pt_self *self = pt_self_peek();
    char name[16] = "";
    bool named = t == pt_thread_self && prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0) == 0;

    if (!self || pt_load_relaxed(&t->word) == 0)
        return;
    /* Inside, so that no segment is unmapped under us; a level left over from a
     * handler that never returned ends here too.  While the writers of a level are given
     * back, the events of handlers belong to the next one. */
    pt_count_own(&t->count);
    for (unsigned level = 0; level < PT_LEVELS; level++) {
        t->outer[level] = pt_thread_word(frame, level);
        pt_store_seqcst(&t->word, pt_thread_word(frame, level + 1));
        pt_fence_seqcst();
        if (level == 0)
            pt_thread_forget_known(t);
        detach_level(t, level, self->page, named ? name : NULL);
    }
    if (pt_thread_self == t)
        pt_thread_self = (struct pt_thread *)(void *)pt_thread_none;
    pt_store_release(&t->word, 0u);
    give_record(self, t);
}
