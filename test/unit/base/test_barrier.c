/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The barriers where membarrier is refused.  Each caller takes write permission from
 * a page itself, also while another caller is in the middle of that, and in a child
 * that was forked at that moment.  A filter turns mprotect into a signal, whose
 * handler counts for the calling thread, and stops the one that shall stay inside.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "support/need.h"
#include "support/refuse_call.h"
#include "support/valgrind.h"

/* LeakSanitizer asks this at exit.  It ends a process that may not call mprotect(). */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return 1;
}

enum { HANG_S = 60 };

static _Thread_local unsigned changes; /* of permissions, by this thread */
static _Thread_local bool stays;
static uint32_t inside, go_on;

static void count_change(int signal)
{
    (void)signal;
    changes++;
    if (!stays)
        return;
    stays = false;
    pt_store_seqcst(&inside, 1u);
    while (!pt_load_seqcst(&go_on))
        sched_yield();
}

static bool trap_mprotect(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof program / sizeof program[0], program };

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Both barriers change a permission. */
static void expect_own_barriers(void)
{
    unsigned before = changes;

    pt_barrier_all();
    NEED(changes > before);
    before = changes;
    pt_barrier_own();
    NEED(changes > before);
}

/* Its filters are its own: the C library changes permissions for threads, too. */
static void *stay_inside(void *unused)
{
    (void)unused;
    stays = true;
    if (!refuse_call(SYS_membarrier, EPERM) || !trap_mprotect())
        _exit(TEST_SKIPPED);
    pt_barrier_all();
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = count_change };
    pthread_t thread;
    int status;
    pid_t child;

    if (is_under_valgrind())
        return TEST_SKIPPED;

    alarm(HANG_S);
    NEED(pt_barrier_register());
    NEED(sigaction(SIGSYS, &action, NULL) == 0);
    NEED(pthread_create(&thread, NULL, stay_inside, NULL) == 0);
    while (!pt_load_seqcst(&inside))
        sched_yield();
    child = fork();
    NEED(child >= 0);
    if (!refuse_call(SYS_membarrier, EPERM) || !trap_mprotect())
        _exit(TEST_SKIPPED);
    expect_own_barriers();
    if (child == 0)
        _exit(0);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    pt_store_seqcst(&go_on, 1u);
    NEED(pthread_join(thread, NULL) == 0);
    return 0;
}
