/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Single-stepping with ptrace(2).
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proof/stepper.h"
#include "torture/demand.h"

/* From the stop to the window there is a return from a system call and a call
 * or two; far more means that the child went another way. */
#define APPROACH_MAX 100000u

extern char step_begin[] __attribute__((visibility("hidden")));
extern char step_end[] __attribute__((visibility("hidden")));

#if defined __x86_64__ || defined __aarch64__
static uintptr_t pc_of(pid_t pid)
{
    struct user_regs_struct regs;
    struct iovec io = { &regs, sizeof regs };

    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) < 0)
        return 0;
#if defined __x86_64__
    return regs.rip;
#else
    return regs.pc;
#endif
}
#define CAN_STEP true
#else
static uintptr_t pc_of(pid_t pid)
{
    (void)pid;
    return 0;
}
#define CAN_STEP false
#endif

static bool may_trace(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

const char *stepper_refused(void)
{
    const char *preload = getenv("LD_PRELOAD");

    if (!CAN_STEP)
        return "no single-stepping on this processor";
    if (SIGNALS_ARE_DELAYED)
        return "ThreadSanitizer delays signals";
    if (preload && strstr(preload, "vgpreload"))
        return "valgrind has no single-stepping";
    if (!may_trace())
        return "ptrace is refused";
    return NULL;
}

void stepper_attach(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
        perror("PTRACE_TRACEME");
        _exit(9);
    }
}

void stepper_stop(void)
{
    syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
}

/* True if the child is stopped by this signal. */
static bool wait_for(struct stepper *s, int sig)
{
    while (waitpid(s->pid, &s->status, __WALL) < 0) {
        if (errno != EINTR) {
            perror("waitpid");
            exit(1);
        }
    }
    return WIFSTOPPED(s->status) && WSTOPSIG(s->status) == sig;
}

static enum stepper_end not_as_wanted(const struct stepper *s)
{
    return WIFSTOPPED(s->status) ? STEPPER_STRANGE : STEPPER_EXITED;
}

enum stepper_end stepper_wait(struct stepper *s)
{
    return wait_for(s, SIGSTOP) ? STEPPER_INSIDE : not_as_wanted(s);
}

static bool step(struct stepper *s)
{
    ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL);
    return wait_for(s, SIGTRAP);
}

/* Steps until the child stands at pc, which is not far. */
static enum stepper_end step_to(struct stepper *s, uintptr_t pc)
{
    for (unsigned i = 0; pc_of(s->pid) != pc; i++) {
        if (i == APPROACH_MAX || !step(s))
            return not_as_wanted(s);
    }
    s->pc = pc;
    return STEPPER_INSIDE;
}

enum stepper_end stepper_go_on(struct stepper *s, unsigned limit)
{
    while (s->steps < limit) {
        if (!step(s))
            return not_as_wanted(s);
        s->pc = pc_of(s->pid);
        if (s->pc == (uintptr_t)step_end)
            return STEPPER_LEFT;
        s->steps++;
    }
    return STEPPER_INSIDE;
}

enum stepper_end stepper_run(struct stepper *s, unsigned limit)
{
    enum stepper_end end = step_to(s, (uintptr_t)step_begin);

    s->steps = 0;
    return end == STEPPER_INSIDE ? stepper_go_on(s, limit) : end;
}

enum stepper_end stepper_interrupt(struct stepper *s, int sig)
{
    enum stepper_end end;

    stepper_continue(s, sig);
    end = stepper_wait(s);
    return end == STEPPER_INSIDE ? step_to(s, s->pc) : end;
}

void stepper_continue(struct stepper *s, int sig)
{
    ptrace(PTRACE_CONT, s->pid, NULL, (void *)(uintptr_t)(unsigned)sig);
}

void stepper_finish(struct stepper *s)
{
    while (!wait_for(s, 0) && WIFSTOPPED(s->status)) {
        int sig = WSTOPSIG(s->status);

        stepper_continue(s, sig == SIGSTOP || sig == SIGTRAP ? 0 : sig);
    }
}
