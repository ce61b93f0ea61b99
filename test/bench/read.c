/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading logs through the API: events a second on one processor, with the
 * events of one thread and with those of 64 threads finely interleaved, from rows
 * and from columns, one by one and by blocks, and the
 * memory that a reader needs, which must not depend on the length of the log.
 *
 * The log is in the page cache.  Processor time is counted, not time, so that a
 * busy machine tells nearly the same as an idle one.  Each run has a process of
 * its own, whose peak memory is its own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/block.h>
#include <posixtrace/event.h>
#include "bench/programs.h"
#include "bench/subjects.h"

enum { RUNS = 5, MIB = 1 << 20 };

/* What a reading child tells through its pipe. */
struct told {
    double seconds; /* of processor time */
    uint64_t events;
    uint64_t changes; /* of thread between one event and the next */
    uint64_t memory;  /* bytes more at the peak than before opening */
};

static void read_standard(trace_id_t log, struct told *told)
{
    struct posix_trace_event_info info;
    unsigned char data[64];
    pthread_t last = 0;
    size_t len;
    int unavailable = 0;

    while (posix_trace_getnext_event(log, &info, data, sizeof data, &len, &unavailable) == 0 &&
           !unavailable) {
        told->events++;
        told->changes += info.posix_thread_id != last;
        last = info.posix_thread_id;
    }
}

static void read_extension(trace_id_t log, struct told *told)
{
    struct posixtrace_event event;
    uint64_t last = 0;
    int unavailable = 0;

    while (posixtrace_next_event(log, &event, sizeof event, &unavailable) == 0 && !unavailable) {
        told->events++;
        told->changes += event.thread_id != last;
        last = event.thread_id;
    }
}

/* Times and types only. */
static void read_blocks(trace_id_t log, struct told *told)
{
    struct posixtrace_block block;
    uint64_t sum = 0, last = 0;
    int unavailable = 0;

    while (posixtrace_next_block(log, 0, &block, sizeof block, &unavailable) == 0 && !unavailable) {
        for (size_t i = 0; i < block.count; i++)
            sum += (uint64_t)block.ns[i] + block.ids[i];
        told->events += block.count;
        told->changes += block.writer != last;
        last = block.writer;
    }
    if (sum == 0)
        told->events = 0;
}

static void child(const char *path, void (*reader)(trace_id_t, struct told *), int to)
{
    struct told told = { .events = 0 };
    uint64_t before = bench_proc_bytes("/proc/self/status", "VmRSS");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    trace_id_t log;
    double start;

    bench_pin(0);
    subject_must("posix_trace_open", posix_trace_open(fd, &log));
    start = bench_cpu_seconds();
    reader(log, &told);
    told.seconds = bench_cpu_seconds() - start;
    told.memory = bench_proc_bytes("/proc/self/status", "VmHWM") - before;
    subject_must("posix_trace_close", posix_trace_close(log));
    if (write(to, &told, sizeof told) != sizeof told)
        _exit(1);
    _exit(0);
}

static struct told read_once(const char *path, void (*reader)(trace_id_t, struct told *))
{
    struct told told = { .seconds = -1 };
    int ends[2];
    pid_t pid;

    if (pipe(ends) != 0)
        abort();
    pid = fork();
    if (pid == 0)
        child(path, reader, ends[1]);
    close(ends[1]);
    if (pid < 0 || read(ends[0], &told, sizeof told) != sizeof told)
        bench_wrong("reading %s failed", path);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return told;
}

/* Fastest rates are of no interest: the median of a few runs. */
static struct told median_read(const char *path, void (*reader)(trace_id_t, struct told *))
{
    double seconds[RUNS];
    struct told told = { .seconds = 0 };

    for (int i = 0; i < RUNS; i++) {
        told = read_once(path, reader);
        seconds[i] = told.seconds;
    }
    told.seconds = bench_quantile(seconds, RUNS, 0.5);
    return told;
}

static void rate_row(const char *id, const char *work, const struct told *told, double limit)
{
    bench_row(&(struct bench_row){
        .id = id,
        .work = work,
        .value = (double)told->events / told->seconds / 1e6,
        .unit = "M events/s",
        .sense = limit > 0 ? BENCH_AT_LEAST : BENCH_REPORT,
        .limit = limit,
        .note = bench_text("%llu events, %.1f ns each, %.0f %% by another thread than the last",
                           (unsigned long long)told->events,
                           told->seconds * 1e9 / (double)told->events,
                           100.0 * (double)told->changes / (double)told->events) });
}

static void memory_row(const char *id, const char *work, uint64_t bytes, double limit,
                       const char *note)
{
    if (bytes)
        bench_row(&(struct bench_row){ .id = id,
                                       .work = work,
                                       .value = (double)bytes / MIB,
                                       .unit = "MiB",
                                       .sense = BENCH_AT_MOST,
                                       .limit = limit,
                                       .note = note });
}

/* The most memory that a reader needed; 0 if nothing could be recorded.  *ns: an event took. */
static uint64_t threads_group(int threads, const char *events, const char *rate, double limit,
                              double *ns)
{
    const char *args[] = { "threads", bench_text("%d", threads), events, rate, NULL };
    struct told standard, extension;
    struct recorded log;

    if (!record(&log, args))
        return 0;
    standard = median_read(log.path, read_standard);
    extension = median_read(log.path, read_extension);
    if (standard.events < log.events)
        bench_wrong("%llu events recorded, %llu read", log.events,
                    (unsigned long long)standard.events);
    rate_row(bench_text("getnext-%d", threads),
             bench_text("posix_trace_getnext_event over a log, %d thread%s", threads,
                        threads > 1 ? "s, interleaved" : ""),
             &standard, limit);
    rate_row(bench_text("next-%d", threads),
             bench_text("posixtrace_next_event over a log, %d thread%s", threads,
                        threads > 1 ? "s, interleaved" : ""),
             &extension, 0);
    *ns = standard.seconds * 1e9 / (double)standard.events;
    record_forget(&log);
    return standard.memory > extension.memory ? standard.memory : extension.memory;
}

/* The same log by columns: in proportion to rows, whose time for an event is given. */
static void columns_group(int threads, const char *events, const char *rate, double rows,
                          double limit)
{
    const char *args[] = { "threads", bench_text("%d", threads), events, rate, "columns", NULL };
    struct told standard, blocks;
    struct recorded log;
    double ns;

    if (!rows || !record(&log, args))
        return;
    standard = median_read(log.path, read_standard);
    blocks = median_read(log.path, read_blocks);
    if (standard.events < log.events || blocks.events != standard.events)
        bench_wrong("%llu events recorded, %llu read, %llu in blocks", log.events,
                    (unsigned long long)standard.events, (unsigned long long)blocks.events);
    ns = standard.seconds * 1e9 / (double)standard.events;
    bench_row(&(struct bench_row){
        .id = bench_text("getnext-columns-%d", threads),
        .work = bench_text("the same over columns, %d thread%s", threads, threads > 1 ? "s" : ""),
        .value = rows / ns,
        .unit = "x rows",
        .sense = BENCH_AT_LEAST,
        .limit = limit,
        .note = bench_text("%.1f ns an event, rows %.1f ns; %.2f bytes an event", ns, rows,
                           (double)log.bytes / (double)log.events) });
    rate_row(bench_text("blocks-%d", threads),
             bench_text("posixtrace_next_block over columns, times and types, %d thread%s", threads,
                        threads > 1 ? "s, interleaved" : ""),
             &blocks, 100);
    record_forget(&log);
}

int main(void)
{
    uint64_t one, many, shorter;
    double rows_one = 0, rows_many = 0, none;

    if (!record_has_room(2ull << 30)) {
        bench_skip("getnext", "reading logs", "less than 2 GiB of disk are free");
        return bench_end();
    }
    shorter = threads_group(1, "1000000", "1e7", 0, &none);
    one = threads_group(1, "20000000", "1e7", 20, &rows_one);
    many = threads_group(64, "4000000", "1e9", 10, &rows_many);
    columns_group(1, "20000000", "1e7", rows_one, 1);
    columns_group(64, "4000000", "1e9", rows_many, 0.95);
    memory_row("read-memory", "memory of a reader, log of 20 M events, one thread", one, 4,
               bench_text("log of 1 M events: %.1f MiB", (double)shorter / MIB));
    memory_row("read-memory-64", "memory of a reader, log of 4 M events, 64 threads", many, 8,
               NULL);
    return bench_end();
}
