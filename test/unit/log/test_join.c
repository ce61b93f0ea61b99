/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Packets of small chunks are joined: a reader gets the same events, a recovery the place of each
 * chunk, and the log has a packet for dozens of chunks.  What cannot be joined is stored as it is,
 * in order.
 */
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include "log/pack.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

enum { AUTHORS = 3, EVENTS = 20, MOST_PLACES = 4096 };

static struct maker makers[AUTHORS];
static struct seen_list wanted;
static uint64_t now;
static unsigned given; /* packets */

struct place {
    uint64_t chunk;
    uint32_t off, bytes;
};

struct places {
    struct place at[MOST_PLACES];
    unsigned n;
    uint64_t events;
};
static struct places put_places, found_places;

static void note(struct places *p, const struct pt_log_packet *packet)
{
    ck_assert_uint_lt(p->n, MOST_PLACES);
    p->at[p->n++] = (struct place){ packet->chunk_seq, packet->chunk_off, packet->bytes };
    p->events += packet->events;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* Events by type, as the consumer counts them. */
static struct pt_log_packet *take_counted(struct maker *m)
{
    static struct pt_type_count counts[2];
    struct pt_log_packet *p = maker_take(m);
    struct pt_decoder d = { p->records, (const uint8_t *)p->records + p->bytes, p->base_ts };
    struct pt_record r;

    counts[0] = (struct pt_type_count){ ID_A, 0 };
    counts[1] = (struct pt_type_count){ ID_B, 0 };
    while (pt_decode_next(&d, &r) == 1)
        counts[r.id == ID_B].events++;
    if (!counts[0].events)
        counts[0] = counts[1];
    p->types = counts;
    p->type_count = counts[0].id == ID_A && counts[1].events ? 2 : 1;
    return p;
}

/* A chunk of its own with events events, ticks apart. */
static struct pt_log_packet *make_chunk(struct maker *m, unsigned events, uint64_t ticks)
{
    m->chunk_seq++;
    m->chunk_off = 24;
    for (unsigned i = 0; i < events; i++)
        seen_add(&wanted, maker_add(m, now += ticks, 8 + (uint32_t)rand() % 24));
    given++;
    return take_counted(m);
}

static void put(struct pt_log_writer *w, const struct pt_log_packet *p)
{
    note(&put_places, p);
    ck_assert_int_eq(pt_log_join_packet(w, p), 0);
}

static void end_round(struct pt_log_writer *w)
{
    struct pt_log_status status = { .watermark = ++now };
    struct pt_log_author_totals totals[AUTHORS];

    ck_assert_int_eq(pt_log_join_end(w), 0);
    for (unsigned i = 0; i < AUTHORS; i++)
        totals[i] = totals_of(&makers[i]);
    ck_assert_int_eq(pt_log_end_round(w, &status, totals, AUTHORS), 0);
}

static struct pt_log_writer *begin(int fd, int policy, int compression)
{
    struct pt_log_params params = log_params(policy, 1 << 20);

    params.attr.compression = compression;
    srand(9);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    return log_writer(fd, &params);
}

static int find_place(void *context, const struct pt_log_packet *p)
{
    (void)context;
    note(&found_places, p);
    return 0;
}

/* The log has the events and the places that it was given.  How many packets it has. */
static uint64_t check(int fd, struct pt_log_writer *w)
{
    struct pt_log_status status = { .watermark = now };
    struct posixtrace_log_report report;
    struct seen_list got = { .at = NULL };
    struct pt_log_reader *r;
    uint64_t counts[2];

    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), 0);
    pt_log_writer_free(w);
    r = log_reader(fd);
    read_all(r, &got);
    expect_same(&got, &wanted, 0);
    ck_assert_int_eq(pt_log_reader_each_packet(r, find_place, NULL), 0);
    qsort(put_places.at, put_places.n, sizeof *put_places.at, by_place);
    qsort(found_places.at, found_places.n, sizeof *found_places.at, by_place);
    ck_assert_uint_eq(found_places.n, put_places.n);
    ck_assert_mem_eq(found_places.at, put_places.at, put_places.n * sizeof *put_places.at);
    ck_assert_uint_eq(found_places.events, wanted.n);
    ck_assert_int_eq(pt_log_reader_count(r, ID_A, &counts[0]), 0);
    ck_assert_int_eq(pt_log_reader_count(r, ID_B, &counts[1]), 0);
    ck_assert_uint_eq(counts[0] + counts[1], wanted.n);
    pt_log_reader_free(r);
    free(got.at);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert(!report.damaged);
    close(fd);
    return report.packets;
}

/* Packets of events in a log without any, which check() has counted, too. */
static uint64_t other_packets(void)
{
    struct seen_list none = { .at = NULL }, kept = wanted;
    struct places places = put_places;
    int fd = log_file();
    struct pt_log_writer *w = begin(fd, POSIX_TRACE_APPEND, POSIXTRACE_COMPRESSION_COLUMNS);
    uint64_t n;

    wanted = none;
    put_places.n = found_places.n = 0;
    put_places.events = found_places.events = 0;
    end_round(w);
    n = check(fd, w);
    wanted = kept;
    put_places = places;
    return n;
}

START_TEST(small_chunks)
{
    struct pt_log_writer *w;
    uint64_t packets;
    int fd;

    if (!pt_pack_available(_i))
        return;
    fd = log_file();
    w = begin(fd, POSIX_TRACE_APPEND, _i);

    for (unsigned i = 0; i < 200; i++)
        put(w, make_chunk(&makers[(unsigned)rand() % AUTHORS], 1 + (unsigned)rand() % EVENTS, 70));
    end_round(w);
    packets = check(fd, w) - other_packets();
    ck_assert_uint_eq(given, 200);
    ck_assert_uint_le(packets, 200 / 20);
}
END_TEST

/* One by one: rows and LOOP logs; and what differs from the packet before. */
START_TEST(alone)
{
    int policy = _i == 1 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, fd = log_file();
    struct pt_log_writer *w = begin(
        fd, policy, _i == 0 ? POSIXTRACE_COMPRESSION_NONE : POSIXTRACE_COMPRESSION_COLUMNS);
    struct maker *m = &makers[0];
    struct pt_log_packet *p;

    for (unsigned i = 0; i < 30; i++) {
        if (_i == 2)
            m->next_no += 1 + i; /* events were lost between them */
        if (_i == 3)
            p = make_chunk(m, 3, 6000000000ull); /* with records that set the base */
        else
            p = make_chunk(m, _i == 4 ? 1000 : EVENTS, 10);
        if (_i == 5)
            p->types = NULL;
        if (_i == 6)
            snprintf(m->packet.author.name, sizeof m->packet.author.name, "thread 1.%u", i);
        put(w, p);
    }
    end_round(w);
    ck_assert_uint_ge(check(fd, w), 30);
}
END_TEST

/* More authors than wait at a time, and packets that do not join between those that do. */
START_TEST(many_authors)
{
    static struct maker many[100];
    int fd = log_file();
    struct pt_log_writer *w = begin(fd, POSIX_TRACE_APPEND, POSIXTRACE_COMPRESSION_COLUMNS);

    for (unsigned i = 0; i < 100; i++)
        maker_init(&many[i], i + 1);
    for (unsigned i = 0; i < 1000; i++)
        put(w, make_chunk(&many[(unsigned)rand() % (i < 500 ? 100 : 8)],
                          rand() % 20 ? 1 + (unsigned)rand() % 5 : 900, 7));
    end_round(w);
    ck_assert_uint_lt(check(fd, w), 800);
}
END_TEST

static void start(void)
{
    wanted.n = 0;
    put_places.n = found_places.n = given = 0;
    put_places.events = found_places.events = now = 0;
}

static void end(void)
{
    free(wanted.at);
    wanted = (struct seen_list){ .at = NULL };
}

static void add(TCase *t)
{
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, start, end);
    tcase_add_loop_test(t, small_chunks, POSIXTRACE_COMPRESSION_ZSTD,
                        POSIXTRACE_COMPRESSION_COLUMNS + 1);
    tcase_add_loop_test(t, alone, 0, 7);
    tcase_add_test(t, many_authors);
}

int main(void)
{
    return run_suite("log", "join", NULL, add);
}
