/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See onlook.h. */
#include <errno.h>
#include "shm/liveness.h"
#include "shm/onlook.h"

/* An entry: bits 0-21 the process's number, above them the low bits of its start time.  The number
 * 0 means a process whose end other processes cannot notice. */
#define PID_BITS        22
#define UNKNOWN_PROCESS (1ull << PID_BITS)

static uint64_t word_of(const struct pt_identity *self, const struct pt_seg_header *h)
{
    if (self->start == 0 || self->pid_ns == 0 || self->pid_ns != h->pid_ns ||
        self->pid >> PID_BITS != 0)
        return UNKNOWN_PROCESS;
    return self->start << PID_BITS | self->pid;
}

static bool may_live(const struct pt_seg *seg, uint64_t word)
{
    uint32_t pid = (uint32_t)(word & (UNKNOWN_PROCESS - 1));

    return pid == 0 ||
           pt_user_liveness(seg->h, pid, word >> PID_BITS, seg->dev, seg->ino) != PT_DEAD;
}

static bool take_entry(struct pt_onlook *o, struct pt_seg *seg, uint64_t word, bool of_dead)
{
    for (unsigned i = 0; i < PT_ONLOOKERS; i++) {
        uint64_t *at = &seg->h->onlookers[i], was = pt_load_seqcst(at);

        if (was != 0 && (!of_dead || may_live(seg, was)))
            continue;
        if (pt_cas_seqcst(at, &was, word)) {
            *o = (struct pt_onlook){ word, i };
            return true;
        }
    }
    return false;
}

int pt_onlook_begin(struct pt_onlook *o, struct pt_seg *seg)
{
    struct pt_identity self;
    uint64_t word;
    bool known;

    *o = (struct pt_onlook){ 0, 0 };
    known = pt_identity_self(&self) == 0;
    word = word_of(&self, seg->h);
    if (!known || (!take_entry(o, seg, word, false) && !take_entry(o, seg, word, true)))
        pt_or_seqcst(&seg->h->memory, PT_MEMORY_KEPT);
    return pt_load_seqcst(&seg->h->memory) & PT_MEMORY_GIVEN ? -ENXIO : 0;
}

static bool is_looked_at(const struct pt_seg *seg)
{
    if (pt_load_seqcst(&seg->h->memory) & PT_MEMORY_KEPT)
        return true;
    for (unsigned i = 0; i < PT_ONLOOKERS; i++) {
        uint64_t word = pt_load_seqcst(&seg->h->onlookers[i]);

        if (word != 0 && may_live(seg, word))
            return true;
    }
    return false;
}

bool pt_onlook_end(struct pt_onlook *o, struct pt_seg *seg)
{
    uint64_t word = o->word;

    if (word == 0)
        return false;
    pt_cas_seqcst(&seg->h->onlookers[o->entry], &word, 0u);
    o->word = 0;
    return (pt_load_seqcst(&seg->h->memory) & PT_MEMORY_GIVEN) && !is_looked_at(seg);
}

bool pt_onlook_give(struct pt_seg *seg)
{
    pt_or_seqcst(&seg->h->memory, PT_MEMORY_GIVEN);
    return !is_looked_at(seg);
}
