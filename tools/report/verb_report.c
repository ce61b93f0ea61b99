/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace report: where the time of a log's threads went; see report.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <posixtrace/attr.h>

#include "common/colour.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "input/logs.h"
#include "report/report.h"
#include "common/draw.h"

enum { FORMAT = 1, COLOUR, TOP, STRICT, HTML, HTML_SIZE, FORCE };
enum { BATCH = 16384 };

static const struct option_spec options[] = { { "format", true, FORMAT },
                                              { "color", true, COLOUR },
                                              { "top", true, TOP },
                                              { "html", true, HTML },
                                              { "html-size", true, HTML_SIZE },
                                              { "force", false, FORCE },
                                              { "strict", false, STRICT },
                                              SELECT_OPTIONS,
                                              SITES_OPTIONS,
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace report [OPTION]... LOG|FOLDER|-...\n"
    "\n"
    "Says where the time of the threads in trace logs went: on a processor, ready\n"
    "to run, or waiting, for which lock, descriptor or thread, and which thread\n"
    "held it.  The first screen is a summary; the sections follow.\n"
    "\n"
    "  --html=OUT       write a page for a browser: the report and a timeline\n"
    "  --html-size=SIZE --force  its bytes at most (default 40M); replace OUT\n"
    "  --format=FORMAT  text (default); json: one object, times in ns; dot, mermaid:\n"
    "                   a graph of locks, the threads that waited, and their holders\n"
    "  --top=N          N rows a section, 0: all (default 10; graph: 40; json: all)\n"
    "  --color=WHEN     text in colour: auto (default), always or never\n" SELECT_HELP SITES_HELP
    "  --strict         exit with 3 if the log has lost events or is damaged\n"
    "  --help           print this\n"
    "\n"
    "'posixtrace record --system CMD' records what this shows.\n"
    "Example: posixtrace report --from=+2s --to=+3s app.ptl | less\n";

struct request {
    const char *path;
    const char *html;
    uint64_t html_size;
    enum colour_when colour;
    struct selection select;
    long top; /* -1: not given */
    enum { TEXT, JSON, DOT, MERMAID } format;
    bool strict, force;
    struct sites sites;
    struct select_given given;
    struct logs_given logs;
};

static int take_format(struct request *r, const char *value)
{
    static const char *const formats[] = { "text", "json", "dot", "mermaid", NULL };
    int index = options_index(value, formats);

    if (index < 0)
        return options_bad_word("format", value, formats);
    r->format = (unsigned)index;
    return EXIT_DONE;
}

static int take_top(struct request *r, const char *value)
{
    char *end;

    r->top = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || r->top > 1000000)
        return tool_usage("option '--top' needs a number from 0 to 1000000, found %s",
                          quote(value));
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (select_is_option(code) || sites_is_option(code))
        select_given_add(&r->given, code, value);
    if (select_is_option(code))
        return select_take_option(&r->select, code, value);
    if (sites_is_option(code))
        return sites_take_option(&r->sites, code, value);
    switch (code) {
    case FORMAT: return take_format(r, value);
    case COLOUR: return colour_option(value, &r->colour);
    case TOP: return take_top(r, value);
    case STRICT: r->strict = true; return EXIT_DONE;
    case FORCE: r->force = true; return EXIT_DONE;
    case HTML: r->html = value; return EXIT_DONE;
    case HTML_SIZE: return options_size("html-size", value, &r->html_size);
    default: logs_given_add(&r->logs, value); return EXIT_DONE;
    }
}

/* ---- reading ---- */

static bool wants_thread(void *context, pid_t pid, pid_t tid)
{
    const struct report_part *p = context;

    return select_wants_ids(p->select, pid, tid);
}

static bool wants_begin(void *context, const struct posixtrace_event *begin)
{
    const struct report_part *p = context;

    return select_wants_expression(p->select, p->log->trid, begin);
}

static int create(struct report_part *p)
{
    struct posixtrace_report_options chosen = { .from_ns = p->select->from_ns,
                                                .to_ns = p->select->to_ns,
                                                .wants_thread = wants_thread,
                                                .context = p };
    int error;

    if (select_has_expression(p->select))
        chosen.wants_begin = wants_begin;
    error = posixtrace_report_create(p->log->trid, &chosen, sizeof chosen, &p->report);
    return error ? tool_error("cannot report on %s: %s", p->log->shown, failure_reason(error))
                 : EXIT_DONE;
}

/* before: events of other logs that were read. */
static int read_part(struct report_part *p, uint64_t before)
{
    int unavailable = 0, error = 0, status = create(p);

    if (status != EXIT_DONE)
        return status;
    while (!unavailable && error == 0) {
        error = posixtrace_report_take(p->report, BATCH, &unavailable);
        progress_at(before + posixtrace_report_events(p->report));
    }
    if (error == 0)
        error = posixtrace_report_end(p->report);
    if (error)
        return tool_error("cannot read on in %s: %s", p->log->shown, failure_reason(error));
    p->summary = posixtrace_report_summary(p->report);
    return log_file_refresh(p->log);
}

static int read_all(struct report_view *v)
{
    uint64_t events = 0, before = 0;
    int status = EXIT_DONE;

    for (size_t i = 0; i < v->part_count; i++)
        events += v->parts[i].log->info.events;
    progress_begin("events", events);
    for (size_t i = 0; status == EXIT_DONE && i < v->part_count; i++) {
        status = read_part(&v->parts[i], before);
        before += posixtrace_report_events(v->parts[i].report);
    }
    progress_end();
    return status;
}

/* What recording an event costs, where the log says it. */
static double event_cost(const struct log_file *log)
{
    trace_attr_t attr;
    double ns = 0;

    if (posix_trace_get_attr(log->trid, &attr) != 0)
        return 0;
    if (posixtrace_attr_geteventcost(&attr, &ns) != 0)
        ns = 0;
    posix_trace_attr_destroy(&attr);
    return ns;
}

static int print_view(const struct request *r, struct report_view *v)
{
    static const size_t top_default[] = { 10, 0, 40, 40 };
    int error;

    for (size_t i = 0; i < v->part_count; i++)
        v->parts[i].event_ns = event_cost(v->parts[i].log);
    report_parts_sum(v);
    v->origin = v->several || !v->parts[0].log->seekable ? v->summary.first_ns
                                                         : v->parts[0].log->info.first_ns;
    v->utf8 = draw_is_utf8();
    if (r->html)
        return report_print_html(v, r->html, r->html_size, r->force);
    v->top = r->top >= 0 ? (size_t)r->top : top_default[r->format];
    error = report_rows_make(v);
    if (error == 0 && r->format == JSON) {
        report_print_json(v);
    } else if (error == 0 && r->format != TEXT) {
        report_print_graph(v, r->format == MERMAID);
    } else if (error == 0) {
        report_print_summary(v);
        report_print_sections(v);
    }
    report_rows_free(v);
    out_flush();
    return error ? tool_error("cannot report on %s: %s", v->shown, failure_reason(error))
                 : EXIT_DONE;
}

static void free_reports(struct report_view *v)
{
    for (size_t i = 0; i < v->part_count; i++) {
        posixtrace_report_free(v->parts[i].report);
        sites_close(v->parts[i].sites);
    }
}

static int report_on(struct request *r, struct log_file *log)
{
    struct report_part part = { .log = log, .select = &r->select, .sites = &r->sites, .label = "" };
    struct report_view v = { .parts = &part, .part_count = 1, .shown = log->shown };
    int status = log->seekable ? select_resolve(&r->select, log->info.first_ns)
                               : select_resolve_absolute(&r->select);

    sites_open(&r->sites, log->trid);
    if (status == EXIT_DONE)
        status = read_all(&v);
    if (status == EXIT_DONE) {
        select_warn(&r->select, log);
        select_warn_callers(&r->select, log);
        status = print_view(r, &v);
    }
    if (status == EXIT_DONE) {
        status = log_file_report_loss(log, r->strict, status);
    }
    free_reports(&v);
    return status;
}

/* ---- several logs ---- */

static int report_on_logs(struct request *r, struct logs *logs)
{
    struct report_part *parts = tool_zeroed(logs->count * sizeof *parts);
    struct report_view v = { .parts = parts, .part_count = logs->count, .several = true };
    struct host_clocks *clocks = logs_clocks(logs);
    int status;

    v.shown = logs_shown(logs);
    v.several_clocks = host_clocks_several(clocks);
    host_clocks_free(clocks);
    for (size_t i = 0; i < logs->count; i++) {
        struct input_log *in = logs->at[i];

        parts[i] = (struct report_part){
            .log = &in->log, .select = &in->select, .sites = &in->sites, .label = in->label
        };
        sites_open(&in->sites, in->log.trid);
    }
    status = read_all(&v);
    if (status == EXIT_DONE) {
        logs_warn(logs);
        status = print_view(r, &v);
    }
    if (status == EXIT_DONE)
        status = logs_report(logs, r->strict, status);
    free_reports(&v);
    free(parts);
    return status;
}

static int serve_logs(struct request *r)
{
    struct logs logs;
    int status = logs_open_selected(&logs, &r->logs, &r->given);

    if (status == EXIT_DONE) {
        logs_label(&logs, false);
        status = report_on_logs(r, &logs);
    }
    logs_close(&logs);
    return status;
}

static int serve(struct request *r)
{
    bool several = logs_are_several(&r->logs);
    struct log_file log;
    int status;

    r->path = r->logs.count > 0 ? r->logs.paths[0] : NULL;
    if (!r->path)
        return tool_usage("no log named");
    if (r->html && several)
        return tool_usage("a page shows one log at a time");
    if (r->html && select_is_any(&r->select))
        return tool_usage("a page shows the whole log: leave out %s", select_text(&r->select));
    if (r->html && (r->format != TEXT || r->top >= 0))
        return tool_usage("a page has all of the report: leave out --%s",
                          r->format != TEXT ? "format" : "top");
    if (r->html && strcmp(r->html, "-") == 0 && isatty(STDOUT_FILENO))
        return tool_usage("a page is no text for a terminal; name a file, or redirect it");
    colour_begin(r->format != TEXT ? COLOUR_NEVER : r->colour);
    if (several)
        return serve_logs(r);
    status = log_file_open(&log, r->path);
    if (status != EXIT_DONE)
        return status;
    if (r->html)
        status = report_html_check(&log);
    if (status == EXIT_DONE)
        status = report_on(r, &log);
    log_file_close(&log);
    return status;
}

/* Takes the command line.  *over: a message or the help has answered it. */
static int take_all(struct options *o, struct request *r, bool *over)
{
    int status;

    for (;;) {
        int code = options_next(o);

        *over = code == OPTION_STOP;
        if (*over)
            return o->status;
        if (code == OPTION_END)
            return select_make(&r->select);
        status = take_option(r, code, o->value);
        if (status != EXIT_DONE)
            return status;
    }
}

static int run(struct options *o)
{
    struct request r = { .top = -1 };
    bool over;
    int status;

    select_init(&r.select, &r.sites);
    status = take_all(o, &r, &over);
    if (status == EXIT_DONE && !over)
        status = serve(&r);
    select_free(&r.select);
    select_given_free(&r.given);
    logs_given_free(&r.logs);
    return status;
}

const struct verb verb_report = { "report", help, options, run };
