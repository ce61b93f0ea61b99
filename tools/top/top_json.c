/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * top --format=json: an object a refresh, on one line; times in nanoseconds, shares of 1.  See
 * posixtrace-top(1).
 */
#include "common/json_out.h"
#include "top/top.h"

enum { LATEST_S = 10 };

static void put_share(const char *key, double share)
{
    if (share < 0)
        json_none(key);
    else
        json_number(key, share, 4);
}

static void put_number(const char *key, pid_t number)
{
    if (number)
        json_integer(key, number);
    else
        json_none(key);
}

static void put_losses(const struct top_stream_row *s)
{
    json_open("lost", '[');
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        if (s->lost[c] == 0)
            continue;
        json_open(NULL, '{');
        json_text("cause", posixtrace_loss_cause_text(c));
        json_count("events", s->lost[c]);
        json_number("per_s", s->lost_rate[c], 1);
        json_close();
    }
    json_close();
}

static void put_stream(const struct top_stream_row *s)
{
    static const char *const policies[] = { "LOOP", "UNTIL_FULL", "FLUSH" };
    int policy = s->policy == POSIX_TRACE_LOOP ? 0 : s->policy == POSIX_TRACE_FLUSH ? 2 : 1;

    json_open(NULL, '{');
    json_text("name", s->name);
    json_integer("owner", s->owner);
    put_number("pid", s->pid);
    json_count("processes", s->processes);
    json_text("state", s->ended ? "ended" : s->running ? "running" : "stopped");
    json_text("policy", policies[policy]);
    json_count("size", s->size);
    json_count("used", s->bytes);
    json_count("events", s->events);
    json_number("per_s", s->rate, 1);
    put_losses(s);
    json_number("share_read", s->share, 4);
    if (s->stretch)
        json_integer("stretch_ns", s->stretch);
    else
        json_none("stretch_ns");
    json_truth("locks_known", s->locks_known);
    json_close();
}

static void put_pair(const struct top_pair_row *p)
{
    json_open(NULL, '{');
    json_text("name", p->name);
    json_text("stream", p->stream->name);
    json_open("windows", '[');
    for (int w = 0; w < TOP_WINDOWS; w++) {
        json_open(NULL, '{');
        json_integer("seconds", top_windows[w]);
        json_count("count", p->of[w].count);
        json_truth("at_least", p->of[w].at_least);
        json_integer("p50_ns", p->of[w].p50);
        json_integer("p99_ns", p->of[w].p99);
        json_integer("max_ns", p->of[w].max);
        json_close();
    }
    json_close();
    json_close();
}

static void put_wait(const struct top_thread_row *t)
{
    json_open("wait", '{');
    json_text("call", t->call);
    if (t->object[0])
        json_text("object", t->object);
    if (t->caller[0])
        json_text("caller", t->caller);
    if (t->since) {
        json_integer("since_ns", t->since);
        json_integer("length_ns", t->waited);
    }
    if (t->wants_holder)
        put_number("for_tid", t->holder);
    json_close();
}

static void put_thread(const struct top_thread_row *t)
{
    json_open(NULL, '{');
    json_integer("pid", t->pid);
    json_integer("tid", t->tid);
    json_text("name", t->name);
    json_text("stream", t->stream->name);
    json_text("state", top_state_word(t->state));
    put_share("run", t->run);
    put_share("ready", t->ready);
    json_number("per_s", t->rate, 1);
    if (t->call)
        put_wait(t);
    if (t->deadlock)
        json_count("deadlock", t->deadlock);
    json_close();
}

static void put_total(const struct top_total *t, bool at_least)
{
    json_integer("seconds", LATEST_S);
    json_count("calls", t->count);
    json_truth("at_least", at_least);
    json_integer("total_ns", t->total_ns);
    json_integer("busy_ns", t->busy_ns);
    json_integer("max_ns", t->max_ns);
}

static void put_lock(const struct top_lock_row *l)
{
    json_open(NULL, '{');
    json_integer("pid", l->pid);
    json_text("lock", l->name);
    put_total(&l->last, l->at_least);
    json_count("waiters", l->waiters);
    put_number("holder_tid", l->holder);
    json_close();
}

static void put_site(const struct top_site_row *s)
{
    json_open(NULL, '{');
    json_integer("pid", s->pid);
    json_text("site", s->where);
    json_text("call", s->call);
    put_total(&s->last, s->at_least);
    json_close();
}

/* The threads of each deadlock, each before the one it waits for. */
static void put_deadlocks(const struct top_model *m)
{
    size_t i = 0;

    json_open("deadlocks", '[');
    while (i < m->thread_count && m->threads[i].deadlock) {
        size_t number = m->threads[i].deadlock;

        json_open(NULL, '[');
        for (; i < m->thread_count && m->threads[i].deadlock == number; i++)
            json_integer(NULL, m->threads[i].tid);
        json_close();
    }
    json_close();
}

static void put_cost(const struct top_model *m)
{
    json_open("cost", '{');
    json_number("event_ns", m->event_ns, 1);
    json_number("tracing", m->tracing, 4);
    json_number("top", m->cost, 4);
    json_number("share_read", m->share, 4);
    json_close();
}

#define EACH(key, rows, count, put)          \
    do {                                     \
        json_open(key, '[');                 \
        for (size_t i = 0; i < (count); i++) \
            put(&(rows)[i]);                 \
        json_close();                        \
    } while (0)

void top_put_json(const struct top_model *m)
{
    json_open(NULL, '{');
    json_integer("time_ns", m->now);
    json_number("seconds", m->seconds, 3);
    json_number("per_s", m->rate, 1);
    json_number("lost_per_s", m->lost_rate, 1);
    EACH("streams", m->streams, m->stream_count, put_stream);
    EACH("pairs", m->pairs, m->pair_count, put_pair);
    EACH("threads", m->threads, m->thread_count, put_thread);
    put_deadlocks(m);
    EACH("locks", m->locks, m->lock_count, put_lock);
    EACH("sites", m->sites, m->site_count, put_site);
    json_count("left_out", m->left_out);
    json_count("refused_streams", m->refused);
    put_cost(m);
    json_close();
}
