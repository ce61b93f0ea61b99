/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A fork while an event maps the segment of its stream, as a signal handler may: the process
 * does not know the mapping yet, so the child's half of the event has the shared one.  A loss there
 * is counted once, by the parent.  A signal that comes then, whose handler leaves by siglongjmp(),
 * leaves nothing half-way.  The test wraps pt_seg_open_to_write().
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "process/thread.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "support/valgrind.h"

enum { TYPE = POSIX_TRACE_UNNAMED_USER_EVENT, MISSED = 3 };

int __real_pt_seg_open_to_write(struct pt_seg *seg, const char *file);
int __wrap_pt_seg_open_to_write(struct pt_seg *seg, const char *file);

static bool forks, raises; /* the next event that maps a segment */
static unsigned opened;
static pid_t child = -1;

/* The parent waits: what the child does comes first. */
static void fork_here(void)
{
    int status;

    forks = false;
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child > 0)
        ck_assert(waitpid(child, &status, 0) == child && status == 0);
}

int __wrap_pt_seg_open_to_write(struct pt_seg *seg, const char *file)
{
    int r = __real_pt_seg_open_to_write(seg, file);

    opened++;
    if (forks && r == 0)
        fork_here();
    if (raises && r == 0) {
        raises = false;
        raise(SIGUSR1);
    }
    return r;
}

static void trace_and_fork(void)
{
    forks = true;
    posix_trace_event(TYPE, NULL, 0);
    ck_assert(!forks);
    if (child == 0)
        _exit(0);
}

/* The process can open no file when its first events come. */
static void miss_some(void)
{
    struct rlimit limit, none;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){ 0, limit.rlim_max };
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < MISSED; i++)
        posix_trace_event(TYPE, NULL, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    trace_and_fork();
}

/* An event of a handler, as deep as they can be: their frames are above ours. */
static void nest(void)
{
    struct pt_thread *t = pt_thread_get(pt_self_peek());

    ck_assert_ptr_nonnull(t);
    pt_store_seqcst(&t->word, pt_thread_word(t->stack_top - 16, PT_LEVELS));
    trace_and_fork();
    pt_store_seqcst(&t->word, (uint64_t)PT_THREAD_IDLE);
}

static void expect_byte(int fd)
{
    char byte;

    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

static void send_byte(int fd)
{
    ck_assert_int_eq(write(fd, "", 1), 1);
}

static const struct {
    void (*run)(void);
    unsigned cause;
    uint64_t lost;
} cases[] = {
    { miss_some, POSIXTRACE_LOST_NO_MEMORY, MISSED },
    { nest, POSIXTRACE_LOST_NESTED, 1 },
};

static void be_traced(int controller, void (*run)(void))
{
    trace_event_id_t type;

    ck_assert_int_eq(posix_trace_eventid_open("known before", &type), 0);
    send_byte(controller);
    expect_byte(controller);
    run();
    _exit(0);
}

/* Runs it in another process, for which there is a stream. */
static trace_id_t trace_other(void (*run)(void))
{
    int ends[2], status;
    trace_id_t trid;
    pid_t target;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    target = fork();
    ck_assert_int_ge(target, 0);
    if (target == 0)
        be_traced(ends[1], run);
    close(ends[1]);
    expect_byte(ends[0]);
    ck_assert_int_eq(posix_trace_create(target, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    send_byte(ends[0]);
    ck_assert_int_eq(waitpid(target, &status, 0), target);
    ck_assert_int_eq(status, 0);
    close(ends[0]);
    return trid;
}

START_TEST(counted_once)
{
    trace_id_t trid = trace_other(cases[_i].run);
    struct posixtrace_info info = info_of(trid);

    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], c == cases[_i].cause ? cases[_i].lost : 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static sigjmp_buf before;

static void leave(int number)
{
    siglongjmp(before, number);
}

static void trace_and_leave(void)
{
    int cancel;

    ck_assert_ptr_ne(signal(SIGUSR1, leave), SIG_ERR);
    raises = true;
    if (sigsetjmp(before, 1) == 0) {
        posix_trace_event(TYPE, NULL, 0);
        ck_assert_msg(0, "the handler has not run");
    }
    ck_assert_int_eq(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel), 0);
    ck_assert_int_eq(cancel, PTHREAD_CANCEL_ENABLE);
    posix_trace_event(TYPE, NULL, 0);
    ck_assert_uint_eq(opened, 1);
}

START_TEST(left_by_siglongjmp)
{
    trace_id_t trid = trace_other(trace_and_leave);

    ck_assert_uint_ge(info_of(trid).events, 1);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, left_by_siglongjmp);
    tcase_add_loop_test(tc, counted_once, 0, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    if (is_under_valgrind())
        return TEST_SKIPPED;
    return run_suite("process fork_mapping", "stream fork_mapping", NULL, add);
}
