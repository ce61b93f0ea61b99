/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How many streams a user has, all processes together: the limit TRACE_SYS_MAX is
 * his, in each stream directory.  Streams whose process is dead do not count.
 *
 * A small directory is counted by its names.  In a larger one, where streams that killed
 * programs left may lie by the hundred, the living ones stand in a table of TRACE_SYS_MAX
 * places in the file "streams", made by a look at all of them once: a new stream takes a
 * free place or one of a stream that has ended since, from the oldest on, so that it does
 * not depend on what others left.
 */
#ifndef PT_PAGE_CENSUS_H
#define PT_PAGE_CENSUS_H

#include <stdbool.h>
#include <sys/types.h>

#define PT_CENSUS_FILE "streams"

/* With the new segment file own in the user's directory, are there more than TRACE_SYS_MAX?  If two
 * processes ask at the same time with one place left, both may get true.  A stream without a name
 * in the directory ("") is not counted. */
bool pt_census_is_full(uid_t uid, const char *own);

#endif
