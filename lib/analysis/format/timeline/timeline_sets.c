/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The sets of event types that posix_trace_start and posix_trace_filter carry, in words. */
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"

static void add(struct pt_timeline *tl, size_t *used, const char *text)
{
    size_t length = strnlen(text, sizeof tl->ignores - 1 - *used);

    memcpy(tl->ignores + *used, text, length);
    *used += length;
    tl->ignores[*used] = '\0';
}

const char *pt_tl_ignores(struct pt_timeline *tl, const struct posixtrace_event *e)
{
    size_t sets = e->id == POSIX_TRACE_START ? 1 : e->id == POSIX_TRACE_FILTER ? 2 : 0, used = 0;
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_set_t set;
    trace_event_id_t id;
    int unavailable = 0, in;

    if (sets == 0 || e->data_len != sets * sizeof set)
        return NULL;
    /* Of a filter: before it, and from then on. */
    memcpy(&set, (const char *)e->data + (sets - 1) * sizeof set, sizeof set);
    tl->ignores[0] = '\0';
    if (posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &in) != 0)
        return NULL;
    posix_trace_eventtypelist_rewind(tl->job->trid);
    while (posix_trace_eventtypelist_getnext_id(tl->job->trid, &id, &unavailable) == 0 &&
           !unavailable) {
        if (posix_trace_eventset_ismember(id, &set, &in) != 0 || !in ||
            posix_trace_eventid_get_name(tl->job->trid, id, name) != 0)
            continue;
        add(tl, &used, used ? ", " : "");
        add(tl, &used, name);
    }
    if (!used)
        add(tl, &used, "nothing");
    return tl->ignores;
}
