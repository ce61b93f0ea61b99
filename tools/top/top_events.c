/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Takes the events of a stream one by one: pairs here, calls in top_calls.c.
 */
#include "top/top_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

void top_gap(struct top_stream *s)
{
    s->gap++;
}

/* A thread that ended long ago may have had the same number. */
static void begin_life(struct top_thread *t)
{
    t->life++;
    t->depth = t->deeper = 0;
    t->begun_count = 0;
}

static bool is_known(const struct top_stream *s, const struct top_thread *t)
{
    return s->caught_up && t->good >= s->hard_gap && t->good >= s->read_gap &&
           t->listed == s->refresh && t->was_listed && t->again == s->refresh &&
           t->after == t->before;
}

void top_idle_threads(struct top_stream *s, bool complete)
{
    for (size_t i = 0; i < s->threads.count; i++) {
        struct top_thread *t = (struct top_thread *)(void *)s->threads.items[i];

        if (is_known(s, t))
            t->good = s->gap;
    }
    s->read_gap = s->gap;
    s->caught_up = complete;
}

static bool has_ended(void *unused, void *item)
{
    const struct top_thread *t = item;

    (void)unused;
    return t->ended;
}

void top_forget_ended(struct top_stream *s)
{
    for (size_t i = 0; i < s->threads.count; i++)
        if (has_ended(NULL, s->threads.items[i]))
            ((struct top_thread *)(void *)s->threads.items[i])->life++;
    for (size_t i = 0; i < s->locks.count; i++)
        top_lock_forget((struct top_lock *)(void *)s->locks.items[i]);
    top_map_sweep(&s->threads, has_ended, NULL);
    s->last = NULL;
}

struct top_thread *top_thread_of(struct top_stream *s, pid_t pid, pid_t tid)
{
    struct top_thread *t = s->last;

    if (t && t->pid == pid && t->tid == tid)
        return t;
    t = top_map_make(&s->threads, (uint64_t)pid, (uint64_t)tid, sizeof *t, TOP_THREADS);
    if (!t) {
        s->left_out++;
        return NULL;
    }
    if (t->pid == 0) {
        t->pid = pid;
        t->tid = tid;
        t->good = s->gap;
        t->run_share = t->ready_share = -1;
    }
    s->last = t;
    return t;
}

/* ---- pairs ---- */

/* The length of a name without "#2", which marks a further description of it. */
static size_t plain_length(const char *name)
{
    const char *mark = strrchr(name, '#');

    return mark && mark > name && mark[1] && strspn(mark + 1, "0123456789") == strlen(mark + 1)
               ? (size_t)(mark - name)
               : strlen(name);
}

static struct top_pair *pair_of(struct top_stream *s, const char *name, size_t stem)
{
    struct top_pair *p;

    for (size_t i = 0; i < s->pair_count; i++)
        if (s->pairs[i]->stem == stem && memcmp(s->pairs[i]->name, name, stem) == 0)
            return s->pairs[i];
    if (s->pair_count == TOP_PAIRS)
        return NULL;
    p = tool_grow(NULL, 1, sizeof *p);
    memset(p, 0, sizeof *p);
    p->name = tool_grow(NULL, stem + 1, 1);
    memcpy(p->name, name, stem);
    p->name[stem] = '\0';
    p->stem = stem;
    s->pairs[s->pair_count++] = p;
    return p;
}

static void learn_type(struct top_stream *s, struct top_type *t, const char *name)
{
    static const char *const ends[] = { ":begin", ":end" };
    size_t length = plain_length(name);

    t->known = true;
    for (int i = 0; i < 2; i++) {
        size_t end = strlen(ends[i]);

        if (length > end && memcmp(name + length - end, ends[i], end) == 0) {
            t->pair = pair_of(s, name, length - end);
            t->role = t->pair ? "be"[i] : '\0';
        }
    }
}

/* NULL: of no type that means something. */
static const struct top_type *type_of(struct top_stream *s, const struct posixtrace_event *e)
{
    struct top_type *t;

    if (e->id >= TOP_TYPES)
        return NULL;
    if (e->id >= s->type_count) {
        size_t count = e->id + 64;

        s->types = tool_grow(s->types, count, sizeof *s->types);
        memset(s->types + s->type_count, 0, (count - s->type_count) * sizeof *s->types);
        s->type_count = count;
    }
    t = &s->types[e->id];
    /* A name may come after the first event of its type. */
    if (!t->known && e->name[0])
        learn_type(s, t, e->name);
    return t->role ? t : NULL;
}

static void take_pair(struct top_stream *s, struct top_thread *t, const struct top_type *type,
                      const struct posixtrace_event *e)
{
    unsigned i = 0;

    while (i < t->begun_count && t->begun[i].pair != type->pair)
        i++;
    if (type->role == 'b') {
        bool wanted = top_wants(s, t, e);

        if (i == t->begun_count && i < TOP_BEGUN)
            t->begun[t->begun_count++] = (struct top_begun){ type->pair, e->ns, wanted };
        return;
    }
    if (i == t->begun_count)
        return;
    if (t->begun[i].wanted && e->ns >= t->begun[i].ns)
        top_recent_add(&type->pair->recent, e->ns, e->ns - t->begun[i].ns, s->watched_ns, true);
    t->begun[i] = t->begun[--t->begun_count];
}

/* ---- all events ---- */

/* Events of the stream itself: what was not recorded until then is not known. */
static void take_mark(struct top_stream *s, trace_event_id_t id)
{
    if (id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME)
        top_gap(s);
    if (id != POSIX_TRACE_START && id != POSIX_TRACE_STOP && id != POSIX_TRACE_FILTER)
        return;
    top_gap(s);
    s->hard_gap = s->gap;
}

void top_take(struct top_stream *s, const struct posixtrace_event *e)
{
    const struct top_type *type;
    struct top_thread *t;

    s->taken += e->tid != 0;
    if (e->tid == 0) {
        take_mark(s, e->id);
        return;
    }
    if (s->first_ns == 0)
        s->first_ns = e->ns;
    t = top_thread_of(s, e->pid, e->tid);
    if (!t)
        return;
    if (t->good != s->gap || t->ended) {
        begin_life(t);
        t->good = s->gap;
        t->ended = false;
    }
    if (top_take_system(s, t, e))
        return;
    type = type_of(s, e);
    if (type)
        take_pair(s, t, type, e);
    else if (s->wants)
        top_wants(s, t, e);
}

/* ---- the end ---- */

static void free_lock(void *item)
{
    struct top_lock *lock = item;

    free(lock->holders);
}

void top_engine_free(struct top_stream *s)
{
    for (size_t i = 0; i < s->pair_count; i++) {
        top_recent_free(&s->pairs[i]->recent);
        free(s->pairs[i]->name);
        free(s->pairs[i]);
    }
    free(s->types);
    top_map_free(&s->threads, NULL);
    top_map_free(&s->locks, free_lock);
    top_map_free(&s->sites_of, NULL);
}
