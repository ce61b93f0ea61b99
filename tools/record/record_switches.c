/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches in a recording: how large the kernel's rings for them are, and what limits
 * them.  A limit is reported with its name, its value, and the value that would do: at the
 * start if the user asked for a size that he does not get, at the end if switches were lost.
 */
#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attr.h>

#include "common/units.h"
#include "record/perf_limits.h"
#include "common/tool.h"

enum { FEWEST = 1 << 12, LARGER = 4 };

int record_switch_buffer_check(uint64_t bytes, const char *text)
{
    trace_attr_t attr;
    int error = posix_trace_attr_init(&attr);

    if (error == 0) {
        error = posixtrace_attr_setswitchbuffer(&attr, (size_t)bytes);
        posix_trace_attr_destroy(&attr);
    }
    return error == 0 ? EXIT_DONE
                      : tool_usage("option '--switch-buffer' needs a power of two bytes from 4K "
                                   "to 1G, found %s",
                                   quote(text));
}

/* The limits by which a ring of so many bytes is refused, and what would allow it. */
static const char *limits_text(const struct perf_limits *l, uint64_t bytes)
{
    static char text[400];
    char mlock[24] = "not known", memlock[24] = "unlimited";
    uint64_t wanted = perf_limits_wanted_kb(bytes);

    if (l->mlock_kb >= 0)
        snprintf(mlock, sizeof mlock, "%ld", l->mlock_kb);
    if (l->memlock_kb != UINT64_MAX)
        snprintf(memlock, sizeof memlock, "%" PRIu64, l->memlock_kb);
    snprintf(text, sizeof text,
             "kernel.perf_event_mlock_kb is %s and 'ulimit -l' %s; 'sysctl "
             "kernel.perf_event_mlock_kb=%" PRIu64 "', as root, or CAP_IPC_LOCK allows %s",
             mlock, memlock, wanted, units_bytes(bytes));
    return text;
}

static void say_refusal(const struct recording *r, int refusal)
{
    struct perf_limits l = perf_limits_read();
    char advice[480] = "";

    if (refusal != EACCES && refusal != EPERM && refusal != EMFILE)
        ;
    else if (refusal == EMFILE)
        snprintf(advice, sizeof advice,
                 "; 'ulimit -n' must allow a descriptor for each thread and processor");
    else if (l.paranoid > 2)
        snprintf(advice, sizeof advice,
                 "; kernel.perf_event_paranoid is %ld, 'sysctl "
                 "kernel.perf_event_paranoid=2', as root, allows it",
                 l.paranoid);
    else if (refusal == EPERM && !perf_limits_allow(&l, FEWEST))
        snprintf(advice, sizeof advice, "; %s", limits_text(&l, FEWEST));
    else
        snprintf(advice, sizeof advice,
                 "; kernel.perf_event_paranoid is %ld, so that a filter of "
                 "system calls refuses perf_event_open(), as in a container",
                 l.paranoid);
    tool_note("no context switches will be in %s, but how long threads ran, so that some metrics "
              "will be bounds: %s%s",
              quote(r->log), strerror(refusal), advice);
}

static void say_smaller(uint64_t asked, uint64_t got)
{
    struct perf_limits l = perf_limits_read();

    tool_note("the kernel's rings for context switches have %s for each processor, not the %s of "
              "--switch-buffer: %s",
              units_bytes(got), units_bytes(asked), limits_text(&l, asked));
}

int record_switches_begin(struct recording *r, const struct record_request *q)
{
    int refusal = 0, error = posixtrace_stream_switches(r->trid, &refusal);
    size_t bytes = 0;

    if (error == 0)
        error = posixtrace_stream_switchbuffer(r->trid, &bytes);
    r->switch_buffer = bytes;
    if (error == 0 && refusal != 0)
        say_refusal(r, refusal);
    else if (error == 0 && q->switch_buffer > bytes)
        say_smaller(q->switch_buffer, bytes);
    return error;
}

void record_switches_report(const struct recording *r, uint64_t lost)
{
    uint64_t larger = LARGER * r->switch_buffer;
    struct perf_limits l = perf_limits_read();
    bool refused = geteuid() != 0 && !perf_limits_allow(&l, larger);
    char size[32];

    if (lost == 0 || r->switch_buffer == 0)
        return;
    snprintf(size, sizeof size, "%s", units_bytes(r->switch_buffer));
    tool_note("the kernel's rings, of %s for each processor, had no room for %s context switches: "
              "record with --switch-buffer=%" PRIu64 "K%s%s",
              size, units_count(lost), larger >> 10, refused ? "; " : "",
              refused ? limits_text(&l, larger) : "");
}
