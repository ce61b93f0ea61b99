/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See owner.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/annotate.h"
#include "base/clock.h"
#include "base/sys.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "stream/owner.h"

#define LOOK_NS 1000000000u

static bool look_is_due(struct pt_seg_header *h)
{
    uint64_t now = pt_clock_ns(CLOCK_MONOTONIC_COARSE), last = pt_load_relaxed(&h->owner_look_ns);

    return now - last >= LOOK_NS && pt_cas_seqcst(&h->owner_look_ns, &last, now);
}

/* The gate bit under which this process writes with lane; PT_STREAMS: none. */
static unsigned bit_of(const struct pt_self *self, const struct pt_lane *lane, uint64_t epoch)
{
    unsigned bit = 0;

    while (bit < PT_STREAMS && (pt_load_acquire(&self->known[bit].seg) != lane->seg ||
                                pt_load_relaxed(&self->known[bit].epoch) != epoch))
        bit++;
    return bit;
}

bool pt_owner_gone(const struct pt_lane *lane)
{
    struct pt_seg_header *h = lane->h;
    struct pt_self *self = pt_self_peek();
    bool control = lane->slot->author.level == PT_LEVEL_CONTROL;
    uint64_t epoch = pt_load_relaxed(&lane->epoch);
    unsigned bit;

    pt_happens_before(lane->slot);
    if (!self || control ||
        (lane->seg->g.owner_pid == self->pid && lane->seg->g.owner_start == self->start) ||
        !look_is_due(h))
        return false;
    bit = bit_of(self, lane, epoch);
    if (bit == PT_STREAMS || pt_owner_liveness(h, lane->seg->dev, lane->seg->ino) != PT_DEAD)
        return false;
    pt_store_relaxed(&h->owner_look_ns, 0u);
    pt_page_revoke_bit(self->page, bit, epoch);
    return true;
}

/* True: the process was traced until now. */
static bool take_out(struct pt_proc *p, const char *file)
{
    uint32_t pid = pt_load_seqcst(&p->pid), bit = pt_load_seqcst(&p->bit);
    struct pt_page *page;
    char page_file[64];
    uint64_t epoch;
    bool done;

    if (pid == 0 || bit >= PT_STREAMS || pt_page_open(&page, pid, p->start, page_file) < 0)
        return false;
    epoch = pt_load_seqcst(&page->epoch[bit]);
    done = pt_page_bit_is_of(page, bit, file) && pt_page_revoke_bit(page, bit, epoch);
    pt_page_unmap(page);
    return done;
}

static void wait_until_left(struct pt_seg *seg)
{
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + PT_STALL_NS;
    struct timespec pause = { 0, 20000 };
    uint32_t n = pt_slot_count(seg);

    pt_barrier_all();
    for (uint32_t i = 0; i < n; i++) {
        struct pt_slot *slot = pt_seg_slot(seg, i);
        struct pt_author a;

        if (!pt_slot_is_live(pt_load_acquire(&slot->state)))
            continue;
        pt_copy_unchecked(&a, &slot->author, sizeof a);
        while (a.level != PT_LEVEL_CONTROL && pt_load_acquire(&slot->inside) != 0 &&
               pt_sys_thread_exists(a.pid, a.tid) && pt_clock_ns(CLOCK_MONOTONIC) < until)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

unsigned pt_owner_clear(const char *file, bool wait)
{
    struct pt_seg seg;
    unsigned traced = 0;

    if (pt_seg_open_to_write(&seg, file) < 0)
        return 0;
    for (unsigned i = 0; i < pt_seg_proc_count(&seg); i++)
        traced += take_out(pt_seg_proc(&seg, i), file);
    if (wait)
        wait_until_left(&seg);
    pt_seg_unmap(&seg);
    return traced;
}
