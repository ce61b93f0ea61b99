/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Times of more than 62 bits, and states that last for longer than 2^61 ticks, in a stream that
 * is started, stopped, filled, read, cleared and looked at from outside.  The clock passes a
 * border right before each of these calls in turn; the owner and an onlooker read the same
 * story whatever the border is.  (The word with the stream's state has 62 bits for a time.)
 *
 * CLOCK_MONOTONIC goes through the test: each look at it is 10 ns later than the one before.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "support/run_suite.h"
#include "support/stream_inside.h"

#define REAL_NS  1700000000000000000ull /* CLOCK_REALTIME at the start of a story */
#define SHORT_NS 900000000ull           /* no writer counts as stalled in that time */

enum { LINES_MAX = 400, NONE = 1000 };

static uint64_t clock_ns, started_ns; /* 0: the clock is the system's */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    uint64_t ns;

    if (clock_ns == 0 || (id != CLOCK_MONOTONIC && id != CLOCK_REALTIME))
        return __real_clock_gettime(id, t);
    ns = __atomic_add_fetch(&clock_ns, 10, __ATOMIC_SEQ_CST);
    if (id == CLOCK_REALTIME)
        ns = REAL_NS + (ns - started_ns);
    t->tv_sec = (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

/* What a reader has found out so far. */
struct reader {
    trace_id_t trid;
    uint64_t next; /* number of the next tick if none is missing */
    int64_t ns;
};

/* One line for each thing that was found; none depends on how many events there is room for. */
struct story {
    struct reader owner, onlooker;
    uint64_t lines[LINES_MAX];
    unsigned count;
    uint64_t made, lost;
    /* A call failed, or a time or number is before the last one: each assertion that holds
     * writes into a file, which takes longer than what it is about. */
    bool wrong;
    const struct pt_seg_header *header;
};

enum { LINE_EVENT = 1, LINE_TICKS, LINE_GAP, LINE_LOST, LINE_RUNS, LINE_FULL, LINE_ACTION };

static trace_event_id_t tick;

static void say(struct story *s, uint64_t what, uint64_t value)
{
    if (s->count == LINES_MAX)
        ck_abort_msg("more than %d lines", LINES_MAX);
    s->lines[s->count++] = what << 56 | value;
}

static void trace(struct story *s, unsigned n)
{
    for (; n > 0; n--, s->made++)
        posix_trace_event(tick, &s->made, sizeof s->made);
}

static void fill(struct story *s)
{
    unsigned n = 0;

    for (; n < 2000 && !pt_state_is_full(s->header->state); n++)
        trace(s, 1);
    s->wrong |= n == 2000;
}

static void note_event(struct story *s, struct reader *r, const struct posixtrace_event *e,
                       bool *in_ticks)
{
    uint64_t number;

    s->wrong |= e->ns < r->ns;
    r->ns = e->ns;
    if (e->id != tick) {
        say(s, LINE_EVENT, e->id);
        *in_ticks = false;
        return;
    }
    memcpy(&number, e->data, sizeof number);
    s->wrong |= number < r->next;
    if (number > r->next)
        say(s, LINE_GAP, r == &s->owner ? number - r->next : 0);
    if (number > r->next || !*in_ticks)
        say(s, LINE_TICKS, 0);
    *in_ticks = true;
    r->next = number + 1;
}

static void read_events(struct story *s, struct reader *r, unsigned most)
{
    struct posixtrace_event e;
    bool in_ticks = false;
    int none = 0;

    for (unsigned n = 0; n < most; n++) {
        s->wrong |= posixtrace_next_event(r->trid, &e, sizeof e, &none) != 0;
        if (s->wrong || none)
            return;
        note_event(s, r, &e, &in_ticks);
    }
}

static void clear(struct story *s)
{
    s->wrong |= posix_trace_clear(s->owner.trid) != 0;
    read_events(s, &s->onlooker, UINT32_MAX);
    s->owner.next = s->onlooker.next = s->made;
}

static void act(struct story *s, char action)
{
    switch (action) {
    case '+': s->wrong |= posix_trace_start(s->owner.trid) != 0; break;
    case '-': s->wrong |= posix_trace_stop(s->owner.trid) != 0; break;
    case 't': trace(s, 10); break;
    case 'f': fill(s); break;
    case 'o': read_events(s, &s->onlooker, UINT32_MAX); break;
    case 'e': read_events(s, &s->owner, 5); break;
    case 'r': read_events(s, &s->owner, UINT32_MAX); break;
    case 'x': clear(s); break;
    }
}

static void note_books(struct story *s)
{
    struct posix_trace_status_info status = { 0 };
    struct posixtrace_info info = { 0 };
    uint64_t lost = 0;

    s->wrong |= posix_trace_get_status(s->owner.trid, &status) != 0 ||
                posixtrace_get_info(s->owner.trid, &info, sizeof info) != 0;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    say(s, LINE_LOST, lost - s->lost);
    s->lost = lost;
    say(s, LINE_RUNS, (uint64_t)status.posix_stream_status);
    say(s, LINE_FULL, (uint64_t)status.posix_stream_full_status);
}

static void create(struct story *s)
{
    trace_attr_t attr;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8192), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &s->owner.trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posixtrace_attach(segment_of(s->owner.trid)->file, &s->onlooker.trid), 0);
    s->header = segment_of(s->owner.trid)->h;
    ck_assert_int_eq(s->header->clock, POSIXTRACE_CLOCK_MONOTONIC);
}

/* Stopped by a call and by itself, started when it is full and when it is empty, read to the
 * end and in part, cleared when it runs, when it is full and when it is stopped then. */
static const char actions[] = "+t-t+tft-t+tort-+ftert-t+fr-tro+tf-tor+t-t+ftxt+ft-xt+tftrto-r";

/* The clock shows from at first, and to before that action. */
static void live_through(struct story *s, uint64_t from, uint64_t to, unsigned action)
{
    memset(s, 0, sizeof *s);
    clock_ns = started_ns = from;
    create(s);
    for (unsigned i = 0; actions[i]; i++) {
        if (i == action)
            clock_ns = to;
        say(s, LINE_ACTION, (uint64_t)actions[i]);
        act(s, actions[i]);
        note_books(s);
    }
    ck_assert(!s->wrong);
    ck_assert_int_eq(posixtrace_detach(s->onlooker.trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(s->owner.trid), 0);
    ck_assert_uint_ge(clock_ns, to);
    clock_ns = 0;
}

/* It is a story in which something happens, and is read to its end. */
static void check_usual(const struct story *s)
{
    unsigned seen[8] = { 0 };

    for (unsigned i = 0; i < s->count; i++)
        seen[s->lines[i] >> 56]++;
    ck_assert_uint_gt(seen[LINE_EVENT], 20);
    ck_assert_uint_gt(seen[LINE_TICKS], 5);
    ck_assert_uint_gt(seen[LINE_GAP], 5);
    ck_assert_uint_eq(s->owner.next, s->made);
    ck_assert_uint_gt(s->lost, 50);
}

#define BEFORE(border) (border) - SHORT_NS, (border)-25

/* The first time, and the one to which the clock goes. */
static const uint64_t times[][2] = {
    { BEFORE(1ull << 61) },
    { BEFORE(1ull << 62) },
    { BEFORE(1ull << 63) },
    { BEFORE(3ull << 62) },
    { 1ull << 50, 3ull << 61 },
    { 5, (1ull << 62) + 5 },
    { 1ull << 50, (1ull << 62) + (1ull << 50) + 20000 },
};

static void compare(const struct story *far, const struct story *usual, unsigned action)
{
    unsigned k = 0;

    while (k < far->count && k < usual->count && far->lines[k] == usual->lines[k])
        k++;
    ck_assert_msg(k == far->count && k == usual->count,
                  "before action %u: line %u is %llx instead of %llx", action, k,
                  (unsigned long long)far->lines[k], (unsigned long long)usual->lines[k]);
}

START_TEST(the_story_is_the_same)
{
    unsigned step = getenv("POSIXTRACE_TEST_SHORT") ? 4 : 1;
    struct story usual, far;

    if (sizeof(time_t) < 8) /* such a clock ends before */
        return;
    live_through(&usual, 1ull << 50, 0, NONE);
    check_usual(&usual);
    for (unsigned i = (unsigned)_i % step; i < sizeof actions - 1; i += step) {
        live_through(&far, times[_i][0], times[_i][1], i);
        compare(&far, &usual, i);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, the_story_is_the_same, 0, sizeof times / sizeof *times);
}

int main(void)
{
    setenv("POSIXTRACE_CLOCK", "monotonic", 1);
    return run_suite("far times", "stream", NULL, add);
}
