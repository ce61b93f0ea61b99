/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The columns of print --format=text and their heading.
 *
 * Without a limit a column is as wide as its widest cell, up to a maximum of its own; wider cells
 * shift the rest of their line.  With a limit the event and the thread share two thirds of the room
 * beside the numbers, and data has the rest; the wider one is narrowed first.  If there is too
 * little room, the delta is left out, then the process.
 */
#include "print/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/time_parse.h"

enum {
    DELTA_WIDTH = 9,
    PID_WIDTH = 7,
    PID_MIN = 3,
    THREAD_MIN = 6,
    THREAD_MAX = 21,
    LOG_MIN = 3,
    LOG_MAX = 16,
    EVENT_MIN = 5,
    EVENT_MAX = 26,
    GAP = PRINT_GAP
};
/* Widths for a log on a pipe, whose names and times are not known yet. */
enum { PIPE_NAME = 16, PIPE_TIME = 12, PIPE_NAME_LIMITED = 20, PIPE_TIME_LIMITED = 13 };
/* With fewer columns for thread, event and data, the delta is left out, and then the process. */
enum { REST_WITH_DELTA = 36, REST_WITH_PID = 12 };

#define SECOND 1000000000u

enum utf8_style print_style(const struct print *p)
{
    return p->utf8 ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
}

static void widen(unsigned *width, size_t columns, unsigned limit)
{
    if (columns <= limit && columns > *width)
        *width = (unsigned)columns;
}

/* The time of the last event. */
static int64_t print_last(const struct print *p)
{
    int64_t last = p->origin;

    for (size_t i = 0; i < p->source_count; i++) {
        const struct posixtrace_info *info = &p->sources[i]->log->info;

        if (info->events > 0 && info->last_ns > last)
            last = info->last_ns;
    }
    return last;
}

/* Learns from the threads of a log how wide their column is, and whether there are several
 * processes: *pid is the one seen before, or 0. */
static bool measure_threads(struct print *p, trace_id_t trid, unsigned *pid_width, pid_t *pid)
{
    const unsigned limit = p->width > 0 ? p->width : THREAD_MAX;
    struct posixtrace_thread_info t;
    char text[sizeof t.name * UTF8_MAX_ESCAPE + 32];
    int unavailable = 0;
    bool several = false;

    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &unavailable) == 0 && !unavailable) {
        char *end = print_thread_text(text, t.name, t.tid, print_style(p), SIZE_MAX);

        widen(&p->thread_width, utf8_columns(text, (size_t)(end - text)), limit);
        widen(pid_width, (size_t)(pt_number_i64(text, t.pid) - text), PID_WIDTH + 4);
        several |= (t.pid == 0 && t.name[0]) || (*pid != 0 && t.pid != 0 && t.pid != *pid);
        *pid = t.pid ? t.pid : *pid;
    }
    return several;
}

static void measure_types(struct print *p, const struct log_file *log)
{
    const unsigned limit = p->width > 0 ? p->width : EVENT_MAX;
    char text[sizeof((struct log_type *)0)->name * UTF8_MAX_ESCAPE + 32];
    struct log_type *types;
    uint32_t columns;
    size_t count;

    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++) {
        struct posixtrace_event e = { .id = types[i].id, .name = types[i].name };

        if (types[i].count == 0 || (p->width > 0 && types[i].id == POSIX_TRACE_UNNAMED_USEREVENT))
            continue;
        p->printer->type_cell(p, text, &e, SIZE_MAX, &columns);
        /* a name as wide as the limit is cut to its column */
        widen(&p->event_width, p->width > 0 && columns > limit ? limit : columns, limit);
    }
    free(types);
}

static void measure_labels(struct print *p)
{
    for (size_t i = 0; i < p->source_count && p->source_count > 1; i++) {
        const char *label = p->sources[i]->label;
        size_t columns = utf8_columns(label, strlen(label));

        p->log_width = LOG_MIN > p->log_width ? LOG_MIN : p->log_width;
        widen(&p->log_width, columns > LOG_MAX ? LOG_MAX : columns, LOG_MAX);
    }
}

/* The logs can be positioned, and are known as a whole. */
static void measure(struct print *p)
{
    unsigned pid_width = p->width > 0 ? PID_MIN : PID_WIDTH;
    bool several = false;
    char digits[24];
    pid_t pid = 0;

    p->thread_width = THREAD_MIN;
    p->event_width = EVENT_MIN;
    for (size_t i = 0; i < p->source_count; i++) {
        p->from = p->sources[i];
        several |= measure_threads(p, p->from->log->trid, &pid_width, &pid);
        measure_types(p, p->from->log);
    }
    p->from = p->sources[0];
    p->pid_width = several ? pid_width : 0;
    measure_labels(p);
    p->time_width = (unsigned)(pt_number_u64(digits,
                                             (uint64_t)(print_last(p) - p->origin) / SECOND) -
                               digits) +
                    10;
}

/* For thread, event and data, without the separators. */
static unsigned rest_of(const struct print *p)
{
    unsigned used = p->time_width + (p->delta_width > 0 ? 1 + p->delta_width : 0) + GAP +
                    (p->log_width > 0 ? p->log_width + GAP : 0) +
                    (p->pid_width > 0 ? p->pid_width + GAP : 0) + 2 * GAP;

    return p->width > used ? p->width - used : 0;
}

static void fit_names(struct print *p)
{
    unsigned names;

    if (rest_of(p) < REST_WITH_DELTA)
        p->delta_width = 0;
    if (rest_of(p) < REST_WITH_PID)
        p->pid_width = 0;
    names = rest_of(p) * 2 / 3;
    while (p->thread_width + p->event_width > names)
        --*(p->event_width >= p->thread_width ? &p->event_width : &p->thread_width);
    p->data_width = rest_of(p) - p->thread_width - p->event_width;
    p->alone_width = rest_of(p) + GAP - p->thread_width;
}

static uint64_t events_of(const struct print *p)
{
    uint64_t events = 0;

    for (size_t i = 0; i < p->source_count; i++)
        events += p->sources[i]->log->info.events;
    return events;
}

/* The comment above the columns. */
static void put_title(struct print *p)
{
    char count[40];
    const char *shown = p->source_count > 1 ? count : p->from->log->shown;
    size_t size, columns, used;
    uint64_t events = events_of(p);
    char *text, *at;

    snprintf(count, sizeof count, "%zu logs", p->source_count);
    size = strlen(shown) + 400;
    text = tool_grow(NULL, size, 1);
    at = put_text(text, shown, strlen(shown));
    at = utf8_cut_here(text, at, p->width > 0 ? p->width - 8 : SIZE_MAX, &columns);
    at = put_text(at, ": ", 2);
    used = (size_t)(at - text);
    if (p->from->log->seekable)
        used += (size_t)snprintf(text + used, size - used, "%" PRIu64 " event%s in %s%s, ", events,
                                 events == 1 ? "" : "s", p->several_clocks ? "about " : "",
                                 when_span(print_last(p) - p->kept_from));
    used += (size_t)snprintf(text + used, size - used, "from %s", when_iso(p->kept_from));
    if (p->kept_from != p->origin)
        snprintf(text + used, size - used, "; TIME 0 is %s, when the first loss began",
                 when_iso(p->origin));
    out_comment(text, p->width);
    free(text);
}

static void heading(struct print *p)
{
    put_title(p);
    out_text("#");
    out_spaces(p->time_width - 5);
    out_text("TIME");
    if (p->delta_width > 0)
        out_format(" %*s", p->delta_width, "DELTA");
    out_spaces(GAP);
    if (p->log_width > 0)
        out_format("%-*s  ", (int)p->log_width, "LOG");
    if (p->pid_width > 0)
        out_format("%-*s  ", (int)p->pid_width, "PID");
    out_format("%-*.*s  %-*.*s  DATA\n", (int)p->thread_width, (int)p->thread_width, "THREAD",
               (int)p->event_width, (int)p->event_width, "EVENT");
}

void print_columns_begin(struct print *p)
{
    if (p->from->log->seekable) {
        measure(p);
    } else {
        p->pid_width = PID_WIDTH;
        p->thread_width = p->event_width = p->width > 0 ? PIPE_NAME_LIMITED : PIPE_NAME;
        p->time_width = p->width > 0 ? PIPE_TIME_LIMITED : PIPE_TIME;
    }
    p->delta_width = DELTA_WIDTH;
    p->data_width = p->alone_width = SIZE_MAX;
    if (p->width > 0)
        fit_names(p);
    if (p->any)
        heading(p);
}
