/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The processes of the proof: one that traces and is struck in the middle of a
 * call, and one that verifies what a killed one left.  Both are children that
 * the driver (step.c) forks for one plan each.
 */
#ifndef PROOF_SUBJECT_H
#define PROOF_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#define STREAMS       2u
#define SURVEY        400u   /* events of a survey */
#define HOLD_MOST_MS  120000 /* until the other thread must have done its work */
#define PROOF_SLOW_MS 500    /* a writer that stands still for longer may be overtaken */

/* Which call of posix_trace_event is the window. */
enum scene {
    STEADY_ONE,
    STEADY_TWO,
    CHUNK_CHANGE,
    STREAM_JOINS,
    FIRST_EVENT,
    /* Of 8 bytes, the handler's in the first stream only.  LAST: a chunk has room for
              * one, which the handler's may be. */
    SHORT_ONE,
    SHORT_TWO,
    SHORT_LAST,
    SCENES
};

/* What happens to the subject in its window. */
enum blow { SIGNAL, JUMP, HOLD, KILL, TWICE, NOTHING, SURVEY_ONLY };

struct plan {
    enum scene scene;
    enum blow blow;
    unsigned window; /* number of the event that is the window */
    unsigned pause;  /* TWICE: instructions between the two signals */
    bool alternate;  /* the handler runs on a stack of its own */
};

/* Memory that driver, subject and verifier share. */
struct shared {
    volatile uint64_t returned; /* calls of the subject's main thread that have returned */
    volatile uint64_t handled;  /* of its signal handler */
    volatile uint64_t helped;   /* of its second thread */
    volatile int help_now;      /* HOLD: the driver asks the second thread to trace and read */
    volatile int help_done;
    volatile int64_t held_ms;     /* HOLD: since when the subject stands still; 0: not yet */
    volatile int64_t released_ms; /* until when; 0: still */
    uint64_t second_from;         /* STREAM_JOINS: first event in the second stream */
};

extern struct shared *shared;
extern int logs[STREAMS]; /* where KILL lets the streams be logged */

int64_t proof_now_ms(void);

/* Neither returns. The exit status is 0 if everything was as it must be. */
void be_subject(const struct plan *plan);
void be_verifier(const struct plan *plan);

#endif
