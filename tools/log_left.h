/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a record that was killed leaves of an earlier log.  record renames that to
 * NAME.earlier.XXXXXX (log_place.h) and holds a flock() on it until the recording has begun;
 * root's record of another user's process until it is over.  So a log with such a name and
 * without a lock is left.
 */
#ifndef LOG_LEFT_H
#define LOG_LEFT_H

#include <stdbool.h>

#define LOG_LEFT_INFIX ".earlier."
enum { LOG_LEFT_SUFFIX = 6 };

/* Fills the suffix of a name, which is not terminated. */
void log_left_make_suffix(char *suffix);
/* Looks for what is left of the log of that name in the folder, a descriptor.  The newest gets
 * its name back if no file has that, or an empty one that nobody has locked; the others stay.
 * Each of both is said.  shown: the folder in messages, with a slash, or "". */
void log_left_look(int folder, const char *shown, const char *name);
/* The same by the path of the log. */
void log_left_look_at(const char *path);

#endif
