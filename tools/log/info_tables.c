/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See info_tables.h.
 */
#include "log/info_tables.h"

#include <inttypes.h>
#include <posixtrace/system.h>
#include <posixtrace/typed.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/colour.h"
#include "common/utf8.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"

enum { DESCRIPTION_COLUMN = 16 };
/* The least that columns of counts and of ids take. */
enum { COUNT_WIDTH = 12, ID_WIDTH = 8 };

static enum utf8_style names_style(void)
{
    return utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
}

int info_by_count(const void *a, const void *b)
{
    const struct log_type *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The width of a column, widened where the number needs more. */
static int at_least(int width, uint64_t number)
{
    return (int)pt_number_digits(number) > width ? (int)pt_number_digits(number) : width;
}

bool info_shows_type(const struct log_type *type)
{
    return type->count > 0 || type->id > POSIX_TRACE_UNNAMED_USEREVENT;
}

/* In lines of its own, below the type's name. */
static void print_description(const struct log_file *log, trace_event_id_t id)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    char shown[sizeof text * UTF8_MAX_ESCAPE + 1];

    if (id <= POSIX_TRACE_UNNAMED_USEREVENT ||
        posixtrace_event_description(log->trid, id, text, sizeof text) != 0)
        return;
    for (char *at = text; *at; at++) {
        if (*at == '\n' || *at == '\t' || *at == '\r')
            *at = ' ';
    }
    *utf8_show(shown, text, UTF8_TERMINAL_ASCII) = '\0';
    out_spaces(DESCRIPTION_COLUMN);
    out_wrapped(shown + strspn(shown, " "), DESCRIPTION_COLUMN, DESCRIPTION_COLUMN);
}

enum colour info_type_colour(trace_event_id_t id)
{
    if (log_file_is_loss_mark(id))
        return COLOUR_ALARM;
    return id <= POSIX_TRACE_UNNAMED_USEREVENT ? COLOUR_MARK : COLOUR_NAME;
}

int info_print_types(const struct log_file *log)
{
    char shown[sizeof((struct log_type *)0)->name * UTF8_MAX_ESCAPE + 1];
    struct log_type *types;
    int width = COUNT_WIDTH;
    enum utf8_style style = names_style();
    size_t count;
    int status = log_file_types(log, &types, &count);

    if (status != EXIT_DONE)
        return status;
    if (count > 0)
        qsort(types, count, sizeof *types, info_by_count);
    if (count > 0)
        width = at_least(width, types[0].count);
    out_format("\n%s%*s  EVENT TYPE%s\n", colour_code(COLOUR_FAINT), width, "COUNT",
               colour_code(COLOUR_PLAIN));
    for (size_t i = 0; i < count; i++) {
        if (!info_shows_type(&types[i]))
            continue;
        out_format("%*" PRIu64 "  ", width, types[i].count);
        *utf8_show(shown, types[i].name, style) = '\0';
        out_text(colour_code(info_type_colour(types[i].id)));
        table_put_cut(shown, out_columns() - (size_t)width - 2);
        out_text(colour_code(COLOUR_PLAIN));
        out_text("\n");
        print_description(log, types[i].id);
    }
    free(types);
    return EXIT_DONE;
}

/* Context switches, which the kernel counts for no thread of the stream. */
static uint64_t count_switches(const struct log_file *log)
{
    struct log_type *types;
    uint64_t switches = 0;
    size_t count;

    if (log->info.clock == POSIXTRACE_CLOCK_REALTIME ||
        log_file_types(log, &types, &count) != EXIT_DONE)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (types[i].id >= POSIXTRACE_SWITCH_IN && types[i].id <= POSIXTRACE_SWITCH_PREEMPTED)
            switches += types[i].count;
    free(types);
    return switches;
}

void info_print_switches(const struct log_file *log)
{
    uint64_t switches = count_switches(log);

    if (switches)
        out_format("%12" PRIu64 "  context switches, of the kernel: in no thread's count\n",
                   switches);
}

/* ---- threads ---- */

/* Has it numbers of authors that have no entry? */
static bool is_rest(const struct posixtrace_thread_info *t)
{
    return t->pid == 0 && t->tid == 0 && t->thread_id == 0 && strcmp(t->name, "(ended)") == 0;
}

/* Is it the entry of marks and losses without a thread?  A stream has its losses of context
 * switches in the entry that otherwise is for ended threads, and a log that did not come from a
 * stream has all its losses there.  Of ended threads, more events are recorded than lost. */
static bool is_no_thread(const struct log_file *log, const struct posixtrace_thread_info *t)
{
    if (log->info.clock != POSIXTRACE_CLOCK_REALTIME)
        return is_rest(t) && t->recorded == 0;
    if (is_rest(t))
        return t->recorded <= log_file_lost(t->lost);
    return t->pid == 0 && t->tid == 0 && t->thread_id == 0 && !t->name[0];
}

static void add_loss(uint64_t *sum, const uint64_t *lost)
{
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        sum[c] += lost[c];
}

void info_threads_begin(struct info_threads *i, const struct log_file *log)
{
    *i = (struct info_threads){ .log = log, .none = { .name = "(no thread)" } };
    posixtrace_threadlist_rewind(log->trid);
    i->has_switches = count_switches(log) > 0;
}

/* What no entry has, such as lost starts and stops, is of no thread, too. */
static bool take_none(struct info_threads *i, struct posixtrace_thread_info *t)
{
    const uint64_t *all = i->log->info.lost;

    i->over = true;
    *t = i->none;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        t->lost[c] += all[c] > i->lost[c] ? all[c] - i->lost[c] : 0;
    return t->recorded > 0 || log_file_lost(t->lost) > 0;
}

bool info_threads_next(struct info_threads *i, struct posixtrace_thread_info *t)
{
    int unavailable = 0;

    while (!i->over &&
           posixtrace_threadlist_getnext(i->log->trid, t, sizeof *t, &unavailable) == 0 &&
           !unavailable) {
        add_loss(i->lost, t->lost);
        if (is_no_thread(i->log, t)) {
            i->none.recorded += t->recorded;
            add_loss(i->none.lost, t->lost);
            continue;
        }
        if (i->has_switches && is_rest(t) && log_file_lost(t->lost) > 0)
            strcpy(t->name, "(ended, none)");
        return true;
    }
    return !i->over && take_none(i, t);
}

/* A pid or a tid of an import may have more digits. */
struct thread_widths {
    int recorded, lost, pid, tid;
};

static void print_thread(const struct posixtrace_thread_info *t, uint64_t lost,
                         const struct thread_widths *w, enum utf8_style style)
{
    char shown[sizeof t->name * UTF8_MAX_ESCAPE + 1];
    size_t used = (size_t)(w->recorded + w->lost + w->pid + w->tid) + 4;

    out_format("%*" PRIu64 "%*" PRIu64 " %*d %*d  ", w->recorded, t->recorded, w->lost, lost,
               w->pid, (int)t->pid, w->tid, (int)t->tid);
    *utf8_show(shown, t->name, style) = '\0';
    out_text(colour_code(COLOUR_THREAD));
    table_put_cut(shown, out_columns() - used);
    out_text(colour_code(COLOUR_PLAIN));
    out_text("\n");
}

static void measure_threads(const struct log_file *log, struct thread_widths *w)
{
    struct posixtrace_thread_info t;
    struct info_threads i;

    *w = (struct thread_widths){ COUNT_WIDTH, COUNT_WIDTH, ID_WIDTH, ID_WIDTH };
    info_threads_begin(&i, log);
    while (info_threads_next(&i, &t)) {
        w->recorded = at_least(w->recorded, t.recorded);
        w->lost = at_least(w->lost - 1, log_file_lost(t.lost)) + 1;
        w->pid = at_least(w->pid, t.pid > 0 ? (uint64_t)t.pid : 0);
        w->tid = at_least(w->tid, t.tid > 0 ? (uint64_t)t.tid : 0);
    }
}

void info_print_threads(const struct log_file *log)
{
    struct posixtrace_thread_info t;
    enum utf8_style style = names_style();
    struct info_threads i;
    struct thread_widths w;

    measure_threads(log, &w);
    out_format("\n%s%*s%*s %*s %*s  THREAD%s\n", colour_code(COLOUR_FAINT), w.recorded, "RECORDED",
               w.lost, "LOST", w.pid, "PID", w.tid, "TID", colour_code(COLOUR_PLAIN));
    info_threads_begin(&i, log);
    while (info_threads_next(&i, &t))
        print_thread(&t, log_file_lost(t.lost), &w, style);
}
