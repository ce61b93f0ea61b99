/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What one posix_trace_event() costs: wanted by one stream, by several, by none.
 *
 * usage: event [wanted] [one] [switches] [streams] [sizes] [largest] [beside]
 *
 * The official stream is the default one: 1 MiB, LOOP.  It wraps many times in
 * a run, so that the cost of changing chunks, and of recycling them, is in the
 * figure, and so are the cache misses of walking through 1 MiB; the floor walks
 * through a buffer of the same size.
 */
#include <string.h>
#include <unistd.h>
#include "bench/floor.h"
#include "bench/programs.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20 };

static struct subject_lttng lttng;
static const char *no_lttng;

/* Id and words of a row name the clock, if it is not the usual one. */
static const char *row_id(const char *id)
{
    return subjects_clock_is_tsc() ? id : bench_text("%s-%s", subjects_clock(), id);
}

static const char *row_work(const char *work)
{
    return subjects_clock_is_tsc() ? work : bench_text("%s, CLOCK_MONOTONIC", work);
}

static void ratio_row(const char *id, const char *work, const struct bench_side *ours,
                      const struct bench_side *other, const char *unit, double limit)
{
    bench_row(&(struct bench_row){
        .id = row_id(id),
        .work = row_work(work),
        .value = ours->median / other->median,
        .unit = unit,
        .sense = limit > 0 ? BENCH_AT_MOST : BENCH_REPORT,
        .limit = limit,
        .note = bench_text("%.2f ns to %.2f ns", ours->median, other->median) });
}

/* ---- one running stream ---- */

static struct bench_side floor_side(bool small)
{
    return (struct bench_side){ .name = "floor", .work = small ? loop_floor8 : loop_floor64 };
}

static struct bench_side stream_side(const char *name, bool small, trace_id_t *trid)
{
    return (struct bench_side){ .name = name,
                                .work = small ? loop_event8 : loop_event64,
                                .before = stream_start,
                                .after = stream_stop,
                                .arg = trid };
}

static void one_size(int bytes, double limit)
{
    bool small = bytes == 8;
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    struct bench_side sides[] = {
        floor_side(small),
        stream_side("posix_trace_event, LOOP 1 MiB", small, &trid),
        { .name = "floor of 8 bytes, inlined", .work = loop_floor8_inline },
    };

    bench_compare(bench_text("one thread, one stream, %d bytes, clock %s", bytes, subjects_clock()),
                  sides, BENCH_COUNT(sides));
    ratio_row(bench_text("event-%d", bytes),
              bench_text("%d-byte event, one running stream, one thread", bytes), &sides[1],
              &sides[0], "x floor", limit);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

static void group_one(void)
{
    one_size(8, 1.35);
    one_size(64, 1.45);
}

/* ---- context switches in the same stream: posixtrace record --system ---- */

static void group_switches(void)
{
    trace_id_t switched, plain;
    int fd;
    struct bench_side sides[] = {
        stream_side("16 MiB with log", true, &plain),
        stream_side("16 MiB with log and context switches", true, &switched),
    };

    bench_pin(-1);
    plain = subject_stream_log(POSIX_TRACE_FLUSH, 16 * MIB, 256 * MIB, &fd);
    switched = subject_stream_switches(POSIX_TRACE_FLUSH, 16 * MIB);
    bench_pin(0);
    bench_compare("context switches, 8 bytes", sides, BENCH_COUNT(sides));
    ratio_row("event-8-switches",
              "8-byte event in a stream with log and context switches, to one without switches",
              &sides[1], &sides[0], "x without", 1.2);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(plain));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(switched));
    close(fd);
}

/* ---- beside LTTng-UST, whose consumer writes to disk meanwhile ---- */

static void beside_size(int bytes)
{
    bool small = bytes == 8;
    trace_id_t plain = subject_stream(POSIX_TRACE_LOOP, MIB), logged;
    int fd;
    struct bench_side sides[4] = {
        floor_side(small),
        stream_side("posix_trace_event, LOOP 1 MiB", small, &plain),
        stream_side("posix_trace_event, 16 MiB with log", small, &logged),
        { .name = "LTTng-UST, disk, vpid+vtid", .work = small ? lttng.loop8 : lttng.loop64 },
    };
    const char *id = bench_text("event-%d-lttng", bytes);
    const char *work = bench_text("%d-byte event, against LTTng-UST", bytes);

    bench_pin(-1);
    logged = subject_stream_log(POSIX_TRACE_FLUSH, 16 * MIB, 256 * MIB, &fd);
    bench_pin(0);
    bench_compare(bench_text("with logs, %d bytes, clock %s", bytes, subjects_clock()), sides,
                  sides[3].work ? 4 : 3);
    if (sides[3].work)
        ratio_row(id, work, &sides[1], &sides[3], "x LTTng-UST", 0.22);
    else
        bench_skip(id, work, no_lttng);
    ratio_row(bench_text("event-%d-log", bytes),
              bench_text("%d-byte event, one running stream with a log", bytes), &sides[2],
              &sides[0], "x floor", 0);
    if (sides[3].work)
        ratio_row(bench_text("event-%d-log-lttng", bytes),
                  bench_text("%d-byte event with a log, against LTTng-UST", bytes), &sides[2],
                  &sides[3], "x LTTng-UST", 0);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(plain));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(logged));
    close(fd);
}

static void group_beside(void)
{
    beside_size(8);
    beside_size(64);
    if (lttng.loop8)
        bench_row(
            &(struct bench_row){ .id = "beside-discarded",
                                 .work = "events that LTTng-UST discarded meanwhile",
                                 .value = lttng_discarded(),
                                 .unit = "events",
                                 .note = "a discarded event is cheaper than a recorded one" });
}

/* ---- other sizes of stream ---- */

static void clear_and_start(void *arg)
{
    subject_must("posix_trace_clear", posix_trace_clear(*(trace_id_t *)arg));
    stream_start(arg);
}

static void group_sizes(void)
{
    trace_id_t small = subject_stream(POSIX_TRACE_LOOP, 65536);
    trace_id_t usual = subject_stream(POSIX_TRACE_LOOP, MIB);
    trace_id_t large = subject_stream(POSIX_TRACE_LOOP, 64 * MIB);
    trace_id_t until = subject_stream(POSIX_TRACE_UNTIL_FULL, 16 * MIB);
    struct bench_side sides[] = {
        { .name = "floor", .work = loop_floor8 },
        { .name = "LOOP 64 KiB",
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &small },
        { .name = "LOOP 1 MiB",
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &usual },
        { .name = "LOOP 64 MiB",
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &large },
        { .name = "UNTIL_FULL 16 MiB, emptied",
          .work = loop_event8,
          .before = clear_and_start,
          .after = stream_stop,
          .arg = &until },
    };

    bench_compare("sizes of the stream, 8 bytes", sides, BENCH_COUNT(sides));
    ratio_row("event-8-64k", "8-byte event, LOOP stream of 64 KiB", &sides[1], &sides[0], "x floor",
              0);
    ratio_row("event-8-64m", "8-byte event, LOOP stream of 64 MiB", &sides[3], &sides[0], "x floor",
              0);
    ratio_row("event-8-until", "8-byte event, UNTIL_FULL stream with room", &sides[4], &sides[0],
              "x floor", 0);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(small));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(usual));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(large));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(until));
}

/* ---- other largest records, in the smallest streams that they are meant for ---- */

static trace_id_t stream_of_largest(size_t max_data)
{
    size_t four = 4 * (max_data + 128), bytes = four < 65536 ? 65536 : four;
    trace_attr_t attr;
    trace_id_t trid;

    subject_must("posix_trace_attr_init", posix_trace_attr_init(&attr));
    subject_must("setstreamfullpolicy",
                 posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
    subject_must("setstreamsize", posix_trace_attr_setstreamsize(&attr, bytes));
    subject_must("setmaxdatasize", posix_trace_attr_setmaxdatasize(&attr, max_data));
    subject_must("posix_trace_create", posix_trace_create(0, &attr, &trid));
    posix_trace_attr_destroy(&attr);
    return trid;
}

static void group_largest(void)
{
    static const size_t largest[] = { 16, 64, 256, 1024, 4096, 16384, 61440 };
    trace_id_t trid[BENCH_COUNT(largest) + 1];
    struct bench_side sides[BENCH_COUNT(largest) + 1];

    trid[0] = subject_stream(POSIX_TRACE_LOOP, MIB);
    sides[0] = stream_side("default, LOOP 1 MiB", true, &trid[0]);
    for (size_t i = 1; i < BENCH_COUNT(sides); i++) {
        trid[i] = stream_of_largest(largest[i - 1]);
        sides[i] = stream_side(bench_text("max-data-size %zu", largest[i - 1]), true, &trid[i]);
    }
    bench_compare("sizes of the largest record, 8 bytes", sides, BENCH_COUNT(sides));
    for (size_t i = 1; i < BENCH_COUNT(sides); i++)
        ratio_row(
            bench_text("event-8-largest-%zu", largest[i - 1]),
            bench_text("8-byte event, max-data-size %zu, the smallest such stream", largest[i - 1]),
            &sides[i], &sides[0], "x default", 1.10);
    for (size_t i = 0; i < BENCH_COUNT(sides); i++)
        subject_must("posix_trace_shutdown", posix_trace_shutdown(trid[i]));
}

/* ---- unwanted events ---- */

static void compare_unwanted(const char *id, const char *work)
{
    struct bench_side sides[] = {
        { .name = "empty call into a shared library", .work = loop_empty, .calls = 65536 },
        { .name = work, .work = loop_event8, .calls = 65536 },
    };

    bench_compare(work, sides, BENCH_COUNT(sides));
    ratio_row(id, work, &sides[1], &sides[0], "x empty call", 2);
}

static void filter_out(trace_id_t trid)
{
    trace_event_set_t set;

    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(subject_id, &set);
    subject_must("posix_trace_set_filter",
                 posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static void group_wanted(void)
{
    trace_id_t trid;

    compare_unwanted("unwanted-none", "event, no stream");
    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    stream_start(&trid);
    filter_out(trid);
    compare_unwanted("unwanted-filtered", "event, filtered out");
    stream_stop(&trid);
    compare_unwanted("unwanted-stopped", "event, stopped by posix_trace_stop");
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

/* ---- several streams ---- */

/* arg of the sides: how many of the streams run, and how many buffers the floor stores to. */
static trace_id_t many[FLOOR_MOST];
static int numbers[] = { 1, 2, 4, 8, 64 };
enum { ONE, TWO, FOUR, EIGHT, ALL }; /* places in numbers */

static void start_some(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        stream_start(&many[i]);
}

static void stop_some(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        stream_stop(&many[i]);
}

static size_t floor_bytes;

static void use_floor(void *arg)
{
    if (!bench_floor_use((unsigned)*(int *)arg, floor_bytes))
        bench_wrong("no memory for the floor's buffers");
}

static struct bench_side streams_side(int number)
{
    int n = numbers[number];

    return (struct bench_side){ .name = bench_text("%d stream%s", n, n > 1 ? "s" : ""),
                                .work = loop_event8,
                                .before = start_some,
                                .after = stop_some,
                                .arg = &numbers[number] };
}

static struct bench_side buffers_side(int number)
{
    int n = numbers[number];

    return (struct bench_side){ .name = bench_text("floor, %d buffer%s", n, n > 1 ? "s" : ""),
                                .work = loop_floor8_several,
                                .before = use_floor,
                                .arg = &numbers[number] };
}

static void second_row(const struct bench_side *one, const struct bench_side *two, const char *size,
                       const char *id)
{
    bench_row(&(struct bench_row){
        .id = row_id(bench_text("%s-second", id)),
        .work = row_work(bench_text("second stream of %s: more than with one stream", size)),
        .value = two->median / one->median - 1,
        .unit = "x the first",
        .note = bench_text("%.2f ns to %.2f ns", two->median, one->median) });
}

/* sides: 1 and n streams, 1 and n buffers of the floor. */
static void further_row(const struct bench_side sides[4], int n, const char *size, const char *id,
                        bool asked)
{
    bench_row(&(struct bench_row){
        .id = row_id(id),
        .work = row_work(bench_text("each further stream of %s, of %d, beside a further buffer of "
                                    "the floor",
                                    size, n)),
        .value = (sides[1].median - sides[0].median) / (sides[3].median - sides[2].median),
        .unit = "x the floor's buffer",
        .sense = asked ? BENCH_AT_MOST : BENCH_REPORT,
        .limit = 1.3,
        .note = bench_text("%d streams %.2f ns, 1 stream %.2f ns; %d buffers %.2f ns, 1 buffer "
                           "%.2f ns",
                           n, sides[1].median, sides[0].median, n, sides[3].median,
                           sides[2].median) });
}

/* bytes: of each stream, and of each buffer of the floor.  64 streams are compared apart: they
 * empty the caches of the sides that take turns with them. */
static void compare_streams(size_t bytes, const char *size, const char *id, bool asked)
{
    struct bench_side few[] = { streams_side(ONE),   streams_side(EIGHT), buffers_side(ONE),
                                buffers_side(EIGHT), streams_side(TWO),   streams_side(FOUR) };
    struct bench_side all[] = { streams_side(ONE), streams_side(ALL), buffers_side(ONE),
                                buffers_side(ALL) };

    floor_bytes = bytes;
    for (int i = 0; i < FLOOR_MOST; i++)
        many[i] = subject_stream(POSIX_TRACE_LOOP, bytes);
    bench_compare(
        bench_text("1 to 8 running streams of %s, 8 bytes, clock %s", size, subjects_clock()), few,
        sizeof few / sizeof few[0]);
    second_row(&few[0], &few[4], size, id);
    further_row(few, numbers[EIGHT], size, bench_text("%s-each", id), asked);
    bench_compare(bench_text("64 running streams of %s, 8 bytes, clock %s", size, subjects_clock()),
                  all, sizeof all / sizeof all[0]);
    further_row(all, numbers[ALL], size, bench_text("%s-each-64", id), asked);
    for (int i = 0; i < FLOOR_MOST; i++)
        subject_must("posix_trace_shutdown", posix_trace_shutdown(many[i]));
}

static void group_streams(void)
{
    compare_streams(MIB, "1 MiB", "stream", true);
    compare_streams(MIB / 16, "64 KiB", "stream-small", false);
}

int main(int argc, char **argv)
{
    bench_pin(0);
    subjects_init();
    if (!subject_lttng(&lttng, &no_lttng))
        memset(&lttng, 0, sizeof lttng);
    if (bench_chosen(argc, argv, "wanted"))
        group_wanted();
    if (bench_chosen(argc, argv, "one"))
        group_one();
    if (bench_chosen(argc, argv, "switches"))
        group_switches();
    if (bench_chosen(argc, argv, "streams"))
        group_streams();
    if (bench_chosen(argc, argv, "sizes"))
        group_sizes();
    if (bench_chosen(argc, argv, "largest"))
        group_largest();
    if (bench_chosen(argc, argv, "beside"))
        group_beside();
    return bench_end();
}
