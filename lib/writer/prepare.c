/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See prepare.h.  Works under the same protection as an event: inside, gates looked at afterwards,
 * so that no segment is unmapped meanwhile.  While a level's writers are made, the thread is inside
 * that level: a handler's event uses those of the next one.
 */
#include <errno.h>
#include "writer/event.h"
#include "writer/filter_eval.h"
#include "writer/prepare.h"
#include "writer/writer.h"

#define LEVELS 2u /* an event, and one inside it */

/* Writes to every page of the part of a chunk that is free and has memory: no fault later. */
static void touch(struct pt_writer *writer)
{
    uint8_t *end = writer->chunk + writer->limit;

    for (uint8_t *p = writer->chunk + pt_writer_position(writer); p < end; p += 4096)
        *(volatile uint8_t *)p = 0;
}

/* Room for an event of the most data, which a chunk that was used may not have. */
static bool has_room(struct pt_writer *writer)
{
    if (!pt_writer_reserve(writer))
        return false;
    if (pt_writer_has_room(writer, writer->max_data))
        return true;
    pt_writer_close_chunk(writer);
    return pt_writer_reserve(writer) && pt_writer_has_room(writer, writer->max_data);
}

/* Level 0 gets memory for a whole chunk, another one what a chunk begins with. */
static int prepare_writer(struct pt_self *self, struct pt_writer *writer, unsigned level,
                          unsigned bit, uint64_t inside)
{
    bool ready;

    pt_store_seqcst(&writer->slot->inside, inside);
    ready = level == 0 ? pt_writer_reserve(writer) && pt_writer_back(writer) : has_room(writer);
    if (ready)
        touch(writer);
    if (pt_load_seqcst(&self->page->shadows) & pt_page_shadow(self->page, bit))
        pt_filter_eval_prepare(self, writer, bit);
    pt_store_seqcst(&writer->slot->inside, 0u);
    return ready ? 0 : -ENOMEM;
}

/* A stream has places for so many writers, one of each thread and level.  Those of nested events,
 * which may never come, get none where a quarter is taken, so that threads do not lack them. */
static bool has_places(struct pt_thread *t, unsigned level, unsigned bit, uint64_t epoch,
                       const struct pt_seg *seg)
{
    const struct pt_writer *writers = pt_thread_writers(t, level);
    uint32_t places = seg->g.chunk_max - seg->g.base_chunks;

    return level == 0 || (writers && pt_writer_is_good(&writers[bit], epoch)) ||
           pt_load_relaxed(&seg->h->writers) < places / 4;
}

static int prepare_streams(struct pt_self *self, struct pt_thread *t, unsigned level,
                           uint64_t inside)
{
    int r = 0;

    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        uint64_t epoch = pt_load_seqcst(&self->page->epoch[bit]);
        struct pt_writer *writer;
        struct pt_seg *seg;

        if (!(pt_load_seqcst(&self->page->used) >> bit & 1) ||
            !(seg = pt_self_segment(self, bit, epoch)) || pt_load_seqcst(&seg->h->closed))
            continue; /* shut down, or not mapped: the next event tries that again */
        writer = has_places(t, level, bit, epoch, seg) ? pt_event_writer(self, t, level, bit, 0)
                                                       : NULL;
        if (!writer || prepare_writer(self, writer, level, bit, inside) < 0)
            r = -ENOMEM;
    }
    return r;
}

/* Inside the one below, as an event at that level is. */
static void enter_next(struct pt_thread *t, unsigned level)
{
    t->outer[level] = pt_load_relaxed(&t->word);
    pt_store_relaxed(&t->word, pt_thread_word((uintptr_t)__builtin_frame_address(0), level + 1));
    pt_fence_compiler();
    pt_count_own(&t->nested);
    pt_fence_seqcst();
}

int pt_prepare(void)
{
    struct pt_self *self = pt_self_make();
    struct pt_thread *t = self ? pt_thread_get(self) : NULL;
    int r;

    if (!t)
        return -ENOMEM;
    pt_thread_watch_exits();
    if (!pt_thread_enter(t))
        return 0; /* from inside an event, which has done it for its level */
    r = prepare_streams(self, t, 0, pt_load_relaxed(&t->count));
    for (unsigned level = 1; level < LEVELS; level++) {
        int e;

        enter_next(t, level);
        e = prepare_streams(self, t, level, pt_load_relaxed(&t->nested));
        r = r < 0 ? r : e;
    }
    pt_thread_leave(t);
    return r;
}
