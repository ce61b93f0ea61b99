/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events of calls that may wait (posixtrace/system.h): their lengths by lock and by call site, and
 * the locks that threads take.
 */
#include "top/top_state.h"

#include <errno.h>
#include <string.h>
#include <posixtrace/system.h>

/* clang-format off */
static const struct top_call calls[] = {
    { POSIXTRACE_MUTEX_LOCK, POSIXTRACE_MUTEX_LOCKED, POSIXTRACE_MUTEX_UNLOCK, TOP_OBJECT, 8,
      false },
    { POSIXTRACE_RWLOCK_LOCK, POSIXTRACE_RWLOCK_LOCKED, POSIXTRACE_RWLOCK_UNLOCK, TOP_OBJECT, 8,
      false },
    { POSIXTRACE_COND_WAIT, POSIXTRACE_COND_WOKEN, 0, TOP_OBJECT, 8, false },
    { POSIXTRACE_SEM_WAIT, POSIXTRACE_SEM_TAKEN, 0, TOP_OBJECT, 8, false },
    { POSIXTRACE_BARRIER_WAIT, POSIXTRACE_BARRIER_PASSED, 0, TOP_OBJECT, 8, false },
    { POSIXTRACE_SLEEP, POSIXTRACE_SLEEP_DONE, 0, TOP_NOTHING, 16, true },
    { POSIXTRACE_IO, POSIXTRACE_IO_DONE, 0, TOP_DESCRIPTOR, 8, false },
    { POSIXTRACE_POLL, POSIXTRACE_POLL_DONE, 0, TOP_DESCRIPTOR, 24, true },
    { POSIXTRACE_FILE_LOCK, POSIXTRACE_FILE_LOCKED, 0, TOP_DESCRIPTOR, 16, false },
    { POSIXTRACE_FUTEX_WAIT, POSIXTRACE_FUTEX_WOKEN, 0, TOP_OBJECT, 8, false },
    { POSIXTRACE_THREAD_JOIN, POSIXTRACE_THREAD_JOINED, 0, TOP_OBJECT, 8, false },
    { POSIXTRACE_CHILD_WAIT, POSIXTRACE_CHILD_WAITED, 0, TOP_PROCESS, 8, false },
    { POSIXTRACE_SIGNAL_WAIT, POSIXTRACE_SIGNAL_TAKEN, 0, TOP_NOTHING, 8, true },
};
/* clang-format on */

enum { CALLS = sizeof calls / sizeof calls[0], LAST = POSIXTRACE_FUNCTION_EXIT };

/* 'b', 'e', 'u': the event begins the call, ends it, or unlocks. */
static struct meaning {
    char role;
    const struct top_call *call;
} meanings[LAST + 1];

static void learn_meanings(void)
{
    for (size_t i = 0; i < CALLS && !meanings[calls[i].begin].role; i++) {
        meanings[calls[i].begin] = (struct meaning){ 'b', &calls[i] };
        meanings[calls[i].end] = (struct meaning){ 'e', &calls[i] };
        if (calls[i].unlock)
            meanings[calls[i].unlock] = (struct meaning){ 'u', &calls[i] };
    }
}

const struct top_call *top_call_of(uint32_t type)
{
    learn_meanings();
    return type <= LAST && meanings[type].role == 'b' ? meanings[type].call : NULL;
}

/* Data may have any length. */
static uint64_t u64(const struct posixtrace_event *e, size_t at)
{
    uint64_t value = 0;

    if (e->data_len >= at + sizeof value)
        memcpy(&value, (const char *)e->data + at, sizeof value);
    return value;
}

static uint32_t u32(const struct posixtrace_event *e, size_t at)
{
    uint32_t value = 0;

    if (e->data_len >= at + sizeof value)
        memcpy(&value, (const char *)e->data + at, sizeof value);
    return value;
}

bool top_wants(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e)
{
    if (s->wants && !posixtrace_event_match(s->trid, e, s->wants))
        return false;
    t->matched_ns = e->ns;
    return true;
}

/* A call from ns on that ended with the event. */
static void add_call(struct top_stream *s, const struct top_thread *t, const struct top_open *open,
                     uint64_t object, int64_t end)
{
    int64_t length = end > open->ns ? end - open->ns : 0;
    struct top_lock *lock = open->call->unlock ? top_lock_of(s, t->pid, object) : NULL;
    struct top_site *site;

    if (!open->wanted)
        return;
    if (lock)
        top_recent_add(&lock->recent, end, length, s->watched_ns, false);
    if (open->caller == 0 || open->call->idle)
        return;
    site = top_map_make(&s->sites_of, (uint64_t)t->pid << 32 | open->call->begin, open->caller,
                        sizeof *site, TOP_SITES);
    if (!site) {
        s->left_out++;
        return;
    }
    site->pid = t->pid;
    site->caller = open->caller;
    site->type = open->call->begin;
    site->call = open->number;
    top_recent_add(&site->recent, end, length, s->watched_ns, false);
}

static uint32_t number_of(const struct top_call *call, const struct posixtrace_event *e)
{
    return call->subject == TOP_DESCRIPTOR || call->subject == TOP_PROCESS ? u32(e, 0) : UINT32_MAX;
}

static void begins(struct top_stream *s, struct top_thread *t, const struct top_call *call,
                   const struct posixtrace_event *e)
{
    if (t->depth == TOP_DEPTH) {
        t->deeper++;
        return;
    }
    t->open[t->depth++] = (struct top_open){ .call = call,
                                             .ns = e->ns,
                                             .id = u64(e, 0),
                                             .caller = u64(e, call->caller),
                                             .number = number_of(call, e),
                                             .wanted = top_wants(s, t, e) };
}

/* Calls above it were left by a handler of a signal. */
static void ends(struct top_stream *s, struct top_thread *t, const struct top_call *call,
                 const struct posixtrace_event *e)
{
    int64_t error = (int64_t)u64(e, 8);
    struct top_lock *lock;
    unsigned i = t->depth;

    while (i > 0 && (t->open[i - 1].call != call || t->open[i - 1].id != u64(e, 0)))
        i--;
    if (t->deeper > 0) {
        t->deeper--;
    } else if (i > 0) {
        add_call(s, t, &t->open[i - 1], u64(e, 0), e->ns);
        t->depth = i - 1;
    }
    if (!call->unlock || (error != 0 && error != EOWNERDEAD))
        return;
    lock = top_lock_of(s, t->pid, u64(e, 0));
    if (lock)
        top_lock_taken(s, lock, t);
}

static void unlocks(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e)
{
    struct top_lock *lock = top_map_find(&s->locks, (uint64_t)t->pid, u64(e, 0));

    if (lock)
        top_lock_released(s, lock, t);
}

/* A call whole: u32 type, u32 call, u64 object, i64 result, i64 duration, u64 caller. */
static void long_call(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e)
{
    const struct top_call *call = top_call_of(u32(e, 0));
    int64_t duration = (int64_t)u64(e, 24);
    struct top_open open = { .call = call, .caller = u64(e, 32), .number = u32(e, 4) };

    if (!call || duration < 0 || __builtin_sub_overflow(e->ns, duration, &open.ns))
        return;
    open.wanted = top_wants(s, t, e);
    add_call(s, t, &open, u64(e, 8), e->ns);
}

bool top_take_system(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e)
{
    const struct meaning *m = e->id <= LAST ? &meanings[e->id] : NULL;

    learn_meanings();
    if (!m)
        return false;
    switch (m->role) {
    case 'b': begins(s, t, m->call, e); return true;
    case 'e': ends(s, t, m->call, e); return true;
    case 'u': unlocks(s, t, e); return true;
    default: break;
    }
    if (e->id == POSIXTRACE_LONG_CALL)
        long_call(s, t, e);
    else if (e->id == POSIXTRACE_THREAD_END)
        t->ended = true;
    return true;
}
