/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics of damaged logs: each packet of a log in turn is damaged, or removed from the file.  Each
 * measurement then is also one of the whole log; measurements that contain the damage are unknown.
 * Metrics of logs that were full, or whose stream was.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/ada_metrics.h>
#include "support/flush_log.h"
#include "support/run_suite.h"

/* A measurement: a start event, INSIDE events, an end event. */
enum { INSIDE = 3, LARGEST = 2000, THREADS = 2, ROUNDS = 30 };
/* Of docs/log-format.md. */
enum { DATA_START = 4096, PACKET_HEAD = 32, PACKET_BYTES_AT = 8 };

struct found {
    struct posixtrace_measurement m[LARGEST];
    size_t known;
    struct posixtrace_doubt doubt;
};

static struct found whole, damaged;
static trace_event_id_t types[3];
static posixtrace_metric_t *metric;
static pthread_barrier_t turn;
static uint8_t *bytes;
static size_t size;

/* The start of the packet at or after a place; size: there is none. */
static size_t packet_at(size_t at)
{
    while (at + PACKET_HEAD <= size && memcmp(bytes + at, "PXTP", 4) != 0)
        at += 8;
    return at + PACKET_HEAD <= size ? at : size;
}

static size_t packet_bytes(size_t at)
{
    const uint8_t *b = bytes + at + PACKET_BYTES_AT;

    return b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct found *f = context;

    if (m->unknown)
        return 0;
    ck_assert_uint_lt(f->known, LARGEST);
    f->m[f->known++] = *m;
    return 0;
}

static void *trace_rounds(void *seed)
{
    unsigned next = *(unsigned *)seed, place = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        next = next * 1103515245 + 12345;
        for (unsigned events = 1 + (next >> 16) % 40; events > 0; events--) {
            posix_trace_event(types[place == 0 ? 0 : place <= INSIDE ? 1 : 2], NULL, 0);
            place = (place + 1) % (INSIDE + 2);
        }
        pthread_barrier_wait(&turn); /* all have traced */
        pthread_barrier_wait(&turn); /* and a flush is done */
    }
    return NULL;
}

/* A log whose flush rounds end anywhere in measurements of two threads.  The longest measurement is
 * of this thread: from the first round to the last. */
static void make_log(int fd)
{
    static const char *const names[] = { "begin", "inside", "end" };
    static unsigned seeds[THREADS] = { 5, 77 };
    pthread_t threads[THREADS];
    trace_id_t stream;
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(posix_trace_eventid_open(names[i], &types[i]), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &stream), 0);
    ck_assert_int_eq(posix_trace_start(stream), 0);
    posix_trace_event(types[0], NULL, 0);
    ck_assert_int_eq(pthread_barrier_init(&turn, NULL, THREADS + 1), 0);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, trace_rounds, &seeds[i]), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&turn);
        flush_log(stream);
        pthread_barrier_wait(&turn);
    }
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    posix_trace_event(types[2], NULL, 0);
    pthread_barrier_destroy(&turn);
    ck_assert_int_eq(posix_trace_shutdown(stream), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
}

static void measure(int fd, struct found *f)
{
    posixtrace_metric_run_t *run;
    trace_id_t trid;
    int none;

    f->known = 0;
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric }, 1,
                                                  trid, note, f, &run),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_metric_run_end(run), 0);
    posixtrace_metric_run_doubt(run, 0, &f->doubt, sizeof f->doubt);
    posixtrace_metric_run_free(run);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

static bool is_of_the_whole(const struct posixtrace_measurement *m)
{
    for (size_t i = 0; i < whole.known; i++) {
        const struct posixtrace_measurement *w = &whole.m[i];

        if (w->tid == m->tid && w->begin_ns == m->begin_ns)
            return w->end_ns == m->end_ns && w->length_ns == m->length_ns &&
                   w->intermediate_events == m->intermediate_events;
    }
    return false;
}

/* Checks the measurements of the log of n bytes at from. */
static void expect_truth(const uint8_t *from, size_t n)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, from, n), (ssize_t)n);
    measure(fd, &damaged);
    for (size_t i = 0; i < damaged.known; i++)
        if (!is_of_the_whole(&damaged.m[i]))
            ck_abort_msg("measurement %zu of %zu was none: %ld ns", i, damaged.known,
                         (long)damaged.m[i].length_ns);
    close(fd);
}

static int64_t longest_of(const struct found *f)
{
    int64_t longest = 0;

    for (size_t i = 0; i < f->known; i++)
        longest = f->m[i].length_ns > longest ? f->m[i].length_ns : longest;
    return longest;
}

/* The longest measurement of the whole log is known, or not beyond the bound. */
static void expect_bound(void)
{
    if (longest_of(&damaged) < longest_of(&whole))
        ck_assert_int_ge(damaged.doubt.at_most_ns, longest_of(&whole));
    ck_assert_int_lt(damaged.doubt.at_most_ns, POSIXTRACE_NO_BOUND);
}

static void begin(void)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    make_log(fd);
    ck_assert_int_eq(posixtrace_new_user_metric("Pair", "begin", "end", true, &metric), 0);
    measure(fd, &whole);
    ck_assert_uint_gt(whole.known, 100);
    ck_assert_uint_eq(whole.doubt.unknown, 0);
    size = (size_t)lseek(fd, 0, SEEK_END);
    bytes = malloc(2 * size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(pread(fd, bytes, size, 0), (ssize_t)size);
    close(fd);
}

static void end(void)
{
    free(bytes);
    posixtrace_metric_free(metric);
}

/* How many are known is counted over all of them: a packet does not cost the log. */
START_TEST(changed_packets)
{
    uint64_t known = 0, unknown = 0, packets = 0;

    begin();
    for (size_t at = DATA_START; (at = packet_at(at)) < size; at += packet_bytes(at)) {
        size_t middle = at + packet_bytes(at) / 2;

        bytes[middle] ^= 0x10;
        expect_truth(bytes, size);
        expect_bound();
        bytes[middle] ^= 0x10;
        known += damaged.known;
        unknown += damaged.doubt.unknown;
        packets++;
    }
    ck_assert_uint_gt(packets, 2 * ROUNDS);
    ck_assert_uint_gt(unknown, packets / 2);
    ck_assert_uint_gt(known, packets * whole.known * 9 / 10);
    end();
}
END_TEST

/* The offsets in later packets are wrong then: the log is read as one without an end. */
START_TEST(removed_packets)
{
    uint8_t *copy;

    begin();
    copy = bytes + size;
    for (size_t at = DATA_START; (at = packet_at(at)) < size; at += packet_bytes(at)) {
        size_t n = packet_bytes(at);

        memcpy(copy, bytes, at);
        memcpy(copy + at, bytes + at + n, size - at - n);
        expect_truth(copy, size - n);
    }
    end();
}
END_TEST

/* Nothing tells how long what was cut off lasted. */
START_TEST(cut_logs)
{
    uint64_t unknown = 0;

    begin();
    for (size_t n = DATA_START; n < size; n += 1 + size / 500) {
        expect_truth(bytes, n);
        if (damaged.doubt.unknown > 0)
            ck_assert_int_eq(damaged.doubt.at_most_ns, POSIXTRACE_NO_BOUND);
        unknown += damaged.doubt.unknown;
    }
    ck_assert_uint_gt(unknown, ROUNDS);
    end();
}
END_TEST

/* ---- full ---- */

enum { PAIRS = 20000 };

/* A stream or its log that is full before all pairs are recorded. */
static void make_full(int fd, bool log, bool again)
{
    trace_id_t stream;
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, log ? 2048 : 1u << 20), 0);
    if (!log) {
        ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
        ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 2048), 0);
    }
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &stream), 0);
    ck_assert_int_eq(posix_trace_start(stream), 0);
    for (unsigned i = 0; i < PAIRS; i++) {
        posix_trace_event(types[0], NULL, 0);
        posix_trace_event(types[2], NULL, 0);
    }
    if (again) {
        flush_log(stream);
        ck_assert_int_eq(posix_trace_start(stream), 0);
        posix_trace_event(types[0], NULL, 0);
        posix_trace_event(types[2], NULL, 0);
    }
    ck_assert_int_eq(posix_trace_shutdown(stream), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
}

/* What a full stream or log has lost at its end may be longer than all that is known; where the
 * stream runs again, it is between two events. */
START_TEST(full)
{
    bool log = _i == 0, again = _i == 2;
    int fd = memfd_create("log", MFD_CLOEXEC);

    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(
            posix_trace_eventid_open((const char *[]){ "begin", "inside", "end" }[i], &types[i]),
            0);
    ck_assert_int_eq(posixtrace_new_user_metric("Pair", "begin", "end", true, &metric), 0);
    make_full(fd, log, again);
    measure(fd, &whole);
    ck_assert_uint_gt(whole.known, 10);
    ck_assert_uint_eq(whole.doubt.unknown, 1);
    if (again)
        ck_assert_int_lt(whole.doubt.at_most_ns, POSIXTRACE_NO_BOUND);
    else
        ck_assert_int_eq(whole.doubt.at_most_ns, POSIXTRACE_NO_BOUND);
    close(fd);
    posixtrace_metric_free(metric);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, changed_packets);
    tcase_add_test(tc, removed_packets);
    tcase_add_test(tc, cut_logs);
    tcase_add_loop_test(tc, full, 0, 3);
}

int main(void)
{
    return run_suite("metrics", "damage", NULL, add);
}
