/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * top without streams: lengths of the last minute beside all of them, which thread holds a lock
 * over gaps, and the screen of random models with hostile names in windows of any size.
 */
#include <check.h>
#include <posixtrace/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/run_suite.h"
#include "top/top_keys.h"
#include "top/top_screen.h"

#define NS INT64_C(1000000000)
enum { LENGTHS = 4000, NOW = 1000, MODELS = 300, PID = 77 };

static unsigned short seed[3] = { 1, 2, 3 };

static int64_t some(int64_t most)
{
    return (int64_t)(((uint64_t)nrand48(seed) << 31 | (uint64_t)nrand48(seed)) %
                     ((uint64_t)most + 1));
}

/* ---- lengths ---- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void expect_near(int64_t found, int64_t is)
{
    ck_assert_int_ge(found, is - is / 32 - 1);
    ck_assert_int_le(found, is + is / 32 + 1);
}

static int64_t ends[LENGTHS], lengths[LENGTHS];

/* What of a length lies in the seconds before NOW. */
static int64_t in_window(size_t i, int seconds)
{
    int64_t least = (NOW - seconds) * NS, from = ends[i] - lengths[i];
    int64_t to = ends[i] < NOW * NS ? ends[i] : NOW * NS;

    from = from > least ? from : least;
    return to > from ? to - from : 0;
}

static void expect_window(const struct top_recent *r, int seconds)
{
    static int64_t in[LENGTHS];
    struct top_total t = top_recent_total(r, NOW, seconds);
    int64_t p50, p99, total = 0, busy = 0;
    size_t count = 0;

    for (size_t i = 0; i < LENGTHS; i++) {
        busy += in_window(i, seconds);
        if (ends[i] / NS >= NOW - seconds && ends[i] / NS < NOW) {
            total += lengths[i];
            in[count++] = lengths[i];
        }
    }
    qsort(in, count, sizeof in[0], compare);
    ck_assert_uint_eq(t.count, count);
    ck_assert_int_eq(t.total_ns, total);
    ck_assert_int_eq(t.busy_ns, busy);
    ck_assert_uint_gt(count, 0);
    ck_assert_int_eq(t.max_ns, in[count - 1]);
    top_recent_percentiles(r, NOW, seconds, &p50, &p99);
    expect_near(p50, in[(count + 1) / 2 - 1]);
    expect_near(p99, in[(99 * count + 99) / 100 - 1]);
}

START_TEST(recent)
{
    for (int run = 0; run < 20; run++) {
        struct top_recent r = { .bars = NULL };

        for (size_t i = 0; i < LENGTHS; i++)
            ends[i] = (NOW - 80) * NS + some(81 * NS);
        qsort(ends, LENGTHS, sizeof ends[0], compare);
        for (size_t i = 0; i < LENGTHS; i++) {
            lengths[i] = some((INT64_C(1) << some(50)) - 1);
            top_recent_add(&r, ends[i], lengths[i], 0, true);
        }
        expect_window(&r, 1);
        expect_window(&r, 10);
        /* The present second has taken the place of the one 60 s ago. */
        expect_window(&r, 59);
        top_recent_free(&r);
    }
}
END_TEST

START_TEST(extremes)
{
    struct top_recent r = { .bars = NULL };
    int64_t p50, p99;

    top_recent_add(&r, NOW * NS - 1, INT64_MAX, 0, true);
    top_recent_percentiles(&r, NOW, 1, &p50, &p99);
    expect_near(p99, INT64_MAX - INT64_MAX / 32 - 1);
    top_recent_add(&r, (NOW - 70) * NS, 5, 0, true); /* too late */
    top_recent_add(&r, -NS, 5, 0, true);
    ck_assert_uint_eq(top_recent_total(&r, NOW, 60).count, 1);
    top_recent_percentiles(&r, NOW + 100, 60, &p50, &p99);
    ck_assert_int_eq(p50 + p99, 0);
    top_recent_free(&r);
}
END_TEST

/* ---- rates ---- */

/* A lock that was taken three times long before the stream was watched, and 50 times in the second
 * since then. */
static struct top_lock_row lock_row(int policy, int64_t partial_s)
{
    struct top_stream s = { .policy = policy,
                            .partial_ns = partial_s * NS,
                            .first_ns = (NOW - 100) * NS,
                            .watched_ns = (NOW - 1) * NS };
    struct top_model m = { .now = NOW * NS };
    struct top_lock *lock = top_lock_of(&s, PID, 1);
    struct top_lock_row row;

    ck_assert_ptr_nonnull(lock);
    for (int i = 0; i < 53; i++)
        top_recent_add(&lock->recent, (i < 3 ? NOW - 5 : NOW - 1) * NS + NS / 2, 1000000,
                       s.watched_ns, false);
    top_rows_locks(&m, &s);
    ck_assert_uint_eq(m.lock_count, 1);
    row = m.locks[0];
    free(m.locks);
    top_engine_free(&s);
    return row;
}

START_TEST(rates)
{
    struct top_lock_row row = lock_row(POSIX_TRACE_FLUSH, 0);

    ck_assert_uint_eq(row.last.count, 53);
    ck_assert_double_eq_tol(row.per_s, 50, 1e-9);
    ck_assert_double_eq_tol(row.busy, 0.05, 1e-9);
    row = lock_row(POSIX_TRACE_LOOP, 0); /* holds the last ten seconds */
    ck_assert_double_eq_tol(row.per_s, 5.3, 1e-9);
    ck_assert_double_eq_tol(row.busy, 0.0053, 1e-9);
}
END_TEST

/* Where events of these seconds were not read, rates are lower bounds. */
START_TEST(lower_bounds)
{
    static const int policies[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP };

    for (unsigned i = 0; i < 2; i++) {
        ck_assert(!lock_row(policies[i], 0).at_least);
        ck_assert(!lock_row(policies[i], NOW - 11).at_least);
        ck_assert(lock_row(policies[i], NOW - 10).at_least);
        ck_assert(lock_row(policies[i], NOW).at_least);
        ck_assert(lock_row(policies[i], NOW + 5).at_least); /* the clock was set back since */
    }
}
END_TEST

enum { LONG_S = 25, ENDED = NOW - 2 };

/* Of one thread: three calls that each last 25 s; what a second or ten have of them. */
static double busy_of(int policy, int64_t watched_s)
{
    struct top_stream s = { .policy = policy,
                            .first_ns = (NOW - 100) * NS,
                            .watched_ns = watched_s * NS };
    struct top_model m = { .now = NOW * NS };
    struct top_lock *lock = top_lock_of(&s, PID, 1);
    double busy;

    ck_assert_ptr_nonnull(lock);
    for (int64_t end = ENDED - 2 * LONG_S; end <= ENDED; end += LONG_S)
        top_recent_add(&lock->recent, end * NS, LONG_S * NS, s.watched_ns, false);
    top_rows_locks(&m, &s);
    ck_assert_uint_eq(m.lock_count, 1);
    ck_assert_uint_eq(m.locks[0].last.count, 1);
    ck_assert_int_eq(m.locks[0].last.total_ns, LONG_S * NS);
    busy = m.locks[0].busy;
    free(m.locks);
    top_engine_free(&s);
    return busy;
}

/* One thread has 100 % at most: calls that began before the time that is shown count from there. */
START_TEST(long_calls)
{
    ck_assert_double_eq_tol(busy_of(POSIX_TRACE_LOOP, NOW - 1), 0.8, 1e-9);
    ck_assert_double_eq_tol(busy_of(POSIX_TRACE_FLUSH, NOW - 60), 0.8, 1e-9);
    ck_assert_double_eq_tol(busy_of(POSIX_TRACE_FLUSH, NOW - 4), 0.5, 1e-9);
    ck_assert_double_eq_tol(busy_of(POSIX_TRACE_FLUSH, NOW - 1), 0, 1e-9); /* ended before */
}
END_TEST

/* ---- a step of the clock ---- */

static int64_t set_ns, passed_ns; /* CLOCK_REALTIME was set by; of both clocks */
static unsigned reads, whole_reads;
static bool has_gap, is_made_up;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int64_t ns = 1000 * NS + passed_ns + (clock == CLOCK_REALTIME ? 9000 * NS + set_ns : 0);

    if (!is_made_up)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){ ns / NS, ns % NS };
    return 0;
}

int posixtrace_next_events(trace_id_t trid, struct posixtrace_event *events, size_t size,
                           size_t most, size_t *count)
{
    (void)trid;
    (void)events;
    (void)size;
    (void)most;
    reads++;
    *count = 0;
    return 0;
}

int posixtrace_next_whole_events(trace_id_t trid, struct posixtrace_event *events, size_t size,
                                 size_t most, size_t *count, bool *gap)
{
    whole_reads++;
    *gap = has_gap;
    return posixtrace_next_events(trid, events, size, most, count);
}

/* Times before and after it are not compared. */
START_TEST(clock_is_set)
{
    struct top_stream s = { .cost_ns = 100 };

    is_made_up = true;
    for (int i = 0; i < 3; i++, passed_ns += NS)
        top_stream_read_more(&s, 1e6);
    ck_assert_uint_eq(reads, 3);
    ck_assert_uint_eq(whole_reads + s.gap, 0);
    set_ns = -3600 * NS;
    for (int i = 0; i < 4; i++, passed_ns += NS) {
        has_gap = i == 2;
        top_stream_read_more(&s, 1e6);
        ck_assert_uint_eq(whole_reads, (unsigned)i + 1);
        ck_assert_uint_eq(s.gap, i >= 2);
        ck_assert_uint_eq(s.hard_gap, s.gap);
    }
    passed_ns += 3600 * NS;
    top_stream_read_more(&s, 1e6);
    is_made_up = false;
    ck_assert_uint_eq(whole_reads, 4);
}
END_TEST

/* ---- locks over gaps ---- */

static int64_t clock_ns;

static void event(struct top_stream *s, pid_t tid, trace_event_id_t id, uint64_t object)
{
    uint64_t data[2] = { object, 0 };
    struct posixtrace_event e = { .ns = ++clock_ns,
                                  .data = data,
                                  .data_len = sizeof data,
                                  .id = id,
                                  .name = "",
                                  .thread_name = "",
                                  .pid = PID,
                                  .tid = tid };

    top_take(s, &e);
}

static void locks(struct top_stream *s, pid_t tid, uint64_t object)
{
    event(s, tid, POSIXTRACE_MUTEX_LOCK, object);
    event(s, tid, POSIXTRACE_MUTEX_LOCKED, object);
}

static struct top_thread *holder(struct top_stream *s, uint64_t object)
{
    struct top_lock *lock = top_map_find(&s->locks, PID, object);

    return lock ? top_lock_holder(s, lock, NULL) : NULL;
}

/* A refresh: L(k) finds these counts, then events are read, or skipped, and M(k) finds as many. */
static void listed(struct top_stream *s, pid_t tid, uint64_t count, uint64_t after)
{
    struct top_thread *t = top_thread_of(s, PID, tid);

    t->was_listed = t->listed + 1 == s->refresh;
    t->listed = t->again = s->refresh;
    t->before = t->count;
    t->count = count;
    t->after = after;
}

/* Thread 1 holds the lock 10, thread 2 the lock 20, from the first refresh on. */
static void begin(struct top_stream *s)
{
    memset(s, 0, sizeof *s);
    s->refresh = 1;
    listed(s, 1, 2, 2);
    listed(s, 2, 2, 2);
    locks(s, 1, 10);
    locks(s, 2, 20);
    top_idle_threads(s, true);
    ck_assert_ptr_eq(holder(s, 10), top_thread_of(s, PID, 1));
    ck_assert_ptr_eq(holder(s, 20), top_thread_of(s, PID, 2));
}

START_TEST(holders)
{
    struct top_stream s;

    begin(&s);
    locks(&s, 1, 10);
    event(&s, 1, POSIXTRACE_MUTEX_UNLOCK, 10);
    ck_assert_ptr_eq(holder(&s, 10), top_thread_of(&s, PID, 1));
    event(&s, 1, POSIXTRACE_MUTEX_UNLOCK, 10);
    ck_assert_ptr_null(holder(&s, 10));
    event(&s, 2, POSIXTRACE_MUTEX_UNLOCK, 10); /* not its own */
    ck_assert_ptr_eq(holder(&s, 20), top_thread_of(&s, PID, 2));
    event(&s, 2, POSIXTRACE_THREAD_END, 0);
    ck_assert_ptr_null(holder(&s, 20));
    top_forget_ended(&s);
    ck_assert_uint_eq(s.threads.count, 1);
    ck_assert_ptr_null(holder(&s, 20));
    top_engine_free(&s);
}
END_TEST

/* Thread 1 has recorded nothing in the gap, thread 2 has. */
START_TEST(gaps)
{
    struct top_stream s;

    begin(&s);
    s.refresh = 2;
    listed(&s, 1, 2, 2);
    listed(&s, 2, 3, 3);
    top_gap(&s);
    ck_assert_ptr_null(holder(&s, 10));
    top_idle_threads(&s, true);
    ck_assert_ptr_eq(holder(&s, 10), top_thread_of(&s, PID, 1));
    ck_assert_ptr_null(holder(&s, 20));
    /* Another gap, and an event in the time between L and M. */
    s.refresh = 3;
    top_gap(&s);
    listed(&s, 1, 2, 3);
    listed(&s, 2, 3, 3);
    top_idle_threads(&s, true);
    ck_assert_ptr_null(holder(&s, 10));
    ck_assert_ptr_null(holder(&s, 20));
    /* Nothing brings back a thread that was not known once. */
    s.refresh = 4;
    listed(&s, 1, 3, 3);
    listed(&s, 2, 3, 3);
    top_idle_threads(&s, true);
    ck_assert_ptr_null(holder(&s, 10));
    /* An event begins again, and what it had locked before stays unknown. */
    locks(&s, 1, 30);
    ck_assert_ptr_eq(holder(&s, 30), top_thread_of(&s, PID, 1));
    ck_assert_ptr_null(holder(&s, 10));
    top_engine_free(&s);
}
END_TEST

/* The reading before had not come to the present: what was skipped since may be older. */
START_TEST(late_reading)
{
    struct top_stream s;

    begin(&s);
    top_idle_threads(&s, false);
    s.refresh = 2;
    top_gap(&s);
    listed(&s, 1, 2, 2);
    listed(&s, 2, 2, 2);
    top_idle_threads(&s, true);
    ck_assert_ptr_null(holder(&s, 10));
    top_engine_free(&s);
}
END_TEST

/* While a stream is stopped, threads record nothing, and may do anything. */
START_TEST(stopped)
{
    struct top_stream s;
    struct posixtrace_event mark = { .name = "", .thread_name = "", .id = POSIX_TRACE_STOP };

    begin(&s);
    s.refresh = 2;
    top_take(&s, &mark);
    mark.id = POSIX_TRACE_START;
    top_take(&s, &mark);
    listed(&s, 1, 2, 2);
    listed(&s, 2, 2, 2);
    top_idle_threads(&s, true);
    ck_assert_ptr_null(holder(&s, 10));
    top_engine_free(&s);
}
END_TEST

/* ---- screens ---- */

static const char *const names[] = { "req",
                                     "",
                                     "\033[31mred",
                                     "a\r\nb",
                                     "\xff\xfe",
                                     "\xe4\xb8\xad"
                                     "\xe6\x96\x87",
                                     "a name that is much longer than its column has room for" };

static const char *some_name(void)
{
    return names[some(sizeof names / sizeof names[0] - 1)];
}

static void fill(struct top_model *m, struct top_stream_row *streams)
{
    memset(m, 0, sizeof *m);
    m->now = some(INT64_MAX);
    m->share = some(1) ? 1 : 0.25;
    m->rate = (double)some(100000000);
    m->streams = streams;
    m->stream_count = (size_t)some(4);
    streams[0].name = "one";
    for (size_t i = 0; i < m->stream_count; i++)
        streams[i] = (struct top_stream_row){ .name = some_name(),
                                              .ended = some(1) != 0,
                                              .stretch = some(NS),
                                              .lost = { (uint64_t)some(9) } };
    m->pair_count = (size_t)some(30);
    m->pairs = calloc(m->pair_count + 1, sizeof *m->pairs);
    for (size_t i = 0; i < m->pair_count; i++) {
        m->pairs[i].name = some_name();
        m->pairs[i].stream = &streams[0];
        m->pairs[i].of[1] = (struct top_latency){ 5, some(NS), some(NS), some(INT64_MAX), some(1) };
    }
    m->thread_count = (size_t)some(60);
    m->threads = calloc(m->thread_count + 1, sizeof *m->threads);
    for (size_t i = 0; i < m->thread_count; i++) {
        struct top_thread_row *t = &m->threads[i];

        snprintf(t->name, sizeof t->name, "%.15s", some_name());
        snprintf(t->object, sizeof t->object, "%s", some_name());
        t->tid = (pid_t)some(1 << 22);
        t->state = (enum top_state)some(TOP_STATES - 1);
        t->call = some(1) ? "mutex_lock" : NULL;
        t->wants_holder = t->call && some(1);
        t->holder = t->wants_holder ? (pid_t)some(1) : 0;
        t->deadlock = i < 4 ? 1 + i / 2 : 0;
    }
    m->lock_count = (size_t)some(5);
    m->locks = calloc(m->lock_count + 1, sizeof *m->locks);
    m->site_count = (size_t)some(5);
    m->sites = calloc(m->site_count + 1, sizeof *m->sites);
    for (size_t i = 0; i < m->site_count; i++)
        m->sites[i].call = "read";
}

static void expect_line(const struct top_line *line, const struct top_view *v)
{
    ck_assert_uint_le(utf8_columns(line->text, strlen(line->text)), v->columns);
    for (const char *at = line->text; *at; at++) {
        ck_assert(((unsigned char)*at >= ' ' && *at != 127) || *at == '\0');
        ck_assert(v->style == UTF8_TERMINAL || (unsigned char)*at < 128);
    }
}

START_TEST(screens)
{
    struct top_stream_row streams[8];
    struct top_screen s;
    struct top_model m;

    for (int i = 0; i < MODELS; i++) {
        struct top_view v = { .columns = 1 + (size_t)some(200),
                              .rows = 1 + (size_t)some(60),
                              .style = some(1) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII,
                              .section = (unsigned)some(TOP_ALL),
                              .help = some(4) == 0,
                              .prompt = some(4) ? NULL : some_name() };

        fill(&m, streams);
        top_screen_make(&s, &m, &v);
        ck_assert_uint_eq(s.count, v.rows);
        for (size_t k = 0; k < s.count; k++)
            expect_line(&s.lines[k], &v);
        top_screen_free(&s);
        free(m.pairs);
        free(m.threads);
        free(m.locks);
        free(m.sites);
    }
}
END_TEST

/* 80 columns show the whole line. */
START_TEST(sampled)
{
    struct top_view v = { .columns = 80, .rows = 24, .section = TOP_ALL };
    struct top_stream_row stream = { .name = "one", .stretch = 999999 };
    struct top_model m = { .share = 0.999, .streams = &stream, .stream_count = 1 };
    const char *whole = "SAMPLED: 99.9% of the events, pairs below 1.00ms; >: at least so much";
    struct top_screen s;
    bool found = false;

    top_screen_make(&s, &m, &v);
    for (size_t i = 0; i < s.count; i++)
        found |= strcmp(s.lines[i].text, whole) == 0;
    ck_assert(found);
    top_screen_free(&s);
}
END_TEST

static bool has_text(const struct top_model *m, const char *text)
{
    struct top_view v = { .columns = 80, .rows = 24, .section = TOP_ALL };
    struct top_screen s;
    bool found = false;

    top_screen_make(&s, m, &v);
    for (size_t i = 0; i < s.count; i++)
        found |= strstr(s.lines[i].text, text) != NULL;
    top_screen_free(&s);
    return found;
}

static bool shows_bounds(double per_s, double busy, bool at_least, const char *text)
{
    struct top_stream_row stream = { .name = "one" };
    struct top_lock_row lock = {
        .name = "hot", .per_s = per_s, .busy = busy, .at_least = at_least, .last = { .count = 1 }
    };
    struct top_model m = {
        .share = 1, .streams = &stream, .stream_count = 1, .locks = &lock, .lock_count = 1
    };

    return has_text(&m, text);
}

/* They are marked, and rounded down. */
START_TEST(shown_bounds)
{
    ck_assert(shows_bounds(1596.9, 1.858, false, " 1597 185.8%"));
    ck_assert(shows_bounds(1596.9, 1.858, true, " >1596  >185%"));
    ck_assert(shows_bounds(19999, 0.99999, true, "  >19k >99.9%"));
    ck_assert(shows_bounds(9.99, 0, true, "  >9.0  >0.0%"));
    ck_assert(shows_bounds(1.97, 0.0001, true, "  >1.9  >0.0%"));
    ck_assert(shows_bounds(1999999, 1, true, " >1.9M  >100%"));
}
END_TEST

/* Forked processes have locks and call sites of the same name. */
START_TEST(processes)
{
    struct top_stream_row stream = { .name = "one", .processes = 2 };
    struct top_lock_row lock = { .pid = PID, .name = "table" };
    struct top_site_row site = { .pid = PID + 1, .where = "main", .call = "read" };
    struct top_model m = { .share = 1,
                           .streams = &stream,
                           .stream_count = 1,
                           .locks = &lock,
                           .lock_count = 1,
                           .sites = &site,
                           .site_count = 1 };

    ck_assert(has_text(&m, "table (77) "));
    ck_assert(has_text(&m, "main (78) "));
    stream.processes = 1;
    ck_assert(has_text(&m, "table "));
    ck_assert(!has_text(&m, "(77)"));
    ck_assert(!has_text(&m, "(78)"));
}
END_TEST

/* ---- keys ---- */

START_TEST(keys)
{
    struct top_keys k = { .view.section = TOP_ALL };

    ck_assert_int_eq(top_keys_press(&k, 'x'), TOP_NO_ACTION);
    ck_assert_int_eq(top_keys_press(&k, 's'), TOP_REBUILD);
    ck_assert_int_eq(k.sort, TOP_BY_RATE);
    ck_assert_int_eq(top_keys_press(&k, 'f'), TOP_REDRAW);
    for (const char *at = "q\xc3\xa9\x7f \x1bq"; *at; at++)
        ck_assert_int_eq(top_keys_press(&k, (unsigned char)*at),
                         *at == 'q' && !k.typing ? TOP_QUIT : TOP_REDRAW);
    ck_assert_str_eq(k.typed, "q ");
    ck_assert_str_eq(k.filter, "");
    top_keys_press(&k, 'f');
    for (int i = 0; i < 2 * TOP_TYPED; i++)
        top_keys_press(&k, 'a');
    ck_assert_int_eq(top_keys_press(&k, '\r'), TOP_FILTERED);
    ck_assert_uint_eq(strlen(k.filter), TOP_TYPED);
    ck_assert_int_eq(top_keys_press(&k, ' '), TOP_REDRAW);
    ck_assert_int_eq(top_keys_press(&k, 's'), TOP_REDRAW); /* it is frozen */
    ck_assert_int_eq(k.sort, TOP_BY_RATE);
    ck_assert_int_eq(top_keys_press(&k, ' '), TOP_REBUILD);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, recent);
    tcase_add_test(t, extremes);
    tcase_add_test(t, rates);
    tcase_add_test(t, lower_bounds);
    tcase_add_test(t, long_calls);
    tcase_add_test(t, clock_is_set);
    tcase_add_test(t, holders);
    tcase_add_test(t, gaps);
    tcase_add_test(t, late_reading);
    tcase_add_test(t, stopped);
    tcase_add_test(t, screens);
    tcase_add_test(t, sampled);
    tcase_add_test(t, shown_bounds);
    tcase_add_test(t, processes);
    tcase_add_test(t, keys);
}

int main(void)
{
    return run_suite("tools", "top", NULL, add);
}
