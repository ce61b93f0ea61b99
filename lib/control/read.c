/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See read.h.  A reader that finds no event sets the waiter bit, issues a membarrier in all
 * writers, checks again, and sleeps.  A writer loads the bit after it has left its event.  So
 * either the reader sees the event or the writer sees the bit.  A writer that is inside an event
 * holds younger events back, and wakes the reader in the same way when it leaves.  If it never
 * leaves, the reader continues without it after PT_STALL_NS.  A sleep ends after that time in any
 * case: a writer may be killed after it has cleared the bit and before it wakes the reader.
 */
#include <errno.h>
#include "base/clock.h"
#include "base/sys.h"
#include "control/read.h"
#include "control/sequence.h"
#include "process/fork.h"
#include "shm/attention.h"
#include "shm/syncpoint.h"
#include "stream/handle.h"

/* Not in a forked child, which may return here from a handler that interrupted its parent. */
static int next_live(struct pt_stream *s, struct pt_event *e,
                     int (*next)(struct pt_consumer *l, struct pt_event *e))
{
    int r = -EINVAL;

    pt_fork_guard(s->seg);
    if (pt_stream_is_ours(s))
        r = next(&s->live, e);
    pt_fork_guard(NULL);
    return r;
}

/* True: the clock was set between this event and the ones before. */
static bool give_time(struct pt_stream *s, struct pt_event *e)
{
    bool stepped = false;

    e->ns = pt_syncpoint_convert_next(s->seg->h, e->ts, &s->syncs, &stepped);
    return stepped;
}

/* One more event of an onlooker, without waiting for a later watermark.  An error comes again with
 * the next call. */
static bool next_near(struct pt_stream *s, const struct pt_taker *taker, struct pt_event *e)
{
    if (s->log || taker->gap || !pt_consumer_is_near(&s->live) ||
        next_live(s, e, pt_consumer_next_near) != PT_LIVE_EVENT)
        return false;
    give_time(s, e);
    return true;
}

int pt_read_skip(struct pt_stream *s, int64_t ns)
{
    int r = -EINVAL;

    pt_fork_guard(s->seg);
    if (pt_stream_is_ours(s))
        r = pt_consumer_skip(&s->live, ns);
    pt_fork_guard(NULL);
    return r;
}

static int next_of_log(struct pt_stream *s, const struct pt_taker *taker, struct pt_event *e)
{
    if (s->pieces)
        return pt_sequence_next(s, e, taker->gap);
    return taker->gap ? pt_log_reader_next_whole(s->log, e, taker->gap)
                      : pt_log_reader_next(s->log, e);
}

static bool is_near(struct pt_stream *s, struct pt_event *e)
{
    if (!s->log)
        return false;
    return s->pieces ? pt_sequence_near(s, e) : pt_log_reader_near(s->log, e);
}

static int next(struct pt_stream *s, const struct pt_taker *taker)
{
    struct pt_event e;
    bool hides;
    int r;

    pthread_mutex_lock(&s->reading);
    if (s->log) {
        r = next_of_log(s, taker, &e);
    } else {
        r = next_live(s, &e, pt_consumer_next);
        if (r == PT_LIVE_EVENT) {
            hides = give_time(s, &e);
            hides |= pt_consumer_hides_gap(&s->live);
            if (taker->gap)
                *taker->gap = hides;
        }
    }
    if (r == 1)
        taker->take(taker->context, &e);
    for (size_t n = 1; r == 1 && n < taker->most && is_near(s, &e); n++)
        taker->take(taker->context, &e);
    for (size_t n = 1; r == 1 && n < taker->most && next_near(s, taker, &e); n++)
        taker->take(taker->context, &e);
    pthread_mutex_unlock(&s->reading);
    return r;
}

static bool is_time(const struct timespec *t)
{
    return t && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static bool passed(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/* The time to sleep until, at most PT_STALL_NS from now, on CLOCK_MONOTONIC, which cannot be set.
 * If CLOCK_REALTIME is set meanwhile, the caller checks it again after the sleep. */
static struct timespec until_stall(const struct timespec *until)
{
    uint64_t at = pt_clock_ns(CLOCK_MONOTONIC), ns = PT_STALL_NS;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (until && until->tv_sec - now.tv_sec <= (time_t)(PT_STALL_NS / 1000000000u)) {
        int64_t left = (int64_t)(until->tv_sec - now.tv_sec) * 1000000000 + until->tv_nsec -
                       now.tv_nsec;

        if (left < (int64_t)ns)
            ns = left > 0 ? (uint64_t)left : 0;
    }
    at += ns;
    return (struct timespec){ (time_t)(at / 1000000000u), (long)(at % 1000000000u) };
}

static void give_up(void *stream)
{
    pt_handle_put(stream);
}

/* The only place where a reading thread can be cancelled: it holds nothing but
 * its reference. */
static int nap(struct pt_stream *s, uint32_t futex, const struct timespec *until, int cancel)
{
    int type, r;

    pthread_cleanup_push(give_up, s);
    pthread_setcancelstate(cancel, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    r = pt_futex_wait(&s->seg->h->reader_futex, futex, CLOCK_MONOTONIC, until);
    pthread_setcanceltype(type, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_pop(0);
    return r;
}

/*
 * An attached stream whose creator has died is read once more to its end, since all its events are
 * committed.  *r: -ENXIO after that.
 */
static bool is_over(struct pt_stream *s, int *r)
{
    if (!pt_attached_is_over(s, false))
        return false;
    if (pt_load_seqcst(&s->over)) {
        *r = -ENXIO;
    } else {
        pthread_mutex_lock(&s->reading);
        pt_consumer_finish(&s->live);
        pthread_mutex_unlock(&s->reading);
        pt_store_seqcst(&s->over, 1u);
    }
    return true;
}

static int sleep_for_event(struct pt_stream *s, const struct timespec *until, uint32_t futex,
                           int cancel)
{
    struct timespec stall = until_stall(until);

    /* No wake-up comes when the creator of an attached stream dies, when a stalled writer stops
     * holding events back, or when a writer was killed between clearing the waiter bit and the
     * wake-up. */
    return nap(s, futex, &stall, cancel) == -EINTR ? -EINTR : 0;
}

/*
 * The caller finds nothing, and may wait for the next report of the fill level
 * (posixtrace_watch_fill), which does not come as long as the level stays reached.  Chunks that are
 * closed from now on are reported; those before are found in another look, unless a writer inside
 * an event holds them back.  Then there is a report when it has left.  True: to look once more.
 */
static bool looks_again(struct pt_stream *s, int r, bool *armed)
{
    bool again = false;

    if (s->kind != PT_STREAM_ACTIVE)
        return false;
    pt_fork_guard(s->seg);
    if (pt_stream_is_ours(s)) {
        again = !*armed && pt_fill_watermark_rearm(s->seg->h);
        if (!again && r == PT_LIVE_HELD)
            pt_fill_watermark_closed(s->seg->h);
    }
    pt_fork_guard(NULL);
    *armed |= again;
    return again;
}

int pt_stream_read(struct pt_stream *s, enum pt_read_mode mode, const struct timespec *until,
                   int cancel, const struct pt_taker *taker)
{
    bool asked = false, armed = false;
    uint32_t futex = 0;
    int r;

    for (;;) {
        r = next(s, taker);
        if (r < 0 || r == 1)
            return r;
        if (s->kind == PT_STREAM_ATTACHED && r == PT_LIVE_NONE && is_over(s, &r)) {
            if (r < 0)
                return r;
            continue;
        }
        if (s->log || mode == PT_READ_TRY || (mode == PT_READ_REST && r == PT_LIVE_NONE)) {
            if (looks_again(s, r, &armed))
                continue;
            return PT_READ_NONE;
        }
        if (pt_load_seqcst(&s->closing))
            return -EINVAL;
        if (mode == PT_READ_UNTIL) {
            if (!is_time(until))
                return -EINVAL;
            if (passed(until)) {
                if (looks_again(s, r, &armed))
                    continue;
                return -ETIMEDOUT;
            }
        }
        if (!asked) {
            futex = pt_load_seqcst(&s->seg->h->reader_futex);
            pt_or_seqcst(pt_attention(s->seg->h), PT_WAIT_READER);
            pt_barrier_all();
            asked = true;
            continue;
        }
        asked = false;
        r = sleep_for_event(s, mode == PT_READ_UNTIL ? until : NULL, futex, cancel);
        if (r < 0)
            return r;
    }
}
