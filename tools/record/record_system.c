/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --system: events of the system, beside those of the program.
 *
 *   calls      made by a library that the started program gets through LD_PRELOAD; it
 *              lies beside the libposixtrace that this program itself uses
 *   switches   come from the kernel; where it refuses, the rest is recorded, and how
 *              long threads have run
 */
#include "record/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/system.h>

#include "common/options.h"
#include "common/tool.h"

#define LIBRARY "libposixtrace-preload.so"

static const char *const kind_names[] = { "calls", "switches", "all", NULL };
enum { CALLS, SWITCHES };

int record_system_parse(struct record_request *q, const char *kinds)
{
    char word[64];
    int status = EXIT_DONE;

    kinds = kinds ? kinds : "all";
    for (const char *at = kinds; at && status == EXIT_DONE;) {
        size_t length = strcspn(at, ",");
        int kind;

        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        kind = options_index(word, kind_names);
        if (kind < 0)
            status = options_bad_word("kind of system events", word, kind_names);
        q->calls |= kind >= 0 && kind != SWITCHES;
        q->switches |= kind >= 0 && kind != CALLS;
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
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
    if (error == 0 && q->switches)
        error = record_switches_begin(r, q);
    return error;
}
