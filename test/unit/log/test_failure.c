/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Failing writes.  pwrite() is this program's own: it refuses writes beyond a limit, as a full disk
 * does, writes in pieces and is interrupted now and then.  At any moment the log opens, and read +
 * lost = written, author by author.
 */
#include <posixtrace/info.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "log/reader/state.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 3u
#define ROUNDS  (logs_are_packed() ? 60u : 12u)

static struct maker makers[AUTHORS];

/* Packed logs need more rounds until a disk is full; not each of them is read. */
static bool is_looked_at(unsigned round)
{
    return !logs_are_packed() || round % 6 == 5;
}

static off_t limit_of_files = INT64_MAX;
static unsigned calls;
/* So many writes of the header fail, after so many of its bytes. */
static unsigned bad_headers;
static size_t header_part;

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    if (++calls % 7 == 0) {
        errno = EINTR;
        return -1;
    }
    if (bad_headers && offset < (off_t)PT_LOG_STATUS_OFF) {
        if (offset == 0 && header_part)
            return syscall(SYS_pwrite64, fd, from, header_part, offset);
        bad_headers--;
        errno = EIO;
        return -1;
    }
    if (offset >= limit_of_files) {
        errno = EFBIG;
        return -1;
    }
    if ((off_t)bytes > limit_of_files - offset)
        bytes = (size_t)(limit_of_files - offset);
    if (calls % 5 == 0 && bytes > 100)
        bytes -= 77;
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static void limit_files(off_t bytes)
{
    limit_of_files = bytes;
}

static void no_limit(void)
{
    limit_files(INT64_MAX);
}

/* One round; packets that cannot be written are dropped, as callers do. */
static int try_round(struct pt_log_writer *w, uint64_t *ts)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };
    struct pt_log_author_totals totals[AUTHORS];
    int error = 0, rc;

    for (unsigned i = 0; i < AUTHORS; i++) {
        struct pt_log_packet *p;

        for (unsigned k = 0; k < 40; k++)
            maker_add(&makers[i], ++*ts, 8 + 8 * (k % 5));
        p = maker_take(&makers[i]);
        rc = pt_log_put_packet(w, p);
        if (rc < 0) {
            pt_log_drop_packet(w, p);
            error = rc;
        }
        totals[i] = totals_of(&makers[i]);
    }
    status.watermark = ++*ts;
    status.flush_error = -error;
    rc = pt_log_end_round(w, &status, totals, AUTHORS);
    return rc ? rc : error;
}

/* What was not written is a gap, also at the end of a complete log. */
static void check_gaps(int fd, bool complete)
{
    struct pt_log_reader *r = log_reader(fd);
    uint32_t next[AUTHORS + 1];
    bool gap = read_whole(r, next, AUTHORS);

    for (unsigned i = 1; complete && !gap && i <= AUTHORS; i++)
        ck_assert(!next[i] || next[i] == makers[i - 1].next_no);
    pt_log_reader_free(r);
}

static void check_account(int fd, bool complete, uint64_t *lost)
{
    uint64_t got_by[AUTHORS + 1] = { 0 };
    struct seen_list got = { 0 };
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_thread_info t;
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    unsigned threads = 0;

    ck_assert_int_eq(pt_log_reader_complete(r), complete);
    pt_log_reader_status(r, &status);
    read_all(r, &got);
    for (size_t i = 0; i < got.n; i++)
        got_by[got.at[i].wid]++;
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got.n);
    *lost = 0;
    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++, threads++) {
        uint64_t n = 0;

        for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
            n += t.lost[c];
        ck_assert_uint_eq(t.recorded, makers[i].next_no);
        ck_assert_uint_eq(t.recorded, got_by[i + 1] + n);
        *lost += n;
    }
    ck_assert_uint_eq(threads, AUTHORS);
    ck_assert(!info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] ||
              status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
    ck_assert_uint_eq(
        info.lost[POSIXTRACE_LOST_LOG_ERROR] + info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], *lost);
    pt_log_reader_free(r);
    free(got.at);
    check_gaps(fd, complete);
}

static uint64_t lost_by_overwriting(int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    uint64_t lost;

    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    pt_log_reader_status(r, &status);
    lost = info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN];
    ck_assert_int_eq(status.posix_log_overrun_status,
                     lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN);
    pt_log_reader_free(r);
    return lost;
}

static void start(void)
{
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
}

/* The disk fills up in the middle of a round and stays full. */
START_TEST(full_for_good)
{
    struct pt_log_params params = log_params(_i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 30000);
    struct pt_log_status status = { .flush_error = EFBIG };
    int fd = log_file(), rc = 0;
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost, before = 0;
    struct posixtrace_info info;
    struct pt_log_reader *r;
    struct stat st;

    start();
    limit_files((off_t)(9000 + 1733 * _i));
    for (unsigned k = 0; k < ROUNDS; k++) {
        rc = try_round(w, &ts);
        if (!is_looked_at(k))
            continue;
        check_account(fd, false, &lost);
        ck_assert_uint_ge(lost, before);
        before = lost;
    }
    ck_assert_int_eq(rc, -EFBIG);
    ck_assert_uint_gt(lost, 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), -EFBIG);
    pt_log_writer_free(w);
    check_account(fd, true, &lost);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_int_eq(info.flush_error, EFBIG);
    ck_assert_int_eq(info.end, POSIXTRACE_END_SHUTDOWN);
    ck_assert_uint_eq(info.skipped_bytes, 0);
    pt_log_reader_free(r);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_le(st.st_size, 9000 + 1733 * _i);
    close(fd);
}
END_TEST

/* Room is made again: what was buffered is written after all. */
START_TEST(full_for_a_while)
{
    struct pt_log_params params = log_params(_i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 50000);
    struct pt_log_status status = { .flush_error = EFBIG };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost;

    start();
    limit_files((off_t)(9000 + 1733 * _i));
    for (unsigned k = 0; k < ROUNDS; k++)
        try_round(w, &ts);
    limit_files(INT64_MAX);
    for (unsigned k = 0; k < ROUNDS; k++) {
        ck_assert_int_eq(try_round(w, &ts), 0);
        if (is_looked_at(k))
            check_account(fd, false, &lost);
    }
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), 0);
    pt_log_writer_free(w);
    check_account(fd, true, &lost);
    if (!(_i % 2)) /* the buffer was never full: nothing was lost at all */
        ck_assert_uint_eq(lost, 0);
    close(fd);
}
END_TEST

/* The parts that a LOOP log gives up are in the file, then partly, then only in the buffer. */
START_TEST(loop_within_the_buffer)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, (logs_are_packed() ? 3000 : 20000) +
                                                                   977 * (uint64_t)_i);
    struct pt_log_status status = { .flush_error = EFBIG };
    int fd = log_file(), rc = 0;
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost, overwritten;

    start();
    for (unsigned k = 0; k < ROUNDS; k++)
        ck_assert_int_eq(try_round(w, &ts), 0);
    ck_assert_uint_gt(overwritten = pt_log_lost(w, POSIXTRACE_LOST_LOG_OVERWRITTEN), 0);
    limit_files(4096);
    for (unsigned k = 0; k < ROUNDS; k++) {
        rc = try_round(w, &ts);
        if (is_looked_at(k))
            check_account(fd, false, &lost);
    }
    ck_assert_int_eq(rc, -EFBIG);
    ck_assert_uint_gt(pt_log_lost(w, POSIXTRACE_LOST_LOG_OVERWRITTEN), overwritten);
    if (_i % 2) {
        limit_files(INT64_MAX);
        ck_assert_int_eq(try_round(w, &ts), 0);
        check_account(fd, false, &lost);
    }
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0),
                     _i % 2 ? 0 : -EFBIG);
    pt_log_writer_free(w);
    check_account(fd, true, &lost);
    close(fd);
}
END_TEST

/* A LOOP log overwrites its first events, and the ROUND or status that says so is not there yet: a
 * reader counts them, and says that the log has an overrun. */
START_TEST(first_overwritten)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, logs_are_packed() ? 3000 : 20000);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0;

    start();
    while (!lost_by_overwriting(fd)) {
        ck_assert_uint_lt(ts, 1000000);
        for (unsigned i = 0; i < 10; i++)
            maker_add(&makers[0], ++ts, 8);
        ck_assert_int_eq(pt_log_put_packet(w, maker_take(&makers[0])), PT_LOG_STORED);
        ck_assert_int_eq(pt_log_writer_flush(w), 0);
        if (!pt_log_full(w))
            ck_assert_int_eq(pt_log_end_round(w, NULL, NULL, 0), 0);
    }
    pt_log_writer_free(w);
    close(fd);
}
END_TEST

/* posix_trace_clear() has made the file empty, and cannot write what a new log begins with: the
 * next round does, and the log is whole when the process is killed. */
START_TEST(clear_fails)
{
    enum { ALL, HEADER, REST_OF_HEADER, FAILURES };
    struct pt_log_params params = log_params(_i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 20000);
    int fd = log_file(), failure = _i / 2;
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost;
    struct pt_log_reader *r;

    ck_assert_int_lt(failure, FAILURES);
    start();
    for (unsigned k = 0; k < ROUNDS; k++)
        ck_assert_int_eq(try_round(w, &ts), 0);
    bad_headers = failure == ALL ? 0 : 1;
    header_part = failure == REST_OF_HEADER ? 100 : 0;
    limit_files(failure == ALL ? 0 : INT64_MAX);
    ck_assert_int_eq(pt_log_clear(w), failure == ALL ? -EFBIG : -EIO);
    no_limit();
    start();
    ck_assert_int_eq(try_round(w, &ts), 0);
    check_account(fd, false, &lost);
    ck_assert_uint_eq(lost, 0);
    r = log_reader(fd);
    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_A), "event a");
    ck_assert_uint_ge(r->whole.part, ROUNDS + 2);
    pt_log_reader_free(r);
    pt_log_writer_free(w);
    close(fd);
}
END_TEST

/* A ring begins, and only some bytes of its header can be written: the next round writes a whole
 * one, also if it has no events, which need no ring. */
START_TEST(part_of_a_header)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, logs_are_packed() ? 3000 : 20000);
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };
    int fd = log_file(), rc = 0;
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost;

    start();
    while (ts < 40 * AUTHORS * ROUNDS && rc == 0) {
        bad_headers = 10;
        header_part = 100 + 111 * (size_t)_i;
        rc = try_round(w, &ts);
    }
    ck_assert_int_eq(rc, -EIO);
    bad_headers = 0;
    ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
    check_account(fd, false, &lost);
    ck_assert_int_eq(try_round(w, &ts), 0);
    check_account(fd, false, &lost);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), 0);
    pt_log_writer_free(w);
    check_account(fd, true, &lost);
    close(fd);
}
END_TEST

/* More than the buffer holds while the disk is full: packets are refused. */
START_TEST(buffer_overflows)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    int fd = log_file(), refused = 0;
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost;

    start();
    limit_files(20000);
    for (unsigned k = 0; k < (logs_are_packed() ? 600 : 150); k++)
        refused += try_round(w, &ts) != 0;
    ck_assert_int_gt(refused, 100);
    check_account(fd, false, &lost);
    ck_assert_uint_eq(pt_log_lost(w, POSIXTRACE_LOST_FULL), 0);
    ck_assert_uint_gt(pt_log_lost(w, POSIXTRACE_LOST_LOG_ERROR), 0);
    limit_files(INT64_MAX);
    for (unsigned k = 0; k < 3; k++)
        ck_assert_int_eq(try_round(w, &ts), 0);
    check_account(fd, false, &lost);
    ck_assert_uint_eq(lost, pt_log_lost(w, POSIXTRACE_LOST_LOG_ERROR));
    pt_log_writer_free(w);
    close(fd);
}
END_TEST

/* Every moment: the limit moves byte by byte through a round. */
START_TEST(any_moment)
{
    struct pt_log_status status = { .flush_error = EFBIG };

    off_t most = 4096 + (logs_are_packed() ? 1000 : 3000);

    for (off_t limit = 4096; limit < most; limit += 13) {
        struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, 60000);
        struct pt_sync sync = { .ns = 1000, .mult = 2ull << 32 };
        uint64_t ts = 0, lost;
        struct pt_log_writer *w;
        int fd = log_file();

        start();
        limit_files(limit);
        ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), 0);
        ck_assert_int_eq(pt_log_put_sync(w, &sync), 0);
        ck_assert_int_eq(try_round(w, &ts), -EFBIG);
        if (limit > 4096 + 100) /* else the sync point is not there either */
            check_account(fd, false, &lost);
        ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), -EFBIG);
        pt_log_writer_free(w);
        check_account(fd, true, &lost);
        limit_files(INT64_MAX);
        close(fd);
    }
}
END_TEST

START_TEST(no_room_for_the_header)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct pt_log_writer *w;
    int fd = log_file(), fds[2];

    signal(SIGPIPE, SIG_IGN);
    limit_files(4000);
    ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), -EFBIG);
    limit_files(INT64_MAX);
    ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), 0);
    pt_log_writer_free(w);
    close(fd);
    ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), -EBADF);
    ck_assert_int_eq(pipe(fds), 0);
    close(fds[0]);
    params.seekable = false;
    ck_assert_int_eq(pt_log_writer_new(&w, fds[1], &params), -EPIPE);
    close(fds[1]);
}
END_TEST

START_TEST(bad_packets)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct seen_list got = { 0 };
    struct maker *m = &makers[0];
    struct pt_log_packet *p;
    struct pt_log_reader *r;
    uint64_t good[6] = { 0 };

    start();
    maker_add(m, 1, 8);
    p = maker_take(m);
    p->bytes -= 8; /* ends within a record */
    ck_assert_int_eq(pt_log_put_packet(w, p), -EBADMSG);
    p->bytes = 2u << 20; /* larger than any packet */
    ck_assert_int_eq(pt_log_put_packet(w, p), -EBADMSG);
    p->records = good;
    p->bytes = sizeof good;
    pt_record_put_head(good, PT_RECORD_EVENT, 0, 0, 0, 0); /* no event type */
    ck_assert_int_eq(pt_log_put_packet(w, p), -EBADMSG);
    pt_record_put_head(good, PT_RECORD_EVENT, PT_ID_MAX, 0, 0, 0);
    ck_assert_int_eq(pt_log_put_packet(w, p), -EBADMSG);
    pt_record_put_head(good, PT_RECORD_AUTHOR, 1, 0, 0, 0);
    ck_assert_int_eq(pt_log_put_packet(w, p), -EBADMSG);
    p->bytes = 0;
    ck_assert_int_eq(pt_log_put_packet(w, p), PT_LOG_STORED);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, 0, "x"), -EINVAL);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, PT_ID_MAX, "x"), -EINVAL);
    ck_assert_int_eq(pt_log_end_round(w, &(struct pt_log_status){ 0 }, NULL, 0), 0);
    r = log_reader(fd);
    read_all(r, &got);
    ck_assert_uint_eq(got.n, 0);
    pt_log_reader_free(r);
    pt_log_writer_free(w);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_checked_fixture(t, no_limit, no_limit);
    tcase_add_loop_test(t, full_for_good, 0, 10);
    tcase_add_loop_test(t, full_for_a_while, 0, 10);
    tcase_add_loop_test(t, loop_within_the_buffer, 0, 10);
    tcase_add_test(t, first_overwritten);
    tcase_add_loop_test(t, clear_fails, 0, 6);
    tcase_add_loop_test(t, part_of_a_header, 0, 4);
    tcase_add_test(t, buffer_overflows);
    tcase_add_test(t, any_moment);
    tcase_add_test(t, no_room_for_the_header);
    tcase_add_test(t, bad_packets);
}

int main(void)
{
    return run_suite("log", "failure", NULL, add);
}
