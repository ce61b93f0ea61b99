/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See exit.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/atomics.h"
#include "process/exit.h"
#include "process/join.h"
#include "process/self.h"
#include "process/thread.h"
#include "process/thread_name.h"

static uint32_t registered;
static void (*end_streams)(void), (*end_last)(void);
static pt_u64 last; /* pt_self_instance() of the process that exits: not of a child it forks then */

static void at_exit(void)
{
    struct pt_self *self = pt_self_peek();
    void (*end)(void);
    int cancel;

    if (!self || self->pid != (uint32_t)getpid())
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    end = pt_load_acquire(&end_streams);
    if (end)
        end();
    pt_thread_names_publish(self);
    /* In streams of other processes this frees the slot and its chunk for the next child at once.
     * An event of a later exit handler takes another slot. */
    if (pt_thread_current())
        pt_thread_exit(pt_thread_self);
}

/* Before the page is removed: destructors of other libraries may run for a while. */
static void leave_streams(struct pt_self *self)
{
    uint64_t used = pt_load_seqcst(&self->page->used), bit;
    struct pt_thread *t = used ? pt_thread_get(self) : NULL;

    if (!t || !pt_thread_enter(t))
        return;
    pt_for_each_bit(bit, used)
    {
        const struct pt_seg *seg = pt_load_acquire(&self->known[bit].seg);

        if (seg)
            pt_process_leaves(seg, self->pid, self->start);
    }
    pt_thread_leave(t);
}

/* After all handlers of atexit(): those that come after ours, and other threads, trace as before,
 * and a controller that starts or stops a stream that traces them needs the page.  So does another
 * copy of the library, if this one is in a plugin that goes. */
__attribute__((destructor)) static void unlink_page(void)
{
    struct pt_self *self = pt_self_peek();
    void (*end)(void);
    int cancel;

    if (self && self->pid != (uint32_t)getpid())
        return;
    pt_store_seqcst(&last, pt_self_instance());
    end = pt_load_seqcst(&end_last);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (end)
        end();
    pthread_setcancelstate(cancel, NULL);
    self = pt_self_peek(); /* another thread may have made it until then */
    if (!self)
        return;
    leave_streams(self);
    if (pt_add_seqcst(&self->page->copies, (uint64_t)-1) <= 1)
        pt_self_unlink(self);
    pt_fence_compiler(); /* no jump: wrapped calls are to return into this library (lib/preload) */
}

int pt_exit_register(void)
{
    uint32_t no = 0;

    if (!pt_cas_seqcst(&registered, &no, 1u))
        return 0;
    if (atexit(at_exit) == 0)
        return 0;
    pt_store_release(&registered, 0u);
    return -ENOMEM;
}

void pt_exit_ends(void (*streams)(void), void (*at_last)(void))
{
    pt_store_release(&end_streams, streams);
    pt_store_seqcst(&end_last, at_last);
}

bool pt_exit_is_last(void)
{
    uint64_t instance = pt_load_seqcst(&last);

    return instance != 0 && instance == pt_self_instance();
}
