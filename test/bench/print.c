/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The tool on logs: `posixtrace print` as text to /dev/null, beside babeltrace2
 * on the same events, which were traced to both at the same moment; and a
 * window of a second out of a log of 4 GiB.  Beside LTTng-UST one group a run:
 * its session is for one recording.
 *
 * usage: print POSIXTRACE [one] [many] [window]
 *
 * Processor time is compared, not elapsed time: both are programs of one busy thread.  Only the
 * window, for which a user waits, is measured in elapsed time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/programs.h"

enum { RUNS = 3, WINDOW_RUNS = 9 };
#define GIB (1ull << 30)

static char *tool;

/* Median processor time of a few runs; less than 0 if one of them failed. */
static double median_cpu(char *const argv[])
{
    double cpu[RUNS];

    for (int i = 0; i < RUNS; i++) {
        struct spawned s = spawn(argv, NULL);

        if (!s.done)
            return -1;
        cpu[i] = s.cpu;
    }
    return bench_quantile(cpu, RUNS, 0.5);
}

/* ---- the same events through two printers ---- */

/* Number of events that babeltrace2 finds; 0 if it does not run. */
static unsigned long long babeltrace_count(const char *folder)
{
    const char *command = bench_text("babeltrace2 '%s' -c sink.utils.counter 2>/dev/null", folder);
    FILE *f = popen(command, "re");
    unsigned long long n = 0, count = 0;
    char line[256], digits[64];

    while (f && fgets(line, sizeof line, f)) {
        size_t d = 0;

        if (!strstr(line, "Event message"))
            continue;
        for (const char *p = line; *p && *p != 'E' && d + 1 < sizeof digits; p++)
            if (*p >= '0' && *p <= '9')
                digits[d++] = *p;
        digits[d] = '\0';
        n = strtoull(digits, NULL, 10);
        count = n > count ? n : count;
    }
    if (f)
        pclose(f);
    return count;
}

static double babeltrace_rate(const struct recorded *log, const char **why)
{
    const char *folder = getenv("POSIXTRACE_BENCH_LTTNG_OUT");
    char *argv[] = { "babeltrace2", (char *)(uintptr_t)folder, NULL };
    unsigned long long count;
    double cpu;

    *why = "LTTng-UST or babeltrace2 is not here";
    if (!folder || system("lttng stop >/dev/null 2>&1") != 0)
        return -1;
    count = babeltrace_count(folder);
    if (count + 16 < log->events) {
        *why = bench_text("babeltrace2 found %llu events of %llu", count, log->events);
        return -1;
    }
    cpu = median_cpu(argv);
    return cpu > 0 ? (double)count / cpu / 1e6 : -1;
}

static void print_row(const char *id, const char *work, const struct recorded *log, double limit)
{
    double ours = median_cpu((char *[]){ tool, "print", (char *)(uintptr_t)log->path, NULL });
    const char *why, *against = bench_text("%s, against babeltrace2", work);
    double theirs;

    if (ours <= 0)
        bench_wrong("posixtrace print failed");
    ours = (double)log->events / ours / 1e6;
    bench_row(&(struct bench_row){ .id = bench_text("%s-rate", id),
                                   .work = work,
                                   .value = ours,
                                   .unit = "M events/s",
                                   .note = bench_text("%llu events", log->events) });
    theirs = babeltrace_rate(log, &why);
    if (theirs > 0)
        bench_row(&(struct bench_row){
            .id = id,
            .work = against,
            .value = ours / theirs,
            .unit = "x babeltrace2",
            .sense = BENCH_AT_LEAST,
            .limit = limit,
            .note = bench_text("%.2f M/s to %.3f M/s, the same events", ours, theirs) });
    else
        bench_skip(id, against, why);
}

static void jsonl_row(const struct recorded *log)
{
    double cpu = median_cpu(
        (char *[]){ tool, "print", "--format=jsonl", (char *)(uintptr_t)log->path, NULL });

    if (cpu <= 0)
        bench_wrong("posixtrace print --format=jsonl failed");
    bench_row(&(struct bench_row){ .id = "print-jsonl",
                                   .work = "posixtrace print --format=jsonl to /dev/null",
                                   .value = (double)log->events / cpu / 1e6,
                                   .unit = "M events/s",
                                   .sense = BENCH_AT_LEAST,
                                   .limit = 5,
                                   .note = bench_text("%llu events", log->events) });
}

static void group_one(void)
{
    struct recorded log;

    if (!record(&log, (const char *[]){ "threads", "1", "1000000", "1e6", NULL }))
        return;
    print_row("print-1", "posixtrace print to /dev/null, one thread", &log, 15);
    jsonl_row(&log);
    record_forget(&log);
}

/* 64 processes of one thread each: see record.c. */
static void group_many(void)
{
    struct recorded log;

    if (!record(&log, (const char *[]){ "processes", "64", "640000", "3e5", NULL }))
        return;
    print_row("print-64", "posixtrace print to /dev/null, 64 writers", &log, 40);
    record_forget(&log);
}

/* ---- a window of a large log ---- */

static double window_once(const char *path, const char *from, const char *to)
{
    char *argv[] = {
        tool, "print", (char *)(uintptr_t)from, (char *)(uintptr_t)to, (char *)(uintptr_t)path, NULL
    };
    struct spawned s = spawn(argv, NULL);

    if (!s.done)
        bench_wrong("posixtrace print %s %s failed", from, to);
    return s.wall * 1e3;
}

/* Lines that the window prints. */
static unsigned long window_lines(const char *path, const char *from, const char *to)
{
    const char *command = bench_text("'%s' print %s %s '%s' 2>/dev/null | wc -l", tool, from, to,
                                     path);
    FILE *f = popen(command, "re");
    unsigned long n = 0;

    if (!f || fscanf(f, "%lu", &n) != 1)
        bench_wrong("posixtrace print %s %s prints nothing", from, to);
    if (f)
        pclose(f);
    return n;
}

static void window(void)
{
    static const char work[] = "window of 1 s out of a 4 GiB log (print --from --to)";
    const char *args[] = { "bursts", "4", NULL }, *from, *to;
    double cold, ms[WINDOW_RUNS];
    struct recorded log;
    unsigned long lines;

    if (!record_has_room(10 * GIB)) {
        bench_skip("window", work, bench_text("less than 10 GiB are free in %s", bench_folder()));
        return;
    }
    if (!record(&log, args))
        return;
    from = bench_text("--from=%lld", log.moment);
    to = bench_text("--to=%lld", log.moment + 1000000000);
    record_make_cold(&log);
    cold = window_once(log.path, from, to);
    lines = window_lines(log.path, from, to);
    for (int i = 0; i < WINDOW_RUNS; i++)
        ms[i] = window_once(log.path, from, to);
    bench_row(&(struct bench_row){ .id = "window",
                                   .work = work,
                                   .value = bench_quantile(ms, WINDOW_RUNS, 0.5),
                                   .unit = "ms",
                                   .sense = BENCH_AT_MOST,
                                   .limit = 200,
                                   .note = bench_text("%.2f GiB, %.0f M events, %lu lines printed",
                                                      (double)log.bytes / GIB,
                                                      (double)log.events / 1e6, lines) });
    bench_row(&(struct bench_row){ .id = "window-cold",
                                   .work = "the same, nothing of the log in memory",
                                   .value = cold,
                                   .unit = "ms" });
    record_forget(&log);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: print POSIXTRACE [one] [many] [window]\n");
        return 64;
    }
    tool = argv[1];
    if (bench_chosen(argc - 1, argv + 1, "one"))
        group_one();
    if (bench_chosen(argc - 1, argv + 1, "many"))
        group_many();
    if (bench_chosen(argc - 1, argv + 1, "window"))
        window();
    return bench_end();
}
