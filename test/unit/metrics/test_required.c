/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_events_required_by() as its page describes the use: all types are filtered but
 * those.  Events are lost then; no measurement joins events of two rounds of a thread.  Nor
 * where a filter made by hand left out what marks the losses, in a log or in a stream that is
 * read while it is active.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/flush_log.h"
#include "support/run_suite.h"

enum {
    THREADS = 3,
    ROUNDS = 20000, /* of a thread in a flood */
    WAIT_EACH = 500,
    LONGEST = 31, /* start, in numbers */
    FLOODS_MAX = 20,
    TORN_MAX = 65536
};

/* In one thread: a start event followed by a finish event of another round. */
struct torn {
    pid_t tid;
    int64_t begin_ns;
};

struct reading {
    struct {
        pid_t tid;
        int64_t begin_ns;
        unsigned round;
        bool open;
    } threads[THREADS * FLOODS_MAX];
    size_t thread_count;
    struct torn torn[TORN_MAX];
    size_t torn_count;
};

static trace_event_id_t begin, finish;
static unsigned next_round;

static trace_id_t flooded_stream;
static _Atomic bool has_overrun;

/* Until the flush thread has emptied the stream, if it is full. */
static void wait_until_it_runs(void)
{
    struct posix_trace_status_info status;

    do {
        ck_assert_int_eq(posix_trace_get_status(flooded_stream, &status), 0);
        if (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN)
            has_overrun = true;
    } while (status.posix_stream_status != POSIX_TRACE_RUNNING && usleep(100) == 0);
}

/* Starts have different lengths: what there is room for ends after a start as often as after a
 * finish.  The first event after a loss is a finish now and then. */
static void *flood(void *arg)
{
    unsigned first = *(unsigned *)arg, data[LONGEST] = { 0 };

    for (unsigned i = first; i < first + ROUNDS; i++) {
        data[0] = i;
        posix_trace_event(begin, data, (1 + i * i % LONGEST) * sizeof *data);
        if (i % WAIT_EACH == 0)
            wait_until_it_runs();
        posix_trace_event(finish, data, sizeof *data);
    }
    return NULL;
}

static bool has_lost(trace_id_t trid)
{
    pthread_t threads[THREADS];

    flooded_stream = trid;
    has_overrun = false;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, flood, &next_round), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    next_round += ROUNDS;
    wait_until_it_runs();
    return has_overrun;
}

static void filter_all_but(trace_id_t trid, const trace_event_set_t *needed)
{
    trace_event_set_t all;

    ck_assert_int_eq(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, needed, POSIX_TRACE_SUB_EVENTSET), 0);
}

static void filter(trace_id_t trid, const posixtrace_metric_t *metric, bool by_hand)
{
    trace_event_set_t needed;

    ck_assert_int_eq(posix_trace_eventid_open("flood begin", &begin), 0);
    ck_assert_int_eq(posix_trace_eventid_open("flood finish", &finish), 0);
    if (!by_hand) {
        ck_assert_int_eq(posixtrace_events_required_by(metric, trid, &needed), 0);
    } else {
        ck_assert_int_eq(posix_trace_eventset_empty(&needed), 0);
        ck_assert_int_eq(posix_trace_eventset_add(begin, &needed), 0);
        ck_assert_int_eq(posix_trace_eventset_add(finish, &needed), 0);
    }
    filter_all_but(trid, &needed);
}

/* A small stream in front of a log. */
enum filtering { REQUIRED, BY_HAND, HALFWAY };

static trace_id_t create(const posixtrace_metric_t *metric, int fd, bool by_hand)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 65536), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    filter(trid, metric, by_hand);
    return trid;
}

/* It is flooded until it has lost something. */
static void record(const posixtrace_metric_t *metric, int fd, enum filtering filtering)
{
    trace_id_t trid = create(metric, fd, filtering == BY_HAND);
    unsigned floods = 0;

    ck_assert_int_eq(posix_trace_start(trid), 0);
    while (!has_lost(trid))
        ck_assert_uint_lt(++floods, FLOODS_MAX);
    if (filtering == HALFWAY) {
        filter(trid, metric, true);
        while (!has_lost(trid))
            ck_assert_uint_lt(++floods, FLOODS_MAX);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

static void read_one(struct reading *r, const struct posixtrace_event *e)
{
    size_t i = 0;
    unsigned round;

    while (i < r->thread_count && r->threads[i].tid != e->tid)
        i++;
    ck_assert_uint_lt(i, THREADS * FLOODS_MAX);
    r->thread_count += i == r->thread_count;
    r->threads[i].tid = e->tid;
    ck_assert_uint_ge(e->data_len, sizeof round);
    memcpy(&round, e->data, sizeof round);
    if (strcmp(e->name, "flood finish") == 0) {
        if (r->threads[i].open && r->threads[i].round != round && r->torn_count < TORN_MAX)
            r->torn[r->torn_count++] = (struct torn){ e->tid, r->threads[i].begin_ns };
        r->threads[i].open = false;
    } else if (!r->threads[i].open) { /* of several starts the first counts */
        r->threads[i].begin_ns = e->ns;
        r->threads[i].round = round;
        r->threads[i].open = true;
    }
}

static void read_log(struct reading *r, trace_id_t trid)
{
    struct posixtrace_event e;
    int unavailable = 0;

    memset(r, 0, sizeof *r);
    while (posixtrace_next_event(trid, &e, sizeof e, &unavailable) == 0 && !unavailable)
        if (strncmp(e.name, "flood ", 6) == 0)
            read_one(r, &e);
}

static int check_measured(void *context, const struct posixtrace_measurement *m)
{
    const struct reading *r = context;

    for (size_t i = 0; !m->unknown && i < r->torn_count; i++)
        ck_assert_msg(r->torn[i].tid != m->tid || r->torn[i].begin_ns != m->begin_ns,
                      "a measurement of %lld ns joins two rounds", (long long)m->length_ns);
    return 0;
}

/* How many pairs the loss has torn; none of them is a measurement. */
static size_t check_log(const posixtrace_metric_t *metric, int fd)
{
    static struct reading reading;
    posixtrace_metric_run_t *run;
    trace_id_t trid;
    int none;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    read_log(&reading, trid);
    ck_assert_int_eq(posixtrace_metric_run_create(&metric, 1, trid, check_measured, &reading, &run),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_metric_run_end(run), 0);
    posixtrace_metric_run_free(run);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return reading.torn_count;
}

START_TEST(a_loss_is_seen)
{
    posixtrace_metric_t *metric;
    size_t torn = 0;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "flood begin", "flood finish", true, &metric),
                     0);
    for (unsigned trials = 0; torn == 0; trials++) {
        int fd = memfd_create("required", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_uint_lt(trials, 50);
        record(metric, fd, (enum filtering)_i);
        torn = check_log(metric, fd);
        close(fd);
    }
    posixtrace_metric_free(metric);
}
END_TEST

/* ---- a stream that is read while it is active ---- */

enum { LIVE_SIZE = 16384, LIVE_FLOOD = 5000 };

struct live {
    trace_id_t stream, reader;
    posixtrace_metric_run_t *run;
    unsigned known, unknown;
};

static int own_file(void *file, const struct posixtrace_stream *s)
{
    memcpy(file, s->file, sizeof s->file);
    return s->owner == getpid();
}

static int count_measured(void *context, const struct posixtrace_measurement *m)
{
    struct live *l = context;

    l->known += !m->unknown;
    l->unknown += m->unknown;
    return 0;
}

static void live_begin(struct live *l, const posixtrace_metric_t *metric, int policy, bool attached)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_attr_t attr;

    memset(l, 0, sizeof *l);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, LIVE_SIZE), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &l->stream), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    filter(l->stream, metric, true);
    ck_assert_int_eq(posix_trace_start(l->stream), 0);
    l->reader = l->stream;
    if (attached) {
        ck_assert_int_eq(posixtrace_stream_list(own_file, file), 1);
        ck_assert_int_eq(posixtrace_attach(file, &l->reader), 0);
    }
    ck_assert_int_eq(
        posixtrace_metric_run_create(&metric, 1, l->reader, count_measured, l, &l->run), 0);
}

static void live_take(struct live *l)
{
    int none;

    ck_assert_int_eq(posixtrace_metric_run_take(l->run, 0, &none), 0);
}

static void live_end(struct live *l)
{
    live_take(l);
    ck_assert_int_eq(posixtrace_metric_run_end(l->run), 0);
    posixtrace_metric_run_free(l->run);
    if (l->reader != l->stream)
        ck_assert_int_eq(posixtrace_detach(l->reader), 0);
    ck_assert_int_eq(posix_trace_shutdown(l->stream), 0);
}

static void trace(trace_event_id_t id, unsigned times)
{
    while (times-- > 0)
        posix_trace_event(id, &times, sizeof times);
}

/* Is not recorded; nothing in the stream says so. */
static void stopped(struct live *l)
{
    ck_assert_int_eq(posix_trace_stop(l->stream), 0);
    trace(finish, 1);
    trace(begin, 1);
    ck_assert_int_eq(posix_trace_start(l->stream), 0);
}

static void filtered(struct live *l)
{
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(finish, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(l->stream, &set, POSIX_TRACE_ADD_EVENTSET), 0);
    trace(finish, 1);
    ck_assert_int_eq(posix_trace_set_filter(l->stream, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    trace(begin, 1);
}

/* UNTIL_FULL: the finish is in no stream; LOOP: it is overwritten. */
static void flooded(struct live *l, int policy)
{
    trace(begin, policy == POSIX_TRACE_UNTIL_FULL ? LIVE_FLOOD : 0);
    trace(finish, 1);
    trace(begin, policy == POSIX_TRACE_LOOP ? LIVE_FLOOD : 0);
    live_take(l);
}

/* A gap without marks hides the finish of one measurement and the start of the next.  The owner
 * of the stream reads it, and an onlooker, which empties no full stream. */
START_TEST(a_live_gap_without_marks_is_seen)
{
    int policy = _i == 6 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP;
    posixtrace_metric_t *metric;
    struct live l;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "flood begin", "flood finish", true, &metric),
                     0);
    live_begin(&l, metric, policy, _i / 3 == 1);
    trace(begin, 1);
    trace(finish, 1);
    trace(begin, 1);
    live_take(&l);
    ck_assert_uint_eq(l.known, 1);
    switch (_i % 3) {
    case 1: stopped(&l); break;
    case 2: filtered(&l); break;
    default: flooded(&l, policy);
    }
    trace(finish, 1);
    live_take(&l);
    ck_assert_uint_eq(l.known, 1);
    ck_assert_uint_eq(l.unknown, 1);
    trace(begin, 1);
    trace(finish, 1);
    trace(begin, 1);
    trace(finish, 1);
    live_end(&l);
    ck_assert_uint_ge(l.known, 2); /* what comes after the gap is known again */
    posixtrace_metric_free(metric);
}
END_TEST

/* The same of a log that is read while its stream floods it. */
START_TEST(losses_of_a_log_that_grows_are_seen)
{
    struct posixtrace_info info;
    posixtrace_metric_t *metric;
    int fd = memfd_create("required", MFD_CLOEXEC);
    bool gap;
    unsigned floods = 0;
    struct live l = { 0 };

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "flood begin", "flood finish", true, &metric),
                     0);
    l.stream = create(metric, fd, true);
    ck_assert_int_eq(posix_trace_start(l.stream), 0);
    trace(begin, 1);
    trace(finish, 1);
    flush_log(l.stream);
    ck_assert_int_eq(posix_trace_open(fd, &l.reader), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric }, 1,
                                                  l.reader, count_measured, &l, &l.run),
                     0);
    live_take(&l);
    ck_assert_uint_eq(l.known, 1);
    while (!has_lost(l.stream))
        ck_assert_uint_lt(++floods, FLOODS_MAX);
    flush_log(l.stream);
    do {
        ck_assert_int_eq(posixtrace_follow(l.reader, &gap), 0);
        ck_assert_int_eq(posixtrace_get_info(l.reader, &info, sizeof info), 0);
    } while (info.lost[POSIXTRACE_LOST_FULL] == 0);
    live_take(&l);
    ck_assert_uint_eq(l.known, 1);
    ck_assert_uint_ge(l.unknown, 1);
    ck_assert_int_eq(posixtrace_metric_run_end(l.run), 0);
    posixtrace_metric_run_free(l.run);
    ck_assert_int_eq(posix_trace_close(l.reader), 0);
    ck_assert_int_eq(posix_trace_shutdown(l.stream), 0);
    posixtrace_metric_free(metric);
    close(fd);
}
END_TEST

/* Of each metric, whatever else it looks at. */
START_TEST(marks_are_required)
{
    static const trace_event_id_t marks[] = { POSIX_TRACE_START, POSIX_TRACE_STOP,
                                              POSIX_TRACE_FILTER, POSIX_TRACE_OVERFLOW,
                                              POSIX_TRACE_RESUME };
    const posixtrace_metric_t *metric;
    posixtrace_metric_set_t *metrics;
    trace_event_set_t needed;
    trace_id_t trid;
    int is;

    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posixtrace_metric_set_open(_i ? "marte" : "linux", &metrics), 0);
    for (size_t i = 0; (metric = posixtrace_metric_set_get(metrics, i)) != NULL; i++) {
        ck_assert_int_eq(posixtrace_events_required_by(metric, trid, &needed), 0);
        for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
            ck_assert_int_eq(posix_trace_eventset_ismember(marks[k], &needed, &is), 0);
            ck_assert_int_ne(is, 0);
        }
        ck_assert_int_eq(posix_trace_eventset_ismember(POSIX_TRACE_UNNAMED_USEREVENT, &needed, &is),
                         0);
        ck_assert_int_eq(is, 0);
    }
    posixtrace_metric_set_free(metrics);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, marks_are_required, 0, 2);
    tcase_add_loop_test(tc, a_loss_is_seen, 0, 3);
    tcase_add_loop_test(tc, a_live_gap_without_marks_is_seen, 0, 7);
    tcase_add_test(tc, losses_of_a_log_that_grows_are_seen);
}

int main(void)
{
    return run_suite("metrics", "required", NULL, add);
}
