/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The builder: the log has the added events, in the order in which they were added. */
#include <errno.h>
#include <posixtrace/info.h>
#include <stdio.h>
#include "log/writer/builder.h"
#include "log/writer/made_clock.h"
#include "log_helpers.h"
#include "model/sync.h"
#include "support/run_suite.h"

/* An event from its number: times with many ties, negative at first. */
static void make_event(struct posixtrace_event *e, unsigned i, char name[32], char thread[16],
                       uint8_t *data)
{
    static int64_t ns;

    if (i == 0)
        ns = -50;
    ns += rand() % 3 ? 0 : rand() % 100 ? rand() % 5 : 7000000000;
    snprintf(name, 32, rand() % 10 ? "type %d" : "posix_trace_error", rand() % 20);
    snprintf(thread, 16, "t%d", rand() % 3);
    memset(data, (int)i, 100);
    *e = (struct posixtrace_event){
        .ns = ns,
        .prog_address = i,
        .thread_id = (uint64_t)rand() % 2 << 40,
        .data = data,
        .thread_name = thread,
        .name = name,
        .data_len = (size_t)rand() % 100,
        .truncation = rand() % 2 ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED,
        .pid = rand() % 2,
        .tid = rand() % 4,
    };
}

/* The latest name of each thread that has a number. */
struct latest {
    char name[2][4][2][16];
};

static char *latest_name(struct latest *l, const struct posixtrace_event *w)
{
    return l->name[w->pid][w->tid][w->thread_id != 0];
}

static void expect_event(struct pt_log_reader *r, const struct pt_event *e,
                         const struct posixtrace_event *w, struct latest *latest)
{
    const char *thread = w->tid || w->thread_id ? latest_name(latest, w) : w->thread_name;
    bool same = e->ns == w->ns && e->addr == w->prog_address && e->len == w->data_len &&
                memcmp(e->data, w->data, w->data_len) == 0 &&
                e->truncated == (w->truncation != POSIX_TRACE_NOT_TRUNCATED) &&
                e->author->pid == w->pid && e->author->tid == w->tid &&
                e->author->thread_id == w->thread_id && strcmp(e->author->name, thread) == 0 &&
                strcmp(pt_log_reader_text(r, PT_TEXT_NAME, e->id), w->name) == 0;

    if (!same)
        ck_abort_msg("event %lu came out different", (unsigned long)w->prog_address);
}

START_TEST(same_back)
{
    unsigned events = test_size(60000);
    struct posixtrace_log_report report;
    struct posixtrace_event w;
    struct posixtrace_info info;
    struct pt_log_builder *b;
    struct pt_log_reader *r;
    struct pt_event e;
    struct latest latest;
    char name[32], thread[16];
    uint8_t data[100];
    int fd = log_file();

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    srand((unsigned)_i);
    for (unsigned i = 0; i < events; i++) {
        make_event(&w, i, name, thread, data);
        if (pt_log_builder_add(b, &w) != 0)
            ck_abort_msg("event %u was refused", i);
        strcpy(latest_name(&latest, &w), thread);
    }
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    srand((unsigned)_i);
    for (unsigned i = 0; i < events; i++) {
        make_event(&w, i, name, thread, data);
        if (pt_log_reader_next(r, &e) != 1)
            ck_abort_msg("no event %u", i);
        expect_event(r, &e, &w, &latest);
        if (strcmp(name, "posix_trace_error") == 0 && e.id != POSIX_TRACE_ERROR)
            ck_abort_msg("a predefined name has id %u", e.id);
    }
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, events);
    ck_assert_int_eq(info.clock, POSIXTRACE_CLOCK_REALTIME);
    ck_assert_int_eq(info.last_ns, w.ns);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.damaged, 0);
    close(fd);
}
END_TEST

static void add_named(struct pt_log_builder *b, const char *event, int tid, const char *thread)
{
    struct posixtrace_event w = { .name = event, .pid = 1, .tid = tid, .thread_name = thread };

    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
}

/* One thread is one author, by its latest name; another one that has its number later is not. */
START_TEST(names)
{
    struct posixtrace_thread_info t;
    static const char *const want[] = { "latest", "left",   "latest", "right",
                                        "latest", "latest", "second", "second" };
    struct pt_log_builder *b;
    struct pt_log_reader *r;
    struct pt_event e;
    int fd = log_file();

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    add_named(b, "x", 7, "first");
    add_named(b, "x", 0, "left");
    add_named(b, "x", 7, "latest");
    add_named(b, "x", 0, "right");
    add_named(b, "posixtrace_thread_end", 7, NULL);
    add_named(b, "destructor", 7, "");
    add_named(b, "posixtrace_thread_begin", 7, "other");
    add_named(b, "x", 7, "second");
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_int_eq(pt_log_reader_next(r, &e), 1);
        ck_assert_str_eq(e.author->name, want[i]);
    }
    ck_assert_int_eq(pt_log_reader_thread(r, 0, &t), 1);
    ck_assert_str_eq(t.name, "second"); /* the list puts all with one number together */
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* More threads than are kept in mind, a tie with each other; some come again. */
START_TEST(many_threads)
{
    enum { THREADS = 33000, AGAIN = 500 };
    struct pt_log_builder *b;
    struct posixtrace_event w = { .name = "x", .thread_name = "a name that is too long" };
    struct posixtrace_thread_info t;
    struct pt_log_reader *r;
    struct pt_event e;
    int fd = log_file();
    size_t n = 0;

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    for (int i = 0; i < THREADS + AGAIN; i++) {
        w.ns = i / 1000;
        w.tid = 1 + i % THREADS;
        ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    }
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    for (int i = 0; i < THREADS + AGAIN; i++) {
        ck_assert_int_eq(pt_log_reader_next(r, &e), 1);
        ck_assert_int_eq(e.author->tid, 1 + i % THREADS);
        ck_assert_int_eq(e.ns, i / 1000);
        ck_assert_str_eq(e.author->name, "a name that is ");
    }
    while (pt_log_reader_thread(r, n, &t) == 1) {
        ck_assert_uint_eq(t.recorded, t.tid <= AGAIN ? 2 : 1);
        n++;
    }
    ck_assert_uint_eq(n, THREADS);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* More than a log lists by themselves, in turns: no event is lost or out of order, and what threads
 * recorded adds up, those included that are only in the sum. */
START_TEST(more_threads_than_are_listed)
{
    enum { THREADS = 70000, EVENTS = 2 * THREADS };
    struct pt_log_builder *b;
    struct posixtrace_event w = { .name = "x", .thread_name = "t" };
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    struct pt_log_reader *r;
    struct pt_event e;
    uint64_t recorded = 0, listed = 0;
    int fd = log_file();

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    for (int i = 0; i < EVENTS; i++) {
        w.ns = i;
        w.tid = 1 + i % THREADS;
        if (pt_log_builder_add(b, &w) != 0)
            ck_abort_msg("event %d was refused", i);
    }
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    for (int i = 0; i < EVENTS; i++)
        if (pt_log_reader_next(r, &e) != 1 || e.author->tid != 1 + i % THREADS || e.ns != i)
            ck_abort_msg("event %d is missing or another one", i);
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, EVENTS);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], 0);
    for (size_t n = 0; pt_log_reader_thread(r, n, &t) == 1; n++) {
        recorded += t.recorded;
        listed += t.tid != 0;
    }
    ck_assert_uint_eq(recorded, EVENTS);
    ck_assert_uint_gt(listed, 32768);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

enum ties { PAIRS, RUNS, ALL, TURNS, CROWD, TIE_KINDS };

static void next_tie(struct posixtrace_event *w, enum ties kind, unsigned i, unsigned threads)
{
    w->tid = 1 + (int)(kind >= TURNS ? i % threads : threads - 1 - i % threads);
    if (kind == ALL)
        w->tid = 1 + rand() % (int)threads;
    else if (kind >= TURNS || (kind == PAIRS && i % 2 == 0) || (kind == RUNS && rand() % 6 == 0))
        w->ns += 100;
}

/* However events tie, and from however many threads they come (CROWD: 40,000, more than are kept
 * between rounds): a log takes at most three times the room that the events' records do, of 24
 * bytes each. */
START_TEST(ties_take_no_room)
{
    unsigned events = test_size(_i == CROWD ? 400000 : 40000);
    unsigned threads = _i >= TURNS ? events / 10 : events / 200;
    struct posixtrace_event w = {
        .name = "x", .thread_name = "t", .data = "12345678", .data_len = 8
    };
    struct pt_log_builder *b;
    struct pt_log_reader *r;
    struct pt_event e;
    int fd = log_file();

    srand(5);
    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    for (unsigned i = 0; i < events; i++) {
        next_tie(&w, (enum ties)_i, i, threads);
        if (pt_log_builder_add(b, &w) != 0)
            ck_abort_msg("event %u was refused", i);
    }
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    ck_assert_int_le(lseek(fd, 0, SEEK_END), events * 3 * 24);
    r = log_reader(fd);
    srand(5);
    w.ns = 0;
    for (unsigned i = 0; i < events; i++) {
        next_tie(&w, (enum ties)_i, i, threads);
        if (pt_log_reader_next(r, &e) != 1 || e.ns != w.ns || e.author->tid != w.tid)
            ck_abort_msg("event %u came out different", i);
    }
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* Ticks ascend and lead back to the nanoseconds, whatever lies between two events. */
START_TEST(made_clock)
{
    static const int64_t steps[] = { 0, 0,         0, 0, 0, 0,         1, 0,
                                     0, 0,         0, 3, 1, 1ll << 33, 0, 1ll << 61,
                                     1, 1ll << 62, 0, 0, 0, 0,         0, 1ll << 33 };
    struct pt_made_clock c = { .any = false };
    uint64_t ts, last = 0;
    int64_t ns = INT64_MIN + 5;

    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        ns += steps[i];
        ck_assert_int_eq(pt_made_clock_tick(&c, ns, i > 0, &ts), 0);
        ck_assert_uint_gt(ts, last);
        for (unsigned k = 0; k < c.count; k++)
            ck_assert(k == 0 || c.waiting[k].ts > c.waiting[k - 1].ts);
        ck_assert_int_eq(pt_sync_convert(c.waiting, c.count, ts), ns);
        last = ts;
    }
    ck_assert_int_eq(pt_made_clock_tick(&c, ns - 1, false, &ts), -EINVAL);
    ck_assert_int_eq(pt_made_clock_tick(&c, ns, false, &ts), 0);
    ck_assert_uint_eq(ts, last);
    /* Many ticks are used: a pause takes few more. */
    c.last_ts = (1ull << 63) - 100;
    ck_assert_int_eq(pt_made_clock_tick(&c, ns += 1ll << 33, false, &ts), 0);
    ck_assert_uint_lt(ts, 1ull << 63);
    c.last_ts = UINT64_MAX - (1ull << 62);
    ck_assert_int_eq(pt_made_clock_tick(&c, ns, true, &ts), -EOVERFLOW);
}
END_TEST

/* Turns of many threads, so that a round is long and its packets are small; the reader
 * meets all lengths of turns, and threads that take none in a round. */
START_TEST(threads_take_turns)
{
    enum { THREADS = 1200 };
    unsigned events = test_size(400000), n = 0;
    struct pt_log_builder *b;
    struct posixtrace_event w = { .name = "x", .thread_name = "t", .data = &n, .data_len = 4 };
    struct pt_log_reader *r;
    struct pt_event e;
    int fd = log_file();
    int *tids = malloc(events * sizeof *tids);

    ck_assert_ptr_nonnull(tids);
    srand(11);
    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    while (n < events) {
        int longest = rand() % 8 ? 1 : 40;

        w.tid = 1 + rand() % (rand() % 3 ? THREADS : 9);
        for (int turn = 1 + rand() % longest; turn > 0 && n < events; turn--) {
            w.ns += 1 + rand() % 100;
            tids[n] = w.tid;
            ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
            n++;
        }
    }
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    for (unsigned i = 0; i < events; i++) {
        unsigned no = events;

        ck_assert_int_eq(pt_log_reader_next(r, &e), 1);
        memcpy(&no, e.data, sizeof no);
        if (no != i || e.author->tid != tids[i])
            ck_abort_msg("%u of thread %d came in place of %u", no, e.author->tid, i);
    }
    ck_assert_int_eq(pt_log_reader_next(r, &e), 0);
    free(tids);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

START_TEST(refused)
{
    static char data[PT_MAX_DATA + 1];
    char name[TRACE_EVENT_NAME_MAX + 2];
    struct posixtrace_event w = { .ns = 100, .name = "x" };
    struct pt_log_builder *b;
    int fd = log_file();

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    w.ns = 99;
    ck_assert_int_eq(pt_log_builder_add(b, &w), -EINVAL);
    w.ns = 100;
    w.data_len = 1;
    ck_assert_int_eq(pt_log_builder_add(b, &w), -EINVAL);
    w.data = data;
    w.data_len = PT_MAX_DATA + 1;
    ck_assert_int_eq(pt_log_builder_add(b, &w), -EINVAL);
    w.data_len = PT_MAX_DATA;
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    w.name = NULL;
    ck_assert_int_eq(pt_log_builder_add(b, &w), -EINVAL);
    w.name = "";
    ck_assert_int_eq(pt_log_builder_add(b, &w), -EINVAL);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    w.name = name;
    ck_assert_int_eq(pt_log_builder_add(b, &w), -ENAMETOOLONG);
    name[sizeof name - 2] = 0;
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    for (unsigned i = 3; i < TRACE_USER_EVENT_MAX; i++) {
        snprintf(name, sizeof name, "%u", i);
        ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    }
    w.name = "one too many";
    ck_assert_int_eq(pt_log_builder_add(b, &w), -ENOSPC);
    w.name = "posix_trace_start";
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    close(fd);
    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), -EBADF);
}
END_TEST

/* Losses are reported by cause, beside the events; several calls add up. */
START_TEST(losses)
{
    static const uint64_t lost[POSIXTRACE_LOSS_CAUSES] = { 1,     20,     300,     4000,
                                                           50000, 600000, 7000000, 80000000 };
    struct posixtrace_event w = { .name = "x", .thread_name = "t", .tid = 1 };
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    struct pt_log_builder *b;
    struct pt_log_reader *r;
    int fd = log_file();

    ck_assert_int_eq(pt_log_builder_new(&b, fd, NULL), 0);
    pt_log_builder_lost(b, lost);
    ck_assert_int_eq(pt_log_builder_add(b, &w), 0);
    pt_log_builder_lost(b, lost);
    ck_assert_int_eq(pt_log_builder_finish(b), 0);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, 1);
    for (unsigned c = 0; c < POSIXTRACE_LOST_SWITCHES; c++)
        ck_assert_uint_eq(info.lost[c], 2 * lost[c]);
    ck_assert_uint_eq(pt_log_reader_lost_switches(r), 2 * lost[POSIXTRACE_LOST_SWITCHES]);
    ck_assert_int_eq(pt_log_reader_thread(r, 0, &t), 1);
    ck_assert_uint_eq(t.recorded, 1);
    ck_assert_int_eq(pt_log_reader_thread(r, 1, &t), 1);
    ck_assert_int_eq(t.tid, 0);
    ck_assert_uint_eq(t.recorded, 2 * (lost[1] + lost[4] + lost[5] + lost[6]));
    ck_assert_int_eq(pt_log_reader_thread(r, 2, &t), 0);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, same_back, 0, 3);
    tcase_add_test(t, names);
    tcase_add_test(t, many_threads);
    tcase_add_test(t, more_threads_than_are_listed);
    tcase_add_test(t, threads_take_turns);
    tcase_add_loop_test(t, ties_take_no_room, 0, TIE_KINDS);
    tcase_add_test(t, made_clock);
    tcase_add_test(t, refused);
    tcase_add_test(t, losses);
}

int main(void)
{
    return run_suite("log", "builder", NULL, add);
}
