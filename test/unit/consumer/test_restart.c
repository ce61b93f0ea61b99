/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream that has stopped itself is restarted: where its gap ends, if it is full again at once,
 * what an onlooker sees meanwhile, and what a clear
 * before the stop leaves.
 */
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "consumer/consumer.h"
#include "shm/loss_interval.h"
#include "shm_helpers.h"
#include "shm/pool.h"
#include "shm/start_filter.h"

static struct {
    struct pt_seg seg;
    struct pt_consumer live;
} t;

/* The clock of a restart: 1000, 1010, ..; full_ns: another event stops the running stream then. */
static int64_t clock_ns, full_ns;

int __real_clock_gettime(clockid_t id, struct timespec *at);
int __wrap_clock_gettime(clockid_t id, struct timespec *at);

int __wrap_clock_gettime(clockid_t id, struct timespec *at)
{
    uint64_t state;

    if (clock_ns == 0)
        return __real_clock_gettime(id, at);
    state = t.seg.h->state;
    if (full_ns && pt_state_of(state) == PT_RUNNING)
        ck_assert(pt_state_change(t.seg.h, &state, PT_AUTOSTOPPED, (uint64_t)full_ns));
    *at = (struct timespec){ .tv_nsec = clock_ns };
    clock_ns += 10;
    return 0;
}

static void restart_full(int64_t full)
{
    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    t.seg.g.clock = PT_CLOCK_REALTIME;
    t.seg.h->state = pt_state_make(PT_AUTOSTOPPED, 100);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.live.windows.open = true;
    pt_auto_stop_look(&t.live.stops, t.seg.h->state);
    ck_assert(pt_auto_stop_take_stop(&t.live.stops, 200));
    full_ns = full;
    clock_ns = 1000;
    ck_assert(pt_auto_stop_restart(&t.live.stops, &t.live.windows));
    clock_ns = full_ns = 0;
}

static uint64_t end_of_gap(int64_t full)
{
    uint64_t end;

    restart_full(full);
    end = t.live.stops.gap_to;
    ck_assert(t.live.stops.start_ts == end && t.seg.h->gap_to == end);
    ck_assert_uint_eq(t.seg.h->state, pt_state_make(full ? PT_AUTOSTOPPED : PT_RUNNING, end));
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return end;
}

/* Not before the stream runs, since it refuses events until then; and not after the next stop. */
START_TEST(gap_ends_when_it_runs)
{
    ck_assert_uint_eq(end_of_gap(0), 1010);
    ck_assert_uint_eq(end_of_gap(1005), 1005);
}
END_TEST

/* A second gap from the end of the first on has a STOP; the status says that an event is lost. */
START_TEST(full_again_in_the_restart)
{
    struct pt_event e;
    uint32_t chunk;

    restart_full(_i ? 1005 : 0);
    ck_assert(pt_pool_take(&t.seg, ring_attach(&t.seg, 0), 300, false, &chunk) == PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, chunk)->base_ts = 0;
    ring_put(&t.seg, chunk, PT_ID_USER_FIRST, 1003, 8);
    ck_assert(pt_consumer_next(&t.live, &e) == PT_LIVE_EVENT && e.id == POSIX_TRACE_START);
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), _i ? PT_LIVE_EVENT : PT_LIVE_NONE);
    ck_assert(e.id == (_i ? POSIX_TRACE_STOP : POSIX_TRACE_START) && t.seg.h->overrun == 1);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* A writer is inside an event that may be older than the restart: START comes after it. */
START_TEST(start_is_held_back)
{
    struct pt_event e;
    struct pt_slot *s;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    t.seg.h->state = pt_state_make(PT_AUTOSTOPPED, 100);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.live.windows.open = true;
    pt_auto_stop_look(&t.live.stops, t.seg.h->state);
    ck_assert(pt_auto_stop_take_stop(&t.live.stops, 200));
    s = pt_seg_slot(&t.seg, ring_attach(&t.seg, 0));
    s->inside = 1;
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_HELD);
    ck_assert_uint_eq(pt_state_of(t.seg.h->state), PT_RUNNING);
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_HELD);
    s->inside = 0;
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_EVENT);
    ck_assert_uint_eq(e.id, POSIX_TRACE_START);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* Does the onlooker's next look find that the stream was full in between? */
static bool finds_a_stop(struct pt_consumer *l)
{
    bool found;

    ck_assert_int_eq(pt_consumer_refresh(l), 0);
    found = l->losses.unseen;
    l->losses.unseen = false;
    return found;
}

static void full_at(uint64_t ts)
{
    uint64_t state = t.seg.h->state;

    ck_assert(pt_state_change(t.seg.h, &state, PT_AUTOSTOPPED, ts));
}

/* As the consumer does: it counts the restart first. */
static void about_to_restart(uint64_t from, uint64_t to)
{
    t.seg.h->gap_from = from;
    t.seg.h->gap_to = to;
    pt_start_filter_renew(t.seg.h);
}

static void restart(uint64_t ts)
{
    uint64_t state = t.seg.h->state;

    ck_assert(pt_state_change(t.seg.h, &state, PT_RUNNING, ts));
    pt_start_filter_choose(t.seg.h);
}

/* An onlooker looks, or begins, while a restart is counted and has not happened.  It finds no stop
 * then, and it finds the next one, which begins and ends between two looks. */
START_TEST(looks_while_it_restarts)
{
    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_FLUSH;
    full_at(100);
    about_to_restart(100, 200);
    restart(200);
    full_at(300);
    if (_i)
        about_to_restart(300, 400);
    ck_assert_int_eq(pt_consumer_look_on(&t.live, &t.seg), 0);
    ck_assert(!finds_a_stop(&t.live));
    if (!_i)
        about_to_restart(300, 400);
    ck_assert(!finds_a_stop(&t.live));
    t.live.stops.phase = PT_AUTO_STOPPED; /* STOP was read */
    restart(400);
    ck_assert(!finds_a_stop(&t.live));
    full_at(500);
    about_to_restart(500, 600);
    restart(600);
    ck_assert(finds_a_stop(&t.live));
    ck_assert(!finds_a_stop(&t.live));
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

static void expect(uint32_t id, uint64_t ts)
{
    struct pt_event e;

    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_EVENT);
    ck_assert_uint_eq(e.id, id);
    ck_assert_uint_eq(e.ts, ts);
}

/* An onlooker has read STOP, and missed the restart, another stop and another restart. */
START_TEST(missed_restart)
{
    struct pt_event e;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_FLUSH;
    t.seg.g.clock = PT_CLOCK_REALTIME;
    t.seg.h->window = 1;
    ck_assert_int_eq(pt_consumer_look_on(&t.live, &t.seg), 0);
    full_at(100);
    clock_ns = 110;
    expect(POSIX_TRACE_STOP, 100);
    about_to_restart(100, 200);
    restart(200);
    full_at(300);
    about_to_restart(300, 400);
    restart(400);
    full_at(500);
    clock_ns = 600;
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_EVENT);
    ck_assert_uint_eq(e.id, POSIX_TRACE_OVERFLOW);
    ck_assert(e.ts >= 100 && e.ts < 200);
    expect(POSIX_TRACE_STOP, 500);
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), PT_LIVE_NONE);
    clock_ns = 0;
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

static void record(uint32_t chunk, uint64_t ts)
{
    ring_put(&t.seg, chunk, PT_ID_USER_FIRST, ts, 8);
}

/* The stream was cleared at 1000, which is noticed later: by then it has stopped itself.  passive:
 * an onlooker notices; earlier: it has read the STOP of an earlier gap. */
static void clear_late(uint64_t full, bool passive, bool earlier)
{
    uint32_t chunk;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    t.seg.h->window = 1;
    ck_assert(pt_pool_take(&t.seg, ring_attach(&t.seg, 0), 500, false, &chunk) == PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, chunk)->base_ts = 0;
    if (earlier)
        full_at(500);
    ck_assert_int_eq(
        passive ? pt_consumer_look_on(&t.live, &t.seg) : pt_consumer_init(&t.live, &t.seg), 0);
    if (earlier)
        expect(POSIX_TRACE_STOP, 500);
    t.seg.h->state = pt_state_make(PT_RUNNING, 600);
    t.seg.h->clear_ts = 1000;
    record(chunk, 900);
    record(chunk, 1100);
    full_at(full);
    record(chunk, 1300);
    ck_assert_int_eq(pt_consumer_clear(&t.live, 1000), 0);
}

/* The events after the stop are refused, and STOP does not come after them; from 3 on: the stream
 * has stopped itself between the steps of the clear. */
START_TEST(full_since_the_clear)
{
    struct pt_event e;

    clear_late(_i < 3 ? 1200 : 990, _i % 3 > 0, _i % 3 == 2);
    if (_i < 3)
        expect(PT_ID_USER_FIRST, 1100);
    ck_assert(pt_auto_stop_refuses(&t.live.stops, 1300));
    pt_consumer_finish(&t.live);
    if (_i < 3)
        expect(POSIX_TRACE_STOP, 1200);
    t.live.passive = t.live.stops.passive = true; /* restarts nothing */
    ck_assert_int_eq(pt_consumer_next(&t.live, &e), _i < 3 ? PT_LIVE_NONE : PT_LIVE_EVENT);
    ck_assert(_i < 3 || (e.id == POSIX_TRACE_STOP && e.ts == 990));
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* A gap from before the clear: no mark of it is due.  It refuses events until the restart at 1010,
 * which is later; else until the clear, which ended it. */
START_TEST(cleared_gap)
{
    restart_full(0);
    ck_assert(t.live.stops.start_due);
    t.live.stops.gap_ran = !_i;
    pt_auto_stop_clear(&t.live.stops, 1005);
    ck_assert(!t.live.stops.start_due);
    ck_assert_int_eq(pt_auto_stop_refuses(&t.live.stops, 1007), !_i);
    ck_assert(!pt_auto_stop_refuses(&t.live.stops, 1012));
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* The restart of a stop that is later than the clear keeps its START. */
START_TEST(kept_start)
{
    restart_full(0);
    pt_auto_stop_clear(&t.live.stops, 50);
    ck_assert(t.live.stops.start_due);
    ck_assert(pt_auto_stop_refuses(&t.live.stops, 1007));
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* LOOP has overwritten events from 1100 to _i: the clear at 1000 does not take the mark away. */
START_TEST(overwritten_since_the_clear)
{
    static const uint64_t last[] = { 900, 1000, 1200 };
    struct pt_losses *x = &t.live.losses;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.seg.h->lost_first_ts = 800;
    t.seg.h->lost_last_ts = last[_i];
    ck_assert_int_eq(pt_consumer_clear(&t.live, 1000), 0);
    ck_assert_int_eq(x->overflow_due, _i > 0);
    ck_assert_int_eq(x->told<x->lost_last, _i> 0); /* for a round */
    ck_assert_uint_eq(x->overflow_ts, _i > 0 ? 1000 : UINT64_MAX);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* A chunk of before and after the clear is overwritten: OVERFLOW is not before the clear, event by
 * event and for a round. */
START_TEST(overwritten_over_the_clear)
{
    struct pt_losses *x = &t.live.losses;
    uint64_t first, overflow, resume;
    bool hides;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_consumer_clear(&t.live, 1000), 0);
    t.seg.h->lost_first_ts = 800;
    t.seg.h->lost_last_ts = 1200;
    ck_assert(pt_losses_take(x, &first));
    if (_i) {
        ck_assert(pt_losses_loop_marks(x, 0, &overflow, &resume));
        ck_assert_uint_eq(resume, 1200);
    } else {
        pt_losses_report(x, first);
        ck_assert_uint_eq(pt_losses_mark_before(x, 1300, 0, &overflow, &hides),
                          POSIX_TRACE_OVERFLOW);
    }
    ck_assert_uint_eq(overflow, 1000);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* A writer has been inside an event since before the clear, so the watermark is older; events are
 * missing from 700 on. */
START_TEST(missing_over_the_clear)
{
    uint64_t at = 0;
    uint32_t id = 0;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_consumer_clear(&t.live, 1000), 0);
    t.live.losses.missing = true;
    t.live.losses.missed_from = 700;
    ck_assert(pt_losses_missed_mark(&t.live.losses, 600, 800, &id, &at));
    ck_assert_uint_eq(id, POSIX_TRACE_OVERFLOW);
    ck_assert_uint_eq(at, 1000);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* Events are missing from 700 on, until when?  Those before the clear need no mark. */
START_TEST(missing_since_the_clear)
{
    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.seg.h->missed_first = 700;
    t.seg.h->missed_last = _i ? 3 * PT_MISSED_GRAIN : 800;
    ck_assert_int_eq(pt_consumer_clear(&t.live, 2 * PT_MISSED_GRAIN), 0);
    ck_assert_int_eq(t.live.losses.missing, _i);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    ck_assert_int_eq(t.live.losses.missing, _i);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, gap_ends_when_it_runs);
    tcase_add_loop_test(tc, full_again_in_the_restart, 0, 2);
    tcase_add_test(tc, start_is_held_back);
    tcase_add_loop_test(tc, looks_while_it_restarts, 0, 2);
    tcase_add_test(tc, missed_restart);
    tcase_add_loop_test(tc, full_since_the_clear, 0, 6);
    tcase_add_loop_test(tc, cleared_gap, 0, 2);
    tcase_add_test(tc, kept_start);
    tcase_add_loop_test(tc, overwritten_since_the_clear, 0, 3);
    tcase_add_loop_test(tc, overwritten_over_the_clear, 0, 2);
    tcase_add_test(tc, missing_over_the_clear);
    tcase_add_loop_test(tc, missing_since_the_clear, 0, 2);
}

int main(void)
{
    return ring_main("restart", add);
}
