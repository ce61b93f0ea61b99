/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace rta: are the tasks of a file schedulable, with the times that a log has
 * of them?
 */
#include <stdlib.h>
#include <string.h>

#include <posixtrace/system.h>

#include "input/log_file.h"
#include "measure/metrics_measure.h"
#include "measure/metrics_pick.h"
#include "common/format_option.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "rta/rta.h"
#include "rta/rta_locks.h"
#include "rta/rta_log.h"
#include "rta/rta_print.h"
#include "common/tool.h"

enum { SET = 1, FORMAT, COST, JOB, PROTOCOL, SWITCH_COST, SENSITIVITY, AT_MOST, STRICT };

static const struct option_spec options[] = { { "set", true, SET },
                                              SELECT_OPTIONS,
                                              SITES_OPTIONS,
                                              { "format", true, FORMAT },
                                              { "cost", true, COST },
                                              { "job", true, JOB },
                                              { "protocol", true, PROTOCOL },
                                              { "switch-cost", true, SWITCH_COST },
                                              { "sensitivity", false, SENSITIVITY },
                                              { "at-most", false, AT_MOST },
                                              { "strict", false, STRICT },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace rta [OPTION]... TASKS [LOG|-]\n"
    "\n"
    "Response-time analysis: the longest that each task of the file TASKS can take,\n"
    "beside the longest that LOG has seen.  A line of TASKS is\n"
    "\n"
    "  name priority period [deadline=T] [J=T] [C=T] [B=T] [JST=T] [SB=T] [DUW=T]\n"
    "                       [tid=N | thread=NAME]\n"
    "\n"
    "with times such as 2.5ms.  The rest is measured in LOG, of the thread so named.\n"
    "  --set=SET        metrics: linux (default), marte or a file of one's own\n"
    "  --format=FORMAT  text (default), jsonl or csv\n" SELECT_HELP SITES_HELP
    "  --cost=NS        take NS off for each event inside; 'log': what the log says,\n"
    "                   'measure': what it costs here; 'none': nothing (default)\n"
    "  --job=SOURCE     what releases jobs, if not a sleep, as for metrics\n"
    "  --protocol=inheritance | ceiling   of mutexes, for B from LOG\n"
    "  --switch-cost=T, --sensitivity  of a context switch; how much may C grow?\n"
    "  --at-most        where events were lost, count what a time was at most\n"
    "  --strict         exit with 3 if the log has lost events or is damaged\n"
    "  --help           print this\n"
    "\n"
    "Exit status 1 also if a task may be late.\n"
    "Example: posixtrace rta app.tasks app.ptl\n";

struct request {
    const char *tasks_path;
    struct rta_source source;
    enum output_format format;
    int64_t switch_ns;
    bool at_most, sensitivity;
};

static struct rta_task tasks[RTA_TASKS_MAX];
static struct rta_seen seen[RTA_TASKS_MAX];
static struct rta_growth growth;

static int load_tasks(const char *path, size_t *count)
{
    struct rta_fault fault;
    size_t length = 0;
    char *text = NULL, *shown;
    int status = metrics_text_load(path, &text, &length);

    if (status != EXIT_DONE)
        return status;
    if (!rta_parse(text, length, tasks, count, &fault)) {
        shown = log_file_call(path);
        status = tool_error("%s, line %u, column %u: %s", shown, fault.line, fault.column,
                            unquoted(fault.text));
        free(shown);
    }
    free(text);
    return status;
}

/* The longest time that one can have lasted. */
static int64_t at_most(const struct rta_measure *m)
{
    if (!m->there)
        return m->hidden;
    return m->at_most > m->largest ? m->at_most : m->largest;
}

/* Values that the file does not give. */
static void fill_in(const struct request *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int v = 0; v < RTA_VALUES; v++) {
            const struct rta_measure *m = &seen[i].of[v];

            if (tasks[i].value[v] >= 0 || !(m->known || (r->at_most && (m->there || m->hidden))))
                continue;
            tasks[i].value[v] = r->at_most ? at_most(m) : m->largest;
            seen[i].from_log[v] = true;
        }
    }
}

static void compare(const struct request *r, struct rta_task *task, const struct rta_measure *m)
{
    rta_compare(task, m->largest);
    if (r->at_most && task->verdict == RTA_SCHEDULABLE && at_most(m) > task->r)
        task->verdict = RTA_UNDECIDED;
}

/*
 * "Delay Until Wakeup" of the set linux lasts until the thread runs, so that of a lower
 * task holds the execution of higher ones, which equation 1 counts already.  Nothing
 * delays the highest task but the waking up, and that is the same for all.
 */
static void cap_wakeups(struct rta_result *result)
{
    const struct rta_task *first = NULL;

    for (size_t i = 0; i < result->count; i++) {
        if (seen[i].from_log[RTA_DUW] && (!first || tasks[i].priority > first->priority))
            first = &tasks[i];
    }
    result->first = first;
    for (size_t i = 0; first && i < result->count; i++) {
        int64_t *duw = &tasks[i].value[RTA_DUW];

        if (!seen[i].from_log[RTA_DUW] || *duw <= first->value[RTA_DUW])
            continue;
        *duw = first->value[RTA_DUW];
        result->capped++;
    }
}

/* Has the log context switches and calls, as 'record --system=calls,switches' makes it? */
static bool has_system_events(const char *path)
{
    bool calls = false, switches = false;
    struct log_type *types = NULL;
    struct log_file log;
    size_t count = 0;

    if (strcmp(path, "-") == 0 || log_file_open(&log, path) != EXIT_DONE)
        return false;
    if (log_file_types(&log, &types, &count) == EXIT_DONE) {
        for (size_t i = 0; i < count; i++) {
            trace_event_id_t id = types[i].count > 0 ? types[i].id : 0;

            switches |= id >= POSIXTRACE_SWITCH_IN && id <= POSIXTRACE_SWITCH_PREEMPTED;
            calls |= (id >= POSIXTRACE_MUTEX_LOCK && id < POSIXTRACE_SIGNAL_BEGIN) ||
                     (id >= POSIXTRACE_IO && id <= POSIXTRACE_SIGNAL_TAKEN);
        }
        free(types);
    }
    log_file_close(&log);
    return calls && switches;
}

static int need_execution(const struct request *r, size_t count)
{
    const char *jobs = r->source.jobs.count > 0 ? ", and no job as --job says"
                                                : "; for jobs without a sleep: --job";
    char *shown;
    size_t i = 0;

    while (i < count && tasks[i].value[RTA_C] >= 0)
        i++;
    if (i == count)
        return EXIT_DONE;
    shown = log_file_call(r->tasks_path);
    if (!r->source.log)
        tool_error("%s, line %u: task %s has no C=, and there is no log to measure it in", shown,
                   tasks[i].line, quote(tasks[i].name));
    else if (has_system_events(r->source.log))
        tool_error("%s, line %u: task %s has no C=, and %s no '%s' of it: it has context switches "
                   "and calls, but no thread of that name with a whole job%s",
                   shown, tasks[i].line, quote(tasks[i].name), quote(r->source.log),
                   rta_value_metric(RTA_C), jobs);
    else
        tool_error("%s, line %u: task %s has no C=, and %s no '%s' of it; 'posixtrace record "
                   "--system=calls,switches -- CMD' records what that needs%s",
                   shown, tasks[i].line, quote(tasks[i].name), quote(r->source.log),
                   rta_value_metric(RTA_C), jobs);
    free(shown);
    return EXIT_FAILED;
}

static bool all_schedulable(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].verdict != RTA_SCHEDULABLE)
            return false;
    }
    return true;
}

static int analyse(struct request *r)
{
    struct rta_result result = { .tasks = tasks,
                                 .seen = r->source.log ? seen : NULL,
                                 .cost = &r->source.cost,
                                 .select = &r->source.select,
                                 .switch_ns = r->switch_ns,
                                 .ceiling = r->source.protocol == RTA_CEILING,
                                 .at_most = r->at_most };
    int status = load_tasks(r->tasks_path, &result.count), lost = EXIT_DONE;

    memset(seen, 0, sizeof seen);
    if (status == EXIT_DONE && r->source.log) {
        lost = rta_log_measure(&r->source, tasks, result.count, seen);
        status = lost == EXIT_LOST ? EXIT_DONE : lost;
    }
    if (status == EXIT_DONE) {
        fill_in(r, result.count);
        if (strcmp(r->source.set, "linux") == 0)
            cap_wakeups(&result);
        status = need_execution(r, result.count);
    }
    if (status != EXIT_DONE)
        return status;
    rta_analyse(tasks, result.count, r->switch_ns);
    if (r->sensitivity) {
        rta_grow(tasks, result.count, r->switch_ns, &growth);
        result.growth = &growth;
    }
    for (size_t i = 0; result.seen && i < result.count; i++)
        compare(r, &tasks[i], &seen[i].of[RTA_RESPONSE]);
    rta_print(&result, r->format);
    return all_schedulable(result.count) ? lost : EXIT_FAILED;
}

static int take_operand(struct request *r, const char *value)
{
    if (r->tasks_path && r->source.log)
        return tool_usage("one task file and one log: %s is too much", quote(value));
    if (!r->tasks_path)
        r->tasks_path = value;
    else
        r->source.log = value;
    return EXIT_DONE;
}

static int take_protocol(struct request *r, const char *value)
{
    static const char *const words[] = { "inheritance", "ceiling", NULL };

    r->source.protocol = options_index(value, words);
    return r->source.protocol < 0 ? options_bad_word("protocol", value, words) : EXIT_DONE;
}

static int take_switch_cost(struct request *r, const char *value)
{
    if (!rta_time(value, &r->switch_ns))
        return tool_usage("option '--switch-cost' needs a time such as 2.5us, found %s",
                          quote(value));
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (select_is_option(code))
        return select_take_option(&r->source.selection, code, value);
    if (sites_is_option(code))
        return sites_take_option(&r->source.sites, code, value);
    switch (code) {
    case SET: r->source.set = value; return EXIT_DONE;
    case FORMAT: return format_option(value, true, &r->format);
    case COST: return metrics_cost_parse(&r->source.cost, value);
    case JOB: return jobs_rules_add(&r->source.jobs, value);
    case PROTOCOL: return take_protocol(r, value);
    case SWITCH_COST: return take_switch_cost(r, value);
    case SENSITIVITY: r->sensitivity = true; return EXIT_DONE;
    case AT_MOST: r->at_most = true; return EXIT_DONE;
    case STRICT: r->source.strict = true; return EXIT_DONE;
    default: return take_operand(r, value);
    }
}

static int complete(const struct request *r)
{
    if (!r->tasks_path)
        return tool_usage("no task file named");
    if (r->source.log && strcmp(r->tasks_path, "-") == 0 && strcmp(r->source.log, "-") == 0)
        return tool_usage("standard input is either the task file or the log");
    if (r->source.jobs.count > 0 && (!r->source.log || strcmp(r->source.log, "-") == 0))
        return tool_usage("--job needs a log that is a file");
    if (r->source.jobs.count > 0 && (r->at_most || r->source.cost.origin != METRICS_COST_NONE))
        return tool_usage("--job goes with no --at-most and --cost");
    if (!r->source.log && select_is_any(&r->source.selection))
        return tool_usage("a selection is of a log, and there is none");
    return EXIT_DONE;
}

static int run(struct options *o)
{
    struct request r = { .source = { .set = "linux" } };
    struct selection *s = &r.source.selection;
    int code, status = EXIT_DONE;

    select_init(s, &r.source.sites);
    r.source.select.s = s;
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            status = o->status;
            break;
        }
        status = take_option(&r, code, o->value);
    }
    if (status == EXIT_DONE && code == OPTION_END)
        status = select_make(s);
    if (status == EXIT_DONE && code == OPTION_END)
        status = complete(&r);
    if (status == EXIT_DONE && code == OPTION_END)
        status = analyse(&r);
    select_free(s);
    jobs_rules_free(&r.source.jobs);
    return status;
}

const struct verb verb_rta = { "rta", help, options, run };
