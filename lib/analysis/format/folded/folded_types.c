/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What events of a type mean, by its name. */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/folded/folded.h"

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), rest = strlen(end);

    return length > rest && strcmp(name + length - rest, end) == 0;
}

/* Which types begin calls that wait, by their names: the next one ends them. */
static bool begins(const char *name)
{
    static const char *const names[] = { "mutex_lock",   "rwlock_lock", "cond_wait",   "sem_wait",
                                         "barrier_wait", "sleep",       "io",          "poll",
                                         "file_lock",    "futex_wait",  "thread_join", "child_wait",
                                         "signal_wait" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum pt_folded_role system_role(struct pt_folded_writer *f, const struct posixtrace_event *e,
                                       const char *name)
{
    static const struct {
        const char *name;
        enum pt_folded_role role;
    } others[] = {
        { "long_call", PT_FOLDED_WHOLE },      { "waiting", PT_FOLDED_STILL },
        { "stack", PT_FOLDED_STACK },          { "switch_in", PT_FOLDED_GETS },
        { "switch_out", PT_FOLDED_WAITS_OUT }, { "switch_preempted", PT_FOLDED_PREEMPTED }
    };

    if (begins(name))
        return PT_FOLDED_BEGINS;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].role;
    return e->id > 0 && f->role[e->id - 1] == PT_FOLDED_BEGINS ? PT_FOLDED_ENDS : PT_FOLDED_NOTHING;
}

enum pt_folded_role pt_folded_role_of(struct pt_folded_writer *f, const struct posixtrace_event *e)
{
    const char *name = e->name;
    enum pt_folded_role role = PT_FOLDED_NOTHING;

    if (e->id >= PT_FOLDED_TYPES)
        return PT_FOLDED_NOTHING;
    if (f->role[e->id] != PT_FOLDED_NEW)
        return f->role[e->id];
    if (e->id == POSIX_TRACE_OVERFLOW || e->id == POSIX_TRACE_STOP)
        role = PT_FOLDED_GAP;
    else if (strncmp(name, "posixtrace_", 11) == 0)
        role = system_role(f, e, name + 11);
    else if (ends_with(name, ":begin"))
        role = PT_FOLDED_PAIR_BEGINS;
    else if (ends_with(name, ":end"))
        role = PT_FOLDED_PAIR_ENDS;
    f->label[e->id] = strdup(strncmp(name, "posixtrace_", 11) == 0 ? name + 11 : name);
    for (char *p = f->label[e->id]; p && *p && role == PT_FOLDED_BEGINS; p++)
        *p = *p == '_' ? ' ' : *p;
    if (f->label[e->id] && (role == PT_FOLDED_PAIR_BEGINS || role == PT_FOLDED_PAIR_ENDS))
        *strrchr(f->label[e->id], ':') = '\0';
    f->role[e->id] = role;
    return role;
}
