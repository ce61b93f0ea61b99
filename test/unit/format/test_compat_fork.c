/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process forks while its threads are in calls of the recording interfaces, all the time; each
 * child uses the same calls.  A child that hangs is killed by its alarm.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <posixtrace/qnx.h>
#include <posixtrace/rkh.h>
#include "shark_bench.h"
#include "support/valgrind.h"

enum { FORKS = 100, THREADS = 4, HANG_S = 5 };

static bool end;

static void use_rkh(void)
{
    RKH_TRC_USR_BEGIN(1)
    RKH_TUSR_UI16(3, 1);
    RKH_TRC_USR_END();
}

static void use_qnx(void)
{
    static unsigned event; /* a type that is not open yet, at times */

    TraceEvent(_NTO_TRACE_QUERYEVENTS);
    TraceEvent(_NTO_TRACE_ADDEVENT, _NTO_TRACE_USER, 5);
    trace_logi(__atomic_fetch_add(&event, 1, __ATOMIC_RELAXED) % 500, 1, 2);
}

static void use_shark(void)
{
    FTrace_Chunk_Ptr *table = FTrace_get_chunk_table();

    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 2);
    (void)table;
}

static const char *sent_name;

static void send_shark(void)
{
    FTrace_init_disk_writer(sent_name, 0, NULL, NULL);
    FTrace_send_chunk(0, 0, FREE);
}

static void *use_always(void *context)
{
    void (*const *use)(void) = context;

    while (!__atomic_load_n(&end, __ATOMIC_RELAXED))
        (*use)();
    return NULL;
}

static void fork_while(void (*use)(void), void (*in_child)(void))
{
    struct th_thread threads[THREADS];

    __atomic_store_n(&end, false, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < THREADS; i++)
        th_thread_start(&threads[i], use_always, &use);
    for (unsigned i = 0; i < FORKS; i++) {
        pid_t child = fork();
        int status;

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            alarm(HANG_S);
            use();
            in_child();
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "child %u: status %#x", i, (unsigned)status);
    }
    __atomic_store_n(&end, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < THREADS; i++)
        th_thread_join(&threads[i]);
}

static void nothing(void)
{
}

START_TEST(rkh)
{
    RKH_FILTER_OFF_GROUP_ALL_EVENTS(RKH_TG_USR);
    fork_while(use_rkh, nothing);
}
END_TEST

START_TEST(qnx)
{
    ck_assert_int_ge(TraceEvent(_NTO_TRACE_STARTNOSTATE), 0);
    fork_while(use_qnx, nothing);
}
END_TEST

/* What shark.h says of a child. */
static void have_own_chunks(void)
{
    FTrace_Chunk_Ptr *table = FTrace_get_chunk_table();
    int own;

    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++)
        if (table[i])
            _exit(1);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 2); /* into none */
    own = FTrace_chunk_create(160, 0, FREE | STOP);
    if (own != 0 || FTrace_actual_chunk_select(own) != 0)
        _exit(2);
    sb_log(0, 3);
    table = FTrace_get_chunk_table();
    if (!table[own] || table[own]->events != 3 || table[own]->lost != 0)
        _exit(3);
}

START_TEST(shark_chunks)
{
    ck_ok(FTrace_actual_chunk_select(sb_chunk(1000, 0, FREE | CYC)));
    FTrace_enable();
    fork_while(use_shark, have_own_chunks);
    ck_assert_uint_gt(sb_look(0).events, 0);
    sb_clear();
}
END_TEST

START_TEST(shark_sending)
{
    char path[TH_PATH];

    close(th_file(path, O_RDWR));
    sent_name = path;
    ck_ok(FTrace_actual_chunk_select(sb_chunk(1000, 0, FREE | CYC)));
    FTrace_enable();
    fork_while(send_shark, have_own_chunks);
    sb_clear();
}
END_TEST

static volatile sig_atomic_t forked;

static void fork_in_handler(int unused)
{
    int saved = errno, status = -1;
    pid_t child;

    (void)unused;
    child = fork();
    forked++;
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(HANG_S);
        return; /* into the call */
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(1);
    errno = saved;
}

/* The handler interrupts the call anywhere, also where its thread has the mutex. */
static void interrupt_rkh(void *unused)
{
    struct itimerval timer = { .it_interval = { 0, 0 } };
    struct sigaction action = { .sa_handler = fork_in_handler, .sa_flags = SA_RESTART };
    pid_t parent = getpid();

    (void)unused;
    RKH_FILTER_OFF_GROUP_ALL_EVENTS(RKH_TG_USR);
    ck_ok(sigaction(SIGALRM, &action, NULL));
    for (int i = 0; i < FORKS; i++) {
        int seen = forked;

        timer.it_value.tv_usec = 50 + i;
        ck_ok(setitimer(ITIMER_REAL, &timer, NULL));
        while (forked == seen)
            use_rkh();
        use_rkh();
        if (getpid() != parent)
            _exit(0);
    }
}

START_TEST(rkh_handler)
{
    th_in_child(interrupt_rkh, NULL);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, rkh);
    tcase_add_test(tc, rkh_handler);
    tcase_add_test(tc, qnx);
    tcase_add_test(tc, shark_chunks);
    tcase_add_test(tc, shark_sending);
}

/* The sanitizers' allocators keep the locks that other threads had, in a child. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define ALLOCATOR_HANGS true
#else
#define ALLOCATOR_HANGS false
#endif

int main(void)
{
    if (ALLOCATOR_HANGS || is_under_valgrind())
        return TEST_SKIPPED;
    return th_main("compat fork", add);
}
