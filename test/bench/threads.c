/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a second thread costs the first one when both trace into one stream at
 * the same time, beyond what two floor loops cost each other: processors that
 * share a core, a cache or a bus slow any two programs.
 *
 * Four sides in turns: floor alone, event alone, floor beside a floor, event
 * beside an event.  The helper thread, on a processor of its own, sleeps while
 * a side is alone, and is known to be running before a round beside it begins.
 */
#include <pthread.h>
#include <stdio.h>
#include "base/atomics.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20, HELPER_CALLS = 512 };

static trace_id_t trid;

/* What the helper should do, and whether it does. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*work)(void *arg, long calls); /* NULL: sleep */
    bool end;
    uint32_t stop __attribute__((aligned(64)));
    uint32_t running __attribute__((aligned(64)));
} helper = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *helper_main(void *arg)
{
    bench_pin(1);
    pthread_mutex_lock(&helper.mutex);
    while (!helper.end) {
        void (*work)(void *, long) = helper.work;

        if (!work) {
            pthread_cond_wait(&helper.changed, &helper.mutex);
            continue;
        }
        pthread_mutex_unlock(&helper.mutex);
        work(NULL, HELPER_CALLS);
        pt_store_release(&helper.running, 1u);
        while (!pt_load_acquire(&helper.stop))
            work(NULL, HELPER_CALLS);
        pt_store_release(&helper.running, 0u);
        pthread_mutex_lock(&helper.mutex);
        helper.work = NULL;
        pthread_cond_signal(&helper.changed);
    }
    pthread_mutex_unlock(&helper.mutex);
    return arg;
}

static void helper_start(void (*work)(void *arg, long calls))
{
    pt_store_relaxed(&helper.stop, 0u);
    pthread_mutex_lock(&helper.mutex);
    helper.work = work;
    pthread_cond_signal(&helper.changed);
    pthread_mutex_unlock(&helper.mutex);
    while (!pt_load_acquire(&helper.running))
        ;
}

static void helper_stop(void)
{
    pt_store_release(&helper.stop, 1u);
    pthread_mutex_lock(&helper.mutex);
    while (helper.work)
        pthread_cond_wait(&helper.changed, &helper.mutex);
    pthread_mutex_unlock(&helper.mutex);
}

static void beside_floor(void *arg)
{
    (void)arg;
    helper_start(loop_floor8);
}

static void beside_event(void *arg)
{
    stream_start(arg);
    helper_start(loop_event8);
}

static void end_beside_floor(void *arg)
{
    (void)arg;
    helper_stop();
}

static void end_beside_event(void *arg)
{
    helper_stop();
    stream_stop(arg);
}

static void compare(void)
{
    struct bench_side sides[] = {
        { .name = "floor, alone", .work = loop_floor8 },
        { .name = "event, alone",
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &trid },
        { .name = "floor, beside a floor",
          .work = loop_floor8,
          .before = beside_floor,
          .after = end_beside_floor },
        { .name = "event, beside an event",
          .work = loop_event8,
          .before = beside_event,
          .after = end_beside_event,
          .arg = &trid },
    };
    double floors, events;

    bench_compare("second thread", sides, BENCH_COUNT(sides));
    floors = sides[2].median / sides[0].median;
    events = sides[3].median / sides[1].median;
    bench_row(&(struct bench_row){
        .id = "second-thread",
        .work = "second thread tracing at the same time",
        .value = events / floors,
        .unit = "x floor's loss",
        .sense = BENCH_AT_MOST,
        .limit = 1.15,
        .note = bench_text("event %.2f to %.2f ns, floor %.2f to %.2f ns", sides[1].median,
                           sides[3].median, sides[0].median, sides[2].median) });
}

int main(void)
{
    pthread_t thread;

    subjects_init();
    if (bench_processors() < 2) {
        bench_skip("second-thread", "second thread tracing at the same time",
                   "there is one processor only");
        return bench_end();
    }
    bench_pin(0);
    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    if (pthread_create(&thread, NULL, helper_main, NULL) != 0) {
        perror("pthread_create");
        return 1;
    }
    compare();
    pthread_mutex_lock(&helper.mutex);
    helper.end = true;
    pthread_cond_signal(&helper.changed);
    pthread_mutex_unlock(&helper.mutex);
    pthread_join(thread, NULL);
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return bench_end();
}
