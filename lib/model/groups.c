/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See groups.h. */
#include <posixtrace/system.h>
#include <string.h>
#include "model/groups.h"

static const struct range {
    const char *group;
    uint32_t first, last;
} ranges[] = {
    { "switches", POSIXTRACE_SWITCH_IN, POSIXTRACE_CPU_TIME },
    { "locks", POSIXTRACE_LONG_CALL, POSIXTRACE_STACK },
    { "locks", POSIXTRACE_MUTEX_LOCK, POSIXTRACE_BARRIER_PASSED },
    { "locks", POSIXTRACE_FILE_LOCK, POSIXTRACE_FUTEX_WOKEN },
    { "locks", POSIXTRACE_DESCRIPTOR, POSIXTRACE_DESCRIPTOR },
    { "sleep", POSIXTRACE_LONG_CALL, POSIXTRACE_STACK },
    { "sleep", POSIXTRACE_SLEEP, POSIXTRACE_TIMER_SET },
    { "threads", POSIXTRACE_LONG_CALL, POSIXTRACE_STACK },
    { "threads", POSIXTRACE_THREAD_CREATE, POSIXTRACE_THREAD_END },
    { "threads", POSIXTRACE_THREAD_JOIN, POSIXTRACE_CHILD_WAITED },
    { "signals", POSIXTRACE_LONG_CALL, POSIXTRACE_STACK },
    { "signals", POSIXTRACE_SIGNAL_BEGIN, POSIXTRACE_SIGNAL_END },
    { "signals", POSIXTRACE_SIGNAL_WAIT, POSIXTRACE_SIGNAL_TAKEN },
    { "io", POSIXTRACE_LONG_CALL, POSIXTRACE_STACK },
    { "io", POSIXTRACE_IO, POSIXTRACE_POLL_DONE },
    { "io", POSIXTRACE_DESCRIPTOR, POSIXTRACE_DESCRIPTOR },
    { "io", POSIXTRACE_CONNECTION, POSIXTRACE_READY },
    { "functions", POSIXTRACE_FUNCTION_ENTER, POSIXTRACE_FUNCTION_EXIT },
    { "calls", POSIXTRACE_MUTEX_LOCK, POSIXTRACE_READY },
    { "all", POSIXTRACE_SWITCH_IN, POSIXTRACE_READY },
};

_Static_assert(PT_ID_OWN_LAST == POSIXTRACE_READY + 1 && PT_ID_OWN_LAST == POSIXTRACE_CONTEXT,
               "each type is in a group, but that which programs record without a request");

static bool add_group(const char *word, size_t length, struct pt_set *set)
{
    bool found = false;

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];

        if (strlen(r->group) != length || strncmp(r->group, word, length) != 0)
            continue;
        for (uint32_t id = r->first; id <= r->last; id++)
            pt_set_add(set, id);
        found = true;
    }
    return found;
}

bool pt_groups_read(const char *list, struct pt_set *set)
{
    bool known = true;

    pt_set_empty(set);
    for (size_t length; known; list += length + 1) {
        length = strcspn(list, ",");
        known = add_group(list, length, set);
        if (list[length] == '\0')
            break;
    }
    return known;
}
