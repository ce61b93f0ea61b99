/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A library that does not keep its promises, to be preloaded: so that one sees
 * that selftest finds out.  FORGETFUL says what it does:
 *
 *   drop     every hundredth event is not recorded
 *   twice    every hundredth event is recorded twice
 *   time     every hundredth event that is read is a millisecond too old
 *   late     times that are read run fast, by a part in a hundred
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <posixtrace/event.h>

static void (*record)(trace_event_id_t, const void *, size_t);
static int (*next)(trace_id_t, struct posixtrace_event *, size_t, int *);
static const char *fault = "";
static unsigned recorded, seen;

/* Before main(), and not at the first event: that may be in a signal handler. */
__attribute__((constructor)) static void find_originals(void)
{
    void *symbol = dlsym(RTLD_NEXT, "posix_trace_event");

    memcpy(&record, &symbol, sizeof record);
    symbol = dlsym(RTLD_NEXT, "posixtrace_next_event");
    memcpy(&next, &symbol, sizeof next);
    if (getenv("FORGETFUL"))
        fault = getenv("FORGETFUL");
}

void posix_trace_event(trace_event_id_t id, const void *restrict data, size_t length)
{
    unsigned times = 1;

    if (++recorded % 100 == 0)
        times = strcmp(fault, "drop") == 0 ? 0 : strcmp(fault, "twice") == 0 ? 2 : 1;
    while (times-- > 0)
        record(id, data, length);
}

int posixtrace_next_event(trace_id_t trid, struct posixtrace_event *event, size_t size,
                          int *unavailable)
{
    static int64_t first;
    int error = next(trid, event, size, unavailable);

    if (error || *unavailable)
        return error;
    if (first == 0)
        first = event->ns;
    if (strcmp(fault, "time") == 0 && ++seen % 100 == 0)
        event->ns -= 1000000;
    if (strcmp(fault, "late") == 0)
        event->ns += (event->ns - first) / 100;
    return 0;
}
