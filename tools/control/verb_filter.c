/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace filter: which events a stream of a running process records.  The same language,
 * and the same sense, as record --filter: the stream gets one expression, which the traced
 * processes look at themselves, also for types that they open later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/filter.h>

#include "common/utf8.h"
#include "common/format_option.h"
#include "common/json_out.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "control/steer.h"
#include "input/stream_find.h"
#include "common/tool.h"
#include "input/filter_option.h"

enum { CLEAR = 1, WHERE, FORMAT };

static const struct option_spec options[] = { { "clear", false, CLEAR },
                                              { "where", true, WHERE },
                                              { "format", true, FORMAT },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace filter PID|STREAM [EXPR...] [--clear]\n"
    "\n"
    "Says which events a stream of a running process records: those that an EXPR\n"
    "means, as with 'posixtrace record --where'. Without EXPR and options: prints\n"
    "the present filter.\n"
    "\n"
    "  EXPR             'req:*', a pattern for names of event types; '!debug:*', but\n"
    "                   not these; 'price >= 100', an expression\n"
    "                   (posixtrace-filter(5)). Of several, one must hold; they\n"
    "                   replace those given before\n"
    "  --where=EXPR     the same\n"
    "  --clear          all events are recorded, also what the program itself leaves\n"
    "                   out\n"
    "  --format=FORMAT  of the present filter: text (default), or jsonl: one line\n"
    "  --help           print this\n"
    "\n"
    "What the program itself leaves out (posix_trace_set_filter(3)) stays left out.\n" STEER_WHICH
    "Example: posixtrace filter 1234 'req:*' 'error:*'\n";

struct request {
    const char *word;
    struct filter_option where;
    enum output_format format;
    bool clear;
};

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

static int print_left_out(void *context, trace_event_id_t id, const char *name)
{
    int member = 0, error = posix_trace_eventset_ismember(id, context, &member);

    if (error == 0 && member) {
        out_text("leaves out ");
        out_wrapped_if_given(quote(name), 11, 2);
    }
    return error;
}

static int put_left_out(void *context, trace_event_id_t id, const char *name)
{
    int member = 0, error = posix_trace_eventset_ismember(id, context, &member);

    if (error == 0 && member)
        json_text(NULL, name);
    return error;
}

/* The same as JSON. */
static int put_filter(const struct posixtrace_stream *stream, trace_id_t trid)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1];
    trace_event_set_t set;
    int error = posix_trace_get_filter(trid, &set);

    if (error == 0)
        error = posixtrace_get_expression(trid, text, sizeof text);
    if (error != 0)
        return stream_error(stream, "look at", error);
    json_open(NULL, '{');
    json_text("name", stream->name);
    json_text("file", stream->file);
    json_integer("pid", stream->owner);
    if (text[0])
        json_text("records", text);
    else
        json_none("records");
    json_open("leaves_out", '[');
    error = each_type(trid, put_left_out, &set);
    json_close();
    json_close();
    return error ? stream_error(stream, "look at", error) : EXIT_DONE;
}

static int print_filter(const struct posixtrace_stream *stream, trace_id_t trid)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1], shown[sizeof text * UTF8_MAX_ESCAPE];
    enum utf8_style style = utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
    trace_event_set_t set;
    int error = posix_trace_get_filter(trid, &set);

    if (error == 0)
        error = posixtrace_get_expression(trid, text, sizeof text);
    if (error == 0) {
        *utf8_show(shown, text, style) = '\0';
        out_text("records ");
        out_wrapped_if_given(text[0] ? shown : "everything", 8, 2);
    }
    if (error == 0)
        error = each_type(trid, print_left_out, &set);
    return error ? stream_error(stream, "look at", error) : EXIT_DONE;
}

static int set_expression(const struct posixtrace_stream *stream, trace_id_t trid, const char *text)
{
    int error = posixtrace_set_expression(trid, text, NULL);

    if (error == EAGAIN)
        return tool_error("%s cannot be filtered: one of its processes has all of its %d places "
                          "in use, and a filter needs one",
                          stream_call(stream), TRACE_SYS_MAX);
    return error ? stream_error(stream, "filter", error) : EXIT_DONE;
}

/* Setting an expression takes a place on each process: not for none. */
static int clear(const struct posixtrace_stream *stream, trace_id_t trid)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1];
    trace_event_set_t none;
    int error = posix_trace_eventset_empty(&none);

    if (error == 0)
        error = posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET);
    if (error == 0)
        error = posixtrace_get_expression(trid, text, sizeof text);
    if (error != 0)
        return stream_error(stream, "filter", error);
    return text[0] ? set_expression(stream, trid, "") : EXIT_DONE;
}

static int change(const struct request *r, const struct posixtrace_stream *stream, trace_id_t trid)
{
    const char *called = stream_call(stream);
    struct log_file now = { .trid = trid, .fd = -1 };
    int status = set_expression(stream, trid, r->where.text);

    now.shown = strcpy(tool_grow(NULL, strlen(called) + 1, 1), called);
    if (status == EXIT_DONE)
        filter_option_warn(&r->where, &now);
    free(now.shown);
    return status;
}

static int filter(struct request *r)
{
    struct posixtrace_stream stream;
    trace_id_t trid;
    int status = filter_option_make(&r->where);

    if (status == EXIT_DONE && !r->word)
        status = tool_usage("no process or stream named");
    if (status == EXIT_DONE && r->clear && r->where.text)
        status = tool_usage("--clear takes no EXPR, found %s", quote(r->where.texts[0]));
    if (status == EXIT_DONE)
        status = stream_attach(r->word, &stream, &trid);
    if (status != EXIT_DONE)
        return status;
    if (r->clear)
        status = clear(&stream, trid);
    else if (r->where.text)
        status = change(r, &stream, trid);
    else if (r->format == OUTPUT_JSONL)
        status = put_filter(&stream, trid);
    else
        status = print_filter(&stream, trid);
    posixtrace_detach(trid);
    return status;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (code == CLEAR)
        r->clear = true;
    else if (code == WHERE)
        return filter_option_add(&r->where, "option '--where'", value);
    else if (code == FORMAT)
        return format_option(value, false, &r->format);
    else if (r->word)
        return filter_option_add(&r->where, "EXPR", value);
    else
        r->word = value;
    return EXIT_DONE;
}

static int run(struct options *o)
{
    struct request r = { .clear = false };
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            filter_option_free(&r.where);
            return o->status;
        }
        status = take_option(&r, code, o->value);
    }
    if (status == EXIT_DONE)
        status = filter(&r);
    filter_option_free(&r.where);
    return status;
}

const struct verb verb_filter = { "filter", help, options, run };
