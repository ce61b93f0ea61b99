/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which files a traced process has at which addresses: for tools that show the addresses in events
 * as functions and lines (posixtrace/symbols.h).
 *
 * A stream has the mappings that its processes have noted, as texts; they are not events, so
 * filters, limits and overwriting do not concern them.  A log has them, too.
 * libposixtrace-preload.so notes the caller of each call that it records.
 */
#ifndef POSIXTRACE_MAPPING_H
#define POSIXTRACE_MAPPING_H

#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_MAPPING_MAX 2047 /* bytes of a text, without the final NUL */

/*
 * Notes an address of code in this process, before it is recorded in an event.  If it is in no
 * mapping that the process has noted before, the mappings are read from /proc/self/maps, and what
 * has changed since is noted.  That takes some 0.1 ms once, and again after dlopen(); else a
 * nanosecond.  A process that no stream traces notes nothing.
 * A list that is full (8191 texts or 384 KiB of all processes that share types) takes only texts
 * that say that the mappings of a process are not known any more.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone.
 */
void posixtrace_mapping_note(const void *address);

/* After dlclose(): the next address that is noted finds the mappings that are gone.
 * Async-signal-safe, thread-safe, no cancellation point, leaves errno alone. */
void posixtrace_mapping_changed(void);

/*
 * Stores the text with that number, from 1 on, into size bytes.  docs/log-format.md has the form
 * of the texts; posixtrace_symbols_update() reads them.  "": the text is lost.
 *
 * EINVAL  trid is not a stream, text is NULL, size or number is 0
 * ENOENT  the stream has no text with this number or a higher one, yet
 * ERANGE  the text is longer
 * Thread-safe, not async-signal-safe.
 */
int posixtrace_mapping_text(trace_id_t trid, uint32_t number, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
