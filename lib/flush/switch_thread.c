/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See switch_thread.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/array.h"
#include "flush/switch_thread.h"
#include "log/contents.h"
#include "process/thread_name.h"

void pt_switch_threads_deinit(struct pt_switch_threads *x)
{
    free(x->of);
    free(x->hash);
}

static uint32_t *cell_of(const struct pt_switch_threads *x, int32_t tid)
{
    size_t i = (uint32_t)tid * 2654435761u & (x->hash_room - 1);

    while (x->hash[i] && x->of[x->hash[i] - 1].author.tid != tid)
        i = (i + 1) & (x->hash_room - 1);
    return &x->hash[i];
}

struct pt_switch_thread *pt_switch_threads_find(const struct pt_switch_threads *x, int32_t tid)
{
    uint32_t *cell = x->hash_room ? cell_of(x, tid) : NULL;
    struct pt_switch_thread *t = cell && *cell ? &x->of[*cell - 1] : NULL;

    return t && !t->ended ? t : NULL;
}

static void fill_hash(struct pt_switch_threads *x)
{
    memset(x->hash, 0, x->hash_room * sizeof *x->hash);
    for (size_t i = 0; i < x->count; i++)
        *cell_of(x, x->of[i].author.tid) = (uint32_t)i + 1;
}

static int grow_hash(struct pt_switch_threads *x)
{
    size_t room = x->hash_room ? x->hash_room * 2 : 128;
    uint32_t *hash = realloc(x->hash, room * sizeof *hash);

    if (!hash)
        return -ENOMEM;
    x->hash = hash;
    x->hash_room = room;
    fill_hash(x);
    return 0;
}

struct pt_switch_thread *pt_switch_threads_get(struct pt_switch_threads *x, struct pt_seg_header *h,
                                               const struct pt_switch *s)
{
    struct pt_switch_thread *t = pt_switch_threads_find(x, s->tid);

    if (t)
        return t;
    if (pt_array_grow(&x->of, &x->room, x->count, sizeof *x->of) < 0 ||
        ((x->count + 1) * 2 > x->hash_room && grow_hash(x) < 0))
        return NULL;
    t = &x->of[x->count];
    *t = (struct pt_switch_thread){
        .author = { .wid = pt_add_relaxed(&h->next_wid, 1u),
                    .level = PT_LEVEL_MADE,
                    .pid = s->pid,
                    .tid = s->tid },
        .origin = s->origin,
        .since = s->ts,
        .named_at = pt_clock_ns(CLOCK_MONOTONIC),
    };
    pt_thread_name_read(s->pid, s->tid, t->author.name);
    *cell_of(x, s->tid) = (uint32_t)++x->count;
    return t;
}

/* Finds or makes the thread of an entry that is not a switch. */
static struct pt_switch_thread *get_unseen(struct pt_switch_threads *x, struct pt_seg_header *h,
                                           const struct pt_switch *s)
{
    size_t count = x->count;
    struct pt_switch_thread *t = pt_switch_threads_get(x, h, s);

    if (t && x->count > count)
        t->unseen = true;
    return t;
}

static void take_end(struct pt_switch_threads *x, const struct pt_switch *s)
{
    struct pt_switch_thread *t = pt_switch_threads_find(x, s->tid);

    if (t && (t->unseen || t->origin == s->origin))
        t->ended = true;
}

bool pt_switch_threads_note(struct pt_switch_threads *x, struct pt_seg_header *h,
                            const struct pt_switch *s)
{
    struct pt_switch_thread *t, *parent;

    if (s->what == PT_SWITCH_ENDED) {
        take_end(x, s);
        return true;
    }
    t = get_unseen(x, h, s);
    if (!t)
        return false;
    if (s->what == PT_SWITCH_NAMED) {
        memcpy(t->author.name, s->name, sizeof t->author.name);
        t->author.name[sizeof t->author.name - 1] = '\0';
        t->renamed = true;
    } else if (!t->author.name[0]) {
        /* The thread ended before its name could be read. */
        parent = pt_switch_threads_find(x, (int32_t)s->value);
        if (parent)
            memcpy(t->author.name, parent->author.name, sizeof t->author.name);
    }
    return true;
}

/* Takes the name from the writer's tally, unless that is older than the thread's. */
static void take_name(struct pt_switch_thread *t, const struct pt_account *known)
{
    bool alive = known->source == PT_TALLY_SLOT;

    if (alive)
        t->named_at = known->named_at;
    if (!alive && t->known_by == known->author.wid && t->author.names == known->author.names)
        return;
    memcpy(t->author.name, known->author.name, sizeof t->author.name);
    t->author.name[sizeof t->author.name - 1] = '\0';
    t->author.names = known->author.names;
}

/* A thread that had the tid before has writers with lower numbers, which ended before this one was
 * seen: its own are seen while they live, or for the first time, or ended later. */
static void find_first(const struct pt_switch_threads *x, struct pt_switch_thread *t,
                       const struct pt_account *known)
{
    uint64_t wid = known->author.wid;

    if ((known->source == PT_TALLY_SLOT || wid > x->compared || known->ended_ts >= t->since) &&
        (t->first_writer == 0 || wid < t->first_writer))
        t->first_writer = wid;
}

/* Writers that have ended get it, too: of this thread. */
static void give_name(const struct pt_switch_thread *t, struct pt_account *known)
{
    if (memcmp(known->author.name, t->author.name, sizeof t->author.name) == 0)
        return;
    memcpy(known->author.name, t->author.name, sizeof t->author.name);
    known->changed = true;
}

static void identify_one(const struct pt_switch_threads *x, struct pt_switch_thread *t,
                         struct pt_account *known)
{
    find_first(x, t, known);
    if (t->first_writer == 0 || known->author.wid < t->first_writer)
        return;
    if (t->renamed)
        give_name(t, known);
    if (known->author.level != 0 || t->known_by > known->author.wid)
        return;
    if (!t->renamed)
        take_name(t, known);
    t->known_by = known->author.wid;
    t->author.thread_id = known->author.thread_id;
}

void pt_switch_threads_identify(struct pt_switch_threads *x, struct pt_accounts *a)
{
    uint64_t compared = x->compared;

    for (uint32_t i = 0; i < a->room; i++) {
        struct pt_account *known = &a->tally[i];
        uint32_t *cell = known->used && x->count ? cell_of(x, known->author.tid) : NULL;
        struct pt_switch_thread *t = cell && *cell ? &x->of[*cell - 1] : NULL;

        if (known->used && known->author.wid > compared)
            compared = known->author.wid;
        if (t && t->author.pid == known->author.pid)
            identify_one(x, t, known);
    }
    x->compared = compared;
    for (size_t i = 0; i < x->count; i++)
        x->of[i].renamed = false;
}

void pt_switch_threads_read_names(struct pt_switch_threads *x, struct pt_name_turn *turn)
{
    for (size_t i = 0; i < x->count && (turn->all || turn->left); i++) {
        struct pt_switch_thread *t = &x->of[x->name_at++ % x->count];

        if (!t->ended && pt_thread_name_is_due(turn, &t->named_at))
            pt_thread_name_read(t->author.pid, t->author.tid, t->author.name);
    }
}

void pt_switch_threads_forget(struct pt_switch_threads *x)
{
    size_t kept = 0;

    for (size_t i = 0; i < x->count; i++)
        if (!x->of[i].ended)
            x->of[kept++] = x->of[i];
    if (kept == x->count)
        return;
    x->count = kept;
    fill_hash(x);
}
