/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs of more authors than the writer's table keeps, whose bound is lowered for that: each number
 * is in one entry or in the sum without a name, whenever the log is read, and after a recovery.
 */
#include <posixtrace/info.h>
#include "log/writer/resume.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

enum { KEPT = 16, STAY = 5, GO = 200, LOST = 2, ALL_LISTED = 200000 };

static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

static struct pt_log_author_totals totals_at(uint32_t wid, uint64_t recorded, bool ended)
{
    struct pt_log_author_totals t = { .author = { .wid = wid, .pid = 1, .tid = (int32_t)wid },
                                      .recorded = recorded,
                                      .ended = ended };

    t.lost[POSIXTRACE_LOST_FULL] = LOST;
    return t;
}

static struct pt_total sum_of_threads(struct pt_log_reader *r)
{
    struct posixtrace_thread_info t;
    struct pt_total sum = { .recorded = 0 };

    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++) {
        sum.recorded += t.recorded;
        for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
            sum.lost[c] += t.lost[c];
    }
    return sum;
}

static void expect_sums(struct pt_log_reader *r, uint64_t recorded, uint64_t lost)
{
    struct pt_total threads = sum_of_threads(r);
    struct posixtrace_info info;

    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], lost);
    ck_assert_uint_eq(threads.lost[POSIXTRACE_LOST_FULL], lost);
    ck_assert_uint_eq(pt_log_reader_recorded(r), recorded);
    ck_assert_uint_eq(threads.recorded, recorded);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], recorded);
    ck_assert_uint_eq(threads.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN],
                      info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN]);
}

static void expect_log(int fd, uint64_t recorded, uint64_t lost)
{
    struct pt_log_reader *r = log_reader(fd);

    expect_sums(r, recorded, lost);
    pt_log_reader_free(r);
}

static void put_one(struct pt_log_writer *w, struct maker *m, uint64_t *ts)
{
    maker_add(m, ++*ts, 8);
    ck_assert_int_ge(pt_log_put_packet(w, maker_take(m)), 0);
}

/* A round with an event of an author that goes, which the next round says, and now and then one of
 * those that stay. */
static void write_round(struct pt_log_writer *w, struct maker *stay, uint32_t k, uint64_t *ts)
{
    static struct maker m;
    struct pt_log_status status = { .watermark = *ts };
    struct pt_log_author_totals totals[STAY + 2];
    size_t n = 0;

    maker_init(&m, 100 + k);
    put_one(w, &m, ts);
    totals[n++] = totals_at(100 + k, 1, false);
    if (k)
        totals[n++] = totals_at(99 + k, 1, true);
    for (uint32_t i = 0; k % 50 == 0 && i < STAY; i++) {
        put_one(w, &stay[i], ts);
        totals[n++] = totals_at(2 + i, stay[i].next_no, false);
    }
    ck_assert_int_eq(pt_log_end_round(w, &status, totals, n), 0);
}

static void complete_again(int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct pt_log_writer *w;

    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    pt_log_reader_free(r);
}

static void write_all(int fd, int policy, uint64_t size, bool completes)
{
    static struct maker stay[STAY];
    struct pt_log_params params = log_params(policy, size);
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, recorded = 0, lost;

    w->totals.max = KEPT;
    for (uint32_t i = 0; i < STAY; i++)
        maker_init(&stay[i], 2 + i);
    for (uint32_t k = 0; k < GO; k++) {
        write_round(w, stay, k, &ts);
        recorded += 1 + (k % 50 == 0 ? STAY : 0);
        lost = LOST * (STAY + k + UINT64_C(1));
        if (k % 7 == 0 || k == GO - 1)
            expect_log(fd, recorded, lost);
    }
    ck_assert_uint_gt(w->totals.folded_recorded, 0);
    ck_assert_uint_le(w->totals.count, 2 * KEPT);
    if (completes)
        ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    if (!completes)
        complete_again(fd);
    expect_log(fd, recorded, LOST * (STAY + GO));
}

START_TEST(each_number_once)
{
    int fd = log_file();

    write_all(fd, policies[_i / 2], INT64_MAX, _i % 2);
    close(fd);
}
END_TEST

/* Its ring has lists of authors that were folded since. */
START_TEST(each_number_once_in_a_ring)
{
    int fd = log_file();

    write_all(fd, POSIX_TRACE_LOOP, 16 << 10, _i % 2);
    close(fd);
}
END_TEST

/* Readers take numbers from packets, too, which have those of refused events: the round after has
 * the right ones, though they are as they were. */
START_TEST(unchanged_numbers)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, INT64_MAX);
    struct pt_log_author_totals totals = totals_at(2, 1, false);
    struct pt_log_status status = { .watermark = 1 };
    static struct maker m;
    uint64_t ts = 0;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    maker_init(&m, 2);
    m.next_no = 5;
    ck_assert_int_eq(pt_log_end_round(w, &status, &totals, 1), 0);
    put_one(w, &m, &ts);
    ck_assert_int_eq(pt_log_end_round(w, &status, &totals, 1), 0);
    expect_log(fd, 1, LOST);
    pt_log_writer_free(w);
    close(fd);
}
END_TEST

/* An author that is silent for long, and comes again, is not folded. */
START_TEST(live_authors_stay)
{
    struct pt_log_author_totals a;
    struct pt_author_stats t;

    pt_author_stats_init(&t);
    t.max = KEPT;
    for (uint32_t turn = 1; turn <= 3; turn++)
        for (uint32_t wid = 2; wid < 2 + GO; wid++) {
            a = totals_at(wid, turn, false);
            ck_assert_int_eq(pt_author_stats_set(&t, &a), 0);
        }
    ck_assert_uint_eq(t.count, GO);
    ck_assert_uint_eq(t.recorded, 3 * GO);
    ck_assert_uint_eq(t.folded_recorded, 0);
    for (uint32_t wid = 2; wid < 2 + GO; wid++) {
        a = totals_at(wid, 3, true);
        ck_assert_int_eq(pt_author_stats_set(&t, &a), 0);
    }
    /* The log counts its own losses itself: authors without other numbers are folded. */
    for (uint32_t wid = 1000; wid < 1000 + GO; wid++) {
        ck_assert_ptr_nonnull(pt_author_stats_get(&t, &(struct pt_author){ .wid = wid }));
        pt_author_stats_lose(&t, wid, POSIXTRACE_LOST_LOG_ERROR, 1);
    }
    ck_assert_uint_le(t.count, GO);
    ck_assert_uint_eq(t.recorded, 3 * GO);
    ck_assert_uint_eq(t.folded_recorded, 3 * GO);
    ck_assert_uint_eq(t.lost[POSIXTRACE_LOST_LOG_ERROR], GO);
    pt_author_stats_deinit(&t);
}
END_TEST

/* The reader's table forgets: its sums are those of the entries, whoever is listed again. */
START_TEST(reader_forgets)
{
    struct pt_packet_author packet;
    struct pt_author_stats t;
    uint64_t sum = 0;

    pt_author_stats_init(&t);
    t.max = KEPT;
    t.forgets = true;
    for (uint32_t i = 0; i < 3 * GO; i++) {
        struct pt_log_author_totals a = totals_at(2 + i % GO, i, false);
        struct pt_total e = { .author = a.author, .recorded = a.recorded };

        e.log_lost[POSIXTRACE_LOST_LOG_ERROR] = i;
        pt_author_stats_put(&packet, &e);
        ck_assert_int_eq(pt_author_stats_read(&t, &packet), 0);
    }
    ck_assert_uint_le(t.count, KEPT);
    ck_assert(t.forgot);
    for (size_t i = 0; i < t.count; i++)
        sum += t.entries[i].recorded;
    ck_assert_uint_eq(t.recorded, sum);
    ck_assert_uint_eq(t.lost[POSIXTRACE_LOST_LOG_ERROR], sum);
    ck_assert_uint_eq(t.folded_recorded, 0);
    pt_author_stats_deinit(&t);
}
END_TEST

/* More than an END or a ROUND has room for. */
START_TEST(lists_have_bounds)
{
    unsigned n = test_size(ALL_LISTED);
    struct pt_log_author_totals *totals = calloc(n, sizeof *totals);
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, INT64_MAX);
    struct pt_log_status status = { .watermark = 1 };
    struct pt_log_reader *r;
    struct pt_total sum;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    ck_assert_ptr_nonnull(totals);
    for (unsigned i = 0; i < n; i++)
        totals[i] = totals_at(2 + i, 1, false);
    ck_assert_int_eq(pt_log_writer_set_totals(w, &status, totals, n), 0);
    w->totals.folded_now = true;
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
        else
            ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
        r = log_reader(fd);
        sum = sum_of_threads(r);
        ck_assert_int_eq(pt_log_reader_complete(r), i == 2);
        ck_assert_uint_eq(sum.recorded, n);
        ck_assert_uint_eq(sum.lost[POSIXTRACE_LOST_FULL], (uint64_t)n * LOST);
        pt_log_reader_free(r);
    }
    pt_log_writer_free(w);
    free(totals);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, each_number_once, 0, 6);
    tcase_add_loop_test(t, each_number_once_in_a_ring, 0, 2);
    tcase_add_test(t, unchanged_numbers);
    tcase_add_test(t, live_authors_stay);
    tcase_add_test(t, reader_forgets);
    tcase_add_test(t, lists_have_bounds);
}

int main(void)
{
    return run_suite("log", "folded", NULL, add);
}
