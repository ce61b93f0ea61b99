/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sync_print.h. */
#include "sync/sync_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/time_parse.h"
#include "common/tool.h"

/* A clock as messages name it; one of two static buffers. */
static const char *clock_name(const posixtrace_sync_t *sync, size_t i)
{
    static char names[2][100];
    static unsigned next;
    struct posixtrace_sync_host h;
    char *to = names[next++ % 2];

    if (posixtrace_sync_host(sync, i, &h, sizeof h) != 0)
        return "UTC";
    snprintf(to, sizeof names[0], "%s", h.host[0] ? quote(h.host) : "a log without a host");
    return to;
}

static const char *source_text(unsigned source)
{
    switch (source) {
    case POSIXTRACE_SYNC_REFERENCE: return "the common clock";
    case POSIXTRACE_SYNC_MESSAGES: return "by messages";
    case POSIXTRACE_SYNC_KERNEL: return "by the kernel's bounds";
    default: return "not known on both sides: more messages are needed";
    }
}

static void put_end(int64_t ns)
{
    if (ns == INT64_MIN || ns == INT64_MAX)
        out_format("%14s", "?");
    else
        out_format("%+14" PRId64, ns);
}

static void put_host(const posixtrace_sync_t *sync, size_t i)
{
    struct posixtrace_sync_host h;
    struct posixtrace_interval e;

    posixtrace_sync_host(sync, i, &h, sizeof h);
    posixtrace_sync_error(sync, i, h.first_ns / 2 + h.last_ns / 2, &e);
    out_format("%-16s %+20" PRId64 " %+12" PRId64, clock_name(sync, i), h.offset_ns, h.drift_ppb);
    put_end(e.least_ns);
    put_end(e.most_ns);
    out_format("  %s\n", source_text(h.source));
}

static void put_summary(const struct posixtrace_sync_summary *s)
{
    out_format("%" PRIu64 " events, %" PRIu64 " sends and %" PRIu64 " receives, %" PRIu64
               " messages between clocks\n",
               s->events, s->sends, s->receives, s->messages);
    if (s->pieces > 1)
        out_format("the drift is taken to be constant in each of %u pieces of the time\n",
                   s->pieces);
}

static void note_doubts(const struct posixtrace_sync_summary *s)
{
    if (s->repeated)
        tool_note("%" PRIu64 " ids were sent or received several times: of each only the first "
                  "send and the last receive count",
                  s->repeated);
    if (s->ambiguous)
        tool_note("%" PRIu64 " ids were sent by several hosts, and left out", s->ambiguous);
    if (s->one_of > 1)
        tool_note("one of %" PRIu64 " ids was taken, as there are many", s->one_of);
    if (s->kernel_dropped)
        tool_note("the kernel's bounds contradict the messages or each other, and were not used");
}

void sync_print(const posixtrace_sync_t *sync)
{
    struct posixtrace_sync_summary s;
    struct posixtrace_sync_link link;
    struct posixtrace_sync_host h;

    posixtrace_sync_summary(sync, &s, sizeof s);
    put_summary(&s);
    for (size_t i = 0; posixtrace_sync_link(sync, i, &link, sizeof link) == 0; i++)
        out_format("  %s to %s: %" PRIu64 "\n", clock_name(sync, link.from),
                   clock_name(sync, link.to), link.messages);
    out_format("\n%-16s %20s %12s %13s %13s\n", "HOST", "OFFSET (ns)", "DRIFT (ppb)", "AT LEAST",
               "AT MOST (ns)");
    for (size_t i = 0; posixtrace_sync_host(sync, i, &h, sizeof h) == 0; i++)
        put_host(sync, i);
    out_flush();
    note_doubts(&s);
}

int sync_print_conflict(const posixtrace_sync_t *sync)
{
    struct posixtrace_sync_conflict c;

    tool_error("no clocks fit all messages: together these say that a message was received before "
               "it was sent; are the ids unique?");
    for (size_t i = 0; posixtrace_sync_conflict(sync, i, &c, sizeof c) == 0; i++)
        tool_note("from %s, sent %s, to %s, received %s", clock_name(sync, c.from),
                  when_iso(c.sent_ns), clock_name(sync, c.to), when_iso(c.received_ns));
    return EXIT_FAILED;
}
