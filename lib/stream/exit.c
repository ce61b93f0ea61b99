/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See exit.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/atomics.h"
#include "stream/exit.h"
#include "stream/handle.h"
#include "stream/thread.h"
#include "stream/thread_name.h"

static uint32_t registered;

static void at_exit(void)
{
    struct pt_self *self = pt_self_peek();
    trace_id_t trid;
    int cancel;

    if (!self || self->pid != (uint32_t)getpid())
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    while ((trid = pt_handle_any_active()) != 0) {
        struct pt_stream *s = pt_handle_remove(trid, PT_STREAM_ACTIVE | PT_STREAM_LOGGED);

        if (s)
            pt_stream_destroy(s, 0);
    }
    pt_thread_names_publish(self);
    /* In streams of other processes the slot and its chunk are free for the next child at
     * once.  What later exit handlers trace attaches another slot. */
    if (pt_thread_self)
        pt_thread_exit(pt_thread_self);
    pt_self_unlink(self);
}

int pt_exit_register(void)
{
    uint32_t no = 0;

    if (!pt_cas_seqcst(&registered, &no, 1u))
        return 0;
    if (atexit(at_exit) == 0) {
        pthread_atfork(NULL, NULL, pt_thread_forget_parent);
        return 0;
    }
    pt_store_release(&registered, 0u);
    return -ENOMEM;
}
