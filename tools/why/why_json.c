/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * why --format=json: one object on one line; times in nanoseconds.  See posixtrace-why(1).
 */
#include "why/why.h"

#include <posixtrace/system.h>

#include "common/json_out.h"

/* A function or variable; nothing where it is not known.  time 0: as of the last event. */
static void put_site(const struct why_view *v, const char *key, pid_t pid, int64_t ns,
                     uint64_t address, enum posixtrace_address kind)
{
    char text[SITES_TEXT];

    if (address &&
        sites_find(v->sites, pid, ns ? ns : v->summary->last_ns, address, kind, text) > 0)
        json_text(key, text);
}

static void put_other(const struct why_view *v, const struct posixtrace_why_segment *s)
{
    if (s->relation != POSIXTRACE_WHY_NO_OTHER) {
        json_text("relation", why_relation_word(s->relation));
        json_integer("other_pid", s->other_pid);
        json_integer("other_tid", s->other_tid);
        if (s->other_caller)
            json_count("other_caller", s->other_caller);
        put_site(v, "other_caller_site", s->other_pid, s->other_ns, s->other_caller,
                 POSIXTRACE_ADDRESS_RETURN);
        if (s->other_ns)
            json_integer("other_ns", s->other_ns);
    }
    if (s->signals > 0)
        json_count("signals", s->signals);
    if (s->deadlock)
        json_truth("deadlock", true);
    if (s->details_left_out)
        json_truth("details_left_out", true);
}

static void put_wait(const struct why_view *v, const struct posixtrace_why_segment *s)
{
    json_text("kind", posixtrace_wait_text(s->kind));
    if (s->has_object && s->is_descriptor)
        json_integer("descriptor", (int64_t)s->object);
    else if (s->has_object)
        json_count("object", s->object);
    if (s->has_object && !s->is_descriptor && s->kind != POSIXTRACE_WAIT_CHILD)
        put_site(v, "object_symbol", s->pid, s->begin_ns, s->object, POSIXTRACE_ADDRESS_DATA);
    if (s->name[0])
        json_text("name", s->name);
    if (s->is_descriptor && posixtrace_call_text(s->call))
        json_text("call", posixtrace_call_text(s->call));
    if (s->caller)
        json_count("caller", s->caller);
    put_site(v, "caller_site", s->pid, s->begin_ns, s->caller, POSIXTRACE_ADDRESS_RETURN);
}

static void put_what(const struct why_view *v, const struct posixtrace_why_segment *s)
{
    json_integer("pid", s->pid);
    json_integer("tid", s->tid);
    json_text("state", why_state_word(s->state));
    if (s->state == POSIXTRACE_WHY_UNKNOWN)
        json_text("reason", why_reason_word(s->reason));
    if (s->state == POSIXTRACE_WHY_WAIT)
        put_wait(v, s);
    put_other(v, s);
}

static void put_segment(const struct why_view *v, const struct posixtrace_why_segment *s)
{
    json_open(NULL, '{');
    json_count("depth", s->depth);
    json_integer("begin_ns", s->begin_ns);
    json_integer("end_ns", s->end_ns);
    put_what(v, s);
    json_close();
}

static void put_log(const struct why_view *v)
{
    if (v->label && v->label[0])
        json_text("log", v->log->path);
}

static void put_instance(const struct why_view *v, size_t i)
{
    const struct posixtrace_why_instance *row = posixtrace_why_instance(v->why, i);
    const struct posixtrace_why_segment *s;

    json_open(NULL, '{');
    put_log(v);
    json_integer("begin_ns", row->begin_ns);
    json_integer("end_ns", row->end_ns);
    json_integer("length_ns", row->end_ns - row->begin_ns);
    json_integer("pid", row->pid);
    json_integer("tid", row->tid);
    json_integer("end_pid", row->end_pid);
    json_integer("end_tid", row->end_tid);
    if (row->has_key)
        json_count("value", row->key);
    json_truth("open", row->open);
    json_open("segments", '[');
    for (size_t k = 0; (s = posixtrace_why_segment(v->why, i, k)) != NULL; k++)
        put_segment(v, s);
    json_close();
    json_close();
}

static void put_cause(const struct why_view *v, const struct posixtrace_why_cause *c)
{
    json_open(NULL, '{');
    put_log(v);
    json_integer("ns", c->ns);
    json_integer("beyond_ns", c->beyond_ns);
    json_count("instances", c->instances);
    json_open("segment", '{');
    put_what(v, &c->segment);
    json_close();
    json_open("root", '{');
    put_what(v, &c->root);
    json_close();
    json_close();
}

static void put_blocked(const struct why_view *v, const struct posixtrace_why_blocked *b)
{
    json_open(NULL, '{');
    put_log(v);
    json_integer("since_ns", b->wait.begin_ns);
    put_what(v, &b->wait);
    json_count("deadlock_number", b->deadlock);
    if (b->signalled_ns) {
        json_integer("signalled_ns", b->signalled_ns);
        json_integer("signalled_tid", b->signalled_tid);
        json_count("signalled_caller", b->signalled_caller);
        put_site(v, "signalled_caller_site", b->wait.pid, b->signalled_ns, b->signalled_caller,
                 POSIXTRACE_ADDRESS_RETURN);
    }
    json_close();
}

/* Which ones are slow is of each log. */
static void put_summary(const struct posixtrace_why_summary *s, bool of_one)
{
    json_count("count", s->count);
    json_count("open", s->open);
    json_count("unknown", s->unknown);
    json_count("unkeyed", s->unkeyed);
    json_integer("median_ns", s->median_ns);
    if (of_one) {
        json_integer("slow_ns", s->slow_ns);
        json_count("slow", s->slow);
        json_integer("beyond_ns", s->beyond_ns);
    }
    json_count("events", s->events);
    json_count("call_events", s->calls);
    json_count("switch_events", s->switches);
    json_count("gaps", s->gaps);
    json_truth("unmarked_losses", s->unmarked);
    json_truth("long_calls_only", s->long_calls_only);
    json_integer("first_ns", s->first_ns);
    json_integer("last_ns", s->last_ns);
}

static void put_head(const struct why_set *set)
{
    if (!set->several)
        json_text("log", set->views[0].log->path);
    else
        json_open("logs", '[');
    for (size_t i = 0; set->several && i < set->count; i++)
        json_text(NULL, set->views[i].log->path);
    if (set->several)
        json_close();
    if (set->views[0].subject)
        json_text("subject", set->views[0].subject);
    json_open("summary", '{');
    put_summary(set->several ? &set->summary : set->views[0].summary, !set->several);
    json_close();
}

/* The summary of each log. */
static void put_each(const struct why_set *set)
{
    json_open("summaries", '[');
    for (size_t i = 0; i < set->count; i++) {
        json_open(NULL, '{');
        put_log(&set->views[i]);
        put_summary(set->views[i].summary, true);
        json_close();
    }
    json_close();
}

void why_print_json(const struct why_set *set)
{
    const struct posixtrace_why_cause *c;
    const struct posixtrace_why_blocked *b;

    json_open(NULL, '{');
    put_head(set);
    if (set->several)
        put_each(set);
    json_open("causes", '[');
    for (size_t v = 0; v < set->count; v++)
        for (size_t i = 0; (c = posixtrace_why_cause(set->views[v].why, i)) != NULL; i++)
            put_cause(&set->views[v], c);
    json_close();
    json_open("instances", '[');
    for (size_t i = 0; i < set->row_count; i++)
        put_instance(set->rows[i].view, set->rows[i].index);
    json_close();
    json_open("blocked", '[');
    for (size_t v = 0; v < set->count; v++)
        for (size_t i = 0; (b = posixtrace_why_blocked(set->views[v].why, i)) != NULL; i++)
            put_blocked(&set->views[v], b);
    json_close();
    json_close();
}
