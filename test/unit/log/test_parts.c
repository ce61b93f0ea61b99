/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The parts that logs are made of: checksum, conversion of times, merge, index,
 * table of authors, walk. */
#include <posixtrace/info.h>
#include "base/crc.h"
#include "log/index.h"
#include "log/merge.h"
#include "log/reader/loser_tree.h"
#include "log/author_stats.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "model/sync.h"
#include "support/run_suite.h"

START_TEST(crc)
{
    uint8_t bytes[300];

    ck_assert_uint_eq(pt_crc32c(0, "123456789", 9), 0xe3069283u);
    ck_assert_uint_eq(pt_crc32c_table(0, "123456789", 9), 0xe3069283u);
    ck_assert_uint_eq(pt_crc32c(0, "", 0), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)rand();
    for (size_t from = 0; from < 20; from++)
        for (size_t to = from; to <= sizeof bytes; to++) {
            uint32_t whole = pt_crc32c(7, bytes, to), parts = pt_crc32c(7, bytes, from);

            if (whole != pt_crc32c(parts, bytes + from, to - from) ||
                whole != pt_crc32c_table(7, bytes, to))
                ck_abort_msg("checksums differ for %zu and %zu", from, to);
        }
}
END_TEST

/* Lengths around those at which the processor's way changes, at any alignment. */
START_TEST(crc_of_long_pieces)
{
    static uint8_t bytes[3 * 3072 + 64];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)rand();
    for (size_t length = 0; length <= sizeof bytes - 16; length += length < 3200 ? 1 : 61)
        for (size_t from = 0; from < 16; from += 5)
            if (pt_crc32c(3, bytes + from, length) != pt_crc32c_table(3, bytes + from, length))
                ck_abort_msg("checksums differ for %zu bytes at %zu", length, from);
}
END_TEST

START_TEST(sync_points)
{
    static const struct pt_sync points[] = {
        { .ts = 1000, .ns = 5000, .mult = 1ull << 31 }, /* 2 ticks a nanosecond */
        { .ts = 2000, .ns = 5600, .mult = 3ull << 32 },
        { .ts = 1ull << 60, .ns = 1ll << 62, .mult = 1ull << 32 },
    };
    static const struct pt_sync shift = { .ns = INT64_MIN, .mult = 1ull << 32 };

    ck_assert_int_eq(pt_sync_convert(points, 3, 1000), 5000);
    ck_assert_int_eq(pt_sync_convert(points, 3, 1999), 5499);
    ck_assert_int_eq(pt_sync_convert(points, 3, 2000), 5600);
    ck_assert_int_eq(pt_sync_convert(points, 3, 2001), 5603);
    ck_assert_int_eq(pt_sync_convert(points, 3, 0), 4500);
    ck_assert_int_eq(pt_sync_convert(NULL, 0, 77), 77);
    ck_assert_int_eq(pt_sync_convert(&shift, 1, (1ull << 63) - 5), -5);
    for (uint64_t ts = 0; ts < 4000; ts++) {
        int64_t ns = pt_sync_convert(points, 3, ts);
        uint64_t back = pt_sync_invert(points, 3, ns);

        if (back > ts || pt_sync_convert(points, 3, back) < ns ||
            (back && pt_sync_convert(points, 3, back - 1) >= ns))
            ck_abort_msg("%lu ticks are %ld ns are %lu ticks", (unsigned long)ts, (long)ns,
                         (unsigned long)back);
    }
    ck_assert_uint_eq(pt_sync_invert(points, 3, 5550), 2000);
    ck_assert_uint_eq(pt_sync_invert(points, 3, INT64_MIN), 0);
    ck_assert_uint_eq(pt_sync_invert(&shift, 1, 0), 1ull << 63);
    ck_assert_uint_eq(pt_sync_invert(&shift, 1, INT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(pt_sync_invert(NULL, 0, -1), 0);
}
END_TEST

/* The clock was set back, twice. */
START_TEST(sync_points_back)
{
    static const struct pt_sync points[] = {
        { .ts = 1000, .ns = 5000, .mult = 1ull << 32 },
        { .ts = 2000, .ns = 3000, .mult = 1ull << 32 },
        { .ts = 6000, .ns = 6500, .mult = 1ull << 32 },
    };

    for (int64_t ns = 4500; ns < 9000; ns++) {
        uint64_t ts = 500;

        while (pt_sync_convert(points, 3, ts) < ns)
            ts++;
        ck_assert_uint_eq(pt_sync_invert(points, 3, ns), ts);
    }
}
END_TEST

START_TEST(merge)
{
    enum { N = 1000 };
    static struct pt_merge_node nodes[N];
    struct pt_merge m;
    uint64_t last_ts = 0, last_tie = 0, given = 0;

    pt_merge_init(&m);
    ck_assert_ptr_null(pt_merge_top(&m));
    for (unsigned i = 0; i < N; i++) {
        nodes[i] = (struct pt_merge_node){ (uint64_t)rand() % 300, i };
        ck_assert_int_eq(pt_merge_push(&m, &nodes[i]), 0);
    }
    while (m.count) {
        struct pt_merge_node *top = pt_merge_top(&m);

        if (top->ts < last_ts || (top->ts == last_ts && top->tie < last_tie))
            ck_abort_msg("%lu after %lu", (unsigned long)top->ts, (unsigned long)last_ts);
        last_ts = top->ts;
        last_tie = top->tie;
        given++;
        if (rand() % 3) {
            top->ts += 1 + (uint64_t)rand() % 20;
            pt_merge_sift_top(&m);
        } else {
            pt_merge_pop(&m);
        }
    }
    ck_assert_uint_gt(given, N);
    pt_merge_deinit(&m);
}
END_TEST

/* Times that advance by small steps, so that many are equal, by a long one now and then, so that
 * one input continues alone, and up to the last possible time. */
static uint64_t later(uint64_t ts)
{
    if (ts > UINT64_MAX - 1000)
        return UINT64_MAX;
    return ts + (rand() % 50 ? (uint64_t)rand() % 3 : UINT64_MAX / 8 + (uint64_t)rand() % 40);
}

static void hold_tournament(struct pt_loser_tree *t, uint32_t n)
{
    uint64_t ts[1000] = { 0 }, last_ts = 0, given = 0;
    bool in[1000] = { false };
    uint32_t last = 0;

    ck_assert_int_eq(pt_loser_tree_reset(t, n), 0);
    for (uint32_t i = 0; i < n; i++)
        if (rand() % 8) {
            in[i] = true;
            ts[i] = later(0);
            pt_loser_tree_enter(t, i, ts[i], 5000 - i);
        }
    pt_loser_tree_begin(t);
    for (; t->count; given++) {
        uint32_t first = t->winner, before = first;
        bool again = false;

        for (uint32_t i = 0; i < n; i++)
            if (in[i] && (!in[first] || ts[i] < ts[first] || (ts[i] == ts[first] && i > first)))
                ck_abort_msg("%u of %u wins, and not %u", first, n, i);
        if (given && (ts[first] < last_ts || (ts[first] == last_ts && first > last)))
            ck_abort_msg("%u of %u comes after %u", first, n, last);
        last_ts = ts[first];
        last = first;
        ts[first] = later(ts[first]);
        if (ts[first] == last_ts && rand() % 2) {
            in[first] = false;
            pt_loser_tree_leave(t);
        } else if (!pt_loser_tree_stays(t, ts[first])) {
            again = pt_loser_tree_again(t, ts[first]);
            ck_assert(again == (t->winner == before));
        }
        if (again && t->limit != UINT64_MAX)
            ck_assert(in[t->second] && t->second != t->winner && ts[t->second] == t->limit);
    }
    ck_assert(given >= n / 2);
    for (uint32_t i = 0; i < n; i++)
        ck_assert(!in[i]);
}

START_TEST(tournament)
{
    static const uint32_t sizes[] = { 0, 1, 2, 3, 5, 8, 13, 64, 100, 33, 1000, 7 };
    struct pt_loser_tree t;

    pt_loser_tree_init(&t);
    for (unsigned round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            hold_tournament(&t, sizes[i]);
    pt_loser_tree_deinit(&t);
}
END_TEST

START_TEST(index_is_thinned)
{
    struct pt_index x;
    const struct pt_index_entry *e;
    uint64_t offset = 4096, rounds = test_size(1000000);

    pt_index_init(&x);
    ck_assert_ptr_null(pt_index_find(&x, 0));
    for (uint64_t i = 0; i < rounds; i++, offset += 30000)
        if (pt_index_add(&x, offset, 30000, 10 * i, 10 * i + 9, i % 3 == 1) != 0)
            ck_abort_msg("no memory");
    ck_assert_uint_lt(x.count, PT_INDEX_MAX);
    ck_assert_uint_lt(x.count * sizeof *e, offset / 1000);
    for (uint64_t i = 0; i < rounds; i += 777) {
        e = pt_index_find(&x, 10 * i + 5);
        ck_assert_ptr_nonnull(e);
        ck_assert_uint_le(e->offset, 4096 + 30000 * i);
        ck_assert_uint_ge(e->last_ts, 10 * i + 5);
        ck_assert_uint_ne((e->offset - 4096) / 30000 % 3, 1); /* no part of a round */
        if (e > x.entries)
            ck_assert_uint_lt(e[-1].last_ts, 10 * i + 5);
    }
    ck_assert_ptr_null(pt_index_find(&x, 10 * rounds));
    pt_index_deinit(&x);
}
END_TEST

/* Sums over entries and the folded rest, which must not change by folding. */
static uint64_t sum_of(const struct pt_author_stats *t, unsigned cause)
{
    uint64_t sum = t->folded_lost[cause];

    for (size_t i = 0; i < t->count; i++)
        sum += t->entries[i].lost[cause] + t->entries[i].log_lost[cause];
    return sum;
}

START_TEST(authors_are_folded)
{
    struct pt_log_author_totals a = { .recorded = 3 };
    struct pt_author_stats t;
    uint64_t recorded = 0;

    pt_author_stats_init(&t);
    pt_author_stats_lose(&t, 5, POSIXTRACE_LOST_LOG_FULL, 7); /* author 5 is not known */
    for (uint32_t wid = 1; wid <= 3 * PT_TOTALS_MAX; wid++) {
        a.author.wid = wid;
        a.lost[POSIXTRACE_LOST_NESTED] = 2;
        a.ended = wid != 2;
        if (pt_author_stats_set(&t, &a) != 0)
            ck_abort_msg("no memory");
        pt_author_stats_lose(&t, wid, POSIXTRACE_LOST_LOG_ERROR, 1);
        a.author.wid = 2; /* one that is heard of again and again stays */
        a.recorded = wid;
        a.ended = false;
        if (pt_author_stats_set(&t, &a) != 0)
            ck_abort_msg("no memory");
        a.recorded = 3;
    }
    ck_assert_uint_le(t.count, PT_TOTALS_MAX);
    ck_assert_ptr_nonnull(pt_author_stats_find(&t, 2));
    ck_assert_ptr_null(pt_author_stats_find(&t, 3));
    ck_assert_uint_eq(sum_of(&t, POSIXTRACE_LOST_NESTED), 2ull * 3 * PT_TOTALS_MAX);
    ck_assert_uint_eq(t.lost[POSIXTRACE_LOST_NESTED], 2ull * 3 * PT_TOTALS_MAX);
    ck_assert_uint_eq(sum_of(&t, POSIXTRACE_LOST_LOG_ERROR), 3ull * PT_TOTALS_MAX);
    ck_assert_uint_eq(sum_of(&t, POSIXTRACE_LOST_LOG_FULL), 7);
    recorded = t.folded_recorded;
    for (size_t i = 0; i < t.count; i++)
        recorded += t.entries[i].recorded;
    ck_assert_uint_eq(recorded, 3ull * (3 * PT_TOTALS_MAX - 1) + 3 * PT_TOTALS_MAX);
    ck_assert_uint_eq(t.recorded, recorded);
    pt_author_stats_deinit(&t);
}
END_TEST

/* "No limit" for a LOOP log: the largest size there is does not overflow. */
START_TEST(largest_log_size)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, INT64_MAX);
    struct seen_list wanted = { .n = 0 }, got = { .n = 0 };
    static struct maker maker;
    struct pt_log_writer *w;
    struct pt_log_reader *r;
    int fd = log_file();

    maker_init(&maker, 2);
    w = log_writer(fd, &params);
    write_rounds(w, &maker, 1, 10, 500, &wanted);
    ck_assert_int_gt(lseek(fd, 0, SEEK_END), 100 << 10);
    ck_assert_uint_eq(pt_log_lost(w, POSIXTRACE_LOST_LOG_OVERWRITTEN), 0);
    r = log_reader(fd);
    ck_assert_uint_eq((uint64_t)pt_log_reader_params(r)->attr.log_size, INT64_MAX);
    read_all(r, &got);
    expect_same(&got, &wanted, 0);
    pt_log_reader_free(r);
    pt_log_writer_free(w);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, crc);
    tcase_add_test(t, crc_of_long_pieces);
    tcase_add_test(t, sync_points);
    tcase_add_test(t, sync_points_back);
    tcase_add_test(t, merge);
    tcase_add_test(t, tournament);
    tcase_add_test(t, index_is_thinned);
    tcase_add_test(t, authors_are_folded);
    tcase_add_test(t, largest_log_size);
}

int main(void)
{
    return run_suite("log", "parts", NULL, add);
}
