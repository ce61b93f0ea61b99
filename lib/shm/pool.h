/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chunks: taking, closing, freeing.  layout.h has their states and the owners of each change; every
 * change is one compare-and-exchange of the info word.
 *
 * Progress: take is lock-free and async-signal-safe; its work is bounded by the number of chunks
 * times the number of concurrent takers that succeed first.
 */
#ifndef PT_SHM_POOL_H
#define PT_SHM_POOL_H

#include "shm/attention.h"
#include "shm/segment.h"

enum pt_pool_take { PT_POOL_TAKEN, PT_POOL_ADOPTED, PT_POOL_FULL, PT_POOL_NO_MEMORY };

/*
 * A chunk for the writer of slot, with room for need bytes.  TAKEN: empty,
 * initialised but for base_ts and first_no being 0 (pt_pool_init_times).
 * ADOPTED: a dead writer's chunk, to be continued after its commit position; the caller starts with
 * an AUTHOR record.
 */
enum pt_pool_take pt_pool_take(struct pt_seg *seg, uint32_t slot, uint32_t need, bool loop,
                               uint32_t *index);

/* By the owner: no further record will follow.  The owner calls pt_pool_tell_full() when it has
 * dropped the chunk. */
void pt_pool_close(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts);
/* The owner ends (or was found dead); last_ts 0: not known. */
void pt_pool_orphan(struct pt_seg *seg, uint32_t index, uint32_t slot, uint64_t last_ts);
/* Called by the consumer, which has read all of it; word: as it was loaded. */
bool pt_pool_free(struct pt_seg *seg, uint32_t index, uint64_t word);
/* Frees chunks that a writer took but never stored in its slot, because siglongjmp left it
 * half-way. */
void pt_pool_repair(struct pt_seg *seg, uint32_t slot);

void pt_pool_wake_flush(struct pt_seg_header *h) PT_COLD;

/* A chunk was closed: wakes the flush thread, once a round, if a quarter of the pool is full, and
 * the thread that reports the fill level.  Three quarters are left for the events until the flush
 * thread gets a processor.  If a thread is killed before it wakes the flush thread, that wakes at
 * its deadline, which runs from the first event on. */
static inline void pt_pool_tell_full(const struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;

    if (seg->g.has_log && seg->g.attr.stream_policy == POSIX_TRACE_FLUSH &&
        (uint64_t)pt_load_relaxed(&h->full_chunks) * 4 >= seg->g.base_chunks)
        pt_pool_wake_flush(h);
    pt_fill_watermark_closed(h);
}

/* How many chunks are in use; at most all of them.  The counter in the header may be too high: if a
 * chunk is taken before the thread that has freed it counts that, and for ever after a kill. */
uint32_t pt_pool_used(const struct pt_seg *seg);

/* Time of the first record at or after position from, and (last not NULL) of the last one.  False:
 * no record. */
bool pt_chunk_times(const struct pt_seg *seg, uint32_t index, uint32_t from, uint64_t *first,
                    uint64_t *last);

/* The committed position, checked against the chunk's size. */
static inline uint32_t pt_chunk_position(const struct pt_seg *seg, uint64_t commit)
{
    uint32_t pos = (uint32_t)commit;

    return pos < sizeof(struct pt_chunk) || pos > seg->g.chunk_size
               ? (uint32_t)sizeof(struct pt_chunk)
               : pos;
}

#endif
