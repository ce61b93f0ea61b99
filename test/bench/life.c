/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The cost of the library without tracing: creating and ending a stream, a linked program that does
 * nothing, ten thousand threads, and a stream with a log that no thread records into.
 *
 * usage: life [create] [linked] [threads] [idle]
 *   POSIXTRACE_BENCH_IDLE  seconds to be idle, default 60
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "bench/subjects.h"

enum { MIB = 1 << 20, SMALL = 65536, CREATES = 400, THREADS = 10000, EACH = 10 };
enum { STACK = 65536, DEFAULT_IDLE = 60 };

static const char crowd_work[] = "10,000 threads, 10 events each, stream of 1 MiB: lost";

static int count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n > 2 ? n - 2 : 0;
}

/* Anonymous memory that is really there. */
static uint64_t own_memory(void)
{
    return bench_proc_bytes("/proc/self/status", "RssAnon");
}

/* ---- the library is linked, and nothing has been called ---- */

static int stream_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    int n = 0;

    while (f && fgets(line, sizeof line, f))
        n += strstr(line, posixtrace_stream_directory()) != NULL;
    if (f)
        fclose(f);
    return n;
}

/* Before anything else of the library is called. */
static void linked(void)
{
    int threads = count_entries("/proc/self/task");
    int files = count_entries(posixtrace_stream_directory());
    int found = threads - 1 + files + stream_mappings();

    bench_row(
        &(struct bench_row){ .id = "linked",
                             .work = "linked and idle: threads, stream files and mappings of them",
                             .value = found,
                             .unit = "in all",
                             .sense = BENCH_AT_MOST,
                             .limit = 0,
                             .note = bench_text("private memory of the whole program: %.0f KiB",
                                                (double)own_memory() / 1024) });
}

/* ---- life of a stream ---- */

static void create(void)
{
    double us[CREATES];

    for (int i = 0; i < CREATES; i++) {
        int64_t start = bench_now();
        trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, SMALL);

        subject_must("posix_trace_start", posix_trace_start(trid));
        subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
        us[i] = (double)(bench_now() - start) / 1e3;
    }
    bench_row(
        &(struct bench_row){ .id = "create",
                             .work = "create, start, shutdown of a stream of 64 KiB",
                             .value = bench_quantile(us, CREATES, 0.5) / 1e3,
                             .unit = "ms",
                             .sense = BENCH_AT_MOST,
                             .limit = 1,
                             .note = bench_text("median of %d, 99th percentile %.3f ms", CREATES,
                                                bench_quantile(us, CREATES, 0.99) / 1e3) });
}

/* ---- ten thousand threads ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t arrived;
    bool trace, end;
} crowd = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *member(void *arg)
{
    pthread_mutex_lock(&crowd.mutex);
    crowd.arrived++;
    pthread_cond_broadcast(&crowd.changed);
    while (!crowd.trace)
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
    for (int i = 0; i < EACH; i++)
        posix_trace_event(subject_id, subject_data, 8);
    pthread_mutex_lock(&crowd.mutex);
    crowd.arrived--;
    pthread_cond_broadcast(&crowd.changed);
    while (!crowd.end)
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
    return arg;
}

static void crowd_until(uint32_t arrived)
{
    pthread_mutex_lock(&crowd.mutex);
    while (crowd.arrived != arrived)
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
}

static void crowd_tell(bool *what)
{
    pthread_mutex_lock(&crowd.mutex);
    *what = true;
    pthread_cond_broadcast(&crowd.changed);
    pthread_mutex_unlock(&crowd.mutex);
}

/* Starts up to THREADS threads; how many there are. */
static uint32_t crowd_gather(pthread_t *thread)
{
    pthread_attr_t attr;
    uint32_t n = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    while (n < THREADS && pthread_create(&thread[n], &attr, member, NULL) == 0)
        n++;
    pthread_attr_destroy(&attr);
    return n;
}

/* Memory that the files in the stream directory occupy. */
static uint64_t stream_memory(void)
{
    DIR *d = opendir(posixtrace_stream_directory());
    struct dirent *e;
    struct stat st;
    uint64_t sum = 0;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0)
            sum += (uint64_t)st.st_blocks * 512;
    if (d)
        closedir(d);
    return sum;
}

static struct posixtrace_info info_of(trace_id_t trid)
{
    struct posixtrace_info info;

    subject_must("posixtrace_get_info", posixtrace_get_info(trid, &info, sizeof info));
    return info;
}

static void crowd_rows(const struct posixtrace_info *before, const struct posixtrace_info *after,
                       uint64_t files, uint64_t own)
{
    uint64_t lost = 0;

    for (int i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += after->lost[i];
    bench_row(&(struct bench_row){ .id = "many-threads",
                                   .work = crowd_work,
                                   .unit = "events",
                                   .sense = BENCH_AT_MOST,
                                   .value = (double)lost,
                                   .limit = 0,
                                   .note = bench_text("of %d events", THREADS * EACH) });
    bench_row(&(struct bench_row){
        .id = "many-threads-reserved",
        .work = "the same: growth of the addresses for events",
        .value = (double)(after->reserved_bytes - before->reserved_bytes) / MIB,
        .unit = "MiB",
        .note = bench_text("%.2f MiB before; a chunk gets memory as it is filled",
                           (double)before->reserved_bytes / MIB) });
    bench_row(&(struct bench_row){ .id = "many-threads-files",
                                   .work = "the same: all shared memory of the stream",
                                   .value = (double)files / MIB,
                                   .unit = "MiB" });
    bench_row(&(struct bench_row){ .id = "many-threads-own",
                                   .work = "the same: private records of the threads",
                                   .value = (double)own / MIB,
                                   .unit = "MiB" });
}

static void threads(void)
{
    static pthread_t thread[THREADS];
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    struct posixtrace_info before = info_of(trid), after;
    uint32_t n = crowd_gather(thread);
    uint64_t own, files;

    crowd_until(n);
    subject_must("posix_trace_start", posix_trace_start(trid));
    own = own_memory();
    crowd_tell(&crowd.trace);
    crowd_until(0);
    files = stream_memory();
    own = own_memory() - own;
    after = info_of(trid);
    crowd_tell(&crowd.end);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    if (n < THREADS)
        bench_skip("many-threads", crowd_work, bench_text("only %u threads could be made", n));
    else
        crowd_rows(&before, &after, files, own);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

/* ---- no tracing ---- */

struct activity {
    unsigned long long switches; /* voluntary and not */
    unsigned long long cpu_ns;
};

/* Of all threads but the calling one. */
static struct activity activity(void)
{
    struct activity sum = { 0, 0 };
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;

    while (d && (e = readdir(d))) {
        char path[300], line[128];
        unsigned long long n;
        FILE *f;

        if (e->d_name[0] == '.' || atoi(e->d_name) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        for (f = fopen(path, "re"); f && fgets(line, sizeof line, f);)
            if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
                sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
                sum.switches += n;
        if (f)
            fclose(f);
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        f = fopen(path, "re");
        if (f && fscanf(f, "%llu", &n) == 1)
            sum.cpu_ns += n;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return sum;
}

static void idle(void)
{
    const char *wish = getenv("POSIXTRACE_BENCH_IDLE");
    int seconds = wish && atoi(wish) > 0 ? atoi(wish) : DEFAULT_IDLE, fd;
    trace_id_t trid = subject_stream_log(POSIX_TRACE_FLUSH, MIB, 16 * MIB, &fd);
    struct activity before, after;
    const char *note;

    stream_start(&trid);
    bench_sleep(3000000000);
    before = activity();
    bench_sleep((int64_t)seconds * 1000000000);
    after = activity();
    note = bench_text("%d s, %d threads beside the main one", seconds,
                      count_entries("/proc/self/task") - 1);
    bench_row(&(struct bench_row){ .id = "idle-wakeups",
                                   .work = "a stream and its log while nobody traces: wake-ups",
                                   .value = (double)(after.switches - before.switches),
                                   .unit = "wake-ups",
                                   .sense = BENCH_AT_MOST,
                                   .limit = 0,
                                   .note = note });
    bench_row(
        &(struct bench_row){ .id = "idle-cpu",
                             .work = "a stream and its log while nobody traces: processor time",
                             .value = (double)(after.cpu_ns - before.cpu_ns),
                             .unit = "ns",
                             .sense = BENCH_AT_MOST,
                             .limit = 0,
                             .note = note });
    stream_stop(&trid);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    close(fd);
}

int main(int argc, char **argv)
{
    if (bench_chosen(argc, argv, "linked"))
        linked();
    subjects_init();
    if (bench_chosen(argc, argv, "create"))
        create();
    if (bench_chosen(argc, argv, "threads"))
        threads();
    if (bench_chosen(argc, argv, "idle"))
        idle();
    return bench_end();
}
