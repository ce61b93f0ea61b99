/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Threads of the library in a program that does not know of them. */
#ifndef PT_BASE_THREAD_H
#define PT_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Between the two calls no handler runs in the calling thread, so none can fork and leave a child
 * half-way.  Async-signal-safe. */
void pt_thread_hold_signals(sigset_t *before);
void pt_thread_let_signals(const sigset_t *before);

/* To be joined, with all signals blocked from its start: none of the program's is handled
 * there.  Its stack suffices whatever the program's default is; the program's other default
 * attributes have no effect.  0 or a negative errno; what there are not enough of is -ENOMEM. */
int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* What the C library takes for the calling thread's number; 0: nothing.  A child that runs on the
 * thread-local memory of a thread that waits for it (vfork) finds that thread's, and one that was
 * made by the bare system call its parent's thread's. */
int32_t pt_thread_number(void);

/* By such a thread: a descriptor table of its own with nothing in it but fd (-1: nothing), so
 * that close, dup2 and close_range of the program cannot touch what the thread opens.  0 or a
 * negative errno.  A build for ThreadSanitizer changes nothing. */
int pt_thread_own_descriptors(int fd);
/* Has the calling thread one, which no fork() of another copies? */
bool pt_thread_has_own_descriptors(void);

#endif
