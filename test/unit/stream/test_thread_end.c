/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A thread that ends writes to its slots and chunks.  Each slot says so meanwhile, so that
 * another process does not give the memory of the stream back under it; afterwards it does not.
 */
#include <pthread.h>
#include <unistd.h>
#include <trace.h>
#include "shm/slot.h"
#include "stream/handle.h"
#include "support/need.h"

enum { HANG_S = 30, STREAMS = 2 };

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
    for (unsigned i = 0; i < STREAMS; i++)
        NEED(posix_trace_shutdown(trids[i]) == 0);
    return 0;
}
