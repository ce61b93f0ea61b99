/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The control writer of a stream, and the gates of the processes that it traces. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "place/dir.h"
#include "process/gates.h"
#include "shm/attention.h"
#include "stream/control_lock.h"
#include "stream/pages.h"

static void fill_author(struct pt_author *a)
{
    memset(a, 0, sizeof *a);
    a->level = PT_LEVEL_CONTROL;
    a->pid = (int32_t)getpid();
    a->tid = pt_sys_tid();
    a->thread_id = (uint64_t)(uintptr_t)pthread_self();
    prctl(PR_GET_NAME, (unsigned long)a->name, 0, 0, 0);
    a->name[15] = '\0';
}

/* Every record but a STOP needs room for a STOP after it, whichever thread makes that: a
 * stream that fills up can still record when it was stopped. */
static uint32_t room_needed(uint32_t id, uint32_t len)
{
    return id == POSIX_TRACE_STOP ? len
                                  : len + pt_record_max_size(sizeof(int)) + pt_record_max_size(0);
}

/* Without its START a LOOP stream does not start; another stream starts, and is full. */
void pt_stream_note_window(struct pt_stream *s, uint32_t id, bool written)
{
    struct pt_seg_header *h = s->seg->h;
    bool begins = id == POSIX_TRACE_START &&
                  (written || s->seg->g.attr.stream_policy != POSIX_TRACE_LOOP);

    if ((begins || id == POSIX_TRACE_STOP) && pt_control_lock_holds(s))
        pt_store_relaxed(&h->window, (uint32_t)begins);
}

/* The chunk first, then the time, then the look at the lock: see control_lock.c. */
bool pt_stream_put_control(struct pt_stream *s, uint32_t id, const void *data, uint32_t len,
                           uint64_t addr)
{
    struct pt_writer *writer = &s->writer;
    struct pt_slot *slot = writer->slot;
    struct pt_seg_header *h = s->seg->h;
    struct pt_author a;
    bool written = false;
    uint64_t ts;

    if (slot) {
        /* Control records may be longer than the data of user events. */
        writer->max_data = 2 * sizeof(struct pt_set);
        pt_store_seqcst(&slot->inside, pt_clock_now(PT_CLOCK_MONOTONIC) | 1u);
        pt_fence_seqcst();
        fill_author(&a);
        if (a.tid != slot->author.tid || a.thread_id != slot->author.thread_id)
            pt_writer_set_author(writer, &a, pt_record_max_size(len));
        if (!pt_writer_has_room(writer, room_needed(id & PT_RECORD_ID_MASK, len)))
            pt_writer_close_chunk(writer);
        pt_writer_reserve(writer, true);
        ts = pt_clock_now(s->seg->g.clock);
        if (pt_set_has(pt_seg_filter(h), id & PT_RECORD_ID_MASK))
            id |= PT_RECORD_TRUNCATED;
        if (pt_control_lock_holds(s))
            written = pt_writer_write(writer, id, data, len, addr, ts);
    }
    pt_stream_note_window(s, id & PT_RECORD_ID_MASK, written);
    if (slot) {
        pt_store_seqcst(&slot->inside, 0u);
        pt_fence_seqcst();
    }
    if (pt_load_relaxed(pt_attention(h)) & PT_WAIT_READER)
        pt_stream_wake(h, PT_WAIT_READER);
    return written;
}

/* Each gate after a look whether we may still.  gates NULL: all are closed. */
static void set_gates(struct pt_stream *s, struct pt_page *page, unsigned bit, void *gates)
{
    /* Without a shadow there is no way to ask: joining the stream would have failed. */
    if (gates && pt_gates_make_room(gates, page, bit) < 0)
        gates = NULL;
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        enum pt_gate gate = gates ? pt_gates_decide(gates, page, bit, id) : PT_GATE_CLOSED;

        if (!pt_control_lock_holds(s))
            return;
        pt_page_set_gate(page, bit, id, gate);
    }
}

int pt_stream_update_gates(struct pt_stream *s, bool open)
{
    struct pt_gates gates;
    int r;

    pt_fence_seqcst();
    if (!open) {
        pt_pages_each(s, set_gates, NULL);
        return 0;
    }
    pt_gates_init(&gates, s->seg->h, s->names);
    r = pt_pages_each(s, set_gates, &gates);
    pt_gates_deinit(&gates);
    return r;
}

static void forget(struct pt_stream *s, struct pt_page *page, unsigned bit, void *context)
{
    (void)context;
    if (page != s->page)
        pt_page_give_bit(page, bit);
}

bool pt_stream_forget_processes(struct pt_stream *s)
{
    return pt_pages_each_of_all(s, forget, NULL) == 0;
}

static void make_room(struct pt_stream *s, struct pt_page *page, unsigned bit, void *error)
{
    int *e = error;

    (void)s;
    if (pt_page_take_shadow(page, bit) < 0)
        *e = -EAGAIN;
}

int pt_stream_make_room(struct pt_stream *s)
{
    int e = 0, r = pt_pages_each(s, make_room, &e);

    return r < 0 ? r : e;
}

void pt_stream_put_mark(struct pt_stream *s, uint32_t id, uint64_t addr)
{
    if (pt_control_lock_begin(s) < 0)
        return;
    if (pt_state_of(pt_load_seqcst(&s->seg->h->state)) == PT_RUNNING)
        pt_stream_put_control(s, id, NULL, 0, addr);
    pt_control_lock_end(s);
}
