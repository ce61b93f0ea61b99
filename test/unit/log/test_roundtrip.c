/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log reads as it was written: order, contents, names, totals; from files and from pipes; with
 * every log-full policy, with exact accounts of missing events.
 */
#include <posixtrace/info.h>
#include <pthread.h>
#include <sys/stat.h>
#include "log/writer/resume.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 5u

static struct maker makers[AUTHORS];
static struct pt_log_status status;

static void begin(void)
{
    srand(7);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
}

static void complete(struct pt_log_writer *w)
{
    struct pt_log_author_totals totals[AUTHORS];

    for (unsigned i = 0; i < AUTHORS; i++)
        totals[i] = totals_of(&makers[i]);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, totals, AUTHORS), 0);
    pt_log_writer_free(w);
}

static uint64_t sum_of_threads(struct pt_log_reader *r, unsigned cause, uint64_t *recorded)
{
    struct posixtrace_thread_info t;
    uint64_t sum = 0;

    *recorded = 0;
    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++) {
        sum += t.lost[cause];
        *recorded += t.recorded;
    }
    return sum;
}

static void check_account(struct pt_log_reader *r, const struct seen_list *got,
                          const struct seen_list *wanted, unsigned cause)
{
    uint64_t by_id[PT_ID_MAX] = { 0 }, count, recorded;
    struct posixtrace_info info;

    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got->n);
    ck_assert_uint_eq(info.skipped_bytes, 0);
    for (size_t i = 0; i < got->n; i++)
        by_id[got->at[i].id]++;
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        ck_assert_int_eq(pt_log_reader_count(r, id, &count), 0);
        ck_assert_uint_eq(count, by_id[id]);
    }
    ck_assert_uint_eq(info.lost[cause], wanted->n - got->n + by_id[POSIX_TRACE_STOP]);
    ck_assert_uint_eq(sum_of_threads(r, cause, &recorded), info.lost[cause]);
    ck_assert_uint_eq(recorded, wanted->n);
}

static void check_both_readings(int fd, const struct seen_list *wanted)
{
    struct seen_list got = { 0 }, again = { 0 };
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_info info;

    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_A), "event a");
    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_B), "event b");
    ck_assert_ptr_null(pt_log_reader_text(r, PT_TEXT_NAME, ID_B + 1));
    ck_assert_str_eq(pt_log_reader_params(r)->attr.name, "made up");
    read_all(r, &got);
    expect_same(&got, wanted, 0);
    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    read_all(r, &again);
    expect_same(&again, wanted, 0);
    check_account(r, &got, wanted, POSIXTRACE_LOST_LOG_FULL);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_int_eq(info.first_ns, 1000 + 2 * (int64_t)wanted->at[0].ts);
    ck_assert_int_eq(info.last_ns, 1000 + 2 * (int64_t)wanted->at[wanted->n - 1].ts);
    pt_log_reader_free(r);
    free(got.at);
    free(again.at);
}

/* The clock was set on and back: times across that cannot be compared.  A small deviation that ends
 * slowly is none. */
START_TEST(steps)
{
    static const struct pt_sync points[] = {
        { .ts = 3000000, .ns = 6000000 + 1000, .mult = 3ull << 32 },
        { .ts = 4000000, .ns = 9000000 + 1000, .mult = 2ull << 32 },
        { .ts = 5000000, .ns = 3600000000000, .mult = 2ull << 32 },
        { .ts = 7000000, .ns = 1000, .mult = 2ull << 32 },
    };
    static const uint64_t times[] = { 1000000, 3500000, 4500000, 4999999, 5000000,
                                      5000001, 6000000, 7500000, 8000000 };
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    struct pt_event e;
    bool gap;

    begin();
    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_eq(pt_log_put_sync(w, &points[i]), 0);
    for (unsigned i = 0; i < 9; i++)
        maker_add(&makers[0], times[i], 8);
    ck_assert_int_eq(pt_log_put_packet(w, maker_take(&makers[0])), 0);
    ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
    complete(w);
    r = log_reader(fd);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < 9; i++) {
            ck_assert_int_eq(pt_log_reader_next_whole(r, &e, &gap), 1);
            ck_assert_uint_eq(e.ts, times[i]);
            ck_assert(gap == (i == 4 || i == 7));
        }
        ck_assert_int_eq(pt_log_reader_next_whole(r, &e, &gap), 0);
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    }
    /* Several at a time: none beyond a step. */
    ck_assert_int_eq(pt_log_reader_next_whole(r, &e, &gap), 1);
    for (unsigned i = 1; i < 9; i++) {
        bool near = pt_log_reader_near(r, &e);

        ck_assert(near || pt_log_reader_next_whole(r, &e, &gap) == 1);
        ck_assert_uint_eq(e.ts, times[i]);
        ck_assert(near ? i != 4 && i != 7 : gap == (i == 4 || i == 7));
    }
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

START_TEST(append)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    begin();
    write_rounds(w, makers, AUTHORS, 20, 300, &wanted);
    check_both_readings(fd, &wanted); /* not complete yet */
    write_rounds(w, makers, AUTHORS, 5, 4000, &wanted);
    check_both_readings(fd, &wanted);
    complete(w);
    check_both_readings(fd, &wanted);
    free(wanted.at);
    close(fd);
}
END_TEST

START_TEST(one_author)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    begin();
    write_rounds(w, makers, 1, 3, 5000, &wanted);
    complete(w);
    check_both_readings(fd, &wanted);
    free(wanted.at);
    close(fd);
}
END_TEST

START_TEST(round_larger_than_the_window)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    begin();
    write_rounds(w, makers, AUTHORS, 2, 60000, &wanted);
    complete(w);
    check_both_readings(fd, &wanted);
    free(wanted.at);
    close(fd);
}
END_TEST

START_TEST(empty)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 1 << 20);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_info info;
    struct pt_event e;

    ck_assert(!pt_log_reader_complete(r));
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    pt_log_reader_free(r);
    begin();
    complete(w);
    r = log_reader(fd);
    ck_assert(pt_log_reader_complete(r));
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_int_eq(info.end, POSIXTRACE_END_SHUTDOWN);
    ck_assert_int_eq(info.first_ns, 0);
    ck_assert_int_eq(info.last_ns, 0);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* Events of at most so many bytes of records and packet heads are in the log. */
static uint64_t data_bytes(int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_info info;

    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    pt_log_reader_free(r);
    return info.bytes;
}

START_TEST(until_full)
{
    static const uint64_t sizes[] = { 1, 200, 400, 5000, 100000, 1 << 24 };
    uint64_t size = sizes[_i] == 100000 && logs_are_packed() ? 20000 : sizes[_i];
    struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, size);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    struct stat st, after;

    begin();
    write_rounds(w, makers, AUTHORS, 10, 500, &wanted);
    ck_assert_int_eq(pt_log_full(w), _i < 5);
    ck_assert_int_eq(pt_log_overrun(w, true), _i < 5);
    ck_assert_int_eq(pt_log_overrun(w, false), 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    write_rounds(w, makers, AUTHORS, 10, 500, &wanted);
    ck_assert_int_eq(fstat(fd, &after), 0);
    if (_i < 5) /* a full log does not grow */
        ck_assert_int_le(after.st_size, st.st_size + 1024);
    for (int closed = 0; closed < 2; closed++) {
        got.n = 0;
        r = log_reader(fd);
        read_all(r, &got);
        check_account(r, &got, &wanted, POSIXTRACE_LOST_LOG_FULL);
        if (_i < 5) {
            struct posix_trace_status_info s;

            ck_assert_uint_eq(got.at[got.n - 1].id, POSIX_TRACE_STOP);
            pt_log_reader_status(r, &s);
            ck_assert_int_eq(s.posix_log_full_status, POSIX_TRACE_FULL);
            ck_assert_int_eq(s.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
        } else {
            expect_same(&got, &wanted, 0);
        }
        pt_log_reader_free(r);
        if (!closed)
            complete(w);
    }
    if (size > 200)
        ck_assert_uint_le(data_bytes(fd), size);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

/* Events of a full log that next_whole gives: all that were written, up to a time; then a gap. */
static void expect_complete_start(struct pt_log_reader *r, const struct seen_list *wanted,
                                  size_t least, size_t *given)
{
    struct pt_event e;
    size_t n = 0;
    bool gap;

    while (pt_log_reader_next_whole(r, &e, &gap) == 1) {
        struct payload p;

        ck_assert(!gap);
        if (e.id == POSIX_TRACE_STOP) /* of a log in which nothing of the last round fitted */
            continue;
        memcpy(&p, e.data, sizeof p);
        /* An event that is missing may have the time of the last ones that are there. */
        while (n < wanted->n && (wanted->at[n].wid != p.wid || wanted->at[n].no != p.no)) {
            ck_assert_uint_eq(wanted->at[n].ts, e.ts);
            n++;
        }
        ck_assert_uint_lt(n++, wanted->n);
    }
    ck_assert(gap);
    ck_assert_uint_ge(n, least);
    *given = n;
    ck_assert_int_eq(pt_log_reader_next_whole(r, &e, &gap), 0);
    ck_assert(!gap);
}

/* Of one author all events that fitted are given; of several, those of all rounds but the last. */
START_TEST(start_of_full)
{
    unsigned authors = _i % 2 ? 1 : AUTHORS, rounds = 0;
    struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, 400 + 900 * (unsigned)_i);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    size_t least = 0, first, again;

    begin();
    for (; !pt_log_full(w); rounds++) {
        least = wanted.n;
        write_rounds(w, makers, authors, 1, 60, &wanted);
    }
    write_rounds(w, makers, AUTHORS, _i % 3, 60, &wanted);
    for (int closed = 0; closed < 2; closed++) {
        struct pt_log_reader *r = log_reader(fd);

        got.n = 0;
        read_all(r, &got);
        if (authors == 1 && _i % 3 == 0)
            least = got.n - 1; /* the last one is STOP */
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
        expect_complete_start(r, &wanted, least, &first);
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
        expect_complete_start(r, &wanted, least, &again);
        ck_assert_uint_eq(first, again);
        pt_log_reader_free(r);
        if (!closed)
            complete(w);
    }
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

/* The events read must be a suffix of each author's events; a log so small that some events do not
 * fit at all has gaps. */
static void expect_suffixes(const struct seen_list *got, bool small)
{
    uint32_t next[AUTHORS + 1] = { 0 };

    for (size_t i = 0; i < got->n; i++) {
        const struct seen *s = &got->at[i];

        if (next[s->wid] && s->no != next[s->wid] && !(small && s->no > next[s->wid]))
            ck_abort_msg("writer %u: %u after %u", s->wid, s->no, next[s->wid] - 1);
        next[s->wid] = s->no + 1;
    }
    for (unsigned a = 0; a < AUTHORS; a++)
        if (next[a + 1] && !small)
            ck_assert_uint_eq(next[a + 1], makers[a].next_no);
}

START_TEST(loop)
{
    static const uint64_t sizes[] = { 200, 1000, 4096, 20000, 100000, 1000000 };
    uint64_t size = sizes[_i / 2];
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, size);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    unsigned events = _i % 2 ? 40 : 700;
    struct pt_log_reader *r;
    struct stat st;

    begin();
    for (int k = 0; k < 40; k++) {
        if (k == 20)
            ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, ID_B + 1, "late"), 0);
        write_rounds(w, makers, AUTHORS, 3, events, &wanted);
        if (k % 5)
            continue;
        got.n = 0;
        r = log_reader(fd);
        ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_A), "event a");
        if (k >= 20)
            ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_B + 1), "late");
        read_all(r, &got);
        expect_suffixes(&got, size < 1000);
        check_account(r, &got, &wanted, POSIXTRACE_LOST_LOG_OVERWRITTEN);
        if (size >= 1000)
            ck_assert_uint_gt(got.n, 0);
        pt_log_reader_free(r);
    }
    complete(w);
    got.n = 0;
    r = log_reader(fd);
    read_all(r, &got);
    expect_suffixes(&got, size < 1000);
    for (size_t i = 1; i < got.n; i++)
        if (got.at[i].ts < got.at[i - 1].ts)
            ck_abort_msg("event %zu is out of order", i);
    check_account(r, &got, &wanted, POSIXTRACE_LOST_LOG_OVERWRITTEN);
    /* at least half of the log's size is in use when there was enough */
    if (size >= 20000 && wanted.n * 40 > size * 2)
        ck_assert_uint_ge(data_bytes(fd), size / 2);
    ck_assert_uint_le(data_bytes(fd), size);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_le((uint64_t)st.st_size, 2 * size + 128 * 1024);
    pt_log_reader_free(r);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

static void *feed(void *arg)
{
    int *fds = arg;
    char buffer[777];
    ssize_t n;
    off_t at = 0;

    while ((n = pread(fds[2], buffer, sizeof buffer, at)) > 0) {
        ck_assert_int_eq(write(fds[1], buffer, (size_t)n), n);
        at += n;
    }
    close(fds[1]);
    return NULL;
}

/* Reads the log in fd through a pipe. */
static void read_piped(int fd, struct seen_list *got, bool complete_log)
{
    int fds[3];
    pthread_t thread;
    struct pt_log_reader *r;
    struct posixtrace_info info;

    ck_assert_int_eq(pipe(fds), 0);
    fds[2] = fd;
    ck_assert_int_eq(pthread_create(&thread, NULL, feed, fds), 0);
    r = log_reader(fds[0]);
    read_all(r, got);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got->n);
    ck_assert_int_eq(info.end, complete_log ? POSIXTRACE_END_SHUTDOWN : POSIXTRACE_END_CUT);
    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_B), "event b");
    pt_log_reader_free(r);
    close(fds[0]);
}

/* The author whose packet comes first has the newest event of a round, and the log overwrites that
 * packet within the round: its last event is an older one.  _i: another writer continues it. */
START_TEST(loop_without_newest)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 4096);
    struct seen_list got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct posixtrace_info info;
    struct pt_log_reader *r;

    begin();
    maker_add(&makers[0], 1000000, 8);
    ck_assert_int_eq(pt_log_put_packet(w, maker_take(&makers[0])), 0);
    if (_i) {
        ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
        pt_log_writer_free(w);
        r = log_reader(fd);
        ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
        pt_log_reader_free(r);
    }
    for (unsigned i = 0; i < 400; i++) {
        maker_add(&makers[1], 100 + 10 * i, 100);
        ck_assert_int_eq(pt_log_put_packet(w, maker_take(&makers[1])), 0);
    }
    complete(w);
    r = log_reader(fd);
    read_all(r, &got);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_gt(got.n, 0);
    ck_assert_uint_eq(got.at[got.n - 1].ts, 4090);
    ck_assert_int_eq(info.first_ns, 1000 + 2 * (int64_t)got.at[0].ts);
    ck_assert_int_eq(info.last_ns, 1000 + 2 * 4090);
    pt_log_reader_free(r);
    free(got.at);
    close(fd);
}
END_TEST

START_TEST(read_from_pipe)
{
    struct pt_log_params params = log_params(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 50000);
    struct seen_list wanted = { 0 }, got = { 0 }, from_file = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;

    begin();
    write_rounds(w, makers, AUTHORS, 10, 1000, &wanted);
    read_piped(fd, &got, false);
    r = log_reader(fd);
    read_all(r, &from_file);
    pt_log_reader_free(r);
    expect_same(&got, &from_file, 0);
    complete(w);
    got.n = 0;
    read_piped(fd, &got, true);
    expect_same(&got, &from_file, 0);
    if (!_i)
        expect_same(&got, &wanted, 0);
    free(wanted.at);
    free(got.at);
    free(from_file.at);
    close(fd);
}
END_TEST

struct drain {
    int from, to;
};

static void *drain(void *arg)
{
    struct drain *d = arg;
    char buffer[4096];
    ssize_t n;

    while ((n = read(d->from, buffer, sizeof buffer)) > 0)
        ck_assert_int_eq(write(d->to, buffer, (size_t)n), n);
    return NULL;
}

START_TEST(write_to_pipe)
{
    static const struct pt_log_status switches_lost = { .lost_switches = 7 };
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fds[2], file = log_file();
    struct drain d;
    pthread_t thread;
    struct pt_log_writer *w;
    struct pt_log_reader *r;

    ck_assert_int_eq(pipe(fds), 0);
    d = (struct drain){ fds[0], file };
    ck_assert_int_eq(pthread_create(&thread, NULL, drain, &d), 0);
    params.seekable = false;
    w = log_writer(fds[1], &params);
    begin();
    write_rounds(w, makers, AUTHORS, 4, 2000, &wanted);
    if (_i) { /* a pipe cannot forget, but the log can start again */
        /* A count of lost switches makes each ROUND longer, that of the clear, too. */
        if (_i == 2)
            ck_assert_int_eq(pt_log_end_round(w, &switches_lost, NULL, 0), 0);
        ck_assert_int_eq(pt_log_clear(w), 0);
        for (unsigned i = 0; i < AUTHORS; i++)
            makers[i].next_no = 0;
        wanted.at[0] = wanted.at[wanted.n - 1];
        wanted.n = 1;
        write_rounds(w, makers, AUTHORS, 4, 2000, &wanted);
    }
    complete(w);
    close(fds[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    for (int cut = 0; cut < 2; cut++) {
        struct stat st;

        got.n = 0;
        r = log_reader(file);
        ck_assert_int_eq(pt_log_reader_complete(r), !cut);
        read_all(r, &got);
        expect_same(&got, &wanted, _i ? 1 : 0);
        pt_log_reader_free(r);
        ck_assert_int_eq(fstat(file, &st), 0);
        ck_assert_int_eq(ftruncate(file, st.st_size - 8), 0);
    }
    params.attr.log_policy = POSIX_TRACE_LOOP;
    ck_assert_int_eq(pt_log_writer_new(&w, file, &params), -EINVAL);
    free(wanted.at);
    free(got.at);
    close(file);
    close(fds[0]);
}
END_TEST

/* A reader of the pipe has the events from before the clear, and what was cleared with them is
 * missing after these. */
START_TEST(clear_in_pipe)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct seen_list wanted = { 0 };
    uint32_t next[AUTHORS + 1];
    struct pt_log_writer *w;
    struct pt_log_reader *r;
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_gt(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20), 0);
    params.seekable = false;
    w = log_writer(fds[1], &params);
    begin();
    write_rounds(w, makers, AUTHORS, 4, 200, &wanted);
    ck_assert_int_eq(pt_log_clear(w), 0);
    for (unsigned i = 0; i < AUTHORS; i++)
        makers[i].next_no += 3;
    write_rounds(w, makers, AUTHORS, 4, 200, &wanted);
    complete(w);
    close(fds[1]);
    r = log_reader(fds[0]);
    ck_assert(!read_whole(r, next, AUTHORS));
    for (unsigned i = 0; i < AUTHORS; i++)
        ck_assert_uint_eq(next[makers[i].wid], makers[i].next_no);
    pt_log_reader_free(r);
    free(wanted.at);
    close(fds[0]);
}
END_TEST

START_TEST(clear)
{
    static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
    struct pt_log_params params = log_params(policies[_i], 30000);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;

    begin();
    write_rounds(w, makers, AUTHORS, 10, 1000, &wanted);
    ck_assert_int_eq(pt_log_clear(w), 0);
    ck_assert(!pt_log_full(w) && !pt_log_overrun(w, false));
    r = log_reader(fd);
    read_all(r, &got);
    ck_assert_uint_eq(got.n, 0);
    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_B), "event b");
    pt_log_reader_free(r);
    for (unsigned i = 0; i < AUTHORS; i++)
        makers[i].next_no = 0;
    wanted.n = 0;
    write_rounds(w, makers, AUTHORS, 2, 100, &wanted);
    complete(w);
    check_both_readings(fd, &wanted);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

/* The first event at or after each time, found by seeking and by reading. */
static void check_seeks(int fd)
{
    struct seen_list all = { 0 };
    struct pt_log_reader *r = log_reader(fd);
    struct pt_event e;

    read_all(r, &all);
    ck_assert_uint_gt(all.n, 100);
    for (size_t i = 0; i < all.n; i += all.n / 97) {
        int64_t ns = 1000 + 2 * (int64_t)all.at[i].ts - (int64_t)(i % 3);
        size_t k = i;

        while (k > 0 && 1000 + 2 * (int64_t)all.at[k - 1].ts >= ns)
            k--;
        ck_assert_int_eq(pt_log_reader_seek(r, ns), 0);
        for (size_t n = 0; n < 3 && k + n < all.n; n++) {
            ck_assert_int_eq(pt_log_reader_next(r, &e), 1);
            ck_assert_uint_eq(e.ts, all.at[k + n].ts);
            ck_assert_uint_eq(e.author->wid, all.at[k + n].wid);
        }
    }
    ck_assert_int_eq(pt_log_reader_seek(r, INT64_MAX), 0);
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    ck_assert_int_eq(pt_log_reader_seek(r, INT64_MIN), 0);
    ck_assert_int_eq(pt_log_reader_next(r, &e), 1);
    ck_assert_uint_eq(e.ts, all.at[0].ts);
    pt_log_reader_free(r);
    free(all.at);
}

START_TEST(seek)
{
    struct pt_log_params params = log_params(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 700000);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    begin();
    write_rounds(w, makers, AUTHORS, 60, 600, &wanted);
    check_seeks(fd);
    complete(w);
    check_seeks(fd);
    free(wanted.at);
    close(fd);
}
END_TEST

START_TEST(overhead)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t events = 0;
    struct stat st;

    begin();
    for (unsigned round = 0; round < 16; round++) {
        for (unsigned k = 0; k < 16; k++) {
            while (makers[0].packet.bytes + pt_record_size(8) <= 16384) {
                maker_add(&makers[0], events, 8);
                events++;
            }
            ck_assert_int_eq(pt_log_put_packet(w, maker_take(&makers[0])), 0);
        }
        ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
    }
    complete(w);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_uint_le((uint64_t)st.st_size, events * 25);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, steps);
    tcase_add_test(t, append);
    tcase_add_test(t, one_author);
    tcase_add_test(t, round_larger_than_the_window);
    tcase_add_test(t, empty);
    tcase_add_loop_test(t, until_full, 0, 6);
    tcase_add_loop_test(t, start_of_full, 0, 24);
    tcase_add_loop_test(t, loop, 0, 12);
    tcase_add_loop_test(t, loop_without_newest, 0, 2);
    tcase_add_loop_test(t, read_from_pipe, 0, 2);
    tcase_add_loop_test(t, write_to_pipe, 0, 3);
    tcase_add_test(t, clear_in_pipe);
    tcase_add_loop_test(t, clear, 0, 3);
    tcase_add_loop_test(t, seek, 0, 2);
    tcase_add_test(t, overhead);
}

int main(void)
{
    return run_suite("log", "round trip", NULL, add);
}
