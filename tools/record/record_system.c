/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --system: events of the system, beside those of the program.
 *
 *   locks, io, sleep, threads, signals, functions
 *              groups of calls; the stream's filter closes the gates of the others, so that a
 *              call of another group costs one test
 *   calls      made by a library that the started program gets through LD_PRELOAD; it
 *              lies beside the libposixtrace that this program itself uses
 *   switches   come from the kernel; where it refuses, the rest is recorded, and how
 *              long threads have run
 */
#include "record/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/system.h>

#include "common/options.h"
#include "common/time_parse.h"
#include "common/tool.h"

#define LIBRARY "libposixtrace-preload.so"

static const char *const kind_names[] = { "calls", "switches", "all",     "locks",     "io",
                                          "sleep", "threads",  "signals", "functions", NULL };
enum { CALLS, SWITCHES, ALL, FUNCTIONS = 8 };
enum { STACKS_DEFAULT = 16 };

/* The types of our own that are not in the groups. */
static void set_unwanted(struct record_request *q, const char *kinds)
{
    trace_event_set_t all;

    posixtrace_eventset_system("all", &all);
    posixtrace_eventset_system(kinds, &q->unwanted);
    for (trace_event_id_t id = POSIXTRACE_SWITCH_IN; id < POSIX_TRACE_UNNAMED_USEREVENT; id++) {
        int ours = 0, wanted = 0;

        if (posix_trace_eventset_ismember(id, &all, &ours) != 0 || !ours)
            continue;
        posix_trace_eventset_ismember(id, &q->unwanted, &wanted);
        if (wanted)
            posix_trace_eventset_del(id, &q->unwanted);
        else
            posix_trace_eventset_add(id, &q->unwanted);
    }
}

int record_system_parse(struct record_request *q, const char *kinds)
{
    char word[64];
    int status = EXIT_DONE;
    bool whole = false;

    kinds = kinds ? kinds : "all";
    for (const char *at = kinds; at && status == EXIT_DONE;) {
        size_t length = strcspn(at, ",");
        int kind;

        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        kind = options_index(word, kind_names);
        if (kind < 0)
            status = options_bad_word("kind of system events", word, kind_names);
        q->calls |= kind >= 0 && kind != SWITCHES;
        q->switches |= kind == SWITCHES || kind == ALL;
        whole |= kind == CALLS || kind == ALL;
        q->functions |= kind == FUNCTIONS;
        at = at[length] ? at + length + 1 : NULL;
    }
    q->some_calls = q->calls && !whole;
    if (status == EXIT_DONE && q->some_calls)
        set_unwanted(q, kinds);
    return status;
}

int record_system_functions(struct record_request *q)
{
    if (!q->functions || q->calls) {
        for (trace_event_id_t id = POSIXTRACE_FUNCTION_ENTER;
             q->some_calls && id <= POSIXTRACE_FUNCTION_EXIT; id++)
            posix_trace_eventset_del(id, &q->unwanted);
        return EXIT_DONE;
    }
    return record_system_parse(q, "functions");
}

bool record_system_set_functions(void)
{
    return setenv("POSIXTRACE_RECORD_FUNCTIONS", "1", 1) == 0;
}

int record_system_longer(struct record_request *q, const char *value)
{
    struct when when;
    char text[64];

    snprintf(text, sizeof text, "+%s", value);
    if (strlen(value) >= sizeof text - 1 || !when_parse(text, &when) ||
        when.kind != WHEN_RELATIVE || when.ns <= 0)
        return tool_usage("--longer-than takes a time with a unit, as 10us, 1.5ms or 2s, not %s",
                          quote(value));
    q->longer_than = when.ns;
    return EXIT_DONE;
}

int record_system_stacks(struct record_request *q, const char *value)
{
    char *end = NULL;
    unsigned long number = value ? strtoul(value, &end, 10) : STACKS_DEFAULT;

    if (value &&
        (value[0] < '0' || value[0] > '9' || *end || number == 0 || number > POSIXTRACE_STACK_MAX))
        return tool_usage("--stacks takes a number of addresses from 1 to %d, not %s",
                          POSIXTRACE_STACK_MAX, quote(value));
    q->stacks = (unsigned)number;
    return EXIT_DONE;
}

bool record_system_set_stacks(unsigned stacks)
{
    char text[32];

    snprintf(text, sizeof text, "%u", stacks);
    return setenv("POSIXTRACE_RECORD_STACKS", text, 1) == 0;
}

bool record_system_set_longer(int64_t ns)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIi64, ns);
    return setenv("POSIXTRACE_RECORD_LONGER_THAN", text, 1) == 0;
}

char *record_system_preload(void)
{
    Dl_info info = { .dli_fname = NULL };
    bool (*function)(void) = posixtrace_system_wanted;
    char *file = NULL, *slash;
    void *address;

    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &info) == 0 || !info.dli_fname ||
        !(file = realpath(info.dli_fname, NULL)) || !(slash = strrchr(file, '/'))) {
        tool_error("--system: cannot find out where libposixtrace is, and so its library " LIBRARY);
        free(file);
        return NULL;
    }
    file = tool_grow(file, (size_t)(slash - file) + 1 + sizeof LIBRARY, 1);
    strcpy(strrchr(file, '/') + 1, LIBRARY);
    if (access(file, R_OK) != 0)
        tool_error("--system: %s: %s; calls are recorded by that library, which is installed "
                   "beside libposixtrace; '--system=switches' needs none",
                   quote(file), strerror(errno));
    else if (strpbrk(file, " :"))
        tool_error("--system: %s cannot be put into LD_PRELOAD, where spaces and colons separate "
                   "names",
                   quote(file));
    else
        return file;
    free(file);
    return NULL;
}

bool record_system_set_preload(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    char *all = NULL;
    bool done;

    if (asprintf(&all, "%s%s%s", old ? old : "", old && *old ? ":" : "", library) < 0) {
        errno = ENOMEM;
        return false;
    }
    done = setenv("LD_PRELOAD", all, 1) == 0;
    free(all);
    return done;
}

/* Any of the names would do: all the types are listed as soon as one is opened. */
int record_system_begin(struct recording *r, const struct record_request *q)
{
    trace_event_id_t id;
    int error = 0;

    if (q->calls || q->switches)
        error = posix_trace_trid_eventid_open(r->trid, "posixtrace_switch_in", &id);
    if (error == 0 && q->some_calls)
        error = posix_trace_set_filter(r->trid, &q->unwanted, POSIX_TRACE_SET_EVENTSET);
    if (error == 0 && q->switches)
        error = record_switches_begin(r, q);
    return error;
}
