/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace record: records a program that it starts, or processes that run.
 * record.h tells how that is put together.
 */
#include "record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart/apart.h"
#include "system/child.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"

enum {
    LOG = 1,
    PID,
    POLICY,
    SIZE,
    LOG_SIZE,
    FILTER,
    WHERE,
    SYSTEM,
    FUNCTIONS,
    LONGER,
    STACKS,
    SWITCH_BUFFER,
    ROTATE,
    KEEP,
    OUTDIR,
    ZSTD,
    PRINT,
    QUIET
};

static const struct option_spec options[] = { { "o", true, LOG },
                                              { "output", true, LOG },
                                              { "pid", true, PID },
                                              { "policy", true, POLICY },
                                              { "size", true, SIZE },
                                              { "log-size", true, LOG_SIZE },
                                              { "filter", true, FILTER },
                                              { "where", true, WHERE },
                                              { "system", OPTION_MAY, SYSTEM },
                                              { "functions", false, FUNCTIONS },
                                              { "longer-than", true, LONGER },
                                              { "stacks", OPTION_MAY, STACKS },
                                              { "switch-buffer", true, SWITCH_BUFFER },
                                              { "rotate", true, ROTATE },
                                              { "keep", true, KEEP },
                                              { "outdir", true, OUTDIR },
                                              { "zstd", false, ZSTD },
                                              { "print", false, PRINT },
                                              { "quiet", false, QUIET },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace record [OPTION]... [--] CMD [ARG]...\n"
    "       posixtrace record [OPTION]... --pid=PID...\n"
    "\n"
    "Records events of a program and of all that it starts, or of running processes.\n"
    "\n"
    "  -o, --output=LOG  the log; %p in it is the process id (CMD.ptl or PID.ptl)\n"
    "  --pid=PID         a process that runs; more than once: a log for each\n"
    "  --policy=WHAT     without room for all, keep: flush (default) the newest of\n"
    "                    the log, until-full the oldest, loop the newest in memory\n"
    "  --size=N          memory for events (default 8M); K, M and G are understood\n"
    "  --log-size=N      bytes of events in the log (no limit; until-full 64M)\n"
    "  --where=EXPR      only 'n > 9', 'order*', '!idle*' ...: posixtrace-filter(5)\n"
    "  --system[=KINDS]  locks, io, sleep, threads, signals, or all these calls\n"
    "                    (calls), when threads run (switches), all (the default)\n"
    "  --longer-than=T   of calls only those that took 10us, 1.5ms, 2s ... or longer\n"
    "  --stacks[=N]      after each of these that may wait N return addresses (16)\n"
    "  --switch-buffer=N bytes of a kernel ring for switches (256K, root's 4M)\n"
    "  --functions       of programs compiled with -finstrument-functions\n"
    "  --rotate=64M|10min --outdir=DIR --keep=N  the log in pieces, at most N of them\n"
    "  --zstd            compress the log with zstd: about half as long\n"
    "  --print --quiet --help  print the log at the end; no live line; print this\n"
    "\n"
    "Exit status: of CMD, 128 + signal, 126 or 127 not started, 1 log not whole.\n"
    "Example: posixtrace record --print ./app input.txt\n";

static const char *const policies[] = { "flush", "loop", "until-full", NULL };

static int add_pid(struct record_request *q, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (text[0] < '1' || text[0] > '9' || *end != '\0' || value > INT32_MAX)
        return tool_usage("option '--pid' needs a process id, found %s", quote(text));
    q->pids = tool_grow(q->pids, q->pid_count + 1, sizeof *q->pids);
    q->pids[q->pid_count++] = (pid_t)value;
    return EXIT_DONE;
}

static int set_switch_buffer(const char *text, uint64_t *size)
{
    int status = options_size("switch-buffer", text, size);

    return status == EXIT_DONE ? record_switch_buffer_check(*size, text) : status;
}

static int set_policy(const char *value, int *policy)
{
    int i = options_index(value, policies);

    if (i < 0)
        return options_bad_word("policy", value, policies);
    *policy = i;
    return EXIT_DONE;
}

static int take_option(struct record_request *q, int code, const char *value)
{
    switch (code) {
    case LOG: q->log = value; return EXIT_DONE;
    case PID: return add_pid(q, value);
    case POLICY: return set_policy(value, &q->policy);
    case SIZE: return options_size("size", value, &q->size);
    case LOG_SIZE: return options_size("log-size", value, &q->log_size);
    case FILTER: return filter_option_add(&q->filter, "option '--filter'", value);
    case WHERE: return filter_option_add(&q->filter, "option '--where'", value);
    case SYSTEM: return record_system_parse(q, value);
    case FUNCTIONS: q->functions = true; return EXIT_DONE;
    case LONGER: return record_system_longer(q, value);
    case STACKS: return record_system_stacks(q, value);
    case SWITCH_BUFFER: return set_switch_buffer(value, &q->switch_buffer);
    case ROTATE: return record_pieces_parse(q, value);
    case KEEP: return record_pieces_keep(q, value);
    case OUTDIR: q->outdir = value; return EXIT_DONE;
    case ZSTD: q->zstd = true; return EXIT_DONE;
    case PRINT: q->print = true; return EXIT_DONE;
    default: q->quiet = true; return EXIT_DONE;
    }
}

static int check_request(const struct record_request *q)
{
    if (!q->command && q->pid_count == 0)
        return tool_usage("no program and no --pid given");
    if (q->command && q->pid_count > 0)
        return tool_usage("a program or --pid, not both: %s", quote(q->command[0]));
    if (q->log && (!*q->log || strcmp(q->log, "-") == 0))
        return tool_usage("the log must be a file, not %s; --print prints it", quote(q->log));
    if (q->pid_count > 1 && q->log && !record_log_has_pid(q->log))
        return tool_usage("each process has a log of its own: put %%p into the name %s",
                          quote(q->log));
    if (q->switch_buffer && !q->switches)
        return tool_usage("--switch-buffer is for context switches, which --system=switches "
                          "records");
    if (q->longer_than && !q->calls)
        return tool_usage("--longer-than is for calls, which --system records");
    if (q->stacks && !q->calls)
        return tool_usage("--stacks is for calls, which --system records");
    if (q->calls && q->pid_count > 0)
        return tool_usage("the calls of a process that runs cannot be recorded: a library has to "
                          "be loaded when it starts; '--system=switches' can");
    return record_pieces_check(q);
}

int record_print(const struct recording *r)
{
    char *words[] = { (char *)"--", r->log, NULL };
    struct options o = { .verb = &verb_print, .words = words };
    int status;

    tool_set_verb(verb_print.name);
    status = verb_print.run(&o);
    out_flush();
    tool_set_verb(verb_record.name);
    return status;
}

/* Completes the log, if that is not done, and reports its contents.  From then on a
 * signal ends record at once: the log is complete. */
static int finish(struct recording *r, const struct record_request *q, const char *path)
{
    int status, printed = EXIT_DONE;
    struct recording_alive alive = { NULL, 0 };

    /* Descendants of the program, which no process waits for. */
    if (q->command && !q->quiet)
        recording_alive(r, &alive);
    record_removed_end(r, q);
    recording_end(r);
    signals_let(NULL);
    status = record_report(r, q, path);
    record_report_alive(r, &alive);
    free(alive.pids);
    if (q->print && r->regular && !r->removed)
        printed = record_print(r);
    signals_hold();
    return status ? status : printed;
}

static void release(struct recording *r)
{
    if (r->pidfd >= 0)
        close(r->pidfd);
    free(r->log);
    free(r->pieces);
}

/* Not of a signal that record passed on, also as SIGTERM: its sender knows. */
static void say_signal(const struct launch *l, const struct watch_end *end,
                       const struct record_request *q)
{
    int number = WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0;

    if (number && !q->quiet && !(end->signal && (number == end->signal || number == SIGTERM)))
        tool_note("%s was %s%s", quote(l->argv[0]), child_text(CHILD_SIGNAL + number),
                  WCOREDUMP(end->status) ? ", core dumped" : "");
}

static int run_program(struct launch *l, struct recording *r, const struct record_request *q)
{
    struct watch_end end;
    const char *file;
    int status = launch_fork(l), done;

    if (status != EXIT_DONE)
        return status;
    r->pid = l->pid;
    r->pidfd = watch_pidfd(r->pid);
    status = recording_begin(r, q, l->argv[0]);
    if (status != EXIT_DONE)
        return status;
    file = recording_file(r);
    status = file ? launch_go(l, file) : tool_error("the stream has no name");
    if (status != EXIT_DONE) {
        recording_drop(r);
        return status;
    }
    record_log_keep(r);
    watch(r, 1, q, true, &end);
    if (end.left)
        tool_note("process %d continues, and is not recorded any more", (int)r->pid);
    else
        say_signal(l, &end, q);
    done = finish(r, q, l->path);
    status = end.left ? 128 + end.signal : launch_status(end.status);
    return status ? status : done;
}

static int record_program(const struct record_request *q)
{
    struct recording r = recording_make(0);
    struct launch l;
    int status = launch_find(&l, q->command);

    if (status == EXIT_DONE && q->calls) {
        l.longer_than = q->longer_than;
        l.stacks = q->stacks;
        l.functions = q->functions;
        l.preload = record_system_preload();
        status = l.preload ? EXIT_DONE : EXIT_FAILED;
        if (status == EXIT_DONE && !q->quiet)
            record_static_warn(l.path);
    }
    if (status == EXIT_DONE)
        status = run_program(&l, &r, q);
    launch_cancel(&l);
    release(&r);
    return status;
}

static int begin_all(struct recording *r, const struct record_request *q)
{
    int status = EXIT_DONE;

    for (size_t i = 0; i < q->pid_count; i++)
        r[i] = recording_make(q->pids[i]);
    for (size_t i = 0; status == EXIT_DONE && i < q->pid_count; i++) {
        /* First, so that the process we wait for is the one that is recorded. */
        r[i].pidfd = watch_pidfd(r[i].pid);
        status = recording_begin(&r[i], q, NULL);
    }
    for (size_t i = 0; status != EXIT_DONE && i < q->pid_count; i++)
        recording_drop(&r[i]);
    for (size_t i = 0; status == EXIT_DONE && i < q->pid_count; i++) {
        record_log_keep(&r[i]);
        record_report_waiting(&r[i], q);
    }
    return status;
}

static int record_processes(const struct record_request *q)
{
    struct recording *r = tool_grow(NULL, q->pid_count, sizeof *r);
    struct watch_end end;
    int status;

    status = begin_all(r, q);
    if (status == EXIT_DONE) {
        watch(r, q->pid_count, q, false, &end);
        for (size_t i = 0; i < q->pid_count; i++) {
            int one = finish(&r[i], q, NULL);

            status = status ? status : one;
        }
    }
    for (size_t i = 0; i < q->pid_count; i++)
        release(&r[i]);
    free(r);
    return status;
}

/* Does one of the processes belong to another user than root, who asks? */
static bool is_apart(const struct record_request *q)
{
    bool any = false;

    for (size_t i = 0; i < q->pid_count; i++)
        any |= apart_needed(q->pids[i]);
    return any;
}

/* False: *status is what to exit with, also 0, when help was asked for. */
static bool parse(struct options *o, struct record_request *q, int *status)
{
    int code;

    while ((code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            *status = o->status;
            return false;
        }
        if (code == OPTION_OPERAND) {
            q->command = o->words - 1; /* all that follows is the program's */
            break;
        }
        *status = take_option(q, code, o->value);
        if (*status != EXIT_DONE)
            return false;
    }
    *status = record_system_functions(q);
    if (*status == EXIT_DONE)
        *status = check_request(q);
    if (*status == EXIT_DONE)
        *status = filter_option_make(&q->filter);
    return *status == EXIT_DONE;
}

static int run(struct options *o)
{
    struct record_request q = { .policy = RECORD_FLUSH };
    int status = EXIT_DONE;

    if (parse(o, &q, &status)) {
        signals_begin();
        status = record_pieces_prepare(&q);
        status = status         ? status
                 : q.command    ? record_program(&q)
                 : is_apart(&q) ? record_apart(&q)
                                : record_processes(&q);
    }
    signals_let(NULL);
    free(q.pids);
    filter_option_free(&q.filter);
    return status;
}

const struct verb verb_record = { "record", help, options, run };
