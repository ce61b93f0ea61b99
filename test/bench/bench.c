/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See bench.h. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include "bench/bench.h"

enum { BATCH_ROUNDS = 32, MIN_BATCHES = 6, MAX_BATCHES = 400, MAX_SIDES = 16 };
enum { TEXT_BYTES = 256, TEXTS = 16, DEFAULT_CALLS = 4096 };

/* Batches agree when the standard error of their mean ratio is below this. */
static const double AGREED = 0.002;

static int wrongs;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t count, double q)
{
    size_t at;

    qsort(values, count, sizeof *values, compare_doubles);
    at = (size_t)(q * (double)(count - 1) + 0.5);
    return count ? values[at] : 0;
}

int64_t bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double bench_cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_sleep(int64_t ns)
{
    struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

static int64_t longest_ns(void)
{
    const char *wish = getenv("POSIXTRACE_BENCH_SECONDS");
    double seconds = wish ? atof(wish) : 12;

    return (int64_t)((seconds > 0 ? seconds : 12) * 1e9);
}

/* ---- rounds ---- */

struct samples {
    double *ns; /* of all rounds of one side */
    double batch[BATCH_ROUNDS];
    double ratio[MAX_BATCHES];
};

static double one_round(const struct bench_side *side)
{
    int64_t start, end;

    if (side->before)
        side->before(side->arg);
    start = bench_now();
    side->work(side->arg, side->calls);
    end = bench_now();
    if (side->after)
        side->after(side->arg);
    return (double)(end - start) / (double)side->calls;
}

static void one_batch(struct bench_side *sides, size_t count, struct samples *samples,
                      size_t number)
{
    double first;

    for (size_t r = 0; r < BATCH_ROUNDS; r++)
        for (size_t i = 0; i < count; i++) {
            size_t s = (i + r) % count;

            samples[s].batch[r] = one_round(&sides[s]);
            samples[s].ns[number * BATCH_ROUNDS + r] = samples[s].batch[r];
        }
    first = bench_quantile(samples[0].batch, BATCH_ROUNDS, 0.5);
    for (size_t s = 0; s < count; s++)
        samples[s].ratio[number] = bench_quantile(samples[s].batch, BATCH_ROUNDS, 0.5) / first;
}

/* Standard error of the mean, relative to the mean. */
static double spread_of(const double *ratio, size_t n)
{
    double sum = 0, squares = 0, mean;

    for (size_t i = 0; i < n; i++)
        sum += ratio[i];
    mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (ratio[i] - mean) * (ratio[i] - mean);
    return sqrt(squares / (double)(n - 1) / (double)n) / mean;
}

static bool batches_agree(struct bench_side *sides, size_t count, const struct samples *samples,
                          size_t batches)
{
    double worst = 0;

    for (size_t s = 0; s < count; s++) {
        sides[s].spread = spread_of(samples[s].ratio, batches);
        worst = sides[s].spread > worst ? sides[s].spread : worst;
    }
    return worst < AGREED;
}

static FILE *csv(void)
{
    static FILE *file;
    const char *name = getenv("POSIXTRACE_BENCH_CSV");

    if (!file && name && !(file = fopen(name, "a")))
        bench_wrong("cannot append to POSIXTRACE_BENCH_CSV=%s: %s", name, strerror(errno));
    return file;
}

static void report_sides(const char *group, const struct bench_side *sides, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        const struct bench_side *side = &sides[s];

        printf("    %-34s %9.2f ns  (%.2f to %.2f)  %6.3f x  +-%.1f %%  %ld rounds of %ld\n",
               side->name, side->median, side->low, side->high, side->median / sides[0].median,
               100 * side->spread, side->rounds, side->calls);
        if (csv())
            fprintf(csv(), "raw|%s|%s|%.3f|%.3f|%.3f|%ld\n", group, side->name, side->median,
                    side->low, side->high, side->rounds);
    }
    fflush(stdout);
}

void bench_compare(const char *group, struct bench_side *sides, size_t count)
{
    struct samples *samples = calloc(count, sizeof *samples);
    int64_t end = bench_now() + longest_ns();
    size_t batches = 0;

    if (!samples || count > MAX_SIDES)
        abort();
    printf("  %s\n", group);
    for (size_t s = 0; s < count; s++) {
        samples[s].ns = calloc((size_t)MAX_BATCHES * BATCH_ROUNDS, sizeof *samples[s].ns);
        if (!samples[s].ns)
            abort();
        sides[s].calls = sides[s].calls ? sides[s].calls : DEFAULT_CALLS;
        for (int warm = 0; warm < 3; warm++)
            one_round(&sides[s]);
    }
    do
        one_batch(sides, count, samples, batches++);
    while (batches < MAX_BATCHES &&
           (batches < MIN_BATCHES ||
            (!batches_agree(sides, count, samples, batches) && bench_now() < end)));
    for (size_t s = 0; s < count; s++) {
        sides[s].rounds = (long)batches * BATCH_ROUNDS;
        sides[s].median = bench_quantile(samples[s].ns, batches * BATCH_ROUNDS, 0.5);
        sides[s].low = bench_quantile(samples[s].ns, batches * BATCH_ROUNDS, 0.1);
        sides[s].high = bench_quantile(samples[s].ns, batches * BATCH_ROUNDS, 0.9);
        free(samples[s].ns);
    }
    free(samples);
    report_sides(group, sides, count);
}

/* ---- the table ---- */

static const char *verdict(const struct bench_row *row)
{
    bool good = row->sense == BENCH_AT_MOST ? row->value <= row->limit : row->value >= row->limit;

    if (row->sense == BENCH_REPORT)
        return "-";
    return good ? "ok" : "MISSED";
}

void bench_row(const struct bench_row *row)
{
    static const char *const words[] = { "", "at most", "at least" };
    char asked[64] = "";

    if (row->sense != BENCH_REPORT)
        snprintf(asked, sizeof asked, "%s %.4g", words[row->sense], row->limit);
    printf("%-60s %10.4g %-14s %-14s %s%s%s\n", row->work, row->value, row->unit, asked,
           verdict(row), row->note ? "  " : "", row->note ? row->note : "");
    fflush(stdout);
    if (csv()) {
        fprintf(csv(), "row|%s|%s|%.6g|%s|%s|%s|%s\n", row->id, row->work, row->value, row->unit,
                asked, verdict(row), row->note ? row->note : "");
        fflush(csv());
    }
}

void bench_skip(const char *id, const char *work, const char *why)
{
    printf("%-60s not measured: %s\n", work, why);
    fflush(stdout);
    if (csv()) {
        fprintf(csv(), "row|%s|%s||||skipped|%s\n", id, work, why);
        fflush(csv());
    }
}

void bench_wrong(const char *format, ...)
{
    va_list args;

    fputs("WRONG: ", stdout);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    wrongs++;
}

int bench_end(void)
{
    return wrongs ? 1 : 0;
}

const char *bench_text(const char *format, ...)
{
    static char texts[TEXTS][TEXT_BYTES];
    static unsigned turn;
    char *text = texts[turn++ % TEXTS];
    va_list args;

    va_start(args, format);
    vsnprintf(text, TEXT_BYTES, format, args);
    va_end(args);
    return text;
}

bool bench_chosen(int argc, char **argv, const char *group)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], group) == 0)
            return true;
    return argc < 2;
}

/* ---- the machine ---- */

/* The processors of the first call: before anything was pinned. */
static const cpu_set_t *allowed(void)
{
    static cpu_set_t set;
    static bool known;

    if (!known && sched_getaffinity(0, sizeof set, &set) != 0)
        CPU_SET(0, &set);
    known = true;
    return &set;
}

int bench_processors(void)
{
    return CPU_COUNT(allowed());
}

void bench_pin(int k)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed()) && seen++ == k % bench_processors())
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, k < 0 ? allowed() : &one);
}

const char *bench_folder(void)
{
    const char *folder = getenv("POSIXTRACE_BENCH_DIR");

    return folder && *folder ? folder : "/var/tmp";
}

uint64_t bench_disk_free(const char *folder)
{
    struct statvfs v;

    return statvfs(folder, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
}

uint64_t bench_proc_bytes(const char *file, const char *name)
{
    FILE *f = fopen(file, "re");
    char line[256];
    unsigned long long kb = 0;
    size_t n = strlen(name);

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && line[n] == ':' && sscanf(line + n + 1, "%llu", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}
