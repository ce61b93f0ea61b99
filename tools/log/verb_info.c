/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace info: the information in a log.
 */
#include <inttypes.h>
#include <posixtrace/attr.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/units.h"
#include "input/further_types.h"
#include "log/info_clock.h"
#include "log/info_json.h"
#include "log/info_tables.h"
#include "input/log_file.h"
#include "input/select.h"
#include "common/colour.h"
#include "common/format_option.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"
#include "common/time_parse.h"

enum { STRICT = 1, FORMAT, COLOUR, HISTOGRAM, PROGRESS_EVERY = 0x3fff, PACKET_HEAD = 128 };

/* Where the second column begins. */
enum { ROW_COLUMN = 14 };

static const struct option_spec options[] = { { "strict", false, STRICT },
                                              { "format", true, FORMAT },
                                              { "color", true, COLOUR },
                                              { "histogram", false, HISTOGRAM },
                                              SELECT_OPTIONS,
                                              SITES_OPTIONS,
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace info [OPTION]... [LOG|-]\n"
    "\n"
    "Prints what a trace log knows of itself: attributes and clock, the time it\n"
    "spans, event types with counts, threads, memory use, what was lost and why, the\n"
    "stream size that would have avoided the loss, and how the log ended.\n"
    "For - the log is read from standard input.\n"
    "\n"
    "  --format=FORMAT  text (default), or jsonl: one line of JSON\n"
    "  --histogram      how many events there were when, and where some were lost\n"
    "  --strict         read all, and exit with 3 if the log has lost events or is\n"
    "                   damaged\n" SELECT_HELP SITES_HELP
    "  --color=WHEN     text in colour: auto (default), always or never\n"
    "  --help           print this\n"
    "\n"
    "Of a selection the events are read and counted. What was lost is known of the\n"
    "whole log, and in how many places of the selected time.\n"
    "\n"
    "Example: posixtrace info app.ptl\n";

/* whole: the text has the colour of the title. */
__attribute__((format(printf, 4, 0))) static void
put_row(enum colour colour, bool whole, const char *title, const char *format, va_list args)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, args);
    out_format("%s%-12s%s  ", colour_code(colour), title, whole ? "" : colour_code(COLOUR_PLAIN));
    out_wrapped(text, ROW_COLUMN, ROW_COLUMN);
    if (whole)
        out_text(colour_code(COLOUR_PLAIN));
}

__attribute__((format(printf, 2, 3))) static void row(const char *title, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_row(COLOUR_FAINT, false, title, format, args);
    va_end(args);
}

/* The same for events that are missing. */
__attribute__((format(printf, 2, 3))) static void alarm_row(const char *title, const char *format,
                                                            ...)
{
    va_list args;

    va_start(args, format);
    put_row(COLOUR_ALARM, true, title, format, args);
    va_end(args);
}

static const char *policy_text(int policy)
{
    switch (policy) {
    case POSIX_TRACE_LOOP: return "loop (the newest events stay)";
    case POSIX_TRACE_UNTIL_FULL: return "until full (the oldest events stay)";
    case POSIX_TRACE_FLUSH: return "flush (to the log when full)";
    case POSIX_TRACE_APPEND: return "append (without limit)";
    default: return "not known";
    }
}

static const char *clock_text(int clock)
{
    switch (clock) {
    case POSIXTRACE_CLOCK_TSC: return "time stamp counter of the processor";
    case POSIXTRACE_CLOCK_MONOTONIC: return "CLOCK_MONOTONIC";
    case POSIXTRACE_CLOCK_REALTIME: return "none: times as imported";
    default: return "not known";
    }
}

static const char *set_back_text(uint64_t n)
{
    static char text[60];

    if (n == 0)
        return "";
    snprintf(text, sizeof text, "; set back %" PRIu64 " time%s", n, n == 1 ? "" : "s");
    return text;
}

/* Does a log of limited size take all that its dead writer left in memory, however small
 * the packets are? */
static bool takes_all(const struct log_file *log)
{
    uint64_t most = log->info.bytes + log->info.reserved_bytes + PACKET_HEAD * log->info.events;
    int policy = POSIX_TRACE_APPEND;
    trace_attr_t attr;
    size_t size = 0;

    if (posix_trace_get_attr(log->trid, &attr) == 0) {
        posix_trace_attr_getlogfullpolicy(&attr, &policy);
        posix_trace_attr_getlogsize(&attr, &size);
        posix_trace_attr_destroy(&attr);
    }
    return policy == POSIX_TRACE_APPEND || most <= size;
}

/* Children are not recorded after the writer's end, which for daemon(3) is where they start. */
static const char *children_text(const struct log_file *log)
{
    int inherited = POSIX_TRACE_CLOSE_FOR_CHILD;
    trace_attr_t attr;

    if (log->info.clock == POSIXTRACE_CLOCK_REALTIME || posix_trace_get_attr(log->trid, &attr) != 0)
        return "";
    posix_trace_attr_getinherited(&attr, &inherited);
    posix_trace_attr_destroy(&attr);
    return inherited == POSIX_TRACE_INHERITED
               ? "; what its children did after its end, as after daemon(3), is not recorded"
               : "";
}

/* The text for a log whose writer died and has left a segment. */
static const char *tail_text(const struct log_file *log)
{
    static char text[500];
    bool lost = log_file_lost_all(log) > 0;

    snprintf(text, sizeof text,
             "writer died; with what it left in memory, read here, nothing %sis missing%s%s; "
             "'posixtrace recover' keeps %s",
             lost ? "else " : "", lost ? " than is lost below" : "", children_text(log),
             takes_all(log) ? "it"
                            : "what fits into the log and counts the rest as lost, "
                              "'posixtrace export --format=jsonl' saves all");
    return text;
}

/* Processes run on where the recorder ended first: daemons, or the target of record --pid. */
static const char *outlived_text(const struct log_file *log)
{
    bool outlived = false;

    posixtrace_outlived(log->trid, &outlived);
    return outlived ? "complete; processes that were traced ran on: what they did later is not "
                      "recorded"
                    : "complete";
}

static const char *end_text(const struct log_file *log)
{
    static char recovered[200];

    switch (log->info.end) {
    case POSIXTRACE_END_ACTIVE: return "not yet: it is being written";
    case POSIXTRACE_END_SHUTDOWN: return outlived_text(log);
    case POSIXTRACE_END_RECOVERED:
        snprintf(recovered, sizeof recovered, "complete: recovered after its writer had died%s",
                 children_text(log));
        return recovered;
    case POSIXTRACE_END_TAIL: return tail_text(log);
    case POSIXTRACE_END_CUT: return "cut: its writer died or the file is damaged";
    default: return "not known";
    }
}

static void print_host_clock(const struct log_file *log)
{
    if (info_clock_text(log))
        row("host clock", "%s", info_clock_text(log));
    if (info_clock_left(log))
        row("clock table", "%s", info_clock_left(log));
}

static void print_attributes(const struct log_file *log)
{
    char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1];
    struct timespec time = { 0, 0 };
    size_t stream = 0, data = 0, size = 0;
    int stream_policy = 0, log_policy = 0, inherited = 0, compression = 0;
    double cost = 0;
    trace_attr_t attr;

    if (posix_trace_get_attr(log->trid, &attr) != 0)
        return;
    if (posix_trace_attr_getname(&attr, name) == 0 &&
        posix_trace_attr_getgenversion(&attr, version) == 0)
        row("stream", "%s, made by %s", quote(name), quote(version));
    if (posix_trace_attr_getcreatetime(&attr, &time) == 0)
        row("created", "%s%s%s", when_iso((int64_t)time.tv_sec * 1000000000 + time.tv_nsec),
            log->info.host[0] ? ", on " : "", log->info.host[0] ? quote(log->info.host) : "");
    posix_trace_attr_getstreamfullpolicy(&attr, &stream_policy);
    posix_trace_attr_getlogfullpolicy(&attr, &log_policy);
    posix_trace_attr_getstreamsize(&attr, &stream);
    posix_trace_attr_getlogsize(&attr, &size);
    posix_trace_attr_getmaxdatasize(&attr, &data);
    posix_trace_attr_getinherited(&attr, &inherited);
    /* an import never had a stream */
    if (log->info.clock != POSIXTRACE_CLOCK_REALTIME) {
        row("stream full", "%s, size %s", policy_text(stream_policy), units_bytes(stream));
        row("children", "%s", inherited == POSIX_TRACE_INHERITED ? "traced" : "not traced");
        if (log_policy == POSIX_TRACE_APPEND)
            row("log full", "%s", policy_text(log_policy));
        else
            row("log full", "%s, size %s", policy_text(log_policy), units_bytes(size));
    }
    posixtrace_attr_getcompression(&attr, &compression);
    if (compression == POSIXTRACE_COMPRESSION_ZSTD)
        row("compressed", "by zstd, each packet by itself");
    if (compression == POSIXTRACE_COMPRESSION_COLUMNS)
        row("packets", "by column");
    row("event data", "at most %zu bytes", data);
    if (posixtrace_attr_geteventcost(&attr, &cost) == 0 && cost > 0)
        row("event cost", "%.4g ns, as it was kept when the log was made", cost);
    if (posix_trace_attr_getclockres(&attr, &time) == 0)
        row("clock", "%s, resolution %s%s", clock_text(log->info.clock),
            when_span((int64_t)time.tv_sec * 1000000000 + time.tv_nsec),
            set_back_text(log->info.set_back));
    print_host_clock(log);
    posix_trace_attr_destroy(&attr);
}

static void print_log(const struct log_file *log)
{
    char id[33];

    *pt_number_bytes(id, log->info.id, sizeof log->info.id) = '\0';
    if (log->seekable)
        row("log", "%s, %s", log->shown, units_bytes(log->size));
    else
        row("log", "%s", log->shown);
    row("ended", "%s", end_text(log));
    row("id", "%s", id);
}

/* Events of the standard's own, which 'posixtrace record' does not count. */
static void print_marks(const struct log_file *log)
{
    struct log_type *types;
    uint64_t marks = 0;
    size_t count;

    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++)
        marks += types[i].id >= POSIX_TRACE_START && types[i].id <= POSIX_TRACE_ERROR
                     ? types[i].count
                     : 0;
    free(types);
    if (marks > 0)
        row("marks", "%" PRIu64 " of the events: start, stop, flush", marks);
}

/* first: of what the log has kept. */
static void print_span(const struct log_file *log, int64_t first)
{
    const struct posixtrace_info *info = &log->info;
    int64_t span = info->last_ns - first;

    if (info->events == 0) {
        row("events", "none");
        return;
    }
    if (span > 0)
        row("events", "%" PRIu64 " in %s, %.4g a second", info->events, when_span(span),
            (double)info->events * 1e9 / (double)span);
    else
        row("events", "%" PRIu64, info->events);
    print_marks(log);
    if (first != info->first_ns)
        row("overwritten",
            info->clock == POSIXTRACE_CLOCK_REALTIME ? "from %s on at the earliest"
                                                     : "from %s on, when the first loss began",
            when_iso(info->first_ns));
    row("first", "%s", when_iso(first));
    row("last", "%s", when_iso(info->last_ns));
    if (info->late)
        row("late", "%" PRIu64 " events, whose thread was stalled for more than a second",
            info->late);
}

static void print_memory(const struct posixtrace_info *info)
{
    if (info->reserved_bytes > 0)
        row("peak fill", "%s of %s, %.0f %%", units_bytes(info->peak_bytes),
            units_bytes(info->reserved_bytes),
            100.0 * (double)info->peak_bytes / (double)info->reserved_bytes);
}

/* Beyond what the stream has room for at once, or a process can have names for. */
static void print_refused(const struct log_file *log)
{
    uint64_t unnamed = log_file_unnamed(log);
    struct posixtrace_limits limits;

    if (unnamed)
        row("no name", "for %" PRIu64 " events: a process can have %d names of event types",
            unnamed, TRACE_USER_EVENT_MAX - 1);
    if (posixtrace_get_limits(log->trid, &limits, sizeof limits) != 0)
        return;
    if (limits.refused_threads)
        row("no room",
            "for %" PRIu32 " threads: the stream is made for %" PRIu32
            " at once, fewer under 'ulimit -f' or 'ulimit -v'",
            limits.refused_threads, limits.threads);
    if (limits.refused_processes)
        row("no room",
            "for %" PRIu32 " process%s: the stream is made for %" PRIu32
            " at once, of one pid namespace",
            limits.refused_processes, limits.refused_processes == 1 ? "" : "es", limits.processes);
}

static void print_loss(const struct log_file *log)
{
    const struct posixtrace_info *info = &log->info;
    uint64_t sum = log_file_lost_all(log), gaps = log_file_gaps(log);

    if (!log_file_knows_totals(log))
        alarm_row("lost", "%" PRIu64 " or more; 'posixtrace info' of the file knows", sum);
    else if (gaps > 0)
        alarm_row("lost", "events in %" PRIu64 " place%s; how many is not known", gaps,
                  gaps == 1 ? "" : "s");
    else if (sum == 0)
        row("lost", "nothing%s", log_file_has_unread(log) ? " of the readable part" : "");
    else
        alarm_row("lost", "%" PRIu64 " events", sum);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (info->lost[i])
            alarm_row("", "%" PRIu64 " %s", info->lost[i], posixtrace_loss_cause_text(i));
    }
    if (info->flush_error)
        alarm_row("log error", "%s", strerror(info->flush_error));
    if (info->skipped_bytes)
        alarm_row("not readable", "%" PRIu64 " bytes", info->skipped_bytes);
    print_refused(log);
    if (info->lost[POSIXTRACE_LOST_SWITCHES])
        row("advice", "larger rings, 'posixtrace record --switch-buffer', lose fewer switches");
    if (info->advised_size)
        row("advice", "a stream size of %s (%" PRIu64 " bytes) would have avoided the loss%s",
            units_bytes(info->advised_size), info->advised_size,
            info->end == POSIXTRACE_END_TAIL || info->end == POSIXTRACE_END_RECOVERED
                ? ", but for what came after the writer's death"
                : "");
}

/* A pipe tells all of itself only at its end, and if it has none, as much as has come.  A file
 * tells only when it was read which parts of it cannot be. */
static int drain(struct log_file *log, int64_t *first, struct info_rate *rate)
{
    struct posixtrace_info seen = { .events = 0 };
    struct posixtrace_event e;
    int unavailable = 0, error, status;
    bool only_marks = true;

    progress_begin("events", log->seekable ? log->info.events : 0);
    while ((error = posixtrace_next_event(log->trid, &e, sizeof e, &unavailable)) == 0 &&
           !unavailable) {
        seen.first_ns = seen.events++ ? seen.first_ns : e.ns;
        *first = only_marks ? e.ns : *first;
        only_marks &= log_file_is_loss_mark(e.id);
        seen.last_ns = e.ns;
        if (rate)
            info_rate_add(rate, &e, true);
        if ((seen.events & PROGRESS_EVERY) == 0)
            progress_at(seen.events);
    }
    progress_end();
    if (rate)
        info_rate_end(rate);
    if (error != 0)
        return tool_error("cannot read on in %s: %s", log->shown, strerror(error));
    status = log_file_refresh(log);
    if (log->info.end == POSIXTRACE_END_CUT && seen.events > log->info.events) {
        log->info.events = seen.events;
        log->info.first_ns = seen.first_ns;
        log->info.last_ns = seen.last_ns;
    }
    return status;
}

/* The same of selected events. */
static void print_selected_span(const struct info_selected *of, const char *selection)
{
    int64_t span = of->last - of->first;

    row("selected", "%s", selection);
    if (of->events == 0) {
        row("events", "none of %" PRIu64, of->all);
        return;
    }
    if (span > 0)
        row("events", "%" PRIu64 " of %" PRIu64 " in %s, %.4g a second", of->events, of->all,
            when_span(span), (double)of->events * 1e9 / (double)span);
    else
        row("events", "%" PRIu64 " of %" PRIu64, of->events, of->all);
    row("first", "%s", when_iso(of->first));
    row("last", "%s", when_iso(of->last));
}

/* Losses have no thread and no type that an event could be selected by. */
static void print_selected_loss(const struct log_file *log, const struct info_selected *of)
{
    bool unread = log_file_has_unread(log);
    const char *further = unread ? "; unreadable parts may lie in it" : "";

    if (of->lost_places > 0)
        alarm_row("missing",
                  "events in %" PRIu64 " place%s of the selected time, of any thread and type%s",
                  of->lost_places, of->lost_places == 1 ? "" : "s", further);
    else if (log_file_lost_all(log) > 0)
        alarm_row("missing",
                  "no place of the selected time is marked; the losses below may lie in it");
    else if (unread)
        alarm_row("missing", "no place of the selected time is marked%s", further);
    else if (log_file_gaps(log) > 0)
        row("missing", "no place of the selected time is marked");
    if (unread && of->all < log->info.events)
        row("whole log", "%" PRIu64 " events, %" PRIu64 " of them readable; what was lost of them:",
            log->info.events, of->all);
    else
        row("whole log", "%" PRIu64 " events; what was lost of them:", log->info.events);
}

static int print_selected(const struct log_file *log, const struct info_selected *of,
                          const char *selection)
{
    print_log(log);
    print_attributes(log);
    print_selected_span(of, selection);
    print_selected_loss(log, of);
    print_loss(log);
    info_print_selected(of);
    return EXIT_DONE;
}

static int print_text(const struct log_file *log, int64_t first)
{
    int status = EXIT_DONE;

    print_log(log);
    print_attributes(log);
    print_span(log, first);
    print_memory(&log->info);
    print_loss(log);
    if (!log_file_knows_totals(log))
        return status;
    status = further_types_print(log, "described     ", ROW_COLUMN);
    if (status == EXIT_DONE)
        status = info_print_types(log);
    info_print_threads(log);
    info_print_switches(log);
    return status;
}

struct request {
    const char *path;
    enum output_format format;
    enum colour_when colour;
    bool strict;
    struct selection select;
    struct sites sites;
    struct info_rate *rate; /* NULL: not asked for */
};

static int print_all(struct request *r, struct log_file *log)
{
    int64_t first = log_file_kept_from(log);
    bool reads = !log->seekable || r->strict || r->rate;
    int status = reads ? drain(log, &first, r->rate) : EXIT_DONE;

    if (status != EXIT_DONE)
        return status;
    return r->format == OUTPUT_JSONL ? info_json(log, first, NULL, NULL, r->rate)
                                     : print_text(log, first);
}

static int print_selection(struct request *r, struct log_file *log)
{
    int64_t first = log_file_kept_from(log);
    struct info_selected of;
    int status = info_select(&of, &r->select, log, r->rate);

    if (status == EXIT_DONE && r->format == OUTPUT_JSONL)
        status = info_json(log, first, &of, select_text(&r->select), r->rate);
    else if (status == EXIT_DONE)
        status = print_selected(log, &of, select_text(&r->select));
    info_selected_free(&of);
    return status;
}

static int print_info(struct request *r)
{
    struct log_file log;
    int status = log_file_open(&log, r->path);

    if (status != EXIT_DONE)
        return status;
    if (r->rate)
        info_rate_init(r->rate);
    status = select_is_any(&r->select) ? print_selection(r, &log) : print_all(r, &log);
    if (status == EXIT_DONE && r->rate && r->format != OUTPUT_JSONL)
        info_rate_print(r->rate, log.info.first_ns,
                        log_file_lost_all(&log) > 0 || log_file_has_unread(&log));
    out_flush();
    if (status != EXIT_USAGE)
        status = log_file_report_loss(&log, r->strict, status);
    log_file_close(&log);
    return status;
}

static int run(struct options *o)
{
    struct request r = { .path = NULL };
    int code, status = EXIT_DONE;

    select_init(&r.select, &r.sites);
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP:
            select_free(&r.select);
            free(r.rate);
            return o->status;
        case STRICT: r.strict = true; break;
        case FORMAT: status = format_option(o->value, false, &r.format); break;
        case HISTOGRAM: r.rate = tool_grow(r.rate, 1, sizeof *r.rate); break;
        case COLOUR: status = colour_option(o->value, &r.colour); break;
        case OPTION_OPERAND: status = options_set_log(&r.path, o->value); break;
        default:
            status = sites_is_option(code) ? sites_take_option(&r.sites, code, o->value)
                                           : select_take_option(&r.select, code, o->value);
        }
    }
    if (status == EXIT_DONE)
        status = select_make(&r.select);
    if (status == EXIT_DONE && !r.path && isatty(STDIN_FILENO))
        status = tool_usage("no log named");
    r.path = r.path ? r.path : "-";
    colour_begin(r.colour);
    if (status == EXIT_DONE)
        status = print_info(&r);
    select_free(&r.select);
    free(r.rate);
    return status;
}

const struct verb verb_info = { "info", help, options, run };
