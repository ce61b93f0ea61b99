/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Control writers use the slots of threads that have ended.  An onlooker that attaches afterwards
 * counts the events of those threads correctly, not as lost.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/stream.h>
#include "shm/slot.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, EVENTS = 5, THREADS = 4, TURNS = 12 };

static pthread_barrier_t before_clear, after_clear;

static void trace(void)
{
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(TYPE, NULL, 0);
}

static void *trace_twice(void *unused)
{
    (void)unused;
    trace();
    pthread_barrier_wait(&before_clear);
    pthread_barrier_wait(&after_clear);
    trace();
    return NULL;
}

/* The first half of what each thread records is cleared. */
static void trace_in_threads(trace_id_t trid)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&before_clear, NULL, THREADS + 1);
    pthread_barrier_init(&after_clear, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_twice, NULL), 0);
    pthread_barrier_wait(&before_clear);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    pthread_barrier_wait(&after_clear);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}

/* The stream as a process leaves it that is killed while it holds the control lock: the next
 * holder takes a slot of its own. */
static void leave_lock(trace_id_t trid)
{
    struct pt_seg_header *h = segment_of(trid)->h;
    uint64_t word = pt_load_seqcst(&h->control);
    pid_t dead = fork();

    ck_assert_int_ge(dead, 0);
    if (dead == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(dead, NULL, 0), dead);
    pt_store_seqcst(&h->control,
                    pt_control_make(dead, pt_control_slot_1(word), pt_control_turn(word) + 1));
}

static void steer(trace_id_t trid)
{
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static int note_file(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return 1;
}

static unsigned read_all(trace_id_t trid)
{
    struct posixtrace_event e;
    unsigned n = 0;
    int none = 0;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return n;
        n += e.id == TYPE;
    }
}

static void check_onlooker(const char *file)
{
    struct posixtrace_info info;
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    for (unsigned looks = 0; looks < 2; looks++) {
        info = info_of(trid);
        ck_assert_uint_eq(info.events, THREADS * EVENTS);
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            ck_assert_uint_eq(info.lost[c], 0);
        if (looks == 0)
            ck_assert_uint_eq(read_all(trid), THREADS * EVENTS);
    }
    ck_assert_int_eq(posixtrace_detach(trid), 0);
}

/* What the stream's slots say, and what it would have needed: of threads alone. */
START_TEST(slots_of_threads)
{
    struct pt_seg *seg;
    trace_id_t trid;
    char file[256];

    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posixtrace_stream_list(note_file, file), 1);
    trace_in_threads(trid);
    info_of(trid); /* takes the counts: the slots are free */
    for (unsigned i = 0; i < TURNS; i++) {
        leave_lock(trid);
        steer(trid);
        info_of(trid);
        check_onlooker(file);
    }
    seg = segment_of(trid);
    for (uint32_t i = 0; i < pt_slot_count(seg); i++) {
        const struct pt_slot *s = pt_seg_slot(seg, i);

        ck_assert(s->author.wid == (s->author.level == PT_LEVEL_CONTROL ? 0 : s->wid));
        ck_assert(s->wid >= s->past_now >> 1);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, slots_of_threads);
}

int main(void)
{
    return run_suite("control past", "stream control_past", NULL, add);
}
