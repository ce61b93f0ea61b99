/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Losses that leave no other mark than OVERFLOW and RESUME: for want of memory.  The words
 * by which writers tell of them, with times made up; rounds that find them; and streams
 * with and without a log whose chunks are all held by others when a thread needs one.
 */
#include <stdlib.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "consumer/collect.h"
#include "shm_helpers.h"
#include "shm/loss_interval.h"
#include "stream/handle.h"
#include "support/chunk_holders.h"
#include "support/log_file.h"

enum { GRAIN = PT_MISSED_GRAIN };

static struct pt_seg seg;

static void missed(uint64_t first, uint64_t last)
{
    seg.h->missed_first = first;
    seg.h->missed_last = last;
}

START_TEST(looks)
{
    uint64_t known = 0, late = 0, from;

    ring_create(&seg, 64000);
    ck_assert(!pt_loss_interval_look(seg.h, 100, &known, &from));

    missed(150, 170);
    ck_assert(pt_loss_interval_look(seg.h, 100, &known, &from));
    ck_assert_uint_eq(from, 150);
    /* A loss now need not be stored until the grain is over. */
    ck_assert(pt_loss_interval_look(seg.h, 170 + GRAIN - 1, &known, &from));
    ck_assert(!pt_loss_interval_look(seg.h, 170 + GRAIN, &known, &from));

    missed(150, 9 * GRAIN);
    ck_assert(pt_loss_interval_look(seg.h, 8 * GRAIN, &known, &from));
    ck_assert_uint_le(from, 8 * GRAIN);
    /* Noted after it was due. */
    missed(150, 9 * GRAIN + 1);
    ck_assert(pt_loss_interval_look(seg.h, 20 * GRAIN, &known, &from));
    ck_assert(!pt_loss_interval_look(seg.h, 21 * GRAIN, &known, &from));
    /* Another consumer has all of it before it. */
    ck_assert(pt_loss_interval_look(seg.h, 20 * GRAIN, &late, &from));
    ring_remove(&seg);
}
END_TEST

START_TEST(notes)
{
    uint64_t known = 0, from, before, after;

    ring_create(&seg, 64000);
    before = pt_clock_now(seg.h->clock);
    pt_loss_interval_note(&seg);
    after = pt_clock_now(seg.h->clock);
    ck_assert(pt_loss_interval_look(seg.h, before, &known, &from));
    ck_assert_uint_ge(from, before);
    ck_assert_uint_le(from, after);
    ck_assert_uint_eq(known, from);
    ck_assert_uint_eq(seg.h->overrun, 1);
    /* The line stays shared for a grain, and what it says right. */
    pt_loss_interval_note(&seg);
    ck_assert_uint_eq(seg.h->missed_first, from);
    while (seg.h->missed_last == known) {
        ck_assert(pt_loss_interval_look(seg.h, known, &known, &from));
        pt_loss_interval_note(&seg);
    }
    ck_assert_uint_gt(seg.h->missed_last, known + GRAIN);
    ck_assert(pt_loss_interval_look(seg.h, pt_clock_now(seg.h->clock), &known, &from));
    ring_remove(&seg);
}
END_TEST

/* What the rounds made themselves. */
static struct {
    unsigned count;
    int error;
    uint32_t id[16];
    uint64_t ts[16];
} made;

static int note_made(void *context, const struct pt_log_packet *p)
{
    uint32_t what;

    (void)context;
    if (made.error)
        return made.error;
    if (!(p->chunk_seq & PT_LOG_MADE))
        return 0;
    ck_assert_uint_lt(made.count, 16);
    memcpy(&what, p->records, sizeof what);
    made.id[made.count] = what & PT_RECORD_ID_MASK;
    made.ts[made.count++] = p->first_ts;
    return 0;
}

static struct pt_consumer live;
static struct pt_collect round_of;

static void begin_rounds(int policy)
{
    static const struct pt_collect_sink sink = { .packet = note_made };

    memset(&made, 0, sizeof made);
    ring_create(&seg, 64000);
    seg.g.attr.stream_policy = policy;
    ck_assert_int_eq(pt_consumer_init(&live, &seg), 0);
    ck_assert_int_eq(pt_collect_init(&round_of, &live, &sink), 0);
}

static void end_rounds(void)
{
    pt_collect_deinit(&round_of);
    pt_consumer_deinit(&live);
    ring_remove(&seg);
}

/* As if the watermark were this one. */
static int write_round(uint64_t watermark)
{
    live.watermark = watermark;
    live.losses.missing = pt_loss_interval_look(
        seg.h, live.accounts.delivered_ts, &live.losses.missed_known, &live.losses.missed_from);
    return pt_collect_write(&round_of);
}

static void ck_made(unsigned i, uint32_t id, uint64_t ts)
{
    ck_assert_uint_lt(i, made.count);
    ck_assert_uint_eq(made.id[i], id);
    ck_assert_uint_eq(made.ts[i], ts);
}

START_TEST(rounds_tell)
{
    begin_rounds(POSIX_TRACE_FLUSH);
    ck_assert_int_eq(write_round(100), 0);
    missed(150, 170);
    made.error = -ENOMEM;
    ck_assert_int_eq(write_round(200), -ENOMEM);
    made.error = 0;
    /* A gap that was not reported is reported by the next round. */
    ck_assert_int_eq(write_round(10 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 1);
    ck_made(0, POSIX_TRACE_OVERFLOW, 150);
    missed(150, 11 * GRAIN);
    ck_assert_int_eq(write_round(14 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 1);
    ck_assert_int_eq(write_round(15 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 2);
    ck_made(1, POSIX_TRACE_RESUME, 14 * GRAIN);
    /* Later gaps begin where it was looked last. */
    missed(150, 16 * GRAIN);
    ck_assert_int_eq(write_round(17 * GRAIN), 0);
    ck_made(2, POSIX_TRACE_OVERFLOW, 15 * GRAIN);
    end_rounds();
}
END_TEST

/* What LOOP has overwritten meanwhile does not end the gap. */
START_TEST(rounds_of_loop_tell)
{
    begin_rounds(POSIX_TRACE_LOOP);
    missed(150, 170);
    seg.h->lost_first_ts = 120;
    seg.h->lost_last_ts = 160;
    ck_assert_int_eq(write_round(10 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 1);
    ck_made(0, POSIX_TRACE_OVERFLOW, 120);
    ck_assert_int_eq(write_round(11 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 2);
    ck_made(1, POSIX_TRACE_RESUME, 10 * GRAIN);
    seg.h->lost_first_ts = 11 * GRAIN + 5;
    seg.h->lost_last_ts = 11 * GRAIN + 6;
    ck_assert_int_eq(write_round(12 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 4);
    ck_made(2, POSIX_TRACE_OVERFLOW, 11 * GRAIN + 5);
    end_rounds();
}
END_TEST

/* STOP and START of a full stream inside the gap: RESUME is for its end. */
START_TEST(rounds_with_a_stop_tell)
{
    begin_rounds(POSIX_TRACE_FLUSH);
    missed(150, 170);
    live.windows.open = true;
    live.stops.phase = PT_AUTO_STOP_DUE;
    live.stops.gap_from = 300;
    ck_assert_int_eq(write_round(1000), 0);
    live.stops.start_due = true;
    live.stops.start_ts = 1500;
    ck_assert_int_eq(write_round(2 * GRAIN), 0);
    ck_assert_int_eq(write_round(3 * GRAIN), 0);
    ck_assert_uint_eq(made.count, 4);
    ck_made(0, POSIX_TRACE_OVERFLOW, 150);
    ck_made(1, POSIX_TRACE_STOP, 300);
    ck_made(2, POSIX_TRACE_START, 1500);
    ck_made(3, POSIX_TRACE_RESUME, 2 * GRAIN);
    end_rounds();
}
END_TEST

static trace_event_id_t begin_id, fill_id, finish_id;

static trace_id_t make(int policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("begin", &begin_id), 0);
    ck_assert_int_eq(posix_trace_eventid_open("fill", &fill_id), 0);
    ck_assert_int_eq(posix_trace_eventid_open("finish", &finish_id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8 << 10), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    if (fd < 0) {
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    } else {
        ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    }
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static uint64_t lost_without_memory(trace_id_t trid)
{
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    return info.lost[POSIXTRACE_LOST_NO_MEMORY];
}

/* This thread's chunk is full, all others are in use, and there are no more. */
static void lose(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct chunk_holders holders;
    uint32_t n;

    ck_assert_ptr_nonnull(s);
    posix_trace_event(begin_id, NULL, 0);
    s->seg->g.chunk_max = s->seg->h->nchunks;
    n = s->seg->h->nchunks - pt_load_relaxed(&s->seg->h->used_chunks);
    pt_handle_put(s);
    hold_chunks(&holders, n, fill_id);
    while (lost_without_memory(trid) == 0)
        posix_trace_event(fill_id, "0123456789012345678901234567890", 32);
    let_chunks_go(&holders);
}

/* Where in what was read each of these stands, from 1. */
struct order {
    unsigned read, begin, overflow, finish, resume;
};

static void note(struct order *o, trace_event_id_t id)
{
    o->read++;
    if (id == begin_id)
        o->begin = o->read;
    else if (id == finish_id && !o->finish)
        o->finish = o->read;
    else if (id == POSIX_TRACE_OVERFLOW && !o->overflow)
        o->overflow = o->read;
    else if (id == POSIX_TRACE_RESUME)
        o->resume = o->read;
}

static bool read_one(trace_id_t trid, bool is_log, struct order *o)
{
    struct posix_trace_event_info event;
    char data[64];
    size_t len;
    int none;

    ck_assert_int_eq((is_log ? posix_trace_getnext_event : posix_trace_trygetnext_event)(
                         trid, &event, data, sizeof data, &len, &none),
                     0);
    if (!none)
        note(o, event.posix_event_id);
    return !none;
}

/* Events of all threads come, with reports of losses between them. */
START_TEST(streams_without_log_tell)
{
    trace_id_t trid = make(POSIX_TRACE_UNTIL_FULL, -1);
    struct order o = { 0 };

    lose(trid);
    while (read_one(trid, false, &o))
        ;
    while (!o.resume) {
        posix_trace_event(finish_id, NULL, 0);
        while (read_one(trid, false, &o))
            ;
    }
    ck_assert_uint_gt(o.begin, 0);
    ck_assert_uint_gt(o.overflow, o.begin);
    ck_assert_uint_gt(o.finish, o.overflow);
    ck_assert_uint_gt(o.resume, o.overflow);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(logs_tell)
{
    int fd = log_file();
    trace_id_t trid = make(POSIX_TRACE_FLUSH, fd);
    struct order o = { 0 };

    lose(trid);
    ck_assert_int_eq(posix_trace_flush(trid), 0);
    posix_trace_event(finish_id, NULL, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    while (read_one(trid, true, &o))
        ;
    ck_assert_uint_gt(o.begin, 0);
    ck_assert_uint_gt(o.overflow, o.begin);
    ck_assert_uint_gt(o.finish, o.overflow);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, looks);
    tcase_add_test(tc, notes);
    tcase_add_test(tc, rounds_tell);
    tcase_add_test(tc, rounds_of_loop_tell);
    tcase_add_test(tc, rounds_with_a_stop_tell);
    tcase_add_test(tc, streams_without_log_tell);
    tcase_add_test(tc, logs_tell);
}

int main(void)
{
    return ring_main("missed", add);
}
