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
#include "process/owner.h"
#include "shm/liveness.h"
#include "shm/slot.h"

#define LOOK_NS 1000000000u

static bool look_is_due(struct pt_seg_header *h)
{
    uint64_t now = pt_clock_shared_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t last = pt_load_relaxed(&h->owner_look_ns);

    return now - last >= LOOK_NS && pt_cas_seqcst(&h->owner_look_ns, &last, now);
}

/* The gate bit under which this process writes with writer; PT_STREAMS: none. */
static unsigned bit_of(const struct pt_self *self, const struct pt_writer *writer, uint64_t epoch)
{
    unsigned bit = 0;

    while (bit < PT_STREAMS && (pt_load_acquire(&self->known[bit].seg) != writer->seg ||
                                pt_load_relaxed(&self->known[bit].epoch) != epoch))
        bit++;
    return bit;
}

static bool is_over(const struct pt_writer *writer)
{
    struct pt_seg_header *h = writer->h;

    return pt_load_seqcst(&h->closed) == PT_CLOSED_LEFT ||
           (look_is_due(h) && pt_owner_liveness(h, writer->seg->dev, writer->seg->ino) == PT_DEAD);
}

bool pt_owner_gone(const struct pt_writer *writer)
{
    struct pt_seg_header *h = writer->h;
    struct pt_self *self = pt_self_peek();
    bool control = writer->slot->author.level == PT_LEVEL_CONTROL;
    uint64_t epoch = pt_load_relaxed(&writer->epoch);
    unsigned bit;

    pt_happens_before(writer->slot);
    if (!self || control ||
        (writer->seg->g.owner_pid == self->pid && writer->seg->g.owner_start == self->start) ||
        !is_over(writer))
        return false;
    bit = bit_of(self, writer, epoch);
    if (bit == PT_STREAMS)
        return false;
    pt_store_relaxed(&h->owner_look_ns, 0u);
    pt_page_revoke_bit(self->page, bit, epoch);
    return true;
}

static bool is_shortage(int error)
{
    return error == -EMFILE || error == -ENFILE;
}

/* 0, -EMFILE, -ENFILE. */
static int take_out(struct pt_proc *p, const char *file)
{
    uint32_t pid = pt_load_seqcst(&p->pid), bit = pt_proc_bit_of(pt_load_seqcst(&p->bit));
    struct pt_page *page;
    char page_file[64];
    uint64_t epoch;
    int r;

    if (pid == 0 || bit >= PT_STREAMS)
        return 0;
    r = pt_page_open(&page, pid, p->start, page_file);
    if (r < 0)
        return is_shortage(r) ? r : 0;
    epoch = pt_load_seqcst(&page->epoch[bit]);
    if (pt_page_bit_is_of(page, bit, file))
        pt_page_revoke_bit(page, bit, epoch);
    pt_page_unmap(page);
    return 0;
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
               !pt_thread_is_gone(a.pid, a.tid) && pt_clock_ns(CLOCK_MONOTONIC) < until)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

int pt_owner_clear(const char *file, bool wait)
{
    struct pt_seg seg;
    int r = pt_seg_open_to_write(&seg, file), e = 0;

    if (r < 0)
        return is_shortage(r) ? r : 0;
    for (unsigned i = 0; i < pt_seg_proc_count(&seg); i++) {
        r = take_out(pt_seg_proc(&seg, i), file);
        if (e == 0)
            e = r;
    }
    if (wait && e == 0)
        wait_until_left(&seg);
    pt_seg_unmap(&seg);
    return e;
}
