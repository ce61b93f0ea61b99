/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread_name.h. */
#include <stdio.h>
#include <string.h>
#include "base/sys.h"
#include "ring/slot.h"
#include "stream/self.h"
#include "stream/thread.h"
#include "stream/thread_name.h"

#define AGAIN_NS 1000000000u

bool pt_thread_name_read(int32_t pid, int32_t tid, char name[16])
{
    char path[64], text[17];
    size_t n;

    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    if (!pt_sys_read_text(path, text, sizeof text))
        return false;
    /* The kernel ends it with a newline; a name may have others. */
    n = strlen(text);
    memset(name, 0, 16);
    memcpy(name, text, n > 0 ? n - 1 : 0);
    return true;
}

bool pt_thread_name_is_due(struct pt_name_turn *turn, uint64_t *read_at)
{
    if (!turn->all &&
        (turn->left == 0 || (*read_at != 0 && turn->now - *read_at < AGAIN_NS)))
        return false;
    turn->left -= turn->left > 0;
    *read_at = turn->now;
    return true;
}

static void read_one(struct pt_tally *t, struct pt_name_turn *turn)
{
    char name[16];

    if (!t->used || t->source != PT_TALLY_SLOT || t->author.tid <= 0 ||
        !pt_thread_name_is_due(turn, &t->named_at) ||
        !pt_thread_name_read(t->author.pid, t->author.tid, name) ||
        memcmp(name, t->author.name, sizeof name) == 0)
        return;
    memcpy(t->author.name, name, sizeof name);
    t->changed = true;
}

void pt_live_read_names(struct pt_live *l, struct pt_name_turn *turn)
{
    /* From where the last round stopped, so that each of very many threads has its turn. */
    for (uint32_t i = 0; i < l->tally_room && (turn->all || turn->left); i++)
        read_one(&l->tally[l->name_at++ % l->tally_room], turn);
}

/* A slot that another writer takes over meanwhile, which can only happen in a stream with over 63
 * writers, may get the name of the one before. */
static void publish_in(struct pt_seg *seg, int32_t pid)
{
    uint32_t n = pt_slot_count(seg);
    struct pt_slot_view v;
    char name[16];

    for (uint32_t i = 0; i < n; i++) {
        pt_slot_look(seg, i, &v);
        if (v.own && v.author.pid == pid && v.author.level != PT_LEVEL_CONTROL &&
            pt_thread_name_read(pid, v.author.tid, name) &&
            pt_load_acquire(&pt_seg_slot(seg, i)->state) == pt_slot_live(v.wid))
            pt_slot_name(seg, i, name);
    }
}

void pt_thread_names_publish(struct pt_self *self)
{
    struct pt_thread *t = pt_thread_get(self);
    struct pt_seg *seg;
    uint64_t bit;

    if (!t || !pt_thread_enter(t))
        return;
    pt_for_each_bit(bit, pt_load_seqcst(&self->page->used)) {
        seg = pt_load_acquire(&self->known[bit].seg);
        if (seg)
            publish_in(seg, (int32_t)self->pid);
    }
    pt_thread_leave(t);
}
