/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See thread_name.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/sys.h"
#include "process/self.h"
#include "process/thread.h"
#include "process/thread_name.h"
#include "shm/slot.h"

#define NAME_TURNS 8u /* each further one means that the thread was named once more */

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

static void get_own(char name[16])
{
    memset(name, 0, 16);
    prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0);
    name[15] = '\0';
}

static bool read_latest(int32_t pid, int32_t tid, char name[16])
{
    if (tid != pt_sys_tid())
        return pt_thread_name_read(pid, tid, name);
    get_own(name);
    return true;
}

/* As the kernel has it after the store: of two threads that name the same one, the later store
 * may have the older name.  A slot that another writer takes over meanwhile, which can only happen
 * in a stream with over 63 writers, may get the name of the one before. */
static void name_slot(struct pt_seg *seg, uint32_t index, const struct pt_slot_view *v)
{
    int32_t pid = v->author.pid, tid = v->author.tid;
    char name[16], stored[16];

    if (!read_latest(pid, tid, name))
        return;
    for (unsigned turns = 0; turns < NAME_TURNS; turns++) {
        if (pt_load_acquire(&pt_seg_slot(seg, index)->state) != pt_slot_live(v->wid))
            return;
        pt_slot_name(seg, index, name);
        memcpy(stored, name, sizeof stored);
        if (!read_latest(pid, tid, name) || memcmp(name, stored, sizeof name) == 0)
            return;
    }
}

/* thread_id 0: of all threads. */
static void publish_in(struct pt_seg *seg, int32_t pid, uint64_t thread_id)
{
    uint32_t n = pt_slot_count(seg);
    struct pt_slot_view v;

    for (uint32_t i = 0; i < n; i++) {
        pt_slot_look(seg, i, &v);
        if (v.own && v.author.pid == pid && v.author.level != PT_LEVEL_CONTROL &&
            (thread_id == 0 || v.author.thread_id == thread_id))
            name_slot(seg, i, &v);
    }
}

static void publish(struct pt_self *self, struct pt_thread *t, uint64_t thread_id)
{
    struct pt_seg *seg;
    uint64_t bit;

    if (!pt_thread_enter(t))
        return;
    pt_for_each_bit(bit, pt_load_seqcst(&self->page->used))
    {
        seg = pt_load_acquire(&self->known[bit].seg);
        if (seg)
            publish_in(seg, (int32_t)self->pid, thread_id);
    }
    pt_thread_leave(t);
}

void pt_thread_names_publish(struct pt_self *self)
{
    struct pt_thread *t = pt_thread_get(self);

    if (t)
        publish(self, t, 0);
}

/* A child that shares our memory runs on the record of a thread that has a name of its own. */
static bool is_calling(const struct pt_thread *t)
{
    return pt_load_relaxed(&t->tid) == pt_sys_tid();
}

void pt_thread_renamed(uint64_t thread_id)
{
    struct pt_self *self = pt_self_peek();
    struct pt_thread *t;
    int saved = errno, cancel;

    if (!self || pt_load_seqcst(&self->page->used) == 0)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    t = pt_thread_get(self);
    if (t && t->thread_id == thread_id && is_calling(t))
        get_own(t->name);
    if (t)
        publish(self, t, thread_id);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

void pt_thread_name_again(struct pt_thread *t, struct pt_seg *seg, uint32_t index)
{
    char name[16];

    if (!is_calling(t))
        return;
    get_own(name);
    if (memcmp(name, t->name, sizeof name) == 0)
        return;
    memcpy(t->name, name, sizeof name);
    pt_slot_name(seg, index, name);
}
