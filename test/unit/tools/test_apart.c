/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Root's side of a worker (tools/apart/apart.h): root accepts a log in pieces of any length, and
 * refuses other data at its place; and root waits neither for a stopped worker nor for a log file
 * that blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>
#include "apart/apart.h"
#include "support/run_suite.h"

enum { HEADER = 4096, DATA = 1, ROUND = 4, END = 6 };

static uint8_t bytes[1 << 16];
static size_t length;

static void put_number(size_t at, uint64_t n, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        bytes[at + i] = (uint8_t)(n >> 8 * i);
}

static size_t put_packet(unsigned type, uint32_t size, uint64_t lsn, uint32_t events)
{
    size_t at = length;

    memset(bytes + at, 0, size);
    memcpy(bytes + at, "PXTP", 4);
    put_number(at + 4, type, 2);
    put_number(at + 8, size, 4);
    put_number(at + 16, lsn, 8);
    if (type == DATA)
        put_number(at + 88, events, 4);
    length += size;
    return at;
}

static void make_log(void)
{
    memset(bytes, 0, HEADER);
    memcpy(bytes, "PXTLOG\r\n", 8);
    length = HEADER;
    put_packet(ROUND, 32, 1, 0);
    put_packet(DATA, 128, 2, 7);
    put_packet(DATA, 1024, 5, 30);
    put_packet(ROUND, 312, 6, 0);
    put_packet(END, 48, 7, 0);
}

static bool takes(size_t piece)
{
    struct apart_log log = { .bytes = 0 };

    for (size_t at = 0; at < length; at += piece)
        if (!apart_log_check(&log, bytes + at, length - at < piece ? length - at : piece))
            return false;
    ck_assert_uint_eq(log.bytes, length);
    ck_assert_uint_eq(log.events, 37);
    ck_assert(log.ended);
    return true;
}

START_TEST(pieces)
{
    make_log();
    for (size_t piece = 1; piece < 200; piece++)
        ck_assert(takes(piece));
    ck_assert(takes(length));
}
END_TEST

static bool refused(size_t at, uint64_t value, unsigned width)
{
    uint8_t kept[8];
    bool taken;

    memcpy(kept, bytes + at, sizeof kept);
    put_number(at, value, width);
    taken = takes(77);
    memcpy(bytes + at, kept, sizeof kept);
    return !taken;
}

START_TEST(not_a_log)
{
    size_t data = HEADER + 32 + 128;

    make_log();
    ck_assert(refused(0, 'X', 1));
    ck_assert(refused(64, 4096, 8)); /* a ring */
    ck_assert(refused(HEADER, 0, 4));
    ck_assert(refused(data, 0x50545851, 4));
    ck_assert(refused(data + 4, 0, 2));
    ck_assert(refused(data + 4, 64, 2));
    ck_assert(refused(data + 8, 0, 4));
    ck_assert(refused(data + 8, 1025, 4));
    ck_assert(refused(data + 8, (1 << 20) + 8, 4));
    ck_assert(refused(data + 8, UINT32_MAX - 7, 4));
    ck_assert(refused(data + 16, 2, 8));
    ck_assert(takes(77));
    put_packet(ROUND, 32, 8, 0); /* after the end */
    ck_assert(!takes(77));
}
END_TEST

START_TEST(a_limit)
{
    struct apart_log log = { .most = HEADER + 100 };

    make_log();
    ck_assert(apart_log_check(&log, bytes, HEADER + 60));
    ck_assert(apart_log_check(&log, bytes, 40));
    ck_assert(!apart_log_check(&log, bytes, 1));
    put_number(64, 4096, 8);
    log = (struct apart_log){ .most = HEADER + 100, .loops = true };
    ck_assert(apart_log_check(&log, bytes, HEADER + 60));
    log = (struct apart_log){ .most = HEADER + 100 };
    ck_assert(!apart_log_check(&log, bytes, HEADER));
    put_number(64, 0, 8);
    log = (struct apart_log){ .most = HEADER + 100 };
    bytes[3]++;
    ck_assert(!apart_log_check(&log, bytes, HEADER));
}
END_TEST

/* The length of a log of that size with as many and as short rounds as there can be. */
static uint64_t longest(int policy, uint64_t size)
{
    char name[] = "log-XXXXXX";
    struct posix_trace_status_info status;
    trace_event_set_t marks;
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    struct stat st;
    int fd = mkstemp(name);

    ck_assert_int_ge(fd, 0);
    unlink(name);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, size), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_eventset_fill(&marks, POSIX_TRACE_SYSTEM_EVENTS), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &marks, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_eventid_open("short", &id), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    do {
        posix_trace_event(id, NULL, 0);
        ck_assert_int_eq(posix_trace_flush(trid), 0);
        do
            ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
        while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
    } while (status.posix_log_full_status != POSIX_TRACE_FULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    close(fd);
    return (uint64_t)st.st_size;
}

START_TEST(long_logs)
{
    const uint64_t size = 100000;
    bool loops = _i == 0;
    int policy = loops ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL;
    uint64_t by = apart_log_most(2 * size, loops) - apart_log_most(size, loops);

    /* A round more or less. */
    ck_assert_uint_le(longest(policy, 2 * size) - longest(policy, size), by + 1000);
    ck_assert_uint_eq(apart_log_most(UINT64_MAX / 2, loops), UINT64_MAX);
}
END_TEST

/* A worker that sends these bytes and stays; the status that root makes of it. */
static int status_of(struct apart *a, const void *sent, size_t size)
{
    FILE *log = tmpfile();
    int ends[2];

    ck_assert(log && pipe(ends) == 0);
    *a = (struct apart){ .target = getpid(), .fd = ends[0], .log = fileno(log) };
    a->buffer = malloc(sizeof(struct apart_head) + APART_MOST);
    ck_assert_ptr_nonnull(a->buffer);
    a->worker = fork();
    if (a->worker == 0) {
        for (size_t at = 0; at < size;)
            at += (size_t)write(ends[1], (const char *)sent + at, size - at);
        pause();
    }
    close(ends[1]);
    while (apart_read(a))
        ;
    fclose(log);
    return apart_end(a);
}

static void is_ended(uint32_t kind, uint32_t said, uint32_t size)
{
    struct apart_head head = { kind, said };
    struct apart a;

    memcpy(bytes, &head, sizeof head);
    memset(bytes + sizeof head, 'x', size);
    ck_assert_int_eq(status_of(&a, bytes, sizeof head + size), 1);
    ck_assert(a.hostile);
    ck_assert(WIFSIGNALED(a.status));
    ck_assert_int_eq(WTERMSIG(a.status), SIGKILL);
}

START_TEST(other_frames)
{
    is_ended(0, 8, 8);
    is_ended(APART_COUNTS + 1, 8, 8);
    is_ended(APART_LOG, APART_MOST + 1, 8);
    is_ended(APART_LOG, UINT32_MAX, 8);
    is_ended(APART_LOG, 8, 8);
    is_ended(APART_COUNTS, 8, 8);
    is_ended(APART_COUNTS, sizeof(struct apart_counts) + 1, sizeof(struct apart_counts) + 1);
}
END_TEST

/* A worker that has sent so many bytes and is stopped. */
static void start_stopped(struct apart *a, const void *sent, size_t size)
{
    int ends[2], status;

    *a = (struct apart){ .target = getpid(), .log = -1, .patience = 50 };
    ck_assert_int_eq(pipe(ends), 0);
    a->worker = fork();
    if (a->worker == 0) {
        if (write(ends[1], sent, size) == (ssize_t)size)
            raise(SIGSTOP);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(a->worker, &status, WUNTRACED), a->worker);
    ck_assert(WIFSTOPPED(status));
    close(ends[1]);
    a->fd = ends[0];
    a->buffer = malloc(sizeof(struct apart_head) + APART_MOST);
    ck_assert_ptr_nonnull(a->buffer);
}

static void is_killed(struct apart *a)
{
    ck_assert(a->over && WIFSIGNALED(a->status) && WTERMSIG(a->status) == SIGKILL);
    ck_assert_int_eq(apart_end(a), 1);
}

/* A worker that is stopped and says nothing does not keep root waiting. */
START_TEST(stopped)
{
    struct apart a;

    start_stopped(&a, "", 0);
    apart_read_within(&a, 50);
    is_killed(&a);
    start_stopped(&a, "", 0);
    ck_assert(!apart_listen(&a));
    ck_assert(a.silent);
    is_killed(&a);
}
END_TEST

/* What has come is a sign of life, even a text of no bytes, whenever root reads it; while a log
 * takes nothing root does not listen. */
START_TEST(signs_of_life)
{
    struct apart_head beat = { APART_TEXT, 0 };
    struct apart a;

    start_stopped(&a, &beat, sizeof beat);
    ck_assert(!apart_is_silent(&a)); /* heard at 0, which is long ago */
    ck_assert(apart_listen(&a));
    ck_assert_int_gt(a.heard, 0);
    a.patience = INT32_MAX;
    ck_assert(!apart_is_silent(&a));
    a.patience = 0;
    ck_assert(apart_is_silent(&a));
    a.pending = 1;
    ck_assert(!apart_is_silent(&a));
    a.pending = 0;
    ck_assert(!apart_listen(&a));
    ck_assert(!apart_is_silent(&a));
    is_killed(&a);
}
END_TEST

/* A log file that blocks: the rest waits, and the frames after it; dropped data is counted. */
START_TEST(stalled_log)
{
    struct apart_head head = { APART_LOG, 0 };
    struct apart a = { .target = getpid() };
    int ends[2], to_log[2];
    struct pollfd waits;

    make_log();
    head.length = (uint32_t)length;
    ck_assert(pipe(ends) == 0 && pipe2(to_log, O_NONBLOCK) == 0);
    ck_assert_int_eq(fcntl(to_log[1], F_SETPIPE_SZ, HEADER), HEADER);
    a.worker = fork();
    if (a.worker == 0) {
        signal(SIGTERM, SIG_DFL); /* check has a handler */
        if (write(ends[1], &head, sizeof head) < 0 || write(ends[1], bytes, length) < 0)
            _exit(1);
        pause();
    }
    close(ends[1]);
    a.fd = ends[0];
    a.log = to_log[1];
    a.buffer = malloc(sizeof(struct apart_head) + APART_MOST);
    ck_assert_ptr_nonnull(a.buffer);
    while (a.pending == 0)
        ck_assert(apart_read(&a));
    waits = apart_awaits(&a);
    ck_assert_int_eq(waits.fd, a.log);
    ck_assert_uint_eq(a.check.events, 37);
    ck_assert_uint_eq(a.written.events, 0);
    /* Its reader takes what was there: a part of the rest fits. */
    ck_assert_int_eq(read(to_log[0], bytes, HEADER), HEADER);
    ck_assert(apart_read(&a));
    ck_assert_uint_eq(a.pending, 0);
    ck_assert_uint_eq(a.written.events, 37);
    ck_assert_uint_eq(apart_lost(&a), 0);
    a.counts.events = 40;
    ck_assert_uint_eq(apart_lost(&a), 3);
    a.left = 5;
    ck_assert_uint_eq(apart_lost(&a), 5);
    a.left = a.counts.events = a.check.events = 0; /* a log with a limit */
    ck_assert_uint_eq(apart_lost(&a), 0);
    a.counts.events = 40;
    ck_assert_uint_eq(apart_lost(&a), 3);
    apart_drop_log(&a, ETIMEDOUT);
    apart_kill(&a);
    ck_assert_int_eq(apart_end(&a), 1);
    close(to_log[0]);
    close(to_log[1]);
}
END_TEST

static void add(TCase *c)
{
    tcase_add_test(c, other_frames);
    tcase_add_test(c, pieces);
    tcase_add_test(c, not_a_log);
    tcase_add_test(c, a_limit);
    tcase_add_loop_test(c, long_logs, 0, 2);
    tcase_add_test(c, stopped);
    tcase_add_test(c, signs_of_life);
    tcase_add_test(c, stalled_log);
}

int main(void)
{
    return run_suite("apart", "apart", NULL, add);
}
