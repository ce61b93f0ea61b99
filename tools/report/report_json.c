/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * report --format=json: one object on one line; times in nanoseconds.  See posixtrace-report(1).
 */
#include "report/report.h"

#include <posixtrace/system.h>
#include <string.h>

#include "common/json_out.h"
#include "common/tool.h"

/* Of a row, where there are several logs. */
static void put_log(const struct report_view *v, const struct report_part *p)
{
    if (v->several)
        json_text("log", p->log->path);
}

static void put_inputs(const struct report_view *v)
{
    if (!v->several) {
        json_text("log", v->parts[0].log->path);
        return;
    }
    json_open("logs", '[');
    for (size_t i = 0; i < v->part_count; i++)
        json_text(NULL, v->parts[i].log->path);
    json_close();
}

static void put_summary(const struct report_view *v)
{
    const struct posixtrace_report_summary *s = &v->summary;

    put_inputs(v);
    json_text("selected", select_text(v->parts[0].select));
    json_open("summary", '{');
    json_integer("first_ns", s->first_ns);
    json_integer("last_ns", s->last_ns);
    json_count("events", s->events);
    json_count("call_events", s->calls);
    json_count("switch_events", s->switches);
    json_count("cpu_time_events", s->cpu_times);
    json_count("pair_events", s->pairs);
    json_count("processes", v->processes);
    json_count("threads", v->rows[REPORT_THREADS].count);
    json_count("gaps", s->gaps);
    json_integer("gap_ns", s->gap_ns);
    json_truth("unmarked_losses", s->unmarked);
    json_truth("long_calls_only", s->long_calls_only);
    json_count("crossing", s->crossing);
    json_close();
}

static void put_thread(const struct report_view *v, const struct report_part *p,
                       const struct posixtrace_report_thread *t)
{
    json_open(NULL, '{');
    put_log(v, p);
    json_text("name", t->name);
    json_integer("pid", t->pid);
    json_integer("tid", t->tid);
    json_integer("begin_ns", t->begin_ns);
    json_integer("end_ns", t->end_ns);
    json_integer("total_ns", t->total_ns);
    json_integer("run_ns", t->run_ns);
    json_integer("runnable_ns", t->runnable_ns);
    json_open("waiting_ns", '{');
    for (unsigned k = 0; posixtrace_wait_text(k); k++)
        if (t->wait_ns[k] > 0 || t->calls[k] > 0)
            json_integer(posixtrace_wait_text(k), t->wait_ns[k]);
    json_close();
    json_integer("other_waits_ns", t->unnamed_ns);
    json_integer("unknown_ns", t->unknown_ns);
    json_text("waiting_is", t->by_switches ? "off the processor" : "in calls");
    json_truth("cpu_times", t->by_cpu_times);
    if (t->waits_for >= 0) {
        json_text("waits_for", posixtrace_wait_text((unsigned)t->waits_for));
        json_integer("waits_since_ns", t->waits_since);
    }
    json_count("switches", t->switches);
    json_count("preemptions", t->preemptions);
    json_count("events", t->events);
    if (p->event_ns > 0)
        json_number("tracing_ns", (double)t->events * p->event_ns, 0);
    json_close();
}

static void put_percentiles(const posixtrace_statistics_t *statistics)
{
    if (!statistics)
        return;
    json_integer("p50_ns", posixtrace_statistics_percentile(statistics, 50));
    json_integer("p99_ns", posixtrace_statistics_percentile(statistics, 99));
    json_integer("p99_9_ns", posixtrace_statistics_percentile(statistics, 99.9));
}

/* A function or variable; nothing where it is not known. */
static void put_symbol(const struct report_part *p, const char *key, pid_t pid, int64_t ns,
                       uint64_t address, enum posixtrace_address kind)
{
    char text[SITES_TEXT];

    if (address && sites_find(p->sites, pid, ns, address, kind, text) > 0)
        json_text(key, text);
}

static void put_object(const struct report_view *v, const struct report_part *p,
                       const struct posixtrace_report_object *o)
{
    char thread[SITES_TEXT];

    json_open(NULL, '{');
    put_log(v, p);
    json_text("kind", posixtrace_wait_text(o->kind));
    json_integer("pid", o->pid);
    if (o->is_descriptor)
        json_integer("descriptor", (int64_t)o->object);
    else
        json_count("object", o->object);
    if (!o->is_descriptor)
        put_symbol(p, "object_symbol", o->pid, o->longest_at_ns, o->object,
                   POSIXTRACE_ADDRESS_DATA);
    if (o->kind == POSIXTRACE_WAIT_THREAD && sites_thread(p->sites, o->pid, o->object, thread) > 0)
        json_text("object_thread", thread);
    if (o->name[0])
        json_text("name", o->name);
    json_count("calls", o->calls);
    json_count("waits", o->waits);
    json_count("failed", o->failed);
    json_count("unknown", o->unknown);
    json_count("open", o->open);
    json_integer("total_ns", o->total_ns);
    put_percentiles(o->statistics);
    if (o->waits > 0) {
        json_integer("longest_ns", o->longest_ns);
        json_integer("longest_at_ns", o->longest_at_ns);
        json_integer("longest_tid", o->longest_tid);
        json_count("caller", o->caller);
        put_symbol(p, "caller_symbol", o->pid, o->longest_at_ns, o->caller,
                   POSIXTRACE_ADDRESS_RETURN);
        if (o->is_descriptor && posixtrace_call_text(o->call))
            json_text("call", posixtrace_call_text(o->call));
    }
    if (o->holder_tid) {
        json_integer("holder_tid", o->holder_tid);
        json_count("holder_caller", o->holder_caller);
        put_symbol(p, "holder_caller_symbol", o->pid, o->longest_at_ns, o->holder_caller,
                   POSIXTRACE_ADDRESS_RETURN);
    }
    json_close();
}

static void put_objects(const struct report_view *v, const char *key, enum report_section section)
{
    json_open(key, '[');
    for (size_t i = 0; i < report_shown(v, section); i++)
        put_object(v, report_part(v, section, i), report_object(v, section, i));
    json_close();
}

static void put_site(const struct report_view *v, const struct report_part *p,
                     const struct posixtrace_report_site *s)
{
    json_open(NULL, '{');
    put_log(v, p);
    json_text("kind", posixtrace_wait_text(s->kind));
    if (s->is_descriptor && posixtrace_call_text(s->call))
        json_text("call", posixtrace_call_text(s->call));
    json_integer("pid", s->pid);
    json_count("caller", s->caller);
    put_symbol(p, "caller_symbol", s->pid, s->longest_at_ns, s->caller, POSIXTRACE_ADDRESS_RETURN);
    json_count("waits", s->waits);
    json_integer("total_ns", s->total_ns);
    put_percentiles(s->statistics);
    json_integer("longest_ns", s->longest_ns);
    json_integer("longest_at_ns", s->longest_at_ns);
    json_integer("longest_tid", s->longest_tid);
    json_close();
}

static void put_pair(const struct report_view *v, const struct report_part *part,
                     const struct posixtrace_report_pair *p)
{
    json_open(NULL, '{');
    json_text("name", p->name);
    json_count("count", p->count);
    json_count("unknown", p->unknown);
    json_count("open", p->open);
    json_integer("total_ns", p->total_ns);
    put_percentiles(p->statistics);
    if (p->count > 0) {
        json_integer("max_ns", p->longest_ns);
        json_integer("max_at_ns", p->longest_at_ns);
        if (v->several)
            json_text("max_log", part->log->path);
        json_integer("max_pid", p->longest_pid);
        json_integer("max_tid", p->longest_tid);
    }
    json_close();
}

static void put_contention(const struct report_view *v)
{
    json_open("contention", '[');
    for (size_t i = 0; i < report_shown(v, REPORT_CONTENTION); i++) {
        const struct posixtrace_report_contention *c = report_contention(v, i);
        const struct report_part *p = report_part(v, REPORT_CONTENTION, i);

        json_open(NULL, '{');
        put_log(v, p);
        json_integer("pid", c->pid);
        json_count("object", c->object);
        put_symbol(p, "object_symbol", c->pid, c->longest_at_ns, c->object,
                   POSIXTRACE_ADDRESS_DATA);
        json_integer("tid", c->tid);
        json_integer("holder_tid", c->holder_tid);
        json_count("waits", c->waits);
        json_integer("total_ns", c->total_ns);
        json_integer("longest_ns", c->longest_ns);
        json_integer("longest_at_ns", c->longest_at_ns);
        json_close();
    }
    json_close();
}

static void put_preemptors(const struct report_view *v)
{
    const struct posixtrace_report_summary *s = &v->summary;

    json_open("preemptors", '[');
    for (size_t i = 0; i < report_shown(v, REPORT_PREEMPTORS); i++) {
        const struct posixtrace_report_thread *t = report_thread(v, REPORT_PREEMPTORS, i);

        json_open(NULL, '{');
        put_log(v, report_part(v, REPORT_PREEMPTORS, i));
        json_text("name", t->name);
        json_integer("pid", t->pid);
        json_integer("tid", t->tid);
        json_count("count", t->preempted);
        json_integer("total_ns", t->preempted_ns);
        json_integer("longest_ns", t->preempted_longest_ns);
        json_integer("longest_at_ns", t->preempted_longest_at_ns);
        json_integer("longest_tid", t->preempted_longest_tid);
        json_close();
    }
    json_close();
    json_open("preempted_by_others", '{');
    json_count("count", s->preempted_by_others);
    json_integer("total_ns", s->preempted_by_others_ns);
    json_integer("longest_ns", s->preempted_by_others_longest_ns);
    json_close();
}

static void put_losses(const struct report_view *v)
{
    json_open("lost", '{');
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        if (v->info.lost[i] > 0)
            json_count(posixtrace_loss_cause_text(i), v->info.lost[i]);
    json_close();
    json_count("unreadable_bytes", v->info.skipped_bytes);
    json_truth("cut", v->info.end == POSIXTRACE_END_CUT);
    json_open("cost", '{');
    json_count("events", v->events);
    if (v->has_cost) {
        json_number("event_ns",
                    v->events > 0 ? v->cost_ns / (double)v->events : v->parts[0].event_ns, 1);
        json_number("total_ns", v->cost_ns, 0);
    } else {
        json_none("event_ns");
        json_none("total_ns");
    }
    json_close();
}

void report_print_json(const struct report_view *v)
{
    json_open(NULL, '{');
    put_summary(v);
    json_open("threads", '[');
    for (size_t i = 0; i < report_shown(v, REPORT_THREADS); i++)
        put_thread(v, report_part(v, REPORT_THREADS, i), report_thread(v, REPORT_THREADS, i));
    json_close();
    put_objects(v, "locks", REPORT_LOCKS);
    put_contention(v);
    put_objects(v, "waits", REPORT_WAITS);
    json_open("pairs", '[');
    for (size_t i = 0; i < report_shown(v, REPORT_PAIRS); i++)
        put_pair(v, report_part(v, REPORT_PAIRS, i), report_pair(v, i));
    json_close();
    put_objects(v, "descriptors", REPORT_DESCRIPTORS);
    json_open("sites", '[');
    for (size_t i = 0; i < report_shown(v, REPORT_SITES); i++)
        put_site(v, report_part(v, REPORT_SITES, i), report_site(v, i));
    json_close();
    put_objects(v, "work", REPORT_WORK);
    put_preemptors(v);
    put_losses(v);
    json_close();
}
