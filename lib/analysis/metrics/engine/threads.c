/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The threads that a run knows, and the objects of metrics by object.  A thread that
 * measures nothing is forgotten when there are very many: should it come back it is as
 * new, and nothing is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Without memory an entry is not added, and its tbl is NULL. */
#define HASH_NONFATAL_OOM                1
#define HASH_FUNCTION(key, length, hash) ((hash) = pt_hash_words(key, length, e->factor))

static unsigned pt_hash_words(const void *key, size_t length, unsigned long long factor)
{
    const char *at = key;
    unsigned long long h = 0, word;

    for (; length >= sizeof word; length -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * factor;
        h ^= h >> 32;
    }
    return (unsigned)h;
}

#include "analysis/metrics/engine/bounds.h"
#include "analysis/metrics/engine/uncertainty.h"
#include "analysis/metrics/engine/engine.h"
#include "analysis/metrics/engine/step.h"
#include "base/assert.h"

enum { THREADS_MANY = 65536 };

void pt_automaton_init(struct pt_automaton *a, struct pt_hot *hot, struct pt_traced_thread *thread)
{
    memset(a, 0, sizeof *a);
    memset(hot, 0, sizeof *hot);
    a->hot = hot;
    a->thread = thread;
    a->sure_from = INT64_MIN;
}

static struct pt_traced_thread **recent_of(struct pt_engine *e, const struct pt_thread_key *key)
{
    return &e->recent[(key->tid ^ key->pid ^ key->thread_id >> 12) % PT_RECENT];
}

static void forget(struct pt_engine *e, struct pt_traced_thread *t)
{
    struct pt_traced_thread **recent = recent_of(e, &t->key);

    pt_assert_call(t->objects == 0);
    if (*recent == t)
        *recent = NULL;
    if (e->last == t)
        e->last = NULL;
    pt_bounds_forget(e, t);
    for (size_t i = 0; i < e->count; i++) {
        if (e->machines[i].in_state && !t->items)
            LIST_REMOVE(&t->automata[i], same_state);
        pt_uncertainty_free(&t->automata[i]);
    }
    pt_assert(LIST_EMPTY(&t->shares) && LIST_EMPTY(&t->pending));
    HASH_DEL(e->threads, t);
    free(t);
}

/* An automaton in its first state is as a new one, unless events of other threads lead out of
 * that: those it would miss. */
static bool is_idle(const struct pt_engine *e, const struct pt_traced_thread *t)
{
    for (size_t i = 0; i < e->count; i++) {
        if (e->machines[i].woken_by_others || t->hot[i].state != 0 || t->hot[i].measuring ||
            t->hot[i].doubtful || t->automata[i].has_before || t->automata[i].unsure_before)
            return false;
    }
    return t->objects == 0;
}

static void forget_idle(struct pt_engine *e)
{
    struct pt_traced_thread *t, *next;

    HASH_ITER(hh, e->threads, t, next)
    {
        if (!is_idle(e, t))
            continue;
        for (size_t i = 0; i < e->count; i++)
            pt_engine_settle_thread(e, &e->machines[i], t);
        forget(e, t);
    }
}

void pt_engine_thread_ends(struct pt_engine *e, struct pt_traced_thread *thread)
{
    struct pt_object *o, *next;

    if (thread->objects)
        HASH_ITER(hh, e->objects, o, next)
    if (o->automaton.thread == thread) {
        pt_engine_settle_object(e, o);
        pt_engine_drop_object(e, o);
    }
    for (size_t i = 0; i < e->count; i++)
        pt_engine_settle_thread(e, &e->machines[i], thread);
    forget(e, thread);
}

static struct pt_traced_thread *empty_thread(const struct pt_engine *e)
{
    size_t size = sizeof(struct pt_traced_thread) +
                  e->count * (sizeof(struct pt_hot) + sizeof(struct pt_automaton));
    struct pt_traced_thread *t;

    size = (size + PT_CACHE_LINE - 1) / PT_CACHE_LINE * PT_CACHE_LINE;
    t = aligned_alloc(PT_CACHE_LINE, size);
    if (!t)
        return NULL;
    memset(t, 0, size);
    t->automata = (struct pt_automaton *)(void *)(t->hot + e->count);
    return t;
}

static struct pt_traced_thread *make_thread(struct pt_engine *e, const struct pt_thread_key *key,
                                            uint64_t thread_id, bool items)
{
    unsigned known = HASH_COUNT(e->threads);
    struct pt_traced_thread *t;

    if (known >= THREADS_MANY && (known & (known - 1)) == 0)
        forget_idle(e);
    t = empty_thread(e);
    if (!t)
        return NULL;
    t->key = *key;
    t->thread_id = thread_id;
    t->items = items;
    HASH_ADD(hh, e->threads, key, sizeof t->key, t);
    if (!t->hh.tbl) {
        free(t);
        return NULL;
    }
    for (size_t i = 0; i < e->count; i++) {
        struct pt_machine *m = &e->machines[i];

        pt_automaton_init(&t->automata[i], &t->hot[i], t);
        if (m->in_state && !items)
            LIST_INSERT_HEAD(&m->in_state[0], &t->automata[i], same_state);
        if (m->in_state && !items && e->gap)
            pt_uncertainty_notice_late(e, m, &t->automata[i]);
    }
    return t;
}

int pt_engine_thread(struct pt_engine *e, const struct posixtrace_event *event,
                     struct pt_traced_thread **thread)
{
    struct pt_thread_key key = { (uint32_t)event->pid, (uint32_t)event->tid,
                                 event->tid ? 0 : event->thread_id };
    struct pt_traced_thread **recent = recent_of(e, &key), *t = *recent;

    *thread = e->last = t;
    if (t && memcmp(&t->key, &key, sizeof key) == 0)
        return 0;
    *thread = e->last = NULL;
    if (key.tid == 0 && key.thread_id == 0)
        return 0;
    HASH_FIND(hh, e->threads, &key, sizeof key, t);
    if (!t)
        t = make_thread(e, &key, event->thread_id, false);
    *thread = *recent = e->last = t;
    pt_assert(!t || (memcmp(&t->key, &key, sizeof key) == 0 && !t->items));
    return t ? 0 : ENOMEM;
}

struct pt_traced_thread *pt_engine_items(struct pt_engine *e, const struct posixtrace_event *event)
{
    /* No thread has this key: the kernel's number is 0 where there is a thread_id only. */
    struct pt_thread_key key = { (uint32_t)event->pid, UINT32_MAX, UINT64_MAX };
    struct pt_traced_thread *t;

    HASH_FIND(hh, e->threads, &key, sizeof key, t);
    return t ? t : make_thread(e, &key, 0, true);
}

/* For the next one: they come and go with each lock that is taken. */
static void keep(struct pt_engine *e, struct pt_object *object)
{
    object->next = e->spare;
    e->spare = object;
}

struct pt_object *pt_engine_object(struct pt_engine *e, const struct pt_machine *m,
                                   struct pt_traced_thread *thread, uint64_t object, bool make)
{
    struct pt_object_key key = { thread->key.pid, thread->key.tid, thread->key.thread_id, object,
                                 m->index };
    struct pt_object *o;

    HASH_FIND(hh, e->objects, &key, sizeof key, o);
    pt_assert(!o || o->automaton.thread == thread);
    if (o || !make)
        return o;
    o = e->spare ? e->spare : malloc(sizeof *o);
    if (!o)
        return NULL;
    if (o == e->spare)
        e->spare = o->next;
    memset(o, 0, sizeof *o);
    o->key = key;
    pt_automaton_init(&o->automaton, &o->hot, thread);
    HASH_ADD(hh, e->objects, key, sizeof o->key, o);
    if (!o->hh.tbl) {
        keep(e, o);
        return NULL;
    }
    thread->objects++;
    return o;
}

void pt_engine_drop_object(struct pt_engine *e, struct pt_object *object)
{
    object->automaton.thread->objects--;
    pt_bounds_drop(&object->automaton);
    pt_uncertainty_free(&object->automaton);
    HASH_DEL(e->objects, object);
    keep(e, object);
}

void pt_engine_deinit(struct pt_engine *e)
{
    struct pt_object *o, *next_object;
    struct pt_traced_thread *t, *next;

    pt_bounds_deinit(e);
    HASH_ITER(hh, e->objects, o, next_object)
    pt_engine_drop_object(e, o);
    while ((o = e->spare) != NULL) {
        e->spare = o->next;
        free(o);
    }
    HASH_ITER(hh, e->threads, t, next)
    forget(e, t);
    for (size_t i = 0; i < e->count; i++) {
        free(e->machines[i].in_state);
        free(e->machines[i].transitions);
        free(e->machines[i].leaves);
        pt_edges_free(e->machines[i].edges);
    }
    free(e->machines);
    pt_gaps_deinit(&e->gaps);
    free(e->scratch);
}
