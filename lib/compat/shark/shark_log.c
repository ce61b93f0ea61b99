/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log path of posixtrace/shark.h: is the event wanted, which chunk has room for it.
 * Lock-free, and safe in signal handlers: loads, and one exchange that takes a place.
 */
#include "compat/shark/shark.h"
#include "compat/common/word.h"
#include "compat/shark/shark_chunk.h"

#define ENABLED ((uint32_t)1 << 16)
#define FAMILY  ((unsigned)FTrace_family_mask)

struct pt_shark_chunk pt_shark_chunks[FTRACE_MAX_CHUNKS];
uint32_t pt_shark_current;
static uint32_t gate; /* ENABLED, and a bit for each family that is closed */

int posixtrace_shark_enable(void)
{
    pt_word_set_seqcst(&gate, ENABLED);
    return 0;
}

int posixtrace_shark_disable(void)
{
    pt_word_clear_seqcst(&gate, ENABLED);
    return 0;
}

/* One of limit; false: they are taken. */
static bool take_place(uint32_t *count, uint32_t limit)
{
    uint32_t n = pt_word_load_relaxed(count);

    do {
        if (n >= limit)
            return false;
    } while (!pt_word_cas_seqcst(count, &n, n + 1));
    return true;
}

static bool has_room(struct pt_shark_chunk *c, uint32_t flags)
{
    if (flags & FTRACE_CHUNK_FLAG_FULL)
        return false;
    return take_place(&c->used, pt_word_load_relaxed(&c->normal)) || !(flags & PT_SHARK_MODE);
}

/* The event is lost if this is 0; else a place for it was taken. */
static uint32_t find_place(bool closing)
{
    uint32_t first = pt_word_load_acquire(&pt_shark_current), at = first, seen = first;
    struct pt_shark_chunk *c;

    for (unsigned hops = 0; at && hops < FTRACE_MAX_CHUNKS; hops++) {
        uint32_t flags;

        c = &pt_shark_chunks[at - 1];
        flags = pt_word_load_acquire(&c->flags);
        if (!(flags & PT_SHARK_THERE))
            break;
        if (has_room(c, flags)) {
            /* Another thread may have moved it from there, or a user may have selected one. */
            if (at != first)
                pt_word_cas_seqcst(&pt_shark_current, &seen, at);
            return at;
        }
        if ((flags & PT_SHARK_MODE) == FTRACE_CHUNK_FLAG_STOP)
            break;
        at = pt_word_load_acquire(&c->next);
    }
    if (!first)
        return 0;
    c = &pt_shark_chunks[first - 1];
    if (closing && take_place(&c->closing, pt_word_load_relaxed(&c->reserve)))
        return first;
    take_place(&c->lost, UINT32_MAX);
    return 0;
}

static void store(uint16_t code, uint16_t par1, uint32_t par2)
{
    bool closing = code == FTrace_EVT_trace_stop || code == FTrace_EVT_numevents ||
                   (code & 0xf0) == 0xf0;
    uint32_t place = find_place(closing);
    uint8_t data[PT_SHARK_DATA];

    if (!place)
        return;
    pt_shark_pack_data(data, code, par1, par2);
    posix_trace_event(pt_word_load_relaxed(&pt_shark_chunks[place - 1].event), data, sizeof data);
}

/* Sets FULL only after the successor is selected: an event in between is not lost. */
static void go_to_next(void)
{
    uint32_t from = pt_word_load_acquire(&pt_shark_current), seen = from, next;

    if (!from)
        return;
    next = pt_word_load_acquire(&pt_shark_chunks[from - 1].next);
    if (!next || pt_word_cas_seqcst(&pt_shark_current, &seen, next))
        pt_word_set_seqcst(&pt_shark_chunks[from - 1].flags, FTRACE_CHUNK_FLAG_FULL);
}

void posixtrace_shark_log(unsigned type, unsigned par1, uint32_t par2)
{
    uint32_t closed = pt_word_load_relaxed(&gate);
    unsigned code = type & (SHARK_FAST | 0xff);

    if (!(closed & ENABLED) || (code & 0xff) == FTrace_EVT_empty)
        return;
    if ((code & 0xf0) != 0xf0 && closed >> (code & FAMILY) & 1)
        return;
    if ((code & 0xff) == FTrace_EVT_next_chunk)
        go_to_next();
    else
        store((uint16_t)code, (uint16_t)par1, par2);
}

void posixtrace_shark_set_filter(unsigned family, int status)
{
    uint32_t bit = (uint32_t)1 << (family & FAMILY);

    if (family < FTrace_filter_trace_Events || family > FTrace_filter_timer)
        return;
    if (status)
        pt_word_set_seqcst(&gate, bit);
    else
        pt_word_clear_seqcst(&gate, bit);
    posixtrace_shark_log(family, status != 0, 0);
}
