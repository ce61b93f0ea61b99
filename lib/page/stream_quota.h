/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The number of a user's streams in all processes.  The limit TRACE_SYS_MAX is for each user and
 * stream directory.  Streams whose process is dead do not count.
 *
 * A small directory is counted by its names.  A larger one may have hundreds of streams of killed
 * programs.  There the living ones are in a table of TRACE_SYS_MAX places in the file "streams",
 * which is made once by a scan of all: a new stream takes a free place, or that of a stream that
 * has ended since, from the oldest on.  So the cost does not depend on the number of old streams.
 */
#ifndef PT_PAGE_CENSUS_H
#define PT_PAGE_CENSUS_H

#include <stdbool.h>
#include <sys/types.h>

#define PT_CENSUS_FILE "streams"

/* With the new segment file own in the user's directory, are there more than TRACE_SYS_MAX?  If two
 * processes ask at the same time with one place left, both may get true.  A stream without a name
 * in the directory ("") is not counted. */
bool pt_stream_quota_is_full(uid_t uid, const char *own);

#endif
