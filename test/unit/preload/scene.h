/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A scene: some calls, what they returned, and the system events that they left in a
 * log, as text.  Nothing of check may be called inside a scene: check locks, too.
 */
#ifndef TEST_PRELOAD_SCENE_H
#define TEST_PRELOAD_SCENE_H

#include <posixtrace/system.h>
#include "support/trace_helpers.h"

enum { SCENE_DUES = 32 };

/* Calls of this object by name, in what follows. */
void scene_name(const void *object, const char *name);
/* A stream with log runs from here to there. */
trace_id_t scene_begin(void);
void scene_end(trace_id_t trid);
/* What a call returned, for scene_results(); the second sees errno if it is -1. */
void scene_note(int result);
void scene_note_errno(int result);

/* "0 EBUSY ...": what was noted. */
const char *scene_results(void);
/*
 * What thread number n of the log (0 is the first that recorded anything) did: "mutex_lock
 * A, mutex_locked A EBUSY, ...".  A time when something is due is called "due" and is in
 * scene_due, in order, over all threads; none is called "never".
 */
const char *scene_events(unsigned n);
extern int64_t scene_due[SCENE_DUES];
/* Of calls that are recorded whole, in order. */
extern int64_t scene_durations[SCENE_DUES];
/* The descriptors that were recorded: "A file /path, B pipe pipe:[5]". */
const char *scene_descriptors(void);
/* Connections, what epolls have, and what was ready: "connection A tcp 127.0.0.1:5 127.0.0.1:6,
 * epoll_set E add A A, ready E 1 A in".  Data of an epoll is the descriptor. */
const char *scene_connections(void);
/* How often this event is among those of the first thread. */
unsigned scene_count(const char *event);
/* Threads that recorded something. */
unsigned scene_threads(void);

#define ck_events(n, text) ck_assert_str_eq(scene_events(n), text)
#define ck_results(text)   ck_assert_str_eq(scene_results(), text)

/* A time that is long over. */
extern const struct timespec scene_past;

#endif
