/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See top_screen.h. */
#include "top/top_screen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/tool.h"
#include "common/units.h"

enum { LEAST_COLUMNS = 40, MOST_COLUMNS = 500, CYCLE = 6, NS = 1000000000 };

const char *top_state_word(enum top_state state)
{
    static const char *const words[] = { "running", "runnable", "waiting", "blocked", "unknown" };

    return words[state];
}

const char *top_sort_word(enum top_sort sort)
{
    static const char *const words[] = { "time", "rate", "name" };

    return words[sort];
}

/* ---- lines ---- */

void top_screen_free(struct top_screen *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->lines[i].text);
    free(s->lines);
    memset(s, 0, sizeof *s);
}

static size_t columns_of(const struct top_view *v)
{
    return v->columns < LEAST_COLUMNS  ? LEAST_COLUMNS
           : v->columns > MOST_COLUMNS ? MOST_COLUMNS
                                       : v->columns;
}

void top_screen_add(struct top_screen *to, const struct top_view *v, const char *text,
                    enum colour colour)
{
    size_t width = v->columns < LEAST_COLUMNS && v->columns > 0 ? v->columns : columns_of(v);
    size_t length = utf8_fit(text, strlen(text), width);
    char *copy;

    if (v->rows && to->count >= v->rows)
        return;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    copy = tool_grow(NULL, length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    to->lines = tool_grow(to->lines, to->count + 1, sizeof *to->lines);
    to->lines[to->count++] = (struct top_line){ copy, colour };
}

void top_screen_format(struct top_screen *to, const struct top_view *v, enum colour colour,
                       const char *format, ...)
{
    char text[TOP_LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    top_screen_add(to, v, text, colour);
}

/* Escaped; texts that are longer than a line are cut before. */
static const char *shown(const struct top_view *v, const char *text)
{
    static char buffers[4][SITES_TEXT * 2 * UTF8_MAX_ESCAPE + 1];
    static unsigned next;
    char cut[SITES_TEXT * 2], *to = buffers[next++ % 4];

    snprintf(cut, sizeof cut, "%s", text);
    *utf8_show(to, cut, v->style) = '\0';
    return to;
}

static void append(struct top_row *row, const char *text, size_t length, size_t columns)
{
    if (row->length + length >= sizeof row->text)
        return;
    memcpy(row->text + row->length, text, length);
    row->length += length;
    row->columns += columns;
    row->text[row->length] = '\0';
}

static void pad(struct top_row *row, size_t count)
{
    while (count-- > 0)
        append(row, " ", 1, 1);
}

void top_row_cell(struct top_row *row, const struct top_view *v, const char *text, size_t width,
                  bool left)
{
    const char *is = shown(v, text);
    size_t length = strlen(is), head, tail, taken;

    if (width == 0)
        width = utf8_columns(is, length);
    taken = utf8_cut(is, length, width, &head, &tail);
    if (row->columns > 0)
        pad(row, 1);
    if (!left && taken < width)
        pad(row, width - taken);
    append(row, is, head, utf8_columns(is, head));
    if (head < length) {
        append(row, "..", 2, 2);
        append(row, is + tail, length - tail, utf8_columns(is + tail, length - tail));
    }
    if (left && taken < width)
        pad(row, width - taken);
}

/* ---- the head ---- */

static const char *policy_word(int policy)
{
    return policy == POSIX_TRACE_LOOP    ? "LOOP"
           : policy == POSIX_TRACE_FLUSH ? "FLUSH"
                                         : "UNTIL_FULL";
}

static void put_stream(struct top_screen *to, const struct top_stream_row *s,
                       const struct top_view *v, const char *clock)
{
    char of[40];

    if (s->processes == 1)
        snprintf(of, sizeof of, "process %d", (int)s->pid);
    else
        snprintf(of, sizeof of, "%u processes", s->processes);
    top_screen_format(to, v, s->ended ? COLOUR_ALARM : COLOUR_NAME,
                      "top %s%s  %s, %s  %s, %s of %s", v->frozen ? "FROZEN at " : "", clock,
                      shown(v, s->name),
                      s->ended      ? "has ended: the last picture"
                      : !s->running ? "stopped"
                                    : of,
                      policy_word(s->policy), units_bytes(s->bytes), units_bytes(s->size));
}

static void put_streams(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    struct tm tm;
    time_t second = (time_t)(m->now / NS);
    char clock[32] = "";

    if (gmtime_r(&second, &tm))
        strftime(clock, sizeof clock, "%H:%M:%S UTC", &tm);
    if (m->stream_count == 0)
        top_screen_format(to, v, COLOUR_NAME, "top %s  nothing traces", clock);
    for (size_t i = 0; i < m->stream_count && i < 3; i++)
        put_stream(to, &m->streams[i], v, clock);
    if (m->stream_count > 3)
        top_screen_format(to, v, COLOUR_NAME, "and %zu more streams", m->stream_count - 3);
    if (m->refused)
        top_screen_format(to, v, COLOUR_ALARM,
                          "%u streams of another version, or without permission", m->refused);
}

static void put_losses(char *text, size_t size, const struct top_model *m)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES] = { 0 };
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < m->stream_count; i++)
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            lost[c] += m->streams[i].lost[c];
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        if (lost[c] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "",
                                     units_count(lost[c]), posixtrace_loss_cause_text(c));
}

static void put_rates(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    char losses[400];

    put_losses(losses, sizeof losses, m);
    top_screen_format(to, v, losses[0] ? COLOUR_ALARM : COLOUR_PLAIN,
                      "%s events/s, lost %s/s; since their start lost: %s",
                      units_count((uint64_t)(m->rate + 0.5)),
                      units_count((uint64_t)(m->lost_rate + 0.5)), losses[0] ? losses : "none");
    top_screen_format(to, v, COLOUR_PLAIN,
                      "threads %zu: %zu running, %zu runnable, %zu waiting, %zu blocked, %zu not "
                      "known",
                      m->thread_count, m->by_state[TOP_RUNNING], m->by_state[TOP_RUNNABLE],
                      m->by_state[TOP_WAITING], m->by_state[TOP_BLOCKED], m->by_state[TOP_UNKNOWN]);
    if (m->filter[0])
        top_screen_format(to, v, COLOUR_MARK, "filter %s", shown(v, m->filter));
}

/* How much was read, and what that hides: in a line of its own, which 80 columns show whole. */
static void put_sampled(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    int64_t stretch = 0;
    char pairs[60] = "";

    for (size_t i = 0; i < m->stream_count; i++)
        if (m->streams[i].stretch && (!stretch || m->streams[i].stretch < stretch))
            stretch = m->streams[i].stretch;
    if (stretch)
        snprintf(pairs, sizeof pairs, ", pairs below %s", units_time(stretch));
    top_screen_format(to, v, COLOUR_MARK, "SAMPLED: %s of the events%s; >: at least so much",
                      units_percent(m->share, 1), pairs);
}

static void put_cost(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    top_screen_format(to, v, COLOUR_PLAIN,
                      "cost: tracing %s of a processor (%.0fns an event), top %s%s",
                      units_percent(m->tracing, 1), m->event_ns, units_percent(m->cost, 1),
                      m->share < 1 ? "" : "; all events read");
    if (m->share < 1)
        put_sampled(to, m, v);
}

/* ---- deadlocks ---- */

/* "deadlock: a (1) -> b (2) -> a (1)"; i: the first thread of the cycle.  The index after it. */
static size_t put_deadlock(struct top_screen *to, const struct top_model *m,
                           const struct top_view *v, size_t i)
{
    size_t first = i, number = m->threads[i].deadlock;
    char text[TOP_LINE] = "deadlock: ";

    for (; i < m->thread_count && m->threads[i].deadlock == number; i++) {
        const struct top_thread_row *t = &m->threads[i];
        size_t used = strlen(text);

        if (i - first == CYCLE)
            snprintf(text + used, sizeof text - used, ".. -> ");
        else if (i - first < CYCLE)
            snprintf(text + used, sizeof text - used, "%s (%d) -> ", shown(v, t->name),
                     (int)t->tid);
    }
    top_screen_format(to, v, COLOUR_ALARM, "%s%s (%d)", text, shown(v, m->threads[first].name),
                      (int)m->threads[first].tid);
    return i;
}

static void put_deadlocks(struct top_screen *to, const struct top_model *m,
                          const struct top_view *v)
{
    size_t i = 0;

    for (unsigned n = 0; i < m->thread_count && m->threads[i].deadlock; n++) {
        if (n == 3 && v->rows) {
            top_screen_add(to, v, "and more deadlocks", COLOUR_ALARM);
            return;
        }
        i = put_deadlock(to, m, v, i);
    }
}

/* ---- the tables ---- */

static bool is_shown(const struct top_view *v, unsigned section)
{
    return v->section == TOP_ALL || v->section == section;
}

/* Each table gets the lines that it needs, or an equal part; what one leaves, the others get. */
static void share_lines(const struct top_model *m, const struct top_view *v, size_t room,
                        size_t lines[TOP_TABLES])
{
    unsigned left = 0;

    for (unsigned i = 0; i < TOP_TABLES; i++) {
        lines[i] = 0;
        left += is_shown(v, i) && top_table_rows(m, (enum top_section)i) > 0;
    }
    while (left > 0 && room >= left) {
        size_t part = room / left;
        unsigned hungry = 0;

        for (unsigned i = 0; i < TOP_TABLES; i++) {
            size_t rows = is_shown(v, i) ? top_table_rows(m, (enum top_section)i) : 0;
            size_t wants = rows ? rows + 1 - lines[i] : 0, gets = wants < part ? wants : part;

            lines[i] += gets;
            room -= gets;
            hungry += gets > 0 && gets < wants;
        }
        left = hungry;
    }
}

static void put_tables(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    size_t lines[TOP_TABLES] = { 0 };

    if (v->rows && v->rows > to->count + 1)
        share_lines(m, v, v->rows - to->count - 1, lines);
    for (unsigned i = 0; i < TOP_TABLES; i++)
        if (is_shown(v, i))
            top_table_put(to, m, v, (enum top_section)i, v->rows ? lines[i] : v->most + 1);
}

/* ---- help and the last line ---- */

static const char *const keys[] = {
    "  s      sort: by time, by rate, by name or number",
    "  f      filter: an expression (posixtrace-filter(5)) about events and threads",
    "  space  freeze the picture; events are still read",
    "  w      write a snapshot: a log of what the stream holds now",
    "  1 2 3 4  only pairs, threads, locks, call sites;  0  all",
    "  q      quit;  h  this help",
    "",
    "PAIR: the time from x:begin to x:end of a thread, of the last 1, 10 and 60",
    "seconds. RUN, READY: parts of the time that the thread ran, or could have run.",
    "TIME: of all threads in such calls, 100% is one thread that does nothing else.",
    "Red: a deadlock, or losses. SAMPLED: only a part of the events was read.",
    ">12: at least so much, as events of these seconds were not read, or are lost."
};

static void put_last(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    if (v->rows == 0)
        return;
    while (to->count + 1 < v->rows)
        top_screen_add(to, v, "", COLOUR_PLAIN);
    if (v->prompt)
        top_screen_format(to, v, COLOUR_NAME, "filter: %s_", shown(v, v->prompt));
    else if (v->message)
        top_screen_format(to, v, COLOUR_NAME, "%s", shown(v, v->message));
    else
        top_screen_format(to, v, COLOUR_FAINT,
                          "q quit  s sort: %s  f filter  space freeze  w snapshot  0-4 tables  h "
                          "help",
                          top_sort_word(m->sort));
}

void top_screen_make(struct top_screen *to, const struct top_model *m, const struct top_view *v)
{
    memset(to, 0, sizeof *to);
    put_streams(to, m, v);
    if (m->stream_count > 0) {
        put_rates(to, m, v);
        put_cost(to, m, v);
        put_deadlocks(to, m, v);
    }
    for (size_t i = 0; v->help && i < sizeof keys / sizeof keys[0]; i++)
        top_screen_add(to, v, keys[i], COLOUR_PLAIN);
    if (!v->help && m->stream_count > 0)
        put_tables(to, m, v);
    put_last(to, m, v);
}
