/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The process that mix.c strikes: it traces, is struck in its window, reads everything
 * and begins the next round, until the driver has struck everywhere.
 */
#ifndef PROOF_MIX_SUBJECT_H
#define PROOF_MIX_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#define WATCHDOG_S 300

/* What a window or a handler does. The first HANDLED are for both. */
enum act {
    A_SHORT,
    A_SIZED,
    A_WORDS,
    B_SHORT,
    B_LONG,
    C_ASKED,
    B_B_A,
    HANDLED,
    PREPARE = HANDLED,
    NAME,
    ACTS
};
enum blow { SIGNAL, DISARM, OWN, JUMP, NEST, FORK, BLOWS };

struct plan {
    enum blow blow;
    enum act window, handled;
    unsigned at;  /* NEST: where the outer event is interrupted */
    bool inherit; /* FORK: the streams are the child's, too */
};

/* Memory that driver, subject and its children share. */
struct shared {
    volatile int end;              /* the driver has struck everywhere */
    volatile int child_may;        /* FORK: the parent has traced beyond its chunks */
    volatile uint64_t by_children; /* events that children have traced */
};

extern struct shared *shared;

/* The driver's thread has its stack in the lower half: so has the child that it forks. */
#define STACK_BYTES (512 << 10)
extern char stacks[2][STACK_BYTES];

/* Does not return. */
void be_subject(const struct plan *plan);

#endif
