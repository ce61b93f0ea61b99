/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See info.h.  The tallies of an active stream are the consumer's: reading lock. */
#include <errno.h>
#include <string.h>
#include "ring/slot.h"
#include "stream/flush.h"
#include "stream/info.h"
#include "stream/round.h"

/* Losses of one writer by cause; what it stored goes to *recorded. */
static void tally_losses(const struct pt_tally *t, uint64_t lost[PT_LOSS_CAUSES],
                         uint64_t *recorded)
{
    uint64_t unseen = t->recorded > t->next_no ? t->recorded - t->next_no : 0;
    uint64_t stored = t->recorded;

    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        lost[c] += t->lost[c] - t->base_lost[c];
    lost[PT_LOST_FULL] += t->refused;
    lost[PT_LOST_OVERWRITTEN] += pt_tally_overwritten(t);
    if (unseen > t->pending)
        lost[PT_LOST_OVERWRITTEN] += unseen - t->pending;
    /* Passive: the slot may have gone before it was looked at. */
    if (t->based && t->next_no > stored)
        stored = t->next_no;
    *recorded += stored - t->base_no - t->excluded - t->refused;
}

/* Threads that nobody knows singly any more. */
static void folded_losses(const struct pt_live *l, uint64_t lost[PT_LOSS_CAUSES],
                          uint64_t *recorded)
{
    const struct pt_seg_header *h = l->seg->h;
    uint64_t stored = l->gone.recorded + l->folded_recorded;
    uint64_t seen = l->folded_next;

    if (l->passive) {
        for (unsigned c = 0; c < PT_LOST_OWN; c++)
            lost[c] += pt_load_relaxed(&h->lost_no_slot[c]) - l->from_no_slot[c];
        lost[PT_LOST_FULL] += l->folded_refused;
        lost[PT_LOST_OVERWRITTEN] += l->folded_overwritten;
        return;
    }
    for (unsigned c = 0; c < PT_LOST_OWN; c++)
        lost[c] += l->gone.lost[c] + l->folded_lost[c] + pt_load_relaxed(&h->lost_no_slot[c]);
    lost[PT_LOST_FULL] += l->folded_refused;
    lost[PT_LOST_OVERWRITTEN] += l->folded_overwritten;
    /* Their events that were seen, or wait in chunks, are in their tallies. */
    for (uint32_t i = 0; i < l->tally_room; i++) {
        const struct pt_tally *t = &l->tally[i];

        if (t->used && t->source == PT_TALLY_FOLDED) {
            seen += t->next_no + t->pending;
            lost[PT_LOST_FULL] += t->refused;
            lost[PT_LOST_OVERWRITTEN] += pt_tally_overwritten(t);
            stored -= t->excluded + t->refused;
        }
    }
    if (l->seg->g.attr.stream_policy == POSIX_TRACE_LOOP && stored > seen)
        lost[PT_LOST_OVERWRITTEN] += stored - seen;
    *recorded += stored - l->folded_excluded - l->folded_refused;
}

static int gather(struct pt_stream *s)
{
    struct pt_live *l = &s->live;
    int r = pt_live_refresh(l);

    if (l->passive) {
        /* In this order an event recorded meanwhile waits, and is not lost. */
        pt_live_take_counts(l);
        return r == 0 ? pt_live_take_pending(l) : r;
    }
    /* Unread events first: a writer that has no slot any more is known by them. */
    if (r == 0)
        r = pt_live_take_pending(l);
    if (r == 0)
        pt_live_take_counts(l);
    if (!s->flusher)
        pt_live_release_ended(l);
    return r;
}

static int active_info(struct pt_stream *s, struct posixtrace_info *info)
{
    const struct pt_seg_header *h = s->seg->h;
    struct pt_live *l = &s->live;
    struct pt_flush_status st;
    int r = gather(s);

    if (r < 0)
        return r;
    memcpy(info->id, h->id, sizeof info->id);
    info->clock = s->seg->g.clock;
    info->end = POSIXTRACE_END_ACTIVE;
    for (uint32_t i = 0; i < l->tally_room; i++)
        if (l->tally[i].used && l->tally[i].source != PT_TALLY_FOLDED)
            tally_losses(&l->tally[i], info->lost, &info->events);
    folded_losses(l, info->lost, &info->events);
    info->late = l->late;
    info->bytes = (uint64_t)pt_load_relaxed(&h->used_chunks) * s->seg->g.chunk_size;
    info->peak_bytes = (uint64_t)pt_load_relaxed(&h->peak_chunks) * s->seg->g.chunk_size;
    info->reserved_bytes = (uint64_t)pt_seg_chunk_count(s->seg) * s->seg->g.chunk_size;
    info->advised_size = pt_slot_advised_size(s->seg);
    info->barrier = !s->seg->g.fences;
    if (s->flusher) {
        for (unsigned c = PT_LOST_OWN; c < PT_LOSS_CAUSES; c++)
            info->lost[c] = pt_flusher_log_lost(s->flusher, c);
        pt_flusher_status(s->flusher, &st, false);
        info->flush_error = st.error;
    }
    return 0;
}

int pt_stream_info(struct pt_stream *s, struct posixtrace_info *info)
{
    int r;

    memset(info, 0, sizeof *info);
    pthread_mutex_lock(&s->reading);
    r = s->log ? pt_log_reader_info(s->log, info) : active_info(s, info);
    if (s->log && r == 0 && s->tail)
        info->end = POSIXTRACE_END_TAIL;
    if (s->log && r == 0 && s->writer_alive)
        info->end = POSIXTRACE_END_ACTIVE;
    pthread_mutex_unlock(&s->reading);
    return r;
}

static uint32_t limits_of_log(const struct pt_stream *s, struct posixtrace_limits *limits)
{
    const struct pt_log_params *params = pt_log_reader_params(s->log);

    if (params->clock != POSIXTRACE_CLOCK_REALTIME) {
        limits->threads = pt_seg_writers_of(&params->attr);
        limits->processes = PT_PROC_MAX;
    }
    return pt_log_reader_refused(s->log);
}

void pt_stream_limits(struct pt_stream *s, struct posixtrace_limits *limits)
{
    uint32_t refused;

    memset(limits, 0, sizeof *limits);
    pthread_mutex_lock(&s->reading);
    if (s->log) {
        refused = limits_of_log(s, limits);
    } else {
        limits->threads = pt_seg_writers(&s->seg->g);
        limits->processes = PT_PROC_MAX;
        refused = pt_seg_refused(s->seg);
    }
    pthread_mutex_unlock(&s->reading);
    limits->refused_processes = refused & 0xffffu;
    limits->refused_threads = refused >> 16;
}

static bool same_thread(const struct pt_tally *a, const struct pt_tally *b)
{
    return a->used && b->used && a->source != PT_TALLY_FOLDED && b->source != PT_TALLY_FOLDED &&
           a->author.pid == b->author.pid && a->author.tid == b->author.tid &&
           a->author.thread_id == b->author.thread_id;
}

/* Adds the writers of a thread's signal handlers to the thread's first writer:
 * a thread that traces on while it ends has a second one.  False: t is such a
 * writer itself and is reported with its thread. */
static bool sum_levels(const struct pt_live *l, const struct pt_tally *t,
                       struct posixtrace_thread_info *info)
{
    bool first = true;

    for (uint32_t i = 0; i < l->tally_room; i++) {
        const struct pt_tally *o = &l->tally[i];

        if (o == t || !same_thread(o, t))
            continue;
        if (t->author.level > 0 && o->author.level == 0)
            return false;
        first &= o > t || o->author.level > 0;
    }
    for (uint32_t i = 0; first && t->author.level == 0 && i < l->tally_room; i++)
        if (l->tally[i].author.level > 0 && same_thread(&l->tally[i], t))
            tally_losses(&l->tally[i], info->lost, &info->recorded);
    return true;
}

static int ended_threads(const struct pt_live *l, struct posixtrace_thread_info *t)
{
    uint64_t any = 0;

    strcpy(t->name, "(ended)");
    folded_losses(l, t->lost, &t->recorded);
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        any |= t->lost[c];
    return any || t->recorded ? 1 : 0;
}

static int active_thread(struct pt_stream *s, size_t *cursor, struct posixtrace_thread_info *t)
{
    struct pt_live *l = &s->live;
    int r = *cursor == 0 ? gather(s) : 0;

    if (r < 0)
        return r;
    for (; *cursor < l->tally_room; ++*cursor) {
        const struct pt_tally *y = &l->tally[*cursor];

        if (!y->used || y->source == PT_TALLY_FOLDED)
            continue;
        memset(t, 0, sizeof *t);
        t->pid = y->author.pid;
        t->tid = y->author.tid;
        t->thread_id = y->author.thread_id;
        memcpy(t->name, y->author.name, sizeof t->name);
        tally_losses(y, t->lost, &t->recorded);
        if (!sum_levels(l, y, t))
            continue;
        ++*cursor;
        return 1;
    }
    memset(t, 0, sizeof *t);
    return (*cursor)++ == l->tally_room ? ended_threads(l, t) : 0;
}

int pt_stream_thread(struct pt_stream *s, size_t *cursor, struct posixtrace_thread_info *t)
{
    int r;

    pthread_mutex_lock(&s->reading);
    r = s->log ? pt_log_reader_thread(s->log, (*cursor)++, t) : active_thread(s, cursor, t);
    pthread_mutex_unlock(&s->reading);
    return r;
}
