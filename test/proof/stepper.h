/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Running a child instruction by instruction through one marked window.
 *
 * The child stops itself (stepper_stop()) and then calls a function that has
 * the symbols step_begin and step_end around the code under test.  Parent and
 * child are the same program, so that the parent knows the two addresses.
 * Only the stopped thread is traced; other threads of the child run freely.
 */
#ifndef PROOF_STEPPER_H
#define PROOF_STEPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum stepper_end {
    STEPPER_INSIDE, /* stands in the window, after the wanted number of steps */
    STEPPER_LEFT,   /* reached the end of the window first */
    STEPPER_EXITED, /* ended before it came so far; see status */
    STEPPER_STRANGE /* stopped by an unexpected signal; see status */
};

struct stepper {
    pid_t pid;
    int status;     /* of the last waitpid() */
    unsigned steps; /* instructions executed since step_begin */
    uintptr_t pc;   /* where it stands */
};

/* Can this machine and this build do it?  NULL, or why not. */
const char *stepper_refused(void);

/* Child: lets the parent trace the calling thread. */
void stepper_attach(void);
/* Child: waits until the parent lets go or begins to step. */
void stepper_stop(void);

/* Parent: waits for a stepper_stop() of the child. */
enum stepper_end stepper_wait(struct stepper *s);
/* Parent: runs to step_begin, then executes up to limit instructions. */
enum stepper_end stepper_run(struct stepper *s, unsigned limit);
/* Parent: from anywhere in the window, executes instructions until steps == limit. */
enum stepper_end stepper_go_on(struct stepper *s, unsigned limit);
/* Parent: sends a signal whose handler ends with stepper_stop(), and follows
 * the handler's return to the instruction that was interrupted. */
enum stepper_end stepper_interrupt(struct stepper *s, int sig);
/* Parent: lets the child run, delivering the signal first if it is not 0. */
void stepper_continue(struct stepper *s, int sig);
/* Parent: waits for the end of the child; what it is sent is passed on. */
void stepper_finish(struct stepper *s);

#endif
