/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See prepare.h.  Works under the same protection as an event: inside, gates
 * looked at afterwards, so that no segment is unmapped meanwhile. */
#include <errno.h>
#include "writer/event.h"
#include "writer/filter_eval.h"
#include "writer/prepare.h"
#include "writer/writer.h"

/* Writes to every page of a chunk's free part: no fault later. */
static void touch(struct pt_writer *writer)
{
    uint8_t *end = writer->chunk + writer->limit;

    for (uint8_t *p = writer->chunk + pt_writer_position(writer); p < end; p += 4096)
        *(volatile uint8_t *)p = 0;
}

/* As for an event, no chunk of a stopped LOOP stream is overwritten: its events are still to be
 * read. */
static bool take_memory(struct pt_writer *writer)
{
    bool runs = pt_state_runs(pt_load_seqcst(&writer->h->state));

    if (!pt_writer_reserve(writer, runs) || !pt_writer_back(writer))
        return false;
    touch(writer);
    return true;
}

static int prepare_streams(struct pt_self *self, struct pt_thread *t, uint64_t inside)
{
    int r = 0;

    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
        struct pt_seg *seg;

        if (!(pt_load_seqcst(&self->page->used) >> bit & 1) ||
            !(seg = pt_self_segment(self, bit, epoch)) || pt_load_seqcst(&seg->h->closed))
            continue; /* shut down, or not mapped: the next event tries that again */
        if (!pt_event_writer(self, t, 0, bit, 0)) {
            r = -ENOMEM;
            continue;
        }
        pt_store_seqcst(&t->writers0[bit].slot->inside, inside);
        if (!take_memory(&t->writers0[bit]))
            r = -ENOMEM;
        if (pt_load_seqcst(&self->page->shadows) & pt_page_shadow(self->page, bit))
            pt_filter_eval_prepare(self, &t->writers0[bit], bit);
        pt_store_seqcst(&t->writers0[bit].slot->inside, 0u);
    }
    return r;
}

int pt_prepare(void)
{
    struct pt_self *self;
    struct pt_thread *t;
    int r;

    do {
        r = pt_self_make(&self);
        if (r < 0)
            return r;
        t = pt_thread_get(self);
    } while (!t && pt_self_peek() != self);
    if (!t)
        return -ENOMEM;
    pt_thread_watch_exits();
    if (!pt_thread_enter(t))
        return 0; /* from a handler inside an event: that event has done it */
    r = prepare_streams(self, t, t->count);
    pt_thread_leave(t);
    return r;
}
