/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Another process truncates the file while it is written, to any size, in a round or between
 * rounds.  The log continues, opens without damage, has its names, and events read plus events
 * counted as lost are the events written.  A full log accepts events again, if its STOP was cut
 * off.
 *
 * fstat() and pwrite() are this program's own: the file is truncated before one of the writer's
 * checks of its size, or between such a check and the write, and the disk may be full.
 */
#include <errno.h>
#include <fcntl.h>
#include <posixtrace/info.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "log/writer/resume.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 3u
#define ROUNDS  30u

static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
static struct maker makers[AUTHORS], control;
static unsigned stops; /* which the writer of a full log has added */

static unsigned looks;  /* until the file is cut; 0: it is not */
static int share_left;  /* of CUT_SHARES - 1, how much is left */
static unsigned writes; /* the same, after the look before a write */
static bool disk_is_full;

#define CUT_SHARES 4
#define CUT_LOOKS  10
#define CUT_WRITES 12 /* each third of the writes of a log */

static int look_at(int fd, struct stat *st)
{
    return fstatat(fd, "", st, AT_EMPTY_PATH);
}

static void cut_to_share(int fd)
{
    struct stat st;

    ck_assert_int_eq(look_at(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, (st.st_size - 1) * share_left / (CUT_SHARES - 1)), 0);
}

int fstat(int fd, struct stat *st)
{
    if (looks > 0 && --looks == 0)
        cut_to_share(fd);
    return look_at(fd, st);
}

/* A write beyond the end of the file finds no room. */
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    struct stat st;

    if (writes > 0 && --writes == 0)
        cut_to_share(fd);
    if (disk_is_full && look_at(fd, &st) == 0 && offset + (off_t)bytes > st.st_size) {
        if (offset >= st.st_size) {
            errno = ENOSPC;
            return -1;
        }
        bytes = (size_t)(st.st_size - offset);
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

static void cut_somewhere(int fd)
{
    struct stat st;
    off_t to;

    ck_assert_int_eq(fstat(fd, &st), 0);
    switch (rand() % 3) {
    case 0: to = 0; break;
    case 1: to = rand() % 5000; break;
    default: to = rand() % (st.st_size + 1);
    }
    ck_assert_int_eq(ftruncate(fd, to < st.st_size ? to : st.st_size), 0);
}

/* One call may find that a full log was cut, and fill it again: the STOPs are counted. */
static void put(struct pt_log_writer *w, struct maker *maker)
{
    uint64_t before = w->counts[POSIX_TRACE_STOP];

    ck_assert_int_ge(pt_log_put_packet(w, maker_take(maker)), 0);
    stops += w->counts[POSIX_TRACE_STOP] > before;
}

static void write_round(struct pt_log_writer *w, uint64_t *ts, int fd, bool cut)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };
    struct pt_log_author_totals totals[AUTHORS];

    for (unsigned i = 0; i < AUTHORS; i++) {
        for (unsigned k = 0; k < 40; k++)
            maker_add(&makers[i], ++*ts, 8 + 8 * (k % 5));
        put(w, &makers[i]);
        totals[i] = totals_of(&makers[i]);
        if (cut && i == 1)
            cut_somewhere(fd);
    }
    maker_add(&control, ++*ts, 8);
    put(w, &control);
    status.watermark = ++*ts;
    ck_assert_int_eq(pt_log_end_round(w, &status, totals, AUTHORS), 0);
}

static uint64_t sum_of(const uint64_t lost[PT_LOSS_CAUSES])
{
    uint64_t sum = 0;

    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        sum += lost[c];
    return sum;
}

/* Checks for each thread the events read, lost and recorded. */
static void check_threads(struct pt_log_reader *r, const struct seen_list *got)
{
    struct posixtrace_thread_info t;
    uint64_t made = 0, have = 0, recorded = 0;

    for (unsigned i = 0; i < AUTHORS; i++)
        made += makers[i].next_no;
    for (size_t i = 0; i < got->n; i++)
        have += got->at[i].wid != 0;
    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++) {
        have += sum_of(t.lost);
        recorded += t.recorded;
    }
    ck_assert_uint_eq(have, made);
    ck_assert_uint_eq(recorded, made);
}

static void check_log(int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_log_report report;
    struct seen_list got = { 0 };
    struct posixtrace_info info;
    uint64_t made = control.next_no + stops, lost, counted = 0, n;

    for (unsigned i = 0; i < AUTHORS; i++)
        made += makers[i].next_no;
    read_all(r, &got);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got.n);
    lost = sum_of(info.lost);
    ck_assert_msg(got.n + lost == made, "%zu read, %zu lost, %zu made", got.n, (size_t)lost,
                  (size_t)made);
    check_threads(r, &got);
    ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_A), "event a");
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        ck_assert_int_eq(pt_log_reader_count(r, id, &n), 0);
        counted += n;
    }
    ck_assert_uint_eq(counted, got.n);
    pt_log_reader_free(r);
    free(got.at);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_int_eq(report.damaged, 0);
}

static void begin(void)
{
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    maker_init(&control, 0);
    stops = 0;
}

static void fill(struct pt_log_writer *w, uint64_t *ts, int fd)
{
    unsigned before = stops;

    for (unsigned round = 0; round < ROUNDS && !pt_log_full(w); round++)
        write_round(w, ts, fd, false);
    ck_assert(pt_log_full(w));
    ck_assert_uint_eq(stops, before + 1);
}

static uint64_t lost_to_full(struct pt_log_writer *w)
{
    return pt_log_lost(w, POSIXTRACE_LOST_LOG_FULL);
}

static void check_last_is_stop(int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct seen_list got = { 0 };

    read_all(r, &got);
    ck_assert_uint_gt(got.n, 0);
    ck_assert_uint_eq(got.at[got.n - 1].id, POSIX_TRACE_STOP);
    pt_log_reader_free(r);
    free(got.at);
}

/* Shares of the file that are left: of the whole only the ROUND after STOP is not. */
START_TEST(full_again)
{
    struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, 20000);
    bool stays = _i == 4;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0, lost;
    struct stat st;

    begin();
    fill(w, &ts, fd);
    write_round(w, &ts, fd, false);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, stays ? st.st_size - 8 : st.st_size * _i / 4), 0);
    lost = lost_to_full(w);
    ck_assert_uint_gt(lost, 0);
    write_round(w, &ts, fd, false);
    ck_assert_int_eq(pt_log_full(w), stays);
    ck_assert_int_eq(lost_to_full(w) > lost, stays);
    if (!stays)
        fill(w, &ts, fd);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    check_log(fd);
    check_last_is_stop(fd);
    close(fd);
}
END_TEST

/* The same when the writer died, and a recovery writes to it.  emergency: the header says that
 * the log is full, which it stays; it has a STOP again. */
START_TEST(full_again_resumed)
{
    bool emergency = _i % 2 != 0;
    int share = 2 + _i / 2;
    struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, 20000);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    uint64_t ts = 0;
    struct stat st;

    begin();
    fill(w, &ts, fd);
    write_round(w, &ts, fd, false);
    if (emergency)
        pt_log_writer_emergency(w, ENOSPC, 0);
    pt_log_writer_free(w);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, st.st_size * share / 4), 0);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_full(w), emergency || share == 4);
    if (!pt_log_full(w))
        fill(w, &ts, fd);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    check_last_is_stop(fd);
    close(fd);
}
END_TEST

START_TEST(cut)
{
    struct pt_log_params params = log_params(policies[_i % 3], 20000);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0;

    srand((unsigned)_i);
    begin();
    for (unsigned round = 0; round < ROUNDS; round++) {
        write_round(w, &ts, fd, rand() % 8 == 0);
        if (rand() % 8 == 0)
            cut_somewhere(fd);
    }
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    check_log(fd);
    close(fd);
}
END_TEST

/* During the last writes: each look at the size may be the one that finds the cut. */
START_TEST(cut_at_the_end)
{
    int number = _i / CUT_SHARES / CUT_LOOKS;
    struct pt_log_params params = log_params(policies[number], 200000);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t ts = 0;

    begin();
    for (unsigned round = 0; round < ROUNDS; round++)
        write_round(w, &ts, fd, false);
    share_left = _i % CUT_SHARES;
    looks = 1 + (unsigned)(_i / CUT_SHARES % CUT_LOOKS);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    /* What comes after the last look is no business of the writer. */
    if (looks == 0)
        check_log(fd);
    looks = 0;
    close(fd);
}
END_TEST

static int write_only(int fd)
{
    char path[40];
    int own;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(own, 0);
    return own;
}

/* The write makes the file as long as it was before the cut; the writer may not read by its own
 * descriptor. */
START_TEST(cut_after_a_look)
{
    int number = _i / CUT_SHARES / CUT_WRITES;
    struct pt_log_params params = log_params(policies[number], 200000);
    int fd = log_file(), to_write = write_only(fd);
    struct pt_log_writer *w = log_writer(to_write, &params);
    uint64_t ts = 0;

    begin();
    pt_log_read_by(w, fd);
    share_left = _i % CUT_SHARES;
    writes = 1 + 3 * (unsigned)(_i / CUT_SHARES % CUT_WRITES);
    for (unsigned round = 0; round < ROUNDS; round++)
        write_round(w, &ts, fd, false);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    if (writes == 0)
        check_log(fd);
    writes = 0;
    close(to_write);
    close(fd);
}
END_TEST

/* The disk is full when the cut is found, and stays so. */
START_TEST(cut_on_a_full_disk)
{
    struct pt_log_params params = log_params(policies[_i / CUT_SHARES % 3], 200000);
    bool ends_round = _i / CUT_SHARES / 3;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct seen_list got = { 0 };
    struct posixtrace_info info;
    struct pt_log_reader *r;
    uint64_t ts = 0, made = 0;
    struct stat st;

    begin();
    for (unsigned round = 0; round < ROUNDS; round++)
        write_round(w, &ts, fd, false);
    for (unsigned i = 0; i < AUTHORS; i++) {
        maker_add(&makers[i], ++ts, 8);
        put(w, &makers[i]);
        made += makers[i].next_no;
    }
    ck_assert_int_eq(look_at(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, (st.st_size - 1) * (_i % CUT_SHARES) / (CUT_SHARES - 1)), 0);
    disk_is_full = true;
    if (ends_round)
        ck_assert_int_eq(pt_log_end_round(w, NULL, NULL, 0), -ENOSPC);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), -ENOSPC);
    disk_is_full = false;
    pt_log_writer_free(w);
    /* The header is there if there was room for it. */
    if (_i % CUT_SHARES > 0) {
        r = log_reader(fd);
        read_damaged(r, &got);
        ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
        ck_assert_uint_eq(got.n + sum_of(info.lost), made + control.next_no + stops);
        pt_log_reader_free(r);
    }
    free(got.at);
    close(fd);
}
END_TEST

/* The writer itself replaces the last bytes by zeros. */
START_TEST(zeros_are_no_cut)
{
    static const uint8_t zeros[64];
    uint8_t bytes[128];
    int fd = log_file();
    struct pt_output o;

    memset(bytes, 'x', sizeof bytes);
    ck_assert_int_eq(pt_output_init(&o, fd, true, 0), 0);
    for (uint64_t at = 0; at < 8 * sizeof bytes; at += sizeof bytes) {
        ck_assert_int_eq(pt_output_write_at(&o, bytes, sizeof bytes, at), 0);
        ck_assert_int_eq(pt_output_write_at(&o, zeros, 64 - _i, at + 64), 0);
    }
    ck_assert(!o.was_cut);
    pt_output_deinit(&o);
    close(fd);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, cut, 0, (int)test_size(60));
    tcase_add_loop_test(t, cut_at_the_end, 0, CUT_LOOKS * CUT_SHARES * 3);
    tcase_add_loop_test(t, cut_after_a_look, 0, CUT_WRITES * CUT_SHARES * 3);
    tcase_add_loop_test(t, cut_on_a_full_disk, 0, CUT_SHARES * 3 * 2);
    tcase_add_loop_test(t, zeros_are_no_cut, 0, 2);
    tcase_add_loop_test(t, full_again, 0, 5);
    tcase_add_loop_test(t, full_again_resumed, 0, 6);
}

int main(void)
{
    return run_suite("cut", "files cut by somebody", NULL, add_tests);
}
