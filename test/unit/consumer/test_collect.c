/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Flush rounds over segments made at random: several writers, chunks that were
 * adopted, STARTs and STOPs, a clear, an automatic stop, time bases in between.
 * Every record's fate is worked out one by one here; the rounds must hand over
 * exactly those, each once, each author's in order, counted rightly by type,
 * and account for the others.  Again with memory running out at every moment.
 */
#include <stdlib.h>
#include <string.h>
#include "consumer/collect.h"
#include "log/types.h"
#include "shm_helpers.h"
#include "shm/pool.h"
#include "shm/slot.h"

enum { WRITERS = 3, CHUNKS = 40, EVENTS_MAX = 8000, TIME_MAX = 1 << 20 };

/* The k-th allocation from now on fails; 0: none. */
static unsigned fail_at, failed;

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);

/* Called by the next realloc. */
static void (*meanwhile)(void);

static bool fails(void)
{
    if (fail_at == 0 || --fail_at > 0)
        return false;
    failed++;
    return true;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t size)
{
    void (*call)(void) = meanwhile;

    meanwhile = NULL;
    if (call)
        call();
    return fails() ? NULL : __real_realloc(at, size);
}

/* An event that was put into the segment, and what the rounds made of it. */
struct event {
    uint32_t wid, id;
    uint64_t no, ts;
    unsigned given;
};

static struct {
    struct pt_seg seg;
    struct pt_consumer live;
    struct event events[EVENTS_MAX];
    size_t count;
    struct pt_window windows[16];
    size_t window_count;
    uint64_t clear_ts, gap_from, gap_to, past_from, past_to, opened_ts;
    uint64_t last_ts[WRITERS + 3]; /* given last, by author */
    uint64_t next_no[WRITERS + 3];
} t;

static unsigned below(unsigned n)
{
    return (unsigned)rand() % n;
}

static bool is_refused(uint64_t ts)
{
    return ts >= t.clear_ts &&
           ((ts > t.gap_from && ts < t.gap_to) || (ts > t.past_from && ts < t.past_to));
}

/* STOP's own time is in, START's too.  While the stream ran the window is open. */
static bool is_excluded(uint64_t ts)
{
    bool open = true, ran = ts >= t.opened_ts;

    for (size_t i = 0; i < t.window_count; i++) {
        if (t.windows[i].ts > ts || (t.windows[i].ts == ts && !t.windows[i].open))
            break;
        open = t.windows[i].open || (ran && t.windows[i].ts < t.opened_ts);
    }
    return ts < t.clear_ts || (!open && !is_refused(ts));
}

static void put(uint32_t chunk, uint32_t kind, uint32_t id, uint32_t delta, uint64_t second)
{
    struct pt_chunk *c = pt_seg_chunk(&t.seg, chunk);
    uint32_t at = (uint32_t)c->commit, len = kind == PT_RECORD_EVENT ? 8 : 0;

    ck_assert_uint_le(at + pt_record_size(len), t.seg.h->chunk_size);
    pt_record_put_head((char *)c + at, kind, id, len, delta, second);
    pt_store_release(&c->commit,
                     c->commit + pt_record_size(len) + (kind == PT_RECORD_EVENT ? 1ull << 32 : 0));
}

static void put_author(uint32_t chunk, const struct pt_author *author, uint64_t no)
{
    struct pt_chunk *c = pt_seg_chunk(&t.seg, chunk);
    struct pt_record_author a = { *author, no };
    uint32_t at = (uint32_t)c->commit;

    pt_record_put_head((char *)c + at, PT_RECORD_AUTHOR, 0, sizeof a, 0, 0);
    memcpy((char *)c + at + PT_RECORD_HEAD, &a, sizeof a);
    pt_store_release(&c->commit, c->commit + pt_record_size(sizeof a));
}

/* Records one writer's event after the others of the chunk, and remembers it. */
static void trace(uint32_t chunk, const struct pt_author *author, uint64_t *base, uint64_t ts)
{
    uint32_t id = PT_ID_USER_FIRST + (below(8) ? 0 : below(5));
    uint64_t no = t.next_no[author->wid]++;

    if (below(30) == 0) {
        put(chunk, PT_RECORD_TIME, 0, 0, ts - below(3));
        *base = ts - (ts - *base) % 3;
        put(chunk, PT_RECORD_TIME, 0, 0, *base);
    }
    put(chunk, PT_RECORD_EVENT, id, (uint32_t)(ts - *base), no);
    t.events[t.count++] = (struct event){ .wid = author->wid, .id = id, .no = no, .ts = ts };
}

/* Chunks of one writer, the last one continued by the next writer. */
static void fill_chunks(const uint32_t *slots)
{
    uint32_t room = t.seg.h->chunk_size - 200;
    uint64_t ts[WRITERS] = { 5, 6, 7 };

    for (unsigned n = 0; n < CHUNKS; n++) {
        unsigned w = below(WRITERS), adopter = below(4) ? w : below(WRITERS);
        const struct pt_author *author = &pt_seg_slot(&t.seg, slots[w])->author;
        struct pt_chunk *c;
        uint64_t base;
        uint32_t i;

        if (pt_pool_take(&t.seg, slots[w], 300, false, &i) != PT_POOL_TAKEN)
            break;
        c = pt_seg_chunk(&t.seg, i);
        base = c->base_ts = ts[w];
        c->first_no = t.next_no[author->wid];
        while ((uint32_t)c->commit < room) {
            if (adopter != w && below(10) == 0) {
                /* After the end of the writer before. */
                ts[adopter] = ts[adopter] > ts[w] ? ts[adopter] : ts[w];
                w = adopter;
                author = &pt_seg_slot(&t.seg, slots[w])->author;
                put_author(i, author, t.next_no[author->wid]);
                put(i, PT_RECORD_TIME, 0, 0, base = ts[w]);
                room -= 200;
            }
            ts[w] += below(200);
            trace(i, author, &base, ts[w]);
        }
        pt_seg_info(&t.seg, i)->word = pt_word_make(PT_CHUNK_FULL, slots[w],
                                                    pt_word_gen(pt_seg_info(&t.seg, i)->word));
        pt_add_relaxed(&t.seg.h->full_chunks, 1u);
    }
}

static void fill_control(uint32_t slot)
{
    uint64_t ts = 0;
    uint32_t i;

    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &i), PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, i)->base_ts = 0;
    pt_seg_chunk(&t.seg, i)->window = 1;
    t.window_count = below(9);
    for (size_t k = 0; k < t.window_count; k++) {
        ts += 1 + below(3000);
        t.windows[k] = (struct pt_window){ ts, k % 2 == 1 };
        put(i, PT_RECORD_EVENT, k % 2 ? POSIX_TRACE_START : POSIX_TRACE_STOP, (uint32_t)ts, 0);
    }
}

static void make_segment(unsigned seed, int policy)
{
    uint32_t control, slots[WRITERS];

    srand(seed);
    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = policy;
    control = ring_attach(&t.seg, PT_LEVEL_CONTROL);
    pt_seg_slot(&t.seg, control)->author.wid = 0;
    pt_seg_slot(&t.seg, control)->wid = 0;
    t.seg.h->next_wid = 2;
    for (unsigned w = 0; w < WRITERS; w++)
        slots[w] = ring_attach(&t.seg, w);
    fill_control(control);
    fill_chunks(slots);
    for (unsigned w = 0; w < WRITERS; w++)
        pt_seg_slot(&t.seg, slots[w])->next_no = t.next_no[2 + w];
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    if (below(3) == 0)
        t.live.clear_ts = t.clear_ts = below(2000);
    if (below(3) == 0) {
        t.live.stops.gap_from = t.gap_from = 500 + below(2000);
        t.live.stops.gap_to = t.gap_to = t.gap_from + below(2000);
        t.live.windows.opened_ts = t.opened_ts = t.gap_from;
        t.live.stops.past_from = t.past_from = below(500);
        t.live.stops.past_to = t.past_to = t.past_from + below(300);
    }
}

static struct event *event_of(uint32_t wid, uint64_t no)
{
    for (size_t i = 0; i < t.count; i++)
        if (t.events[i].wid == wid && t.events[i].no == no)
            return &t.events[i];
    ck_abort_msg("event %lu of writer %u does not exist", (unsigned long)no, wid);
}

/* Compares the events of a packet with the remembered ones. */
static uint64_t check_records(const struct pt_log_packet *p, struct pt_types *types)
{
    struct pt_decoder d = { p->records, (const uint8_t *)p->records + p->bytes, p->base_ts };
    struct pt_record r;
    uint64_t n = 0, last = 0;

    while (pt_decode_next(&d, &r) == 1) {
        struct event *e = event_of(p->author.wid, p->first_no + n);

        ck_assert_int_eq(r.kind, PT_RECORD_EVENT);
        ck_assert_uint_eq(r.id, e->id);
        ck_assert_uint_eq(r.ts, e->ts);
        ck_assert_uint_eq(n || r.ts == p->first_ts, 1);
        e->given++;
        pt_types_add(types, r.id, 1);
        last = r.ts;
        n++;
    }
    ck_assert_ptr_eq(d.p, d.end);
    ck_assert_uint_eq(last, p->last_ts);
    return n;
}

static int take_packet(void *context, const struct pt_log_packet *p)
{
    static struct pt_types types;
    unsigned *packets = context;

    if (p->author.wid == 0)
        return 0;
    ++*packets;
    pt_types_clear(&types);
    ck_assert_uint_ge(p->first_ts, t.last_ts[p->author.wid]);
    t.last_ts[p->author.wid] = p->last_ts;
    ck_assert_uint_eq(check_records(p, &types), p->events);
    if (p->types) {
        ck_assert_uint_eq(p->type_count, types.used_count);
        for (uint32_t i = 0; i < p->type_count; i++)
            ck_assert_uint_eq(p->types[i].events, types.count[p->types[i].id]);
    } else {
        ck_assert_uint_gt(failed, 0); /* no memory for the counts */
    }
    return 0;
}

/* Rounds, the watermark moving on, until nothing is left. */
static void flush_all(struct pt_collect *r)
{
    uint64_t watermark = 0;

    for (unsigned k = 0; k < 100000 && (watermark < TIME_MAX || r->unfinished); k++) {
        int e = pt_consumer_refresh(&t.live);

        if (!r->unfinished)
            watermark += below(20) ? below(1500) : TIME_MAX;
        t.live.watermark = watermark;
        if (e == 0)
            e = pt_collect_write(r);
        else
            pt_cursors_unqueue(&t.live.cursors);
        if (e < 0)
            ck_assert_int_eq(e, -ENOMEM);
        pt_collect_commit(r, &(struct pt_log_books){ .lsn = 0 });
    }
    ck_assert(!r->unfinished);
}

static void check_books(void)
{
    uint64_t excluded[WRITERS + 3] = { 0 }, refused[WRITERS + 3] = { 0 };

    for (size_t i = 0; i < t.count; i++) {
        const struct event *e = &t.events[i];
        bool out = is_excluded(e->ts) || is_refused(e->ts);

        if (e->given != !out)
            ck_abort_msg("event %lu of writer %u at %lu was given %u times", (unsigned long)e->no,
                         e->wid, (unsigned long)e->ts, e->given);
        excluded[e->wid] += is_excluded(e->ts);
        refused[e->wid] += is_refused(e->ts);
    }
    for (uint32_t i = 0; i < t.live.accounts.room; i++) {
        const struct pt_account *tally = &t.live.accounts.tally[i];
        uint32_t wid = tally->author.wid;

        if (!tally->used)
            continue;
        ck_assert_uint_eq(tally->seen, t.next_no[wid]);
        ck_assert_uint_eq(tally->next_no, t.next_no[wid]);
        ck_assert_uint_eq(tally->excluded, excluded[wid]);
        ck_assert_uint_eq(tally->refused, refused[wid]);
        ck_assert_uint_eq(tally->dropped, 0);
        excluded[wid] = refused[wid] = 0;
    }
    for (uint32_t wid = 2; wid < WRITERS + 2; wid++)
        ck_assert_uint_eq(excluded[wid] + refused[wid], 0);
}

/* One segment, emptied; the at-th allocation fails.  How many packets. */
static unsigned run(unsigned seed, int policy, unsigned at)
{
    unsigned packets = 0;
    struct pt_collect_sink sink = { take_packet, &packets };
    struct pt_collect r;

    failed = 0;
    make_segment(seed, policy);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    fail_at = at;
    flush_all(&r);
    fail_at = 0;
    check_books();
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return packets;
}

static const int policies[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP };

START_TEST(every_record_has_its_fate)
{
    unsigned packets = 0, trials = getenv("POSIXTRACE_TEST_SHORT") ? 10 : 150;

    for (unsigned seed = 1; seed <= trials; seed++)
        packets += run(seed, policies[_i], 0);
    ck_assert_uint_gt(packets, 10 * trials);
}
END_TEST

START_TEST(memory_runs_out)
{
    unsigned failures = 0, step = getenv("POSIXTRACE_TEST_SHORT") ? 7 : 1;

    for (unsigned seed = 1; seed <= 3; seed++)
        for (unsigned at = 1; at < 200; at += step) {
            run(seed, policies[_i], at);
            failures += failed;
        }
    ck_assert_uint_gt(failures, 10);
}
END_TEST

struct taken_away {
    uint32_t chunk;
    unsigned marks; /* of the gap */
};

/* LOOP takes the chunk away when its first packet goes out. */
static int take_away(void *context, const struct pt_log_packet *p)
{
    struct taken_away *x = context;
    struct pt_info *info = pt_seg_info(&t.seg, x->chunk);

    ck_assert_uint_eq(p->events, 1);
    if (p->chunk_seq & PT_LOG_MADE) {
        ck_assert_uint_eq(p->first_ts, 6);
        x->marks++;
        return 0;
    }
    info->word = pt_word_make(PT_CHUNK_OWNED, 0, pt_word_gen(info->word) + 1);
    return 0;
}

/* A chunk of two packets; one is overwritten.  Returns how many events its author has lost then. */
static uint64_t overwritten_of(uint32_t level, uint32_t wid)
{
    struct taken_away x = { .marks = 0 };
    struct pt_collect_sink sink = { take_away, &x };
    uint32_t chunk, slot;
    const struct pt_author author = { .wid = wid, .level = level };
    struct pt_collect r;
    uint64_t lost = 0;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    slot = ring_attach(&t.seg, level);
    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    x.chunk = chunk;
    pt_seg_chunk(&t.seg, chunk)->base_ts = 0;
    put_author(chunk, &author, 0);
    put(chunk, PT_RECORD_EVENT, POSIX_TRACE_START, 5, 0);
    put_author(chunk, &author, 1);
    put(chunk, PT_RECORD_EVENT, POSIX_TRACE_START, 6, 0);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.live.windows.open = true;
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = 2000;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_uint_eq(x.marks, 2);
    for (uint32_t i = 0; i < t.live.accounts.room; i++)
        if (t.live.accounts.tally[i].used)
            lost += pt_account_overwritten(&t.live.accounts.tally[i]);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return lost;
}

/* Records of a control writer are not events of a thread. */
START_TEST(overwritten_while_they_go_out)
{
    ck_assert_uint_eq(overwritten_of(0, 2), 1);
    ck_assert_uint_eq(overwritten_of(PT_LEVEL_CONTROL, 0), 0);
}
END_TEST

/* What the rounds made themselves. */
struct made {
    unsigned count;
    uint64_t ts[8];
};

static int note_made(void *context, const struct pt_log_packet *p)
{
    struct made *made = context;

    if (!(p->chunk_seq & PT_LOG_MADE))
        return 0;
    ck_assert_uint_lt(made->count, 8);
    made->ts[made->count++] = p->first_ts;
    return 0;
}

static void overwrite(uint64_t first, uint64_t last)
{
    t.seg.h->lost_first_ts = first;
    t.seg.h->lost_last_ts = last;
}

/* LOOP's loss is reported up to its end, which the watermark has not reached yet; the next loss
 * begins before that. */
START_TEST(overflows_in_order)
{
    struct made made = { 0 };
    struct pt_collect_sink sink = { note_made, &made };
    struct pt_collect r;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    overwrite(100, 5000);
    t.live.watermark = 3000;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    overwrite(3500, 5200);
    t.live.watermark = 6000;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_uint_eq(made.count, 4);
    for (unsigned i = 1; i < made.count; i++)
        ck_assert_uint_ge(made.ts[i], made.ts[i - 1]);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* A round finds that events of 1000 to 2000 were overwritten while it writes them, and fails before
 * it has marked that; the stream is cleared meanwhile.  Counts the marks of the next round. */
static unsigned marks_after_clear(uint64_t clear)
{
    struct made made = { 0 };
    struct pt_collect_sink sink = { note_made, &made };
    struct pt_collect r;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    t.live.watermark = 3000;
    t.seg.h->lost_last_ts = 2000;
    pt_collect_note_gap(&r, 1000);
    t.seg.h->lost_last_ts = 0; /* the loss itself is another matter */
    ck_assert_int_eq(pt_consumer_clear(&t.live, clear), 0);
    pt_collect_clear(&r, clear);
    t.live.watermark = 4000;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    for (unsigned i = 0; i < made.count; i++)
        ck_assert_uint_ge(made.ts[i], clear);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return made.count;
}

START_TEST(gap_before_a_clear)
{
    ck_assert_uint_eq(marks_after_clear(500), 2);
    ck_assert_uint_eq(marks_after_clear(1500), 2);
    ck_assert_uint_eq(marks_after_clear(2500), 0);
}
END_TEST

/* The stream is full since that time, empty, and was cleared at 1000: does it run then? */
static bool runs_after_clear(uint64_t since)
{
    uint64_t state = 0;
    bool runs;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_FLUSH;
    ck_assert(pt_state_change(t.seg.h, &state, PT_AUTOSTOPPED, since));
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    pt_auto_stop_restart_cleared(&t.live.stops, &t.live.windows, 1000);
    runs = pt_state_of(t.seg.h->state) == PT_RUNNING;
    ck_assert(!t.live.stops.start_due);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return runs;
}

/* One that was full later gets STOP and START: threads may have recorded before. */
START_TEST(full_after_clear)
{
    ck_assert(runs_after_clear(900));
    ck_assert(runs_after_clear(1000));
    ck_assert(!runs_after_clear(1001));
}
END_TEST

/* ---- overwritten while a round writes ---- */

/* What a round wrote, and when LOOP overwrites how many of the chunks. */
struct written {
    uint64_t overflow, resume, first_after; /* first_after: of the event that follows the gap */
    uint64_t last;                          /* of the events so far */
    unsigned at, chunks, packets, marks;
};

static int write_and_overwrite(void *context, const struct pt_log_packet *p)
{
    struct written *x = context;
    uint32_t taken;

    if (p->chunk_seq & PT_LOG_MADE) {
        *(x->marks++ % 2 ? &x->resume : &x->overflow) = p->first_ts;
        return 0;
    }
    if (p->first_ts > x->last + 100)
        x->first_after = p->first_ts;
    else
        x->last = p->last_ts;
    if (++x->packets == x->at)
        for (unsigned i = 0; i < x->chunks; i++)
            ck_assert_int_eq(pt_pool_take(&t.seg, 0, 300, true, &taken), PT_POOL_TAKEN);
    return 0;
}

/* Full chunks with an event every 100 ticks. */
static uint64_t fill_all(uint32_t slot)
{
    uint64_t ts = 100;
    uint32_t i;

    while (pt_pool_take(&t.seg, slot, 300, false, &i) == PT_POOL_TAKEN) {
        pt_seg_chunk(&t.seg, i)->base_ts = 0;
        for (unsigned k = 0; k < 20; k++, ts += 100)
            put(i, PT_RECORD_EVENT, PT_ID_USER_FIRST, (uint32_t)ts, 0);
        pt_pool_close(&t.seg, i, slot, ts - 100);
    }
    return ts;
}

/* LOOP overwrites chunks that the round has found and not written yet: OVERFLOW and RESUME are
 * around the gap, in the same round. */
START_TEST(overwritten_within_a_round)
{
    struct written x = { .at = 1 + (unsigned)_i, .chunks = 3 + (unsigned)_i };
    struct pt_collect_sink sink = { write_and_overwrite, &x };
    struct pt_collect r;
    uint64_t end;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 8000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    end = fill_all(ring_attach(&t.seg, 0));
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.live.windows.open = true;
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = end;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_uint_eq(x.marks, 2);
    ck_assert_uint_ne(x.first_after, 0);
    ck_assert_uint_gt(x.overflow, x.last);
    ck_assert_uint_le(x.overflow, x.last + 100);
    ck_assert_uint_gt(x.resume, x.overflow);
    ck_assert_uint_lt(x.resume, x.first_after);
    pt_collect_commit(&r, &(struct pt_log_books){ .lsn = 0 });
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* After SIGKILL: an unread event from between an automatic stop and its restart is refused; START
 * is made unless the log has it, STOP if the stream has not run again.  Times are from then on.
 * logged: the time of the START in the log, 0: none; state: of the stream, since ts.  Returns the
 * number of events made. */
static unsigned after_restart(uint64_t then, uint64_t logged, unsigned state, uint64_t ts)
{
    struct made made = { 0 };
    struct pt_collect_sink sink = { note_made, &made };
    uint32_t slot, chunk;
    uint64_t before = 0;
    struct pt_author author;
    struct pt_collect r;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    t.seg.h->gap_from = then + 100;
    t.seg.h->gap_to = then + 200;
    t.seg.h->start_told = logged ? then + logged : 0;
    ck_assert(pt_state_change(t.seg.h, &before, state, then + ts));
    slot = ring_attach(&t.seg, 0);
    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, chunk)->base_ts = then;
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 50, 0);
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 150, 0);
    author = pt_seg_slot(&t.seg, slot)->author;
    /* As the control writer left it: its own chunk has been read and given back. */
    t.seg.h->window = 1;
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    pt_auto_stop_recover(&t.live.stops, &t.live.windows);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = UINT64_MAX;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_uint_eq(pt_accounts_get(&t.live.accounts, &author)->seen, 2);
    ck_assert_uint_eq(pt_accounts_get(&t.live.accounts, &author)->refused, 1);
    ck_assert_uint_eq(t.seg.h->overrun, 1);
    for (unsigned i = 0; i < made.count; i++)
        ck_assert_uint_eq(made.ts[i], then + (state == PT_AUTOSTOPPED ? ts : 200));
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
    return made.count;
}

/* The state's word has 62 bits for its time. */
static const uint64_t thens[] = { 0, (1ull << 62) - 150, (1ull << 63) - 150, (3ull << 62) - 150 };

START_TEST(gap_before_a_kill)
{
    uint64_t then = thens[_i];

    ck_assert_uint_eq(after_restart(then, 0, PT_RUNNING, 200), 1);
    ck_assert_uint_eq(after_restart(then, 200, PT_RUNNING, 200), 0);
    ck_assert_uint_eq(after_restart(then, 0, PT_SUSPENDED, 300), 1);
    /* Killed before it ran again. */
    ck_assert_uint_eq(after_restart(then, 0, PT_AUTOSTOPPED, 100), 1);
    /* Full again before the restart was over. */
    ck_assert_uint_eq(after_restart(then, 0, PT_AUTOSTOPPED, 200), 2);
    ck_assert_uint_eq(after_restart(then, 200, PT_AUTOSTOPPED, 200), 1);
}
END_TEST

/* Stopped at 90, and started at 100 without room for a START: what comes between is not part
 * of the stream, what comes later is refused until it is read, and there is no second STOP. */
START_TEST(full_when_it_was_started)
{
    struct made made = { 0 };
    struct pt_collect_sink sink = { note_made, &made };
    uint32_t slot, chunk;
    const struct pt_account *tally;
    struct pt_collect r;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    slot = ring_attach(&t.seg, 0);
    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, chunk)->base_ts = 0;
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 50, 0);
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 95, 0);
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 150, 0);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    pt_windows_set(&t.live.windows, false, 90);
    t.seg.h->state = pt_state_make(PT_AUTOSTOPPED, 100);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = 180;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    tally = pt_accounts_get(&t.live.accounts, &pt_seg_slot(&t.seg, slot)->author);
    ck_assert_uint_eq(tally->excluded, 2);
    ck_assert_uint_eq(tally->refused, 1);
    ck_assert_uint_eq(made.count, 0);
    ck_assert(pt_auto_stop_restart(&t.live.stops, &t.live.windows));
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_uint_eq(made.count, 1);
    ck_assert(t.live.windows.open);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* Recorded at 190, after the round that empties a stream that has stopped itself at 100 and
 * was stopped then; before the next round the stream is started, and full again. */
START_TEST(full_twice_between_two_rounds)
{
    struct made made = { 0 };
    struct pt_collect_sink sink = { note_made, &made };
    const struct pt_account *tally;
    uint32_t slot, chunk;
    uint64_t restarted;
    struct pt_collect r;

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_UNTIL_FULL;
    slot = ring_attach(&t.seg, 0);
    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &chunk), PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, chunk)->base_ts = 0;
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 50, 0);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    pt_windows_set(&t.live.windows, true, 10);
    t.seg.h->state = pt_state_make(PT_AUTOSTOPPED, 100);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = 180;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    put(chunk, PT_RECORD_EVENT, PT_ID_USER_FIRST, 190, 0);
    t.seg.h->state = pt_state_make(PT_HALTED, 100);
    ck_assert(!pt_auto_stop_restart(&t.live.stops, &t.live.windows));
    restarted = t.live.stops.gap_to;
    ck_assert_uint_eq(t.seg.h->state, pt_state_make(PT_SUSPENDED, restarted));
    t.seg.h->state = pt_state_make(PT_AUTOSTOPPED, restarted + 100);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = restarted + 200;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    tally = pt_accounts_get(&t.live.accounts, &pt_seg_slot(&t.seg, slot)->author);
    ck_assert_uint_eq(tally->seen, 2);
    ck_assert_uint_eq(tally->excluded, 0);
    ck_assert_uint_eq(tally->refused, 1);
    ck_assert_uint_eq(t.seg.h->overrun, 1);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

/* ---- gaps that are not found in the order of time ---- */

enum { FIRST, SECOND }; /* threads, and their slots */

/* Chunks that LOOP overwrites: before the round has ordered the chunks, and when the first packet
 * goes out. */
static uint32_t taken_first, taken_second;

struct order {
    bool new_bytes; /* the second of them already has other contents */
    unsigned marks; /* until now */
    uint64_t mark_ts, last_ts[2];
    unsigned events[2];
};

static uint32_t chunk_at(uint32_t slot, uint32_t ts)
{
    uint32_t i;

    ck_assert_int_eq(pt_pool_take(&t.seg, slot, 300, false, &i), PT_POOL_TAKEN);
    pt_seg_chunk(&t.seg, i)->base_ts = 0;
    put(i, PT_RECORD_EVENT, PT_ID_USER_FIRST, ts, 0);
    pt_pool_close(&t.seg, i, slot, ts);
    return i;
}

static void take_chunk(uint32_t i)
{
    struct pt_info *info = pt_seg_info(&t.seg, i);

    overwrite(200, 350);
    info->word = pt_word_make(PT_CHUNK_OWNED, 0, pt_word_gen(info->word) + 1);
}

static void take_the_first(void)
{
    take_chunk(taken_first);
}

static int note_order(void *context, const struct pt_log_packet *p)
{
    struct pt_chunk *c = pt_seg_chunk(&t.seg, taken_second);
    struct order *x = context;
    unsigned who = p->author.level;

    if (p->chunk_seq & PT_LOG_MADE) {
        ck_assert_uint_ge(p->first_ts, x->mark_ts);
        x->mark_ts = p->first_ts;
        /* Between the last event before the gap and the first one after it. */
        ck_assert(x->marks++ % 2 || (p->first_ts > 100 && p->first_ts <= 250));
        return 0;
    }
    if (x->events[FIRST] == 0) {
        take_chunk(taken_second);
        if (x->new_bytes)
            memset((uint8_t *)c + sizeof *c, 0xff, 64);
    }
    x->events[who]++;
    x->last_ts[who] = p->last_ts;
    ck_assert_uint_eq(x->marks, p->first_ts > 100 ? 2 : 0);
    return 0;
}

/* The first thread's events at 100, (200), 250, the second's at (300) and 400.  Those in brackets
 * are lost, and the round finds that for the one at 300 first. */
START_TEST(gap_found_after_a_later_one)
{
    struct order x = { .new_bytes = _i };
    struct pt_collect_sink sink = { note_order, &x };
    struct pt_collect r;
    uint32_t slots[2];

    memset(&t, 0, sizeof t);
    ring_create(&t.seg, 64000);
    t.seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    slots[FIRST] = ring_attach(&t.seg, FIRST);
    slots[SECOND] = ring_attach(&t.seg, SECOND);
    chunk_at(slots[FIRST], 100);
    taken_second = chunk_at(slots[FIRST], 200);
    chunk_at(slots[FIRST], 250);
    taken_first = chunk_at(slots[SECOND], 300);
    chunk_at(slots[SECOND], 400);
    ck_assert_int_eq(pt_consumer_init(&t.live, &t.seg), 0);
    t.live.windows.open = true;
    ck_assert_int_eq(pt_collect_init(&r, &t.live, &sink), 0);
    ck_assert_int_eq(pt_consumer_refresh(&t.live), 0);
    t.live.watermark = 1000;
    meanwhile = x.new_bytes ? NULL : take_the_first;
    ck_assert_int_eq(pt_collect_write(&r), 0);
    ck_assert_ptr_null(meanwhile);
    ck_assert_uint_eq(x.events[FIRST], 2);
    ck_assert_uint_eq(x.events[SECOND], x.new_bytes ? 2 : 1);
    ck_assert_uint_eq(x.last_ts[SECOND], 400);
    ck_assert_uint_eq(x.marks, 2);
    ck_assert_uint_eq(x.mark_ts, 350);
    pt_collect_deinit(&r);
    pt_consumer_deinit(&t.live);
    ring_remove(&t.seg);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, gap_found_after_a_later_one, 0, 2);
    tcase_add_test(tc, full_twice_between_two_rounds);
    tcase_add_test(tc, overflows_in_order);
    tcase_add_test(tc, gap_before_a_clear);
    tcase_add_test(tc, full_after_clear);
    tcase_add_loop_test(tc, overwritten_within_a_round, 0, 2);
    tcase_add_loop_test(tc, gap_before_a_kill, 0, sizeof thens / sizeof *thens);
    tcase_add_test(tc, full_when_it_was_started);
    tcase_add_test(tc, overwritten_while_they_go_out);
    tcase_add_loop_test(tc, every_record_has_its_fate, 0, 2);
    tcase_add_loop_test(tc, memory_runs_out, 0, 2);
}

int main(void)
{
    return ring_main("round", add);
}
