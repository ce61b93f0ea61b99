/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Losses as data: a span for each time in which events are missing, with the attribute
 * posixtrace.missing, and one for each thread that lost events and for the log, with their numbers
 * by cause.  These span the log, as it does not say more of where they were lost.
 */
#include <stdio.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

/* A span of a thread, or of none, with the attributes that are in scratch. */
static void put(struct pt_otlp *o, const struct pt_tl_track *t, const char *name, int64_t from,
                int64_t to, bool open)
{
    struct pt_otlp_open span = { .name = name, .since = from };
    const struct pt_otlp_end end = { .ns = to, .open = open };
    char text[4096];

    span.used = span.attributes = (uint32_t)(o->scratch.used < sizeof text ? o->scratch.used : 0);
    memcpy(text, o->scratch.text, span.used);
    span.text = text;
    pt_otlp_complete(o, t, from, name, NULL, &span.ids);
    pt_otlp_write(o, t, &span, &end);
}

static void put_gap(struct pt_otlp *o, const char *why, int64_t from, int64_t to, bool open)
{
    static const struct pt_tl_track none;

    o->scratch.used = 0;
    pt_otlp_put_text(&o->scratch, "posixtrace.missing", why, strlen(why));
    put(o, &none, why, from, to, open);
}

static const char lost_text[] = "events were lost", stopped_text[] = "recording was stopped";

/* Marks that follow each other without an end, as of a log that lost one, are one gap. */
bool pt_otlp_mark(struct pt_otlp *o, const struct pt_tl_event *ev)
{
    int64_t ns = ev->e->ns;

    switch (ev->e->id) {
    case POSIX_TRACE_OVERFLOW: o->gap_ns = o->gap_ns == INT64_MIN ? ns : o->gap_ns; return true;
    case POSIX_TRACE_STOP: o->stop_ns = o->stop_ns == INT64_MIN ? ns : o->stop_ns; return true;
    case POSIX_TRACE_RESUME:
        put_gap(o, lost_text, o->gap_ns == INT64_MIN ? ns : o->gap_ns, ns, false);
        o->gap_ns = INT64_MIN;
        return true;
    case POSIX_TRACE_START:
        if (o->stop_ns != INT64_MIN)
            put_gap(o, stopped_text, o->stop_ns, ns, false);
        o->stop_ns = INT64_MIN;
        return true;
    default: return false;
    }
}

/* A log ends with STOP. */
void pt_otlp_end_gaps(struct pt_otlp *o)
{
    if (o->gap_ns != INT64_MIN)
        put_gap(o, lost_text, o->gap_ns, o->last_ns, true);
}

void pt_otlp_lost(struct pt_otlp *o, const struct pt_tl_track *t,
                  const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    uint64_t sum = 0;
    char key[128];

    o->scratch.used = 0;
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += lost[i];
    pt_otlp_put_int(&o->scratch, "posixtrace.lost", (int64_t)sum);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (!lost[i])
            continue;
        snprintf(key, sizeof key, "posixtrace.lost.%s", posixtrace_loss_cause_text(i));
        for (char *p = key; *p; p++)
            *p = *p == ' ' ? '_' : *p;
        pt_otlp_put_int(&o->scratch, key, (int64_t)lost[i]);
    }
    put(o, t, "events lost", o->first_ns, o->last_ns, false);
}
