/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The times of events.
 *
 * Order: two threads, on the first processor and on each other one in turn,
 * hand a turn to each other through a lock, and record it before they hand it
 * on.  An event that is later by the lock must not have an earlier time, so that
 * clocks of two processors that disagree by more than a hand-over are seen: they
 * are wrong in every second turn.  Now and then a processor reads its
 * counter while the lock is still on its way to it (lib/base/clock.h); that is
 * reported, and is no failure.
 *
 * Drift: an event every few milliseconds, and CLOCK_MONOTONIC read before and
 * after it.  Each reading bounds the difference of the two clocks from both
 * sides.  Where all bounds agree on one difference, there is no drift; else
 * the error is the distance between the bounds that exclude each other.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <posixtrace/info.h>

#include "common/units.h"
#include "common/progress.h"

enum { TURNS = 20000, TURNS_LEAST = 200, SPIN = 2000, SAMPLES = 400 };
#define STREAM_SIZE (4u << 20)
#define OVER        UINT64_MAX
#define AHEAD_NS    500 /* fits into a processor's reorder window */
#define AHEAD_TURNS 10u /* one turn in so many, at most: a load has made it one in 80 */

/* The accepted drift: a share of the time, and the duration of a clock reading that is interrupted
 * by a context switch. */
#define DRIFT_PPM 200.0
#define DRIFT_NS  50000.0

static trace_event_id_t turn_id;

struct game {
    pthread_spinlock_t lock;
    uint64_t turn; /* OVER: ended */
    int64_t until;
    uint64_t turns; /* that were recorded */
};

struct player {
    struct game *game;
    uint64_t side; /* 0 or 1 */
};

static uint64_t look(struct game *g)
{
    uint64_t turn;

    pthread_spin_lock(&g->lock);
    turn = g->turn;
    pthread_spin_unlock(&g->lock);
    return turn;
}

static void hand_over(struct game *g, uint64_t turn)
{
    bool last = turn + 1 == TURNS || selftest_interrupted() ||
                (turn + 1 >= TURNS_LEAST && turn % 16 == 0 && selftest_now() > g->until);

    pthread_spin_lock(&g->lock);
    g->turns = turn + 1;
    g->turn = last ? OVER : turn + 1;
    pthread_spin_unlock(&g->lock);
}

static void *play(void *arg)
{
    struct player *p = arg;
    uint64_t turn;

    for (unsigned tries = 0; (turn = look(p->game)) != OVER; tries++) {
        if (turn % 2 == p->side) {
            posix_trace_event(turn_id, &turn, sizeof turn);
            hand_over(p->game, turn);
            tries = 0;
        } else if (tries % SPIN == SPIN - 1) {
            sched_yield();
        }
    }
    return NULL;
}

static int start_player(pthread_t *thread, struct player *p, int processor)
{
    cpu_set_t *set = CPU_ALLOC(processor + 1);
    pthread_attr_t attr;
    int error;

    if (!set)
        return ENOMEM;
    CPU_ZERO_S(CPU_ALLOC_SIZE(processor + 1), set);
    CPU_SET_S((size_t)processor, CPU_ALLOC_SIZE(processor + 1), set);
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, CPU_ALLOC_SIZE(processor + 1), set);
    error = pthread_create(thread, &attr, play, p);
    pthread_attr_destroy(&attr);
    CPU_FREE(set);
    return error;
}

/* How many turns were recorded, or a negative error number. */
static int64_t play_game(int first, int second, int64_t until)
{
    struct game game = { .until = until };
    struct player players[2] = { { &game, 0 }, { &game, 1 } };
    pthread_t threads[2];
    int error;

    pthread_spin_init(&game.lock, PTHREAD_PROCESS_PRIVATE);
    error = start_player(&threads[1], &players[1], second);
    if (!error) {
        error = start_player(&threads[0], &players[0], first);
        if (!error) {
            pthread_join(threads[0], NULL);
        } else {
            pthread_spin_lock(&game.lock);
            game.turn = OVER;
            pthread_spin_unlock(&game.lock);
        }
        pthread_join(threads[1], NULL);
    }
    pthread_spin_destroy(&game.lock);
    return error ? -error : (int64_t)game.turns;
}

struct order {
    uint64_t turns, missing, back; /* back: turns before the one that went before */
    int64_t worst;                 /* ns that one went back */
    int worst_processor, error;
    unsigned pairs;
};

static void judge_game(trace_id_t trid, uint64_t turns, int processor, struct order *o)
{
    static int64_t times[TURNS];
    struct posixtrace_event e;
    uint64_t seen = 0;
    int unavailable = 0;

    memset(times, 0, sizeof times);
    while (o->error == 0) {
        o->error = posixtrace_next_event(trid, &e, sizeof e, &unavailable);
        if (o->error || unavailable)
            break;
        if (e.id != turn_id || selftest_number(&e) >= turns)
            continue;
        seen += times[selftest_number(&e)] == 0;
        times[selftest_number(&e)] = e.ns;
    }
    o->turns += turns;
    o->missing += turns - seen;
    for (uint64_t i = 1; i < turns; i++) {
        if (times[i] == 0 || times[i - 1] == 0 || times[i] >= times[i - 1])
            continue;
        o->back++;
        if (times[i - 1] - times[i] > o->worst) {
            o->worst = times[i - 1] - times[i];
            o->worst_processor = processor;
        }
    }
}

/* The processors that this process may use; how many, at most size. */
static unsigned usable_processors(int *to, unsigned size)
{
    cpu_set_t set;
    unsigned count = 0;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE && count < size; i++) {
        if (CPU_ISSET(i, &set))
            to[count++] = i;
    }
    return count;
}

static void check_order(const struct selftest *t, trace_id_t trid)
{
    int processors[CPU_SETSIZE];
    unsigned count = usable_processors(processors, CPU_SETSIZE);
    unsigned pairs = count > 1 ? count - 1 : 1;
    double share = t->seconds * 0.07 / pairs;
    struct order o = { 0 };

    for (unsigned i = 0; i < pairs && count > 0 && o.error == 0 && !selftest_interrupted(); i++) {
        int second = processors[count > 1 ? i + 1 : 0];
        int64_t turns = play_game(processors[0], second,
                                  selftest_now() + (int64_t)(share * (double)SELFTEST_NS));

        if (turns < 0)
            o.error = (int)-turns;
        else
            judge_game(trid, (uint64_t)turns, second, &o);
        o.pairs++;
    }
    if (o.error || o.turns == 0)
        report_check(false, "clock order", "cannot be tried: %s",
                     o.error ? strerror(o.error) : "no processor is known");
    else if (o.back > 0)
        report_check(o.missing == 0 && o.worst <= AHEAD_NS && o.back <= o.turns / AHEAD_TURNS,
                     "clock order",
                     "%s of %s turns have a time before the turn that went before, "
                     "at worst %s ns, with processor %d; up to %d ns a processor may read its "
                     "counter ahead of a lock",
                     units_count(o.back), units_count(o.turns), units_count((uint64_t)o.worst),
                     o.worst_processor, AHEAD_NS);
    else
        report_check(o.missing == 0, "clock order",
                     "%s turns between threads on %u processor%s, "
                     "none back in time, %s missing",
                     units_count(o.turns), count > 1 ? count : 1, count > 1 ? "s" : "",
                     units_count(o.missing));
}

struct sample {
    int64_t before, after, ns; /* CLOCK_MONOTONIC, CLOCK_MONOTONIC, event */
};

/* CLOCK_REALTIME less CLOCK_MONOTONIC: changes when the time is set. */
static int64_t wall_offset(void)
{
    struct timespec real;
    int64_t now = selftest_now();

    clock_gettime(CLOCK_REALTIME, &real);
    return (int64_t)real.tv_sec * SELFTEST_NS + real.tv_nsec - now;
}

static unsigned take_samples(trace_event_id_t id, struct sample *samples, int64_t span)
{
    unsigned count = 0;

    for (; count < SAMPLES && !selftest_interrupted(); count++) {
        uint64_t number = count;

        samples[count].before = selftest_now();
        posix_trace_event(id, &number, sizeof number);
        samples[count].after = selftest_now();
        selftest_sleep(span / SAMPLES);
    }
    return count;
}

/* Gives the samples the times of their events; how many there are. */
static unsigned take_times(trace_id_t trid, trace_event_id_t id, struct sample *samples,
                           unsigned count)
{
    struct posixtrace_event e;
    unsigned found = 0;
    int unavailable = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &unavailable) == 0 && !unavailable) {
        if (e.id != id || selftest_number(&e) >= count)
            continue;
        samples[selftest_number(&e)].ns = e.ns;
        found++;
    }
    return found;
}

static void check_drift(const struct selftest *t, trace_id_t trid)
{
    static struct sample samples[SAMPLES];
    int64_t least = INT64_MAX, most = INT64_MIN, offset = wall_offset(), span;
    trace_event_id_t id;
    unsigned count = 0, found = 0;
    double error, allowed;

    if (posix_trace_eventid_open("sample", &id) == 0) {
        count = take_samples(id, samples, (int64_t)(t->seconds * 0.07 * (double)SELFTEST_NS));
        found = take_times(trid, id, samples, count);
    }
    if (count == 0 || found != count) {
        report_check(selftest_interrupted() != 0, "clock drift", "%u of %u events came back", found,
                     count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        int64_t low = samples[i].ns - samples[i].after, high = samples[i].ns - samples[i].before;

        most = low > most ? low : most;      /* the difference is at least that */
        least = high < least ? high : least; /* and at most that */
    }
    span = samples[count - 1].after - samples[0].before;
    error = most > least ? (double)(most - least) : 0;
    allowed = DRIFT_NS + DRIFT_PPM * 1e-6 * (double)span;
    if (llabs(wall_offset() - offset) > 1000000)
        report_check(true, "clock drift", "not judged: the time was set meanwhile");
    else
        report_check(error <= allowed, "clock drift",
                     "%.3f us in %.2f s against CLOCK_MONOTONIC, "
                     "%.2f ppm; allowed are %.0f us",
                     error / 1e3, (double)span / 1e9, error / (double)span * 1e6, allowed / 1e3);
}

void selftest_clock(const struct selftest *t)
{
    trace_id_t trid;
    int error = posix_trace_eventid_open("turn", &turn_id);

    progress_step("clock");
    if (!error)
        error = selftest_stream(STREAM_SIZE, POSIX_TRACE_UNTIL_FULL, -1, 0, &trid);
    if (error) {
        report_check(false, "clock", "cannot trace: %s", strerror(error));
        return;
    }
    check_order(t, trid);
    check_drift(t, trid);
    posix_trace_shutdown(trid);
}
