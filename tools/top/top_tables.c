/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The four tables of the screen. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"
#include "top/top_screen.h"

enum { TIME = 6, TID = 7 };

/* The rest of a line after so many columns, at least 'least'. */
static size_t rest(const struct top_view *v, size_t taken, size_t least)
{
    return v->columns > taken + least ? v->columns - taken : least;
}

static void cell(struct top_row *row, const struct top_view *v, const char *text, size_t width)
{
    top_row_cell(row, v, text, width, false);
}

static void left(struct top_row *row, const struct top_view *v, const char *text, size_t width)
{
    top_row_cell(row, v, text, width, true);
}

/* "12.3k": four digits at most. */
static const char *rate_text(double rate)
{
    static char text[4][16];
    static unsigned next;
    char *to = text[next++ % 4];
    const char *unit = rate >= 999500 ? "M" : rate >= 9999.5 ? "k" : "";
    double value = rate >= 999500 ? rate / 1e6 : rate >= 9999.5 ? rate / 1e3 : rate;

    snprintf(to, sizeof text[0], "%.*f%s", value > 0 && value < 9.95 ? 1 : 0, value, unit);
    return to;
}

/* ">12.2k": at least so many, rounded down. */
static const char *least_rate_text(double rate)
{
    static char text[2][16];
    static unsigned next;
    char *to = text[next++ % 2];
    double step = rate >= 9.95e6   ? 1e6
                  : rate >= 999500 ? 1e5
                  : rate >= 9999.5 ? 1e3
                  : rate >= 9.95   ? 1
                                   : 0.1;

    snprintf(to, sizeof text[0], ">%s", rate_text((double)(uint64_t)(rate / step) * step));
    return to;
}

/* ">99.9%", ">100%"; more than the cell has room for is ">9999%". */
static const char *least_percent_text(double share)
{
    static char text[32];
    double percent = share * 100;

    if (percent < 100)
        snprintf(text, sizeof text, ">%.1f%%", (double)(uint64_t)(percent * 10) / 10);
    else
        snprintf(text, sizeof text, ">%.0f%%", percent < 9999 ? (double)(uint64_t)percent : 9999.0);
    return text;
}

static const char *share_text(double share)
{
    return share < 0 ? "-" : units_percent(share, 1);
}

static const char *span(int64_t ns)
{
    return ns > 0 ? units_time(ns) : "-";
}

/* ---- pairs ---- */

static void put_pair(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                     size_t i)
{
    const struct top_pair_row *p = &m->pairs[i];
    struct top_row row = { .length = 0 };
    char text[2 * SITES_TEXT];

    /* Of several programs each has its own. */
    snprintf(text, sizeof text, "%s%s%s", p->name, m->stream_count > 1 ? " " : "",
             m->stream_count > 1 ? p->stream->name : "");
    left(&row, v, text, rest(v, TOP_WINDOWS * (3 * (TIME + 1)) + 7, 9));
    cell(&row, v, p->at_least ? least_rate_text(p->per_s) : rate_text(p->per_s), 6);
    for (int w = 0; w < TOP_WINDOWS; w++) {
        const struct top_latency *l = &p->of[w];

        cell(&row, v, l->count ? units_time(l->p50) : "-", TIME);
        cell(&row, v, l->count ? units_time(l->p99) : "-", TIME);
        cell(&row, v, l->count ? units_time(l->max) : "-", TIME);
    }
    top_screen_add(to, v, row.text, COLOUR_PLAIN);
}

static void put_pair_titles(struct top_screen *to, const struct top_view *v)
{
    static const char *const titles[] = { "1s:p50", "p99",    "max", "10s:50", "p99",
                                          "max",    "60s:50", "p99", "max" };
    struct top_row row = { .length = 0 };

    left(&row, v, "PAIR", rest(v, TOP_WINDOWS * (3 * (TIME + 1)) + 7, 9));
    cell(&row, v, "PER_S", 6);
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cell(&row, v, titles[i], TIME);
    top_screen_add(to, v, row.text, COLOUR_FAINT);
}

/* ---- threads ---- */

/* "lock b: worker (12)", "end of worker (12)", "read 5". */
static void describe_wait(const struct top_thread_row *t, char *text, size_t size)
{
    bool joins = t->call && strcmp(t->call, "thread_join") == 0;
    int n;

    text[0] = '\0';
    if (!t->call)
        return;
    if (t->wants_holder && !joins)
        n = snprintf(text, size, "lock %s%s", t->object, t->brief ? "" : ": ");
    else
        n = snprintf(text, size, "%s%s%s", joins ? "end of " : t->call, t->object[0] ? " " : "",
                     joins ? "" : t->object);
    if (!t->wants_holder || (t->brief && !joins) || n < 0 || (size_t)n >= size)
        return;
    if (t->holder)
        snprintf(text + n, size - (size_t)n, "%s (%d)", t->holder_name, (int)t->holder);
    else
        snprintf(text + n, size - (size_t)n, joins ? "a thread" : "holder not known");
}

/* READY and the caller are for wide screens. */
enum { WIDE = 110, THREAD_COLUMNS = 49 };

static bool is_wide(const struct top_view *v)
{
    return v->columns >= WIDE;
}

static size_t wait_columns(const struct top_view *v)
{
    return rest(v, THREAD_COLUMNS + (is_wide(v) ? 6 : 0), 16) / (is_wide(v) ? 2 : 1);
}

static void put_thread(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                       size_t i)
{
    const struct top_thread_row *t = &m->threads[i];
    char number[16], wait[2 * SITES_TEXT];
    struct top_row row = { .length = 0 };

    describe_wait(t, wait, sizeof wait);
    snprintf(number, sizeof number, "%d", (int)t->tid);
    cell(&row, v, number, TID);
    left(&row, v, t->name[0] ? t->name : "-", 12);
    left(&row, v, top_state_word(t->state), 8);
    cell(&row, v, span(t->waited), TIME);
    cell(&row, v, share_text(t->run), 5);
    if (is_wide(v))
        cell(&row, v, share_text(t->ready), 5);
    cell(&row, v, rate_text(t->rate), 5);
    left(&row, v, wait, wait_columns(v));
    if (is_wide(v))
        left(&row, v, t->caller, wait_columns(v));
    top_screen_add(to, v, row.text, t->deadlock ? COLOUR_ALARM : COLOUR_PLAIN);
}

static void put_thread_titles(struct top_screen *to, const struct top_view *v)
{
    struct top_row row = { .length = 0 };

    cell(&row, v, "TID", TID);
    left(&row, v, "THREAD", 12);
    left(&row, v, "STATE", 8);
    cell(&row, v, "SINCE", TIME);
    cell(&row, v, "RUN", 5);
    if (is_wide(v))
        cell(&row, v, "READY", 5);
    cell(&row, v, "EV/S", 5);
    left(&row, v, "WAITS FOR: HELD BY", wait_columns(v));
    if (is_wide(v))
        left(&row, v, "AT", wait_columns(v));
    top_screen_add(to, v, row.text, COLOUR_FAINT);
}

/* ---- locks and call sites ---- */

static void put_totals(struct top_row *row, const struct top_view *v, const struct top_total *t,
                       double per_s, double busy, bool at_least)
{
    cell(row, v, at_least ? least_rate_text(per_s) : rate_text(per_s), 6);
    cell(row, v, at_least ? least_percent_text(busy) : units_percent(busy, 1), 6);
    cell(row, v, t->count ? units_time(t->total_ns / (int64_t)t->count) : "-", TIME);
    cell(row, v, span(t->max_ns), TIME);
}

static void put_total_titles(struct top_row *row, const struct top_view *v)
{
    cell(row, v, "PER_S", 6);
    cell(row, v, "TIME", 6);
    cell(row, v, "MEAN", TIME);
    cell(row, v, "MAX", TIME);
}

/* Processes that were forked have things of the same name. */
static const char *of_process(const struct top_model *m, const char *name, pid_t pid)
{
    static char text[SITES_TEXT + 16];
    bool several = m->stream_count > 1;

    for (size_t i = 0; i < m->stream_count; i++)
        several |= m->streams[i].processes > 1;
    if (!several)
        return name;
    snprintf(text, sizeof text, "%s (%d)", name, (int)pid);
    return text;
}

static void put_lock(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                     size_t i)
{
    const struct top_lock_row *l = &m->locks[i];
    struct top_row row = { .length = 0 };
    char text[64];

    left(&row, v, of_process(m, l->name, l->pid), rest(v, 54, 16));
    put_totals(&row, v, &l->last, l->per_s, l->busy, l->at_least);
    snprintf(text, sizeof text, "%u", l->waiters);
    cell(&row, v, text, 7);
    snprintf(text, sizeof text, "%s (%d)", l->holder_name, (int)l->holder);
    left(&row, v, l->holder ? text : "-", 17);
    top_screen_add(to, v, row.text, COLOUR_PLAIN);
}

static void put_lock_titles(struct top_screen *to, const struct top_view *v)
{
    struct top_row row = { .length = 0 };

    left(&row, v, "LOCK, last 10 s", rest(v, 54, 16));
    put_total_titles(&row, v);
    cell(&row, v, "WAITERS", 7);
    left(&row, v, "HOLDER", 17);
    top_screen_add(to, v, row.text, COLOUR_FAINT);
}

static void put_site(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                     size_t i)
{
    const struct top_site_row *s = &m->sites[i];
    struct top_row row = { .length = 0 };

    left(&row, v, of_process(m, s->where, s->pid), rest(v, 45, 16));
    put_totals(&row, v, &s->last, s->per_s, s->busy, s->at_least);
    left(&row, v, s->call, 15);
    top_screen_add(to, v, row.text, COLOUR_PLAIN);
}

static void put_site_titles(struct top_screen *to, const struct top_view *v)
{
    struct top_row row = { .length = 0 };

    left(&row, v, "CALL SITE, last 10 s", rest(v, 45, 16));
    put_total_titles(&row, v);
    left(&row, v, "CALL", 15);
    top_screen_add(to, v, row.text, COLOUR_FAINT);
}

/* ---- all ---- */

static const struct {
    void (*titles)(struct top_screen *to, const struct top_view *v);
    void (*row)(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                size_t i);
} tables[] = { { put_pair_titles, put_pair },
               { put_thread_titles, put_thread },
               { put_lock_titles, put_lock },
               { put_site_titles, put_site } };

size_t top_table_rows(const struct top_model *m, enum top_section section)
{
    const size_t counts[] = { m->pair_count, m->thread_count, m->lock_count, m->site_count };

    return counts[section];
}

size_t top_table_put(struct top_screen *to, const struct top_model *m, const struct top_view *v,
                     enum top_section section, size_t lines)
{
    size_t rows = top_table_rows(m, section);

    if (lines < 2 || rows == 0)
        return 0;
    tables[section].titles(to, v);
    for (size_t i = 0; i < rows && i + 1 < lines; i++)
        tables[section].row(to, m, v, i);
    return rows + 1;
}
