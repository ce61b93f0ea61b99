/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What lies in the stream directory: the segments, and what they say of themselves. */
#ifndef PT_PROCESS_LIST_H
#define PT_PROCESS_LIST_H

#include <posixtrace/stream.h>
#include <sys/stat.h>
#include "ring/layout.h"

/* As posixtrace_stream_list; a negative errno, or what each returned. */
int pt_list_streams(int (*each)(void *context, const struct posixtrace_stream *stream),
                    void *context);
/* As posixtrace_stream_traced; a negative errno, or what each returned. */
int pt_list_traced(const char *file, int (*each)(void *context, pid_t pid), void *context);

#endif
