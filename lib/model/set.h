/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Event sets: the contents of a trace_event_set_t.  One bit for each event id, and a magic word by
 * which a set that was never emptied or filled is recognised.  A set used as a filter holds the
 * types that are ignored.
 */
#ifndef PT_MODEL_SET_H
#define PT_MODEL_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomics.h"
#include "model/event.h"

#define PT_SET_MAGIC 0x70784574657331ull
#define PT_SET_WORDS 38 /* 1216 bits: ids 0 .. PT_ID_MAX - 1 */

struct __attribute__((may_alias)) pt_set {
    uint64_t magic;
    uint32_t bits[PT_SET_WORDS]; /* so short that each is one access on any machine */
};

_Static_assert(sizeof(struct pt_set) == 160 && sizeof(trace_event_set_t) == 160,
               "the size of trace_event_set_t is part of the ABI and of the log format");
_Static_assert(PT_SET_WORDS * 32 == PT_ID_MAX, "a bit for every id");

/* The contents of a public object, or NULL if it was never initialised. */
static inline const struct pt_set *pt_set_get(const trace_event_set_t *set)
{
    const struct pt_set *s = (const struct pt_set *)(const void *)set;

    return s && s->magic == PT_SET_MAGIC ? s : NULL;
}

static inline bool pt_set_has(const struct pt_set *s, uint32_t id)
{
    /* A stream's filter is read while its controller changes it. */
    return id < PT_ID_MAX && (pt_load_relaxed(&s->bits[id / 32]) >> (id % 32) & 1) != 0;
}

/* Copies a good set, word by word, to or from where others read or write. */
void pt_set_copy(struct pt_set *to, const struct pt_set *from);
void pt_set_empty(struct pt_set *s);
void pt_set_add(struct pt_set *s, uint32_t id); /* id is valid */
void pt_set_del(struct pt_set *s, uint32_t id);
/* what as in posix_trace_eventset_fill(); false: not one of them, s untouched.
 * WOPID_EVENTS: OVERFLOW, RESUME, ERROR (R-10: those that the system initiates). */
bool pt_set_fill(struct pt_set *s, int what);
/* filter = change (SET), filter | change (ADD), filter & ~change (SUB); false: bad how */
bool pt_set_change(struct pt_set *filter, const struct pt_set *change, int how);

#endif
