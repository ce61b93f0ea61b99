/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which threads hold a lock: those that have locked it and not unlocked it since, as far as all of
 * their events since then are known.
 */
#include "top/top_state.h"

#include "common/tool.h"

struct top_lock *top_lock_of(struct top_stream *s, pid_t pid, uint64_t object)
{
    struct top_lock *lock = top_map_make(&s->locks, (uint64_t)pid, object, sizeof *lock, TOP_LOCKS);

    if (!lock) {
        s->left_out++;
        return NULL;
    }
    lock->pid = pid;
    lock->object = object;
    return lock;
}

static bool holds(const struct top_stream *s, const struct top_holder *h)
{
    return h->life == h->thread->life && h->thread->good == s->gap && !h->thread->ended;
}

void top_lock_forget(struct top_lock *lock)
{
    size_t kept = 0;

    for (size_t i = 0; i < lock->count; i++)
        if (lock->holders[i].life == lock->holders[i].thread->life)
            lock->holders[kept++] = lock->holders[i];
    lock->count = kept;
}

void top_lock_taken(struct top_stream *s, struct top_lock *lock, struct top_thread *t)
{
    (void)s;
    top_lock_forget(lock);
    for (size_t i = 0; i < lock->count; i++) {
        if (lock->holders[i].thread == t) {
            lock->holders[i].depth++;
            return;
        }
    }
    if (lock->count == lock->room) {
        lock->room = lock->room ? 2 * lock->room : 2;
        lock->holders = tool_grow(lock->holders, lock->room, sizeof *lock->holders);
    }
    lock->holders[lock->count++] = (struct top_holder){ t, t->life, 1 };
}

void top_lock_released(struct top_stream *s, struct top_lock *lock, struct top_thread *t)
{
    (void)s;
    top_lock_forget(lock);
    for (size_t i = 0; i < lock->count; i++) {
        if (lock->holders[i].thread != t || --lock->holders[i].depth > 0)
            continue;
        lock->holders[i] = lock->holders[--lock->count];
        return;
    }
}

struct top_thread *top_lock_holder(const struct top_stream *s, struct top_lock *lock,
                                   const struct top_thread *t)
{
    for (size_t i = 0; i < lock->count; i++)
        if (lock->holders[i].thread != t && holds(s, &lock->holders[i]))
            return lock->holders[i].thread;
    return NULL;
}
