/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics: all of the set "linux" in one pass beside reading the same log with
 * posix_trace_getnext_event(); one metric with few threads and with many; and the
 * time from one event of a thread to its next beside babeltrace2 and a script.
 *
 * usage: metrics LATENCY_PY [set] [threads] [python]
 *
 * The log of the first two is made, not traced: threads take turns on a processor, a
 * turn is some twenty events, and a job of a thread (40 events) has nine of the
 * system's: a sleep, a mutex, a preemption, and the switches that belong to them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/metrics.h>
#include "bench/programs.h"

enum { RUNS = 5, JOB = 40, METRICS_MAX = 32 };

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the log ---- */

static const char *event_of(unsigned place)
{
    switch (place) {
    case 0: return "posixtrace_sleep_done";
    case 1: return "job_begin";
    case 8: return "posixtrace_mutex_lock";
    case 9: return "posixtrace_mutex_locked";
    case 14: return "posixtrace_mutex_unlock";
    case 20: return "posixtrace_switch_preempted";
    case 21: return "posixtrace_switch_in";
    case 36: return "job_end";
    case 37: return "posixtrace_sleep";
    case 38: return "posixtrace_switch_out";
    case 39: return "posixtrace_switch_in";
    default: return "step";
    }
}

static void add_event(posixtrace_log_builder_t *builder, int thread, unsigned place, int64_t ns)
{
    const int64_t data[2] = { 77, place == 37 ? ns + 1000 : place == 0 ? ns - 50 : 0 };
    const struct posixtrace_event e = {
        .ns = ns, .pid = 1, .tid = thread + 1, .thread_id = (uint64_t)thread + 1,
        .name = event_of(place), .thread_name = "t", .data = data,
        .data_len = place == 1 || place == 36 ? 8 : 16 };

    if (posixtrace_log_builder_add(builder, &e) != 0)
        bench_wrong("an event of the log was refused");
}

/* Open for reading; the file has no name any more. */
static trace_id_t make_log(int threads, long events)
{
    char path[512];
    unsigned *places = calloc((size_t)threads, sizeof *places);
    posixtrace_log_builder_t *builder;
    int64_t ns = 1000000000000000000;
    trace_id_t trid = 0;
    int fd;

    snprintf(path, sizeof path, "%s/posixtrace-bench-metrics.XXXXXX", bench_folder());
    fd = mkostemp(path, O_CLOEXEC);
    unlink(path);
    if (!places || fd < 0 || posixtrace_log_builder_open(fd, NULL, &builder) != 0) {
        bench_wrong("a log cannot be made at %s", path);
        exit(bench_end());
    }
    for (long i = 0, turn = 0; i < events; turn++) {
        int thread = (int)(turn * 7919 % threads);

        /* Until it leaves the processor: preempted in the middle, or asleep. */
        do {
            add_event(builder, thread, places[thread], ns += 60);
            places[thread] = (places[thread] + 1) % JOB;
        } while (++i < events && places[thread] != 21 && places[thread] != 39);
    }
    free(places);
    if (posixtrace_log_builder_finish(builder) != 0 || lseek(fd, 0, SEEK_SET) < 0 ||
        posix_trace_open(fd, &trid) != 0)
        bench_wrong("the log cannot be read");
    close(fd);
    return trid;
}

/* ---- one pass ---- */

static long read_all(trace_id_t trid)
{
    struct posix_trace_event_info info;
    int unavailable = 0;
    char data[64];
    size_t len;
    long n = 0;

    posix_trace_rewind(trid);
    while (posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &unavailable) == 0 &&
           !unavailable)
        n++;
    return n;
}

static int add_up(void *context, const struct posixtrace_measurement *m)
{
    return posixtrace_statistics_add(context, m->length_ns);
}

/* How many measurements. */
static uint64_t measure_all(trace_id_t trid, const posixtrace_metric_t *const *metrics,
                            size_t count)
{
    posixtrace_statistics_t *statistics;
    struct posixtrace_summary summary;
    posixtrace_metric_run_t *run;
    bool more = false;

    if (posixtrace_statistics_create(&statistics) != 0 ||
        posixtrace_metric_run_begin(metrics, count, trid, add_up, statistics, &run) != 0 ||
        posixtrace_metric_run_take(run, 0, &more) != 0 || more) {
        bench_wrong("the metrics cannot be run");
        exit(bench_end());
    }
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_free(run);
    posixtrace_statistics_summary(statistics, &summary);
    posixtrace_statistics_free(statistics);
    return summary.count;
}

/* ---- the groups ---- */

static void group_set(void)
{
    const posixtrace_metric_t *metrics[METRICS_MAX];
    double read[RUNS], run[RUNS], reading, running;
    posixtrace_metric_set_t *set;
    const long events = 10000000;
    trace_id_t trid = make_log(16, events);
    uint64_t found = 0;
    size_t count = 0;

    if (posixtrace_metric_set_builtin("linux", &set) != 0)
        bench_wrong("there is no set linux");
    for (; count < METRICS_MAX && posixtrace_metric_set_get(set, count); count++)
        metrics[count] = posixtrace_metric_set_get(set, count);
    for (int i = 0; i < RUNS; i++) {
        double begin = cpu_seconds();

        if (read_all(trid) != events)
            bench_wrong("not all events were read");
        read[i] = cpu_seconds() - begin;
        begin = cpu_seconds();
        found = measure_all(trid, metrics, count);
        run[i] = cpu_seconds() - begin;
    }
    reading = bench_quantile(read, RUNS, 0.5);
    running = bench_quantile(run, RUNS, 0.5);
    bench_row(&(struct bench_row){
        .id = "metrics-all", .work = "all 13 metrics over 10 M events, 16 threads",
        .value = running / reading, .unit = "x getnext", .sense = BENCH_AT_MOST, .limit = 1.5,
        .note = bench_text("%.1f ns to %.1f ns an event, %llu measurements",
                           running / (double)events * 1e9, reading / (double)events * 1e9,
                           (unsigned long long)found) });
    posixtrace_metric_set_free(set);
    posix_trace_close(trid);
}

static void group_threads(void)
{
    const long events = 3000000;
    const trace_id_t few = make_log(10, events), many = make_log(1000, events);
    double of_few[RUNS], of_many[RUNS];
    const posixtrace_metric_t *metrics[1];
    posixtrace_metric_t *metric;

    if (posixtrace_new_user_metric("job", "job_begin", "job_end", true, &metric) != 0)
        bench_wrong("a user metric cannot be made");
    metrics[0] = metric;
    for (int i = 0; i < RUNS; i++) {
        double begin = cpu_seconds();

        if (measure_all(few, metrics, 1) == 0)
            bench_wrong("nothing was measured");
        of_few[i] = cpu_seconds() - begin;
        begin = cpu_seconds();
        measure_all(many, metrics, 1);
        of_many[i] = cpu_seconds() - begin;
    }
    bench_row(&(struct bench_row){
        .id = "metrics-threads", .work = "a user metric, 1,000 threads against 10",
        .value = bench_quantile(of_many, RUNS, 0.5) / bench_quantile(of_few, RUNS, 0.5),
        .unit = "x", .sense = BENCH_AT_MOST, .limit = 1,
        .note = bench_text("%.1f ns to %.1f ns an event, reading included",
                           bench_quantile(of_many, RUNS, 0.5) / (double)events * 1e9,
                           bench_quantile(of_few, RUNS, 0.5) / (double)events * 1e9) });
    posixtrace_metric_free(metric);
    posix_trace_close(few);
    posix_trace_close(many);
}

/* Ours: the same time between events as a user metric whose ends are the same. */
static double our_seconds(const struct recorded *log, uint64_t *found)
{
    const posixtrace_metric_t *metrics[1];
    posixtrace_metric_t *metric;
    int fd = open(log->path, O_RDONLY | O_CLOEXEC);
    double cpu[RUNS];
    trace_id_t trid;

    if (fd < 0 || posix_trace_open(fd, &trid) != 0 ||
        posixtrace_new_user_metric("latency", "bench", "bench", true, &metric) != 0) {
        bench_wrong("the log cannot be read");
        exit(bench_end());
    }
    metrics[0] = metric;
    for (int i = 0; i < RUNS; i++) {
        double begin = cpu_seconds();

        *found = measure_all(trid, metrics, 1);
        cpu[i] = cpu_seconds() - begin;
    }
    posixtrace_metric_free(metric);
    posix_trace_close(trid);
    close(fd);
    return bench_quantile(cpu, RUNS, 0.5);
}

static void group_python(const char *script)
{
    const char *work = "time from event to event of a thread, against babeltrace2 and Python";
    const char *folder = getenv("POSIXTRACE_BENCH_LTTNG_OUT");
    struct recorded log;
    struct spawned theirs;
    uint64_t found;
    double ours;

    if (!record(&log, (const char *[]){ "threads", "1", "1000000", "1e6", NULL }))
        return;
    ours = our_seconds(&log, &found);
    if (found + 1 < log.events)
        bench_wrong("%llu measurements of %llu events", (unsigned long long)found, log.events);
    record_forget(&log);
    if (!folder || system("lttng stop >/dev/null 2>&1") != 0) {
        bench_skip("metrics-python", work, "LTTng-UST or babeltrace2 is not here");
        return;
    }
    theirs = spawn((char *[]){ "sh", "-c",
                               (char *)(uintptr_t)bench_text("babeltrace2 --clock-seconds '%s' | "
                                                             "python3 '%s'", folder, script),
                               NULL }, NULL);
    if (!theirs.done) {
        bench_skip("metrics-python", work, "babeltrace2 or Python failed");
        return;
    }
    bench_row(&(struct bench_row){
        .id = "metrics-python", .work = work, .value = theirs.cpu / ours, .unit = "x",
        .sense = BENCH_AT_LEAST, .limit = 50,
        .note = bench_text("%.2f s to %.3f s for %llu events", theirs.cpu, ours, log.events) });
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: metrics LATENCY_PY [set] [threads] [python]\n");
        return 64;
    }
    if (bench_chosen(argc - 1, argv + 1, "set"))
        group_set();
    if (bench_chosen(argc - 1, argv + 1, "threads"))
        group_threads();
    if (bench_chosen(argc - 1, argv + 1, "python"))
        group_python(argv[1]);
    return bench_end();
}
