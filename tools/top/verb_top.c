/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace top: what the threads of running programs do now; see top.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apart/apart.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/time_parse.h"
#include "common/tool.h"
#include "input/stream_find.h"
#include "top/top.h"
#include "top/top_keys.h"
#include "top/top_terminal.h"

enum { ONCE = 1, FORMAT, INTERVAL, WHERE, SORT, COLOUR };
enum { NAMED = 64, NAMED_JSON = 4096, ONCE_ROWS = 20, SETTLE_NS = 20000000 };
#define NS          INT64_C(1000000000)
#define LEAST_NS    (NS / 10)
#define MOST_NS     (3600 * NS)
#define TIME_FORMAT 64

static const struct option_spec options[] = { { "once", false, ONCE },
                                              { "format", true, FORMAT },
                                              { "interval", true, INTERVAL },
                                              { "where", true, WHERE },
                                              { "sort", true, SORT },
                                              { "color", true, COLOUR },
                                              SITES_OPTIONS,
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace top [OPTION]... [PID|STREAM]\n"
    "\n"
    "Shows what the threads of a traced process, or of all streams of the user, do\n"
    "now: rates and losses, latencies of pairs x:begin, x:end, threads, what they\n"
    "wait for and which thread holds it, deadlocks in red, locks, call sites, and the\n"
    "cost of it all. Takes no event from other readers, and at most 1 % of a\n"
    "processor at 100,000 events a second, 10 % at any rate: then it samples.\n"
    "\n"
    "  --once           one picture on standard output, after an interval\n"
    "  --format=FORMAT  text (default), or json: an object a refresh, one a line\n"
    "  --interval=TIME  between refreshes, from 100ms to 1h (default 1s)\n"
    "  --where=EXPR     only pairs, calls and threads of events that EXPR means\n"
    "  --sort=KEY       by time (default), rate, or name\n"
    "  --color=WHEN     auto (default), always or never\n" SITES_HELP
    "  --help           print this\n"
    "\n"
    "Keys: q quit, s sort, f filter, space freeze, w snapshot, 0-4 tables, h help.\n"
    "'posixtrace record --system CMD' records what threads wait for.\n"
    "Example: posixtrace top 1234\n";

struct request {
    const char *word, *where;
    bool once, json;
    int64_t interval;
    enum top_sort sort;
    enum colour_when colour;
    struct sites sites;
};

struct live {
    const struct request *r;
    struct top_set set;
    struct top_model model;
    struct top_keys keys;
};

/* ---- options ---- */

static int take_format(struct request *r, const char *value)
{
    static const char *const formats[] = { "text", "json", NULL };
    int index = options_index(value, formats);

    r->json = index == 1;
    return index < 0 ? options_bad_word("format", value, formats) : EXIT_DONE;
}

static int take_sort(struct request *r, const char *value)
{
    static const char *const words[] = { "time", "rate", "name", NULL };
    int index = options_index(value, words);

    r->sort = (enum top_sort)(index < 0 ? 0 : index);
    return index < 0 ? options_bad_word("order", value, words) : EXIT_DONE;
}

static int take_interval(struct request *r, const char *value)
{
    char text[TIME_FORMAT];
    struct when when;

    snprintf(text, sizeof text, "+%s", value);
    if (strlen(value) + 2 > sizeof text || !when_parse(text, &when) || when.kind != WHEN_RELATIVE ||
        when.ns < LEAST_NS || when.ns > MOST_NS)
        return tool_usage("option '--interval' needs a time from 100ms to 1h, found %s",
                          quote(value));
    r->interval = when.ns;
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (sites_is_option(code))
        return sites_take_option(&r->sites, code, value);
    switch (code) {
    case ONCE: r->once = true; return EXIT_DONE;
    case FORMAT: return take_format(r, value);
    case INTERVAL: return take_interval(r, value);
    case WHERE: r->where = value; return EXIT_DONE;
    case SORT: return take_sort(r, value);
    case COLOUR: return colour_option(value, &r->colour);
    default: break;
    }
    if (r->word)
        return tool_usage("one stream at a time: %s and %s", quote(r->word), quote(value));
    r->word = value;
    return EXIT_DONE;
}

static bool is_terminal(void)
{
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* ---- pictures ---- */

static void rebuild(struct live *l)
{
    top_model_free(&l->model);
    top_model_make(&l->model, &l->set, l->keys.sort, l->r->json ? NAMED_JSON : NAMED);
    snprintf(l->model.filter, sizeof l->model.filter, "%s", l->keys.filter);
}

static void draw(struct live *l)
{
    struct top_view *v = &l->keys.view;
    struct top_screen s;

    top_terminal_size(&v->columns, &v->rows);
    v->prompt = l->keys.typing ? l->keys.typed : NULL;
    v->message = l->keys.message[0] ? l->keys.message : NULL;
    top_screen_make(&s, &l->model, v);
    top_terminal_draw(&s);
    top_screen_free(&s);
}

/* Without a terminal. */
static void print(struct live *l)
{
    struct top_screen s;

    if (l->r->json) {
        top_put_json(&l->model);
        out_flush();
        return;
    }
    l->keys.view.columns = out_columns();
    l->keys.view.rows = 0;
    l->keys.view.most = ONCE_ROWS;
    top_screen_make(&s, &l->model, &l->keys.view);
    for (size_t i = 0; i < s.count; i++)
        out_format("%s%s%s\n", colour_code(s.lines[i].colour), s.lines[i].text,
                   colour_code(COLOUR_PLAIN));
    top_screen_free(&s);
}

/* The time of the next refresh, CLOCK_REALTIME: windows are of whole seconds, so soon after one is
 * over; never so soon that top takes more of a processor than it may.  Reading more in between
 * moves it. */
static int64_t next_time(struct live *l)
{
    int64_t pause = top_set_pause(&l->set), wait = l->r->interval > pause ? l->r->interval : pause;
    int64_t due = l->set.wall_ns + wait;

    return l->r->interval % NS == 0 ? (due + NS / 4) / NS * NS + SETTLE_NS : due;
}

static int64_t left_until(int64_t due)
{
    int64_t left = due - top_clock(CLOCK_REALTIME);

    /* The clock may be set meanwhile. */
    return left < 0 ? 0 : left > MOST_NS ? MOST_NS : left;
}

/* ---- the loop with a terminal ---- */

static void filter(struct live *l)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *wants;

    if (!top_filter_parse(l->keys.filter, &wants, &fault)) {
        snprintf(l->keys.message, sizeof l->keys.message, "not a filter: %s, column %zu",
                 fault.text, fault.column);
        l->keys.filter[0] = '\0';
        wants = NULL;
    }
    top_set_filter(&l->set, wants);
}

static bool act(struct live *l, enum top_action action)
{
    switch (action) {
    case TOP_NO_ACTION: return true;
    case TOP_QUIT: return false;
    case TOP_SNAPSHOT: top_snapshot(&l->set, l->keys.message, sizeof l->keys.message); break;
    case TOP_FILTERED: filter(l); break;
    default: break;
    }
    l->set.frozen = l->keys.view.frozen;
    if ((action == TOP_REBUILD || action == TOP_FILTERED) && !l->keys.view.frozen)
        rebuild(l);
    draw(l);
    return true;
}

/* Waits for a key, and reads events meanwhile. */
static enum top_event wait_in_steps(struct live *l, unsigned char *key)
{
    int64_t left = left_until(next_time(l)), step = top_set_period(&l->set);
    enum top_event event = top_terminal_wait(step < left ? step : left, key);

    if (event == TOP_TIMEOUT && step < left)
        top_set_read_more(&l->set);
    return event;
}

/* False: it is over. */
static bool wait_and_act(struct live *l)
{
    unsigned char key = 0;

    while (left_until(next_time(l)) > 0) {
        switch (wait_in_steps(l, &key)) {
        case TOP_OVER: return false;
        case TOP_RESIZED: draw(l); break;
        case TOP_KEY:
            if (!act(l, top_keys_press(&l->keys, key)))
                return false;
            break;
        default: break;
        }
    }
    return !top_terminal_signal();
}

static void show(struct live *l)
{
    l->keys.view.style = utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
    top_terminal_begin(true);
    do {
        top_set_look(&l->set);
        if (!l->keys.view.frozen) {
            rebuild(l);
            draw(l);
        }
    } while (wait_and_act(l));
    top_terminal_end();
}

/* ---- without ---- */

/* False: a signal has ended it. */
static bool wait_for_next(struct live *l)
{
    unsigned char key;

    while (left_until(next_time(l)) > 0)
        if (wait_in_steps(l, &key) == TOP_OVER)
            return false;
    return !top_terminal_signal();
}

/* Rates need two looks; where nothing traces there is nothing to wait for. */
static void write_all(struct live *l)
{
    l->keys.view.style = utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII;
    top_terminal_begin(false);
    top_set_look(&l->set);
    while (!out_failed() && (l->set.count == 0 || wait_for_next(l))) {
        if (l->set.count > 0)
            top_set_look(&l->set);
        rebuild(l);
        print(l);
        if (l->r->once || (l->r->word && l->set.streams[0]->ended) ||
            (l->set.count == 0 && !wait_for_next(l)))
            break;
        if (l->set.count == 0)
            top_set_look(&l->set);
    }
}

/* Can it be drawn, and on no terminal that another user's process could write to? */
static int check_terminal(const struct request *r)
{
    if (r->once || r->json)
        return EXIT_DONE;
    if (!is_terminal())
        return tool_error("standard output is no terminal that can be drawn on: --once prints one "
                          "picture, --format=json one after another");
    if (r->word && apart_needed(stream_process(r->word)))
        return tool_error("process %s is another user's, which could write to this terminal: "
                          "use --once, --format=json, or the rights of that user",
                          quote(r->word));
    return EXIT_DONE;
}

static int set_up(struct live *l)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *wants = NULL;
    int status;

    l->keys.sort = l->r->sort;
    l->keys.view.section = TOP_ALL;
    l->set.sites = l->r->sites;
    if (l->r->where && !top_filter_parse(l->r->where, &wants, &fault))
        return tool_usage("option '--where': %s, column %zu", fault.text, fault.column);
    snprintf(l->keys.filter, sizeof l->keys.filter, "%s", l->r->where ? l->r->where : "");
    top_set_filter(&l->set, wants);
    status = check_terminal(l->r);
    return status == EXIT_DONE ? top_set_open(&l->set, l->r->word) : status;
}

static int run_live(const struct request *r)
{
    struct live l = { .r = r };
    int status = set_up(&l);

    colour_begin(r->json ? COLOUR_NEVER : r->colour);
    if (status == EXIT_DONE && !r->once && !r->json)
        show(&l);
    else if (status == EXIT_DONE)
        write_all(&l);
    top_model_free(&l.model);
    top_set_close(&l.set);
    return status;
}

static int run(struct options *o)
{
    struct request r = { .interval = NS };
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP)
            return o->status;
        status = take_option(&r, code, o->value);
    }
    return status == EXIT_DONE ? run_live(&r) : status;
}

const struct verb verb_top = { "top", help, options, run };
