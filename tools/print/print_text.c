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
 * Times are since the first event of the log, deltas since the line before, if that is of the same
 * clock.  Of a log that has overwritten its oldest events the first event is the mark of the loss,
 * and the header names both: the mark, and the first event kept, from which the span counts.
 * Without a limit, as in a pipe, nothing is left out, and a name longer than its column
 * (print_columns.c) moves the rest of its line.  Where lines have a limit, as on a terminal,
 * none is longer: a long name has ".." in its middle, and of data as much is shown as fits.
 */
#include "print/print.h"

#include <posixtrace/system.h>

#include "common/colour.h"
#include "common/stdout_buffer.h"

#define PUT(to, literal) put_text(to, literal, sizeof literal - 1)
#define SECOND           1000000000u
#define PREDEFINED       "posix_trace_"
#define OWN              "posixtrace_"

/* The largest width of a delta, and the smallest for a name with the slash after it: with less,
 * only the kernel id of the thread is shown. */
enum { DELTA_WIDTH = 9, NAMED_MIN = 5 };

static char *put_colour(char *to, enum colour c)
{
    const char *code = colour_code(c);

    return put_text(to, code, strlen(code));
}

static bool is_predefined(trace_event_id_t id)
{
    return id >= POSIX_TRACE_START && id <= POSIX_TRACE_ERROR;
}

/* Predefined types other than the unnamed one: "-- flush start"; those of
 * posixtrace/system.h: "- switch in". */
static char *short_name(const struct print *p, char *to, const char *mark, const char *prefix,
                        const char *name)
{
    size_t length = strlen(prefix);
    char *end;

    if (strncmp(name, prefix, length) == 0)
        name += length;
    to = put_text(to, mark, strlen(mark));
    for (end = utf8_show(to, name, print_style(p)); to < end; to++) {
        if (*to == '_')
            *to = ' ';
    }
    return end;
}

static char *type_cell(struct print *p, char *to, const struct posixtrace_event *e, size_t width,
                       uint32_t *columns)
{
    bool alarm = e->id == POSIX_TRACE_ERROR || e->id == POSIX_TRACE_OVERFLOW;
    size_t used;
    char *name;

    name = to = put_colour(to, alarm                  ? COLOUR_ALARM
                               : is_predefined(e->id) ? COLOUR_MARK
                                                      : COLOUR_NAME);
    if (is_predefined(e->id))
        to = short_name(p, to, "-- ", PREDEFINED, e->name);
    else if (describe_is_own(e))
        to = short_name(p, to, "- ", OWN, e->name);
    else
        to = utf8_show(to, e->name, print_style(p));
    to = utf8_cut_here(name, to, width, &used);
    *columns = (uint32_t)used;
    return put_colour(to, COLOUR_PLAIN);
}

char *print_thread_text(char *to, const char *name, pid_t tid, enum utf8_style how, size_t width)
{
    char *begin = to, id[16], *end = id;
    size_t columns;

    if (name[0] && tid && width < NAMED_MIN + pt_number_digits((uint64_t)tid))
        name = "";
    if (name[0] && tid)
        *end++ = '/';
    if (tid)
        end = pt_number_i64(end, tid);
    else if (!name[0])
        *end++ = '-';
    columns = (size_t)(end - id);
    to = utf8_show(to, name, how);
    to = utf8_cut_here(begin, to, width > columns ? width - columns : 0, &columns);
    to = put_text(to, id, (size_t)(end - id));
    return utf8_cut_here(begin, to, width, &columns);
}

static char *thread_cell(struct print *p, char *to, const struct posixtrace_event *e,
                         uint32_t *columns)
{
    size_t width = p->width > 0 ? p->thread_width : SIZE_MAX, before = 0, used;
    char *begin = to, *shown;

    if (p->pid_width > 0) {
        to = utf8_cut_here(to, pt_number_i64(to, e->pid), p->width > 0 ? p->pid_width : SIZE_MAX,
                           &used);
        while ((size_t)(to - begin) < p->pid_width)
            *to++ = ' ';
        to = PUT(to, "  ");
        before = (size_t)(to - begin);
    }
    shown = to = put_colour(to, COLOUR_THREAD);
    to = print_thread_text(to, e->thread_name, e->tid, print_style(p), width);
    *columns = (uint32_t)(before + utf8_columns(shown, (size_t)(to - shown)));
    return put_colour(to, COLOUR_PLAIN);
}

static void begin(struct print *p)
{
    print_columns_begin(p);
    p->last = p->origin;
    p->coloured = colour_is_on();
}

static char *put_time(char *to, int64_t since, unsigned width, bool limited)
{
    uint64_t size = since < 0 ? 0 - (uint64_t)since : (uint64_t)since;
    unsigned used = pt_number_digits(size / SECOND) + 10 + (since < 0);

    if (used < width)
        to = put_spaces(to, width - used);
    if (since < 0)
        *to++ = '-';
    to = pt_number_u64(to, size / SECOND);
    *to++ = '.';
    to = put_nine(to, (uint32_t)(size % SECOND));
    /* where lines have a limit decimals go, the last ones first */
    return used > width && limited ? to - (used - width < 9 ? used - width : 9) : to;
}

/* The same where lines have no limit.  Most events are in the second of the one before. */
static char *put_time_again(struct print *p, char *to, int64_t since)
{
    struct second *s = &p->second;
    uint64_t after = (uint64_t)since - (uint64_t)s->at;

    if (s->length == 0 || after >= SECOND) {
        char *end = put_time(to, since, p->time_width, false);

        s->length = 0;
        if (since >= 0 && end - to - 9 <= OUT_SHORT) {
            s->length = (uint32_t)(end - to - 9);
            s->at = since - since % SECOND;
            memcpy(s->text, to, s->length);
        }
        return end;
    }
    return put_nine(put_short(to, s->text, s->length), (uint32_t)after);
}

/* Four digits. */
static char *put_delta(char *to, int64_t delta)
{
    char text[PT_NUMBER_MAX], *end = text;
    size_t used;

    *end++ = delta < 0 ? '-' : '+';
    end = pt_number_time(end, delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta);
    used = (size_t)(end - text);
    if (used < DELTA_WIDTH)
        to = put_spaces(to, DELTA_WIDTH - (unsigned)used);
    return put_short(to, text, used);
}

/* The part of a row beside its names. */
struct detail {
    bool described;                    /* text is it */
    const posixtrace_layout_t *layout; /* else of the data, or NULL */
    char text[4096];
};

/* A type that has no description at one event of a batch has none at the others: the log was read
 * up to the last of them. */
static const posixtrace_layout_t *layout_of(struct print *p, const struct posixtrace_event *e)
{
    struct type_layout *known;

    if (e->id >= PRINT_TYPES)
        return layouts_find(&p->from->layouts, p->from->log->trid, e);
    known = &p->from->type_layouts[e->id];
    if (known->batch != p->from->batch) {
        known->layout = layouts_find(&p->from->layouts, p->from->log->trid, e);
        known->batch = p->from->batch;
    }
    return known->layout;
}

/* False: nothing. */
static bool has_detail(struct print *p, const struct posixtrace_event *e, struct detail *d)
{
    bool own = describe_is_own(e);

    d->layout = NULL;
    d->described = (is_predefined(e->id) || own) && describe_event(p, e, d->text, sizeof d->text);
    if (!d->described && (!own || e->id > POSIXTRACE_SIGNAL_END))
        d->layout = layout_of(p, e);
    return d->described || d->layout || e->data_len > 0 || e->truncation;
}

static void put_detail(struct print *p, const struct posixtrace_event *e, const struct detail *d)
{
    const char *mark = e->truncation ? " [truncated]" : d->layout ? " [not as described]" : "";
    size_t left = p->data_width;

    if (d->described)
        print_clipped(d->text, strlen(d->text), left);
    else if (!d->layout)
        print_data(p, e, left, mark);
    else if (!print_fields(p, e, d->layout,
                           e->truncation && left != SIZE_MAX ? left - strlen(mark) : left))
        print_data(p, e, left, mark);
    else if (e->truncation)
        out_text(mark);
}

/* Few bytes without a description, shown whole. */
static bool is_simple(const struct print *p, const struct posixtrace_event *e,
                      const struct detail *d)
{
    return p->data_width == SIZE_MAX && !d->described && !d->layout && !e->truncation &&
           e->data_len <= PRINT_SHORT;
}

static void event(struct print *p, const struct posixtrace_event *e)
{
    struct detail detail;
    const bool has_data = has_detail(p, e, &detail);
    const struct cell *thread = print_thread_cell(p, e), *type = print_type_cell(p, e, has_data);
    const struct cell *label = p->log_width > 0 ? print_label_cell(p) : NULL;
    char *to = out_room(thread->padded + type->padded + (label ? label->padded : 0) + 256 +
                        PRINT_SHORT_ROOM);

    if (p->width > 0)
        to = put_time(to, e->ns - p->origin, p->time_width, true);
    else
        to = put_time_again(p, to, e->ns - p->origin);
    if (p->delta_width > 0) {
        *to++ = ' ';
        if (p->coloured)
            to = put_colour(to, COLOUR_FAINT);
        to = p->printed == 0 || p->other_clock ? PUT(to, "        -")
                                               : put_delta(to, e->ns - p->last);
        if (p->coloured)
            to = put_colour(to, COLOUR_PLAIN);
    }
    to = PUT(to, "  ");
    if (p->log_width > 0)
        to = put_short(to, label->text, label->padded);
    to = put_short(to, thread->text, thread->padded);
    to = put_short(to, type->text, has_data ? type->padded : type->length);
    if (has_data && is_simple(p, e, &detail)) {
        to = print_put_data(p, to, e);
    } else if (has_data) {
        out_taken(to);
        put_detail(p, e, &detail);
        to = out_room(1);
    }
    *to++ = '\n';
    out_taken(to);
    p->last = e->ns;
}

static void end(struct print *p)
{
    if (p->printed > 0)
        return;
    if (p->any)
        out_text("# no event was selected\n");
    else if (p->source_count > 1)
        out_format("# %zu logs: no events\n", p->source_count);
    else
        out_format("# %s: no events\n", p->from->log->shown);
}

const struct printer printer_text = { begin, event, type_cell, thread_cell, end };
