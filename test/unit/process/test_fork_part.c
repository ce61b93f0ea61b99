/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A fork inside an event, as a signal handler may make it, where the process has opened less
 * of the stream's segment than the event is about to use, or has mapped a part of it only
 * (RLIMIT_AS).  The child's half of the event comes to its end in its private copy of the
 * segment.  mprotect(), with which an event opens chunks, and pt_self_segment(), which an
 * event without a slot calls, go through the test.  A process that can have no more mappings
 * makes the private copy inaccessible.
 */
#include <posixtrace/filter.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "process/thread.h"
#include "support/limit_space.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, HOLDERS = 40, MOST = 100000 };

int __real_mprotect(void *p, size_t n, int protection);
int __wrap_mprotect(void *p, size_t n, int protection);
struct pt_seg *__real_pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch);
struct pt_seg *__wrap_pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch);

static bool forks_at_mprotect, forks_at_segment;
static pid_t child = -1;

/* The parent waits: what the child does comes first. */
static void fork_here(void)
{
    int status;

    forks_at_mprotect = forks_at_segment = false;
    child = fork();
    NEED(child >= 0);
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        dprintf(2, "the child: wait status %#x\n", (unsigned)status);
        _exit(1);
    }
}

int __wrap_mprotect(void *p, size_t n, int protection)
{
    int r = __real_mprotect(p, n, protection);

    if (forks_at_mprotect)
        fork_here();
    return r;
}

struct pt_seg *__wrap_pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    struct pt_seg *seg = __real_pt_self_segment(self, bit, epoch);

    if (forks_at_segment)
        fork_here();
    return seg;
}

/* One event, with which the child ends. */
static void trace(void)
{
    posix_trace_event(TYPE, NULL, 0);
    if (child == 0)
        _exit(0);
}

static void expect_byte(int fd)
{
    char byte;

    NEED(read(fd, &byte, 1) == 1);
}

static void send_byte(int fd)
{
    NEED(write(fd, "", 1) == 1);
}

static trace_id_t create(pid_t target, size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, size), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(target, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

/* The end of a child's socket; *pid: 0 in the child. */
static int start(pid_t *pid)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    *pid = fork();
    ck_assert_int_ge(*pid, 0);
    close(ends[*pid == 0]);
    return ends[*pid != 0];
}

static void reap(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* ---- chunks that an event opens ---- */

static pthread_barrier_t held, let_go;

static void *hold(void *unused)
{
    (void)unused;
    posix_trace_event(TYPE, NULL, 0);
    pthread_barrier_wait(&held);
    pthread_barrier_wait(&let_go);
    return NULL;
}

/* It knows of the base's chunks, which others write in by then: the next one that it takes is one
 * that it has to open. */
static void be_writer(int creator)
{
    trace();
    send_byte(creator);
    expect_byte(creator);
    forks_at_mprotect = true;
    for (unsigned i = 0; i < MOST && forks_at_mprotect; i++)
        trace();
    NEED(child > 0);
    _exit(0);
}

START_TEST(chunks)
{
    trace_id_t trid = create(0, 64 << 10);
    pthread_t thread[HOLDERS];
    pid_t writer;
    int end = start(&writer);

    if (writer == 0)
        be_writer(end);
    expect_byte(end);
    pthread_barrier_init(&held, NULL, HOLDERS + 1);
    pthread_barrier_init(&let_go, NULL, HOLDERS + 1);
    for (unsigned i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, hold, NULL), 0);
    pthread_barrier_wait(&held);
    ck_assert_uint_gt(pt_seg_chunk_count(segment_of(trid)), segment_of(trid)->g.base_chunks);
    send_byte(end);
    reap(writer);
    pthread_barrier_wait(&let_go);
    for (unsigned i = 0; i < HOLDERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(end);
}
END_TEST

/* ---- a segment that is mapped in part ---- */

static const struct {
    size_t size;
    rlim_t space;
    bool has_chunks;
} parts[] = {
    { 64 << 10, 10 * MIB, false },
    { 16 << 20, 32 * MIB, true }, /* some of the base's */
    { 64 << 10, 64 * MIB, true },
};

static sem_t go;

static void *trace_later(void *unused)
{
    (void)unused;
    NEED(sem_wait(&go) == 0);
    trace();
    return NULL;
}

/* The second thread has no slot yet when its event finds the segment. */
static void be_traced(int controller, unsigned part)
{
    trace_event_id_t type;
    pthread_t thread;

    NEED(posix_trace_eventid_open("known before", &type) == 0);
    NEED(sem_init(&go, 0, 0) == 0);
    NEED(pthread_create(&thread, NULL, trace_later, NULL) == 0);
    send_byte(controller);
    expect_byte(controller);
    limit_space(parts[part].space);
    trace();
    forks_at_segment = true;
    NEED(sem_post(&go) == 0 && pthread_join(thread, NULL) == 0);
    NEED(child > 0);
    _exit(0);
}

START_TEST(part)
{
    struct posixtrace_info info;
    trace_id_t trid;
    pid_t target;
    int end = start(&target);

    if (target == 0)
        be_traced(end, (unsigned)_i);
    expect_byte(end);
    trid = create(target, parts[_i].size);
    send_byte(end);
    reap(target);
    info = info_of(trid);
    ck_assert_uint_eq(info.events, parts[_i].has_chunks ? 2 : 0);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_NO_MEMORY], parts[_i].has_chunks ? 0 : 2);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(end);
}
END_TEST

/* ---- a process that has as many mappings as the kernel allows ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1 /* they map memory of their own */
#else
#define SANITIZED 0
#endif

enum { MAPPINGS_MOST = 100000, BEFORE = 5, AFTER = 20, HEAP_KEPT = 8 << 20 };

static int to_child[2];

static unsigned long most_mappings(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    unsigned long most = 0;

    if (f && fscanf(f, "%lu", &most) != 1)
        most = 0;
    if (f)
        fclose(f);
    return most;
}

/* Each has another protection than its neighbour, so that the kernel merges none. */
static void use_up_mappings(void)
{
    for (unsigned i = 0; i < MAPPINGS_MOST; i++)
        if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            return;
}

/* Called inside an event.  The child returns into it when its parent has recorded more. */
static bool fork_without_mappings(void *count, const struct posixtrace_event *event)
{
    unsigned *events = count;

    (void)event;
    if ((*events)++ == BEFORE) {
        use_up_mappings();
        child = fork();
        if (child == 0)
            expect_byte(to_child[0]);
    }
    return true;
}

static void be_crowded(void)
{
    struct posixtrace_info info;
    unsigned events = 0;
    trace_id_t trid = create(0, 64 << 10);
    int status;

    /* The heap has room for what posixtrace_get_info() allocates, and keeps it: without mappings it
     * cannot grow. */
    NEED(mallopt(M_MMAP_THRESHOLD, HEAP_KEPT) && mallopt(M_TRIM_THRESHOLD, 2 * HEAP_KEPT));
    free(malloc(HEAP_KEPT - 1));
    NEED(pipe(to_child) == 0);
    NEED(posixtrace_set_handler(trid, TYPE, fork_without_mappings, &events) == 0);
    info = info_of(trid);
    for (unsigned i = 0; i < BEFORE + AFTER; i++)
        trace();
    send_byte(to_child[1]);
    NEED(waitpid(child, &status, 0) == child);
    NEED(info_of(trid).events == info.events + BEFORE + AFTER);
    _exit(0);
}

/* The child's half of the event changes nothing that its parent has, even if it cannot end. */
START_TEST(mappings)
{
    pid_t pid;
    int end;

    if (most_mappings() == 0 || most_mappings() > MAPPINGS_MOST)
        return;
    end = start(&pid);
    if (pid == 0)
        be_crowded();
    reap(pid);
    close(end);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, chunks);
    tcase_add_loop_test(tc, part, 0, sizeof parts / sizeof *parts);
    if (!SANITIZED)
        tcase_add_test(tc, mappings);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return run_suite("process fork_part", "stream fork_part", NULL, add);
}
