/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * print --format=text, for people:
 *
 *   # header: the log, its first event's time
 *   #       TIME     DELTA  THREAD       EVENT     DATA
 *      0.000000000         -  main/4711    -- start  ignores nothing
 *      0.000012345  +12.35us  main/4711    hello     776f726c64 "world"
 *
 * Times are since the first event of the log, deltas since the line before.  Of a log that has
 * overwritten its oldest events that is the mark of the loss, and the header names both: the
 * mark, and the first event kept, from which the span counts.
 * Columns are as wide as what the log will show needs, within limits; a name
 * that is longer moves the rest of its line and is never cut.  Data is shown
 * as far as the line's width allows, at least four bytes of it; all of it is
 * in the other formats.
 */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "out.h"
#include "tool.h"
#include "when.h"

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)
#define SECOND 1000000000u
#define PREDEFINED "posix_trace_"

enum { DELTA_WIDTH = 9, PID_WIDTH = 7, THREAD_MIN = 6, THREAD_MAX = 21, EVENT_MIN = 5,
       EVENT_MAX = 26, DATA_MIN = 4,
       LEFT_OUT_MIN = 4 };

enum colour { PLAIN, FAINT, THREAD, NAME, MARK, ALARM };

static const char *const colours[] = {
    "\033[0m", "\033[2m", "\033[36m", "\033[1m", "\033[1;34m", "\033[1;31m"
};

static char *put_colour(const struct print *p, char *to, enum colour c)
{
    return p->colour ? put_text(to, colours[c], strlen(colours[c])) : to;
}

static enum chars_style style(const struct print *p)
{
    return p->utf8 ? CHARS_TERMINAL : CHARS_TERMINAL_ASCII;
}

static bool is_predefined(trace_event_id_t id)
{
    return id >= POSIX_TRACE_START && id <= POSIX_TRACE_ERROR;
}

/* Predefined types other than the unnamed one: "-- flush start". */
static char *predefined_name(char *to, const char *name)
{
    if (strncmp(name, PREDEFINED, sizeof PREDEFINED - 1) == 0)
        name += sizeof PREDEFINED - 1;
    to = PUT(to, "-- ");
    for (; *name; name++)
        *to++ = *name == '_' ? ' ' : *name;
    return to;
}

static char *type_cell(struct print *p, char *to, const struct posixtrace_event *e,
                       uint32_t *columns)
{
    bool alarm = e->id == POSIX_TRACE_ERROR || e->id == POSIX_TRACE_OVERFLOW;
    char *name;

    name = to = put_colour(p, to, alarm ? ALARM : is_predefined(e->id) ? MARK : NAME);
    to = is_predefined(e->id) ? predefined_name(to, e->name) : chars_show(to, e->name, style(p));
    *columns = (uint32_t)chars_columns(name, (size_t)(to - name));
    return put_colour(p, to, PLAIN);
}

static char *thread_text(char *to, const char *name, pid_t tid, enum chars_style how)
{
    to = chars_show(to, name, how);
    if (name[0] && tid)
        *to++ = '/';
    if (tid)
        to = put_i64(to, tid);
    else if (!name[0])
        *to++ = '-';
    return to;
}

static char *thread_cell(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns)
{
    char *begin = to, *shown;
    uint32_t before = 0;

    if (p->show_pid) {
        to = put_i64(to, e->pid);
        while (to - begin < PID_WIDTH)
            *to++ = ' ';
        to = PUT(to, "  ");
        before = (uint32_t)(to - begin);
    }
    shown = to = put_colour(p, to, THREAD);
    to = thread_text(to, e->thread_name, e->tid, style(p));
    *columns = before + (uint32_t)chars_columns(shown, (size_t)(to - shown));
    return put_colour(p, to, PLAIN);
}

/* A column becomes as wide as its widest cell, but not for cells beyond a
 * limit: those move the rest of their line. */
static void widen(unsigned *width, size_t columns, unsigned limit)
{
    if (columns <= limit && columns > *width)
        *width = (unsigned)columns;
}

/* Learns from the log's threads how wide their column is, and whether there
 * are several processes. */
static void measure_threads(struct print *p)
{
    struct posixtrace_thread_info t;
    char text[sizeof t.name * CHARS_MAX_ESCAPE + 32];
    size_t cursor = 0;
    int unavailable = 0;
    pid_t pid = 0;

    p->thread_width = THREAD_MIN;
    while (posixtrace_thread_getnext(p->log->trid, &cursor, &t, &unavailable) == 0 &&
           !unavailable) {
        char *end = thread_text(text, t.name, t.tid, style(p));

        widen(&p->thread_width, chars_columns(text, (size_t)(end - text)), THREAD_MAX);
        p->show_pid |= (t.pid == 0 && t.name[0]) || (pid != 0 && t.pid != 0 && t.pid != pid);
        pid = t.pid ? t.pid : pid;
    }
}

static void measure_types(struct print *p)
{
    struct log_type *types;
    size_t count;

    p->event_width = EVENT_MIN;
    if (log_file_types(p->log, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++) {
        struct posixtrace_event e = { .id = types[i].id, .name = types[i].name };

        if (types[i].count > 0)
            widen(&p->event_width, print_type_cell(p, &e)->columns, EVENT_MAX);
    }
    free(types);
}

static void header(struct print *p)
{
    const struct posixtrace_info *info = &p->log->info;

    out_format("# %s: ", p->log->shown);
    if (p->log->seekable)
        out_format("%" PRIu64 " event%s in %s, ", info->events, info->events == 1 ? "" : "s",
                   when_span(info->last_ns - p->kept_from));
    out_format("from %s", when_iso(p->kept_from));
    if (p->kept_from != p->origin)
        out_format("; TIME 0 is %s, when the first loss began", when_iso(p->origin));
    out_text("\n#");
    out_spaces(p->time_width - 5);
    out_format("TIME%*s  ", DELTA_WIDTH + 1, "DELTA");
    if (p->show_pid)
        out_format("%-*s  ", PID_WIDTH, "PID");
    out_format("%-*s  %-*s  DATA\n", (int)p->thread_width, "THREAD", (int)p->event_width, "EVENT");
}

static void begin(struct print *p)
{
    uint64_t span = (uint64_t)(p->log->info.last_ns - p->log->info.first_ns) / SECOND;
    char digits[24];

    if (p->log->seekable) {
        measure_threads(p);
        measure_types(p);
        p->time_width = (unsigned)(put_u64(digits, span) - digits) + 10;
    } else {
        /* A pipe's names are not known yet. */
        p->show_pid = true;
        p->thread_width = 16;
        p->event_width = 16;
        p->time_width = 12;
    }
    if (p->any)
        header(p);
    p->last = p->origin;
}

static char *put_time(char *to, int64_t since, unsigned width)
{
    uint64_t size = since < 0 ? 0 - (uint64_t)since : (uint64_t)since;
    unsigned used = out_digits(size / SECOND) + 10 + (since < 0);

    if (used < width)
        to = put_spaces(to, width - used);
    if (since < 0)
        *to++ = '-';
    to = put_u64(to, size / SECOND);
    *to++ = '.';
    return put_nine(to, (uint32_t)(size % SECOND));
}

/* Four digits: 999ns 1.234us 12.34us 123.4us 1.234ms ... 9999s. */
static char *put_delta(char *to, int64_t delta)
{
    static const char units[4][3] = { "ns", "us", "ms", "s" };
    uint64_t size = delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
    uint64_t rest = 0;
    unsigned unit = 0, decimals, digits, used;

    while (size >= 1000 && unit < 3) {
        rest = size % 1000;
        size /= 1000;
        unit++;
    }
    digits = out_digits(size);
    decimals = unit == 0 || digits > 3 ? 0 : 4 - digits;
    used = 1 + digits + decimals + (decimals > 0) + (unit == 3 ? 1 : 2);
    if (used < DELTA_WIDTH)
        to = put_spaces(to, DELTA_WIDTH - used);
    *to++ = delta < 0 ? '-' : '+';
    to = put_u64(to, size);
    if (decimals > 0) {
        *to++ = '.';
        /* the first so many of three digits */
        to[0] = (char)('0' + rest / 100);
        memcpy(to + 1, out_digit_pairs + 2 * (rest % 100), 2);
        to += decimals;
    }
    return put_text(to, units[unit], unit == 3 ? 1 : 2);
}

static uint64_t as_number(const uint8_t *data, size_t length)
{
    uint64_t value = 0;

    memcpy(&value, data, length);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value >>= 8 * (sizeof value - length);
#endif
    return value;
}

/* The text beside the hexadecimal digits: "text", = number, or |..xt..|. */
static char *put_reading(const struct print *p, char *to, const uint8_t *data, size_t shown,
                         size_t length)
{
    bool ended = shown == length && length > 1 && data[length - 1] == 0;
    size_t body = shown - ended;

    *to++ = ' ';
    if (chars_are_plain(data, body, style(p))) {
        *to++ = '"';
        to = put_text(to, (const char *)data, body);
        return ended ? PUT(to, "\\0\"") : PUT(to, "\"");
    }
    if (length == 1 || length == 2 || length == 4 || length == 8) {
        to = PUT(to, "= ");
        return put_u64(to, as_number(data, length));
    }
    *to++ = '|';
    for (size_t i = 0; i < shown; i++)
        *to++ = data[i] >= 0x20 && data[i] < 0x7f ? (char)data[i] : '.';
    *to++ = '|';
    return to;
}

/* How many bytes of data fit into the columns left. */
static size_t data_fits(const struct print *p, size_t used, size_t length)
{
    size_t left = p->width > used ? p->width - used : 0, rest, fit;
    char digits[24];

    if (p->width == 0 || 3 * length + 3 <= left)
        return length;
    rest = sizeof " + bytes" + 2 + (size_t)(put_u64(digits, length) - digits);
    fit = left > rest ? (left - rest) / 3 : 0;
    fit = fit < DATA_MIN ? DATA_MIN : fit;
    return fit + LEFT_OUT_MIN <= length ? fit : length;
}

/* In hexadecimal, with mark behind it. */
static void put_data(struct print *p, const struct posixtrace_event *e, size_t used,
                     const char *mark)
{
    const uint8_t *data = e->data;
    size_t shown = data_fits(p, used, e->data_len);
    char *to;

    out_hex(data, shown);
    if (shown <= OUT_BUFFER / 4 && (shown > 0 || !*mark)) {
        to = out_room(shown + 64);
        out_taken(put_reading(p, to, data, shown, e->data_len));
    }
    if (shown < e->data_len) {
        to = PUT(out_room(64), " +");
        to = put_u64(to, e->data_len - shown);
        out_taken(PUT(to, " bytes"));
    }
    if (!e->truncation)
        out_text(e->data_len ? mark : mark + (*mark == ' '));
}

static void put_detail(struct print *p, const struct posixtrace_event *e, const struct cell *type,
                       size_t used)
{
    const posixtrace_layout_t *layout = NULL;
    char text[1024];
    bool described = (is_predefined(e->id) || describe_is_own(e)) &&
                     describe_event(p->log, e, text, sizeof text);

    if (!described && !describe_is_own(e))
        layout = print_layout(p, e);
    if (!described && !layout && e->data_len == 0 && !e->truncation)
        return;
    if (type->columns < p->event_width)
        out_spaces(p->event_width - type->columns);
    out_spaces(2);
    used += type->columns < p->event_width ? p->event_width + 2 : type->columns + 2;
    if (described)
        out_text(text);
    else if (!(layout && print_fields(p, e, layout, used)))
        put_data(p, e, used, layout ? " [not as described]" : "");
    if (!described && e->truncation)
        out_text(" [truncated]");
}

static void event(struct print *p, const struct posixtrace_event *e)
{
    const struct cell *thread = print_thread_cell(p, e), *type = print_type_cell(p, e);
    size_t wide = p->thread_width + (p->show_pid ? PID_WIDTH + 2 : 0), pad;
    char *to = out_room(thread->length + type->length + 256);

    to = put_time(to, e->ns - p->origin, p->time_width);
    *to++ = ' ';
    to = put_colour(p, to, FAINT);
    to = p->printed == 0 ? PUT(to, "        -") : put_delta(to, e->ns - p->last);
    to = put_colour(p, to, PLAIN);
    to = PUT(to, "  ");
    to = put_short(to, thread->text, thread->length);
    pad = (thread->columns < wide ? wide - thread->columns : 0) + 2;
    to = put_spaces(to, pad);
    to = put_short(to, type->text, type->length);
    out_taken(to);
    put_detail(p, e, type, p->time_width + DELTA_WIDTH + 3 + thread->columns + pad);
    out_bytes("\n", 1);
    p->last = e->ns;
}

static void end(struct print *p)
{
    if (p->printed > 0)
        return;
    if (p->any)
        out_text("# no event was selected\n");
    else
        out_format("# %s: no events\n", p->log->shown);
}

const struct printer printer_text = { begin, event, type_cell, thread_cell, end };
