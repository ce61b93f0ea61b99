/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The conversions of `posixtrace export` and `posixtrace import`: events a second of
 * processor time (user and system, of all threads of the tool: what one processor does),
 * and how the peak of memory grows when the log is four times as long.
 *
 * usage: formats POSIXTRACE [FORMAT]...
 *
 * Three logs are made: 8-byte events described as "u32 a; u32 b" of four threads in turns; one
 * with context switches and begin/end pairs around them, for formats that need those; and one like
 * the first whose times, threads and numbers are irregular, as those of programs are, for formats
 * that compress.  The imported files are the exported ones.  posix_trace_getnext_event() reads the
 * same log before each, to distinguish a slow machine from slow code.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include "bench/programs.h"

enum { RUNS = 3, THREADS = 4, LONGER = 4 };
#define EVENTS   1000000L
#define MIB      (1024.0 * 1024)
#define MAY_GROW 1.1

enum kind { TYPED, SWITCHES, IRREGULAR, KINDS };

static const char *const kinds[KINDS] = { "typed", "switches", "irregular" };

static const struct subject {
    const char *name;
    enum kind log;
    double to, from; /* M events/s that are asked; 0: not offered */
    bool lines;      /* import adds events of its own: lines are counted */
    double bytes;    /* of an event in the export, at most; 0: not asked */
} subjects[] = {
    { .name = "jsonl", .to = 2, .from = 2 },
    { .name = "csv", .to = 2, .from = 2 },
    { .name = "ctf", .to = 5, .from = 2 },
    { .name = "otlp", .log = SWITCHES, .to = 1 },
    { .name = "parquet", .log = IRREGULAR, .to = 3, .bytes = 8 },
    { .name = "perfetto", .to = 5 },
    { .name = "chrome", .to = 2 },
    { .name = "btf", .log = SWITCHES, .to = 2, .from = 2, .lines = true },
    { .name = "kev", .to = 5, .from = 5 },
    { .name = "traceprinter", .to = 2, .from = 2 },
    { .name = "shark", .to = 5, .from = 5 },
    { .name = "rkh", .to = 5, .from = 5 },
    { .name = "trazer", .to = 2, .from = 2 },
    { .name = "kiwi", .log = SWITCHES, .to = 2 },
};

static char *tool;
static char folder[400];

static const char *place(const char *name)
{
    return bench_text("%s/%s", folder, name);
}

static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* ---- logs ---- */

/* The n-th of eight events of a turn. */
static const char *event_of(bool switches, long n)
{
    static const char *const turn[] = {
        "posixtrace_switch_in", "job:begin", "step", "step", "step", "step", "job:end",
        "posixtrace_switch_out"
    };

    return switches ? turn[n % 8] : n & 1 ? "speed" : "load";
}

static void make_log(const char *path, enum kind kind, long events)
{
    static const char *const described[] = { "speed", "load", "step", "job:begin", "job:end" };
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), error;
    bool switches = kind == SWITCHES, irregular = kind == IRREGULAR;
    posixtrace_log_builder_t *builder;
    int64_t ns = 1700000000000000000;
    uint32_t random = 1;

    error = fd < 0 ? 1 : posixtrace_log_builder_create(fd, NULL, &builder);
    for (int i = 0; !error && i < 5; i++)
        error = posixtrace_log_builder_describe(builder, described[i], "u32 a; u32 b");
    for (long i = 0; !error && i < events; i++) {
        int thread = irregular ? (int)(random >> 20) % THREADS : (int)(i / 8 % THREADS);
        bool of_system = switches && (i % 8 == 0 || i % 8 == 7);
        /* of a switch: which processor */
        const uint32_t data[2] = { of_system ? (uint32_t)thread % 2 : (uint32_t)i,
                                   irregular ? random >> 12 : (uint32_t)i * 2654435761u };
        struct posixtrace_event e = { .ns = ns,
                                      .pid = 4711,
                                      .tid = 4712 + thread,
                                      .thread_id = 0x7f0000001000u + (uint64_t)thread * 0x1000,
                                      .prog_address = 0x401234,
                                      .name = event_of(switches, i),
                                      .thread_name = "worker",
                                      .data = data,
                                      .data_len = of_system ? 4 : 8 };

        error = posixtrace_log_builder_add(builder, &e, sizeof e);
        random = random * 1664525u + 1013904223u;
        ns += irregular ? 20 + (random >> 24) : 170;
    }
    if (error || posixtrace_log_builder_finish(builder) != 0)
        bench_wrong("no log could be made at %s", path);
    close(fd);
}

/* In processes of their own, so that their memory is not counted as that of others. */
static void apart(void (*work)(const char *, enum kind, long), const char *path, enum kind kind,
                  long events)
{
    pid_t pid = fork();

    if (pid == 0) {
        work(path, kind, events);
        _exit(bench_end());
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        bench_wrong("fork failed");
}

static uint64_t lines_in(const char *path)
{
    FILE *f = fopen(path, "re");
    uint64_t lines = 0;
    char text[65536];
    size_t n;

    while (f && (n = fread(text, 1, sizeof text, f)) > 0)
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
    if (f)
        fclose(f);
    return lines;
}

static uint64_t events_in(const char *path)
{
    struct posixtrace_info info = { .events = 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    trace_id_t log;

    if (fd < 0 || posix_trace_open(fd, &log) != 0)
        return 0;
    posixtrace_get_info(log, &info, sizeof info);
    posix_trace_close(log);
    close(fd);
    return info.events;
}

/* ---- measuring ---- */

struct measured {
    double cpu;
    double memory; /* MiB at the peak */
};

static struct measured median_of(char *const argv[])
{
    struct measured m = { .cpu = -1 };
    double cpu[RUNS];

    for (int i = 0; i < RUNS; i++) {
        struct spawned s = spawn(argv, NULL);

        if (!s.done) {
            bench_wrong("%s %s %s failed", argv[1], argv[2], argv[4]);
            return m;
        }
        cpu[i] = s.cpu;
        m.memory = (double)s.rss / MIB;
    }
    m.cpu = bench_quantile(cpu, RUNS, 0.5);
    return m;
}

/* Nanoseconds an event that posix_trace_getnext_event() takes. */
static double reading(const char *path, long events)
{
    struct posix_trace_event_info info;
    struct timespec before, after;
    int fd = open(path, O_RDONLY | O_CLOEXEC), unavailable = 0;
    unsigned char data[64];
    trace_id_t log;
    size_t length;

    if (fd < 0 || posix_trace_open(fd, &log) != 0) {
        bench_wrong("%s cannot be read", path);
        return 1;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    while (posix_trace_getnext_event(log, &info, data, sizeof data, &length, &unavailable) == 0 &&
           !unavailable)
        ;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    posix_trace_close(log);
    close(fd);
    return ((double)(after.tv_sec - before.tv_sec) * 1e9 +
            (double)(after.tv_nsec - before.tv_nsec)) /
           (double)events;
}

static void rows(const char *verb, const struct subject *s, double asked,
                 const struct measured *once, const struct measured *longer, uint64_t events,
                 double getnext)
{
    const char *what = s->lines && *verb == 'i' ? "lines" : "events";
    double each = longer->cpu * 1e9 / (double)events;

    if (once->cpu < 0 || longer->cpu <= 0 || !events)
        return;
    bench_row(
        &(struct bench_row){ .id = bench_text("%s-%s", verb, s->name),
                             .work = bench_text("posixtrace %s, %s", verb, s->name),
                             .value = 1e3 / each,
                             .unit = bench_text("M %s/s", what),
                             .sense = BENCH_AT_LEAST,
                             .limit = asked,
                             .note = bench_text("%.1f M %s, %.0f ns each; getnext_event %.1f ns",
                                                (double)events / 1e6, what, each, getnext) });
    bench_row(&(struct bench_row){
        .id = bench_text("%s-%s-memory", verb, s->name),
        .work = bench_text("posixtrace %s, %s: memory for %d times the events", verb, s->name,
                           LONGER),
        .value = longer->memory / once->memory,
        .unit = "x",
        .sense = BENCH_AT_MOST,
        .limit = MAY_GROW,
        .note = bench_text("%.1f MiB to %.1f MiB", once->memory, longer->memory) });
}

static void size_row(const struct subject *s, const char *path, uint64_t events)
{
    struct stat st;

    if (s->bytes <= 0 || stat(path, &st) != 0)
        return;
    bench_row(
        &(struct bench_row){ .id = bench_text("export-%s-bytes", s->name),
                             .work = bench_text("posixtrace export, %s: bytes an event", s->name),
                             .value = (double)st.st_size / (double)events,
                             .unit = "bytes",
                             .sense = BENCH_AT_MOST,
                             .limit = s->bytes,
                             .note = "a counter, a number of 20 bits, irregular times" });
}

static struct measured convert(const char *verb, const struct subject *s, const char *in,
                               const char *out)
{
    const char *direction = strcmp(verb, "export") == 0 ? "--to" : "--from";

    return median_of((char *[]){ tool, word(verb), word(bench_text("%s=%s", direction, s->name)),
                                 "--force", word(in), word(out), NULL });
}

static void remove_all(const char *path)
{
    if (unlink(path) != 0)
        spawn((char *[]){ "rm", "-r", "--", word(path), NULL }, NULL);
}

static void measure(const struct subject *s)
{
    const char *kind = kinds[s->log];
    long events = EVENTS * LONGER;
    struct measured to[2], from[2];
    uint64_t imported = 0;
    double getnext = 0;

    for (int i = 0; i < 2; i++) {
        char log[420], out[420], back[420];

        snprintf(log, sizeof log, "%s/%s-%d.ptl", folder, kind, i);
        snprintf(out, sizeof out, "%s/out", folder);
        snprintf(back, sizeof back, "%s/back.ptl", folder);
        getnext = reading(log, i ? events : EVENTS);
        to[i] = convert("export", s, log, out);
        if (s->from > 0) {
            from[i] = convert("import", s, out, back);
            imported = s->lines ? lines_in(out) : events_in(back);
        }
        if (i)
            size_row(s, out, (uint64_t)events);
        remove_all(out);
        unlink(back);
    }
    rows("export", s, s->to, &to[0], &to[1], (uint64_t)events, getnext);
    if (s->from > 0)
        rows("import", s, s->from, &from[0], &from[1], imported, getnext);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 64;
    tool = argv[1];
    snprintf(folder, sizeof folder, "%s/posixtrace-bench.XXXXXX", bench_folder());
    if (!record_has_room(4ull << 30)) {
        bench_skip("export-jsonl", "converting logs", "less than 4 GiB of disk are free");
        return bench_end();
    }
    if (!mkdtemp(folder)) {
        bench_wrong("no folder can be made in %s", bench_folder());
        return bench_end();
    }
    bench_pin(0);
    for (int i = 0; i < 2 * KINDS; i++)
        apart(make_log, place(bench_text("%s-%d.ptl", kinds[i / 2], i % 2)), (enum kind)(i / 2),
              i % 2 ? EVENTS * LONGER : EVENTS);
    for (size_t i = 0; i < BENCH_COUNT(subjects); i++)
        if (bench_chosen(argc - 1, argv + 1, subjects[i].name))
            measure(&subjects[i]);
    remove_all(folder);
    return bench_end();
}
