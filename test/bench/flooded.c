/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A live reader of a LOOP stream that is flooded: how many events a second reach it while the
 * writers overtake it.  The writers trace without a pause on one processor, the reader has the
 * other.  In the end the events that were read and those counted as lost are those traced.
 */
#include <posixtrace/info.h>
#include <pthread.h>
#include <stdio.h>
#include "base/atomics.h"
#include "bench/subjects.h"

enum { MIB = 1 << 20, MOST = 8, CALLS = 512, ROUNDS = 5, ROUND_NS = 400000000 };

static struct {
    pthread_t thread;
    uint64_t traced;
} writers[MOST];
static uint32_t stop;
static trace_id_t trid;

static void *write_events(void *arg)
{
    uint64_t *traced = arg;

    bench_pin(0);
    while (!pt_load_acquire(&stop)) {
        loop_event8(NULL, CALLS);
        *traced += CALLS;
    }
    return NULL;
}

/* At most until that time; 0: until there is none.  The number of user events. */
static uint64_t read_events(int64_t until)
{
    struct posix_trace_event_info info;
    uint64_t data, count = 0;
    size_t length;
    int missing = 0;

    for (uint64_t calls = 1;; calls++) {
        subject_must(
            "posix_trace_trygetnext_event",
            posix_trace_trygetnext_event(trid, &info, &data, sizeof data, &length, &missing));
        if (missing && !until)
            return count;
        count += !missing && info.posix_event_id == subject_id;
        if (until && calls % 1024 == 0 && bench_now() >= until)
            return count;
    }
}

static uint64_t lost_events(void)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    subject_must("posixtrace_get_info", posixtrace_get_info(trid, &info, sizeof info));
    for (int cause = 0; cause < POSIXTRACE_LOSS_CAUSES; cause++)
        lost += info.lost[cause];
    return lost;
}

/* Events a second in one round. */
static double flood(unsigned count)
{
    uint64_t reached, all, traced = 0;
    int64_t begin;

    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    subject_must("posix_trace_start", posix_trace_start(trid));
    pt_store_release(&stop, 0u);
    for (unsigned i = 0; i < count; i++) {
        writers[i].traced = 0;
        if (pthread_create(&writers[i].thread, NULL, write_events, &writers[i].traced) != 0)
            subject_must("pthread_create", -1);
    }
    begin = bench_now();
    reached = read_events(begin + ROUND_NS);
    begin = bench_now() - begin;
    pt_store_release(&stop, 1u);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(writers[i].thread, NULL);
        traced += writers[i].traced;
    }
    subject_must("posix_trace_stop", posix_trace_stop(trid));
    all = reached + read_events(0);
    if (all + lost_events() != traced)
        bench_wrong("%u writers: %llu events traced, %llu read, %llu lost", count,
                    (unsigned long long)traced, (unsigned long long)all,
                    (unsigned long long)lost_events());
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    return (double)reached * 1e9 / (double)begin;
}

int main(void)
{
    static const unsigned counts[] = { 1, MOST };

    subjects_init();
    bench_pin(1);
    for (size_t i = 0; i < BENCH_COUNT(counts); i++) {
        const char *id = bench_text("flooded-%u", counts[i]);
        const char *work = bench_text("live reader of a LOOP stream of 1 MiB that %u writers flood",
                                      counts[i]);
        double rates[ROUNDS];

        if (bench_processors() < 2) {
            bench_skip(id, work, "there is one processor only");
            continue;
        }
        for (int round = 0; round < ROUNDS; round++)
            rates[round] = flood(counts[i]) / 1e6;
        bench_row(&(struct bench_row){
            .id = id,
            .work = work,
            .value = bench_quantile(rates, ROUNDS, 0.5),
            .unit = "M events/s",
            .sense = BENCH_AT_LEAST,
            .limit = 2,
            .note = bench_text("rounds %.3f to %.3f", rates[0], rates[ROUNDS - 1]) });
    }
    return bench_end();
}
