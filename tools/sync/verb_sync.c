/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace sync: one clock for the logs of several hosts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/progress.h"
#include "common/tool.h"
#include "input/logs.h"
#include "sync/sync_print.h"
#include "system/atomic_file.h"

enum { PAIR = 1, REFERENCE, OUTPUT, REPLACE };

static const struct option_spec options[] = {
    { "pair", true, PAIR }, { "reference", true, REFERENCE }, { "output", true, OUTPUT },
    { "o", true, OUTPUT },  { "replace", false, REPLACE },    { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace sync [OPTION]... LOG|FOLDER...\n"
    "\n"
    "Finds offset and drift of the clocks of hosts, with intervals: from messages,\n"
    "since each is received after it was sent, and where there are none from the\n"
    "kernels' bounds of the error of their clocks.\n"
    "\n"
    "  --pair='SEND by ID..RECEIVE by ID'\n"
    "                     events that belong together, and the fields with an id that\n"
    "                     no other message has; several times for several kinds\n"
    "  --reference=HOST   the common clock is that of HOST (default: the best)\n"
    "  -o, --output=FILE  writes the clocks, for --sync=FILE of print, info, metrics,\n"
    "                     report, rta, why and export\n"
    "  --replace          an existing FILE, too\n"
    "  --help             print this\n"
    "\n"
    "Example: posixtrace sync --pair='net:send by id..net:recv by id' -o fleet.sync \\\n"
    "             a.ptl b.ptl; posixtrace print --sync=fleet.sync a.ptl b.ptl\n";

struct request {
    struct posixtrace_sync_pair *pairs;
    char **texts; /* the pairs point into them */
    size_t pair_count;
    const char *reference, *output;
    bool replace;
    struct logs_given given;
};

/* "NAME by FIELD" in place. */
static bool split(char *text, const char **name, const char **field)
{
    char *by = strstr(text, " by ");

    if (!by || by == text || !by[4])
        return false;
    *by = '\0';
    *name = text;
    *field = by + 4;
    return true;
}

static int take_pair(struct request *r, const char *value)
{
    struct posixtrace_sync_pair pair;
    size_t size = strlen(value) + 1;
    char *text = memcpy(tool_grow(NULL, size, 1), value, size), *dots = strstr(text, "..");
    bool good = dots != NULL;

    if (good) {
        *dots = '\0';
        good = split(text, &pair.send, &pair.send_id) &&
               split(dots + 2, &pair.receive, &pair.receive_id);
    }
    if (!good) {
        free(text);
        return tool_usage("option '--pair' needs 'SEND by ID..RECEIVE by ID', found %s",
                          quote(value));
    }
    r->pairs = tool_grow(r->pairs, r->pair_count + 1, sizeof *r->pairs);
    r->texts = tool_grow(r->texts, r->pair_count + 1, sizeof *r->texts);
    r->pairs[r->pair_count] = pair;
    r->texts[r->pair_count++] = text;
    return EXIT_DONE;
}

static int take(struct request *r, int code, const char *value)
{
    switch (code) {
    case PAIR: return take_pair(r, value);
    case REFERENCE: r->reference = value; return EXIT_DONE;
    case OUTPUT: r->output = value; return EXIT_DONE;
    case REPLACE: r->replace = true; return EXIT_DONE;
    default: logs_given_add(&r->given, value); return EXIT_DONE;
    }
}

static int write_file(const struct request *r, const posixtrace_sync_t *sync)
{
    struct atomic_file file;
    int status = atomic_file_open(&file, r->output, r->replace), error;

    if (status != EXIT_DONE)
        return status;
    error = posixtrace_sync_write(sync, file.fd);
    status = error ? tool_error("cannot write %s: %s", quote(r->output), failure_reason(error))
                   : atomic_file_keep(&file);
    atomic_file_drop(&file);
    return status;
}

static void at(void *context, uint64_t events)
{
    (void)context;
    progress_at(events);
}

static int find(const struct request *r, const struct logs *logs)
{
    struct posixtrace_sync_options o = {
        .pairs = r->pairs, .pair_count = r->pair_count, .reference = r->reference, .progress = at
    };
    trace_id_t *trids = tool_grow(NULL, logs->count, sizeof *trids);
    posixtrace_sync_t *sync = NULL;
    uint64_t events = 0;
    int error, status;

    for (size_t i = 0; i < logs->count; i++) {
        trids[i] = logs->at[i]->log.trid;
        events += logs->at[i]->log.info.events;
    }
    progress_begin("events", events);
    error = posixtrace_sync_create(trids, logs->count, &o, sizeof o, &sync);
    progress_end();
    free(trids);
    if (error == EDOM) {
        status = sync_print_conflict(sync);
    } else if (error == EINVAL && r->reference) {
        status = tool_error("no log is of host %s", quote(r->reference));
    } else if (error) {
        status = tool_error("cannot find the clocks: %s", failure_reason(error));
    } else {
        sync_print(sync);
        status = r->output ? write_file(r, sync) : EXIT_DONE;
    }
    posixtrace_sync_free(sync);
    return status;
}

static int serve(const struct request *r)
{
    struct logs logs;
    int status;

    if (r->given.count == 0)
        return tool_usage("no log named");
    status = logs_open(&logs, &r->given);
    if (status == EXIT_DONE)
        status = find(r, &logs);
    logs_close(&logs);
    return status;
}

static int run(struct options *o)
{
    struct request r = { .pairs = NULL };
    int status = EXIT_DONE, code = 0;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END && code != OPTION_STOP)
        status = take(&r, code, o->value);
    if (code == OPTION_STOP)
        status = o->status;
    else if (status == EXIT_DONE)
        status = serve(&r);
    for (size_t i = 0; i < r.pair_count; i++)
        free(r.texts[i]);
    free(r.texts);
    free(r.pairs);
    logs_given_free(&r.given);
    return status;
}

const struct verb verb_sync = { "sync", help, options, run };
