/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace load: logs into a ClickHouse server.  Each log is loaded by a process of its own: a
 * process has a limit of names of event types, and many logs together have more.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/options.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "load/load.h"
#include "load/load_schema.h"

enum {
    TO = 1,
    CLUSTER,
    REPLICATED,
    SCHEMA,
    AUTH_FILE,
    CA_FILE,
    HOST,
    TIMEOUT,
    TRIES,
    JOBS,
    REPLACE,
    PIECE
};
enum { LOOK_MS = 200 };

static const struct option_spec options[] = { { "to", true, TO },
                                              { "cluster", true, CLUSTER },
                                              { "replicated", false, REPLICATED },
                                              { "schema", false, SCHEMA },
                                              { "auth-file", true, AUTH_FILE },
                                              { "ca-file", true, CA_FILE },
                                              { "host", true, HOST },
                                              { "timeout", true, TIMEOUT },
                                              { "tries", true, TRIES },
                                              { "jobs", true, JOBS },
                                              { "j", true, JOBS },
                                              { "replace", false, REPLACE },
                                              { "piece", true, PIECE },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace load --to=http://HOST:8123/DATABASE [OPTION]... LOG...\n"
    "       posixtrace load --schema [--to=ADDRESS] [--cluster=NAME [--replicated]]\n"
    "\n"
    "Loads logs into tables of a ClickHouse server, where each event is once, what-\n"
    "ever fails and however often a log is loaded. Makes tables that are missing.\n"
    "\n"
    "  --to=ADDRESS     of the server, http or https, with the database\n"
    "  --cluster=NAME   the tables are distributed over that cluster of the server\n"
    "  --replicated     and each part of them replicated, which needs ZooKeeper\n"
    "  --schema         print the statements that make the tables, and load nothing\n"
    "  --auth-file=FILE two lines, user and password; else POSIXTRACE_LOAD_USER and\n"
    "                   POSIXTRACE_LOAD_PASSWORD of the environment\n"
    "  --ca-file=FILE   certificates of authorities, for https\n"
    "  --host=NAME      the machine's name, in the place of that in the logs\n"
    "  -j, --jobs=N     logs at a time (as many as there are processors)\n"
    "  --tries=N        attempts of a log, if server or network fail (8)\n"
    "  --timeout=S      seconds that the server may do nothing (300)\n"
    "  --replace        load a log again that is loaded, in the place of that\n"
    "  --piece=N        LOG is piece N of a rotated log, whose pieces have one id\n"
    "  --help           print this\n"
    "\n"
    "Example: posixtrace load --to=http://db:8123/traces *.ptl\n";

struct job {
    pid_t pid; /* 0: none */
    int end;   /* of a pipe that the process has open as long as it lives */
};

struct load {
    struct load_target target;
    const char **logs;
    size_t count, next;
    struct job jobs[LOAD_JOBS_MAX];
    unsigned room;           /* of jobs */
    volatile uint64_t *rows; /* that each job has sent, shared with it */
    uint64_t rows_before;    /* of jobs that have ended */
    int status;
};

static int load_in_child(struct load *l, const char *path, unsigned i)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return out_finish(load_log(&l->target, path, &l->rows[i]));
}

static int begin_job(struct load *l, unsigned i)
{
    struct job *j = &l->jobs[i];
    const char *path = l->logs[l->next++];
    int ends[2];

    l->rows[i] = 0;
    out_flush();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tool_error("%s: cannot make a pipe: %s", quote(path), strerror(errno));
    j->pid = fork();
    if (j->pid == 0)
        _exit(load_in_child(l, path, i));
    close(ends[1]);
    j->end = ends[0];
    if (j->pid < 0) {
        close(j->end);
        j->pid = 0;
        return tool_error("%s: cannot make a process: %s", quote(path), strerror(errno));
    }
    return EXIT_DONE;
}

static void end_job(struct load *l, unsigned i)
{
    struct job *j = &l->jobs[i];
    int status = 0;

    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(j->end);
    j->pid = 0;
    l->rows_before += l->rows[i];
    l->rows[i] = 0;
    if (WIFSIGNALED(status))
        l->status = tool_error("a process that loaded a log died: %s", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != EXIT_DONE)
        l->status = WEXITSTATUS(status);
}

static uint64_t rows_so_far(const struct load *l)
{
    uint64_t rows = l->rows_before;

    for (unsigned i = 0; i < l->room; i++)
        rows += l->rows[i];
    return rows;
}

/* Until a process has ended; false: there is none. */
static bool wait_for_job(struct load *l)
{
    struct pollfd ends[LOAD_JOBS_MAX];
    unsigned running = 0;

    for (unsigned i = 0; i < l->room; i++) {
        ends[i] = (struct pollfd){ .fd = l->jobs[i].pid ? l->jobs[i].end : -1 };
        running += l->jobs[i].pid != 0;
    }
    if (running == 0)
        return false;
    while (poll(ends, l->room, LOOK_MS) <= 0)
        progress_at(rows_so_far(l));
    for (unsigned i = 0; i < l->room; i++)
        if (ends[i].revents)
            end_job(l, i);
    return true;
}

static int load_all(struct load *l)
{
    progress_begin("rows", 0);
    do {
        for (unsigned i = 0; i < l->room && l->next < l->count; i++)
            if (!l->jobs[i].pid && begin_job(l, i) != EXIT_DONE)
                l->status = EXIT_FAILED;
    } while (wait_for_job(l) || l->next < l->count);
    progress_end();
    return l->status;
}

static unsigned job_count(const struct load_options *o, size_t logs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = o->jobs ? o->jobs : processors > 0 ? (unsigned)processors : 1;

    count = count < LOAD_JOBS_MAX ? count : LOAD_JOBS_MAX;
    return count < logs ? count : (unsigned)logs;
}

static int load_logs(const struct load_options *o, const char **logs, size_t count)
{
    struct load l = { .logs = logs, .count = count, .room = job_count(o, count) };
    int status = load_target_init(&l.target, o);

    if (status == EXIT_DONE)
        status = load_prepare(&l.target);
    if (status == EXIT_DONE) {
        l.rows = mmap(NULL, LOAD_JOBS_MAX * sizeof *l.rows, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        status = l.rows == MAP_FAILED ? tool_error("no memory: %s", strerror(errno)) : load_all(&l);
    }
    load_target_free(&l.target);
    return status;
}

static int print_schema(const struct load_options *o)
{
    struct load_target t = { .database = NULL };
    struct load_place place = { .database = "posixtrace",
                                .cluster = o->cluster,
                                .replicated = o->replicated };
    int status = o->to ? load_target_init(&t, o) : EXIT_DONE;

    if (t.database)
        place.database = t.database;
    if (status == EXIT_DONE)
        load_schema_print(&place);
    load_target_free(&t);
    return status;
}

static int take_number(const char *option, const char *text, unsigned most, unsigned *number)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value == 0 || value > most)
        return tool_usage("--%s=%s: it is a number from 1 to %u", option, unquoted(text), most);
    *number = (unsigned)value;
    return EXIT_DONE;
}

static int take(struct load_options *o, int code, const char *value)
{
    switch (code) {
    case TO: o->to = value; return EXIT_DONE;
    case CLUSTER: o->cluster = value; return EXIT_DONE;
    case REPLICATED: o->replicated = true; return EXIT_DONE;
    case AUTH_FILE: o->auth_file = value; return EXIT_DONE;
    case CA_FILE: o->ca_file = value; return EXIT_DONE;
    case HOST: o->host = value; return EXIT_DONE;
    case TIMEOUT: return take_number("timeout", value, 86400, &o->timeout);
    case TRIES: return take_number("tries", value, 1000, &o->tries);
    case PIECE: return take_number("piece", value, INT32_MAX, &o->piece);
    case JOBS: return take_number("jobs", value, LOAD_JOBS_MAX, &o->jobs);
    default: o->replace = true; return EXIT_DONE;
    }
}

static int act(const struct load_options *o, bool schema, const char **logs, size_t count)
{
    if (o->replicated && !o->cluster)
        return tool_usage("--replicated is of the tables of a cluster: --cluster=NAME");
    if (schema)
        return count ? tool_usage("--schema, and a log to load: %s", quote(logs[0]))
                     : print_schema(o);
    if (!o->to)
        return tool_usage("say where to load to: --to=http://HOST:8123/DATABASE");
    if (count == 0)
        return tool_usage("no log named");
    return load_logs(o, logs, count);
}

static int run(struct options *o)
{
    struct load_options l = { .timeout = LOAD_TIMEOUT, .tries = LOAD_TRIES };
    const char **logs = NULL;
    size_t count = 0;
    bool schema = false;
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            free(logs);
            return o->status;
        }
        if (code == SCHEMA) {
            schema = true;
        } else if (code == OPTION_OPERAND) {
            logs = tool_grow(logs, count + 1, sizeof *logs);
            logs[count++] = o->value;
        } else {
            status = take(&l, code, o->value);
        }
    }
    if (status == EXIT_DONE)
        status = act(&l, schema, logs, count);
    free(logs);
    return status;
}

const struct verb verb_load = { "load", help, options, run };
