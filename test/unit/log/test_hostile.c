/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Logs that are made to cost their reader time or memory: the numbers of entries are bounded. */
#include <posixtrace/attr.h>
#include "log/byteorder.h"
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
            pt_reader_note(&round, i << 32, (struct pt_note){ .bytes = 8 }, 0) != 0)
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

    ck_assert_int_eq(pt_reader_note(&a, 7, (struct pt_note){ .bytes = 8 }, 0), 0);
    ck_assert_int_eq(pt_reader_note(&b, 7, (struct pt_note){ .bytes = 8 }, 0), 0);
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
    /* Columns are read as records where the machine's order is not the file's. */
    if (logs_are_packed())
        ck_assert_uint_lt(most, (PT_FOREIGN_ORDER ? 7 : 6) * MOST_UNPACKED);
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

static uint64_t unpacked; /* packets, each as often as that was done */

int __real_pt_packet_unpack_data(struct pt_log_packet *packet, const struct pt_packet_data *from,
                                 struct pt_unpacker *unpacker);
int __wrap_pt_packet_unpack_data(struct pt_log_packet *packet, const struct pt_packet_data *from,
                                 struct pt_unpacker *unpacker);

int __wrap_pt_packet_unpack_data(struct pt_log_packet *packet, const struct pt_packet_data *from,
                                 struct pt_unpacker *unpacker)
{
    unpacked += pt_packet_is_packed(from);
    return __real_pt_packet_unpack_data(packet, from, unpacker);
}

/* One round: packets of 64 KiB of records by each of some authors, and one event by each of
 * others.  The number of events. */
static uint64_t write_long_packets(int fd, unsigned busy, unsigned packets, unsigned idle)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 64 << 20);
    static struct maker m;
    struct pt_log_writer *w;
    uint64_t events = 0;

    params.attr.compression = POSIXTRACE_COMPRESSION_COLUMNS;
    w = log_writer(fd, &params);
    for (unsigned i = 0; i < busy + idle; i++) {
        maker_init(&m, i + 2);
        for (unsigned k = 0; k < (i < busy ? packets : 1); k++) {
            do
                maker_add(&m, ++events * 1000, 8);
            while (i < busy && m.packet.bytes + 64 < sizeof m.records);
            ck_assert_int_eq(pt_log_put_packet(w, maker_take(&m)), 0);
        }
    }
    ck_assert_int_eq(pt_log_end_round(w, &(struct pt_log_status){ .watermark = 0 }, NULL, 0), 0);
    pt_log_writer_free(w);
    return events;
}

/* How often the packets of a log are unpacked does not grow with the number of its authors. */
static void read_counted(unsigned busy, unsigned packets, unsigned idle, unsigned most)
{
    int fd = log_file(), rc;
    uint64_t written = write_long_packets(fd, busy, packets, idle), n = 0;
    struct pt_log_reader *r = log_reader(fd);
    uint32_t *next = calloc(busy + idle + 2, sizeof *next);
    struct pt_event e;

    ck_assert_ptr_nonnull(next);
    r->most_unpacked = MOST_UNPACKED;
    unpacked = 0;
    while ((rc = pt_log_reader_next(r, &e)) == 1) {
        const struct payload *p = e.data;

        ck_assert_uint_eq(p->no, next[e.author->wid]++);
        n++;
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(n, written);
    ck_assert_uint_ge(unpacked, (uint64_t)busy * packets);
    ck_assert_uint_le(unpacked, (uint64_t)busy * packets * most);
    free(next);
    pt_log_reader_free(r);
    close(fd);
}

START_TEST(work_of_unpacking)
{
    unsigned crowd = test_size(4000);

    read_counted(1, 20, crowd, 1);
    read_counted(8, 3, crowd, 10);
    read_counted(test_size(200), 1, 0, PT_ROUND_UNPACKS + 2);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, writer_numbers_collide);
    tcase_add_test(t, tables_differ);
    tcase_add_test(t, unpacked_in_pieces);
    tcase_add_test(t, work_of_unpacking);
}

int main(void)
{
    return run_suite("log", "hostile", NULL, add);
}
