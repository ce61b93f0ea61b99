/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One producer into a log: how fast the flush thread can follow without loss,
 * that a loss at full speed is counted exactly, and bytes in the log per event.
 *
 * The producer is pinned; the flush thread takes another processor.  It is paced
 * in steps of 64 events, each not before its time.  A producer that is late, because another thread
 * had its processor, catches up at full speed, which is harder than the wanted rate, never easier.
 * The note has the share of the time in which it was late by more than a millisecond.
 *
 * A slow disk is a pipe: its reader, another process, takes so many bytes a second and stores them.
 *
 * usage: paced [paced] [slow] [speed] [bytes] [lttng]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include "bench/programs.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20, STEP = 64 };
#define MILLION 1000000l
#define GIB     (1ull << 30)

static struct subject_lttng lttng;
static const char *no_lttng;

struct result {
    double seconds;
    double behind;  /* share of steps that began 1 ms late or more */
    double had;     /* share of the time that it had its processor */
    uint64_t found; /* events in the log */
    uint64_t lost[POSIXTRACE_LOSS_CAUSES];
    uint64_t lost_by_us;
    off_t file_bytes;
    double flush_seconds; /* processor time of the other threads */
};

static int64_t time_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t thread_time(void)
{
    return time_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Of the threads but this one. */
static int64_t other_time(void)
{
    return time_of(CLOCK_PROCESS_CPUTIME_ID) - thread_time();
}

/* Calls work for count events, rate events a second; 0: at full speed. */
static void produce(void (*work)(void *arg, long calls), long count, double rate,
                    struct result *result)
{
    int64_t start = bench_now(), cpu = thread_time();
    long late = 0;

    for (long done = 0; done < count; done += STEP) {
        int64_t due = start + (rate > 0 ? (int64_t)((double)done / rate * 1e9) : 0);

        if (rate > 0 && bench_now() > due + 1000000)
            late++;
        while (rate > 0 && bench_now() < due)
            ;
        work(NULL, count - done < STEP ? count - done : STEP);
    }
    result->seconds = (double)(bench_now() - start) / 1e9;
    result->had = (double)(thread_time() - cpu) / 1e9 / result->seconds;
    result->behind = (double)late * STEP / (double)count;
}

/* Losses of the calling thread alone: START, FLUSH_START and the like, which a
 * LOOP log overwrites and counts as well, are by the stream's own writer. */
static uint64_t lost_by_us(trace_id_t log)
{
    struct posixtrace_thread_info thread;
    uint64_t sum = 0;
    int unavailable = 0;

    posixtrace_threadlist_rewind(log);
    while (posixtrace_threadlist_getnext(log, &thread, sizeof thread, &unavailable) == 0 &&
           !unavailable)
        for (int i = 0; thread.tid == gettid() && i < POSIXTRACE_LOSS_CAUSES; i++)
            sum += thread.lost[i];
    return sum;
}

/* What the log says about the events that were generated. */
static void examine(int fd, struct result *result)
{
    struct posixtrace_info info;
    trace_event_id_t id, found = 0;
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_id_t log;
    int unavailable = 0;

    result->file_bytes = lseek(fd, 0, SEEK_END);
    lseek(fd, 0, SEEK_SET);
    subject_must("posix_trace_open", posix_trace_open(fd, &log));
    subject_must("posixtrace_get_info", posixtrace_get_info(log, &info, sizeof info));
    while (posix_trace_eventtypelist_getnext_id(log, &id, &unavailable) == 0 && !unavailable)
        if (posix_trace_eventid_get_name(log, id, name) == 0 && strcmp(name, "bench") == 0)
            found = id;
    subject_must("posixtrace_event_count", posixtrace_event_count(log, found, &result->found));
    memcpy(result->lost, info.lost, sizeof result->lost);
    result->lost_by_us = lost_by_us(log);
    subject_must("posix_trace_close", posix_trace_close(log));
}

/* The events, and how they are recorded. */
struct recipe {
    void (*work)(void *arg, long calls);
    long count;
    double rate;
    size_t stream_bytes, log_bytes;
    int compression; /* enum posixtrace_compression */
    double disk;     /* bytes a second that it takes; 0: a file */
};

/* Moves the bytes of a pipe into a file, rate of them a second. */
static void be_slow_disk(int from, int to, double rate)
{
    static char buffer[256 << 10];
    int64_t start = bench_now();
    double moved = 0;
    ssize_t n;

    while ((n = read(from, buffer, sizeof buffer)) > 0) {
        struct timespec due;
        int64_t at;

        for (ssize_t done = 0, k; done < n; done += k) {
            k = write(to, buffer + done, (size_t)(n - done));
            if (k <= 0)
                _exit(1);
        }
        moved += (double)n;
        at = start + (int64_t)(moved / rate * 1e9);
        if (at < bench_now() - 1000000) /* a quiet disk saves nothing up */
            start += bench_now() - at;
        due = (struct timespec){ at / 1000000000, at % 1000000000 };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    _exit(n < 0);
}

/* The writing end of a pipe to such a disk, which stores into file. */
static int slow_disk(int file, double rate, pid_t *pid)
{
    int ends[2];

    subject_must("pipe2", pipe2(ends, O_CLOEXEC) != 0 ? errno : 0);
    fcntl(ends[1], F_SETPIPE_SZ, MIB);
    *pid = fork();
    if (*pid == 0) {
        close(ends[1]);
        be_slow_disk(ends[0], file, rate);
    }
    subject_must("fork", *pid < 0 ? errno : 0);
    close(ends[0]);
    return ends[1];
}

static trace_id_t create(const struct recipe *r, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
    posix_trace_attr_setlogfullpolicy(&attr, r->disk > 0 ? POSIX_TRACE_APPEND : POSIX_TRACE_LOOP);
    posix_trace_attr_setstreamsize(&attr, r->stream_bytes);
    if (r->log_bytes)
        posix_trace_attr_setlogsize(&attr, r->log_bytes);
    subject_must("setcompression", posixtrace_attr_setcompression(&attr, r->compression));
    subject_must("posix_trace_create_withlog", posix_trace_create_withlog(0, &attr, fd, &trid));
    posix_trace_attr_destroy(&attr);
    return trid;
}

static struct result run(const struct recipe *r)
{
    struct result result;
    int file = subject_file(), fd = file, status = 0;
    int64_t others;
    trace_id_t trid;
    pid_t disk = 0;

    bench_pin(-1);
    if (r->disk > 0)
        fd = slow_disk(file, r->disk, &disk);
    trid = create(r, fd);
    bench_pin(0);
    others = other_time();
    subject_must("posix_trace_start", posix_trace_start(trid));
    produce(r->work, r->count, r->rate, &result);
    subject_must("posix_trace_stop", posix_trace_stop(trid));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    result.flush_seconds = (double)(other_time() - others) / 1e9;
    if (disk) {
        close(fd);
        if (waitpid(disk, &status, 0) != disk || status != 0)
            bench_wrong("the reader of the pipe ended with %d", status);
    }
    examine(file, &result);
    close(file);
    return result;
}

/* Lost before the log; what the log's own policy overwrote is not. */
static uint64_t lost_on_the_way(const struct result *r)
{
    uint64_t sum = 0;

    for (int i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += i == POSIXTRACE_LOST_LOG_OVERWRITTEN ? 0 : r->lost[i];
    return sum;
}

static void check_exact(const struct result *r, long count)
{
    if (r->found + r->lost_by_us != (uint64_t)count)
        bench_wrong("%ld events generated, but %llu in the log and %llu lost", count,
                    (unsigned long long)r->found, (unsigned long long)r->lost_by_us);
}

/* 30 M/s: how many are lost. */
static void paced(const char *id, const char *work, struct recipe recipe)
{
    struct result r;
    double reached;

    recipe.count = 100 * MILLION;
    recipe.rate = 30e6;
    recipe.stream_bytes = 64 * MIB;
    r = run(&recipe);
    reached = (double)recipe.count / r.seconds / 1e6;
    check_exact(&r, recipe.count);
    if (reached < 29.5 && r.had < 0.97)
        bench_skip(id, work,
                   bench_text("the machine is too busy: the producer had %.0f %% of its "
                              "processor and reached %.1f M/s, lost %llu",
                              100 * r.had, reached, (unsigned long long)lost_on_the_way(&r)));
    else
        bench_row(&(struct bench_row){
            .id = id,
            .work = work,
            .value = (double)lost_on_the_way(&r),
            .unit = "events",
            .sense = BENCH_AT_MOST,
            .limit = 0,
            .note = bench_text("%.2f s, %.1f M/s reached, late for %.1f %% of the time; %.0f MB/s, "
                               "the flush thread takes %.1f ns an event",
                               r.seconds, reached, 100 * r.behind,
                               (double)r.file_bytes / r.seconds / 1e6,
                               1e9 * r.flush_seconds / (double)recipe.count) });
}

/* Data as a program's is: a number that grows. */
static void loop_counter(void *arg, long calls)
{
    static uint64_t counter;

    (void)arg;
    for (; calls > 0; calls--) {
        counter++;
        posix_trace_event(subject_id, &counter, 8);
    }
}

static void full_speed(size_t stream_mib)
{
    long count = 50 * MILLION;
    struct result r = run(&(struct recipe){
        .work = loop_event8, .count = count, .stream_bytes = stream_mib * MIB, .log_bytes = GIB });
    int64_t missing = count - (int64_t)(r.found + r.lost_by_us);

    check_exact(&r, count);
    bench_row(&(struct bench_row){
        .id = bench_text("full-speed-%zu", stream_mib),
        .work = bench_text("50 M events at full speed, stream of %zu MiB: unaccounted for",
                           stream_mib),
        .value = (double)(missing < 0 ? -missing : missing),
        .unit = "events",
        .sense = BENCH_AT_MOST,
        .limit = 0,
        .note = bench_text("%.1f M/s offered, %llu lost and counted",
                           (double)count / r.seconds / 1e6,
                           (unsigned long long)lost_on_the_way(&r)) });
}

static void bytes(const char *id, const char *work, int compression, double limit)
{
    struct recipe recipe = { .work = loop_counter,
                             .count = 10 * MILLION,
                             .rate = 2e6,
                             .stream_bytes = 64 * MIB,
                             .log_bytes = GIB,
                             .compression = compression };
    struct result r = run(&recipe);

    check_exact(&r, recipe.count);
    bench_row(&(struct bench_row){
        .id = id,
        .work = work,
        .value = (double)r.file_bytes / (double)r.found,
        .unit = "bytes",
        .sense = BENCH_AT_MOST,
        .limit = limit,
        .note = bench_text("%llu events at 2 M/s, the data a counter; the flush "
                           "thread takes %.1f ns an event",
                           (unsigned long long)r.found,
                           1e9 * r.flush_seconds / (double)recipe.count) });
}

static void group_bytes(void)
{
    static const char work[] =
        "bytes in the log per 8-byte event, as columns, compressed with zstd";
    trace_attr_t attr;
    int error;

    bytes("bytes", "bytes in the log per 8-byte event", POSIXTRACE_COMPRESSION_NONE, 25);
    bytes("bytes-columns", "bytes in the log per 8-byte event, as columns",
          POSIXTRACE_COMPRESSION_COLUMNS, 4);
    posix_trace_attr_init(&attr);
    error = posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD);
    posix_trace_attr_destroy(&attr);
    if (error)
        bench_skip("bytes-zstd", work, "the library was built without zstd");
    else
        bytes("bytes-zstd", work, POSIXTRACE_COMPRESSION_ZSTD, 3);
}

/* ---- the same with LTTng-UST ---- */

static void beside_lttng(void)
{
    long count = 30 * MILLION;
    struct result r;

    if (!lttng.loop8) {
        bench_skip("paced-lttng", "LTTng-UST: 30 M events at 10 M/s: lost", no_lttng);
        return;
    }
    produce(lttng.loop8, count, 10e6, &r);
    bench_row(&(struct bench_row){
        .id = "paced-lttng",
        .work = "LTTng-UST: 30 M events at 10 M/s: lost",
        .value = lttng_discarded(),
        .unit = "events",
        .note = bench_text("%.2f s, %.1f M/s reached, late for %.1f %% of the time", r.seconds,
                           (double)count / r.seconds / 1e6, 100 * r.behind) });
}

int main(int argc, char **argv)
{
    subjects_init();
    if (bench_disk_free(bench_folder()) < 4 * GIB) {
        bench_skip("paced-30m", "events into a log", "less than 4 GiB of disk are free");
        return bench_end();
    }
    if (!subject_lttng(&lttng, &no_lttng))
        memset(&lttng, 0, sizeof lttng);
    if (bench_chosen(argc, argv, "paced"))
        paced("paced-30m", "100 M events at 30 M/s into a LOOP log of 1 GiB: lost",
              (struct recipe){ .work = loop_event8, .log_bytes = GIB });
    if (bench_chosen(argc, argv, "slow"))
        /* As rows they would be 720 MB a second. */
        paced("paced-30m-slow", "100 M events at 30 M/s as columns, disk of 300 MB/s: lost",
              (struct recipe){ .work = loop_counter,
                               .compression = POSIXTRACE_COMPRESSION_COLUMNS,
                               .disk = 300e6 });
    if (bench_chosen(argc, argv, "speed")) {
        full_speed(64);
        full_speed(1);
    }
    if (bench_chosen(argc, argv, "bytes"))
        group_bytes();
    if (bench_chosen(argc, argv, "lttng"))
        beside_lttng();
    return bench_end();
}
