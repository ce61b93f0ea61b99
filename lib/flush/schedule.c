/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * When the flush thread makes a round, and how it sleeps until then.
 */
#include "base/clock.h"
#include "base/sys.h"
#include "flush/state.h"
#include "shm/pool.h"

#define DELAY_NS 1000000000ull /* from the first unflushed event to its round */
#define STUCK_NS 20000000ull   /* between rounds that bring nothing */
#define SOON_NS  20000000ull   /* after a round, a thread that writes on has written */

/* Is there an event of a thread that no round has written? */
static bool has_unflushed(struct pt_flusher *f)
{
    struct pt_seg *seg = f->stream->seg;
    uint32_t n = pt_seg_chunk_count(seg);

    n = pt_seg_reachable(seg, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t w = pt_load_acquire(&pt_seg_info(seg, i)->word), consumed;
        struct pt_chunk *c = pt_seg_chunk(seg, i);
        uint32_t from = sizeof *c;
        struct pt_author author;

        if (pt_word_state(w) == PT_CHUNK_FREE || !pt_word_is(w, pt_load_acquire(&c->gen)))
            continue;
        pt_copy_unchecked(&author, &c->author, sizeof author);
        if (author.level == PT_LEVEL_CONTROL)
            continue;
        consumed = pt_load_relaxed(&c->consumed);
        if (pt_consumed_is(consumed, pt_word_gen(w)))
            from = pt_consumed_at(consumed);
        if (pt_chunk_position(seg, pt_load_acquire(&c->commit)) > from)
            return true;
    }
    return false;
}

bool pt_flush_by_itself(const struct pt_flusher *f)
{
    return f->stream->seg->g.attr.stream_policy == POSIX_TRACE_FLUSH;
}

/* Is a quarter of the pool full, the condition by which writers wake us?  Not if the last round
 * freed no chunk: then a writer holds the events in the chunks back, and the next round would free
 * none either. */
static bool is_filling(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    return f->round.given_back > 0 &&
           (uint64_t)pt_load_relaxed(&h->full_chunks) * 4 >= f->stream->seg->g.base_chunks;
}

bool pt_flush_is_due(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;

    return pt_flush_by_itself(f) && (pt_load_seqcst(&h->flush_asked) || is_filling(f) ||
                                     pt_state_is_full(pt_load_seqcst(&h->state)) ||
                                     (f->deadline && pt_clock_ns(CLOCK_MONOTONIC) >= f->deadline));
}

/* A round that has given chunks back was one of many events.  The next event need not wake us to
 * tell that there are more: we look ourselves, once. */
void pt_flush_expect(struct pt_flusher *f)
{
    bool many = pt_flush_by_itself(f) && f->round.given_back > 0;

    f->expects = many ? pt_clock_ns(CLOCK_MONOTONIC) + SOON_NS : 0;
}

static void look_for_expected(struct pt_flusher *f)
{
    if (f->expects == 0 || pt_clock_ns(CLOCK_MONOTONIC) < f->expects)
        return;
    if (!f->deadline && has_unflushed(f))
        f->deadline = f->expects - SOON_NS + DELAY_NS;
    f->expects = 0;
}

static void keep_earlier(uint64_t *at, uint64_t other)
{
    if (other && (!*at || other < *at))
        *at = other;
}

/*
 * Sleeps until something may have to be done.  The first event after a quiet
 * time finds the attention bit, clears it and wakes us; from then on a deadline
 * runs and events cost nothing more.  In a stream that is busy from round to round no event does.
 */
void pt_flush_wait(struct pt_flusher *f, uint32_t futex)
{
    struct pt_seg_header *h = f->stream->seg->h;
    struct pt_cputime *l = &f->lookout;
    bool round_waits, waits;
    struct timespec until;
    uint64_t at = l->at;

    look_for_expected(f);
    round_waits = pt_flush_by_itself(f) && !f->deadline && !f->expects;
    waits = round_waits || l->waits;
    if (waits) {
        pt_or_seqcst(pt_attention(h), PT_WAIT_FLUSHER);
        if (f->stream->seg->g.fences)
            pt_fence_seqcst();
        else
            pt_barrier_all();
        if (round_waits && has_unflushed(f))
            f->deadline = pt_clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
        pt_cputime_waits_now(l);
    }
    keep_earlier(&at, f->deadline);
    keep_earlier(&at, f->expects);
    keep_earlier(&at, f->pieces.due_ns);
    until.tv_sec = (time_t)(at / 1000000000u);
    until.tv_nsec = (long)(at % 1000000000u);
    pt_futex_wait(&h->flush_futex, futex, CLOCK_MONOTONIC, at ? &until : NULL);
    if (!waits || (pt_load_seqcst(pt_attention(h)) & PT_WAIT_FLUSHER))
        return;
    if (pt_flush_by_itself(f) && !f->deadline)
        f->deadline = pt_clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
    if (l->waits)
        pt_cputime_wake(l);
}

/* Called when the stream has stopped itself and cannot be emptied, because a writer that is stopped
 * inside an event holds the rest back: waits, to avoid one round after the other until that writer
 * counts as stalled. */
void pt_flush_wait_if_stuck(struct pt_flusher *f, uint32_t futex)
{
    struct pt_seg_header *h = f->stream->seg->h;
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + STUCK_NS;
    struct timespec t = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    if (f->round.more && f->round.given_back == 0 && pt_state_is_full(pt_load_seqcst(&h->state)))
        pt_futex_wait(&h->flush_futex, futex, CLOCK_MONOTONIC, &t);
}
