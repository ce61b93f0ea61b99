/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The names of system events that an automaton can meet, apart from what prints: a unit test
 * compares them with the library's.
 */
#include "measure/metrics_names.h"

#include <string.h>
#include <posixtrace/system.h>

const char *const *metrics_system_names(void)
{
    static const char *names[POSIX_TRACE_UNNAMED_USEREVENT + 1];
    size_t count = 0;

    for (trace_event_id_t id = POSIX_TRACE_ERROR + 1;
         names[0] == NULL && id <= POSIX_TRACE_UNNAMED_USEREVENT; id++) {
        if (posixtrace_system_text(id))
            names[1 + count++] = posixtrace_system_text(id);
    }
    names[0] = "posix_trace_unnamed_userevent";
    return names + 1;
}

bool metrics_name_is_wrong(const char *event)
{
    const char *const *names = metrics_system_names();

    if (strncmp(event, "posixtrace_", 11) != 0 && strncmp(event, "posix_trace_", 12) != 0)
        return false;
    for (size_t i = 0; names[i]; i++)
        if (strcmp(event, names[i]) == 0)
            return false;
    return true;
}
