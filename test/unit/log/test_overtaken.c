/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * While the log of a killed program is read, together with the rest in the program's memory, it is
 * recovered: the file gets that rest, too, in a LOOP log in the place of older events.  The reader
 * gives no event twice and none too late, and marks a gap where events are missing.
 */
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include "log/reader/block.h"
#include "log/reader/reader.h"
#include "log/writer/resume.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 4u
#define MOST    (1u << 20)

enum what { ONE_BY_ONE, BLOCKS, FOLLOWED, WAYS };

/* The log when its writer is killed: rounds, and of the open one events of each author that are in
 * the log, and those that are only in memory. */
struct kind {
    int policy;
    unsigned rounds, flushed, left;
    bool overwrites; /* those take the place of others that are in the log */
};
static const struct kind kinds[] = {
    { POSIX_TRACE_LOOP, 30, 0, 60, false },  { POSIX_TRACE_LOOP, 30, 20, 60, false },
    { POSIX_TRACE_LOOP, 30, 0, 400, true },  { POSIX_TRACE_LOOP, 30, 20, 400, true },
    { POSIX_TRACE_LOOP, 3, 10, 200, false }, { POSIX_TRACE_APPEND, 5, 10, 60, false },
};
#define KINDS (sizeof kinds / sizeof *kinds)

static struct maker makers[AUTHORS];
static struct pt_log_packet chunks[AUTHORS];
static struct pt_log_books books;
static uint64_t watermark;
static int fd;

static struct pt_log_tail tail(void)
{
    static const char *no_text[1];
    static const struct pt_sync sync = { .ns = 1000, .mult = 2ull << 32 };

    return (struct pt_log_tail){ .packets = chunks,
                                 .packet_count = AUTHORS,
                                 .syncs = &sync,
                                 .sync_count = 1,
                                 .text = { no_text, no_text, no_text },
                                 .booked = books,
                                 .watermark = watermark };
}

/* Events of all authors in turn, at the next times. */
static void trace(unsigned events, uint64_t *ts)
{
    for (unsigned i = 0; i < events * AUTHORS; i++)
        maker_add(&makers[i % AUTHORS], ++*ts, 16);
}

static void kill_writer(const struct kind *k)
{
    struct pt_log_params params = log_params(k->policy, 20000);
    struct seen_list written = { 0 };
    struct pt_log_writer *w;
    uint64_t ts;

    fd = log_file();
    w = log_writer(fd, &params);
    srand(3);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, k->rounds, 60, &written);
    pt_log_books(w, &books);
    ts = watermark = written.at[written.n - 1].ts + 1;
    trace(k->flushed, &ts);
    for (unsigned i = 0; i < AUTHORS && k->flushed; i++)
        ck_assert_int_eq(pt_log_put_packet(w, &makers[i].packet), 0);
    pt_log_writer_flush(w);
    trace(k->left, &ts);
    for (unsigned i = 0; i < AUTHORS; i++)
        chunks[i] = makers[i].packet;
    pt_log_writer_free(w);
    free(written.at);
}

static void recover(void)
{
    struct pt_log_tail t = tail();
    struct pt_log_reader *r = log_reader(fd);
    const struct pt_log_packet *p;
    struct pt_log_writer *w;
    size_t count;

    ck_assert_int_eq(pt_log_reader_set_tail(r, &t), 0);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    p = pt_log_reader_tail(r, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_ge(pt_log_put_packet(w, &p[i]), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, &t.status, NULL, 0), 0);
    pt_log_writer_free(w);
    pt_log_reader_free(r);
}

/* What has been read. */
struct reading {
    struct pt_log_reader *r;
    uint32_t next[AUTHORS + 1]; /* by author; 0: any */
    uint64_t events, at;        /* the log is recovered after that many */
    int64_t last;
    unsigned gaps;
};

static void take_gap(struct reading *g, bool gap)
{
    if (gap)
        memset(g->next, 0, sizeof g->next);
    g->gaps += gap;
}

static void take(struct reading *g, int64_t ns, const void *data)
{
    struct payload p;

    memcpy(&p, data, sizeof p);
    ck_assert(p.wid >= 1 && p.wid <= AUTHORS);
    if (g->next[p.wid] && p.no != g->next[p.wid])
        ck_abort_msg("number %u of %u comes in place of %u", p.no, p.wid, g->next[p.wid]);
    ck_assert_int_ge(ns, g->last);
    g->next[p.wid] = p.no + 1;
    g->last = ns;
    if (g->events++ == g->at)
        recover();
}

/* Only within a block the events are in the order of time. */
static void read_blocks(struct reading *g)
{
    struct pt_log_block b;
    int rc;

    while ((rc = pt_log_reader_next_block(g->r, PT_BLOCK_DATA, &b)) == 1) {
        take_gap(g, b.gap);
        g->last = INT64_MIN;
        for (size_t i = 0; i < b.count; i++)
            take(g, b.ns[i], b.data + b.offsets[i]);
    }
    ck_assert_int_eq(rc, 0);
    take_gap(g, b.gap);
}

static void read_on(struct reading *g)
{
    struct pt_event e;
    bool gap;
    int rc;

    while ((rc = pt_log_reader_next_whole(g->r, &e, &gap)) == 1) {
        take_gap(g, gap);
        take(g, e.ns, e.data);
    }
    ck_assert_int_eq(rc, 0);
    take_gap(g, gap);
}

static void read_followed(struct reading *g)
{
    uint64_t before;

    do {
        before = g->events + g->gaps;
        read_on(g);
        take_gap(g, pt_log_reader_follow(g->r, false));
    } while (g->events + g->gaps > before);
}

static void read_as(struct reading *g, enum what way)
{
    switch (way) {
    case ONE_BY_ONE: read_on(g); break;
    case BLOCKS: read_blocks(g); break;
    default: read_followed(g);
    }
}

/* One reading, recovered after so many events.  How many were read; *all: how many there were. */
static uint64_t read_once(const struct kind *k, enum what way, uint64_t at, uint64_t *all)
{
    struct reading g = { .at = at, .last = INT64_MIN };
    struct pt_log_tail t;
    struct posixtrace_info info;

    kill_writer(k);
    t = tail();
    g.r = log_reader(fd);
    if (way == FOLLOWED)
        ck_assert_int_eq(pt_log_reader_follow(g.r, false), 0);
    ck_assert_int_eq(pt_log_reader_set_tail(g.r, &t), 0);
    ck_assert_int_eq(pt_log_reader_info(g.r, &info), 0);
    if (at == MOST - 1) {
        recover();
        g.at = MOST;
    }
    read_as(&g, way);
    *all = info.events;
    ck_assert_uint_le(g.events, info.events);
    if (g.events < info.events && !g.gaps)
        ck_abort_msg("%lu events of %lu, and no gap", (unsigned long)g.events,
                     (unsigned long)info.events);
    ck_assert_int_eq(pt_log_reader_info(g.r, &info), 0);
    ck_assert(info.skipped_bytes || g.events == info.events || way == FOLLOWED);
    pt_log_reader_free(g.r);
    close(fd);
    return g.events;
}

START_TEST(overtaken)
{
    const struct kind *k = &kinds[(unsigned)_i / WAYS];
    enum what way = (enum what)((unsigned)_i % WAYS);
    uint64_t all, least, step = test_size(10) == 10 ? 37 : 301;

    ck_assert_uint_eq(read_once(k, way, MOST, &all), all);
    least = read_once(k, way, MOST - 1, &all);
    for (uint64_t at = 0; at < all; at += step) {
        uint64_t n = read_once(k, way, at, &all);

        least = n < least ? n : least;
    }
    ck_assert(!k->overwrites || least < all);
    ck_assert(k->policy == POSIX_TRACE_LOOP || least == all);
}
END_TEST

/* After a rewind, or a seek, the same holds. */
START_TEST(read_again)
{
    const struct kind *k = &kinds[(unsigned)_i / 2];
    struct reading g = { .at = MOST, .last = INT64_MIN };
    struct pt_log_tail t;
    struct posixtrace_info info;
    uint64_t all;

    kill_writer(k);
    t = tail();
    g.r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(g.r, &t), 0);
    ck_assert_int_eq(pt_log_reader_info(g.r, &info), 0);
    read_on(&g);
    ck_assert_uint_eq(g.gaps, 0);
    all = g.events;
    recover();
    memset(g.next, 0, sizeof g.next);
    g.events = 0;
    g.last = INT64_MIN;
    if (_i % 2)
        ck_assert_int_eq(pt_log_reader_seek(g.r, info.first_ns), 0);
    else
        ck_assert_int_eq(pt_log_reader_rewind(g.r), 0);
    read_on(&g);
    ck_assert_uint_eq(g.gaps > 0, g.events < all);
    ck_assert(!k->overwrites || g.gaps > 0);
    pt_log_reader_free(g.r);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, overtaken, 0, KINDS * WAYS);
    tcase_add_loop_test(t, read_again, 0, KINDS * 2);
}

int main(void)
{
    return run_suite("log", "overtaken", NULL, add);
}
