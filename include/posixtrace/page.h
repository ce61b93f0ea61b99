/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log as one HTML file: its events, and the script that shows them in a browser, without network.
 * 'posixtrace report --html' makes one; docs/report-page.md describes the data in it.
 *
 * Link with -lposixtrace-analysis.  The functions are thread-safe for different streams.  Nothing
 * here is async-signal-safe.
 */
#ifndef POSIXTRACE_PAGE_H
#define POSIXTRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * name: of the log, for people.  print, why: command lines that show an event and explain a time,
 * for people to copy.  report: a JSON object, as of 'posixtrace report --format=json'; why_reports:
 * such of 'posixtrace why'; flame: waits by stack, an array of objects with frames, the outermost
 * first, and ns; distributions: how long waits for single objects took (docs/report-page.md); each
 * text is valid JSON.  note: for people, of what the caller has left
 * out.  NULL: there is none.  size: bytes of the file at most, 0: 40 million; what does not fit is
 * left out, and the page says what.  A size below 500,000 is taken as that.  One thread for each
 * 500 bytes has a lane, those with the most events; the others share one that has their events.
 *
 * code and data return a name for an address of that process at that time, of a call (the address
 * to which it returns) or of a variable, which is valid until the next such call; NULL: not known.
 * Or they are NULL.
 *
 * write gets the file piece by piece, in order.  progress is called now and then with the events
 * that were read, of all passes over the log, or is NULL.  Both return 0 to continue.  All texts
 * are the caller's, and are read during the call only.
 */
struct posixtrace_page_options {
    const char *name, *print, *why;
    const char *report;
    const char *const *why_reports;
    size_t why_count;
    const char *note;
    uint64_t size;
    int (*write)(void *context, const void *bytes, size_t length);
    int (*progress)(void *context, uint64_t events);
    const char *(*code)(void *context, pid_t pid, int64_t ns, uint64_t address);
    const char *(*data)(void *context, pid_t pid, int64_t ns, uint64_t address);
    void *context;
    const char *flame, *distributions;
};

/* Can this build write pages?  It needs zlib. */
bool posixtrace_page_available(void);

/*
 * Writes the page of a pre-recorded stream, which is read several times from its first event; its
 * position is at the end then.  Memory: about the size of the file, and some kilobytes for each
 * thread.
 *
 * EINVAL     trid is not a pre-recorded stream, options or write is NULL, or size is 0
 * ENOTSUP    this build has no zlib
 * ESPIPE     the log comes from a pipe: it can be read once only
 * EOVERFLOW  between the first and the last event are more than 2^53 ns (104 days)
 * ENOMEM; others as posixtrace_next_events(); the result of write or progress, if it is not 0
 */
int posixtrace_page_write(trace_id_t trid, const struct posixtrace_page_options *options,
                          size_t size);

#ifdef __cplusplus
}
#endif
#endif
