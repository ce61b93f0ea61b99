/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs are followed while they are written: the reader gets the same as from the complete log, each
 * event once; and if a LOOP log was faster than its reader, whole rounds after a reported gap.
 */
#include <errno.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "log/reader/state.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 4u

static struct maker makers[AUTHORS];
static struct seen_list wanted, got;
static struct pt_log_writer *writer;
static struct pt_log_reader *reader;
static int fd;

static void begin(int policy, uint64_t size)
{
    struct pt_log_params params = log_params(policy, size);

    srand(7);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 2);
    wanted.n = got.n = 0;
    fd = log_file();
    writer = log_writer(fd, &params);
    reader = log_reader(fd);
}

/* Compressed, the same events take less. */
static uint64_t loop_size(uint64_t size)
{
    switch (log_packing()) {
    case POSIXTRACE_COMPRESSION_ZSTD: return size / 4;
    case POSIXTRACE_COMPRESSION_COLUMNS: return size / 2;
    default: return size;
    }
}

static void write_some(unsigned rounds, unsigned events)
{
    write_rounds(writer, makers, AUTHORS, rounds, events, &wanted);
}

static void complete(void)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_SUSPENDED };
    struct pt_log_author_totals totals[AUTHORS];

    for (unsigned i = 0; i < AUTHORS; i++)
        totals[i] = totals_of(&makers[i]);
    ck_assert_int_eq(pt_log_complete(writer, POSIXTRACE_END_SHUTDOWN, &status, totals, AUTHORS), 0);
}

static void end(void)
{
    pt_log_reader_free(reader);
    pt_log_writer_free(writer);
    close(fd);
}

static void read_new(bool gap)
{
    ck_assert_int_eq(pt_log_reader_follow(reader, true), gap);
    read_all(reader, &got);
}

/* What was followed is what the complete log says. */
static void expect_as_offline(void)
{
    struct pt_log_reader *offline = log_reader(fd);
    struct seen_list all = { .n = 0 };

    ck_assert(pt_log_reader_complete(offline));
    read_all(offline, &all);
    expect_same(&got, &all, 0);
    free(all.at);
    pt_log_reader_free(offline);
}

static void follow_to_the_end(int policy, uint64_t size)
{
    struct posixtrace_info info;

    begin(policy, size);
    read_new(0);
    ck_assert_uint_eq(got.n, 0);
    for (unsigned i = 0; i < 30; i++) {
        write_some(1 + i % 3 % 2, 20 + i * 7);
        read_new(0);
        expect_same(&got, &wanted, 0);
        read_new(0);
        expect_same(&got, &wanted, 0);
    }
    complete();
    read_new(0);
    ck_assert(pt_log_reader_complete(reader));
    ck_assert_int_eq(pt_log_reader_info(reader, &info), 0);
    ck_assert_int_eq(info.end, POSIXTRACE_END_SHUTDOWN);
    read_new(0);
    expect_same(&got, &wanted, 0);
}

START_TEST(a_log_that_grows)
{
    follow_to_the_end(POSIX_TRACE_APPEND, 1 << 20);
    expect_as_offline();
    end();
}
END_TEST

/* Some rounds go around the ring's end, large ones in parts. */
START_TEST(a_loop_log_that_is_slower)
{
    follow_to_the_end(POSIX_TRACE_LOOP, loop_size(40000));
    ck_assert_uint_gt(writer->ring.head, 2 * writer->ring.bytes);
    end();
}
END_TEST

START_TEST(what_there_was_before)
{
    begin(POSIX_TRACE_LOOP, 20000);
    write_some(30, 60);
    ck_assert_uint_gt(writer->ring.bytes, 0);
    complete();
    read_new(0);
    ck_assert_uint_lt(got.n, wanted.n);
    expect_as_offline();
    end();
}
END_TEST

/* Rounds of more packets than a reader keeps: each event comes once all the same, and
 * those of each author one after the other. */
START_TEST(large_rounds)
{
    uint32_t next[AUTHORS + 2] = { 0 };

    begin(POSIX_TRACE_APPEND, 1 << 20);
    reader->most_notes = 3;
    read_new(0);
    for (unsigned i = 0; i < 10; i++) {
        write_some(1, 20 + i * 7);
        write_some(1, 20);
        read_new(0);
        ck_assert_uint_eq(got.n, wanted.n);
    }
    complete();
    read_new(0);
    ck_assert_uint_eq(got.n, wanted.n);
    for (size_t i = 0; i < got.n; i++)
        ck_assert_uint_eq(got.at[i].no, next[got.at[i].wid]++);
    end();
}
END_TEST

/* Packets of a round that has not ended are in the file, and may not be all. */
START_TEST(half_a_round)
{
    struct seen early, late;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(2, 50);
    late = maker_add(&makers[0], 1000000, 16);
    ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&makers[0])), 0);
    ck_assert_int_eq(pt_log_writer_flush(writer), 0);
    read_new(0);
    expect_same(&got, &wanted, 0);
    early = maker_add(&makers[1], 999999, 16);
    ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&makers[1])), 0);
    complete();
    seen_add(&wanted, early);
    seen_add(&wanted, late);
    read_new(0);
    expect_as_offline();
    end();
}
END_TEST

/* Events that are older than all that was given before them. */
START_TEST(late_events)
{
    struct pt_log_status status = { .watermark = 2000 };
    struct pt_log_author_totals totals;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    for (unsigned i = 0; i < 3; i++) {
        seen_add(&wanted, maker_add(&makers[0], 1500 - i * 100, 16));
        ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&makers[0])), 0);
        totals = totals_of(&makers[0]);
        ck_assert_int_eq(pt_log_end_round(writer, &status, &totals, 1), 0);
        read_new(0);
        expect_same(&got, &wanted, 0);
    }
    complete();
    read_new(0);
    expect_as_offline();
    end();
}
END_TEST

START_TEST(its_writer_dies)
{
    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(2, 50);
    read_new(0);
    seen_add(&wanted, maker_add(&makers[0], 1000000, 16));
    ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&makers[0])), 0);
    ck_assert_int_eq(pt_log_writer_flush(writer), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(pt_log_reader_follow(reader, false), 0);
        read_all(reader, &got);
        expect_same(&got, &wanted, 0);
    }
    end();
}
END_TEST

/* From its start, and from a time on. */
START_TEST(rewind_and_seek)
{
    size_t from;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(5, 50);
    read_new(0);
    ck_assert_int_eq(pt_log_reader_rewind(reader), 0);
    got.n = 0;
    read_all(reader, &got);
    expect_same(&got, &wanted, 0);
    for (from = 120; wanted.at[from - 1].ts == wanted.at[from].ts; from++)
        continue;
    ck_assert_int_eq(pt_log_reader_seek(reader, 1000 + 2 * (int64_t)wanted.at[from].ts), 0);
    got.n = 0;
    read_all(reader, &got);
    expect_same(&got, &wanted, from);
    write_some(2, 50);
    read_new(0);
    expect_same(&got, &wanted, from);
    end();
}
END_TEST

START_TEST(nothing_while_events_are_left)
{
    struct pt_event e;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(2, 50);
    ck_assert_int_eq(pt_log_reader_follow(reader, true), 0);
    ck_assert_int_eq(pt_log_reader_next(reader, &e), 1);
    write_some(1, 50);
    ck_assert_int_eq(pt_log_reader_follow(reader, true), 0);
    read_all(reader, &got);
    ck_assert_uint_eq(got.n, 99);
    read_new(0);
    ck_assert_uint_eq(got.n, 149);
    end();
}
END_TEST

/* ---- gaps ---- */

/* The place in wanted of an event, at or after from. */
static size_t place_of(const struct seen *s, size_t from)
{
    while (from < wanted.n && (wanted.at[from].wid != s->wid || wanted.at[from].no != s->no))
        from++;
    ck_assert_uint_lt(from, wanted.n);
    return from;
}

static size_t starts[4096], start_count;

static bool is_start(size_t place)
{
    for (size_t i = 0; i < start_count; i++)
        if (starts[i] == place)
            return true;
    return false;
}

/* A reader that is overtaken now and then, also in the middle of a round and while the
 * file changes under it. */
START_TEST(overtaken)
{
    struct pt_event e;
    size_t place = 0, gaps = 0, given = 0;
    bool gap = false, first = true;

    begin(POSIX_TRACE_LOOP, loop_size(30000));
    start_count = 0;
    for (unsigned step = 0; step < test_size(3000); step++) {
        if (rand() % 3 == 0 && start_count < 4000) {
            starts[start_count++] = wanted.n;
            write_some(1, 1 + (unsigned)rand() % 300);
        }
        if (rand() % 4 == 0) {
            int rc = pt_log_reader_follow(reader, true);

            ck_assert_int_ge(rc, 0);
            gap = gap || rc == 1;
            gaps += rc == 1;
        }
        for (int n = rand() % 200; n > 0 && pt_log_reader_next(reader, &e) == 1; n--) {
            struct payload p;
            struct seen s;
            size_t at;

            memcpy(&p, e.data, sizeof p);
            s = (struct seen){ .wid = p.wid, .no = p.no };
            at = place_of(&s, place);
            if (at != place && !(first || (gap && is_start(at))))
                ck_abort_msg("step %u: event %zu after %zu without a gap", step, at, place);
            gap = first = false;
            place = at + 1;
            given++;
        }
    }
    ck_assert_uint_gt(gaps, test_size(100));
    ck_assert_uint_gt(given, test_size(10000));
    end();
}
END_TEST

/* A byte of a packet of the second of three rounds: nothing of that round comes. */
START_TEST(damaged)
{
    struct seen_list all = { .n = 0 };
    uint8_t byte = 0xff;
    struct stat st;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(1, 40);
    ck_assert_int_eq(fstat(fd, &st), 0);
    write_some(2, 40);
    ck_assert_int_eq(pwrite(fd, &byte, 1, st.st_size + 130), 1);
    read_new(0);
    ck_assert_uint_eq(got.n, 40);
    read_new(1);
    ck_assert_uint_eq(got.n, 80);
    for (size_t i = 0; i < wanted.n; i++)
        if (i < 40 || i >= 80)
            seen_add(&all, wanted.at[i]);
    expect_same(&got, &all, 0);
    free(all.at);
    end();
}
END_TEST

/* Two rounds after a clear, all of them after a gap. */
static void expect_gap(void)
{
    write_some(2, 40);
    read_new(0);
    ck_assert_uint_eq(got.n, 80);
    read_new(1);
    ck_assert_uint_eq(got.n, 160);
    complete();
    read_new(0);
    ck_assert_uint_eq(got.n, 160);
    end();
}

START_TEST(emptied)
{
    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(2, 40);
    read_new(0);
    write_some(2, 40);
    ck_assert_int_eq(pt_log_clear(writer), 0);
    wanted.n = 80;
    expect_gap();
}
END_TEST

/* Events that were cleared before they were in the log are missing, too. */
START_TEST(emptied_after_reading)
{
    const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

    begin(policies[_i], 1 << 20);
    write_some(2, 40);
    read_new(0);
    ck_assert_uint_eq(got.n, 80);
    ck_assert_int_eq(pt_log_clear(writer), 0);
    expect_gap();
}
END_TEST

START_TEST(another_log)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    struct pt_log_writer *other;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    write_some(2, 40);
    read_new(0);
    params.id[3] ^= 1;
    other = log_writer(fd, &params);
    ck_assert_int_eq(pt_log_reader_follow(reader, true), -ESTALE);
    ck_assert_int_eq(pt_log_reader_follow(reader, true), -ESTALE);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(pt_log_reader_follow(reader, true), -EINVAL);
    read_all(reader, &got);
    expect_same(&got, &wanted, 0);
    pt_log_writer_free(other);
    end();
}
END_TEST

/* Rounds of eight packets, all of the same length. */
static void write_even(unsigned rounds)
{
    static uint64_t ts;
    struct pt_log_author_totals totals;

    for (unsigned k = 0; k < rounds; k++) {
        struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };

        for (unsigned i = 0; i < 8; i++) {
            for (unsigned e = 0; e < 5; e++)
                maker_add(&makers[0], ++ts, 16);
            ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&makers[0])), 0);
        }
        status.watermark = ++ts;
        totals = totals_of(&makers[0]);
        ck_assert_int_eq(pt_log_end_round(writer, &status, &totals, 1), 0);
    }
}

/* A LOOP log that is read as it is, not followed: where a packet was that the reader has
 * noted, another one of the same length is by now.  It is not given in its place. */
START_TEST(another_packet_in_its_place)
{
    struct pt_event e;
    uint64_t last = 0, given = 0;
    int rc;

    for (unsigned more = 1; more <= 40; more++) {
        begin(POSIX_TRACE_LOOP, 20000);
        write_even(60);
        ck_assert_uint_gt(writer->ring.bytes, 0);
        pt_log_reader_free(reader);
        reader = log_reader(fd);
        ck_assert_int_eq(pt_log_reader_next(reader, &e), 1);
        last = e.ts;
        /* As if the round were too long for the window. */
        pt_input_forget(&reader->source);
        write_even(more);
        while ((rc = pt_log_reader_next(reader, &e)) == 1) {
            ck_assert_uint_gt(e.ts, last);
            last = e.ts;
            given++;
        }
        ck_assert_int_eq(rc, 0);
        end();
    }
    ck_assert_uint_gt(given, 0);
}
END_TEST

/* ---- the work ---- */

static uint64_t bytes_read;

ssize_t pread(int file, void *to, size_t bytes, off_t offset)
{
    ssize_t n = (ssize_t)syscall(SYS_pread64, file, to, bytes, offset);

    bytes_read += n > 0 ? (uint64_t)n : 0;
    return n;
}

static uint64_t size_of_file(void)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    return (uint64_t)st.st_size;
}

/* What the reader says of the log is what one says that has read all of it. */
static void expect_same_info(void)
{
    struct pt_log_reader *other = log_reader(fd);
    struct posixtrace_info a, b;
    struct posixtrace_thread_info x, y;
    int more = 1;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ck_assert_int_eq(pt_log_reader_info(reader, &a), 0);
    ck_assert_int_eq(pt_log_reader_info(other, &b), 0);
    a.end = b.end; /* one of them knows that it is written */
    ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
    ck_assert_uint_eq(reader->index.count, other->index.count);
    ck_assert_uint_eq(reader->index.bytes, other->index.bytes);
    for (size_t i = 0; i < other->index.count; i++)
        ck_assert_int_eq(memcmp(&reader->index.entries[i], &other->index.entries[i],
                                sizeof reader->index.entries[i]),
                         0);
    for (unsigned i = 0; more; i++) {
        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        more = pt_log_reader_thread(other, i, &y);
        ck_assert_int_eq(pt_log_reader_thread(reader, i, &x), more);
        ck_assert_int_eq(memcmp(&x, &y, sizeof x), 0);
    }
    pt_log_reader_free(other);
}

/* Each change costs the new bytes, twice, and not the whole file; so does the end. */
START_TEST(reads_what_is_new)
{
    uint64_t before = 0, size;

    begin(POSIX_TRACE_APPEND, 64 << 20);
    read_new(0);
    write_some(1, test_size(400000));
    read_new(0);
    for (unsigned i = 0; i < 10; i++) {
        before = size_of_file();
        write_some(1 + i % 3, 20 + i * 7);
        size = size_of_file() - before;
        bytes_read = 0;
        read_new(0);
        ck_assert_uint_lt(bytes_read, 3 * size + 20000);
        expect_same(&got, &wanted, 0);
        expect_same_info();
        bytes_read = 0;
        read_new(0);
        ck_assert_uint_lt(bytes_read, 20000);
    }
    complete();
    bytes_read = 0;
    read_new(0);
    ck_assert_uint_lt(bytes_read, before / 2);
    ck_assert(pt_log_reader_complete(reader));
    expect_as_offline();
    expect_same_info();
    end();
}
END_TEST

/* The last ROUND of a full log is replaced by the next one. */
START_TEST(reads_little_of_a_full_log)
{
    unsigned least = test_size(400000), lost = 0;

    begin(POSIX_TRACE_UNTIL_FULL, loop_size(least * 16));
    read_new(0);
    while (!pt_log_full(writer))
        write_some(1, least / 8);
    read_new(0);
    for (unsigned i = 0; i < 5; i++) {
        write_some(1, 20);
        lost += 20;
        bytes_read = 0;
        read_new(0);
        ck_assert_uint_lt(bytes_read, size_of_file() / 4);
        expect_same_info();
    }
    ck_assert_uint_ge(pt_log_lost(writer, POSIXTRACE_LOST_LOG_FULL), lost);
    end();
}
END_TEST

/* Another program cuts the file, at any size, and the writer makes it as long as it was, or longer:
 * the reader notices that it is not the same. */
START_TEST(cut_and_as_long_again)
{
    begin(POSIX_TRACE_APPEND, 64 << 20);
    read_new(0);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t size;

        write_some(2, 200);
        ck_assert_int_ge(pt_log_reader_follow(reader, true), 0);
        read_damaged(reader, &got);
        size = size_of_file();
        ck_assert_int_eq(
            ftruncate(fd, PT_LOG_DATA_START + (off_t)((size - PT_LOG_DATA_START) * i / 20)), 0);
        while (size_of_file() < size + 1000)
            write_some(1, 50);
        ck_assert_int_ge(pt_log_reader_follow(reader, true), 0);
        read_damaged(reader, &got);
        expect_same_info();
    }
    end();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, a_log_that_grows);
    tcase_add_test(tc, large_rounds);
    tcase_add_test(tc, reads_what_is_new);
    tcase_add_test(tc, reads_little_of_a_full_log);
    tcase_add_test(tc, cut_and_as_long_again);
    tcase_add_test(tc, a_loop_log_that_is_slower);
    tcase_add_test(tc, what_there_was_before);
    tcase_add_test(tc, half_a_round);
    tcase_add_test(tc, late_events);
    tcase_add_test(tc, its_writer_dies);
    tcase_add_test(tc, rewind_and_seek);
    tcase_add_test(tc, nothing_while_events_are_left);
    tcase_add_test(tc, overtaken);
    tcase_add_test(tc, damaged);
    tcase_add_test(tc, emptied);
    tcase_add_loop_test(tc, emptied_after_reading, 0, 3);
    tcase_add_test(tc, another_log);
    tcase_add_test(tc, another_packet_in_its_place);
}

int main(void)
{
    return run_suite("log", "follow", NULL, add);
}
