/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace why: what made something take long, and what threads wait for where a log ends; see
 * why.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/colour.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "input/folder.h"
#include "input/logs.h"
#include "why/why.h"

enum { FORMAT = 1, COLOUR, WORST, METRIC, AT, STRICT };
enum form { TEXT, JSON, DOT, MERMAID };
enum { BATCH = 16384, WORST_DEFAULT = 3, WORST_MOST = 100000 };

static const struct option_spec options[] = { { "format", true, FORMAT },
                                              { "color", true, COLOUR },
                                              { "worst", true, WORST },
                                              { "metric", true, METRIC },
                                              { "at", true, AT },
                                              { "strict", false, STRICT },
                                              SELECT_OPTIONS,
                                              SITES_OPTIONS,
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace why [OPTION]... ['BEGIN..END [by FIELD]'] LOG|FOLDER...\n"
    "\n"
    "Says why the time from an event BEGIN to the next END of its thread, or with\n"
    "the same FIELD of any thread, was long: on a processor, preempted and by which\n"
    "thread, waiting for which lock and what its holder did meanwhile, and so on.\n"
    "'x' is short for 'x:begin..x:end'.  Without it: which threads wait for what\n"
    "where the log ends, and deadlocks.  Several logs: the longest of all, each\n"
    "explained by its own log.\n"
    "\n"
    "  --worst=N        the N longest one by one (default 3)\n"
    "  --metric=NAME    the measurements of a metric ('posixtrace metrics --list')\n"
    "  --at=T --tid=N   what thread N did at time T\n"
    "  --format=FORMAT  text (default), json: one object, times in ns; for Graphviz\n"
    "                   dot, or mermaid: which thread waits for which\n"
    "  --color=WHEN     text in colour: auto (default), always or never\n" SELECT_HELP SITES_HELP
    "  --strict         exit with 3 if the log has lost events or is damaged\n"
    "  --help           print this\n"
    "\n"
    "'posixtrace record --system CMD' records what this needs.\n"
    "Example: posixtrace why --worst=10 'request:begin..request:end' app.ptl\n";

struct request {
    struct logs_given logs; /* operands, */
    const char *subject;    /* without this one */
    struct select_given given;
    const char *metric_name;
    struct when at;
    enum colour_when colour;
    struct selection select;
    struct sites sites;
    long worst;
    enum form format;
    bool strict;
    char *begin, *end, *by;
    posixtrace_metric_set_t *set;
};

/* ---- options ---- */

static int take_format(struct request *r, const char *value)
{
    static const char *const formats[] = { "text", "json", "dot", "mermaid", NULL };
    int index = options_index(value, formats);

    if (index < 0)
        return options_bad_word("format", value, formats);
    r->format = (enum form)index;
    return EXIT_DONE;
}

static int take_worst(struct request *r, const char *value)
{
    char *end;

    r->worst = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || r->worst > WORST_MOST)
        return tool_usage("option '--worst' needs a number from 0 to %d, found %s", WORST_MOST,
                          quote(value));
    return EXIT_DONE;
}

static int take_at(struct request *r, const char *value)
{
    if (!when_parse(value, &r->at))
        return tool_usage("option '--at' needs a time such as +1.5s, found %s", quote(value));
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
    case WORST: return take_worst(r, value);
    case METRIC: r->metric_name = value; return EXIT_DONE;
    case AT: return take_at(r, value);
    case STRICT: r->strict = true; return EXIT_DONE;
    default: logs_given_add(&r->logs, value); return EXIT_DONE;
    }
}

/* ---- the instances asked for ---- */

static char *copy(const char *text, size_t length)
{
    char *made = tool_grow(NULL, length + 8, 1);

    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

/* "BEGIN..END by FIELD", or "x" for "x:begin..x:end". */
static int parse_subject(struct request *r, const char *text)
{
    const char *dots = strstr(text, ".."), *end = dots ? dots + 2 : text, *by = strstr(end, " by ");
    size_t length = by ? (size_t)(by - end) : strlen(end);

    if (by)
        r->by = copy(by + 4, strlen(by + 4));
    r->end = copy(end, length);
    r->begin = dots ? copy(text, (size_t)(dots - text)) : strcat(copy(text, length), ":begin");
    if (!dots)
        strcat(r->end, ":end");
    if (length == 0 || dots == text || (by && !*r->by))
        return tool_usage("%s is not of the form 'BEGIN..END' or 'BEGIN..END by FIELD'",
                          quote(text));
    return EXIT_DONE;
}

/* A metric of the set, or a pair of that name. */
static int find_metric(struct request *r, struct posixtrace_why_options *o)
{
    int error = posixtrace_metric_set_open("linux", &r->set);

    if (error)
        return tool_error("cannot read the metrics: %s", failure_reason(error));
    o->metric = posixtrace_metric_set_find(r->set, r->metric_name);
    if (o->metric)
        return EXIT_DONE;
    return strstr(r->metric_name, "..") ? tool_usage("no metric %s", quote(r->metric_name))
                                        : parse_subject(r, r->metric_name);
}

/* Is the operand a log, not what is to be explained? */
static bool is_log(const char *word)
{
    size_t length = strlen(word);
    uint8_t id[16];
    char *folder = NULL;
    bool is_stream = folder_is_stream(word, &folder, id);

    free(folder);
    return is_stream || strcmp(word, "-") == 0 || access(word, F_OK) == 0 ||
           (length > 4 && strcmp(word + length - 4, ".ptl") == 0);
}

/* The first operand of several is what to explain, unless it is a log. */
static int check_words(struct request *r)
{
    bool chosen = r->metric_name != NULL || r->at.kind != WHEN_NEVER;

    if (r->logs.count > 1 && !is_log(r->logs.paths[0])) {
        r->subject = r->logs.paths[0];
        memmove(r->logs.paths, r->logs.paths + 1, --r->logs.count * sizeof *r->logs.paths);
    }
    if (r->logs.count == 0)
        return tool_usage("no log named");
    if (r->subject ? chosen : r->metric_name && r->at.kind != WHEN_NEVER)
        return tool_usage("only one of '--metric', '--at' and 'BEGIN..END' can be explained");
    if (r->at.kind != WHEN_NEVER && (r->select.tid_count != 1 || r->select.pid_count > 1))
        return tool_usage("option '--at' needs one '--tid'");
    if (r->at.kind != WHEN_NEVER && logs_are_several(&r->logs))
        return tool_usage("option '--at' is for one log at a time");
    return EXIT_DONE;
}

/* ---- reading ---- */

static bool wants_thread(void *context, pid_t pid, pid_t tid)
{
    const struct why_view *v = context;

    return select_wants_ids(v->select, pid, tid);
}

static bool wants_begin(void *context, const struct posixtrace_event *begin)
{
    const struct why_view *v = context;

    return select_wants_expression(v->select, v->log->trid, begin);
}

/* What the options and the operand say, once for all logs. */
static int find_subject(struct request *r, struct posixtrace_why_options *o)
{
    int status = r->metric_name ? find_metric(r, o)
                 : r->subject   ? parse_subject(r, r->subject)
                                : EXIT_DONE;

    o->begin = r->begin;
    o->end = r->end;
    o->by = r->by;
    o->worst = (size_t)r->worst;
    return status;
}

static int create(const struct request *r, const struct posixtrace_why_options *subject,
                  struct why_view *v)
{
    struct posixtrace_why_options o = *subject;
    int error;

    o.from_ns = v->select->from_ns;
    o.to_ns = v->select->to_ns;
    o.wants_thread = wants_thread;
    o.context = v;
    if (select_has_expression(v->select))
        o.wants_begin = wants_begin;
    if (r->at.kind != WHEN_NEVER) {
        o.at_ns = when_resolve(&r->at, v->log->info.first_ns);
        o.at_tid = r->select.tids[0];
        o.at_pid = r->select.pid_count ? r->select.pids[0] : 0;
    }
    error = posixtrace_why_create(v->log->trid, &o, sizeof o, &v->why);
    if (error == ENOTSUP)
        return tool_error("the metric %s is one by item, whose times are of no thread",
                          quote(r->metric_name));
    return error ? tool_error("cannot explain %s: %s", v->log->shown, failure_reason(error))
                 : EXIT_DONE;
}

/* before: events of other logs that were read. */
static int read_view(struct why_view *v, uint64_t before)
{
    int unavailable = 0, error = 0;

    while (!unavailable && error == 0) {
        error = posixtrace_why_take(v->why, BATCH, &unavailable);
        progress_at(before + posixtrace_why_events(v->why));
    }
    if (error == 0)
        error = posixtrace_why_end(v->why);
    if (error)
        return tool_error("cannot read on in %s: %s", v->log->shown, failure_reason(error));
    v->summary = posixtrace_why_summary(v->why);
    v->origin = v->log->seekable ? v->log->info.first_ns : v->summary->first_ns;
    return log_file_refresh(v->log);
}

static int read_all(struct request *r, struct why_set *set)
{
    struct posixtrace_why_options subject = { .begin = NULL };
    uint64_t events = 0, before = 0;
    int status = find_subject(r, &subject);

    for (size_t i = 0; i < set->count; i++)
        events += set->views[i].log->info.events;
    progress_begin("events", set->views[0].subject ? 2 * events : events);
    for (size_t i = 0; status == EXIT_DONE && i < set->count; i++) {
        status = create(r, &subject, &set->views[i]);
        if (status == EXIT_DONE)
            status = read_view(&set->views[i], before);
        before += posixtrace_why_events(set->views[i].why);
    }
    progress_end();
    return status;
}

/* ---- nothing to explain ---- */

/* Why there is no instance, with what to do. */
static int say_none(const struct request *r, const struct why_set *set)
{
    const struct posixtrace_why_summary *s = &set->summary;
    const char *pairs = set->pairs;

    if (set->views[0].at)
        return tool_error("thread %d has no time at that moment in %s", (int)r->select.tids[0],
                          set->shown);
    if (!r->begin)
        return tool_error("the metric %s has no measurement in %s: 'posixtrace metrics "
                          "--metric' says why",
                          quote(r->metric_name), set->shown);
    if (r->metric_name && s->begins + s->ends == 0)
        return tool_error("no metric %s ('posixtrace metrics --list'), and no such pair in %s%s%s",
                          quote(r->metric_name), set->shown, pairs[0] ? ": it has " : "",
                          unquoted(pairs));
    if (s->begins == 0 || s->ends == 0)
        return tool_error("no event %s in %s%s%s", quote(s->begins == 0 ? r->begin : r->end),
                          set->shown, pairs[0] ? "; it has the pairs " : "", unquoted(pairs));
    if (s->unkeyed == s->begins + s->ends)
        return tool_error("the events have no field %s: 'posixtrace info %s' shows their fields",
                          quote(r->by), set->views[0].log->path);
    return tool_error("no %s is followed by its %s in %s%s", quote(r->begin), quote(r->end),
                      set->shown,
                      select_is_any(set->views[0].select) ? ", of those that are selected" : "");
}

static int print_set(struct request *r, struct why_set *set)
{
    int status = why_set_make(set, (size_t)r->worst);

    if (status != EXIT_DONE)
        return status;
    if (set->views[0].subject && set->row_count == 0 && set->summary.count == 0)
        return say_none(r, set);
    for (size_t i = 0; i < set->count; i++)
        sites_open(set->views[i].sites, set->views[i].log->trid);
    switch (r->format) {
    case TEXT: why_print_text(set); break;
    case JSON: why_print_json(set); break;
    default: why_print_graph(set, r->format == MERMAID);
    }
    for (size_t i = 0; i < set->count; i++)
        sites_close(set->views[i].sites);
    out_flush();
    return EXIT_DONE;
}

static struct why_view view_of(const struct request *r, struct log_file *log,
                               struct selection *select, struct sites *sites, const char *label)
{
    struct why_view v = { .log = log,
                          .label = label,
                          .select = select,
                          .sites = sites,
                          .metric = r->metric_name != NULL,
                          .at = r->at.kind != WHEN_NEVER };

    v.subject = v.at ? "" : r->metric_name ? r->metric_name : r->subject;
    return v;
}

static int explain(struct request *r, struct log_file *log)
{
    struct why_view v = view_of(r, log, &r->select, &r->sites, "");
    struct why_set set = { .views = &v, .count = 1, .shown = log->shown };
    int status = log->seekable ? select_resolve(&r->select, log->info.first_ns)
                               : select_resolve_absolute(&r->select);

    if (v.subject && !log->seekable)
        return tool_error("%s cannot be read twice: name a file", log->shown);
    if (status == EXIT_DONE)
        status = read_all(r, &set);
    if (status == EXIT_DONE) {
        select_warn(&r->select, log);
        if (v.subject)
            select_warn_callers(&r->select, log);
        status = print_set(r, &set);
        status = log_file_report_loss(log, r->strict, status);
    }
    why_set_free(&set);
    posixtrace_why_free(v.why);
    return status;
}

/* ---- several logs ---- */

static int explain_logs(struct request *r, struct logs *logs)
{
    struct why_set set = { .count = logs->count, .shown = logs_shown(logs), .several = true };
    int status;

    set.views = tool_zeroed(logs->count * sizeof *set.views);
    for (size_t i = 0; i < logs->count; i++) {
        struct input_log *in = logs->at[i];

        set.views[i] = view_of(r, &in->log, &in->select, &in->sites, in->label);
    }
    status = read_all(r, &set);
    if (status == EXIT_DONE) {
        logs_warn(logs);
        status = print_set(r, &set);
        status = logs_report(logs, r->strict, status);
    }
    why_set_free(&set);
    for (size_t i = 0; i < set.count; i++)
        posixtrace_why_free(set.views[i].why);
    free(set.views);
    return status;
}

static int serve_logs(struct request *r)
{
    struct logs logs;
    int status = logs_open_selected(&logs, &r->logs, &r->given);

    if (status == EXIT_DONE) {
        logs_label(&logs, false);
        status = explain_logs(r, &logs);
    }
    logs_close(&logs);
    return status;
}

static int serve(struct request *r)
{
    struct log_file log;
    int status = check_words(r);

    if (status != EXIT_DONE)
        return status;
    colour_begin(r->format != TEXT ? COLOUR_NEVER : r->colour);
    if (logs_are_several(&r->logs))
        return serve_logs(r);
    status = log_file_open(&log, r->logs.paths[0]);
    if (status != EXIT_DONE)
        return status;
    status = explain(r, &log);
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
    struct request r = { .worst = WORST_DEFAULT };
    bool over;
    int status;

    select_init(&r.select, &r.sites);
    status = take_all(o, &r, &over);
    if (status == EXIT_DONE && !over)
        status = serve(&r);
    select_free(&r.select);
    select_given_free(&r.given);
    logs_given_free(&r.logs);
    posixtrace_metric_set_free(r.set);
    free(r.begin);
    free(r.end);
    free(r.by);
    return status;
}

const struct verb verb_why = { "why", help, options, run };
