/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lists the segments in the stream directory, with their descriptions of themselves. */
#ifndef PT_DIRECTORY_LIST_H
#define PT_DIRECTORY_LIST_H

#include <posixtrace/stream.h>
#include <sys/stat.h>
#include "shm/layout.h"

/* As posixtrace_stream_list; 0 or a negative errno.  *value: the last return value of each(). */
int pt_list_streams(int (*each)(void *context, const struct posixtrace_stream *stream),
                    void *context, int *value);
/* As posixtrace_stream_traced; the same. */
int pt_list_traced(const char *file, int (*each)(void *context, pid_t pid), void *context,
                   int *value);

#endif
