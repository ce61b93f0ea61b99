/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics: all of the set "linux" in one pass beside reading the same log with
 * posix_trace_getnext_event(); why the worst jobs took long, beside the same; one metric with few
 * threads and with many; and the time from one event of a thread to its next beside babeltrace2 and
 * a script.
 *
 * usage: metrics LATENCY_PY POSIXTRACE [set] [why] [threads] [python]
 *
 * Both sides are measured in turns, in RUNS rounds; a figure is the median of the rounds' ratios,
 * with the distance between those.
 *
 * The log of the first two is made, not traced: threads take turns on a processor, a
 * turn is some twenty events, and a job of a thread (40 events) has nine of the
 * system's: a sleep, a mutex, a preemption, and the switches that belong to them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/ada_metrics.h>
#include <posixtrace/why.h>
#include "bench/programs.h"

enum { RUNS = 31, JOB = 40, METRICS_MAX = 32, AT_ONCE = 64 };

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
    const struct posixtrace_event e = { .ns = ns,
                                        .pid = 1,
                                        .tid = thread + 1,
                                        .thread_id = (uint64_t)thread + 1,
                                        .name = event_of(place),
                                        .thread_name = "t",
                                        .data = data,
                                        .data_len = place == 1 || place == 36 ? 8 : 16 };

    if (posixtrace_log_builder_add(builder, &e, sizeof e) != 0)
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
    if (!places || fd < 0 || posixtrace_log_builder_create(fd, NULL, &builder) != 0) {
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

/* As the metrics read. */
static long read_at_once(trace_id_t trid)
{
    struct posixtrace_event events[AT_ONCE];
    size_t count = 0;
    long n = 0;

    posix_trace_rewind(trid);
    while (posixtrace_next_events(trid, events, sizeof *events, AT_ONCE, &count) == 0 && count > 0)
        n += (long)count;
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
    int unavailable = 0;

    if (posixtrace_statistics_create(&statistics) != 0 ||
        posixtrace_metric_run_create(metrics, count, trid, add_up, statistics, &run) != 0 ||
        posixtrace_metric_run_take(run, 0, &unavailable) != 0 || !unavailable) {
        bench_wrong("the metrics cannot be run");
        exit(bench_end());
    }
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_free(run);
    posixtrace_statistics_summary(statistics, &summary, sizeof summary);
    posixtrace_statistics_free(statistics);
    return summary.count;
}

/* ---- the groups ---- */

/* Processor time an event in each round, in ns. */
struct side {
    double ns[RUNS];
};

static void record_round(struct side *side, int round, double seconds, long events)
{
    side->ns[round] = seconds / (double)events * 1e9;
}

static double median_of(const struct side *side)
{
    struct side sorted = *side;

    return bench_quantile(sorted.ns, RUNS, 0.5);
}

struct ratio {
    double median, low, high;
};

static struct ratio ratio_of(const struct side *a, const struct side *b)
{
    double r[RUNS];

    for (int i = 0; i < RUNS; i++)
        r[i] = a->ns[i] / b->ns[i];
    return (struct ratio){ bench_quantile(r, RUNS, 0.5), bench_quantile(r, RUNS, 0),
                           bench_quantile(r, RUNS, 1) };
}

static void group_set(void)
{
    const posixtrace_metric_t *metrics[METRICS_MAX];
    posixtrace_metric_set_t *set;
    const long events = 10000000;
    trace_id_t trid = make_log(16, events);
    struct side read, run;
    struct ratio ratio;
    uint64_t found = 0;
    size_t count = 0;

    if (posixtrace_metric_set_open("linux", &set) != 0)
        bench_wrong("there is no set linux");
    for (; count < METRICS_MAX && posixtrace_metric_set_get(set, count); count++)
        metrics[count] = posixtrace_metric_set_get(set, count);
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_cpu_seconds();

        if (read_all(trid) != events)
            bench_wrong("not all events were read");
        record_round(&read, i, bench_cpu_seconds() - begin, events);
        begin = bench_cpu_seconds();
        found = measure_all(trid, metrics, count);
        record_round(&run, i, bench_cpu_seconds() - begin, events);
    }
    ratio = ratio_of(&run, &read);
    bench_row(&(struct bench_row){
        .id = "metrics-all",
        .work = bench_text("all %zu metrics over 10 M events, 16 threads", count),
        .value = ratio.median,
        .unit = "x getnext",
        .sense = BENCH_AT_MOST,
        .limit = 1.5,
        .note = bench_text("%.1f ns to %.1f ns an event, %llu measurements; rounds %.2f to %.2f",
                           median_of(&run), median_of(&read), (unsigned long long)found, ratio.low,
                           ratio.high) });
    posixtrace_metric_set_free(set);
    posix_trace_close(trid);
}

/* How many instances. */
static uint64_t explain_worst(trace_id_t trid)
{
    const struct posixtrace_why_options options = { .begin = "job_begin",
                                                    .end = "job_end",
                                                    .from_ns = INT64_MIN,
                                                    .to_ns = INT64_MAX,
                                                    .worst = 10 };
    posixtrace_why_t *why;
    int unavailable = 0;
    uint64_t count;

    if (posixtrace_why_create(trid, &options, sizeof options, &why) != 0 ||
        posixtrace_why_take(why, 0, &unavailable) != 0 || !unavailable ||
        posixtrace_why_end(why) != 0 || !posixtrace_why_instance(why, 9)) {
        bench_wrong("the worst cannot be explained");
        exit(bench_end());
    }
    count = posixtrace_why_summary(why)->count;
    posixtrace_why_free(why);
    return count;
}

static void group_why(void)
{
    const long events = 10000000;
    trace_id_t trid = make_log(16, events);
    struct side read, run;
    struct ratio ratio;
    uint64_t found = 0;

    for (int i = 0; i < RUNS; i++) {
        double begin = bench_cpu_seconds();

        if (read_all(trid) != events)
            bench_wrong("not all events were read");
        record_round(&read, i, bench_cpu_seconds() - begin, events);
        begin = bench_cpu_seconds();
        found = explain_worst(trid);
        record_round(&run, i, bench_cpu_seconds() - begin, events);
    }
    ratio = ratio_of(&run, &read);
    bench_row(&(struct bench_row){
        .id = "why-worst",
        .work = "why --worst=10 over 10 M events, 16 threads",
        .value = ratio.median,
        .unit = "x getnext",
        .sense = BENCH_AT_MOST,
        .limit = 3,
        .note = bench_text("%.1f ns to %.1f ns an event, %llu instances; rounds %.2f to %.2f",
                           median_of(&run), median_of(&read), (unsigned long long)found, ratio.low,
                           ratio.high) });
    posix_trace_close(trid);
}

/* One log of the group of threads: read, and measured. */
struct crowd {
    trace_id_t trid;
    struct side read, run, added;
};

static void crowd_round(struct crowd *c, int round, long events,
                        const posixtrace_metric_t *const *metrics)
{
    double begin = bench_cpu_seconds();

    if (read_at_once(c->trid) != events)
        bench_wrong("not all events were read");
    record_round(&c->read, round, bench_cpu_seconds() - begin, events);
    begin = bench_cpu_seconds();
    if (measure_all(c->trid, metrics, 1) == 0)
        bench_wrong("nothing was measured");
    record_round(&c->run, round, bench_cpu_seconds() - begin, events);
    c->added.ns[round] = c->run.ns[round] - c->read.ns[round];
}

/* What more threads cost the reader of the log stands beside what they cost in all. */
static void group_threads(void)
{
    const long events = 3000000;
    struct crowd few = { .trid = make_log(10, events) };
    struct crowd many = { .trid = make_log(1000, events) };
    const posixtrace_metric_t *metrics[1];
    posixtrace_metric_t *metric;
    struct ratio all, reading;

    if (posixtrace_new_user_metric("job", "job_begin", "job_end", true, &metric) != 0)
        bench_wrong("a user metric cannot be made");
    metrics[0] = metric;
    for (int i = 0; i < RUNS; i++) {
        crowd_round(&few, i, events, metrics);
        crowd_round(&many, i, events, metrics);
    }
    all = ratio_of(&many.run, &few.run);
    reading = ratio_of(&many.read, &few.read);
    bench_row(&(struct bench_row){
        .id = "metrics-threads",
        .work = "a user metric, 1,000 threads against 10",
        .value = all.median,
        .unit = "x",
        .note = bench_text("%.1f ns to %.1f ns an event, reading included; rounds %.2f to %.2f",
                           median_of(&many.run), median_of(&few.run), all.low, all.high) });
    bench_row(
        &(struct bench_row){ .id = "metrics-threads-read",
                             .work = "the same two logs, reading alone",
                             .value = reading.median,
                             .unit = "x",
                             .note = bench_text("%.1f ns to %.1f ns an event; rounds %.2f to %.2f",
                                                median_of(&many.read), median_of(&few.read),
                                                reading.low, reading.high) });
    bench_row(&(struct bench_row){
        .id = "metrics-threads-added",
        .work = "a user metric, 1,000 threads against 10: what it adds to reading",
        .value = median_of(&many.added) / median_of(&few.added),
        .unit = "x",
        .sense = BENCH_AT_MOST,
        .limit = 1.05,
        .note = bench_text("%.1f ns to %.1f ns an event", median_of(&many.added),
                           median_of(&few.added)) });
    posixtrace_metric_free(metric);
    posix_trace_close(few.trid);
    posix_trace_close(many.trid);
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
        double begin = bench_cpu_seconds();

        *found = measure_all(trid, metrics, 1);
        cpu[i] = bench_cpu_seconds() - begin;
    }
    posixtrace_metric_free(metric);
    posix_trace_close(trid);
    close(fd);
    return bench_quantile(cpu, RUNS, 0.5);
}

/* The same by the tool, a process of its own as theirs are. */
static double tool_seconds(const struct recorded *log, const char *tool)
{
    double cpu[RUNS];

    for (int i = 0; i < RUNS; i++) {
        struct spawned ours = spawn((char *[]){ (char *)(uintptr_t)tool, "metrics", "--stats",
                                                "--format=csv", "--user=latency:bench:bench",
                                                (char *)(uintptr_t)log->path, NULL },
                                    NULL);
        if (!ours.done)
            bench_wrong("%s metrics failed", tool);
        cpu[i] = ours.cpu;
    }
    return bench_quantile(cpu, RUNS, 0.5);
}

static void python_rows(const char *work, double theirs, double ours, double tool,
                        unsigned long long events)
{
    bench_row(&(struct bench_row){
        .id = "metrics-python",
        .work = work,
        .value = theirs / ours,
        .unit = "x",
        .sense = BENCH_AT_LEAST,
        .limit = 50,
        .note = bench_text("%.2f s to %.3f s for %llu events", theirs, ours, events) });
    bench_row(&(struct bench_row){
        .id = "metrics-python-tool",
        .work = "the same by posixtrace metrics --stats, all of it",
        .value = theirs / tool,
        .unit = "x",
        .note = bench_text("%.3f s; start, statistics by thread and printing included", tool) });
}

static void group_python(const char *script, const char *tool)
{
    const char *work = "time from event to event of a thread, against babeltrace2 and Python";
    const char *folder = getenv("POSIXTRACE_BENCH_LTTNG_OUT");
    struct recorded log;
    struct spawned theirs;
    double ours, by_tool;
    uint64_t found;

    if (!record(&log, (const char *[]){ "threads", "1", "1000000", "1e6", NULL }))
        return;
    ours = our_seconds(&log, &found);
    if (found + 1 < log.events)
        bench_wrong("%llu measurements of %llu events", (unsigned long long)found, log.events);
    by_tool = tool_seconds(&log, tool);
    record_forget(&log);
    if (!folder || system("lttng stop >/dev/null 2>&1") != 0) {
        bench_skip("metrics-python", work, "LTTng-UST or babeltrace2 is not here");
        return;
    }
    theirs = spawn((char *[]){ "sh", "-c",
                               (char *)(uintptr_t)bench_text("babeltrace2 --clock-seconds '%s' | "
                                                             "python3 '%s'",
                                                             folder, script),
                               NULL },
                   NULL);
    if (!theirs.done) {
        bench_skip("metrics-python", work, "babeltrace2 or Python failed");
        return;
    }
    python_rows(work, theirs.cpu, ours, by_tool, log.events);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: metrics LATENCY_PY POSIXTRACE [set] [why] [threads] [python]\n");
        return 64;
    }
    if (bench_chosen(argc - 2, argv + 2, "set"))
        group_set();
    if (bench_chosen(argc - 2, argv + 2, "why"))
        group_why();
    if (bench_chosen(argc - 2, argv + 2, "threads"))
        group_threads();
    if (bench_chosen(argc - 2, argv + 2, "python"))
        group_python(argv[1], argv[2]);
    return bench_end();
}
