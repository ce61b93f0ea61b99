/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Processes that load a log each: a process has a limit of names of event types, and many logs
 * together have more.
 */
#ifndef LOAD_JOBS_H
#define LOAD_JOBS_H

#include <poll.h>
#include <sys/types.h>
#include "load/load.h"

struct load_job {
    pid_t pid;    /* 0: none */
    int end;      /* of a pipe that the process has open as long as it lives */
    int messages; /* what it has said; -1: it says it itself */
    void *of;     /* the caller's */
};

struct load_jobs {
    const struct load_target *target;
    unsigned room;           /* of jobs */
    bool quiet;              /* messages are kept for the caller */
    bool prepared;           /* the server has the tables; else each job makes them */
    volatile uint64_t *rows; /* that each job has sent, shared with it */
    uint64_t rows_before;    /* of jobs that have ended */
    struct load_job at[LOAD_JOBS_MAX];
};

/* A job has ended: its status, or 0 and the number of the signal that ended it.  messages: to be
 * printed or not; NULL: they are. */
typedef void load_job_ended(void *context, void *of, int status, int signal, const char *messages);

/* EXIT_DONE, or another status after a message. */
int load_jobs_init(struct load_jobs *l, const struct load_target *t, unsigned room);
void load_jobs_free(struct load_jobs *l);
unsigned load_jobs_running(const struct load_jobs *l);
/* There must be room.  The same. */
int load_jobs_begin(struct load_jobs *l, const char *path, void *of);
/* One for each of room: readable when it has ended. */
void load_jobs_wait(const struct load_jobs *l, struct pollfd ends[LOAD_JOBS_MAX]);
void load_jobs_collect(struct load_jobs *l, const struct pollfd ends[LOAD_JOBS_MAX],
                       load_job_ended *ended, void *context);
void load_jobs_kill(const struct load_jobs *l);
uint64_t load_jobs_rows(const struct load_jobs *l);

#endif
