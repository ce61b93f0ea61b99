/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * STOP of an automatic stop, OVERFLOW and RESUME obey the filter of their time, also when the
 * filter has changed before they are made: in a log, to the stream's owner and an onlooker, after
 * SIGKILL.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "consumer/loss_mark.h"
#include "shm/mark_filter.h"
#include "stream/handle.h"
#include "support/flush_log.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/need.h"
#include "support/rounds.h"
#include "support/run_suite.h"

static const struct {
    int policy;
    bool shown; /* the marks are filtered after they have happened, or else before */
} cases[] = {
    { POSIX_TRACE_UNTIL_FULL, true }, { POSIX_TRACE_UNTIL_FULL, false },
    { POSIX_TRACE_FLUSH, true },      { POSIX_TRACE_FLUSH, false },
    { POSIX_TRACE_LOOP, true },       { POSIX_TRACE_LOOP, false },
};
#define CASES (int)(sizeof cases / sizeof *cases)

static trace_event_id_t tick;
static unsigned stops, overflows, resumes;

/* The marks are filtered from now on, or no longer. */
static void filter_marks(trace_id_t trid, bool filtered)
{
    trace_event_set_t set;

    NEED(posix_trace_eventset_empty(&set) == 0);
    NEED(posix_trace_eventset_add(POSIX_TRACE_STOP, &set) == 0);
    NEED(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set) == 0);
    NEED(posix_trace_eventset_add(POSIX_TRACE_RESUME, &set) == 0);
    NEED(posix_trace_set_filter(
             trid, &set, filtered ? POSIX_TRACE_ADD_EVENTSET : POSIX_TRACE_SUB_EVENTSET) == 0);
}

static trace_id_t create(int policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 16384) == 0);
    NEED(posix_trace_attr_setmaxdatasize(&attr, 64) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, policy) == 0);
    NEED(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) == 0);
    if (fd < 0)
        NEED(posix_trace_create(0, &attr, &trid) == 0);
    else
        NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    return trid;
}

/* Until events were overwritten, or the stream is full; then the filter changes twice. */
static void lose_and_change(trace_id_t trid, const struct pt_stream *s, int i)
{
    const struct pt_seg_header *h = s->seg->h;

    filter_marks(trid, !cases[i].shown);
    NEED(posix_trace_start(trid) == 0);
    do
        posix_trace_event(tick, "tick", 4);
    while (pt_load_seqcst(&h->lost_last_ts) == 0 && !pt_state_is_full(pt_load_seqcst(&h->state)));
    filter_marks(trid, cases[i].shown);
    filter_marks(trid, cases[i].shown);
}

static void read_all(trace_id_t trid)
{
    struct posixtrace_event e;
    int none, automatic;

    stops = overflows = resumes = 0;
    for (;;) {
        NEED(posixtrace_next_event(trid, &e, sizeof e, &none) == 0);
        if (none)
            return;
        automatic = 0;
        if (e.id == POSIX_TRACE_STOP)
            memcpy(&automatic, e.data, sizeof automatic);
        stops += automatic != 0;
        overflows += e.id == POSIX_TRACE_OVERFLOW;
        resumes += e.id == POSIX_TRACE_RESUME;
    }
}

/* Where the filter leaves marks out, the reader of the log reports gaps in place of them. */
static void check_gaps(trace_id_t trid, bool shown)
{
    struct posixtrace_event e;
    unsigned gaps = 0;
    size_t count = 1;
    bool gap;

    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    while (count > 0) {
        ck_assert_int_eq(posixtrace_next_whole_events(trid, &e, sizeof e, 1, &count, &gap), 0);
        gaps += gap;
    }
    ck_assert(shown ? gaps == 0 : gaps > 0);
}

static void read_log(int fd, bool shown)
{
    trace_id_t trid;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    read_all(trid);
    check_gaps(trid, shown);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

static void check_marks(int i)
{
    ck_assert_uint_eq(stops, cases[i].shown && cases[i].policy != POSIX_TRACE_LOOP);
    ck_assert_uint_eq(overflows, cases[i].shown && cases[i].policy != POSIX_TRACE_UNTIL_FULL);
    /* That of FLUSH is made at the restart, by the later filter. */
    ck_assert_uint_eq(resumes, cases[i].policy == POSIX_TRACE_LOOP
                                   ? cases[i].shown
                                   : cases[i].policy == POSIX_TRACE_FLUSH && !cases[i].shown);
}

START_TEST(in_a_log)
{
    int fd = log_file();
    trace_id_t trid = create(cases[_i].policy, fd);
    struct pt_stream *s = hold_rounds(trid);

    lose_and_change(trid, s, _i);
    let_rounds(s);
    while (cases[_i].policy != POSIX_TRACE_LOOP && pt_load_seqcst(&s->seg->h->gap_to) == 0)
        NEED(posix_trace_flush(trid) == 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    read_log(fd, cases[_i].shown);
    check_marks(_i);
    close(fd);
}
END_TEST

START_TEST(after_a_kill)
{
    int fd = log_file();
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = create(cases[_i].policy, fd);

        lose_and_change(trid, hold_rounds(trid), _i);
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    read_log(fd, cases[_i].shown);
    /* Killed before the restart. */
    if (cases[_i].policy == POSIX_TRACE_FLUSH)
        resumes += !cases[_i].shown;
    check_marks(_i);
    close(fd);
}
END_TEST

static int any_stream(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return s->owner == getpid();
}

/* No mark is recorded.  halts: nor is one event. */
static void trace_filtered(trace_id_t trid, bool halts)
{
    trace_event_set_t all;

    NEED(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS) == 0);
    NEED(posix_trace_eventset_del(tick, &all) == 0);
    NEED(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET) == 0);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(tick, "tick", 4);
    if (halts) {
        NEED(posix_trace_stop(trid) == 0);
        posix_trace_event(tick, "tick", 4);
        NEED(posix_trace_start(trid) == 0);
    }
    posix_trace_event(tick, "tick", 4);
}

static void check_log(int fd, bool stopped)
{
    read_log(fd, !stopped);
    ck_assert_uint_eq(stops + overflows + resumes, 0);
    close(fd);
}

/* STOP and START of the program: in a log of one that ends, or is killed, and in a snapshot. */
START_TEST(stopped_by_the_program)
{
    bool halts = _i % 2 != 0;
    int fd = log_file(), taken = log_file(), status;
    pid_t pid = fork();
    trace_id_t trid;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trid = create(POSIX_TRACE_LOOP, fd);
        trace_filtered(trid, halts);
        if (_i >= 4)
            NEED(posixtrace_snapshot(trid, taken, NULL, 0) == 0);
        if (_i >= 2 && _i < 4)
            kill(getpid(), SIGKILL);
        NEED(posix_trace_shutdown(trid) == 0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) == (_i >= 2 && _i < 4));
    check_log(fd, halts);
    if (_i >= 4)
        check_log(taken, halts);
    else
        close(taken);
}
END_TEST

static trace_id_t create_for(int log_policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setlogfullpolicy(&attr, log_policy) == 0);
    NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    return trid;
}

static void filter_three(trace_id_t trid, unsigned a, unsigned b, unsigned c)
{
    trace_event_set_t set;

    NEED(posix_trace_eventset_empty(&set) == 0);
    NEED(posix_trace_eventset_add(a, &set) == 0);
    NEED(posix_trace_eventset_add(b, &set) == 0);
    NEED(posix_trace_eventset_add(c, &set) == 0);
    NEED(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) == 0);
}

struct call {
    int (*call)(trace_id_t);
    trace_id_t trid;
};

static void *call(void *of)
{
    const struct call *c = of;

    NEED(c->call(c->trid) == 0);
    return NULL;
}

static int leave_out_tick(trace_id_t trid)
{
    filter_three(trid, POSIX_TRACE_STOP, POSIX_TRACE_FILTER, tick);
    return 0;
}

static int take_tick(trace_id_t trid)
{
    filter_three(trid, POSIX_TRACE_STOP, POSIX_TRACE_FILTER, POSIX_TRACE_START);
    return 0;
}

static void call_elsewhere(int (*function)(trace_id_t), trace_id_t trid)
{
    struct call c = { function, trid };
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, call, &c) == 0);
    pthread_join(thread, NULL);
}

/* Each control record is of another thread than the one before it. */
START_TEST(stopped_by_other_threads)
{
    static int (*const calls[][2])(trace_id_t) = {
        { posix_trace_stop, posix_trace_start },
        { leave_out_tick, take_tick },
    };
    int fd = log_file();
    trace_id_t trid = create_for(POSIX_TRACE_APPEND, fd);

    take_tick(trid);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(tick, "tick", 4);
    call_elsewhere(calls[_i][0], trid);
    posix_trace_event(tick, "tick", 4);
    call_elsewhere(calls[_i][1], trid);
    posix_trace_event(tick, "tick", 4);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    read_log(fd, false);
    close(fd);
}
END_TEST

/* Numbers of control records tell an onlooker which one it has missed. */
START_TEST(numbered_across_threads)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct pt_record_author author;
    struct pt_decoder d;
    struct pt_record r;
    uint64_t no = 0, authors = 0;

    call_elsewhere(posix_trace_start, trid);
    call_elsewhere(posix_trace_stop, trid);
    call_elsewhere(posix_trace_start, trid);
    d = (struct pt_decoder){ s->writer.chunk + sizeof(struct pt_chunk),
                             s->writer.chunk + pt_writer_position(&s->writer), 0 };
    while (pt_decode_next(&d, &r) == 1) {
        if (r.kind != PT_RECORD_AUTHOR) {
            no++;
            continue;
        }
        memcpy(&author, r.data, sizeof author);
        ck_assert_uint_eq(author.first_no, no);
        authors++;
    }
    ck_assert_uint_eq(no, 3);
    ck_assert_uint_ge(authors, 2);
    pt_handle_put(s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* STOP is shown, START is not: a LOOP log may give up STOP, and keep events of both sides. */
START_TEST(only_start_left_out)
{
    static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP };
    int fd = log_file();
    trace_id_t trid = create_for(policies[_i], fd);

    filter_three(trid, POSIX_TRACE_START, POSIX_TRACE_RESUME, POSIX_TRACE_FILTER);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(tick, "tick", 4);
    NEED(posix_trace_stop(trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(tick, "tick", 4);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    read_log(fd, policies[_i] == POSIX_TRACE_APPEND);
    close(fd);
}
END_TEST

/* The first round of a LOOP stream does not see the first START. */
START_TEST(first_start_overwritten)
{
    int fd = log_file();
    trace_id_t trid = create(POSIX_TRACE_LOOP, fd);
    struct pt_stream *s = hold_rounds(trid);

    NEED(posix_trace_start(trid) == 0);
    for (int i = 0; i < 200; i++)
        take_tick(trid);
    for (int i = 0; i < 5000; i++)
        posix_trace_event(tick, "tick", 4);
    leave_out_tick(trid);
    posix_trace_event(tick, "tick", 4);
    take_tick(trid);
    posix_trace_event(tick, "tick", 4);
    let_rounds(s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    read_log(fd, false);
    close(fd);
}
END_TEST

/* The log had STOP left out before the kill, and the filter lets STOP pass by then. */
START_TEST(stopped_before_the_checkpoint)
{
    int fd = log_file();
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = create_for(POSIX_TRACE_APPEND, fd);

        take_tick(trid);
        NEED(posix_trace_start(trid) == 0);
        posix_trace_event(tick, "tick", 4);
        NEED(posix_trace_stop(trid) == 0);
        flush_log(trid);
        hold_rounds(trid);
        filter_three(trid, POSIX_TRACE_START, POSIX_TRACE_START, POSIX_TRACE_START);
        NEED(posix_trace_start(trid) == 0);
        posix_trace_event(tick, "tick", 4);
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    read_log(fd, false);
    close(fd);
}
END_TEST

/* A recovery knows whether the OVERFLOW of an unfinished loss was shown. */
START_TEST(booked)
{
    static struct pt_seg_header h;
    struct pt_seg seg = { .h = &h, .g = { .clock = PT_CLOCK_MONOTONIC } };
    struct pt_losses losses = { .seg = &seg, .overflowing = _i > 0, .overflow_hidden = _i == 2 };

    memset(&h, 0, sizeof h);
    if (_i == 1)
        pt_set_add(&h.filters[0], POSIX_TRACE_OVERFLOW);
    pt_losses_book(&losses, h.books_now & 1u);
    seg.copy = true;
    losses.overflowing = losses.overflow_hidden = _i == 0;
    pt_losses_restore(&losses);
    ck_assert_int_eq(losses.overflowing, _i > 0);
    ck_assert_int_eq(losses.overflow_hidden, _i == 2);
}
END_TEST

/* A stream without a log has no policy FLUSH. */
START_TEST(to_readers)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_id_t trid = create(cases[_i].policy, -1), onlooker;
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(posixtrace_stream_list(any_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &onlooker), 0);
    lose_and_change(trid, s, _i);
    pt_handle_put(s);
    read_all(onlooker);
    check_marks(_i);
    read_all(trid);
    check_marks(_i);
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* The first one of a stop or a loss chooses; the next stop or loss is free again. */
START_TEST(chosen_once)
{
    static struct pt_seg_header h;
    struct pt_seg seg = { .h = &h, .g = { .clock = PT_CLOCK_MONOTONIC } };
    uint64_t state = pt_state_make(PT_AUTOSTOPPED, 100), choice;

    memset(&h, 0, sizeof h);
    h.lost_first_ts = UINT64_MAX;
    pt_set_add(&h.filters[0], POSIX_TRACE_STOP);
    ck_assert_uint_eq(pt_stop_marks_choose(&h, state), PT_MARK_STOP);
    h.filter_now = 1;
    ck_assert_uint_eq(pt_stop_marks_choose(&h, pt_state_turn(state, PT_HALTED)), PT_MARK_STOP);
    ck_assert_uint_eq(pt_stop_marks(&h, state), PT_MARK_STOP);
    ck_assert_uint_eq(pt_stop_marks(&h, pt_state_make(PT_AUTOSTOPPED, 101)), 0);

    pt_set_add(&h.filters[1], POSIX_TRACE_RESUME);
    pt_loss_marks_choose(&seg);
    ck_assert_uint_eq(pt_loss_marks_take(&h), 0);
    h.lost_first_ts = 70;
    pt_loss_marks_choose(&seg);
    h.filter_now = 0;
    pt_loss_marks_choose(&seg);
    choice = pt_loss_marks_take(&h);
    ck_assert_uint_eq(pt_state_of(choice), PT_MARK_RESUME);
    ck_assert(pt_loss_marks_cover(choice, 70));
    ck_assert(!pt_loss_marks_cover(choice, pt_clock_now(PT_CLOCK_MONOTONIC) + 1));
    ck_assert_uint_eq(pt_loss_marks_take(&h), 0);
    /* Events that were lost for want of memory. */
    h.lost_first_ts = UINT64_MAX;
    h.missed_last = 90;
    pt_loss_marks_choose(&seg);
    ck_assert_uint_ne(pt_loss_marks_take(&h), 0);
    h.missed_told = 90;
    pt_loss_marks_choose(&seg);
    ck_assert_uint_eq(pt_loss_marks_take(&h), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, chosen_once);
    tcase_add_loop_test(tc, in_a_log, 0, CASES);
    tcase_add_loop_test(tc, after_a_kill, 0, CASES);
    tcase_add_loop_test(tc, stopped_by_the_program, 0, 6);
    tcase_add_loop_test(tc, stopped_by_other_threads, 0, 2);
    tcase_add_test(tc, numbered_across_threads);
    tcase_add_loop_test(tc, only_start_left_out, 0, 2);
    tcase_add_test(tc, first_start_overwritten);
    tcase_add_test(tc, stopped_before_the_checkpoint);
    tcase_add_loop_test(tc, booked, 0, 3);
    tcase_add_loop_test(tc, to_readers, 0, 2);
    tcase_add_loop_test(tc, to_readers, 4, 6);
}

int main(void)
{
    return run_suite("mark filter", "stream", NULL, add);
}
