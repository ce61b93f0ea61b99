/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace load: logs into a ClickHouse server. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/options.h"
#include "common/sync_option.h"
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
    SYNC,
    FOLLOW
};

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
                                              { "sync", true, SYNC },
                                              { "follow", false, FOLLOW },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace load --to=http://HOST:8123/DATABASE [OPTION]... LOG|FOLDER...\n"
    "       posixtrace load --to=ADDRESS --follow [OPTION]... FOLDER...\n"
    "       posixtrace load --schema [--to=ADDRESS] [--cluster=NAME [--replicated]]\n"
    "\n"
    "Loads logs into tables of a ClickHouse server, where each event is once, what-\n"
    "ever fails and however often a log is loaded. Makes tables that are missing.\n"
    "\n"
    "  --to=ADDRESS     of the server, http or https, with the database\n"
    "  --follow         also logs that appear in the folders, until SIGTERM or SIGINT\n"
    "  --cluster=NAME   the tables are distributed over that cluster of the server\n"
    "  --replicated     and each part of them replicated, which needs ZooKeeper\n"
    "  --schema         print the statements that make the tables, and load nothing\n"
    "  --auth-file=FILE two lines, user and password; else POSIXTRACE_LOAD_USER and\n"
    "                   POSIXTRACE_LOAD_PASSWORD of the environment\n"
    "  --ca-file=FILE   certificates of authorities, for https\n"
    "  --host=NAME      the machine's name, in the place of that in the logs\n"
    "  -j, --jobs=N     logs at a time (as many as there are processors)\n"
    "  --sync=FILE      times of the common clock that posixtrace sync has found\n"
    "  --tries=N        attempts of a log, if server or network fail (8)\n"
    "  --timeout=S      seconds that the server may do nothing (300)\n"
    "  --replace        load a log again that is loaded, in the place of that\n"
    "  --help           print this\n"
    "\n"
    "Example: posixtrace load --to=http://db:8123/traces *.ptl\n";

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count < LOAD_JOBS_MAX ? (unsigned)count : LOAD_JOBS_MAX;
}

static int load_logs(struct load_options *o, const char **logs, size_t count)
{
    struct load_target t = { .database = NULL };
    int status = load_target_init(&t, o);

    o->jobs = o->jobs ? o->jobs : processors();
    if (status == EXIT_DONE)
        status = o->follow ? load_follow(&t, logs, count) : load_all(&t, logs, count);
    load_target_free(&t);
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
    case FOLLOW: o->follow = true; return EXIT_DONE;
    case SYNC: return sync_option_take(value);
    case JOBS: return take_number("jobs", value, LOAD_JOBS_MAX, &o->jobs);
    default: o->replace = true; return EXIT_DONE;
    }
}

static int act(struct load_options *o, bool schema, const char **logs, size_t count)
{
    if (o->replicated && !o->cluster)
        return tool_usage("--replicated is of the tables of a cluster: --cluster=NAME");
    if (schema)
        return count ? tool_usage("--schema, and a log to load: %s", quote(logs[0]))
                     : print_schema(o);
    if (!o->to)
        return tool_usage("say where to load to: --to=http://HOST:8123/DATABASE");
    if (count == 0)
        return tool_usage(o->follow ? "no folder named" : "no log named");
    if (o->follow && o->replace)
        return tool_usage("--follow loads each log once, and --replace again and again");
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
