/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Logs that are made to cost their reader time or memory: the numbers of entries are bounded. */
#include "log/reader/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define COLLIDING     4000u
#define AUTHORS       40u
#define MOST_UNPACKED (64u << 10)

/* The longest run of cells in use, which bounds the steps of a search. */
static size_t longest_run(const uint32_t *hash, size_t room)
{
    size_t run = 0, longest = 0;

    for (size_t i = 0; i < 2 * room; i++) {
        run = hash[i % room] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Numbers that differ in bits from 32 on only, as a wid of a log may. */
START_TEST(writer_numbers_collide)
{
    struct pt_reader_round round = { .note_count = 0 };
    struct pt_author_stats totals;

    pt_author_stats_init(&totals);
    for (uint64_t i = 1; i <= COLLIDING; i++) {
        struct pt_log_author_totals a = { .author = { .wid = i << 32 }, .recorded = 1 };

        if (pt_author_stats_set(&totals, &a) != 0 ||
            pt_reader_note(&round, i << 32, (struct pt_note){ .bytes = 8 }) != 0)
            ck_abort_msg("no memory");
    }
    ck_assert_uint_eq(totals.count, COLLIDING);
    ck_assert_uint_eq(round.cursor_count, COLLIDING);
    ck_assert_uint_lt(longest_run(totals.hash, totals.hash_room), COLLIDING / 4);
    ck_assert_uint_lt(longest_run(round.hash, round.hash_room), COLLIDING / 4);
    pt_author_stats_deinit(&totals);
    pt_reader_round_deinit(&round);
}
END_TEST

/* Another file cannot be made for the factor of the next table. */
START_TEST(tables_differ)
{
    struct pt_reader_round a = { .note_count = 0 }, b = { .note_count = 0 };

    ck_assert_int_eq(pt_reader_note(&a, 7, (struct pt_note){ .bytes = 8 }), 0);
    ck_assert_int_eq(pt_reader_note(&b, 7, (struct pt_note){ .bytes = 8 }), 0);
    ck_assert_uint_ne(a.factor, b.factor);
    ck_assert_uint_eq(a.factor % 2, 1);
    pt_reader_round_deinit(&a);
    pt_reader_round_deinit(&b);
}
END_TEST

static size_t room_of(const struct pt_reader_round *round)
{
    size_t room = 0;

    for (size_t i = 0; i < round->cursor_room; i++)
        room += round->cursors[i].room;
    return room;
}

/* Rounds of more unpacked bytes than a reader holds: all comes, in order, in pieces. */
START_TEST(unpacked_in_pieces)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 64 << 20);
    struct seen_list wanted = { .n = 0 }, got = { .n = 0 };
    static struct maker makers[AUTHORS];
    struct pt_log_reader *r;
    struct pt_log_writer *w;
    struct pt_event e;
    size_t most = 0;
    int fd = log_file(), rc;

    srand(9);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 2);
    w = log_writer(fd, &params);
    write_rounds(w, makers, AUTHORS, 3, 20000, &wanted);
    r = log_reader(fd);
    r->most_unpacked = MOST_UNPACKED;
    while ((rc = pt_log_reader_next(r, &e)) == 1) {
        size_t room = room_of(&r->round);

        most = room > most ? room : most;
    }
    ck_assert_int_eq(rc, 0);
    if (logs_are_packed())
        ck_assert_uint_lt(most, 6 * MOST_UNPACKED);
    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    read_all(r, &got);
    expect_same(&got, &wanted, 0);
    ck_assert_uint_eq(r->bad_inside, 0);
    pt_log_reader_free(r);
    pt_log_writer_free(w);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, 60);
    tcase_add_test(t, writer_numbers_collide);
    tcase_add_test(t, tables_differ);
    tcase_add_test(t, unpacked_in_pieces);
}

int main(void)
{
    return run_suite("log", "hostile", NULL, add);
}
