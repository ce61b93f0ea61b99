/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The earlier log after `posixtrace record` was killed.  record renames an earlier log to
 * NAME.earlier.XXXXXX (log_place.h) and holds a flock() on it until the recording has begun, or,
 * where root records another user's process, is over.  A log with such a name and without a
 * lock is one that a killed record has left.
 */
#ifndef LOG_LEFT_H
#define LOG_LEFT_H

#include <stdbool.h>

#define LOG_LEFT_INFIX ".earlier."
enum { LOG_LEFT_SUFFIX = 6 };

/* Fills the suffix of a name, which is not terminated. */
void log_left_make_suffix(char *suffix);
/* Searches the folder, a descriptor, for earlier logs of that name.  The newest gets the name back
 * if no file has it, or an empty one without a lock; the others stay where they are.  A note names
 * them.  shown: the folder in messages, with a slash, or "". */
void log_left_look(int folder, const char *shown, const char *name);
/* The same by the path of the log. */
void log_left_look_at(const char *path);

#endif
