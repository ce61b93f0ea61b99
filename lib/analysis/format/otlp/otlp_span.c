/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The text of a span. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

/* Bits of Span.flags: the parent's nature is known, and it is of another process. */
enum { HAS_REMOTE = 0x100, IS_REMOTE = 0x200, INTERNAL = 1, SERVER = 2 };
enum { NAME_BYTES = 1024 };

static void put_head(struct pt_json *j, const struct pt_otlp_open *span, int64_t end)
{
    const struct pt_otlp_ids *ids = &span->ids;

    PT_JSON_TEXT(j, "{\"traceId\":");
    pt_json_bytes(j, ids->self.trace, sizeof ids->self.trace);
    PT_JSON_TEXT(j, ",\"spanId\":");
    pt_json_bytes(j, ids->self.span, sizeof ids->self.span);
    if (ids->parent.any) {
        PT_JSON_TEXT(j, ",\"parentSpanId\":");
        pt_json_bytes(j, ids->parent.span, sizeof ids->parent.span);
    }
    PT_JSON_TEXT(j, ",\"flags\":");
    pt_json_unsigned(j, ids->self.flags | HAS_REMOTE | (ids->remote ? (unsigned)IS_REMOTE : 0u));
    PT_JSON_TEXT(j, ",\"name\":");
    pt_json_string(j, span->name, strnlen(span->name, NAME_BYTES));
    PT_JSON_TEXT(j, ",\"kind\":");
    pt_json_unsigned(j, ids->remote ? SERVER : INTERNAL);
    PT_JSON_TEXT(j, ",\"startTimeUnixNano\":\"");
    pt_json_signed(j, span->since);
    PT_JSON_TEXT(j, "\",\"endTimeUnixNano\":\"");
    pt_json_signed(j, end);
    pt_json_char(j, '"');
}

/* In a word of the shell. */
static size_t quote(char *to, size_t room, const char *path)
{
    size_t n = 0;

    to[n++] = '\'';
    for (; *path && n + 6 < room; path++) {
        if (*path == '\'') {
            memcpy(to + n, "'\\'", 3);
            n += 3;
        }
        to[n++] = *path;
    }
    to[n++] = '\'';
    return n;
}

/* The command that prints its events from the log. */
static void put_command(struct pt_otlp *o, const struct pt_tl_track *t, int64_t from, int64_t to)
{
    char text[4 * 4096];
    int n = snprintf(text, sizeof text,
                     "posixtrace print --from=%" PRId64 " --to=%" PRId64 " --where='pid %ld' ",
                     from, to, (long)t->pid);

    pt_otlp_put_text(&o->scratch, "posixtrace.command", text,
                     (size_t)n + quote(text + n, sizeof text - (size_t)n, o->log_file));
}

static void put_own_attributes(struct pt_otlp *o, const struct pt_tl_track *t,
                               const struct pt_otlp_open *span, const struct pt_otlp_end *end)
{
    struct pt_json *j = &o->scratch;

    if (t->tid) {
        pt_otlp_put_int(j, "thread.id", t->tid);
        if (t->name[0])
            pt_otlp_put_text(j, "thread.name", t->name, strnlen(t->name, sizeof t->name));
    }
    if (end->cut)
        pt_otlp_put_text(j, "posixtrace.cut", end->cut, strlen(end->cut));
    if (end->open)
        pt_otlp_put_true(j, "posixtrace.open");
    if (end->ns < span->since)
        pt_otlp_put_true(j, "posixtrace.clock_set_back");
    if (o->command && o->log_file)
        put_command(o, t, span->since, end->ns > span->since ? end->ns : span->since);
}

static void put_link(struct pt_json *j, const struct pt_otlp_place *link)
{
    PT_JSON_TEXT(j, ",\"links\":[{\"traceId\":");
    pt_json_bytes(j, link->trace, sizeof link->trace);
    PT_JSON_TEXT(j, ",\"spanId\":");
    pt_json_bytes(j, link->span, sizeof link->span);
    PT_JSON_TEXT(j, ",\"flags\":");
    pt_json_unsigned(j, link->flags | (unsigned)HAS_REMOTE);
    PT_JSON_TEXT(j, "}]");
}

static void put_count(struct pt_json *j, const char *name, size_t length, uint32_t count)
{
    if (count == 0)
        return;
    PT_JSON_TEXT(j, ",\"");
    pt_json_text(j, name, length);
    PT_JSON_TEXT(j, "\":");
    pt_json_unsigned(j, count);
}
#define PUT_COUNT(j, name, count) put_count(j, name, sizeof name - 1, count)

/* Its text has a comma before each attribute and each event. */
static void put_body(struct pt_otlp *o, struct pt_otlp_process *p, const struct pt_tl_track *t,
                     const struct pt_otlp_open *span, const struct pt_otlp_end *end)
{
    const char *key = ",\"attributes\":[";
    struct pt_json *j = &o->scratch;
    uint32_t dropped = span->dropped_attributes, bytes = span->attributes;
    size_t before = p->bytes;

    put_own_attributes(o, t, span, end);
    if (end->ev)
        pt_otlp_put_data(o, end->ev, span->begun ? span : NULL, &dropped);
    if (bytes + j->used > 0) {
        pt_otlp_append(o, p, key, strlen(key));
        before = p->bytes;
        pt_otlp_append(o, p, span->text, bytes);
        pt_otlp_take(o, p);
        if (p->bytes > before)
            p->text[before] = ' ';
        pt_json_char(j, ']');
    }
    PUT_COUNT(j, "droppedAttributesCount", dropped);
    if (span->events > 0) {
        PT_JSON_TEXT(j, ",\"events\":[");
        pt_otlp_take(o, p);
        pt_otlp_append(o, p, span->text + bytes + 1, span->used - bytes - 1);
        pt_json_char(j, ']');
    }
    PUT_COUNT(j, "droppedEventsCount", span->dropped_events);
}

void pt_otlp_write(struct pt_otlp *o, const struct pt_tl_track *t, const struct pt_otlp_open *span,
                   const struct pt_otlp_end *end)
{
    struct pt_otlp_process *p;
    struct pt_json *j = &o->scratch;

    if (span->since < 0 || end->ns < 0) {
        pt_job_left_out(o->job, PT_OTLP_NOTE_EARLY,
                        "a span at %lld ns is from before 1970, which OTLP cannot say",
                        (long long)span->since);
        return;
    }
    p = pt_otlp_span_begin(o, t->pid);
    if (!p)
        return;
    j->used = 0;
    put_head(j, span, end->ns > span->since ? end->ns : span->since);
    pt_otlp_take(o, p);
    put_body(o, p, t, span, end);
    if (span->ids.link.any)
        put_link(j, &span->ids.link);
    if (end->ev)
        pt_otlp_put_status(j, end->ev);
    pt_json_char(j, '}');
    pt_otlp_take(o, p);
}
