/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The chunks of posixtrace/shark.h as who controls them sees them: made, deleted, chosen,
 * linked, looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>
#include <posixtrace/typed.h>
#include "compat/shark/shark.h"
#include "compat/common/word.h"
#include "compat/shark/shark_chunk.h"

#define CHUNK_ID 0xffaaffbbu

pthread_mutex_t pt_shark_mutex = PTHREAD_MUTEX_INITIALIZER;

int pt_shark_fail(int error)
{
    errno = error;
    return -1;
}

struct pt_shark_chunk *pt_shark_find(int number)
{
    if (number < 0 || number >= FTRACE_MAX_CHUNKS ||
        !(pt_word_load_relaxed(&pt_shark_chunks[number].flags) & PT_SHARK_THERE))
        return NULL;
    return &pt_shark_chunks[number];
}

uint32_t pt_shark_flags(const struct pt_shark_chunk *chunk)
{
    uint32_t flags = pt_word_load_relaxed(&chunk->flags);

    if ((flags & PT_SHARK_MODE) &&
        pt_word_load_relaxed(&chunk->used) >= pt_word_load_relaxed(&chunk->normal))
        flags |= FTRACE_CHUNK_FLAG_FULL;
    return flags;
}

bool pt_shark_flags_are_good(unsigned flags)
{
    const unsigned bits = FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_FULL | PT_SHARK_MODE |
                          FTRACE_CHUNK_FLAG_NODEL;

    return !(flags & ~bits) && (flags & PT_SHARK_MODE) != PT_SHARK_MODE;
}

void pt_shark_put_flags(struct pt_shark_chunk *chunk, unsigned flags)
{
    uint32_t was = pt_word_load_relaxed(&chunk->flags);
    const uint32_t keep = PT_SHARK_THERE | FTRACE_CHUNK_FLAG_BUSY;

    while (!pt_word_cas_seqcst(&chunk->flags, &was, (was & keep) | flags))
        ;
}

/* Recorded, not overwritten, not sent.  The places do not say it: those of a CYC chunk are counted
 * up to its size only, and a thread takes one before it records. */
static uint64_t events_in(const struct pt_shark_chunk *chunk)
{
    uint64_t sent = pt_word_load_relaxed(&chunk->sent), gone;
    struct posixtrace_info info;

    if (posixtrace_get_info(chunk->trid, &info, sizeof info) != 0)
        return 0;
    gone = sent + info.lost[POSIXTRACE_LOST_OVERWRITTEN];
    return info.events > gone ? info.events - gone : 0;
}

static void take_from(uint32_t *count, uint64_t *records)
{
    uint32_t was = pt_word_load_relaxed(count), off;

    do
        off = *records < was ? (uint32_t)*records : was;
    while (!pt_word_cas_seqcst(count, &was, was - off));
    *records -= off;
}

/* The closing ones first: a place too few for a moment does no harm, one too many would. */
void pt_shark_give_back(struct pt_shark_chunk *chunk, uint64_t records)
{
    uint32_t normal = pt_word_load_relaxed(&chunk->normal);
    uint64_t stay;

    if (pt_word_load_relaxed(&chunk->flags) & PT_SHARK_MODE) {
        take_from(&chunk->closing, &records);
        take_from(&chunk->used, &records);
        return;
    }
    stay = events_in(chunk);
    pt_word_store_relaxed(&chunk->closing, 0);
    pt_word_store_relaxed(&chunk->used, stay < normal ? (uint32_t)stay : normal);
}

/* ---- made and deleted ---- */

/* A stream that takes nothing but events of the type. */
static int open_stream(const char *name, trace_event_id_t event, size_t records, trace_id_t *trid)
{
    trace_event_set_t others;
    trace_attr_t attr;
    size_t bytes;
    int error = posix_trace_attr_init(&attr);

    if (error)
        return error;
    error = posix_trace_attr_setname(&attr, name);
    if (!error)
        error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
    if (!error)
        error = posix_trace_attr_setmaxdatasize(&attr, PT_SHARK_DATA);
    if (!error)
        error = posix_trace_attr_getmaxusereventsize(&attr, PT_SHARK_DATA, &bytes);
    if (!error)
        error = records > SIZE_MAX / 2 / bytes
                    ? ENOMEM
                    : posix_trace_attr_setstreamsize(&attr, records * bytes);
    if (!error)
        error = posix_trace_create(0, &attr, trid);
    posix_trace_attr_destroy(&attr);
    if (error)
        return error;
    posix_trace_eventset_fill(&others, POSIX_TRACE_ALL_EVENTS);
    posix_trace_eventset_del(event, &others);
    error = posix_trace_set_filter(*trid, &others, POSIX_TRACE_SET_EVENTSET);
    if (!error)
        error = posix_trace_start(*trid);
    if (error)
        posix_trace_shutdown(*trid);
    return error;
}

static int create(int number, struct pt_shark_chunk *c, unsigned flags)
{
    char name[40], words[POSIXTRACE_DESCRIPTION_MAX + 1];
    size_t normal = (size_t)c->size / SHARK_RECORD;
    size_t reserve = (size_t)c->emergency_size / SHARK_RECORD;
    trace_event_id_t event;
    int error;

    pt_shark_describe(words);
    if (!c->taken)
        c->taken = malloc((size_t)PT_SHARK_BATCH * SHARK_RECORD);
    if (!c->taken)
        return ENOMEM;
    c->taken_count = 0;
    snprintf(name, sizeof name, SHARK_CHUNK "%d", number);
    error = posixtrace_event_describe(name, words, &event);
    snprintf(name, sizeof name, "shark-chunk-%d", number);
    if (!error)
        error = open_stream(name, event, normal + reserve, &c->trid);
    if (error)
        return error;
    pt_word_store_relaxed(&c->used, 0);
    pt_word_store_relaxed(&c->closing, 0);
    pt_word_store_relaxed(&c->lost, 0);
    pt_word_store_relaxed(&c->sent, 0);
    pt_word_store_relaxed(&c->next, 0);
    pt_word_store_relaxed(&c->normal, (uint32_t)normal);
    pt_word_store_relaxed(&c->reserve, (uint32_t)reserve);
    pt_word_store_relaxed(&c->event, event);
    pt_word_store_release(&c->flags, PT_SHARK_THERE | flags);
    return 0;
}

int posixtrace_shark_chunk_create(int normal_size, int emergency_size, FTrace_flags flags)
{
    int number = 0, error = EAGAIN;

    if (normal_size < (int)SHARK_RECORD || emergency_size < 0 || !pt_shark_flags_are_good(flags))
        return pt_shark_fail(EINVAL);
    pthread_mutex_lock(&pt_shark_mutex);
    while (number < FTRACE_MAX_CHUNKS && pt_shark_find(number))
        number++;
    if (number < FTRACE_MAX_CHUNKS) {
        struct pt_shark_chunk *c = &pt_shark_chunks[number];

        c->size = normal_size;
        c->emergency_size = emergency_size;
        error = create(number, c, flags);
    }
    pthread_mutex_unlock(&pt_shark_mutex);
    return error ? pt_shark_fail(error) : number;
}

static bool is_successor(uint32_t number)
{
    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++) {
        const struct pt_shark_chunk *c = pt_shark_find(i);

        if (c && pt_word_load_relaxed(&c->next) == number + 1)
            return true;
    }
    return false;
}

static int delete (int number)
{
    struct pt_shark_chunk *c = pt_shark_find(number);
    uint32_t flags = c ? pt_word_load_relaxed(&c->flags) : 0;

    if (!c)
        return ENOENT;
    if (flags & FTRACE_CHUNK_FLAG_NODEL)
        return EPERM;
    if ((flags & FTRACE_CHUNK_FLAG_BUSY) || is_successor((uint32_t)number) ||
        pt_word_load_relaxed(&pt_shark_current) == (uint32_t)number + 1)
        return EBUSY;
    pt_word_store_release(&c->flags, 0);
    posix_trace_shutdown(c->trid);
    return 0;
}

int posixtrace_shark_chunk_delete(int number)
{
    int error;

    pthread_mutex_lock(&pt_shark_mutex);
    error = delete (number);
    pthread_mutex_unlock(&pt_shark_mutex);
    return error ? pt_shark_fail(error) : 0;
}

/* ---- flags, selection, links ---- */

int posixtrace_shark_set_chunk_flags(int number, FTrace_flags flags)
{
    struct pt_shark_chunk *c;

    if (!pt_shark_flags_are_good(flags))
        return pt_shark_fail(EINVAL);
    pthread_mutex_lock(&pt_shark_mutex);
    c = pt_shark_find(number);
    if (c)
        pt_shark_put_flags(c, flags);
    pthread_mutex_unlock(&pt_shark_mutex);
    return c ? 0 : pt_shark_fail(ENOENT);
}

int posixtrace_shark_get_chunk_flags(int number, FTrace_flags *flags)
{
    struct pt_shark_chunk *c;

    if (!flags)
        return pt_shark_fail(EINVAL);
    pthread_mutex_lock(&pt_shark_mutex);
    c = pt_shark_find(number);
    if (c)
        *flags = pt_shark_flags(c) & PT_SHARK_PUBLIC;
    pthread_mutex_unlock(&pt_shark_mutex);
    return c ? 0 : pt_shark_fail(ENOENT);
}

/* Takes FREE from the chunk. */
static int claim(struct pt_shark_chunk *c)
{
    if (!c)
        return ENOENT;
    if (!(pt_word_load_relaxed(&c->flags) & FTRACE_CHUNK_FLAG_FREE))
        return EBUSY;
    pt_word_clear_seqcst(&c->flags, FTRACE_CHUNK_FLAG_FREE);
    return 0;
}

int posixtrace_shark_select(int number)
{
    int error;

    pthread_mutex_lock(&pt_shark_mutex);
    error = number == -1 ? 0 : claim(pt_shark_find(number));
    if (!error)
        pt_word_store_release(&pt_shark_current, (uint32_t)number + 1);
    pthread_mutex_unlock(&pt_shark_mutex);
    return error ? pt_shark_fail(error) : 0;
}

int posixtrace_shark_link(int chunk_a, int chunk_b)
{
    struct pt_shark_chunk *a;
    int error;

    if (chunk_a == chunk_b)
        return pt_shark_fail(EINVAL);
    pthread_mutex_lock(&pt_shark_mutex);
    a = pt_shark_find(chunk_a);
    error = !a ? ENOENT : chunk_b == -1 ? 0 : claim(pt_shark_find(chunk_b));
    if (!error)
        pt_word_store_release(&a->next, (uint32_t)chunk_b + 1);
    pthread_mutex_unlock(&pt_shark_mutex);
    return error ? pt_shark_fail(error) : 0;
}

static bool matches(int number, unsigned wanted)
{
    const struct pt_shark_chunk *c = pt_shark_find(number);
    uint32_t flags = c ? pt_shark_flags(c) : 0;

    return c && (wanted ? (flags & wanted) != 0 : !(flags & PT_SHARK_MODE));
}

int posixtrace_shark_first_chunk(FTrace_flags flags)
{
    int number = 0;

    pthread_mutex_lock(&pt_shark_mutex);
    while (number < FTRACE_MAX_CHUNKS && !matches(number, flags))
        number++;
    pthread_mutex_unlock(&pt_shark_mutex);
    return number < FTRACE_MAX_CHUNKS ? number : pt_shark_fail(ENOENT);
}

static void show(int number, const struct pt_shark_chunk *c, struct posixtrace_shark_chunk *to)
{
    uint64_t events = events_in(c);
    uint32_t most = pt_word_load_relaxed(&c->normal) + pt_word_load_relaxed(&c->closing);

    to->id = CHUNK_ID;
    to->number = number;
    to->flags = pt_shark_flags(c) & PT_SHARK_PUBLIC;
    to->size = c->size;
    to->emergency_size = c->emergency_size;
    to->next = (int)pt_word_load_relaxed(&c->next) - 1;
    to->events = events < most ? (uint32_t)events : most;
    to->lost = pt_word_load_relaxed(&c->lost);
    to->trid = c->trid;
}

FTrace_Chunk_Ptr *posixtrace_shark_chunk_table(void)
{
    static struct posixtrace_shark_chunk shown[FTRACE_MAX_CHUNKS];
    static FTrace_Chunk_Ptr table[FTRACE_MAX_CHUNKS];

    pthread_mutex_lock(&pt_shark_mutex);
    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++) {
        const struct pt_shark_chunk *c = pt_shark_find(i);

        table[i] = c ? &shown[i] : NULL;
        if (c)
            show(i, c, &shown[i]);
    }
    pthread_mutex_unlock(&pt_shark_mutex);
    return table;
}

int posixtrace_shark_compress_chunk(int number, FTrace_flags new_flags)
{
    bool there;

    (void)new_flags;
    pthread_mutex_lock(&pt_shark_mutex);
    there = pt_shark_find(number) != NULL;
    pthread_mutex_unlock(&pt_shark_mutex);
    return pt_shark_fail(there ? ENOTSUP : ENOENT);
}

/* ---- after fork ---- */

/* The streams are the parent's, and another thread of the parent may have held the mutex. */
static void forked(void)
{
    pt_shark_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pt_word_store_release(&pt_shark_current, 0);
    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++)
        pt_word_store_release(&pt_shark_chunks[i].flags, 0);
}

__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(NULL, NULL, forked);
}
