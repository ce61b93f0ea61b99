/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rounds in which the filter left out the marks of missing events: before each of their events,
 * and before the one after the round, the reader reports a gap.  From a file with and without END,
 * from a pipe, and while the file grows.
 */
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

enum { EVENTS = 3 };
enum way { COMPLETE, OPEN, PIPE, FOLLOWED, WAYS };

static struct maker maker;
static struct pt_log_writer *writer;
static uint64_t ts;
static int fd;

static void begin(void)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);

    maker_init(&maker, 2);
    ts = 1000;
    fd = log_file();
    writer = log_writer(fd, &params);
}

static void put_round(unsigned events, bool hides)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING, .hides = hides };
    struct pt_log_author_totals totals;

    for (unsigned i = 0; i < events; i++)
        maker_add(&maker, ++ts, 16);
    if (events > 0)
        ck_assert_int_ge(pt_log_put_packet(writer, maker_take(&maker)), 0);
    totals = totals_of(&maker);
    status.watermark = ++ts;
    ck_assert_int_eq(pt_log_end_round(writer, &status, &totals, 1), 0);
}

static void complete(bool hides)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_SUSPENDED, .hides = hides };
    struct pt_log_author_totals totals = totals_of(&maker);

    ck_assert_int_eq(pt_log_complete(writer, POSIXTRACE_END_SHUTDOWN, &status, &totals, 1), 0);
}

/* g: a gap and an event; e: an event; and at the end g or nothing. */
static void read_on(struct pt_log_reader *r, char *text)
{
    struct pt_event e;
    bool gap;
    int rc;

    while ((rc = pt_log_reader_next_whole(r, &e, &gap)) == 1) {
        *text++ = gap ? 'g' : 'e';
        while (pt_log_reader_near(r, &e))
            *text++ = 'e';
    }
    ck_assert_int_eq(rc, 0);
    if (gap)
        *text++ = 'g';
    *text = '\0';
}

static void check_followed(const char *wanted)
{
    struct pt_log_reader *r = log_reader(fd);
    char text[64];

    ck_assert_int_ge(pt_log_reader_follow(r, true), 0);
    read_on(r, text);
    ck_assert_str_eq(text, wanted);
    pt_log_reader_free(r);
}

static void check(enum way way, const char *wanted)
{
    static char bytes[1 << 20];
    struct pt_log_reader *r;
    char text[64];
    int fds[2];

    if (way == FOLLOWED) {
        check_followed(wanted);
        return;
    }
    if (way == PIPE) {
        ssize_t n = pread(fd, bytes, sizeof bytes, 0);

        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(pipe(fds), 0);
        ck_assert_int_eq(write(fds[1], bytes, (size_t)n), n);
        close(fds[1]);
        r = log_reader(fds[0]);
    } else {
        r = log_reader(fd);
    }
    read_on(r, text);
    ck_assert_str_eq(text, wanted);
    if (way != PIPE) {
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
        read_on(r, text);
        ck_assert_str_eq(text, wanted);
    }
    pt_log_reader_free(r);
    if (way == PIPE)
        close(fds[0]);
}

static void end(void)
{
    pt_log_writer_free(writer);
    close(fd);
}

START_TEST(between_whole_rounds)
{
    begin();
    put_round(EVENTS, false);
    put_round(EVENTS, true);
    put_round(EVENTS, false);
    if (_i != OPEN && _i != FOLLOWED)
        complete(false);
    check((enum way)_i, "eeeggggee");
    end();
}
END_TEST

START_TEST(without_events)
{
    begin();
    put_round(EVENTS, false);
    put_round(0, true);
    put_round(0, false);
    put_round(EVENTS, false);
    if (_i != OPEN && _i != FOLLOWED)
        complete(false);
    check((enum way)_i, "eeegee");
    end();
}
END_TEST

START_TEST(at_the_end)
{
    begin();
    put_round(EVENTS, false);
    put_round(EVENTS, true);
    if (_i != OPEN && _i != FOLLOWED)
        complete(false);
    check((enum way)_i, "eeegggg");
    end();
}
END_TEST

/* The round that ends the log has no event. */
START_TEST(of_the_last_status)
{
    begin();
    put_round(EVENTS, false);
    complete(true);
    check(COMPLETE, "eeeg");
    end();
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, between_whole_rounds, 0, WAYS);
    tcase_add_loop_test(t, without_events, 0, WAYS);
    tcase_add_loop_test(t, at_the_end, 0, WAYS);
    tcase_add_test(t, of_the_last_status);
}

int main(void)
{
    return run_suite("hidden", "rounds without the marks of their gaps", NULL, add_tests);
}
