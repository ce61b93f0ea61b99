/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state machines of BTF: figures 3, 5 and 6 of version 2.1.5, figures 2-4 to 2-6
 * of version 2.3.0.  They differ in the state before the first event: up to 2.1.5 a state of its
 * own, to which no action returns; from 2.2 on any state.
 */
#include <string.h>
#include "analysis/format/btf/btf.h"

enum { P = PT_BTF_OF_PROCESS, R = PT_BTF_OF_RUNNABLE, S = PT_BTF_OF_SEMAPHORE };

#define NOT_INITIALIZED PT_BTF_S_NOT_INITIALIZED
#define TERMINATED      PT_BTF_S_TERMINATED
#define ACTIVE          PT_BTF_S_ACTIVE
#define RUNNING         PT_BTF_S_RUNNING
#define READY           PT_BTF_S_READY
#define WAITING         PT_BTF_S_WAITING
#define POLLING         PT_BTF_S_POLLING
#define PARKING         PT_BTF_S_PARKING
#define SUSPENDED       PT_BTF_S_SUSPENDED
#define FREE            PT_BTF_S_FREE
#define USED            PT_BTF_S_USED
#define FULL            PT_BTF_S_FULL
#define OVERFULL        PT_BTF_S_OVERFULL

static const struct way {
    uint8_t machine, act, from, to, versions;
} ways[] = {
    { P, PT_BTF_ACTIVATE, TERMINATED, ACTIVE, PT_BTF_EACH },
    { P, PT_BTF_ACTIVATE, NOT_INITIALIZED, ACTIVE, PT_BTF_FIRST },
    { P, PT_BTF_START, ACTIVE, RUNNING, PT_BTF_EACH },
    { P, PT_BTF_PREEMPT, RUNNING, READY, PT_BTF_EACH },
    { P, PT_BTF_RESUME, READY, RUNNING, PT_BTF_EACH },
    { P, PT_BTF_TERMINATE, RUNNING, TERMINATED, PT_BTF_EACH },
    { P, PT_BTF_WAIT, RUNNING, WAITING, PT_BTF_EACH },
    { P, PT_BTF_RELEASE, WAITING, READY, PT_BTF_EACH },
    { P, PT_BTF_POLL, RUNNING, POLLING, PT_BTF_EACH },
    { P, PT_BTF_RUN, POLLING, RUNNING, PT_BTF_EACH },
    { P, PT_BTF_PARK, POLLING, PARKING, PT_BTF_EACH },
    { P, PT_BTF_POLL_PARKING, PARKING, POLLING, PT_BTF_EACH },
    { P, PT_BTF_RELEASE_PARKING, PARKING, READY, PT_BTF_EACH },
    { P, PT_BTF_MTALIMIT, TERMINATED, TERMINATED, PT_BTF_EACH },
    { P, PT_BTF_MTALIMIT, NOT_INITIALIZED, TERMINATED, PT_BTF_FIRST },
    { P, PT_BTF_INTERRUPT_SUSPENDED, ACTIVE, ACTIVE, PT_BTF_NEW },
    { R, PT_BTF_START, TERMINATED, RUNNING, PT_BTF_EACH },
    { R, PT_BTF_START, NOT_INITIALIZED, RUNNING, PT_BTF_FIRST },
    { R, PT_BTF_SUSPEND, RUNNING, SUSPENDED, PT_BTF_EACH },
    { R, PT_BTF_RESUME, SUSPENDED, RUNNING, PT_BTF_EACH },
    { R, PT_BTF_TERMINATE, RUNNING, TERMINATED, PT_BTF_EACH },
    { S, PT_BTF_READY, NOT_INITIALIZED, FREE, PT_BTF_FIRST },
    /* In the example of 2.1.5 it follows "ready". */
    { S, PT_BTF_FREE, FREE, FREE, PT_BTF_FIRST },
    { S, PT_BTF_USED, FREE, USED, PT_BTF_EACH },
    { S, PT_BTF_USED, USED, USED, PT_BTF_EACH },
    { S, PT_BTF_FREE, USED, FREE, PT_BTF_EACH },
    { S, PT_BTF_LOCK, FREE, FULL, PT_BTF_EACH },
    { S, PT_BTF_LOCK_USED, USED, FULL, PT_BTF_EACH },
    { S, PT_BTF_UNLOCK, FULL, FREE, PT_BTF_EACH },
    { S, PT_BTF_UNLOCK_FULL, FULL, USED, PT_BTF_EACH },
    { S, PT_BTF_OVERFULL, FULL, OVERFULL, PT_BTF_EACH },
    { S, PT_BTF_OVERFULL, OVERFULL, OVERFULL, PT_BTF_EACH },
    { S, PT_BTF_FULL, OVERFULL, FULL, PT_BTF_EACH },
};

enum { WAYS = sizeof ways / sizeof *ways };

const char *pt_btf_state_name(unsigned state)
{
    static const char *const names[] = { "",        "NOT INITIALIZED", "TERMINATED", "ACTIVE",
                                         "RUNNING", "READY",           "WAITING",    "POLLING",
                                         "PARKING", "SUSPENDED",       "FREE",       "USED",
                                         "FULL",    "OVERFULL" };

    return state < sizeof names / sizeof *names ? names[state] : "";
}

bool pt_btf_state_has(unsigned machine, unsigned act)
{
    for (unsigned i = 0; i < WAYS; i++)
        if (ways[i].machine == machine && ways[i].act == act)
            return true;
    return false;
}

unsigned pt_btf_state_after(unsigned machine, unsigned rules, unsigned state, unsigned act,
                            bool *allowed)
{
    const struct way *first = NULL;

    *allowed = state == PT_BTF_S_ANY;
    for (unsigned i = 0; i < WAYS; i++) {
        const struct way *w = &ways[i];

        if (w->machine != machine || w->act != act)
            continue;
        if (!first)
            first = w;
        if (w->from == state && (w->versions & rules)) {
            *allowed = true;
            return w->to;
        }
    }
    return first ? first->to : state;
}

void pt_btf_state_origins(unsigned machine, unsigned rules, unsigned act, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < WAYS && used < size; i++)
        if (ways[i].machine == machine && ways[i].act == act && (ways[i].versions & rules))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "",
                                     pt_btf_state_name(ways[i].from));
}
