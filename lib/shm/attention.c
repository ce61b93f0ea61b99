/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See attention.h. */
#include "base/sys.h"
#include "shm/attention.h"

static void wake(uint32_t *futex)
{
    pt_add_seqcst(futex, 1u);
    pt_futex_wake_all(futex);
}

/*
 * The flush thread sleeps without a limit, so it is woken before its bit is cleared: a thread
 * that is killed in between leaves the bit for the next event.  And once more afterwards,
 * since it may have set the bit again meanwhile.  Readers sleep for PT_STALL_NS at most.
 */
void pt_stream_wake(struct pt_seg_header *h, uint32_t waiters)
{
    uint32_t was;

    if (pt_load_seqcst(pt_attention(h)) & waiters & PT_WAIT_FLUSHER)
        wake(&h->flush_futex);
    was = pt_and_seqcst(pt_attention(h), ~waiters) & waiters;
    if (was & PT_WAIT_READER)
        wake(&h->reader_futex);
    if (was & PT_WAIT_FLUSHER)
        wake(&h->flush_futex);
}

bool pt_stream_stop_full(struct pt_seg_header *h, uint64_t *state, uint64_t ts)
{
    if (!pt_state_change(h, state, PT_AUTOSTOPPED, ts))
        return false;
    pt_or_seqcst(pt_attention(h), PT_WAIT_STOPPED);
    pt_stream_wake(h, PT_WAIT_READER | PT_WAIT_FLUSHER);
    pt_add_seqcst(&h->flush_futex, 1u);
    pt_futex_wake_all(&h->flush_futex);
    return true;
}

/* A writer may have stopped the stream again and set the bit before it is cleared here; the state
 * shows that.  A stop that this load does not see sets the bit after it was cleared.  A spurious
 * bit is harmless: writers check the state. */
void pt_stream_forget_stop(struct pt_seg_header *h)
{
    pt_and_seqcst(pt_attention(h), ~PT_WAIT_STOPPED);
    if (pt_state_is_full(pt_load_seqcst(&h->state)))
        pt_or_seqcst(pt_attention(h), PT_WAIT_STOPPED);
}

void pt_fill_watermark_tell(struct pt_seg_header *h)
{
    pt_add_seqcst(&h->fill_futex, 1u);
    pt_futex_wake_all(&h->fill_futex);
}

/* The level may change meanwhile. */
static void set_mark(struct pt_seg_header *h, uint32_t level)
{
    uint32_t put;

    do {
        put = level;
        pt_store_seqcst(&h->fill_mark, put);
        level = pt_load_seqcst(&h->fill_level);
    } while (level != put);
}

void pt_fill_watermark_arm(struct pt_seg_header *h)
{
    uint32_t level = pt_load_seqcst(&h->fill_level);

    if (level == 0 || pt_load_seqcst(&h->full_chunks) >= level)
        return;
    set_mark(h, level);
    pt_fill_watermark_closed(h);
}

bool pt_fill_watermark_rearm(struct pt_seg_header *h)
{
    uint32_t level = pt_load_seqcst(&h->fill_level);

    if (level == 0 || pt_load_seqcst(&h->fill_mark) != 0 || pt_load_seqcst(&h->full_chunks) < level)
        return false;
    set_mark(h, level);
    return true;
}
