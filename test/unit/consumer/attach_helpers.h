/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What the tests of posixtrace_attach() share: a stream with ticks, which have numbers, and its
 * onlooker in the same process. */
#ifndef TEST_UNIT_CONSUMER_ATTACH_HELPERS_H
#define TEST_UNIT_CONSUMER_ATTACH_HELPERS_H

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>

static trace_event_id_t tick;
static char file[128];

static inline int note_stream(void *unused, const struct posixtrace_stream *s)
{
    (void)unused;
    if (s->owner != getpid())
        return 0;
    memcpy(file, s->file, sizeof file);
    return 1;
}

static inline trace_id_t attach(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_stream_list(note_stream, NULL), 1);
    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    return trid;
}

static inline trace_id_t create(int policy, int log_fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 16), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(log_fd < 0 ? posix_trace_create(0, &attr, &trid)
                                : posix_trace_create_withlog(0, &attr, log_fd, &trid),
                     0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static inline void trace(uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        posix_trace_event(tick, &from, sizeof from);
}

/* How many ticks there are, which must begin with number from. */
static inline uint64_t read_ticks(trace_id_t trid, uint64_t from)
{
    struct posixtrace_event e;
    uint64_t n = 0, number;
    int none = 0;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return n;
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_eq(number, from + n);
        n++;
    }
}

/* The sum of what was missed since the beginning. */
static inline uint64_t missed(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t sum = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += info.lost[i];
    return sum;
}

#endif
