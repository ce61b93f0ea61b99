/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/system.h: system events.  They take the path of writer/event.h, as
 * those of the program do.  And posixtrace/context.h, which records one of them.
 *
 * Gate 0 belongs to no event type.  No filter contains it, so it is open exactly while some stream
 * traces the process, with any filter.
 */
#include <posixtrace/context.h>
#include <posixtrace/system.h>
#include <errno.h>
#include "model/groups.h"
#include "model/traceparent.h"
#include "process/thread_name.h"
#include "base/mul128.h"
#include "writer/event.h"
#include "writer/waiting.h"

/* The gates of the process whose name map knows that these types are in use. */
static const uint64_t *noted;

static PT_COLD void note_use(uint32_t id)
{
    struct pt_self *self = pt_self_get();

    if (!self || pt_load_relaxed(&self->page->gates[id]) == 0)
        return;
    pt_names_use_own(self->names);
    pt_store_relaxed(&noted, (const uint64_t *)self->page->gates);
}

PT_PUBLIC void posixtrace_system_event(trace_event_id_t id, const void *data, size_t data_len)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open;

    if (pt_unlikely(id - PT_ID_OWN_FIRST > PT_ID_OWN_LAST - PT_ID_OWN_FIRST))
        return;
    open = pt_load_relaxed(&gates[id]);
    if (pt_likely(open == 0) || !pt_event_is_own(id))
        return;
    if (pt_unlikely(id == PT_ID_CPU_TIME))
        pt_event_cpu_time(pt_event_here(), pt_event_frame());
    else
        pt_event_record_open(gates, open, id, data, data_len);
    /* The first event of a process finds its page, a forked child's another one. */
    if (pt_unlikely(pt_load_relaxed(&noted) != pt_load_relaxed(&pt_gates)))
        note_use(id);
}

PT_PUBLIC int posixtrace_context(const char *traceparent)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    uint64_t open = pt_load_relaxed(&gates[POSIXTRACE_CONTEXT]);
    struct pt_traceparent context = { .flags = 0 };
    bool good = !traceparent || pt_traceparent_parse(traceparent, &context);

    if (pt_unlikely(open != 0)) {
        pt_event_record_open(gates, open, POSIXTRACE_CONTEXT, &context, sizeof context);
        if (pt_unlikely(pt_load_relaxed(&noted) != pt_load_relaxed(&pt_gates)))
            note_use(POSIXTRACE_CONTEXT);
    }
    return good ? 0 : EINVAL;
}

PT_PUBLIC bool posixtrace_system_wanted(void)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);

    return pt_load_relaxed(&gates[0]) != 0;
}

PT_PUBLIC bool posixtrace_system_wants(trace_event_id_t before, trace_event_id_t after)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);

    if (pt_likely(pt_load_relaxed(&gates[0]) == 0) ||
        pt_unlikely((before > after ? before : after) > PT_ID_OWN_LAST))
        return 0;
    return (pt_load_relaxed(&gates[before]) | pt_load_relaxed(&gates[after]) |
            pt_load_relaxed(&gates[PT_ID_CPU_TIME])) != 0;
}

PT_PUBLIC void posixtrace_waiting_begin(struct posixtrace_waiting *w)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    int clock = pt_clock_choose();

    w->streams = pt_event_begins_call(w->type) ? pt_load_relaxed(&gates[w->type]) : 0;
    w->began = pt_clock_now(clock);
    if (!w->streams)
        return;
    pt_waiting_begin(w, clock);
    if (pt_unlikely(pt_load_relaxed(&noted) != pt_load_relaxed(&pt_gates)))
        note_use(w->type);
}

PT_PUBLIC void posixtrace_waiting_end(const struct posixtrace_waiting *w,
                                      const struct posixtrace_waiting *outer)
{
    if (w->streams | (outer ? outer->streams : 0))
        pt_waiting_end(w->streams, outer);
}

#define EXACT_NS 100000u /* from this length on the slope is measured again */

/* The slope of the clock is as good as the time since it was first measured is long. */
PT_PUBLIC int64_t posixtrace_waiting_ns(const struct posixtrace_waiting *w)
{
    static uint64_t slope;
    int clock = pt_clock_choose();
    uint64_t ticks = pt_clock_now(clock) - w->began, now = pt_load_relaxed(&slope), ns;

    if (clock != PT_CLOCK_TSC)
        return (int64_t)ticks;
    ns = now ? pt_mul128_mul(ticks, now) : EXACT_NS;
    if (pt_unlikely(ns >= EXACT_NS)) {
        now = pt_clock_slope(clock);
        pt_store_relaxed(&slope, now);
        ns = pt_mul128_mul(ticks, now);
    }
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

PT_PUBLIC uint64_t posixtrace_system_streams(trace_event_id_t id)
{
    const uint64_t *gates = pt_load_pointer(&pt_gates);
    const struct pt_page *page = (const void *)((const char *)gates -
                                                offsetof(struct pt_page, gates));
    uint64_t open, sum;

    if (id > PT_ID_OWN_LAST || !pt_event_is_own(id))
        return 0;
    open = pt_load_relaxed(&gates[id]);
    if (open == 0)
        return 0;
    sum = page->pid + 1u;
    for (; open; open &= open - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(open);

        sum = (sum ^ bit ^ pt_load_relaxed(&page->epoch[bit]) << 6) * 0x9e3779b97f4a7c15ull;
    }
    return sum ? sum : 1;
}

PT_PUBLIC int posixtrace_eventset_system(const char *groups, trace_event_set_t *set)
{
    return groups && set && pt_groups_read(groups, (struct pt_set *)(void *)set) ? 0 : EINVAL;
}

PT_PUBLIC const char *posixtrace_call_text(unsigned call)
{
    return pt_event_call_name(call);
}

PT_PUBLIC const char *posixtrace_system_text(trace_event_id_t id)
{
    return pt_event_system_name(id);
}

PT_PUBLIC void posixtrace_thread_renamed(pthread_t thread)
{
    pt_thread_renamed((uint64_t)(uintptr_t)thread);
}
