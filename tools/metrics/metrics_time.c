/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_time.h.
 */
#include "metrics/metrics_time.h"

#include <string.h>

#include "common/units.h"
#include "metrics/metrics_doubts.h"
#include "common/tool.h"

static const char *const switches[] = { "posixtrace_switch_in", "posixtrace_switch_out",
                                        "posixtrace_switch_preempted", NULL };

static const char *const calls[] = { "posixtrace_mutex_lock",   "posixtrace_rwlock_lock",
                                     "posixtrace_cond_wait",    "posixtrace_sem_wait",
                                     "posixtrace_barrier_wait", "posixtrace_sleep",
                                     "posixtrace_io",           "posixtrace_poll",
                                     "posixtrace_file_lock",    "posixtrace_futex_wait",
                                     "posixtrace_thread_join",  "posixtrace_child_wait",
                                     "posixtrace_signal_wait",  NULL };

void metrics_time_begin(struct metrics_view *v)
{
    v->withheld = tool_grow(NULL, v->pick->count, sizeof *v->withheld);
    memset(v->withheld, 0, v->pick->count * sizeof *v->withheld);
}

static bool saw(const struct metrics_part *part, const char *const *list)
{
    while (*list && !posixtrace_metric_run_saw(part->run, *list))
        list++;
    return *list != NULL;
}

static bool any_saw(const struct metrics_view *v, const char *const *list)
{
    for (size_t i = 0; i < v->part_count; i++)
        if (saw(&v->parts[i], list))
            return true;
    return false;
}

bool metrics_time_holds(struct metrics_part *part, size_t place,
                        const struct posixtrace_measurement *m)
{
    enum posixtrace_user_time time = part->view->pick->list[place].time;

    if ((time != POSIXTRACE_USER_CPU && time != POSIXTRACE_USER_NOSYSTEM) || m->unknown)
        return true;
    if (!part->has_switches && !m->bound)
        part->has_switches = saw(part, switches);
    if (time == POSIXTRACE_USER_NOSYSTEM && !part->has_calls)
        part->has_calls = saw(part, calls);
    if ((part->has_switches || m->bound) && (time == POSIXTRACE_USER_CPU || part->has_calls))
        return true;
    part->view->withheld[place]++;
    return false;
}

void metrics_time_report(const struct metrics_view *v, size_t place)
{
    bool has_switches = any_saw(v, switches) || metrics_view_saw(v, "posixtrace_cpu_time");
    bool calls_too = v->pick->list[place].time == POSIXTRACE_USER_NOSYSTEM && !any_saw(v, calls);
    const char *name = unquoted(posixtrace_metric_name(v->pick->metrics[place]));
    const char *count = units_count(v->withheld[place]);

    if (has_switches && !calls_too)
        metrics_remark(v,
                       "%s: %s withheld, because %s says only after them how long threads had "
                       "a processor",
                       name, count, v->shown);
    else if (has_switches && metrics_saw_calls(v))
        metrics_remark(v,
                       "%s: %s withheld, because %s has no call that waits; the log has other "
                       "system events: none occurred, or a filter left them out; ':cpu' measures "
                       "without them",
                       name, count, v->shown);
    else
        metrics_remark(
            v,
            "%s: %s withheld, because %s has no %s%s%s; %s'posixtrace record "
            "--system=%s%s%s -- CMD' records any that occur, and ':elapsed' measures "
            "elapsed time",
            name, count, v->shown, has_switches ? "" : "context switches",
            calls_too && !has_switches ? " and no " : "", calls_too ? "system calls" : "",
            metrics_lost(v) > 0 ? "they may be among the events that were lost, else " : "",
            calls_too ? "calls" : "", calls_too && !has_switches ? "," : "",
            has_switches ? "" : "switches");
}
