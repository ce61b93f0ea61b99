/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See backlog.h.  The taken list consists of switches that an earlier round could not write or that
 * were too young, the new ones, and entries for losses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "source/backlog.h"

/* Two lists of switches, and an entry for the losses of each kind. */
static size_t taken_room(const struct pt_backlog *b)
{
    return 2 * b->room + 2;
}

int pt_backlog_init(struct pt_backlog *b, size_t room, bool newest)
{
    memset(b, 0, sizeof *b);
    b->room = room < 4 ? 4 : room;
    b->newest = newest;
    b->pending = calloc(b->room, sizeof *b->pending);
    b->taken = calloc(taken_room(b), sizeof *b->taken);
    if (b->pending && b->taken)
        return 0;
    pt_backlog_deinit(b);
    return -ENOMEM;
}

void pt_backlog_deinit(struct pt_backlog *b)
{
    free(b->pending);
    free(b->taken);
    b->pending = b->taken = NULL;
}

int pt_switch_by_time(const void *a, const void *b)
{
    const struct pt_switch *x = a, *y = b;

    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void lose(struct pt_backlog_loss *l, uint64_t ts, uint64_t n)
{
    l->n += n;
    if (n && ts > l->ts)
        l->ts = ts;
}

void pt_backlog_lose_in_kernel(struct pt_backlog *b, uint64_t ts, uint64_t n)
{
    lose(&b->kernel, ts, n);
}

static void lose_one(struct pt_backlog *b, const struct pt_switch *s)
{
    lose(&b->own, s->ts, !pt_switch_is_note(s->what));
}

static void drop_first(struct pt_backlog *b, size_t n)
{
    memmove(b->pending, b->pending + n, (b->count - n) * sizeof *b->pending);
    b->count -= n;
}

/* Drops one of the first n entries; notes (the end of a thread, a name) only if there is nothing
 * else, because no later entry replaces them. */
static void lose_first(struct pt_backlog *b, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->count; i++)
        if (i >= n || pt_switch_is_note(b->pending[i].what))
            b->pending[kept++] = b->pending[i];
        else
            lose_one(b, &b->pending[i]);
    if (kept == b->count)
        drop_first(b, n);
    else
        b->count = kept;
}

void pt_backlog_add(struct pt_backlog *b, const struct pt_switch *s)
{
    /* One ring is emptied after the other: the first that came are not the oldest. */
    if (b->count >= b->room && b->newest) {
        qsort(b->pending, b->count, sizeof *b->pending, pt_switch_by_time);
        lose_first(b, b->count / 4);
    }
    if (b->count >= b->room) {
        lose_one(b, s);
        return;
    }
    b->pending[b->count] = *s;
    b->pending[b->count++].order = b->order++;
}

/* Makes an entry for the losses. */
static void collect_lost(struct pt_backlog *b, struct pt_backlog_loss *l, uint32_t what)
{
    uint32_t n = l->n < UINT32_MAX ? (uint32_t)l->n : UINT32_MAX;

    if (n == 0 || b->taken_count >= taken_room(b))
        return;
    b->taken[b->taken_count++] = (struct pt_switch){
        .ts = l->ts, .what = what, .value = n, .order = b->order++
    };
    l->n -= n;
}

/* There is less room than needed only after rounds that failed: then some stay. */
void pt_backlog_collect(struct pt_backlog *b)
{
    size_t n = 2 * b->room - b->taken_count;

    if (b->taken_count > 2 * b->room)
        n = 0;
    if (n > b->count)
        n = b->count;
    memcpy(b->taken + b->taken_count, b->pending, n * sizeof *b->pending);
    b->taken_count += n;
    drop_first(b, n);
    collect_lost(b, &b->own, PT_SWITCH_LOST);
    collect_lost(b, &b->kernel, PT_SWITCH_LOST_BY_KERNEL);
}

size_t pt_backlog_take(struct pt_backlog *b, uint64_t before, const struct pt_switch **list)
{
    if (b->taken_count > 1)
        qsort(b->taken, b->taken_count, sizeof *b->taken, pt_switch_by_time);
    for (b->given = 0; b->given < b->taken_count && b->taken[b->given].ts < before;)
        b->given++;
    *list = b->taken;
    return b->given;
}

void pt_backlog_done(struct pt_backlog *b)
{
    memmove(b->taken, b->taken + b->given, (b->taken_count - b->given) * sizeof *b->taken);
    b->taken_count -= b->given;
    b->given = 0;
}
