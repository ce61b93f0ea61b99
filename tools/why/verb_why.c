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

#include "common/colour.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
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
    "usage: posixtrace why [OPTION]... ['BEGIN..END [by FIELD]'] LOG\n"
    "\n"
    "Says why the time from an event BEGIN to the next END of its thread, or with\n"
    "the same FIELD of any thread, was long: on a processor, preempted and by which\n"
    "thread, waiting for which lock and what its holder did meanwhile, and so on.\n"
    "'x' is short for 'x:begin..x:end'.  Without it: which threads wait for what\n"
    "where the log ends, and deadlocks.\n"
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
    const char *words[2]; /* operands */
    size_t count;
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

static int take_word(struct request *r, const char *value)
{
    if (r->count == 2)
        return tool_usage("too many arguments: %s", quote(value));
    r->words[r->count++] = value;
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
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
    default: return take_word(r, value);
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

static int check_words(struct request *r)
{
    unsigned kinds = (r->count == 2) + (r->metric_name != NULL) + (r->at.kind != WHEN_NEVER);

    if (r->count == 0)
        return tool_usage("no log named");
    if (kinds > 1)
        return tool_usage("only one of '--metric', '--at' and 'BEGIN..END' can be explained");
    if (r->at.kind != WHEN_NEVER && (r->select.tid_count != 1 || r->select.pid_count > 1))
        return tool_usage("option '--at' needs one '--tid'");
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

static int create(struct request *r, struct why_view *v)
{
    struct posixtrace_why_options o = { .from_ns = r->select.from_ns,
                                        .to_ns = r->select.to_ns,
                                        .wants_thread = wants_thread,
                                        .context = v,
                                        .worst = (size_t)r->worst };
    int error, status = EXIT_DONE;

    if (select_has_expression(v->select))
        o.wants_begin = wants_begin;
    if (r->metric_name)
        status = find_metric(r, &o);
    else if (r->count == 2)
        status = parse_subject(r, r->words[0]);
    if (status != EXIT_DONE)
        return status;
    o.begin = r->begin;
    o.end = r->end;
    o.by = r->by;
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

static int read_all(struct why_view *v)
{
    int unavailable = 0, error = 0;

    progress_begin("events", v->subject ? 2 * v->log->info.events : v->log->info.events);
    while (!unavailable && error == 0) {
        error = posixtrace_why_take(v->why, BATCH, &unavailable);
        progress_at(posixtrace_why_events(v->why));
    }
    if (error == 0)
        error = posixtrace_why_end(v->why);
    progress_end();
    if (error)
        return tool_error("cannot read on in %s: %s", v->log->shown, failure_reason(error));
    v->summary = posixtrace_why_summary(v->why);
    return log_file_refresh(v->log);
}

/* ---- nothing to explain ---- */

static bool is_begin(const char *name, size_t *stem)
{
    size_t length = strlen(name);

    *stem = length - 6;
    return length > 6 && strcmp(name + length - 6, ":begin") == 0;
}

static void put_pairs(const struct log_file *log, char *text, size_t size)
{
    struct log_type *types = NULL;
    size_t count = 0, stem;

    text[0] = '\0';
    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count && strlen(text) < size / 2; i++)
        if (is_begin(types[i].name, &stem))
            why_add(text, size, "%s%.*s", text[0] ? ", " : "", (int)stem, types[i].name);
    free(types);
}

/* Why there is no instance, with what to do. */
static int say_none(const struct request *r, const struct why_view *v)
{
    const struct posixtrace_why_summary *s = v->summary;

    if (v->at)
        return tool_error("thread %d has no time at that moment in %s", (int)r->select.tids[0],
                          v->log->shown);
    if (!r->begin)
        return tool_error("the metric %s has no measurement in %s: 'posixtrace metrics "
                          "--metric' says why",
                          quote(r->metric_name), v->log->shown);
    if (r->metric_name && s->begins + s->ends == 0)
        return tool_error("no metric %s ('posixtrace metrics --list'), and no such pair in %s%s%s",
                          quote(r->metric_name), v->log->shown, v->pairs[0] ? ": it has " : "",
                          unquoted(v->pairs));
    if (s->begins == 0 || s->ends == 0)
        return tool_error("no event %s in %s%s%s", quote(s->begins == 0 ? r->begin : r->end),
                          v->log->shown, v->pairs[0] ? "; it has the pairs " : "",
                          unquoted(v->pairs));
    if (s->unkeyed == s->begins + s->ends)
        return tool_error("the events have no field %s: 'posixtrace info %s' shows their fields",
                          quote(r->by), v->log->path);
    return tool_error("no %s is followed by its %s in %s%s", quote(r->begin), quote(r->end),
                      v->log->shown,
                      select_is_any(v->select) ? ", of those that are selected" : "");
}

static int print_view(struct request *r, struct why_view *v)
{
    put_pairs(v->log, v->pairs, sizeof v->pairs);
    v->origin = v->log->seekable ? v->log->info.first_ns : v->summary->first_ns;
    if (v->subject && !posixtrace_why_instance(v->why, 0) && v->summary->count == 0)
        return say_none(r, v);
    sites_open(&r->sites, v->log->trid);
    switch (r->format) {
    case TEXT: why_print_text(v); break;
    case JSON: why_print_json(v); break;
    default: why_print_graph(v, r->format == MERMAID);
    }
    sites_close(&r->sites);
    out_flush();
    return EXIT_DONE;
}

static int explain(struct request *r, struct log_file *log)
{
    struct why_view v = { .log = log,
                          .select = &r->select,
                          .sites = &r->sites,
                          .metric = r->metric_name != NULL,
                          .at = r->at.kind != WHEN_NEVER };
    int status = log->seekable ? select_resolve(&r->select, log->info.first_ns)
                               : select_resolve_absolute(&r->select);

    v.subject = r->metric_name ? r->metric_name : r->count == 2 ? r->words[0] : NULL;
    if (v.at)
        v.subject = "";
    if (v.subject && !log->seekable)
        return tool_error("%s cannot be read twice: name a file", log->shown);
    if (status == EXIT_DONE)
        status = create(r, &v);
    if (status == EXIT_DONE)
        status = read_all(&v);
    if (status == EXIT_DONE) {
        select_warn(&r->select, log);
        if (v.subject)
            select_warn_callers(&r->select, log);
        status = print_view(r, &v);
        status = log_file_report_loss(log, r->strict, status);
    }
    posixtrace_why_free(v.why);
    return status;
}

static int serve(struct request *r)
{
    struct log_file log;
    int status = check_words(r);

    if (status != EXIT_DONE)
        return status;
    colour_begin(r->format != TEXT ? COLOUR_NEVER : r->colour);
    status = log_file_open(&log, r->words[r->count - 1]);
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
    posixtrace_metric_set_free(r.set);
    free(r.begin);
    free(r.end);
    free(r.by);
    return status;
}

const struct verb verb_why = { "why", help, options, run };
