/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --filter: which event types are recorded.  A stream's filter is a set of types
 * that it ignores, and the types of a program are not known before it opens
 * them.  Two cases:
 *
 *   only names   they are opened here, so that their ids are known, and all other
 *                ids are ignored from the start: exact
 *   patterns     a type is recorded until it was looked at, which happens several
 *                times a second; so no wanted event is missing, and a few of the
 *                others may be there
 */
#include "record.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "tool.h"

static bool is_pattern(const char *glob)
{
    return strpbrk(glob, "*?[\\") != NULL;
}

static bool wanted(const struct record_filter *f, const char *name)
{
    bool any = false, match = false;

    for (size_t i = 0; i < f->glob_count; i++) {
        const char *glob = f->globs[i];

        if (glob[0] != '!') {
            any = true;
            match |= fnmatch(glob, name, 0) == 0;
        } else if (fnmatch(glob + 1, name, 0) == 0) {
            return false;
        }
    }
    return match || !any;
}

/* Opens the names among the patterns; *exact: there are names to record, and
 * nothing else. */
static int open_names(struct recording *r, bool *exact)
{
    const struct record_filter *f = &r->filter;
    bool names = false, patterns = false;

    for (size_t i = 0; i < f->glob_count; i++) {
        const char *name = f->globs[i] + (f->globs[i][0] == '!');
        trace_event_id_t id;
        int error;

        if (f->globs[i][0] != '!') {
            names |= !is_pattern(name);
            patterns |= is_pattern(name);
        }
        if (is_pattern(name) || !*name)
            continue;
        error = posix_trace_trid_eventid_open(r->trid, name, &id);
        if (error != 0)
            return error;
    }
    *exact = names && !patterns;
    return 0;
}

/* Calls act for each user type that was not seen before. */
static int each_new(struct recording *r, trace_event_set_t *set,
                    void (*act)(trace_event_id_t id, bool wanted, trace_event_set_t *set),
                    bool *any)
{
    struct record_filter *f = &r->filter;
    trace_event_set_t system;
    int error = posix_trace_eventtypelist_rewind(r->trid);

    *any = false;
    if (error == 0)
        error = posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
    while (error == 0) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        int unavailable = 0, is_system = 0;
        trace_event_id_t id;

        error = posix_trace_eventtypelist_getnext_id(r->trid, &id, &unavailable);
        if (error != 0 || unavailable)
            break;
        if (id >= RECORD_TYPES || f->seen[id])
            continue;
        f->seen[id] = true;
        /* Those of --system are the user's to choose, those of the standard are not. */
        if (posix_trace_eventset_ismember(id, &system, &is_system) != 0 ||
            (is_system && id <= POSIX_TRACE_ERROR))
            continue;
        error = posix_trace_eventid_get_name(r->trid, id, name);
        if (error != 0)
            break;
        act(id, wanted(f, name), set);
        *any |= !wanted(f, name);
    }
    return error;
}

static void take_out_wanted(trace_event_id_t id, bool is_wanted, trace_event_set_t *set)
{
    if (is_wanted)
        posix_trace_eventset_del(id, set);
}

static void put_in_unwanted(trace_event_id_t id, bool is_wanted, trace_event_set_t *set)
{
    if (!is_wanted)
        posix_trace_eventset_add(id, set);
}

/* All types that a user may ever open, but for those that are wanted. */
static int ignore_all_others(struct recording *r, trace_event_set_t *set)
{
    trace_event_set_t system;
    int error = posix_trace_eventset_fill(set, POSIX_TRACE_ALL_EVENTS);
    bool any;

    if (error == 0)
        error = posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
    for (trace_event_id_t id = 1; error == 0 && id < RECORD_TYPES; id++) {
        int is_system = 0;

        if (posix_trace_eventset_ismember(id, &system, &is_system) == 0 && is_system &&
            id <= POSIX_TRACE_ERROR)
            posix_trace_eventset_del(id, set);
    }
    return error ? error : each_new(r, set, take_out_wanted, &any);
}

int record_filter_begin(struct recording *r, const struct record_request *q)
{
    struct record_filter *f = &r->filter;
    trace_event_set_t set;
    bool any;
    int error;

    f->globs = q->globs;
    f->glob_count = q->glob_count;
    if (f->glob_count == 0) {
        f->exact = true;
        return 0;
    }
    error = open_names(r, &f->exact);
    if (error == 0 && f->exact) {
        error = ignore_all_others(r, &set);
    } else if (error == 0) {
        error = posix_trace_eventset_empty(&set);
        if (error == 0)
            error = each_new(r, &set, put_in_unwanted, &any);
    }
    return error ? error : posix_trace_set_filter(r->trid, &set, POSIX_TRACE_SET_EVENTSET);
}

bool record_filter_watch(struct recording *r)
{
    trace_event_set_t set;
    bool any = false;

    if (r->filter.exact || !r->active || posix_trace_eventset_empty(&set) != 0)
        return false;
    if (each_new(r, &set, put_in_unwanted, &any) == 0 && any)
        posix_trace_set_filter(r->trid, &set, POSIX_TRACE_ADD_EVENTSET);
    return any;
}
