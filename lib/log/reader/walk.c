/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Going through packets; see walk.h. */
#include <errno.h>
#include <string.h>
#include "base/assert.h"
#include "log/byteorder.h"
#include "log/reader/walk.h"

#define NONE        UINT64_MAX
#define FIRST_WORK  (32u << 20)
#define WORK_A_STEP (8u * PT_PACKET_ALIGN) /* earned by each step */

void pt_walk_init(struct pt_walk *w, struct pt_input *source, uint32_t seed, uint64_t from,
                  uint64_t to)
{
    *w = (struct pt_walk){ .source = source,
                           .seed = seed,
                           .most_lsn = PT_NO_LIMIT,
                           .bad_from = NONE,
                           .work = FIRST_WORK };
    w->offset = from;
    pt_walk_add_segment(w, from, to);
}

void pt_walk_add_segment(struct pt_walk *w, uint64_t from, uint64_t to)
{
    pt_assert_call(w->segment_count < 2);
    if (from < to)
        w->segments[w->segment_count++] = (struct pt_segment){ from, to };
    if (w->segment_count == 1)
        w->offset = w->segments[0].from;
}

/* The unreadable stretch, if any, ends here. */
static void end_bad(struct pt_walk *w, uint64_t at)
{
    uint64_t bytes = at - w->bad_from;

    /* In a ring, unreadable bytes before the first packet are the rest of overwritten
     * parts, and those after the newest packet are about to be overwritten: no damage. */
    if (w->bad_from != NONE && bytes && !(w->ring && (!w->started || w->passed_newest))) {
        w->skipped += bytes;
        if (w->finding)
            w->finding(w->context, w->bad_from, bytes);
    }
    w->bad_from = NONE;
}

static void begin_bad(struct pt_walk *w)
{
    if (w->bad_from == NONE)
        w->bad_from = w->offset;
}

/* Advances to the next segment; false: there is none.  at: the end of this one's bytes. */
static bool next_segment(struct pt_walk *w, uint64_t at)
{
    /* A rest too short for a packet is no damage at the end of a ring. */
    if (w->ring && w->bad_from == NONE)
        w->offset = at;
    if (w->offset < at)
        begin_bad(w);
    end_bad(w, at);
    if (++w->segment >= w->segment_count)
        return false;
    w->offset = w->segments[w->segment].from;
    return true;
}

enum verdict { GIVE, PASS_OVER, END };

/* Whether a good packet belongs to the log, by its number. */
static enum verdict judge(const struct pt_walk *w, const struct pt_packet_head *p)
{
    if (w->any_order)
        return GIVE;
    if (p->lsn > w->most_lsn)
        return w->passed_newest ? END : PASS_OVER;
    if (!w->ring || !w->newest_lsn)
        return p->lsn > w->last_lsn ? GIVE : PASS_OVER;
    if (w->passed_newest)
        return p->lsn > w->last_lsn && !w->stop_at_newest ? GIVE : END;
    return p->lsn > w->last_lsn && p->lsn <= w->newest_lsn ? GIVE : PASS_OVER;
}

/* The packet at w->offset if it is whole; NULL if not.  *end: the file ends first. */
static const struct pt_packet_head *packet_here(struct pt_walk *w, uint64_t to, bool *end,
                                                int *error)
{
    const struct pt_packet_head *p;
    uint32_t bytes;

    *end = false;
    p = pt_input_fetch(w->source, w->offset, sizeof *p, error);
    if (!p) {
        *end = !*error;
        return NULL;
    }
    if (!pt_packet_is_plausible(p, to - w->offset))
        return NULL;
    bytes = pt_le32(p->bytes);
    if (bytes > w->work)
        return NULL;
    p = pt_input_fetch(w->source, w->offset, bytes, error);
    if (p && pt_packet_is_whole(p, w->seed)) {
        w->work += 2 * bytes;
        p = pt_byteorder_read(&w->source->order, p);
        *error = p ? 0 : -ENOMEM;
        return p;
    }
    w->work -= bytes < w->work ? bytes : w->work;
    return NULL;
}

/* The end of the bytes that the window has of the segment. */
static uint64_t end_of_file(const struct pt_walk *w)
{
    return w->source->start + w->source->length > w->offset ? w->source->start + w->source->length
                                                            : w->offset;
}

/* After the newest ROUND, at that offset, the walk continues once round the ring. */
static void pass_newest(struct pt_walk *w, uint64_t newest)
{
    w->passed_newest = true;
    if (w->stop_at_newest || !w->ring)
        return;
    w->segments[0] = (struct pt_segment){ w->offset, w->area.to };
    w->segments[1] = (struct pt_segment){ w->area.from, newest };
    w->segment_count = 2;
    w->segment = 0;
}

/* A good packet at w->offset: 1: return it; 0: the log ends here; -1: skip it. */
static int take(struct pt_walk *w, const struct pt_packet_head *p)
{
    enum verdict verdict = judge(w, p);

    if (verdict == END) {
        end_bad(w, w->offset);
        return 0;
    }
    if (verdict == PASS_OVER) {
        if (!w->ring || p->lsn > w->most_lsn)
            begin_bad(w);
        w->offset += p->bytes;
        return -1;
    }
    end_bad(w, w->offset);
    w->started = true;
    w->last_lsn = p->lsn;
    w->offset += p->bytes;
    if (w->newest_lsn && p->lsn == w->newest_lsn)
        pass_newest(w, w->offset - p->bytes);
    return 1;
}

/* Advances to the next place in the window that could be a packet, or to the place where more must
 * be read. */
static void step(struct pt_walk *w, uint64_t to)
{
    const struct pt_input *s = w->source;
    uint64_t seen = s->start + s->length;
    uint32_t magic;

    do {
        w->offset += PT_PACKET_ALIGN;
        w->work += WORK_A_STEP;
        if (w->offset + sizeof(struct pt_packet_head) > seen || w->offset >= to)
            break;
        memcpy(&magic, s->buffer + (w->offset - s->start), sizeof magic);
    } while (pt_le32(magic) != PT_PACKET_MAGIC);
}

int pt_walk_next(struct pt_walk *w, const struct pt_packet_head **packet, uint64_t *offset)
{
    while (w->segment < w->segment_count) {
        uint64_t to = w->segments[w->segment].to;
        const struct pt_packet_head *p;
        bool end = false;
        int rc, error = 0;

        p = to - w->offset >= sizeof *p ? packet_here(w, to, &end, &error) : NULL;
        if (error)
            return error;
        if (p) {
            pt_assert(p->bytes <= to - w->offset);
            *offset = w->offset;
            rc = take(w, p);
            if (rc < 0)
                continue;
            *packet = p;
            return rc;
        }
        if (w->ring && w->passed_newest && !end && to - w->offset >= sizeof *p)
            return 0;
        if (end || to - w->offset < sizeof *p) {
            if (!next_segment(w, end ? end_of_file(w) : to))
                return 0;
            continue;
        }
        begin_bad(w);
        step(w, to);
    }
    return 0;
}
