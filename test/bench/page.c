/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * `posixtrace report --html` of 10 M events: processor time of the tool (user and system), size of
 * the file, most memory.
 *
 * usage: page POSIXTRACE
 *
 * Three logs are made.  In the first four threads serve requests with nested pairs of events, with
 * an id and a random key in each, and a counter.  The second is as 'record --system' makes them:
 * context switches, calls on descriptors, and a mutex.  The third has these and a pair around them,
 * whose worst cases the page explains.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include <posixtrace/system.h>
#include "bench/programs.h"

enum { THREADS = 4, STEP_NS = 130 };
#define EVENTS 10000000L
#define MB     1e6

static posixtrace_log_builder_t *builder;
static int error;
static int64_t now = 1700000000000000000;
static uint64_t random_state = 1;

static uint64_t random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

static void add(int thread, const char *name, const void *data, size_t length)
{
    struct posixtrace_event e = { .pid = 4711,
                                  .tid = 4712 + thread,
                                  .thread_id = 0x7f0000001000u + (uint64_t)thread * 0x1000,
                                  .prog_address = 0x401000 + (uint64_t)(name[0] & 15) * 16,
                                  .name = name,
                                  .thread_name = "worker",
                                  .data = data,
                                  .data_len = length };

    now += STEP_NS + (int64_t)(random_number() % STEP_NS);
    e.ns = now;
    if (!error)
        error = posixtrace_log_builder_add(builder, &e, sizeof e);
}

/* Five events of a request, and in every fourth one its counter. */
static void serve(int thread, uint32_t id)
{
    const uint32_t data[2] = { id, (uint32_t)random_number() };
    const uint64_t depth = random_number() % 64;

    add(thread, "request:begin", data, sizeof data);
    add(thread, "parse:begin", data, sizeof data);
    add(thread, "parse:end", data, sizeof data[0]);
    if (id % 4 == 0)
        add(thread, "queue", &depth, sizeof depth);
    add(thread, "request:end", data, sizeof data[0]);
}

/* Eleven events, as of a server that waits for a request, and answers it under a lock. */
static void call(int thread, uint32_t id)
{
    const uint32_t cpu = (uint32_t)thread % 2,
                   io[6] = { POSIXTRACE_CALL_READ, 7, 0x401500, 0, 0, 0 };
    const uint64_t lock[2] = { 0x404000, 0x401200 }, locked[2] = { 0x404000, 0 };

    add(thread, "posixtrace_io", io, 16);
    add(thread, "posixtrace_switch_out", &cpu, sizeof cpu);
    add(thread, "posixtrace_switch_in", &cpu, sizeof cpu);
    add(thread, "posixtrace_io_done", io, 16);
    add(thread, "posixtrace_mutex_lock", lock, sizeof lock);
    add(thread, "posixtrace_mutex_locked", locked, sizeof locked);
    add(thread, "posixtrace_mutex_unlock", lock, sizeof lock);
    add(thread, "posixtrace_io", io, 16);
    add(thread, "posixtrace_io_done", io, 16);
    if (id % 8 == 0)
        add(thread, "posixtrace_switch_preempted", &cpu, sizeof cpu);
    if (id % 8 == 0)
        add(thread, "posixtrace_switch_in", &cpu, sizeof cpu);
}

/* The same as a request, which is a pair. */
static void answer(int thread, uint32_t id)
{
    const uint32_t data[2] = { id, (uint32_t)random_number() };

    add(thread, "request:begin", data, sizeof data);
    call(thread, id);
    add(thread, "request:end", data, sizeof data[0]);
}

static bool make_log(const char *path, void (*turn)(int, uint32_t), double each)
{
    static const char *const described[][2] = { { "request:begin", "u32 id; u32 key" },
                                                { "parse:begin", "u32 id; u32 key" },
                                                { "request:end", "u32 id" },
                                                { "parse:end", "u32 id" },
                                                { "queue", "u64 depth" } };
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    error = fd < 0 ? 1 : posixtrace_log_builder_create(fd, NULL, &builder);
    for (size_t i = 0; !error && i < BENCH_COUNT(described); i++)
        error = posixtrace_log_builder_describe(builder, described[i][0], described[i][1]);
    for (uint32_t i = 0; !error && i < (double)EVENTS / each; i++)
        turn((int)(random_number() % THREADS), i);
    if (!error)
        error = posixtrace_log_builder_finish(builder);
    if (error)
        bench_wrong("no log could be made at %s", path);
    close(fd);
    return !error;
}

static void rows(const char *id, const char *work, const struct spawned *s, const char *page)
{
    struct stat st;

    if (!s->done || stat(page, &st) != 0) {
        bench_wrong("report --html of %s failed", work);
        return;
    }
    bench_row(&(struct bench_row){
        .id = bench_text("%s-time", id),
        .work = bench_text("report --html, 10 M events, %s", work),
        .value = s->cpu,
        .unit = "s",
        .sense = BENCH_AT_MOST,
        .limit = 6,
        .note = bench_text("processor time; memory %.0f MB", (double)s->rss / MB) });
    bench_row(&(struct bench_row){ .id = bench_text("%s-size", id),
                                   .work = bench_text("the page of it, %s", work),
                                   .value = (double)st.st_size / MB,
                                   .unit = "MB",
                                   .sense = BENCH_AT_MOST,
                                   .limit = 40 });
}

static void measure(char *tool, const char *id, const char *work, void (*turn)(int, uint32_t),
                    double each)
{
    const char *folder = bench_folder();
    char *log = strdup(bench_text("%s/posixtrace-bench-page.ptl", folder)),
         *page = strdup(bench_text("%s/posixtrace-bench-page.html", folder));
    char *html = strdup(bench_text("--html=%s", page)), report[] = "report", force[] = "--force";
    char *const argv[] = { tool, report, html, force, log, NULL };
    struct spawned s;

    if (make_log(log, turn, each)) {
        s = spawn(argv, NULL);
        rows(id, work, &s, page);
    }
    unlink(log);
    unlink(page);
    free(log);
    free(page);
    free(html);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    measure(argv[1], "page-pairs", "pairs with fields", serve, 4.25);
    measure(argv[1], "page-system", "context switches and calls", call, 9.25);
    measure(argv[1], "page-both", "context switches, calls and pairs", answer, 11.25);
    return bench_end();
}
