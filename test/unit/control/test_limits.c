/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a stream has room for at once, and what it says where that is not enough: threads and
 * processes beyond a limit are counted with what they lose, in the stream and in its log; more
 * than 255 children are none too many; and in a stream of the size that is advised nothing of
 * the same is lost.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "shm/slot.h"
#include "support/chunk_holders.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum { CHILDREN = 300, WRITERS = 40 };

static trace_event_id_t tick;

static void set_attr(trace_attr_t *attr, size_t size, size_t max_data, int policy)
{
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(attr, size), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(attr, max_data), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED), 0);
}

static trace_id_t create(size_t size, size_t max_data, int policy, int log)
{
    trace_attr_t attr;
    trace_id_t trid;

    set_attr(&attr, size, max_data, policy);
    if (log >= 0)
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, log, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static struct posixtrace_limits limits_of(trace_id_t trid)
{
    struct posixtrace_limits limits;

    ck_assert_int_eq(posixtrace_get_limits(trid, &limits, sizeof limits), 0);
    return limits;
}

static trace_id_t open_log(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    return trid;
}

static void trace(unsigned n)
{
    while (n-- > 0)
        posix_trace_event(tick, NULL, 0);
}

/* Returns in the parent, with the child between its events and its end. */
static void start_child(unsigned events, int hold[2], int done[2])
{
    fflush(NULL);
    if (fork() > 0)
        return;
    close(hold[1]);
    trace(events);
    if (write(done[1], "", 1) == 1 && read(hold[0], &(char){ 0 }, 1) == 0)
        _exit(0);
    _exit(1);
}

/* So many children at once, each with so many events. */
static void trace_in_children(unsigned count, unsigned events)
{
    int hold[2], done[2], status;
    char byte;

    ck_assert_int_eq(pipe(hold), 0);
    ck_assert_int_eq(pipe(done), 0);
    for (unsigned i = 0; i < count; i++)
        start_child(events, hold, done);
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(read(done[0], &byte, 1), 1);
    close(hold[1]);
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    close(hold[0]);
    close(done[0]);
    close(done[1]);
}

START_TEST(more_than_255_children)
{
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_UNTIL_FULL, -1);

    trace_in_children(CHILDREN, 1);
    ck_assert_uint_eq(info_of(trid).events, CHILDREN);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 0);
    ck_assert_uint_gt(limits_of(trid).processes, 4096);
    ck_assert_uint_eq(limits_of(trid).refused_processes, 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Each child takes the slot of one before it, most of them before the flush thread has looked at
 * the slot: the log names them by their events. */
START_TEST(children_one_after_another)
{
    FILE *file = tmpfile();
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_FLUSH, fileno(file));
    struct posixtrace_thread_info thread;
    unsigned named = 0;
    int end = 0;

    /* It looks for leaks in each child, to which the flush thread's stack is lost. */
    if (is_under_valgrind()) {
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
        fclose(file);
        return;
    }
    for (unsigned i = 0; i < CHILDREN; i++)
        trace_in_children(1, 3);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    trid = open_log(fileno(file));
    ck_assert_int_eq(posixtrace_threadlist_rewind(trid), 0);
    while (posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &end) == 0 && !end) {
        ck_assert_uint_ne(thread.pid, 0);
        ck_assert_uint_eq(thread.recorded, 3);
        named++;
    }
    ck_assert_uint_eq(named, CHILDREN);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(file);
}
END_TEST

/* The table is full of that process. */
static void fill_table_with(struct pt_seg *seg, pid_t pid)
{
    uint32_t n;

    while ((n = pt_seg_proc_count(seg)) < PT_PROC_MAX) {
        ck_assert_int_eq(pt_seg_add_proc(seg, n), 0);
        pt_seg_proc(seg, n)->bit = PT_STREAMS;
        pt_seg_proc(seg, n)->pid = (uint32_t)pid;
    }
}

/* Of one that lives, this one's parent. */
static void fill_table(struct pt_seg *seg)
{
    fill_table_with(seg, getppid());
}

static int find(void *pid, pid_t traced)
{
    return traced == *(pid_t *)pid;
}

/* A process that has ended, and that its parent has not waited for, is none that the stream traces,
 * and takes no place from others. */
START_TEST(zombies)
{
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_seg *seg = segment_of(trid);
    pid_t pid = fork(), own = getpid(), later;
    siginfo_t info;

    if (pid == 0) {
        trace(1);
        _exit(0);
    }
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(posixtrace_stream_traced(seg->file, find, &own), 1);
    ck_assert_int_eq(posixtrace_stream_traced(seg->file, find, &pid), 0);
    fill_table_with(seg, pid);
    later = fork();
    if (later == 0) {
        trace(5);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(later, NULL, 0), later);
    ck_assert_uint_eq(limits_of(trid).refused_processes, 0);
    ck_assert_uint_eq(info_of(trid).events, 1 + 5);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void filter_tick(trace_id_t trid, bool wanted)
{
    trace_event_set_t set;

    ck_assert_int_eq(posix_trace_eventset_empty(&set), 0);
    if (!wanted)
        ck_assert_int_eq(posix_trace_eventset_add(tick, &set), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static void wait_and_trace(unsigned events, int in, int out)
{
    char byte;

    if (read(in, &byte, 1) != 1)
        _exit(1);
    trace(events);
    if (write(out, "", 1) != 1)
        _exit(1);
}

/* Each loss is counted by the filter of its time, not by that of the process's first event. */
START_TEST(refused_and_filtered)
{
    static const bool wanted[] = { false, true, false, true };
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_UNTIL_FULL, -1);
    const unsigned count = sizeof wanted / sizeof *wanted;
    int to[2], from[2], status;
    char byte;
    pid_t pid;

    fill_table(segment_of(trid));
    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(pipe(from), 0);
    pid = fork();
    if (pid == 0) {
        for (unsigned i = 0; i < count; i++)
            wait_and_trace(i + 1, to[0], from[1]);
        _exit(0);
    }
    for (unsigned i = 0; i < count; i++) {
        filter_tick(trid, wanted[i]);
        ck_assert_int_eq(write(to[1], "", 1), 1);
        ck_assert_int_eq(read(from[0], &byte, 1), 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(limits_of(trid).refused_processes, 1);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 2 + 4);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    for (unsigned i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}
END_TEST

START_TEST(refused_processes)
{
    FILE *file = tmpfile();
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_FLUSH, fileno(file));

    fill_table(segment_of(trid));
    trace_in_children(2, 5);
    ck_assert_uint_eq(limits_of(trid).refused_processes, 2);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 10);
    trace(3);
    ck_assert_uint_eq(info_of(trid).events, 3);
    /* Unwanted events are not lost. */
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    trace_in_children(1, 5);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 10);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);

    trid = open_log(fileno(file));
    ck_assert_uint_eq(limits_of(trid).refused_processes, 3);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 10);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(file);
}
END_TEST

START_TEST(refused_threads)
{
    FILE *file = tmpfile();
    trace_id_t trid = create(16384, 64, POSIX_TRACE_FLUSH, fileno(file));
    struct pt_seg *seg = segment_of(trid);
    struct chunk_holders holders, more;
    uint32_t room;

    ck_assert_uint_eq(limits_of(trid).threads, seg->g.chunk_max - seg->g.base_chunks);
    seg->g.chunk_max = seg->g.base_chunks;
    room = seg->g.base_chunks - pt_load_relaxed(&seg->h->used_chunks);
    hold_chunks(&holders, room, tick);
    ck_assert_uint_eq(limits_of(trid).refused_threads, 0);
    hold_chunks(&more, 3, tick);
    ck_assert_uint_eq(limits_of(trid).refused_threads, 3);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 3);
    ck_assert_uint_eq(info_of(trid).advised_size, 0);
    let_chunks_go(&more);
    let_chunks_go(&holders);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);

    trid = open_log(fileno(file));
    ck_assert_uint_eq(limits_of(trid).refused_threads, 3);
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_NO_MEMORY], 3);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(file);
}
END_TEST

static void *prepare_only(void *nothing)
{
    ck_assert_int_eq(posixtrace_prepare(), 0);
    return nothing;
}

/* What a stopped LOOP stream has stays, whoever is prepared for its next start. */
START_TEST(prepared_while_stopped)
{
    trace_id_t trid = create(65536, 64, POSIX_TRACE_LOOP, -1);
    uint64_t lost;
    pthread_t thread;

    trace(20000);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    lost = info_of(trid).lost[POSIXTRACE_LOST_OVERWRITTEN];
    ck_assert_uint_gt(lost, 0);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, prepare_only, NULL), 0);
        pthread_join(thread, NULL);
    }
    ck_assert_uint_eq(info_of(trid).lost[POSIXTRACE_LOST_OVERWRITTEN], lost);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* A query of the accounts of a stream with log does not keep the slot of an ended thread from the
 * next threads.  LOOP: no flush round comes that would release it. */
START_TEST(ended_threads_after_a_look_at_the_books)
{
    enum { LOOKS = 5, THREADS = 10 };
    FILE *file = tmpfile();
    trace_id_t trid = create(1 << 20, 64, POSIX_TRACE_LOOP, fileno(file));
    struct pt_seg *seg = segment_of(trid);
    struct chunk_holders holders;

    for (unsigned i = 1; i <= LOOKS; i++) {
        hold_chunks(&holders, THREADS, tick);
        let_chunks_go(&holders);
        ck_assert_uint_eq(info_of(trid).events, i * THREADS);
    }
    for (uint32_t i = 0; i < pt_slot_count(seg); i++)
        ck_assert_uint_ne(pt_load_relaxed(&pt_seg_slot(seg, i)->state) & 0xff, PT_SLOT_CLAIMED);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);

    trid = open_log(fileno(file));
    ck_assert_uint_eq(info_of(trid).events, LOOKS * THREADS + 2); /* START and STOP */
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(file);
}
END_TEST

static size_t each_bytes;
static unsigned each_events;
static pthread_barrier_t all_there;

static void *trace_a_share(void *nothing)
{
    static const char data[PT_MAX_DATA];

    (void)nothing;
    pthread_barrier_wait(&all_there);
    for (unsigned i = 0; i < each_events; i++)
        posix_trace_event(tick, data, each_bytes);
    /* Keeps its chunk until all have traced. */
    pthread_barrier_wait(&all_there);
    return NULL;
}

static struct posixtrace_info trace_shares(size_t size, size_t max_data)
{
    trace_id_t trid = create(size, max_data, POSIX_TRACE_UNTIL_FULL, -1);
    struct posixtrace_info info;
    pthread_t threads[WRITERS];

    pthread_barrier_init(&all_there, NULL, WRITERS);
    for (unsigned i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, trace_a_share, NULL), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_there);
    info = info_of(trid);
    ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_FULL],
                      (uint64_t)WRITERS * each_events);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    return info;
}

/* The sizes lie where a larger stream has longer chunks, and where records fill most of one. */
START_TEST(advice_is_enough)
{
    static const struct {
        size_t size, max_data, bytes;
        unsigned events;
    } cases[] = {
        { 65536, 64, 8, 3000 },       { 65536, 8000, 4100, 60 }, { 1 << 20, 4096, 8, 5000 },
        { 4190000, 8000, 4100, 150 }, { 8190000, 64, 64, 8000 }, { 300000, 61440, 33000, 20 },
    };

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct posixtrace_info info;

        each_bytes = cases[i].bytes;
        each_events = cases[i].events;
        info = trace_shares(cases[i].size, cases[i].max_data);
        ck_assert_uint_gt(info.lost[POSIXTRACE_LOST_FULL], 0);
        ck_assert_uint_gt(info.advised_size, cases[i].size);
        info = trace_shares(info.advised_size, cases[i].max_data);
        ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 0);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, more_than_255_children);
    tcase_add_test(t, children_one_after_another);
    tcase_add_test(t, zombies);
    tcase_add_test(t, refused_processes);
    tcase_add_test(t, refused_and_filtered);
    tcase_add_test(t, refused_threads);
    tcase_add_test(t, prepared_while_stopped);
    tcase_add_test(t, ended_threads_after_a_look_at_the_books);
    tcase_add_test(t, advice_is_enough);
}

int main(void)
{
    return run_suite("limits", "stream", NULL, add);
}
