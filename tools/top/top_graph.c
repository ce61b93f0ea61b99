/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The wait-for graph: a thread waits for one other at most, the holder of a lock or the thread
 * whose end it awaits.  A walk that comes to a thread of its own walk has found a cycle.
 *
 * Waits and holders are of slightly different moments.  So only a thread that is in the same wait
 * before and after the events were read has an edge: the holder is that of a moment in between, and
 * none of the threads of a cycle took or gave a lock meanwhile.
 */
#include "top/top_stream.h"

#include <string.h>
#include <time.h>
#include <posixtrace/system.h>

enum { JOINS = 64, LONG_NS = 1000000000 };

static struct top_thread *thread_at(const struct top_stream *s, size_t i)
{
    return (struct top_thread *)(void *)s->threads.items[i];
}

static bool is_lock(uint32_t type)
{
    return type == POSIXTRACE_MUTEX_LOCK || type == POSIXTRACE_RWLOCK_LOCK;
}

/* Looks through all threads: for JOINS of them. */
static struct top_thread *awaited(const struct top_stream *s, const struct top_thread *t,
                                  unsigned *joins)
{
    if (++*joins > JOINS)
        return NULL;
    for (size_t i = 0; i < s->threads.count; i++) {
        struct top_thread *other = thread_at(s, i);

        if (other->pid == t->pid && other->thread_id == t->now.wait_object && !other->ended &&
            other != t)
            return other;
    }
    return NULL;
}

/* A lock that a thread takes twice is no deadlock if it is recursive: then the call is short. */
static bool waits_long(const struct top_thread *t)
{
    return t->now.wait_since_ns != 0 && top_clock(CLOCK_REALTIME) - t->now.wait_since_ns > LONG_NS;
}

static void find_edge(struct top_stream *s, struct top_thread *t, unsigned *joins)
{
    struct top_lock *lock;

    t->waits_for = NULL;
    t->walk = t->deadlock = 0;
    if (t->ended || t->now.wait_type == 0)
        return;
    if (t->now.wait_type == POSIXTRACE_THREAD_JOIN && t->same_wait)
        t->waits_for = awaited(s, t, joins);
    if (!is_lock(t->now.wait_type))
        return;
    lock = top_map_find(&s->locks, (uint64_t)t->pid, t->now.wait_object);
    if (!lock)
        return;
    lock->waiters++;
    if (!t->same_wait)
        return;
    t->waits_for = top_lock_holder(s, lock, t);
    if (!t->waits_for && t->now.wait_type == POSIXTRACE_MUTEX_LOCK && waits_long(t) &&
        top_lock_holder(s, lock, NULL) == t)
        t->waits_for = t;
}

/* Marks a cycle; at is one of its threads. */
static void mark(struct top_thread *at, size_t number)
{
    size_t place = 0;

    for (struct top_thread *t = at; t->deadlock != number; t = t->waits_for) {
        t->deadlock = number;
        t->next_place = place++;
    }
}

/* The walk has found a cycle of waits: true. */
static bool walk(struct top_thread *t, size_t number, size_t deadlock)
{
    while (t && t->walk == 0) {
        t->walk = number;
        t = t->waits_for;
    }
    if (!t || t->walk != number || t->deadlock)
        return false;
    mark(t, deadlock);
    return true;
}

void top_graph_make(struct top_stream *s, size_t *number)
{
    unsigned joins = 0;

    for (size_t i = 0; i < s->locks.count; i++)
        ((struct top_lock *)(void *)s->locks.items[i])->waiters = 0;
    for (size_t i = 0; i < s->threads.count; i++)
        find_edge(s, thread_at(s, i), &joins);
    for (size_t i = 0; i < s->threads.count; i++)
        *number += walk(thread_at(s, i), i + 1, *number);
}
