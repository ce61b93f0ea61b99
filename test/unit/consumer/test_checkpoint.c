/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The books over writers that come and go: more than a stream has slots for, and
 * more than its consumer keeps in mind, whose bound is lowered for that.  Each of
 * them is counted once: by the stream while it lives, by the log at its end, and
 * by log and segment together when the process was killed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <trace.h>
#include "base/clock.h"
#include "consumer/checkpoint.h"
#include "flush/state.h"
#include "log/writer/state.h"
#include "place/dir.h"
#include "shm/pool.h"
#include "shm/slot.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/killed_child.h"
#include "support/log_file.h"
#include "support/rounds.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "writer/writer.h"

enum { BATCHES = 60, TOGETHER = 8, EVENTS = 5, BATCH = (TOGETHER + 1) * EVENTS, KEPT = 64 };

static trace_event_id_t event_id;
static size_t log_size; /* 0: the usual one */
static bool dies;       /* right after the next checkpoint */

void __real_pt_checkpoint_leave(struct pt_accounts *a, const struct pt_losses *losses,
                                enum pt_window_then window, const struct pt_log_books *log);
void __wrap_pt_checkpoint_leave(struct pt_accounts *a, const struct pt_losses *losses,
                                enum pt_window_then window, const struct pt_log_books *log);

void __wrap_pt_checkpoint_leave(struct pt_accounts *a, const struct pt_losses *losses,
                                enum pt_window_then window, const struct pt_log_books *log)
{
    __real_pt_checkpoint_leave(a, losses, window, log);
    if (dies)
        kill(getpid(), SIGKILL);
}

static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };

static const int log_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

/* fd -1: without a log. */
static trace_id_t make_of(int policy, int log_policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("books", &event_id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 8 << 10), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    if (fd >= 0)
        ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
    if (log_size)
        ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, log_size), 0);
    if (fd < 0)
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    return trid;
}

static trace_id_t make(int policy, int fd)
{
    return make_of(policy, POSIX_TRACE_APPEND, fd);
}

static struct pt_consumer *live_of(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct pt_consumer *l;

    ck_assert_ptr_nonnull(s);
    l = &s->live;
    pt_handle_put(s);
    return l;
}

/* Ended threads are forgotten early, also by the log.  The counts of looks and of rounds, by which
 * that is decided, pass the end of their 32 bits meanwhile. */
static void keep_few(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct pt_consumer *l = &s->live;

    if (s->flusher)
        s->flusher->writer->totals.max = KEPT;
    pt_handle_put(s);
    l->accounts.max = KEPT;
    l->accounts.look = l->accounts.released = UINT32_MAX - 5;
}

static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;
    /* valgrind runs one thread at a time: this one has to let go of its turn. */
    const struct timespec turn = { 0, 100000 };

    ck_assert_int_eq(posix_trace_flush(trid), 0);
    for (;;) {
        ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
        if (status.posix_stream_flush_status != POSIX_TRACE_FLUSHING)
            break;
        nanosleep(&turn, NULL);
    }
}

static void *trace_some(void *nothing)
{
    for (unsigned i = 0; i < EVENTS; i++)
        posix_trace_event(event_id, "012345678901234567890", 20);
    return nothing;
}

static uint64_t trace_batch(void)
{
    pthread_t threads[TOGETHER];

    for (unsigned i = 0; i < TOGETHER; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, trace_some, NULL), 0);
    for (unsigned i = 0; i < TOGETHER; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    trace_some(NULL); /* and one that stays */
    return BATCH;
}

static uint64_t lost_in(const struct posixtrace_info *info)
{
    uint64_t n = 0;

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        n += info->lost[c];
    return n;
}

static void add_thread(const struct posixtrace_thread_info *t, uint64_t *recorded, uint64_t *lost)
{
    *recorded += t->recorded;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        *lost += t->lost[c];
}

/* The threads, those without a name included, are the whole. */
static void list_threads(trace_id_t trid, uint64_t *recorded, uint64_t *lost)
{
    struct posixtrace_thread_info t;
    int none;

    ck_assert_int_eq(posixtrace_threadlist_rewind(trid), 0);
    for (*recorded = *lost = 0;;) {
        ck_assert_int_eq(posixtrace_threadlist_getnext(trid, &t, sizeof t, &none), 0);
        if (none)
            return;
        add_thread(&t, recorded, lost);
    }
}

/* Events without room were not recorded; overwritten events were.  During a round an event may be
 * refused between the two counts. */
static void check_live(trace_id_t trid, uint64_t traced)
{
    uint64_t listed, lost;
    struct posixtrace_info info, after;

    ck_assert_int_eq(posixtrace_get_info(trid, &after, sizeof after), 0);
    do {
        info = after;
        ck_assert_uint_eq(info.events + info.lost[POSIXTRACE_LOST_FULL], traced);
        ck_assert_uint_eq(lost_in(&info),
                          info.lost[POSIXTRACE_LOST_FULL] + info.lost[POSIXTRACE_LOST_OVERWRITTEN]);
        list_threads(trid, &listed, &lost);
        ck_assert_int_eq(posixtrace_get_info(trid, &after, sizeof after), 0);
    } while (after.events != info.events || lost_in(&after) != lost_in(&info));
    ck_assert_uint_eq(listed, info.events);
    ck_assert_uint_eq(lost, lost_in(&info));
}

/* How many events of ours there are still to be read. */
static uint64_t read_all(trace_id_t trid)
{
    struct posixtrace_event event;
    uint64_t read = 0;
    int none;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &event, sizeof event, &none), 0);
        if (none)
            return read;
        read += event.data_len == 20;
    }
}

static void check_log(int fd, uint64_t traced)
{
    struct posixtrace_info info;
    uint64_t read, listed, lost;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    read = read_all(trid);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(read + lost_in(&info), traced);
    list_threads(trid, &listed, &lost);
    ck_assert_uint_eq(listed, traced - info.lost[POSIXTRACE_LOST_FULL]);
    ck_assert_uint_eq(lost, lost_in(&info));
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* often: each batch is flushed; else one in ten. */
static uint64_t trace_all(trace_id_t trid, bool often)
{
    uint64_t traced = 0;

    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned n = 0; n < BATCHES; n++) {
        traced += trace_batch();
        if (often || n % 10 == 3)
            flush(trid);
        if (n % 7 == 0)
            check_live(trid, traced);
    }
    return traced;
}

START_TEST(forgotten)
{
    int fd = log_file();
    trace_id_t trid = make_of(policies[_i / 2 % 3], log_policies[_i / 6], fd);
    struct pt_consumer *l = live_of(trid);
    uint64_t traced;

    keep_few(trid);
    traced = trace_all(trid, _i % 2);
    ck_assert_uint_gt(l->accounts.folded.next, 0);
    ck_assert_uint_lt(l->accounts.released, UINT32_MAX - 5);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_log(fd, traced);
    close(fd);
}
END_TEST

static void *trace_until_lost(void *stream)
{
    const trace_id_t *trid = stream;
    struct posixtrace_info info;

    do {
        for (unsigned i = 0; i < 200; i++)
            trace_some(NULL);
        ck_assert_int_eq(posixtrace_get_info(*trid, &info, sizeof info), 0);
    } while (lost_in(&info) == 0);
    return NULL;
}

/* A thread loses events and is forgotten. */
static void lose_some(trace_id_t trid)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, trace_until_lost, &trid), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    for (unsigned n = 0; n < 2 * KEPT / TOGETHER; n++) {
        trace_batch();
        flush(trid);
    }
}

/* A clear takes no loss back, also of threads that were forgotten before it. */
START_TEST(forgotten_and_cleared)
{
    int fd = log_file();
    trace_id_t trid = make_of(POSIX_TRACE_FLUSH, log_policies[_i], fd), log;
    struct pt_consumer *l = live_of(trid);
    struct posixtrace_info info, end;
    uint64_t listed, lost;

    keep_few(trid);
    trace_all(trid, false);
    lose_some(trid);
    ck_assert_uint_gt(l->accounts.folded.next, 0);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    trace_batch();
    flush(trid); /* an event may be refused when it is read */
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_gt(lost_in(&info), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    ck_assert_int_eq(posixtrace_get_info(log, &end, sizeof end), 0);
    list_threads(log, &listed, &lost);
    ck_assert_uint_eq(lost_in(&end), lost_in(&info));
    ck_assert_uint_eq(lost, lost_in(&info));
    ck_assert_int_eq(posix_trace_close(log), 0);
    close(fd);
}
END_TEST

/* Of a stream that is read now and then. */
START_TEST(forgotten_without_log)
{
    trace_id_t trid = make(policies[_i], -1);
    struct pt_consumer *l = live_of(trid);
    uint64_t traced = 0, read = 0;
    struct posixtrace_info info;

    keep_few(trid);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned n = 0; n < BATCHES; n++) {
        traced += trace_batch();
        if (n % 10 == 3)
            read += read_all(trid);
        if (n % 3 == 0)
            check_live(trid, traced);
    }
    read += read_all(trid);
    ck_assert_uint_gt(l->accounts.folded.next, 0);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(read + lost_in(&info), traced);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* The list of threads is of the moment of its first call, whatever is forgotten meanwhile. */
START_TEST(forgotten_while_listed)
{
    int fd = log_file(), none = 0;
    trace_id_t trid = make(POSIX_TRACE_UNTIL_FULL, fd);
    struct pt_consumer *l = live_of(trid);
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    uint64_t recorded = 0, lost = 0, folded;

    keep_few(trid);
    trace_all(trid, true);
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(posixtrace_threadlist_rewind(trid), 0);
    ck_assert_int_eq(posixtrace_threadlist_getnext(trid, &t, sizeof t, &none), 0);
    folded = l->accounts.folded.recorded;
    for (unsigned n = 0; n < BATCHES; n++) {
        trace_batch();
        flush(trid);
    }
    ck_assert_uint_gt(l->accounts.folded.recorded, folded);
    while (!none) {
        add_thread(&t, &recorded, &lost);
        ck_assert_int_eq(posixtrace_threadlist_getnext(trid, &t, sizeof t, &none), 0);
    }
    ck_assert_uint_eq(recorded, info.events);
    ck_assert_uint_eq(lost, lost_in(&info));
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(fd);
}
END_TEST

/* Traces a first event, and waits. */
static void *stand(void *barrier)
{
    trace_some(NULL);
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

struct stander {
    pthread_barrier_t barrier;
    pthread_t thread;
    struct pt_slot *slot;
};

static void stop_inside(struct stander *s, trace_id_t trid)
{
    pthread_barrier_init(&s->barrier, NULL, 2);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, stand, &s->barrier), 0);
    pthread_barrier_wait(&s->barrier);
    s->slot = slot_of_last_writer(live_of(trid)->seg);
    pt_store_seqcst(&s->slot->inside, (uint64_t)-1);
}

static void end_stander(struct stander *s)
{
    pt_store_seqcst(&s->slot->inside, (uint64_t)0);
    pthread_barrier_wait(&s->barrier);
    ck_assert_int_eq(pthread_join(s->thread, NULL), 0);
}

/* A thread is stopped inside an event for some rounds: the events of threads that end meanwhile
 * wait in their chunks, so none of these tallies is forgotten. */
START_TEST(not_forgotten_before_their_events)
{
    int fd = log_file();
    trace_id_t trid = make(POSIX_TRACE_UNTIL_FULL, fd);
    struct pt_consumer *l = live_of(trid);
    struct stander stander;
    uint64_t traced = EVENTS;

    l->accounts.max = 1;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    stop_inside(&stander, trid);
    for (unsigned n = 0; n < 6; n++) {
        traced += trace_batch();
        flush(trid);
    }
    pt_store_seqcst(&stander.slot->inside, (uint64_t)0);
    for (unsigned n = 0; n < 3; n++)
        flush(trid);
    check_live(trid, traced);
    end_stander(&stander);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    check_log(fd, traced);
    close(fd);
}
END_TEST

/* The log that the child has left, before and after its recovery. */
static void check_killed(pid_t pid, int fd, uint64_t traced)
{
    struct posixtrace_recover_report report;

    await_kill(pid);
    check_log(fd, traced);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    check_log(fd, traced);
    close(fd);
}

START_TEST(forgotten_and_killed)
{
    int fd = log_file();
    struct posixtrace_recover_report report;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = make_of(policies[_i / 2 % 3], log_policies[_i / 6], fd);

        keep_few(trid);
        trace_all(trid, _i % 2);
        kill(getpid(), SIGKILL);
    }
    await_kill(pid);
    check_log(fd, (uint64_t)BATCHES * BATCH);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(report.segment_found, 1);
    check_log(fd, (uint64_t)BATCHES * BATCH);
    close(fd);
}
END_TEST

/* Between the books of a round and the release of the slots whose counts it has:
 * those are in the sums, and still in the slots. */
static void die_with_slots_claimed(trace_id_t trid)
{
    struct pt_stream *s = hold_rounds(trid);
    struct pt_consumer *l = &s->live;
    const struct pt_seg_header *h = l->seg->h;
    const struct pt_checkpoint *last;
    struct pt_log_books log;

    trace_batch();
    pt_accounts_take(&l->accounts, l->finished);
    if (l->accounts.ended_count == 0)
        _exit(1);
    last = &h->books[h->books_now & 1u];
    log = (struct pt_log_books){ last->lsn,
                                 last->events,
                                 last->waiting,
                                 last->log_full,
                                 last->log_overwritten,
                                 last->log_error,
                                 0,
                                 0 };
    pt_checkpoint_leave(&l->accounts, &l->losses,
                        l->windows.open ? PT_WINDOW_OPEN : PT_WINDOW_CLOSED, &log);
    kill(getpid(), SIGKILL);
}

START_TEST(killed_before_slots_are_free)
{
    int fd = log_file();
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = make(policies[_i], fd);

        trace_all(trid, false);
        die_with_slots_claimed(trid);
    }
    await_kill(pid);
    check_log(fd, (uint64_t)(BATCHES + 1) * BATCH);
    close(fd);
}
END_TEST

/* A process that starts a stream, and then dies. */
static pid_t start_in_child_of(int policy, int log_policy, int fd, void (*die)(trace_id_t))
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = make_of(policy, log_policy, fd);

        if (posix_trace_start(trid) != 0)
            _exit(1);
        die(trid);
    }
    return pid;
}

static pid_t start_in_child(int policy, int fd, void (*die)(trace_id_t))
{
    return start_in_child_of(policy, POSIX_TRACE_APPEND, fd, die);
}

static void die_cleared(trace_id_t trid)
{
    trace_some(NULL);
    if (posix_trace_clear(trid) != 0)
        _exit(1);
    kill(getpid(), SIGKILL);
}

/* No round has met the writer when the stream is cleared: nothing of it is lost. */
START_TEST(cleared_and_killed)
{
    int fd = log_file();

    check_killed(start_in_child(policies[_i], fd, die_cleared), fd, 0);
}
END_TEST

/* Between the packets of a round and its books: those of the round before count.
 * The rounds see only a writer that stays, so no slot changes hands in them. */
static void die_without_last_books(trace_id_t trid)
{
    struct pt_consumer *l = live_of(trid);

    flush(trid);
    flush(trid);
    trace_some(NULL);
    flush(trid);
    hold_rounds(trid);
    posix_trace_event(event_id, "012345678901234567890", 20);
    pt_add_seqcst(&l->seg->h->books_now, (uint64_t)-1);
    kill(getpid(), SIGKILL);
}

/* The control writer's chunk has been read and given back, and the stream is stopped without room
 * for a STOP: no chunk says that the window was open for the events that were not read yet. */
static void die_without_control_chunk(trace_id_t trid)
{
    struct pt_stream *s;
    struct pt_seg *seg;
    uint64_t state;

    trace_some(NULL);
    flush(trid);
    flush(trid);
    s = hold_rounds(trid);
    seg = s->live.seg;
    trace_some(NULL);
    pt_writer_close_chunk(&s->writer);
    for (uint32_t i = 0; i < pt_seg_chunk_count(seg); i++) {
        uint64_t word = pt_load_acquire(&pt_seg_info(seg, i)->word);

        if (pt_word_state(word) == PT_CHUNK_FULL &&
            pt_seg_chunk(seg, i)->author.level == PT_LEVEL_CONTROL)
            pt_pool_free(seg, i, word);
    }
    seg->h->window = 0;
    state = pt_load_seqcst(&seg->h->state);
    pt_state_change(seg->h, &state, PT_SUSPENDED, pt_clock_now(seg->g.clock));
    kill(getpid(), SIGKILL);
}

START_TEST(killed_without_control_chunk)
{
    int fd = log_file();

    check_killed(start_in_child(policies[_i], fd, die_without_control_chunk), fd, 2 * EVENTS);
}
END_TEST

START_TEST(killed_before_books)
{
    int fd = log_file();
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        trace_id_t trid = make(policies[_i], fd);

        trace_all(trid, true);
        die_without_last_books(trid);
    }
    await_kill(pid);
    check_log(fd, (uint64_t)BATCHES * BATCH + EVENTS + 1);
    close(fd);
}
END_TEST

/* Events of the program, read or lost.  The log also loses events of the system, of no thread. */
static void check_threads(int fd, uint64_t traced)
{
    uint64_t read, listed, lost;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    read = read_all(trid);
    list_threads(trid, &listed, &lost);
    ck_assert_uint_eq(read + lost, traced);
    ck_assert_uint_eq(listed, traced);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* Between a checkpoint and the positions in the chunks.  A thread inside an event holds back those
 * of others, whose slots are released meanwhile. */
static void die_before_positions(trace_id_t trid)
{
    struct stander stander;

    stop_inside(&stander, trid);
    trace_batch();
    for (unsigned n = 0; n < 3; n++)
        flush(trid);
    pt_store_seqcst(&stander.slot->inside, (uint64_t)0);
    dies = true;
    flush(trid);
}

/* The log loses all events: only the positions of the checkpoint show that it had them. */
START_TEST(killed_before_positions)
{
    int fd = log_file();
    struct posixtrace_recover_report report;
    pid_t pid;

    log_size = 1;
    pid = start_in_child_of(policies[_i % 3], log_policies[_i / 3], fd, die_before_positions);
    log_size = 0;
    await_kill(pid);
    check_threads(fd, EVENTS + BATCH);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    check_threads(fd, EVENTS + BATCH);
    close(fd);
}
END_TEST

static bool is_there(const char *file)
{
    int dir = pt_dir_open(false);
    bool is = faccessat(dir, file, F_OK, 0) == 0;

    close(dir);
    return is;
}

/* What a dead stream says of its files removes no other file of the directory. */
START_TEST(killed_with_a_wrong_name)
{
    int fd = log_file(), dir = pt_dir_open(true), status, ends[2];
    struct posixtrace_recover_report report;
    char segment[64], names[64];
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    close(openat(dir, "bystander", O_WRONLY | O_CREAT, 0600));
    close(dir);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct pt_seg *seg = live_of(make(POSIX_TRACE_FLUSH, fd))->seg;

        strcpy(seg->h->names_file, "bystander");
        if (write(ends[1], seg->file, sizeof seg->file) == (ssize_t)sizeof seg->file)
            kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(read(ends[0], segment, sizeof segment), sizeof segment);
    pt_seg_names_file(segment, names);
    ck_assert(is_there(segment) && is_there(names));
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    ck_assert_int_eq(report.segment_found, 1);
    ck_assert(is_there("bystander") && !is_there(segment) && !is_there(names));
    close(fd);
}
END_TEST

/* Under valgrind, which takes half a minute for each: the policy that overwrites. */
static void expect_events(int fd, uint64_t events)
{
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_uint_eq(read_all(trid), events);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}

/* A thread inside an event holds back those of others: they stay in their chunks at a clear. */
static void die_after_a_clear(trace_id_t trid)
{
    struct stander stander;

    stop_inside(&stander, trid);
    trace_batch();
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    trace_some(NULL);
    kill(getpid(), SIGKILL);
}

START_TEST(held_back_at_a_clear)
{
    int fd = log_file();
    struct posixtrace_recover_report report;

    await_kill(start_in_child(policies[_i], fd, die_after_a_clear));
    expect_events(fd, EVENTS);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    expect_events(fd, EVENTS);
    close(fd);
}
END_TEST

/* To its end: the stream, or its log.  The events that were read. */
static uint64_t read_to_the_end(trace_id_t trid, int fd, struct posixtrace_info *info)
{
    uint64_t read;

    if (fd >= 0) {
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
        ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    }
    read = read_all(trid);
    ck_assert_int_eq(posixtrace_get_info(trid, info, sizeof *info), 0);
    if (fd < 0)
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    else
        ck_assert_int_eq(posix_trace_close(trid), 0);
    return read;
}

/* LOOP then overwrites their chunks: the events were cleared, and are not lost. */
START_TEST(held_back_and_overwritten)
{
    int fd = _i ? log_file() : -1;
    trace_id_t trid = make(POSIX_TRACE_LOOP, fd);
    struct stander stander;
    struct posixtrace_info info;
    uint64_t traced = 0, read;

    ck_assert_int_eq(posix_trace_start(trid), 0);
    stop_inside(&stander, trid);
    for (unsigned n = 0; n < 4; n++)
        trace_some(NULL);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    for (; traced < 400 * (uint64_t)EVENTS; traced += EVENTS)
        trace_some(NULL);
    end_stander(&stander);
    read = read_to_the_end(trid, fd, &info);
    ck_assert_uint_gt(lost_in(&info), 0);
    ck_assert_uint_eq(lost_in(&info), info.lost[POSIXTRACE_LOST_OVERWRITTEN]);
    ck_assert_uint_eq(read + lost_in(&info), traced);
}
END_TEST

/* Of two clears at once, that with the earlier time comes to the consumer last. */
START_TEST(earlier_clear_comes_late)
{
    int fd = _i ? log_file() : -1;
    trace_id_t trid = make(POSIX_TRACE_LOOP, fd);
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct posixtrace_info info;
    uint64_t earlier;

    ck_assert_int_eq(posix_trace_start(trid), 0);
    earlier = pt_clock_now(s->seg->g.clock);
    trace_some(NULL);
    ck_assert_int_eq(posix_trace_clear(trid), 0);
    trace_some(NULL);
    if (_i)
        flush(trid);
    ck_assert_int_eq(
        _i ? pt_flusher_clear(s->flusher, earlier) : pt_consumer_clear(&s->live, earlier), 0);
    ck_assert_uint_gt(s->live.clear_ts, earlier);
    pt_handle_put(s);
    ck_assert_uint_eq(read_to_the_end(trid, fd, &info), EVENTS);
}
END_TEST

static void add(TCase *tc)
{
    int part = getenv("POSIXTRACE_TEST_SHORT") ? 6 : 1;

    tcase_add_loop_test(tc, forgotten, 0, part > 1 ? 1 : 18);
    tcase_add_loop_test(tc, forgotten_and_killed, 0, part > 1 ? 1 : 18);
    tcase_add_loop_test(tc, forgotten_without_log, 0, part > 1 ? 1 : 2);
    tcase_add_loop_test(tc, forgotten_and_cleared, 0, part > 1 ? 1 : 3);
    tcase_add_test(tc, forgotten_while_listed);
    tcase_add_test(tc, not_forgotten_before_their_events);
    tcase_add_loop_test(tc, killed_without_control_chunk, 0, part > 1 ? 1 : 3);
    tcase_add_loop_test(tc, killed_before_slots_are_free, 0, part > 1 ? 1 : 3);
    tcase_add_loop_test(tc, killed_before_books, 0, part > 1 ? 1 : 3);
    tcase_add_loop_test(tc, killed_before_positions, 0, part > 1 ? 4 : 9);
    tcase_add_loop_test(tc, cleared_and_killed, 0, 3);
    tcase_add_loop_test(tc, held_back_at_a_clear, 0, 3);
    tcase_add_loop_test(tc, held_back_and_overwritten, 0, 2);
    tcase_add_loop_test(tc, earlier_clear_comes_late, 0, 2);
    tcase_add_test(tc, killed_with_a_wrong_name);
}

int main(void)
{
    return run_suite("consumer checkpoint", "books", NULL, add);
}
