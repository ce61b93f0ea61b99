/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events under a filter of system calls that kills the process at any other one: the lists are
 * those of posixtrace(7), section System calls, for a thread that has recorded before, for one
 * that has not, for a thread that ends, for an event in a signal handler that has interrupted
 * another one, and for a process that has not called the library.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/context.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/stream.h>
#include <posixtrace/typed.h>
#include <trace.h>
#include "base/atomics.h"
#include "process/self.h"
#include "shm/segment.h"
#include "support/need.h"
#include "support/valgrind.h"

enum { EVENTS = 40000, HANG_S = 60, MOST_CALLS = 96 };

/* exit_group is the test's own. */
static const int always[] = { SYS_exit_group, SYS_clock_gettime,
#ifdef SYS_clock_gettime64
                              SYS_clock_gettime64,
#endif
                              -1 };

static const int chunk[] = { SYS_close,
                             SYS_futex,
                             SYS_getpid,
                             SYS_gettid,
                             SYS_kill,
                             SYS_madvise,
                             SYS_mprotect,
                             SYS_openat,
                             SYS_read,
                             SYS_readlinkat,
                             SYS_rt_sigprocmask,
                             SYS_faccessat,
                             SYS_tgkill,
                             SYS_tkill,
#ifdef SYS_readlink
                             SYS_readlink,
#endif
#ifdef SYS_access
                             SYS_access,
#endif
#ifdef SYS_newfstatat
                             SYS_newfstatat,
#endif
#ifdef SYS_fstatat64
                             SYS_fstatat64,
#endif
#ifdef SYS_statx
                             SYS_statx,
#endif
#ifdef SYS_futex_time64
                             SYS_futex_time64,
#endif
                             -1 };

static const int thread_first[] = {
#ifdef SYS_mmap
    SYS_mmap,
#endif
#ifdef SYS_mmap2
    SYS_mmap2,
#endif
    SYS_munmap, SYS_prctl, SYS_getrandom, -1
};

static const int inside[] = { SYS_sigaltstack, SYS_process_vm_readv,
                              /* the C library's own, for raise() and the handler's return */
                              SYS_rt_sigprocmask, SYS_rt_sigreturn,
#ifdef SYS_sigreturn
                              SYS_sigreturn,
#endif
                              -1 };

static const int thread_end[] = { SYS_prctl,
                                  /* the C library's own */
                                  SYS_exit, SYS_munmap, SYS_rt_sigprocmask, -1 };

static const int process_first[] = { SYS_fallocate,
                                     SYS_ftruncate,
                                     SYS_getdents64,
                                     SYS_geteuid,
                                     SYS_getppid,
                                     SYS_kcmp,
                                     SYS_linkat,
                                     SYS_lseek,
                                     SYS_membarrier,
                                     SYS_mkdirat,
                                     SYS_mremap,
                                     SYS_pread64,
                                     SYS_prlimit64,
                                     SYS_unlinkat,
#ifdef SYS_mkdir
                                     SYS_mkdir,
#endif
#ifdef SYS_fstat
                                     SYS_fstat,
#endif
#ifdef SYS_fstat64
                                     SYS_fstat64,
#endif
#ifdef SYS_geteuid32
                                     SYS_geteuid32,
#endif
#ifdef SYS__llseek
                                     SYS__llseek,
#endif
#ifdef SYS_ftruncate64
                                     SYS_ftruncate64,
#endif
                                     -1 };

/* For the calling thread, and what it creates from here on; the lists end with NULL. */
static bool allow(const int *const lists[])
{
    struct sock_filter program[MOST_CALLS + 4] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_fprog filter = { 0, program };
    int calls[MOST_CALLS], n = 0;

    for (; *lists; lists++)
        for (const int *call = *lists; *call >= 0; call++)
            calls[n++] = *call;
    for (int i = 0; i < n; i++)
        program[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
                                                      (unsigned char)(n - i), 0);
    program[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter.len = (unsigned short)(n + 3);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static trace_event_id_t type;

static void end(int status)
{
    syscall(SYS_exit_group, status);
}

static void trace(unsigned n)
{
    char data[64] = "";

    for (unsigned i = 0; i < n; i++)
        posix_trace_event(type, data, sizeof data);
}

/* The next change of chunk looks whether the stream's owner lives, which is else done once a
 * second. */
static void look_at_owner(void)
{
    struct pt_self *self = pt_self_peek();

    for (unsigned bit = 0; self && bit < PT_STREAMS; bit++)
        if (self->known[bit].seg)
            pt_store_relaxed(&self->known[bit].seg->h->owner_look_ns, 0u);
}

static void trace_loop(void)
{
    for (unsigned i = 0; i < EVENTS; i += 1000) {
        trace(1000);
        look_at_owner();
    }
}

static void fast_path(void)
{
    trace(2);
    NEED(allow((const int *const[]){ always, NULL }));
    trace(5);
    end(0);
}

static void next_chunks(void)
{
    trace(2);
    NEED(allow((const int *const[]){ always, chunk, NULL }));
    trace_loop();
    end(0);
}

static void *first_of_thread(void *unused)
{
    (void)unused;
    NEED(allow((const int *const[]){ always, chunk, thread_first, NULL }));
    trace_loop();
    end(0);
    return NULL;
}

static void *last_of_thread(void *unused)
{
    trace_loop();
    NEED(allow((const int *const[]){ always, chunk, thread_end, NULL }));
    return unused;
}

static void run_thread(void *(*run)(void *))
{
    pthread_t thread;

    trace(2);
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    end(0);
}

static void threads_first(void)
{
    run_thread(first_of_thread);
}

static void threads_last(void)
{
    run_thread(last_of_thread);
}

static void process(void)
{
    NEED(allow((const int *const[]){ always, chunk, thread_first, process_first, NULL }));
    trace_loop();
    end(0);
}

static trace_event_id_t outer;

/* On a disarmed stack inside the thread's own: the event's frame is above the interrupted one. */
static void on_signal(int sig)
{
    (void)sig;
    trace(1);
}

static bool ask(void *context, const struct posixtrace_event *event)
{
    (void)event;
    (void)context;
    raise(SIGUSR1);
    return true;
}

static void in_handler(void)
{
    /* With a context also on 32-bit x86 (docs/portability.md). */
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO };
    char own_stack[64 << 10];
    stack_t stack = { .ss_sp = own_stack,
                      .ss_size = sizeof own_stack,
                      .ss_flags = (int)(1u << 31) }; /* SS_AUTODISARM */
    trace_id_t trid;

    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posixtrace_set_handler(trid, outer, ask, NULL) == 0);
    NEED(posix_trace_start(trid) == 0);
    NEED(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    posix_trace_event(outer, NULL, 0);
    NEED(allow((const int *const[]){ always, chunk, inside, NULL }));
    for (unsigned i = 0; i < 100; i++)
        posix_trace_event(outer, NULL, 0);
    end(0);
}

static bool accept_all(void *context, const struct posixtrace_event *event)
{
    (void)event;
    (void)context;
    return true;
}

static void trace_number(trace_event_id_t of, uint32_t number)
{
    posix_trace_event(of, &number, sizeof number);
}

static trace_event_id_t opened(const char *name)
{
    trace_event_id_t id;

    NEED(posix_trace_eventid_open(name, &id) == 0);
    return id;
}

static trace_event_id_t described(const char *name)
{
    trace_event_id_t id;

    NEED(posixtrace_event_describe(name, "u32 number", &id) == 0);
    return id;
}

/* Another process of the family adds a description. */
static void describe_in_child(const char *name)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        described(name);
        end(0);
    }
    NEED(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void start_filtered(const char *expression, trace_event_id_t handled)
{
    trace_id_t trid[2];

    for (int i = 0; i < 2; i++)
        NEED(posix_trace_create(0, NULL, &trid[i]) == 0);
    NEED(posixtrace_set_expression(trid[0], expression, NULL) == 0);
    NEED(posixtrace_set_handler(trid[1], handled, accept_all, NULL) == 0);
    for (int i = 0; i < 2; i++)
        NEED(posix_trace_start(trid[i]) == 0);
}

/* posixtrace_prepare() also makes what expressions, descriptions and handlers need. */
static void prepared(void)
{
    trace_event_id_t with = described("with"), without = opened("without");

    start_filtered("number > 1", with);
    NEED(posixtrace_prepare() == 0);
    NEED(allow((const int *const[]){ always, NULL }));
    for (uint32_t number = 0; number < 4; number++) {
        trace_number(with, number);
        trace_number(without, number);
        trace_number(POSIX_TRACE_UNNAMED_USEREVENT, number);
    }
    end(0);
}

/* The types of the library have descriptions, too. */
static void prepared_for_system_types(void)
{
    start_filtered("flags == 1", opened("without"));
    NEED(posixtrace_prepare() == 0);
    NEED(allow((const int *const[]){ always, NULL }));
    posixtrace_context("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    end(0);
}

/* Descriptions of other types do not matter, whether an event came before or not. */
static void prepared_others_described_later(void)
{
    trace_event_id_t with = described("with"), without = opened("without"), first = opened("first");

    start_filtered("number > 1", with);
    NEED(posixtrace_prepare() == 0);
    trace_number(without, 2);
    describe_in_child("later");
    NEED(allow((const int *const[]){ always, NULL }));
    trace_number(without, 2);
    trace_number(first, 2);
    trace_number(with, 2);
    end(0);
}

/* What no list allows does kill. */
static void other_call(void)
{
    NEED(allow((const int *const[]){ always, chunk, NULL }));
    getppid();
    end(0);
}

static int status_of(void (*run)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(HANG_S);
        run();
        _exit(1);
    }
    NEED(child > 0);
    NEED(waitpid(child, &status, 0) == child);
    return status;
}

static void expect_alive(const char *what, void (*run)(void))
{
    int status = status_of(run);

    if (status != 0)
        dprintf(2, "%s: status %#x%s\n", what, status,
                WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                    ? ", by a system call that is not listed: strace -f shows it"
                    : "");
    NEED(status == 0);
}

static void in_children(int policy)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, policy) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 256 << 10) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    expect_alive("fast path", fast_path);
    expect_alive("next chunks", next_chunks);
    expect_alive("first event of a thread", threads_first);
    expect_alive("end of a thread", threads_last);
    expect_alive("event in a handler", in_handler);
    expect_alive("first event of a process", process);
    NEED(posix_trace_shutdown(trid) == 0);
}

int main(void)
{
    int status;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    fputs("skipped: a sanitizer makes system calls of its own\n", stderr);
    return TEST_SKIPPED;
#endif
    if (is_under_valgrind())
        return TEST_SKIPPED;
    alarm(2 * HANG_S);
    status = status_of(other_call);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS) {
        fputs("skipped: there are no filters of system calls here\n", stderr);
        return TEST_SKIPPED;
    }
    NEED(posix_trace_eventid_open("seccomp", &type) == 0);
    NEED(posix_trace_eventid_open("outer", &outer) == 0);
    expect_alive("prepared for filters", prepared);
    expect_alive("prepared for system types", prepared_for_system_types);
    expect_alive("prepared, others described later", prepared_others_described_later);
    in_children(POSIX_TRACE_LOOP);
    in_children(POSIX_TRACE_UNTIL_FULL);
    return 0;
}
