/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The START of an automatic restart shows the filter of its time, also when the filter has
 * changed before the START is made: in a log, to an onlooker, after SIGKILL, and where the
 * restart comes in the middle of a change.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "shm/start_filter.h"
#include "stream/control_lock.h"
#include "stream/handle.h"
#include "support/call_once.h"
#include "support/flush_log.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/rounds.h"
#include "support/run_suite.h"

enum { CHANGES = PT_FILTERS };

static trace_event_id_t tick, tock;
static bool started;           /* a START was read, or a FILTER */
static trace_event_set_t last; /* the filter by the last of them */
static unsigned starts, filters;

/* Called by pt_stream_set_filter before it puts the new filter into force, and after that. */
static void (*before_change)(void), (*after_change)(void);

bool __real_pt_control_lock_set_filter(struct pt_stream *s, const struct pt_set *set,
                                       const char *expression, uint64_t *version);
bool __wrap_pt_control_lock_set_filter(struct pt_stream *s, const struct pt_set *set,
                                       const char *expression, uint64_t *version);

bool __wrap_pt_control_lock_set_filter(struct pt_stream *s, const struct pt_set *set,
                                       const char *expression, uint64_t *version)
{
    bool done;

    call_once(&before_change);
    done = __real_pt_control_lock_set_filter(s, set, expression, version);
    call_once(&after_change);
    return done;
}

static trace_id_t create(int policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    started = false;
    starts = filters = 0;
    before_change = after_change = NULL;
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_eventid_open("tock", &tock), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 16384), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    if (fd < 0)
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static bool is_running(trace_id_t trid)
{
    struct posix_trace_status_info status;

    NEED(posix_trace_get_status(trid, &status) == 0);
    return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

/* Full, or restarted since by its flush thread. */
static void fill(trace_id_t trid, struct pt_stream *s)
{
    do
        posix_trace_event(tick, &starts, sizeof starts);
    while (is_running(trid) && pt_load_seqcst(&s->seg->h->gap_to) == 0);
}

/* tick is filtered from now on; with also, that type, too. */
static void change(trace_id_t trid, trace_event_id_t also)
{
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(tick, &set), 0);
    ck_assert_int_eq(posix_trace_eventset_add(also, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

/* Reads to the end: each FILTER's old set is what the last START or FILTER has shown. */
static void read_all(trace_id_t trid)
{
    struct posixtrace_event e;
    const char *data;
    int none;

    for (;;) {
        NEED(posixtrace_next_event(trid, &e, sizeof e, &none) == 0);
        if (none)
            return;
        data = e.data;
        if (e.id == POSIX_TRACE_START) {
            starts++;
            memcpy(&last, data, sizeof last);
        } else if (e.id == POSIX_TRACE_FILTER) {
            filters++;
            ck_assert(started);
            ck_assert_mem_eq(data, &last, sizeof last);
            memcpy(&last, data + sizeof last, sizeof last);
        }
        started |= e.id == POSIX_TRACE_START || e.id == POSIX_TRACE_FILTER;
    }
}

static bool last_has(trace_event_id_t id)
{
    int has;

    ck_assert_int_eq(posix_trace_eventset_ismember(id, &last, &has), 0);
    return has;
}

static void read_log(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    read_all(trid);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

static const struct {
    int policy;
    trace_event_id_t also;
} cases[] = {
    { POSIX_TRACE_UNTIL_FULL, PT_ID_USER_FIRST },
    { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_START },
    { POSIX_TRACE_FLUSH, PT_ID_USER_FIRST },
};

/* By its flush thread, which makes no round as long as the lock of reading is held. */
static struct pt_stream *restarted(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    fill(trid, s);
    while (pt_load_seqcst(&s->seg->h->gap_to) == 0 || !is_running(trid))
        flush_log(trid);
    lock_out_rounds(s);
    return s;
}

/* The filter changes so often after the restart that each place for one is used again. */
static trace_id_t change_after_restart(int policy, trace_event_id_t also, int fd)
{
    trace_id_t trid = create(policy, fd);
    struct pt_stream *s = restarted(trid);

    for (unsigned i = 0; i < CHANGES; i++)
        change(trid, i % 2 ? tock : also);
    change(trid, also);
    pthread_mutex_unlock(&s->reading);
    pt_handle_put(s);
    return trid;
}

START_TEST(in_a_log)
{
    int fd = log_file();
    trace_id_t trid = change_after_restart(cases[_i].policy, cases[_i].also, fd);

    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    read_log(fd);
    ck_assert_uint_eq(filters, CHANGES + 1);
    if (cases[_i].policy == POSIX_TRACE_UNTIL_FULL)
        ck_assert_uint_eq(starts, 2);
    ck_assert(last_has(tick));
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

        restarted(trid);
        change(trid, cases[_i].also);
        change(trid, tock);
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    started = false;
    starts = filters = 0;
    read_log(fd);
    ck_assert_uint_eq(filters, 2);
    if (cases[_i].policy == POSIX_TRACE_UNTIL_FULL)
        ck_assert_uint_eq(starts, 2);
    close(fd);
}
END_TEST

/* No reader empties it. */
static void fill_stream(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    fill(trid, s);
    pt_handle_put(s);
}

static int any_stream(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return s->owner == getpid();
}

START_TEST(to_an_onlooker)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1), onlooker;

    ck_assert_int_eq(posixtrace_stream_list(any_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &onlooker), 0);
    fill_stream(trid);
    read_all(onlooker);
    ck_assert_uint_eq(starts, 1);
    started = false;
    read_all(trid);
    ck_assert_uint_eq(starts, 3);
    change(trid, cases[_i].also);
    started = false;
    read_all(onlooker);
    ck_assert_uint_eq(starts, 4);
    ck_assert_uint_eq(filters, 1);
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static trace_id_t changed;

static void restart(void)
{
    read_all(changed);
    ck_assert_uint_eq(starts, 2);
}

/* The controller has found the stream full; its START shows the filter before, or the new one
 * if that is in force by then. */
START_TEST(restarted_meanwhile)
{
    changed = create(POSIX_TRACE_UNTIL_FULL, -1);
    fill_stream(changed);
    if (_i)
        after_change = restart;
    else
        before_change = restart;
    change(changed, tock);
    read_all(changed);
    ck_assert_uint_eq(filters, _i ? 0 : 1);
    ck_assert(last_has(tock));
    ck_assert_int_eq(posix_trace_shutdown(changed), 0);
}
END_TEST

/* As by a controller that changes the filter between two steps of a restart. */
static void put_into_force(struct pt_seg_header *h, unsigned place)
{
    h->filter_now = (h->filter_now / PT_FILTERS + 1) * PT_FILTERS + place;
    pt_set_empty(&h->filters[place]);
    pt_set_add(&h->filters[place], PT_ID_USER_FIRST + place);
}

START_TEST(chosen_once)
{
    static struct pt_seg_header h;
    struct pt_set set;

    memset(&h, 0, sizeof h);
    h.state = pt_state_make(PT_AUTOSTOPPED, 100);
    h.state_near = 100;
    put_into_force(&h, 1);
    ck_assert_uint_eq(pt_start_filter_choose(&h), PT_FILTERS);
    h.gap_to = 200;
    pt_start_filter_renew(&h);
    /* Not restarted yet. */
    ck_assert_uint_eq(pt_start_filter_choose(&h), PT_FILTERS);
    put_into_force(&h, 2);
    h.state = pt_state_make(PT_RUNNING, 200);
    pt_start_filter_copy(&h, &set);
    ck_assert_mem_eq(&set, &h.filters[2], sizeof set);
    ck_assert_uint_eq(pt_start_filter_choose(&h), 2);
    put_into_force(&h, 3);
    ck_assert_uint_eq(pt_start_filter_choose(&h), 2);
    pt_start_filter_copy(&h, &set);
    ck_assert_mem_eq(&set, &h.filters[2], sizeof set);
    /* Full again, and about to be restarted. */
    h.state = pt_state_make(PT_AUTOSTOPPED, 300);
    ck_assert_uint_eq(pt_start_filter_choose(&h), 2);
    h.gap_to = 400;
    pt_start_filter_renew(&h);
    ck_assert_uint_eq(pt_start_filter_choose(&h), PT_FILTERS);
    /* Whatever the word is, there is a place. */
    for (uint64_t w = UINT64_MAX; w > UINT64_MAX - 20; w--) {
        h.start_filter = w;
        ck_assert_uint_le(pt_start_filter_choose(&h), PT_FILTERS);
        pt_start_filter_renew(&h);
        pt_start_filter_copy(&h, &set);
    }
}
END_TEST

static trace_id_t other;
static bool changes;

/* Another controller takes the lock away.  It need not wait for the holder, which is its own
 * thread. */
static void pass_by(void)
{
    trace_event_set_t set;

    NEED(posix_trace_eventset_empty(&set) == 0);
    NEED(posix_trace_start(other) == 0);
    if (changes)
        NEED(posix_trace_set_filter(other, &set, POSIX_TRACE_SET_EVENTSET) == 0);
}

/* The change is in force when its controller is passed by, which has recorded it, or has yet to
 * because the stream was full: it is recorded once, and again if the other has changed the
 * filter. */
START_TEST(passed_by)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    bool full = _i == 1;

    changed = create(POSIX_TRACE_UNTIL_FULL, -1);
    changes = _i == 2;
    ck_assert_int_eq(posixtrace_stream_list(any_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &other), 0);
    if (full) {
        fill_stream(changed);
        before_change = restart;
    }
    after_change = pass_by;
    change(changed, tock);
    read_all(changed);
    ck_assert_uint_eq(filters, changes ? 3 : 1);
    ck_assert(last_has(tick) && last_has(tock));
    ck_assert_int_eq(posixtrace_detach(other), 0);
    ck_assert_int_eq(posix_trace_shutdown(changed), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, chosen_once);
    tcase_add_loop_test(tc, in_a_log, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tc, after_a_kill, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tc, to_an_onlooker, 0, 2);
    tcase_add_loop_test(tc, restarted_meanwhile, 0, 2);
    tcase_add_loop_test(tc, passed_by, 0, 3);
}

int main(void)
{
    return run_suite("start filter", "stream", NULL, add);
}
