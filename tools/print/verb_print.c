/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace print: the events of a log, in order, selected and formatted.
 *
 * The loop reads, selects and prints.  It ends early after --to only if the log has no late events,
 * and never for a pipe, whose writer would be killed and whose losses are at its end.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/follow.h"
#include "input/logs.h"
#include "common/colour.h"
#include "common/format_option.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "print/print.h"
#include "print/several.h"
#include "common/progress.h"
#include "common/tool.h"
#include "input/select.h"

enum { PROGRESS_EVERY = 0x3fff, BATCH = 256 };
enum { FORMAT = 1, COLOUR, WIDTH, STRICT, FOLLOW, TREE };

static const struct option_spec options[] = {
    { "format", true, FORMAT },  SELECT_OPTIONS,
    { "color", true, COLOUR },   { "width", true, WIDTH },
    { "strict", false, STRICT }, { "follow", false, FOLLOW },
    { "tree", false, TREE },     SITES_OPTIONS,
    { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace print [OPTION]... [LOG|FOLDER]...\n"
    "       posixtrace print --follow [OPTION]... PID|STREAM|LOG\n"
    "Prints the events of a trace log, or of several and the *.ptl of folders, in the\n"
    "order of time. Without LOG, or for -, the log is read from standard input.\n"
    "\n"
    "  --format=FORMAT  text (default), jsonl or csv\n"
    "  --from=T --to=T  events at T and later; at T and earlier\n"
    "  --event=EXPR     'req:*', '!debug:*', 'price > 9'; more than once: any of them\n"
    "  --pid=N --tid=N  of a process, of a thread by its kernel id; more: any\n"
    "  --where=EXPR     the same; both options must hold (posixtrace-filter(5))\n"
    "  --caller=GLOB    of calls that a function made, as 'work' or 'work (app.c:*)'\n"
    "  --sync=FILE      times of the common clock of hosts ('posixtrace sync')\n"
    "  --color=WHEN     text in colour: auto (default), always or never\n"
    "  --width=N        fit text to N columns, from 40; 0: all (default: terminal's)\n"
    "  --tree           indent events inside of pairs; how long each pair took\n"
    "  --follow         events as they are made, of a running process, until it ends\n" SITES_HELP
    "  --strict         exit with 3 if the log has lost events or is damaged\n"
    "  --help           print this\n"
    "\n"
    "T: nanoseconds since 1970 (1795255200000000000), seconds (@1795255200.5), time\n"
    "after the first event (+1.5s +20ms +3us +100ns +2min), or UTC, as in\n"
    "2026-11-21T10:00:00.123456789Z\n"
    "Example: posixtrace print --from=+1s --to=+2s --event='req:*' app.ptl\n";

struct request {
    struct selection select;
    struct select_given given;
    struct logs_given logs;
    const char *path; /* the only one, or NULL */
    enum output_format format;
    enum colour_when colour;
    long width; /* -1: as fits */
    bool strict, follow, tree;
    struct sites sites;
};

static int set_width(const char *value, long *width)
{
    char *end;

    *width = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || *width > 100000 ||
        (*width > 0 && *width < PRINT_WIDTH_MIN))
        return tool_usage("option '--width' needs columns from %d to 100000, or 0, found %s",
                          PRINT_WIDTH_MIN, quote(value));
    return EXIT_DONE;
}

static int take_option(struct request *r, int code, const char *value)
{
    if (select_is_option(code) || sites_is_option(code)) {
        select_given_add(&r->given, code, value);
        return select_is_option(code) ? select_take_option(&r->select, code, value)
                                      : sites_take_option(&r->sites, code, value);
    }
    switch (code) {
    case FORMAT: return format_option(value, true, &r->format);
    case COLOUR: return colour_option(value, &r->colour);
    case WIDTH: return set_width(value, &r->width);
    case STRICT: r->strict = true; return EXIT_DONE;
    case FOLLOW: r->follow = true; return EXIT_DONE;
    case TREE: r->tree = true; return EXIT_DONE;
    default: logs_given_add(&r->logs, value); return EXIT_DONE;
    }
}

/* Output that is not for a terminal has no limit: nothing of it is left out. */
static unsigned columns(long asked)
{
    struct winsize size;

    if (asked >= 0)
        return (unsigned)asked;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return 0;
    return size.ws_col < PRINT_WIDTH_MIN ? PRINT_WIDTH_MIN : size.ws_col;
}

static bool is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* True if fd would make us wait. */
static bool is_idle(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, 0) == 0;
}

/* Prepares the output when the log's info is known: for a pipe, with its first event or its end. */
static int start(struct request *r, struct print *p, int64_t first, bool any)
{
    int status = select_resolve(&r->select, first);

    if (status == EXIT_DONE) {
        p->origin = first;
        if (!p->has_kept_from)
            p->kept_from = first;
        p->any = any;
        p->printer->begin(p);
    }
    return status;
}

static int read_error(const struct print *p, int error)
{
    out_flush();
    return tool_error("cannot read on in %s: %s", p->from->log->shown, strerror(error));
}

/* False: what follows is after the window, so nothing more is wanted. */
static bool print_selected(struct request *r, struct print *p, const struct posixtrace_event *e,
                           size_t count, bool may_stop)
{
    for (size_t i = 0; i < count; i++) {
        if (select_wants(&r->select, p->from->log->trid, &e[i])) {
            p->printer->event(p, &e[i]);
            p->printed++;
        } else if (may_stop && e[i].ns > r->select.to_ns) {
            return false;
        }
    }
    return true;
}

static int print_events(struct request *r, struct print *p)
{
    const bool may_stop = p->from->log->seekable && p->from->log->info.late == 0 &&
                          p->from->log->info.set_back == 0;
    /* A user may watch the trace as it is made: show all events before waiting. */
    const bool live = !p->from->log->seekable && !is_regular(STDOUT_FILENO);
    struct posixtrace_event batch[BATCH];
    bool started = p->from->log->seekable, more = true;
    uint64_t seen = 0, shown = 0;
    int error, status;
    size_t count;

    for (; more; seen += count) {
        if (live && out.at > out.end - OUT_BUFFER && is_idle(p->from->log->fd))
            out_flush();
        error = posixtrace_next_events(p->from->log->trid, batch, sizeof *batch,
                                       p->from->log->seekable ? BATCH : 1, &count);
        if (error != 0)
            return read_error(p, error);
        if (count == 0 || out_failed())
            break;
        p->from->batch++;
        if (!started) {
            started = true;
            status = start(r, p, batch[0].ns, true);
            if (status != EXIT_DONE)
                return status;
        }
        if (seen >= shown) {
            progress_at(seen);
            shown = seen + PROGRESS_EVERY;
        }
        more = print_selected(r, p, batch, count, may_stop);
    }
    return started ? EXIT_DONE : start(r, p, 0, false);
}

/* Nothing was printed.  If only times were asked for, no event has such a one. */
static void say_times(const struct selection *s, const struct log_file *log)
{
    bool given = s->from.kind != WHEN_NEVER || s->to.kind != WHEN_NEVER;

    if (!given || select_has_expression(s) || s->pid_count + s->tid_count > 0 || !log->seekable ||
        log->info.events == 0)
        return;
    tool_note("options '--from', '--to': no event of %s is of that time, its first is of %s, its "
              "last of %s",
              log->shown, when_iso(log->info.first_ns), when_iso(log->info.last_ns));
}

static int print_log(struct request *r, struct print *p)
{
    int status = EXIT_DONE, error = 0;

    if (p->from->log->seekable) {
        select_warn(&r->select, p->from->log);
        status = start(r, p, p->from->log->info.first_ns, p->from->log->info.events > 0);
        if (status == EXIT_DONE && r->select.from.kind != WHEN_NEVER)
            error = posixtrace_seek(p->from->log->trid, r->select.from_ns);
        if (error != 0)
            return read_error(p, error);
    }
    if (status == EXIT_DONE)
        status = print_events(r, p);
    if (status == EXIT_USAGE)
        return status;
    p->printer->end(p);
    out_flush();
    if (!p->from->log->seekable)
        select_warn(&r->select, p->from->log);
    select_warn_callers(&r->select, p->from->log);
    if (status == EXIT_DONE && p->printed == 0)
        say_times(&r->select, p->from->log);
    return log_file_report_loss(p->from->log, r->strict, status);
}

static struct print *new_print_of_any(struct request *r)
{
    struct print *p = tool_grow(NULL, 1, sizeof *p);

    print_init(p, format_option_name(r->format));
    colour_begin(r->colour);
    p->width = columns(r->width);
    return p;
}

/* Before the log is read. */
static struct print *new_print(struct request *r, struct log_file *log)
{
    struct print *p = new_print_of_any(r);

    sites_open(&r->sites, log->trid);
    print_add(p, log, &r->sites, "");
    if (p->printer == &printer_text && log->seekable && log->info.events > 0) {
        p->kept_from = log_file_kept_from(log);
        p->has_kept_from = true;
    }
    return p;
}

/* Shows all events before it waits for more. */
static int print_followed(struct request *r, struct print *p, struct follow *f)
{
    enum follow_next next = FOLLOW_NOTHING;
    struct posixtrace_event e;
    bool started = false;
    int status = EXIT_DONE;

    while (status == EXIT_DONE && !out_failed()) {
        next = follow_next(f, &e, false);
        if (next == FOLLOW_NOTHING) {
            out_flush();
            next = follow_next(f, &e, true);
        }
        if (next == FOLLOW_NOTHING)
            continue;
        if (next != FOLLOW_EVENT)
            break;
        p->from->batch++;
        if (!started) {
            started = true;
            status = start(r, p, e.ns, true);
        }
        if (e.ns > r->select.to_ns)
            break;
        if (status == EXIT_DONE && select_wants(&r->select, p->from->log->trid, &e)) {
            p->printer->event(p, &e);
            p->printed++;
        }
    }
    if (next == FOLLOW_FAILED)
        status = EXIT_FAILED;
    return started || status != EXIT_DONE ? status : start(r, p, 0, false);
}

static int follow_request(struct request *r)
{
    struct follow f;
    struct print *p;
    int status = follow_open(&f, r->path);

    if (status != EXIT_DONE)
        return status;
    p = new_print(r, &f.log);
    status = print_followed(r, p, &f);
    if (status != EXIT_USAGE) {
        p->printer->end(p);
        out_flush();
        select_warn(&r->select, &f.log);
        select_warn_callers(&r->select, &f.log);
        status = log_file_report_loss(&f.log, r->strict, status);
    }
    follow_close(&f);
    print_free(p);
    free(p);
    return status;
}

static int print_as_tree(struct request *r, struct log_file *log)
{
    int status;

    colour_begin(r->colour);
    if (!isatty(STDOUT_FILENO))
        progress_begin("events", log->info.events);
    status = print_tree(log, &r->select, &r->sites);
    progress_end();
    return status == EXIT_DONE ? log_file_report_loss(log, r->strict, status) : status;
}

static int print_request(struct request *r)
{
    struct log_file log;
    struct print *p;
    int status = log_file_open(&log, r->path);

    if (status != EXIT_DONE)
        return status;
    if (r->tree) {
        status = print_as_tree(r, &log);
        log_file_close(&log);
        return status;
    }
    p = new_print(r, &log);
    if (!isatty(STDOUT_FILENO))
        progress_begin("events", log.info.events);
    status = print_log(r, p);
    progress_end();
    log_file_close(&log);
    print_free(p);
    free(p);
    return status;
}

/* Folders, or more than one log. */
static int print_logs(struct request *r)
{
    struct logs logs;
    struct print *p;
    uint64_t events = 0;
    int status = logs_open(&logs, &r->logs);

    if (status == EXIT_DONE)
        status = logs_select(&logs, &r->given);
    if (status == EXIT_DONE) {
        logs_label(&logs, r->format != OUTPUT_TEXT);
        p = new_print_of_any(r);
        for (size_t i = 0; i < logs.count; i++)
            events += logs.at[i]->log.info.events;
        if (!isatty(STDOUT_FILENO))
            progress_begin("events", events);
        status = several_print(&logs, p, r->strict);
        progress_end();
        print_free(p);
        free(p);
    }
    logs_close(&logs);
    return status;
}

/* One log or several, followed, or as a tree. */
static int print_given(struct request *r)
{
    bool several = logs_are_several(&r->logs);

    r->path = r->logs.count > 0 ? r->logs.paths[0] : NULL;
    if (r->follow && (!r->path || strcmp(r->path, "-") == 0))
        return tool_usage("--follow needs a process, a stream or a log");
    if (several && (r->follow || r->tree))
        return tool_usage("--%s is for one log at a time", r->follow ? "follow" : "tree");
    if (r->tree && (r->follow || r->width >= 0 || r->format != OUTPUT_TEXT))
        return tool_usage("--tree is text of any width, of a log: it goes with no --format, "
                          "--width and --follow");
    if (!r->path && isatty(STDIN_FILENO))
        return tool_usage("no log named");
    r->path = r->path ? r->path : "-";
    return several ? print_logs(r) : r->follow ? follow_request(r) : print_request(r);
}

static int run(struct options *o)
{
    struct request r = { .width = -1 };
    int code, status = EXIT_DONE;

    select_init(&r.select, &r.sites);
    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            select_free(&r.select);
            select_given_free(&r.given);
            logs_given_free(&r.logs);
            return o->status;
        }
        status = take_option(&r, code, o->value);
    }
    if (status == EXIT_DONE)
        status = select_make(&r.select);
    if (status == EXIT_DONE)
        status = print_given(&r);
    select_free(&r.select);
    select_given_free(&r.given);
    logs_given_free(&r.logs);
    return status;
}

const struct verb verb_print = { "print", help, options, run };
