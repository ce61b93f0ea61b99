/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace filter: which events a stream of a running process does not record.
 * Patterns are matched against the types that there are; a name that is no pattern is
 * opened, so that it may be named before the program does.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/attach.h>
#include <posixtrace/filter.h>

#include "options.h"
#include "out.h"
#include "steer.h"
#include "stream_find.h"
#include "tool.h"
#include "where.h"

enum { SET = 1, ADD, REMOVE, ONLY, CLEAR, WHERE };

static const struct option_spec options[] = {
    { "set", false, SET }, { "add", false, ADD }, { "remove", false, REMOVE },
    { "only", false, ONLY }, { "clear", false, CLEAR },
    { "where", true, WHERE }, { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace filter PID|STREAM [--set|--add|--remove|--only] GLOB...\n"
    "       posixtrace filter PID|STREAM [--where=EXPR] [--clear]\n"
    "\n"
    "Says which event types a stream of a running process does NOT record: a filter,\n"
    "as in POSIX, is what is left out. Without GLOB and options: prints it.\n"
    "\n"
    "  --set     left out are the types that match a GLOB, and no others (default)\n"
    "  --add     they are left out, too\n"
    "  --remove  they are recorded again\n"
    "  --only    of the program's types only they are recorded: the others are left\n"
    "            out, also those that it opens later\n"
    "  --where=EXPR  of the others only events that posixtrace-filter(5) says are\n"
    "            recorded: 'price >= 100', 'tid 4711'; an empty one: all again\n"
    "  --clear   everything is recorded\n"
    "  --help    print this\n"
    "\n"
    "A GLOB with * ? [ is matched against the types known now; system types begin\n"
    "with posix_trace_ or posixtrace_. Other GLOBs are names, and may be new.\n"
    STEER_WHICH
    "Example: posixtrace filter 1234 --add 'debug:*'\n";

struct request {
    const char *word;
    const char **globs;
    size_t glob_count;
    int how;                     /* 0: none was given */
    const char *where;           /* or NULL */
    bool *used;                  /* by glob: something matches */
};

static bool is_pattern(const char *glob)
{
    return strpbrk(glob, "*?[\\") != NULL;
}

/* Calls act for every type; an error number. */
static int each_type(trace_id_t trid, int (*act)(void *, trace_event_id_t, const char *),
                     void *context)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int end = 0, error = posix_trace_eventtypelist_rewind(trid);

    while (error == 0) {
        error = posix_trace_eventtypelist_getnext_id(trid, &id, &end);
        if (error != 0 || end)
            break;
        error = posix_trace_eventid_get_name(trid, id, name);
        if (error == 0)
            error = act(context, id, name);
    }
    return error;
}

struct match {
    struct request *request;
    trace_event_set_t *set;
    bool leave_out;              /* --only: what matches is taken out of the set */
    trace_event_set_t system;
};

static int match_type(void *context, trace_event_id_t id, const char *name)
{
    struct match *m = context;
    int is_system = 0, error = posix_trace_eventset_ismember(id, &m->system, &is_system);
    bool any = m->leave_out && is_system;

    for (size_t i = 0; i < m->request->glob_count; i++) {
        if (fnmatch(m->request->globs[i], name, 0) != 0)
            continue;
        m->request->used[i] = true;
        any = true;
    }
    if (error != 0 || !any)
        return error;
    return m->leave_out ? posix_trace_eventset_del(id, m->set)
                        : posix_trace_eventset_add(id, m->set);
}

/* Names, which may be new to the stream, become types of it. */
static int open_names(const struct request *r, trace_id_t trid)
{
    trace_event_id_t id;
    int error = 0;

    for (size_t i = 0; error == 0 && i < r->glob_count; i++)
        if (!is_pattern(r->globs[i]))
            error = posix_trace_trid_eventid_open(trid, r->globs[i], &id);
    return error;
}

static int make_set(struct request *r, trace_id_t trid, trace_event_set_t *set)
{
    struct match m = { .request = r, .set = set, .leave_out = r->how == ONLY };
    int error = posix_trace_eventset_fill(&m.system, POSIX_TRACE_SYSTEM_EVENTS);

    if (error == 0)
        error = m.leave_out ? posix_trace_eventset_fill(set, POSIX_TRACE_ALL_EVENTS)
                            : posix_trace_eventset_empty(set);
    if (error == 0)
        error = open_names(r, trid);
    return error ? error : each_type(trid, match_type, &m);
}

static int change(struct request *r, const struct posixtrace_stream *stream, trace_id_t trid)
{
    trace_event_set_t set;
    int error = make_set(r, trid, &set);

    for (size_t i = 0; error == 0 && i < r->glob_count; i++)
        if (!r->used[i])
            return tool_error("no event type of %s matches %s; the filter was not changed",
                              stream_call(stream), quote(r->globs[i]));
    if (error == 0)
        error = posix_trace_set_filter(trid, &set, r->how == ADD ? POSIX_TRACE_ADD_EVENTSET
                                                   : r->how == REMOVE ? POSIX_TRACE_SUB_EVENTSET
                                                                      : POSIX_TRACE_SET_EVENTSET);
    return error ? stream_error(stream, "filter", error) : EXIT_DONE;
}

static int set_where(const char *text, const struct posixtrace_stream *stream, trace_id_t trid)
{
    int error = posixtrace_set_expression(trid, text, NULL);

    if (error == EAGAIN)
        return tool_error("%s cannot be filtered: one of its processes has all of its %d places "
                          "in use, and a filter needs one", stream_call(stream), TRACE_SYS_MAX);
    return error ? stream_error(stream, "filter", error) : EXIT_DONE;
}

static bool has_where(trace_id_t trid)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1];

    return posixtrace_get_expression(trid, text) == 0 && text[0] != '\0';
}

static int print_type(void *context, trace_event_id_t id, const char *name)
{
    int member = 0, error = posix_trace_eventset_ismember(id, context, &member);

    if (error == 0 && member)
        out_format("%s\n", quote(name));
    return error;
}

static int print_filter(const struct posixtrace_stream *stream, trace_id_t trid)
{
    char where[POSIXTRACE_EXPRESSION_MAX + 1];
    trace_event_set_t set;
    int error = posix_trace_get_filter(trid, &set);

    if (error == 0)
        error = posixtrace_get_expression(trid, where);
    if (error == 0 && where[0])
        out_format("--where=%s\n", quote(where));
    if (error == 0)
        error = each_type(trid, print_type, &set);
    return error ? stream_error(stream, "look at", error) : EXIT_DONE;
}

static int check_where(const char *text)
{
    struct where where = { NULL, { 0 } };
    int status = *text ? where_set(&where, "where", text) : EXIT_DONE;

    where_free(&where);
    return status;
}

static int check(const struct request *r)
{
    if (!r->word)
        return tool_usage("no process or stream named");
    if (r->how == CLEAR && r->glob_count > 0)
        return tool_usage("--clear takes no GLOB, found %s", quote(r->globs[0]));
    if (r->how != 0 && r->how != CLEAR && r->glob_count == 0)
        return tool_usage("no GLOB given");
    return r->where ? check_where(r->where) : EXIT_DONE;
}

static int filter(struct request *r)
{
    struct posixtrace_stream stream;
    trace_id_t trid;
    int status = check(r);

    if (status == EXIT_DONE)
        status = stream_attach(r->word, &stream, &trid);
    if (status != EXIT_DONE)
        return status;
    r->used = tool_grow(NULL, r->glob_count + 1, sizeof *r->used);
    memset(r->used, 0, (r->glob_count + 1) * sizeof *r->used);
    if (r->how == CLEAR && !r->where && has_where(trid))
        r->where = "";
    if (r->how == 0 && r->glob_count == 0 && !r->where)
        status = print_filter(&stream, trid);
    if (r->where)
        status = set_where(r->where, &stream, trid);
    if (status == EXIT_DONE && (r->how != 0 || r->glob_count > 0))
        status = change(r, &stream, trid);
    free(r->used);
    posixtrace_detach(trid);
    return status;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (code == WHERE) {
        r->where = value;
    } else if (code == OPTION_OPERAND && !r->word) {
        r->word = value;
    } else if (code == OPTION_OPERAND) {
        r->globs = tool_grow(r->globs, r->glob_count + 1, sizeof *r->globs);
        r->globs[r->glob_count++] = value;
    } else if (r->how != 0 && r->how != code) {
        return tool_usage("one of --set, --add, --remove, --only and --clear");
    } else {
        r->how = code;
    }
    return EXIT_DONE;
}

static int run(struct options *o)
{
    struct request r = { .how = 0 };
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            free(r.globs);
            return o->status;
        }
        status = take_option(&r, code, o->value);
    }
    if (status == EXIT_DONE)
        status = filter(&r);
    free(r.globs);
    return status;
}

const struct verb verb_filter = { "filter", help, options, run };
