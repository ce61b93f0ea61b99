/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See chain.h. */
#include <string.h>
#include "base/clock.h"
#include "process/fork.h"
#include "writer/chain.h"
#include "writer/event.h"
#include "writer/writer.h"

/* The gate bit, in this process, of the next stream; PT_STREAMS: it does not trace it. */
static unsigned next_bit(const struct pt_self *self, const struct pt_seg_header *h)
{
    pt_u64 file[PT_PAGE_FILE / 8];
    unsigned bit = 0;

    pt_copy_unchecked(file, h->next_file, sizeof file);
    ((char *)file)[PT_PAGE_FILE - 1] = '\0';
    if (((const char *)file)[0] == '\0')
        return PT_STREAMS;
    while (bit < PT_STREAMS && !pt_page_bit_is_of(self->page, bit, (const char *)file))
        bit++;
    return bit;
}

/* A writer of the stream with that bit; NULL: it does not run, or has no slot for the thread, or
 * no room for the process.  That is not counted there: the event is lost in the first. */
static struct pt_writer *open_writer(struct pt_self *self, struct pt_thread *t, unsigned level,
                                     unsigned bit)
{
    const struct pt_seg *seg = pt_self_segment(self, bit, pt_load_seqcst(&self->page->epoch[bit]));

    if (!seg || pt_load_seqcst(&seg->h->closed) || !pt_state_runs(pt_load_seqcst(&seg->h->state)))
        return NULL;
    return pt_event_writer(self, t, level, bit, 0);
}

/* Where other processes write the page and the names of next streams, mapping one can unmap
 * the segment of another writer of this event, which is forgotten then. */
static bool is_mapped(const struct pt_writer *writer)
{
    return pt_load_relaxed(&writer->epoch) != 0;
}

/* True: recorded, or counted as lost.  False: writer->onward, or the stream was stopped or closed
 * since the check.  A stop changes the state, then takes the time of its STOP.  So an event that
 * finds the stream running after it has taken its own time is before STOP. */
static bool write_to(struct pt_thread *t, unsigned level, struct pt_writer *writer, uint32_t id,
                     const void *data, size_t len, uint64_t addr)
{
    uint64_t ts;
    bool done = false;

    pt_store_relaxed(&writer->slot->inside, level ? t->nested : t->count);
    pt_fence_seqcst();
    ts = pt_clock_now(writer->seg->g.clock);
    pt_clock_settle();
    writer->onward = false;
    if (pt_state_runs(pt_load_seqcst(&writer->h->state)))
        done = pt_writer_write(writer, id, data, len, addr, ts) || writer->counted;
    pt_event_leave_writer(writer);
    return done;
}

void pt_chain_follow(struct pt_self *self, struct pt_thread *t, unsigned level,
                     struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                     uint64_t addr)
{
    struct pt_writer *at = writer;
    unsigned bit;

    /* A half event in a forked child: no reader would find its record or its count. */
    if (pt_fork_has_cut(t))
        return;
    /* A CPU time is for one stream only, so it does not follow the chain. */
    for (unsigned n = 0; n < PT_STREAMS && id != PT_ID_CPU_TIME && is_mapped(at); n++) {
        bit = next_bit(self, at->h);
        at = bit < PT_STREAMS ? open_writer(self, t, level, bit) : NULL;
        if (!at)
            break;
        if (pt_set_has(pt_seg_filter(at->h), id))
            continue;
        if (write_to(t, level, at, id, data, len, addr))
            return;
        if (!at->onward)
            break;
    }
    if (is_mapped(writer))
        pt_writer_lost(writer, PT_LOST_FULL, len < writer->max_data ? len : writer->max_data);
}
