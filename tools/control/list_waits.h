/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The calls in which the threads of streams are now: posixtrace list --waits.
 */
#ifndef LIST_WAITS_H
#define LIST_WAITS_H

#include <stddef.h>
#include <posixtrace/stream.h>

#include "common/sites.h"

/* A table of those of all streams; sites has the options for names, and is not open. */
void list_waits_print(const struct posixtrace_stream *streams, size_t count, struct sites *sites);
/* The member "waits" of a stream's object. */
void list_waits_put(const struct posixtrace_stream *stream, struct sites *sites);

#endif
