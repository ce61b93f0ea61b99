/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * First events: of a thread, of a forked child, and of a program, each in processes
 * that have other threads.  A program is traced from its start, as posixtrace record
 * does it (POSIXTRACE_FOLLOW), or from outside while it runs, as with --pid; the
 * second then registers for membarrier in its first event.
 *
 * usage: first
 *        first image GO DONE    the started program: one byte from GO, then the time to DONE
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include "bench/subjects.h"

enum { MIB = 1 << 20, THREADS = 400, CHILDREN = 100, IMAGES = 40 };

static char stream_file[sizeof((struct posixtrace_stream *)0)->file];

static double first_event(trace_event_id_t id)
{
    uint64_t data = 0;
    int64_t start = bench_now();

    posix_trace_event(id, &data, sizeof data);
    return (double)(bench_now() - start);
}

static void report(const char *id, const char *work, double *ns, size_t count)
{
    bench_row(&(struct bench_row){ .id = bench_text("first-%s", id),
                                   .work = bench_text("first event of %s: median", work),
                                   .value = bench_quantile(ns, count, 0.5) / 1000,
                                   .unit = "us",
                                   .note = bench_text("%zu of them, worst %.0f us", count,
                                                      bench_quantile(ns, count, 1) / 1000) });
}

static void *time_thread(void *ns)
{
    *(double *)ns = first_event(subject_id);
    return NULL;
}

static void threads(void)
{
    double ns[THREADS];
    pthread_t thread;

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, time_thread, &ns[i]) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    report("thread", "a thread", ns, THREADS);
}

static void children(void)
{
    double ns[CHILDREN];
    int done[2];

    if (pipe(done) < 0)
        abort();
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();

        if (child == 0) {
            ns[i] = first_event(subject_id);
            _exit(write(done[1], &ns[i], sizeof ns[i]) != sizeof ns[i]);
        }
        if (child < 0 || read(done[0], &ns[i], sizeof ns[i]) != sizeof ns[i])
            abort();
        waitpid(child, NULL, 0);
    }
    close(done[0]);
    close(done[1]);
    report("child", "a forked child", ns, CHILDREN);
}

/* ---- programs ---- */

static void *wait_for_end(void *unused)
{
    pause();
    return unused;
}

static int be_image(int go, int done)
{
    pthread_t thread;
    double ns;
    char c;

    if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0 || write(done, "", 1) != 1 ||
        read(go, &c, 1) != 1)
        return 1;
    ns = first_event(POSIX_TRACE_UNNAMED_USEREVENT);
    return write(done, &ns, sizeof ns) != sizeof ns;
}

static void exec_image(const int go[2], const int done[2], bool follow)
{
    char from[12], to[12];

    snprintf(from, sizeof from, "%d", go[0]);
    snprintf(to, sizeof to, "%d", done[1]);
    if (follow)
        setenv("POSIXTRACE_FOLLOW", stream_file, 1);
    execl("/proc/self/exe", "first", "image", from, to, (char *)NULL);
    _exit(1);
}

static double time_image(bool follow)
{
    trace_id_t trid = 0;
    int go[2], done[2];
    pid_t child;
    double ns;
    char c;

    if (pipe(go) < 0 || pipe(done) < 0 || (child = fork()) < 0)
        abort();
    if (child == 0)
        exec_image(go, done, follow);
    if (read(done[0], &c, 1) != 1)
        abort();
    if (!follow)
        trid = subject_stream_of(child, POSIX_TRACE_LOOP, MIB);
    if (!follow)
        subject_must("posix_trace_start", posix_trace_start(trid));
    if (write(go[1], "", 1) != 1 || read(done[0], &ns, sizeof ns) != sizeof ns)
        abort();
    waitpid(child, NULL, 0);
    if (!follow)
        subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(done[i]);
    }
    return ns;
}

static void images(const char *id, const char *work, bool follow)
{
    double ns[IMAGES];

    for (int i = 0; i < IMAGES; i++)
        ns[i] = time_image(follow);
    report(id, work, ns, IMAGES);
}

static int keep_file(void *unused, const struct posixtrace_stream *stream)
{
    (void)unused;
    if (stream->owner != getpid())
        return 0;
    strcpy(stream_file, stream->file);
    return 1;
}

static trace_id_t inherited_stream(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    subject_must("posix_trace_attr_init", posix_trace_attr_init(&attr));
    subject_must("posix_trace_attr_setinherited",
                 posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    subject_must("posix_trace_attr_setstreamsize", posix_trace_attr_setstreamsize(&attr, MIB));
    subject_must("posix_trace_create", posix_trace_create(0, &attr, &trid));
    subject_must("posix_trace_start", posix_trace_start(trid));
    if (posixtrace_stream_list(keep_file, NULL) != 1)
        bench_wrong("the stream is not in the list");
    return trid;
}

int main(int argc, char **argv)
{
    trace_id_t trid;

    if (argc == 4 && strcmp(argv[1], "image") == 0)
        return be_image(atoi(argv[2]), atoi(argv[3]));
    subjects_init();
    images("attached", "a program with threads that is traced from outside", false);
    trid = inherited_stream();
    threads();
    children();
    images("followed", "a program with threads that posixtrace record started", true);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return bench_end();
}
