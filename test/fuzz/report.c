/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a report of a log whose events are the input, four bytes each: type, thread, time
 * that has passed, data; and why its pairs took long.  The shares of each thread's time add up to
 * it, the counts fit the events that there are, and a second report of the log says the same.
 * Segments of a pair add up to it, and those below one to that; shares of a job to its response.
 * The page of the log is the same twice.  Rows of tables have the waits and gaps of the report, and
 * causes that add up to their time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/jobs.h>
#include <posixtrace/log.h>
#include <posixtrace/page.h>
#include <posixtrace/report.h>
#include <posixtrace/system.h>
#include <posixtrace/tables.h>
#include <posixtrace/why.h>
#include "fuzz/target.h"

enum { STEP = 4, EVENTS_MAX = 400, WINDOW = 3 };

static unsigned long logs, threads, waits, segments, jobs, rows;

static const char *const names[] = { "posixtrace_switch_in",
                                     "posixtrace_switch_out",
                                     "posixtrace_switch_preempted",
                                     "posixtrace_cpu_time",
                                     "posixtrace_mutex_lock",
                                     "posixtrace_mutex_locked",
                                     "posixtrace_mutex_unlock",
                                     "posixtrace_rwlock_lock",
                                     "posixtrace_rwlock_locked",
                                     "posixtrace_rwlock_unlock",
                                     "posixtrace_cond_wait",
                                     "posixtrace_cond_woken",
                                     "posixtrace_io",
                                     "posixtrace_io_done",
                                     "posixtrace_poll",
                                     "posixtrace_poll_done",
                                     "posixtrace_sleep",
                                     "posixtrace_sleep_done",
                                     "posixtrace_signal_begin",
                                     "posixtrace_signal_end",
                                     "posixtrace_thread_begin",
                                     "posixtrace_thread_end",
                                     "posixtrace_descriptor",
                                     "posixtrace_child_wait",
                                     "posixtrace_child_waited",
                                     "x:begin",
                                     "x:end",
                                     "y:begin",
                                     "posix_trace_overflow",
                                     "posix_trace_resume",
                                     "posix_trace_start",
                                     "posix_trace_stop",
                                     "posixtrace_cond_signal",
                                     "posixtrace_sem_wait",
                                     "posixtrace_sem_taken",
                                     "posixtrace_sem_post",
                                     "posixtrace_thread_join",
                                     "posixtrace_thread_joined",
                                     "posixtrace_barrier_wait",
                                     "posixtrace_barrier_passed",
                                     "posixtrace_connection",
                                     "posixtrace_epoll_set",
                                     "posixtrace_ready",
                                     "posixtrace_long_call" };

enum { NAMES = sizeof names / sizeof names[0], LONG_CALL = NAMES - 1 };

static trace_id_t make_log(const uint8_t *data, size_t size)
{
    FILE *f = tmpfile();
    posixtrace_log_builder_t *builder;
    int64_t ns = 1000;
    trace_id_t trid;

    FUZZ_NEED(f && posixtrace_log_builder_create(fileno(f), NULL, &builder) == 0);
    for (size_t i = 0; i + STEP <= size && i < STEP * EVENTS_MAX; i += STEP) {
        uint64_t words[5] = { data[i + 3] % 4u, data[i + 3] / 64u, data[i + 3], 0, 7 };
        struct posixtrace_event e = { .thread_name = "t", .data = words, .pid = 1 };

        ns += data[i + 2];
        e.ns = ns;
        e.name = names[data[i] % NAMES];
        e.tid = data[i + 1] % 4;
        e.pid = 1 + data[i + 1] / 4 % 2;
        e.thread_id = data[i + 1] / 8 % 2;
        if (data[i] % NAMES == LONG_CALL) {
            words[0] = POSIXTRACE_MUTEX_LOCK + data[i + 3] % 40u;
            words[3] = data[i + 3] == 255 ? UINT64_MAX / 2 : data[i + 3];
        }
        e.data_len = data[i + 1] > 200 ? data[i + 1] % sizeof words : sizeof words;
        FUZZ_NEED(posixtrace_log_builder_add(builder, &e, sizeof e) == 0);
    }
    FUZZ_NEED(posixtrace_log_builder_finish(builder) == 0);
    FUZZ_NEED(lseek(fileno(f), 0, SEEK_SET) == 0 && posix_trace_open(fileno(f), &trid) == 0);
    fclose(f);
    return trid;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return sum * 31 + value;
}

static uint64_t check_thread(const struct posixtrace_report_thread *t)
{
    int64_t sum = t->run_ns + t->runnable_ns + t->unnamed_ns + t->unknown_ns;

    FUZZ_NEED(t->run_ns >= 0 && t->runnable_ns >= 0 && t->unnamed_ns >= 0 && t->unknown_ns >= 0);
    for (unsigned k = 0; k < POSIXTRACE_WAIT_KINDS; k++) {
        FUZZ_NEED(t->wait_ns[k] >= 0);
        sum += t->wait_ns[k];
    }
    FUZZ_NEED(sum == t->total_ns && t->total_ns <= t->end_ns - t->begin_ns);
    threads++;
    return mix(mix((uint64_t)t->run_ns, (uint64_t)t->unknown_ns), (uint64_t)t->waits_for);
}

static uint64_t check_object(const struct posixtrace_report_object *o)
{
    FUZZ_NEED(o->waits <= o->calls && o->longest_ns <= o->total_ns && o->name);
    FUZZ_NEED((o->statistics != NULL) == (o->waits > 0));
    FUZZ_NEED(!o->holder_tid ||
              (o->kind == POSIXTRACE_WAIT_LOCK && o->holder_tid != o->longest_tid));
    waits += o->waits;
    return mix(o->waits, (uint64_t)o->total_ns);
}

static uint64_t report_on(trace_id_t trid, bool window)
{
    struct posixtrace_report_options options = { .from_ns = 1500, .to_ns = 1500 + 4000 };
    const struct posixtrace_report_object *o;
    const struct posixtrace_report_thread *t;
    const struct posixtrace_report_site *s;
    const struct posixtrace_report_pair *p;
    posixtrace_report_t *r;
    int unavailable = 0;
    uint64_t sum = 0, object_waits = 0, site_waits = 0;

    FUZZ_NEED(posixtrace_report_create(trid, window ? &options : NULL, sizeof options, &r) == 0);
    while (!unavailable)
        FUZZ_NEED(posixtrace_report_take(r, WINDOW, &unavailable) == 0);
    FUZZ_NEED(posixtrace_report_end(r) == 0);
    for (size_t i = 0; (t = posixtrace_report_thread(r, i)) != NULL; i++)
        sum = mix(sum, check_thread(t));
    for (size_t i = 0; (o = posixtrace_report_object(r, i)) != NULL; i++) {
        sum = mix(sum, check_object(o));
        object_waits += o->waits;
    }
    for (size_t i = 0; (s = posixtrace_report_site(r, i)) != NULL; i++) {
        FUZZ_NEED(s->waits > 0 && s->longest_ns <= s->total_ns && s->caller != 0);
        site_waits += s->waits;
    }
    FUZZ_NEED(site_waits <= object_waits);
    sum = mix(sum, site_waits);
    for (size_t i = 0; (p = posixtrace_report_pair(r, i)) != NULL; i++) {
        FUZZ_NEED(p->longest_ns <= p->total_ns && (p->statistics != NULL) == (p->count > 0));
        sum = mix(sum, p->count + (uint64_t)p->total_ns);
    }
    FUZZ_NEED(posixtrace_report_summary(r)->events == posixtrace_report_events(r));
    posixtrace_report_free(r);
    return sum;
}

/* The segments of that depth from the index on fill the time; returns the one after them. */
static size_t check_segments(const posixtrace_why_t *w, size_t instance, size_t i, unsigned depth,
                             int64_t begin, int64_t end)
{
    const struct posixtrace_why_segment *s, *below;

    while ((s = posixtrace_why_segment(w, instance, i)) != NULL && s->depth == depth) {
        FUZZ_NEED(s->begin_ns == begin && s->end_ns > begin && s->name);
        begin = s->end_ns;
        below = posixtrace_why_segment(w, instance, ++i);
        if (below && below->depth == depth + 1)
            i = check_segments(w, instance, i, depth + 1, s->begin_ns, s->end_ns);
        segments++;
    }
    FUZZ_NEED(begin == end);
    return i;
}

static void explain(trace_id_t trid, const struct posixtrace_why_options *options)
{
    const struct posixtrace_why_instance *row;
    posixtrace_why_t *w;
    int unavailable = 0;

    FUZZ_NEED(posixtrace_why_create(trid, options, sizeof *options, &w) == 0);
    while (!unavailable)
        FUZZ_NEED(posixtrace_why_take(w, WINDOW, &unavailable) == 0);
    FUZZ_NEED(posixtrace_why_end(w) == 0);
    for (size_t i = 0; (row = posixtrace_why_instance(w, i)) != NULL; i++)
        FUZZ_NEED(check_segments(w, i, 0, 0, row->begin_ns, row->end_ns) == row->segments);
    posixtrace_why_free(w);
}

static void explain_all(trace_id_t trid, uint8_t seed)
{
    struct posixtrace_why_options o = { .begin = "x:begin",
                                        .end = "x:end",
                                        .from_ns = INT64_MIN,
                                        .to_ns = INT64_MAX,
                                        .worst = seed % 4,
                                        .room = seed % 3 ? 0 : 8 };

    explain(trid, &o);
    o.begin = o.end = "y:begin";
    explain(trid, &o);
    o.begin = o.end = NULL;
    explain(trid, &o);
    o.at_tid = 1 + seed % 3;
    o.at_ns = 1000 + 20 * seed;
    explain(trid, &o);
}

static int check_job(void *context, const struct posixtrace_job *j)
{
    int64_t parts[] = { j->late_ns,     j->wakeup_ns,  j->run_ns,    j->system_ns,
                        j->runnable_ns, j->unnamed_ns, j->unknown_ns };
    int64_t sum = 0;

    (void)context;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        FUZZ_NEED(parts[i] >= 0);
        sum += parts[i];
    }
    for (unsigned k = 0; k < POSIXTRACE_WAIT_KINDS; k++) {
        FUZZ_NEED(j->wait_ns[k] >= 0);
        sum += j->wait_ns[k];
    }
    FUZZ_NEED(sum == j->end_ns - j->begin_ns && j->woken_ns >= j->begin_ns &&
              j->preemptions <= j->switches);
    jobs++;
    return 0;
}

/* Times of a thread do not overlap.  context: until when they were, by thread. */
static int check_ran(void *context, pid_t pid, pid_t tid, int64_t from, int64_t to, bool known)
{
    int64_t *until = (int64_t *)context + pid * 4 + tid;

    (void)known;
    FUZZ_NEED(from < to && from >= *until);
    *until = to;
    return 0;
}

static void find_jobs(trace_id_t trid)
{
    static const struct posixtrace_job_rule rules[] = {
        { POSIXTRACE_JOB_SLEEP, NULL, NULL },
        { POSIXTRACE_JOB_TIMERFD, NULL, NULL },
        { POSIXTRACE_JOB_POLL, NULL, NULL },
        { POSIXTRACE_JOB_TIMED, NULL, NULL },
        { POSIXTRACE_JOB_EVENTS, "x:begin", "x:end" },
        { POSIXTRACE_JOB_EVENTS, "y:begin", "y:begin" }
    };
    int64_t until[12] = { 0 };
    const struct posixtrace_jobs_options options = { .rules = rules,
                                                     .rule_count = sizeof rules / sizeof rules[0],
                                                     .from_ns = INT64_MIN,
                                                     .to_ns = INT64_MAX,
                                                     .job = check_job,
                                                     .ran = check_ran,
                                                     .context = until };
    posixtrace_jobs_t *j;
    int unavailable = 0;

    FUZZ_NEED(posixtrace_jobs_create(trid, &options, sizeof options, &j) == 0);
    while (!unavailable)
        FUZZ_NEED(posixtrace_jobs_take(j, WINDOW, &unavailable) == 0);
    FUZZ_NEED(posixtrace_jobs_end(j) == 0);
    posixtrace_jobs_free(j);
}

static int count_bytes(void *context, const void *bytes, size_t length)
{
    uint64_t *sum = context;

    for (size_t i = 0; i < length; i++)
        *sum = mix(*sum, ((const uint8_t *)bytes)[i]);
    return 0;
}

/* Of all of it, and of the same file again. */
static uint64_t make_page(trace_id_t trid)
{
    uint64_t sum = 0;
    const struct posixtrace_page_options options = { .name = "fuzz",
                                                     .write = count_bytes,
                                                     .context = &sum };
    int error = posixtrace_page_write(trid, &options, sizeof options);

    FUZZ_NEED(error == 0 || (error == ENOTSUP && !posixtrace_page_available()));
    return sum;
}

struct tabled {
    uint64_t waits, lost_waits, gaps;
    uint64_t waited;
    int64_t gap_ns;
};

static int take_measurement(void *context, const struct posixtrace_cell *c)
{
    const struct posixtrace_cell *causes = c + POSIXTRACE_MEASUREMENTS_RUN;
    int64_t time = c[POSIXTRACE_MEASUREMENTS_END_TIME].number -
                   c[POSIXTRACE_MEASUREMENTS_BEGIN_TIME].number;
    bool known = c[POSIXTRACE_MEASUREMENTS_KNOWN].number != 0;
    struct tabled *t = context;
    int64_t sum = 0;

    FUZZ_NEED(known == !c[POSIXTRACE_MEASUREMENTS_LENGTH].null);
    for (size_t i = 0;
         !causes[0].null && i < POSIXTRACE_MEASUREMENTS_COLUMNS - POSIXTRACE_MEASUREMENTS_RUN;
         i++) {
        FUZZ_NEED(causes[i].number >= 0 && known);
        sum += causes[i].number;
    }
    FUZZ_NEED(causes[0].null || sum == time);
    rows++;
    if (c[POSIXTRACE_MEASUREMENTS_KIND].text[0] != 'w')
        return 0;
    t->waits += known;
    t->lost_waits += !known;
    t->waited += known ? (uint64_t)c[POSIXTRACE_MEASUREMENTS_LENGTH].number : 0;
    return 0;
}

static int take_gap(void *context, const struct posixtrace_cell *c)
{
    struct tabled *t = context;

    FUZZ_NEED(c[POSIXTRACE_GAPS_LOST].null && c[POSIXTRACE_GAPS_TID].null);
    t->gaps++;
    t->gap_ns += c[POSIXTRACE_GAPS_END_TIME].number - c[POSIXTRACE_GAPS_BEGIN_TIME].number;
    return 0;
}

static void make_rows(trace_id_t trid)
{
    const struct posixtrace_tables_options options = { .causes = true };
    const struct posixtrace_report_object *o;
    struct tabled t = { .waits = 0 };
    posixtrace_tables_t *tables;
    posixtrace_report_t *r;
    int unavailable = 0;

    FUZZ_NEED(posixtrace_tables_create(trid, &options, sizeof options, &tables) == 0);
    FUZZ_NEED(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_MEASUREMENTS, take_measurement, &t) ==
              0);
    FUZZ_NEED(posixtrace_tables_rows(tables, POSIXTRACE_TABLE_GAPS, take_gap, &t) == 0);
    posixtrace_tables_free(tables);
    FUZZ_NEED(posixtrace_report_create(trid, NULL, 0, &r) == 0);
    while (!unavailable)
        FUZZ_NEED(posixtrace_report_take(r, 0, &unavailable) == 0);
    FUZZ_NEED(posixtrace_report_end(r) == 0);
    FUZZ_NEED(t.gaps == posixtrace_report_summary(r)->gaps &&
              t.gap_ns == posixtrace_report_summary(r)->gap_ns);
    for (size_t i = 0; (o = posixtrace_report_object(r, i)) != NULL; i++) {
        t.waits -= o->waits;
        t.lost_waits -= o->unknown;
        t.waited -= (uint64_t)o->total_ns;
    }
    FUZZ_NEED(t.waits == 0 && t.lost_waits == 0 && t.waited == 0);
    posixtrace_report_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trace_id_t trid = make_log(data, size);
    uint64_t all = report_on(trid, false), part = report_on(trid, true);

    find_jobs(trid);
    FUZZ_NEED(report_on(trid, false) == all && report_on(trid, true) == part);
    FUZZ_NEED(make_page(trid) == make_page(trid));
    make_rows(trid);
    explain_all(trid, size > 0 ? data[size - 1] : 0);
    FUZZ_NEED(posix_trace_close(trid) == 0);
    logs++;
    return 0;
}

static void finish(void)
{
    printf("%lu logs, %lu threads, %lu waits, %lu segments, %lu jobs, %lu rows\n", logs, threads,
           waits, segments, jobs, rows);
    FUZZ_NEED(logs > 0 && threads > 0 && waits > 0 && segments > 0 && jobs > 0 && rows > 0);
}

const struct fuzz_replay fuzz_replay = { .rounds = 300, .finish = finish };
