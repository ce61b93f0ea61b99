/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The cost of filters that need more than the event type, for recorded and rejected events; and of
 * the successor of a full stream.
 */
#include <posixtrace/filter.h>
#include <posixtrace/stream.h>
#include <posixtrace/typed.h>
#include "bench/subjects.h"

#define MIB ((size_t)1 << 20)

static void ratio_row(const char *id, const char *work, const struct bench_side *of,
                      const struct bench_side *to, const char *unit, double limit)
{
    bench_row(
        &(struct bench_row){ .id = id,
                             .work = work,
                             .value = of->median / to->median,
                             .unit = unit,
                             .sense = limit > 0 ? BENCH_AT_MOST : BENCH_REPORT,
                             .limit = limit,
                             .note = bench_text("%.2f ns to %.2f ns", of->median, to->median) });
}

static bool want_all(void *context, const struct posixtrace_event *event)
{
    (void)event;
    (void)context;
    return true;
}

static struct bench_side stream_side(const char *name, trace_id_t *trid)
{
    return (struct bench_side){
        .name = name, .work = loop_event8, .before = stream_start, .after = stream_stop, .arg = trid
    };
}

static trace_id_t stream_with(const char *expression)
{
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, MIB);

    subject_must(expression, posixtrace_set_expression(trid, expression, NULL));
    return trid;
}

/* The first of two is full, and has been for long. */
static void fill(void *arg)
{
    stream_start((trace_id_t *)arg + 1);
    stream_start(arg);
    loop_event8(NULL, 65536);
}

static void empty(void *arg)
{
    stream_stop(arg);
    stream_stop((trace_id_t *)arg + 1);
    subject_must("posix_trace_clear", posix_trace_clear(*(trace_id_t *)arg));
}

static void compare_wanted(void)
{
    trace_id_t plain = subject_stream(POSIX_TRACE_LOOP, MIB);
    trace_id_t by_name = stream_with("event \"*\""), by_value = stream_with("value < 1000000000");
    trace_id_t by_thread = stream_with("tid > 0"), handled = subject_stream(POSIX_TRACE_LOOP, MIB);
    trace_id_t chain[2] = { subject_stream(POSIX_TRACE_UNTIL_FULL, 65536),
                            subject_stream(POSIX_TRACE_LOOP, MIB) };
    struct bench_side sides[] = {
        stream_side("no filter", &plain),
        stream_side("event \"*\"", &by_name),
        stream_side("value < 1000000000", &by_value),
        stream_side("tid > 0", &by_thread),
        stream_side("function", &handled),
        { .name = "behind a full stream",
          .work = loop_event8,
          .before = fill,
          .after = empty,
          .arg = chain },
    };

    subject_must("posixtrace_set_handler",
                 posixtrace_set_handler(handled, subject_id, want_all, NULL));
    subject_must("posixtrace_chain", posixtrace_chain(chain[0], chain[1]));
    bench_compare("filters that let the event pass, 8 bytes", sides, BENCH_COUNT(sides));
    ratio_row("filter-name", "event that an expression means by its name", &sides[1], &sides[0],
              "x without filter", 0);
    ratio_row("filter-value", "event that an expression means by a field", &sides[2], &sides[0],
              "x without filter", 0);
    ratio_row("filter-thread", "event that an expression means by its thread", &sides[3], &sides[0],
              "x without filter", 0);
    ratio_row("filter-function", "event that a function of the program wants", &sides[4], &sides[0],
              "x without filter", 0);
    ratio_row("chain", "event that finds no room and goes to the next stream", &sides[5], &sides[0],
              "x without filter", 0);
    for (size_t i = 0; i < BENCH_COUNT(sides); i++)
        subject_must("posix_trace_shutdown", posix_trace_shutdown(*(trace_id_t *)sides[i].arg));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(chain[1]));
}

static void compare_unwanted(const char *id, const char *work, const char *expression, double limit)
{
    trace_id_t trid = stream_with(expression);
    struct bench_side sides[] = {
        { .name = "empty call into a shared library", .work = loop_empty, .calls = 65536 },
        { .name = work,
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &trid,
          .calls = 65536 },
    };

    bench_compare(work, sides, BENCH_COUNT(sides));
    ratio_row(id, work, &sides[1], &sides[0], "x empty call", limit);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

int main(void)
{
    trace_event_id_t id;

    bench_pin(0);
    subjects_init();
    subject_must("posixtrace_event_describe",
                 posixtrace_event_describe(subject_name, "u64 value", &id));
    compare_wanted();
    compare_unwanted("unwanted-name", "event, left out by an expression about names",
                     "not event \"*\"", 2);
    compare_unwanted("unwanted-process", "event, left out by an expression about processes",
                     "pid 1", 2);
    compare_unwanted("unwanted-value", "event, left out by an expression about a field",
                     "value > 1000000000", 0);
    return bench_end();
}
