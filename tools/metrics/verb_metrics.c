/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace metrics: what a log says of the times of its threads, by automata
 * (posixtrace-metrics(5)); and sets of them listed, checked and drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/jobs.h"
#include "measure/metrics_names.h"
#include "measure/metrics_text.h"
#include "metrics/metrics_jobs.h"
#include "metrics/metrics_pairs.h"
#include "metrics/metrics_request.h"
#include "common/colour.h"
#include "common/format_option.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"

enum { ABOUT_COLUMN = 26 };

enum {
    SET = 1,
    METRIC,
    USER,
    PAIR,
    FORMAT,
    COLOUR,
    STATS,
    EACH,
    BY,
    PERCENTILES,
    JOB,
    LOAD,
    HISTOGRAM,
    WORST,
    COST,
    FOLLOW,
    STRICT,
    LIST,
    CHECK,
    DOT,
    MERMAID
};

static const struct option_spec options[] = { { "set", true, SET },
                                              { "metric", true, METRIC },
                                              { "user", true, USER },
                                              { "pair", true, PAIR },
                                              { "format", true, FORMAT },
                                              { "stats", false, STATS },
                                              { "each", false, EACH },
                                              { "by", true, BY },
                                              { "percentiles", true, PERCENTILES },
                                              { "histogram", false, HISTOGRAM },
                                              { "worst", true, WORST },
                                              SITES_OPTIONS,
                                              { "job", true, JOB },
                                              { "load", true, LOAD },
                                              { "cost", true, COST },
                                              { "follow", false, FOLLOW },
                                              { "strict", false, STRICT },
                                              SELECT_OPTIONS,
                                              { "color", true, COLOUR },
                                              { "list", false, LIST },
                                              { "check", true, CHECK },
                                              { "dot", true, DOT },
                                              { "mermaid", true, MERMAID },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace metrics [OPTION]... LOG|FOLDER|-...\n"
    "       posixtrace metrics --follow [OPTION]... PID|STREAM|LOG\n"
    "       posixtrace metrics --list | --dot=NAME | --mermaid=NAME | --check=FILE\n"
    "\n"
    "Measures times of threads in trace logs, such as \"Response Time\".\n"
    "\n"
    "  --set=SET        metrics: linux (default), marte or a file of one's own\n"
    "  --metric=NAME    only this one of the set, or pair; more than once: these\n"
    "  --user=NAME:INITIAL:FINAL[:elapsed | cpu | nosystem]  between two events\n"
    "  --pair='send by id..recv by id'  to an event with the same id, in any log\n"
    "  --format=FORMAT  text (default), json, jsonl or csv\n"
    "  --color=WHEN     text in colour: auto (default), always or never\n" SELECT_HELP SITES_HELP
    "  --stats, --each, --by=ROWS  rows by thread; measurement; metric or object\n"
    "  --percentiles=50,90,99.9, --histogram, --worst=N  what else; the longest\n"
    "  --job=SOURCE     jobs: sleep, timerfd, poll, timed, any, or events BEGIN..END\n"
    "  --load=TIME      percent of a processor of each thread, in intervals\n"
    "  --cost=NS        take NS off for each event inside; 'log', 'measure', 'none'\n"
    "  --follow         of a running process, or a log that is written, until it ends\n"
    "  --strict, --help exit with 3 if the log has lost events; print this\n"
    "  --list, --check=FILE, --dot=NAME, --mermaid=NAME  names; faults; graphs\n"
    "\n"
    "Example: posixtrace metrics --stats --metric='Response Time' app.ptl\n";

static const char follow_what[] = "--follow needs a process, a stream or a log";

struct request {
    const char *set, *check, *dot, *mermaid;
    const char **metrics, **users, **pairs; /* end with NULL */
    size_t metric_count, user_count, pair_count;
    struct jobs_rules rules;
    int64_t load_ns;
    enum colour_when colour;
    struct metrics_request m;
    bool follow, list;
};

/* ---- sets ---- */

static int list_set(const char *word)
{
    const posixtrace_metric_t *metric;
    posixtrace_metric_set_t *set;
    int status = metrics_set_load(word, &set);

    if (status != EXIT_DONE)
        return status;
    for (size_t i = 0; (metric = posixtrace_metric_set_get(set, i)) != NULL; i++) {
        char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(metric));
        char *about = metrics_shown(OUTPUT_TEXT, posixtrace_metric_about(metric));
        size_t used = table_put_cut(name, out_columns());

        out_spaces(used < ABOUT_COLUMN - 2 ? ABOUT_COLUMN - used : 2);
        out_wrapped(about, used < ABOUT_COLUMN - 2 ? ABOUT_COLUMN : used + 2, ABOUT_COLUMN);
        free(name);
        free(about);
    }
    posixtrace_metric_set_free(set);
    return EXIT_DONE;
}

struct set_findings {
    const char *path;
    unsigned count;
};

static int say_finding(void *context, const struct posixtrace_metric_fault *fault)
{
    struct set_findings *findings = context;
    const char *path = findings->path;

    if (fault->line == 0)
        out_format("%s: %s\n", quote(path), unquoted(fault->text));
    else
        out_format("%s, line %u, column %u: %s\n", quote(path), fault->line, fault->column,
                   unquoted(fault->text));
    findings->count++;
    return 0;
}

static void say_name(void *context, const char *sentence)
{
    out_format("%s: %s\n", quote(context), sentence);
}

static int check_set(const char *path)
{
    posixtrace_metric_set_t *set;
    struct set_findings findings = { path, 0 };
    int status = metrics_set_load(path, &set);

    if (status != EXIT_DONE)
        return status;
    posixtrace_metric_set_check(set, say_finding, &findings);
    for (size_t i = 0; i < posixtrace_metric_set_count(set); i++)
        findings.count += metrics_names_check(posixtrace_metric_set_get(set, i), say_name,
                                              (void *)(uintptr_t)path);
    if (findings.count == 0)
        out_format("%s: nothing wrong with its %zu metric%s\n", quote(path),
                   posixtrace_metric_set_count(set),
                   posixtrace_metric_set_count(set) == 1 ? "" : "s");
    posixtrace_metric_set_free(set);
    return findings.count ? EXIT_FAILED : EXIT_DONE;
}

static int draw(const char *word, const char *name,
                size_t (*picture)(const posixtrace_metric_t *metric, char *to, size_t size))
{
    const posixtrace_metric_t *metric;
    posixtrace_metric_set_t *set;
    int status = metrics_set_load(word, &set);
    char *text = NULL;
    size_t length;

    if (status != EXIT_DONE)
        return status;
    status = metrics_find(set, word, name, &metric);
    if (status == EXIT_DONE) {
        length = picture(metric, NULL, 0);
        text = tool_grow(NULL, length + 1, 1);
        if (length == 0 || picture(metric, text, length + 1) != length)
            status = tool_error("no memory to draw %s", quote(name));
        else
            out_bytes(text, length);
    }
    free(text);
    posixtrace_metric_set_free(set);
    return status;
}

/* ---- the command line ---- */

static int add_word(const char ***list, size_t *count, const char *word)
{
    *list = tool_grow(*list, *count + 2, sizeof **list);
    (*list)[(*count)++] = word;
    (*list)[*count] = NULL;
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (select_is_option(code) || sites_is_option(code))
        select_given_add(&r->m.given, code, value);
    if (select_is_option(code))
        return select_take_option(&r->m.selection, code, value);
    if (sites_is_option(code))
        return sites_take_option(&r->m.sites, code, value);
    switch (code) {
    case SET: r->set = value; break;
    case METRIC: return add_word(&r->metrics, &r->metric_count, value);
    case USER: return add_word(&r->users, &r->user_count, value);
    case PAIR: return add_word(&r->pairs, &r->pair_count, value);
    case FORMAT: return metrics_form_format(&r->m.form, value);
    case COLOUR: return colour_option(value, &r->colour);
    case STATS: return metrics_form_rows(&r->m.form, METRICS_STATS);
    case EACH: return metrics_form_rows(&r->m.form, METRICS_EACH);
    case BY: return metrics_form_by(&r->m.form, value);
    case PERCENTILES: return metrics_form_percentiles(&r->m.form, value);
    case HISTOGRAM: r->m.form.histogram = true; break;
    case JOB: return jobs_rules_add(&r->rules, value);
    case LOAD: return jobs_load_parse(value, &r->load_ns);
    case WORST: return metrics_form_worst(&r->m.form, value);
    case COST: return metrics_cost_parse(&r->m.cost, value);
    case FOLLOW: r->follow = true; break;
    case STRICT: r->m.strict = true; break;
    case LIST: r->list = true; break;
    case CHECK: r->check = value; break;
    case DOT: r->dot = value; break;
    case MERMAID: r->mermaid = value; break;
    default: logs_given_add(&r->m.logs, value); break;
    }
    return EXIT_DONE;
}

/* --job and --load are about events, not about metrics. */
static int show_jobs(struct request *r)
{
    struct jobs_request jobs = { .path = r->m.path,
                                 .rules = r->rules,
                                 .load_ns = r->load_ns,
                                 .form = r->m.form,
                                 .select = &r->m.selection,
                                 .strict = r->m.strict };

    if (r->follow || r->metric_count + r->user_count + r->pair_count > 0)
        return tool_usage("--job and --load go with no --follow, --metric, --user and --pair");
    if (r->m.form.rows == METRICS_OBJECTS ||
        (r->load_ns > 0 && r->m.form.rows == METRICS_EACH && r->m.form.format == OUTPUT_TEXT))
        return tool_usage("--job has no rows by object, and --load none of each");
    if (r->rules.count > 0 && r->load_ns > 0 && r->m.form.format != OUTPUT_TEXT && !r->m.form.json)
        return tool_usage("--job and --load: one at a time with the format '%s'",
                          format_option_name(r->m.form.format));
    return jobs_show(&jobs);
}

/* What was asked for. */
static int serve(struct request *r)
{
    static const char *const none[] = { NULL };
    bool several = logs_are_several(&r->m.logs);
    struct metrics_pick pick;
    int status;

    r->m.path = r->m.logs.count > 0 ? r->m.logs.paths[0] : NULL;
    if (r->list + !!r->check + !!r->dot + !!r->mermaid > 1)
        return tool_usage("--list, --check, --dot and --mermaid: one at a time");
    if ((r->list || r->check || r->dot || r->mermaid) && r->m.path)
        return tool_usage("%s is too much: --list, --check, --dot and --mermaid take no log",
                          quote(r->m.path));
    colour_begin(r->m.form.format == OUTPUT_TEXT ? r->colour : COLOUR_NEVER);
    if (r->list)
        return list_set(r->set);
    if (r->check)
        return check_set(r->check);
    if (r->dot)
        return draw(r->set, r->dot, posixtrace_metric_dot);
    if (r->mermaid)
        return draw(r->set, r->mermaid, posixtrace_metric_mermaid);
    status = metrics_form_make(&r->m.form);
    if (status != EXIT_DONE)
        return status;
    if (!r->m.path)
        return tool_usage(r->follow ? follow_what : "no log named");
    if (r->follow && strcmp(r->m.path, "-") == 0)
        return tool_usage(follow_what);
    if (several && (r->follow || r->rules.count > 0 || r->load_ns > 0))
        return tool_usage("--%s is for one log at a time", r->follow            ? "follow"
                                                           : r->rules.count > 0 ? "job"
                                                                                : "load");
    if (r->rules.count > 0 || r->load_ns > 0)
        return show_jobs(r);
    if (r->pairs && (r->follow || r->metrics || r->users || r->m.cost.origin != METRICS_COST_NONE))
        return tool_usage("--pair goes with no --metric, --user, --cost and --follow");
    status = r->pairs ? metrics_keys_pick(&pick, r->set, r->pairs)
                      : metrics_pick(&pick, r->set, r->metrics ? r->metrics : none,
                                     r->users ? r->users : none);
    if (status != EXIT_DONE)
        return status;
    status = several     ? metrics_request_logs(&r->m, &pick)
             : r->follow ? metrics_request_live(&r->m, &pick)
                         : metrics_request_log(&r->m, &pick);
    metrics_pick_free(&pick);
    return status;
}

static int run(struct options *o)
{
    struct request r = { .set = "linux" };
    int code, status = EXIT_DONE;

    select_init(&r.m.selection, &r.m.sites);
    r.m.select.s = &r.m.selection;
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            status = o->status;
            break;
        }
        status = take_option(&r, code, o->value);
    }
    if (status == EXIT_DONE && code == OPTION_END)
        status = select_make(&r.m.selection);
    if (status == EXIT_DONE && code == OPTION_END)
        status = serve(&r);
    select_free(&r.m.selection);
    select_given_free(&r.m.given);
    logs_given_free(&r.m.logs);
    free(r.metrics);
    free(r.users);
    free(r.pairs);
    jobs_rules_free(&r.rules);
    return status;
}

const struct verb verb_metrics = { "metrics", help, options, run };
