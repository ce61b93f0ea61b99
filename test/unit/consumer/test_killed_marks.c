/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A flush thread is killed in a round of a stream that loses events, after each packet of it.  The
 * log and the segment united have OVERFLOW and RESUME around each gap, once.
 */
#include <stdlib.h>
#include <string.h>
#include "log_helpers.h"
#include "consumer/checkpoint.h"
#include "consumer/collect.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "shm/loss_interval.h"
#include "shm/pool.h"
#include "shm_helpers.h"

enum { STEP = 100, PACKETS = 64 };

/* What happens in the second round, by the number of the packet after which it does. */
struct plan {
    unsigned cut;          /* the log has as many packets of it */
    unsigned at;           /* LOOP overwrites this many chunks */
    unsigned chunks;       /* then, if the thread lives */
    unsigned before, more; /* and before the round, and after the kill */
    bool committed;
};

static struct {
    struct pt_seg seg;
    struct pt_consumer live;
    struct pt_collect round;
    struct pt_log_writer *writer;
    int fd;
    uint32_t slot;
    uint64_t ts, no; /* of the next event */
    struct plan plan;
    bool second;
    unsigned packets; /* of the second round */
    struct pt_log_packet kept[PACKETS];
    size_t kept_count;
} t;

static void overwrite(unsigned chunks)
{
    uint32_t taken;

    for (unsigned i = 0; i < chunks; i++)
        ck_assert_int_eq(pt_pool_take(&t.seg, t.slot, 300, true, &taken), PT_POOL_TAKEN);
}

static int to_log(void *context, const struct pt_log_packet *p)
{
    (void)context;
    if (t.second && !t.plan.committed && t.packets >= t.plan.cut)
        return 0;
    ck_assert_int_eq(pt_log_put_packet(t.writer, p), 0);
    if (t.second && ++t.packets == t.plan.at)
        overwrite(t.plan.chunks);
    return 0;
}

static int to_memory(void *context, const struct pt_log_packet *p)
{
    struct pt_log_packet *to = &t.kept[t.kept_count];
    void *copy = malloc(p->bytes);

    (void)context;
    ck_assert_uint_lt(t.kept_count, PACKETS);
    ck_assert_ptr_nonnull(copy);
    *to = *p;
    to->records = memcpy(copy, p->records, p->bytes);
    to->types = NULL;
    to->lsn = ++t.kept_count;
    return 0;
}

/* Full chunks with an event every STEP ticks, as many as there is room for. */
static void fill(unsigned most)
{
    uint32_t i;

    while (most-- > 0 && pt_pool_take(&t.seg, t.slot, 300, false, &i) == PT_POOL_TAKEN) {
        struct pt_chunk *c = pt_seg_chunk(&t.seg, i);

        c->base_ts = 0;
        c->first_no = t.no;
        for (unsigned k = 0; k < 20; k++, t.ts += STEP, t.no++)
            ring_put(&t.seg, i, PT_ID_USER_FIRST, (uint32_t)t.ts, 0);
        pt_pool_close(&t.seg, i, t.slot, t.ts - STEP);
    }
}

static void begin(int policy)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    static const struct pt_collect_sink sink = { to_log, NULL };

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 2000);
    t.seg.g.has_log = 1;
    t.seg.g.attr.stream_policy = params.attr.stream_policy = policy;
    t.seg.h->window = 1;
    t.slot = ring_attach(&t.seg, 0);
    t.ts = STEP;
    t.fd = log_file();
    t.writer = log_writer(t.fd, &params);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&t.round, &t.live, &sink), 0);
    t.live.windows.open = true;
}

/* A round that the log has entirely. */
static void commit(void)
{
    struct pt_log_status status = { .watermark = t.live.accounts.delivered_ts };
    struct pt_log_books books;

    ck_assert_int_eq(pt_log_end_round(t.writer, &status, NULL, 0), 0);
    pt_log_books(t.writer, &books);
    pt_collect_commit(&t.round, &books);
}

static void write_round(uint64_t watermark)
{
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = watermark;
    ck_assert_int_eq(pt_collect_write(&t.round), 0);
}

static void die(void)
{
    pt_log_writer_flush(t.writer);
    pt_log_writer_free(t.writer);
    pt_collect_deinit(&t.round);
    pt_consumer_deinit(&t.live);
}

static int by_place(const void *a, const void *b)
{
    const struct pt_log_packet *x = a, *y = b;

    if (x->chunk_seq != y->chunk_seq)
        return x->chunk_seq < y->chunk_seq ? -1 : 1;
    return x->chunk_off < y->chunk_off ? -1 : x->chunk_off > y->chunk_off;
}

/* As consumer/crash_recovery.c. */
static void collect_tail(struct pt_log_tail *tail)
{
    static const struct pt_collect_sink sink = { to_memory, NULL };

    memset(tail, 0, sizeof *tail);
    t.seg.copy = true;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    pt_losses_restore(&t.live.losses);
    ck_assert_int_eq(pt_collect_init(&t.round, &t.live, &sink), 0);
    pt_consumer_finish(&t.live);
    pt_auto_stop_recover(&t.live.stops, &t.live.windows);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.windows.open = true;
    pt_accounts_take(&t.live.accounts, true);
    ck_assert_int_eq(pt_collect_write(&t.round), 0);
    ck_assert_int_eq(pt_checkpoint_tail(&t.live.accounts, tail), 0);
    qsort(t.kept, t.kept_count, sizeof *t.kept, by_place);
    tail->packets = t.kept;
    tail->packet_count = t.kept_count;
}

/* Those since the last event, and the OVERFLOW before it if the gap was open there. */
struct marks {
    uint64_t overflow, resume; /* times of the first one and the last one; 0: none */
    bool open;
};

static void note_mark(struct marks *m, const struct pt_event *e)
{
    bool opens = e->id == POSIX_TRACE_OVERFLOW;

    ck_assert(opens || e->id == POSIX_TRACE_RESUME);
    ck_assert(m->open != opens);
    m->open = opens;
    if (!opens)
        m->resume = e->ts;
    else if (m->overflow == 0)
        m->overflow = e->ts;
}

/* The gap begins not later than the first missing event, and ends with the last one. */
static void check_gap(const struct marks *m, uint64_t before, uint64_t after)
{
    if (after == before + STEP)
        return;
    ck_assert(m->overflow && m->resume);
    ck_assert_uint_le(m->overflow, before + STEP);
    ck_assert_uint_ge(m->resume, after - STEP);
}

/* Returns how many marks there are. */
static unsigned check_union(bool *open)
{
    struct pt_log_reader *r = log_reader(t.fd);
    struct pt_log_tail tail;
    struct marks m = { 0 };
    struct pt_event e;
    uint64_t last = 0;
    unsigned marks = 0;

    collect_tail(&tail);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    while (pt_log_reader_next(r, &e) == 1) {
        if (e.id != PT_ID_USER_FIRST) {
            note_mark(&m, &e);
            marks++;
            continue;
        }
        if (t.seg.g.attr.stream_policy == POSIX_TRACE_LOOP)
            check_gap(&m, last, e.ts);
        m = (struct marks){ .open = m.open, .overflow = m.open ? m.overflow : 0 };
        last = e.ts;
    }
    ck_assert_uint_gt(last, 0);
    *open = m.open;
    pt_log_reader_free(r);
    free(tail.authors);
    return marks;
}

static void end(void)
{
    for (size_t i = 0; i < t.kept_count; i++)
        free((void *)(uintptr_t)t.kept[i].records);
    pt_collect_deinit(&t.round);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    close(t.fd);
}

/* Returns how many packets the second round had, if it was not killed. */
static unsigned run(const struct plan *plan)
{
    bool open;

    begin(POSIX_TRACE_LOOP);
    t.plan = *plan;
    fill(2);
    write_round(t.ts);
    commit();
    fill(100);
    overwrite(plan->before);
    t.second = true;
    write_round(t.ts);
    if (plan->committed)
        commit();
    overwrite(plan->more);
    die();
    check_union(&open);
    ck_assert(!open);
    end();
    return t.packets;
}

/* With the losses before the round, in it and after the kill. */
START_TEST(around_each_gap)
{
    struct plan p = { .before = (unsigned)_i & 1u, .more = (unsigned)_i >> 1 };
    unsigned packets;

    for (p.at = 1; p.at < 3; p.at++)
        for (p.chunks = 0; p.chunks < 3; p.chunks++) {
            p.committed = true;
            packets = run(&p);
            ck_assert_uint_gt(packets, 2);
            p.committed = false;
            for (p.cut = 0; p.cut <= packets; p.cut++)
                run(&p);
        }
}
END_TEST

/* Losses without a number: a gap begins after the first events, and ends in the second round.  The
 * log has nothing of the last round, or all but its checkpoint, or all.  again: another gap
 * begins after that.  Returns the number of marks. */
static unsigned missed(unsigned rounds, bool written, bool committed, bool again, bool *open)
{
    unsigned marks;

    begin(POSIX_TRACE_FLUSH);
    fill(2);
    t.seg.h->missed_first = t.seg.h->missed_last = t.ts + 5;
    t.plan = (struct plan){ .cut = written ? PACKETS : 0 };
    for (unsigned i = 1; i <= rounds; i++) {
        t.second = i == rounds && !committed;
        write_round(t.ts + i * 4 * PT_MISSED_GRAIN);
        if (!t.second)
            commit();
    }
    if (again)
        t.seg.h->missed_last = t.ts + (rounds * 4 + 2) * PT_MISSED_GRAIN;
    die();
    marks = check_union(open);
    end();
    return marks;
}

/* One OVERFLOW and one RESUME, unless the last round in the log is in the gap; and an OVERFLOW of
 * the gap that is open when the stream dies, also where the log has an earlier one. */
START_TEST(around_missed_events)
{
    bool written = _i % 3 > 0, committed = _i % 3 > 1, open;

    for (unsigned rounds = 1; rounds < 6; rounds++) {
        unsigned known = committed ? rounds : rounds - 1;

        /* With the checkpoint of the first round, recovery ends the gap as the second one. */
        ck_assert_uint_eq(missed(rounds, written, committed, false, &open), known < 1 ? 1 : 2);
        ck_assert(open == (known < 1));
        ck_assert_uint_eq(missed(rounds, written, committed, true, &open),
                          known < 2 && !(written && rounds > 1) ? 1 : 3);
        ck_assert(open);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, around_each_gap, 0, 4);
    tcase_add_loop_test(tc, around_missed_events, 0, 3);
}

int main(void)
{
    return ring_main("consumer killed_marks", add);
}
