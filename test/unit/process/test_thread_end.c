/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A thread that ends writes to its slots and chunks.  Each slot says so meanwhile, so that
 * another process does not give the memory of the stream back under it; afterwards it does not.
 * The record of the thread in its process is the next thread's.
 */
#include <pthread.h>
#include <unistd.h>
#include <trace.h>
#include "process/thread.h"
#include "shm/slot.h"
#include "stream/handle.h"
#include "support/need.h"

enum { HANG_S = 60, STREAMS = 2 };

static trace_event_id_t tick;
static unsigned detached;

void __real_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
void __wrap_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
void __wrap_pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts)
{
    const struct pt_slot *slot = pt_seg_slot(seg, index);

    NEED(pt_load_relaxed(&slot->inside) != 0);
    __real_pt_slot_detach(seg, index, last_ts);
    NEED(pt_load_relaxed(&slot->inside) == 0);
    detached++;
}

static void *run(void *unused)
{
    posix_trace_event(tick, NULL, 0);
    return unused;
}

static unsigned count_records(const struct pt_self *self)
{
    unsigned all = 0, free = 0;

    for (const struct pt_thread *t = self->threads; t; t = t->next) {
        all++;
        free += t->taken == 0;
    }
    NEED(free == self->free_records && self->unwatched == 0);
    return all;
}

static void one_after_another(void)
{
    unsigned records = count_records(pt_self_get());
    pthread_t thread;

    NEED(records > 0);
    for (unsigned i = 0; i < 20; i++) {
        NEED(pthread_create(&thread, NULL, run, NULL) == 0);
        NEED(pthread_join(thread, NULL) == 0);
        NEED(count_records(pt_self_get()) == records);
    }
}

int main(void)
{
    trace_id_t trids[STREAMS];
    pthread_t thread;

    alarm(HANG_S);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    for (unsigned i = 0; i < STREAMS; i++)
        NEED(posix_trace_create(0, NULL, &trids[i]) == 0 && posix_trace_start(trids[i]) == 0);
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    NEED(detached == STREAMS);
    one_after_another();
    for (unsigned i = 0; i < STREAMS; i++)
        NEED(posix_trace_shutdown(trids[i]) == 0);
    return 0;
}
