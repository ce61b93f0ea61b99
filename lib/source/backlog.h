/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches that were read from the kernel and wait for the round that writes them into the
 * log.  The backlog is bounded: without room the oldest by time or the last that came is lost, and
 * counted in an entry PT_SWITCH_LOST with the time of the latest loss.  Losses of the kernel have
 * an entry of their own, PT_SWITCH_LOST_BY_KERNEL.
 *
 * Two lists.  Switches become pending when the rings are emptied, under the source's lock.
 * collect() moves them, under that lock, to the taker's own list, which is sorted without the lock,
 * because the rings fill up meanwhile.
 */
#ifndef PT_SOURCE_BACKLOG_H
#define PT_SOURCE_BACKLOG_H

#include "flush/switches.h"

struct pt_backlog_loss {
    uint64_t n, ts; /* how many since the last entry, and the time of the latest */
};

struct pt_backlog {
    struct pt_switch *pending, *taken;
    size_t count, taken_count, given, room;
    bool newest;
    uint32_t order;
    struct pt_backlog_loss own, kernel;
};

/* 0 or -ENOMEM. */
int pt_backlog_init(struct pt_backlog *b, size_t room, bool newest);
void pt_backlog_deinit(struct pt_backlog *b);

void pt_backlog_add(struct pt_backlog *b, const struct pt_switch *s);
/* Would the next one be lost?  Not where the oldest make room. */
static inline bool pt_backlog_is_full(const struct pt_backlog *b)
{
    return b->count >= b->room && !b->newest;
}
/* The kernel lost n before ts. */
void pt_backlog_lose_in_kernel(struct pt_backlog *b, uint64_t ts, uint64_t n);

void pt_backlog_collect(struct pt_backlog *b);

/* As in struct pt_switch_ops, from the collected list; called without the lock. */
size_t pt_backlog_take(struct pt_backlog *b, uint64_t before, const struct pt_switch **list);
void pt_backlog_done(struct pt_backlog *b);

/* For qsort(): switches in the order in which a source gives them. */
int pt_switch_by_time(const void *a, const void *b);

#endif
