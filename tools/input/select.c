/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Selecting events; see select.h.
 */
#include "input/select.h"
#include "common/sync_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

void select_init(struct selection *s, struct sites *sites)
{
    memset(s, 0, sizeof *s);
    s->caller.sites = sites;
    s->from_ns = INT64_MIN;
    s->to_ns = INT64_MAX;
}

void select_free(struct selection *s)
{
    free(s->pids);
    free(s->tids);
    free(s->text);
    filter_option_free(&s->event);
    filter_option_free(&s->where);
    if (s->caller.sites)
        sites_close(s->caller.sites);
    caller_option_free(&s->caller);
    layouts_free(&s->layouts);
    select_init(s, NULL);
}

static int add_number(const char *option, const char *text, int32_t **list, size_t *count)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value > INT32_MAX)
        return tool_usage("option '--%s' needs a number from 0 to %d, found %s", option, INT32_MAX,
                          quote(text));
    *list = tool_grow(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = (int32_t)value;
    return EXIT_DONE;
}

static int set_moment(const char *option, const char *text, struct when *when)
{
    if (when_parse(text, when))
        return EXIT_DONE;
    return tool_usage("option '--%s': %s is no time; write nanoseconds since 1970, @SECONDS, "
                      "+1.5s (or ms, us, ns, min) or 2026-11-21T10:00:00.5Z",
                      option, quote(text));
}

int select_take_option(struct selection *s, int code, const char *value)
{
    switch (code) {
    case SELECT_FROM: return set_moment("from", value, &s->from);
    case SELECT_TO: return set_moment("to", value, &s->to);
    case SELECT_PID: return add_number("pid", value, &s->pids, &s->pid_count);
    case SELECT_TID: return add_number("tid", value, &s->tids, &s->tid_count);
    case SELECT_EVENT: return filter_option_add(&s->event, "option '--event'", value);
    case SELECT_SYNC: return sync_option_take(value);
    case SELECT_CALLER: return caller_option_add(&s->caller, value);
    default: return filter_option_add(&s->where, "option '--where'", value);
    }
}

int select_make(struct selection *s)
{
    int status = filter_option_make(&s->event);

    return status == EXIT_DONE ? filter_option_make(&s->where) : status;
}

bool select_has_expression(const struct selection *s)
{
    return s->event.expression || s->where.expression || s->caller.count > 0;
}

bool select_is_any(const struct selection *s)
{
    return s->from.kind != WHEN_NEVER || s->to.kind != WHEN_NEVER || s->pid_count > 0 ||
           s->tid_count > 0 || select_has_expression(s);
}

int select_resolve(struct selection *s, int64_t first)
{
    if (s->from.kind != WHEN_NEVER)
        s->from_ns = when_resolve(&s->from, first);
    if (s->to.kind != WHEN_NEVER)
        s->to_ns = when_resolve(&s->to, first);
    if (s->from_ns > s->to_ns)
        return tool_usage("--from (%s) is later than --to (%s)", when_iso(s->from_ns),
                          when_iso(s->to_ns));
    return EXIT_DONE;
}

int select_resolve_absolute(struct selection *s)
{
    if (s->from.kind == WHEN_RELATIVE || s->to.kind == WHEN_RELATIVE)
        return tool_usage("a time after the first event needs a log that is a file: here it is "
                          "not known when that was");
    return select_resolve(s, 0);
}

/* ---- what was selected, in words ---- */

static void put(FILE *to, const char *before, const char *text)
{
    fprintf(to, "%s%s%s", ftell(to) > 0 ? ", " : "", before, text);
}

static void put_numbers(FILE *to, const char *what, const int32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s%s%d", i || ftell(to) <= 0 ? "" : ", ", i ? " or " : what, (int)list[i]);
}

static void put_texts(FILE *to, const char *what, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(to, i ? "or " : what, quote(texts[i]));
}

const char *select_text(struct selection *s)
{
    size_t length = 0;
    FILE *to;

    free(s->text);
    s->text = NULL;
    to = open_memstream(&s->text, &length);
    if (!to)
        return "";
    if (s->from.kind != WHEN_NEVER)
        put(to, "from ", when_iso(s->from_ns));
    if (s->to.kind != WHEN_NEVER)
        put(to, "to ", when_iso(s->to_ns));
    put_numbers(to, "process ", s->pids, s->pid_count);
    put_numbers(to, "thread ", s->tids, s->tid_count);
    put_texts(to, "event ", s->event.texts, s->event.count);
    put_texts(to, "where ", s->where.texts, s->where.count);
    put_texts(to, "caller ", s->caller.texts, s->caller.count);
    return fclose(to) == 0 && s->text ? s->text : "";
}

void select_warn(const struct selection *s, const struct log_file *log)
{
    filter_option_warn(&s->event, log);
    filter_option_warn(&s->where, log);
}

void select_warn_callers(const struct selection *s, const struct log_file *log)
{
    caller_option_warn(&s->caller, log);
}

/* ---- events ---- */

static bool contains(const int32_t *list, size_t count, int32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == value)
            return true;
    }
    return count == 0;
}

bool select_wants_ids(const struct selection *s, pid_t pid, pid_t tid)
{
    return contains(s->pids, s->pid_count, pid) && contains(s->tids, s->tid_count, tid);
}

static bool is_meant(struct selection *s, struct filter_option *f, trace_id_t trid,
                     const struct posixtrace_event *e)
{
    int settled = filter_option_settled(f, e);

    return settled >= 0 ? settled == 1
                        : filter_option_wants(f, e, layouts_find(&s->layouts, trid, e));
}

bool select_wants_where(struct selection *s, trace_id_t trid, const struct posixtrace_event *e)
{
    return is_meant(s, &s->event, trid, e) && is_meant(s, &s->where, trid, e);
}

bool select_wants_expression(struct selection *s, trace_id_t trid, const struct posixtrace_event *e)
{
    bool wanted = s->caller.count == 0 || caller_option_wants(&s->caller, trid, e);

    return wanted && select_wants_where(s, trid, e);
}

static bool is_mark(trace_event_id_t id)
{
    return id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == POSIX_TRACE_FILTER ||
           log_file_is_loss_mark(id);
}

bool select_keeps(struct selection *s, trace_id_t trid, const struct posixtrace_event *e)
{
    bool wanted = select_wants(s, trid, e); /* which also looks at marks */

    return wanted || (is_mark(e->id) && e->ns >= s->from_ns && e->ns <= s->to_ns);
}

int select_position(const struct selection *s, const struct log_file *log)
{
    uint64_t gaps = 0;
    int error = posixtrace_event_count(log->trid, POSIX_TRACE_OVERFLOW, &gaps);

    if (error == 0 && gaps == 0)
        error = posixtrace_seek(log->trid, s->from_ns);
    return error;
}
