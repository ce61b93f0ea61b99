/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The vocabulary of BTF, from the specifications 2.1.5 and 2.3.0 and, without a
 * version, from files that are about.  An action whose rule has changed has a row for
 * each rule.
 */
#include <string.h>
#include "analysis/format/btf/btf.h"

#define STI   PT_BTF_BIT(PT_BTF_STI)
#define T     PT_BTF_BIT(PT_BTF_T)
#define ISR   PT_BTF_BIT(PT_BTF_I)
#define P     PT_BTF_PROCESS
#define R     PT_BTF_BIT(PT_BTF_R)
#define CORE  PT_BTF_BIT(PT_BTF_C)
#define SCHED PT_BTF_BIT(PT_BTF_SCHED)
#define SIG   PT_BTF_BIT(PT_BTF_SIG)
#define SEM   PT_BTF_BIT(PT_BTF_SEM)
#define EVENT PT_BTF_BIT(PT_BTF_EVENT)
#define SIM   PT_BTF_BIT(PT_BTF_SIM)
#define SYS   PT_BTF_BIT(PT_BTF_SYS)
#define ANY   PT_BTF_ANY
#define EACH  PT_BTF_EACH
#define OLD   PT_BTF_OLD
#define FIRST PT_BTF_FIRST
#define NEW   PT_BTF_NEW

const struct pt_btf_action pt_btf_actions[] = {
    { "start", P, PT_BTF_START, EACH, CORE },
    { "preempt", P, PT_BTF_PREEMPT, EACH, CORE },
    { "resume", P, PT_BTF_RESUME, EACH, CORE },
    { "terminate", P, PT_BTF_TERMINATE, EACH, CORE },
    { "activate", P, PT_BTF_ACTIVATE, PT_BTF_21 | NEW, STI },
    { "activate", P, PT_BTF_ACTIVATE, OLD, STI | P },
    { "wait", P, PT_BTF_WAIT, EACH, CORE },
    { "release", P, PT_BTF_RELEASE, EACH, CORE },
    { "poll", P, PT_BTF_POLL, EACH, CORE },
    { "run", P, PT_BTF_RUN, EACH, CORE },
    { "park", P, PT_BTF_PARK, EACH, CORE },
    { "poll_parking", P, PT_BTF_POLL_PARKING, EACH, CORE },
    { "release_parking", P, PT_BTF_RELEASE_PARKING, EACH, CORE },
    { "mtalimitexceeded", P, PT_BTF_MTALIMIT, NEW, STI },
    { "mtalimitexceeded", P, PT_BTF_MTALIMIT, FIRST, STI | CORE },
    { "interrupt_suspended", ISR, PT_BTF_INTERRUPT_SUSPENDED, NEW, SCHED },
    { "boundedmigration", P, PT_BTF_MIGRATION, FIRST, CORE },
    { "phasemigration", P, PT_BTF_MIGRATION, FIRST, CORE },
    { "fullmigration", P, PT_BTF_MIGRATION, FIRST, CORE },
    { "enforcedmigration", P, PT_BTF_MIGRATION, FIRST, CORE },
    { "start", R, PT_BTF_START, EACH, P },
    { "terminate", R, PT_BTF_TERMINATE, EACH, P },
    { "suspend", R, PT_BTF_SUSPEND, EACH, P },
    { "resume", R, PT_BTF_RESUME, EACH, P },
    { "trigger", STI, PT_BTF_TRIGGER, NEW, STI | P | SIM },
    { "trigger", STI, PT_BTF_TRIGGER, FIRST, SIM | P },
    { "schedule", SCHED, PT_BTF_NO_ACT, EACH, SCHED },
    { "schedulepoint", SCHED, PT_BTF_SCHEDULEPOINT, NEW, T },
    { "schedulepoint", SCHED, PT_BTF_SCHEDULEPOINT, FIRST, P },
    { "processactivate", SCHED, PT_BTF_NO_ACT, FIRST, P },
    { "processpolling", SCHED, PT_BTF_NO_ACT, FIRST, P },
    { "processterminate", SCHED, PT_BTF_NO_ACT, FIRST, P },
    { "finalize", SCHED, PT_BTF_NO_ACT, FIRST, SCHED },
    { "wait_event", EVENT, PT_BTF_EVENT_USE, NEW, T },
    { "wait_event", EVENT, PT_BTF_EVENT_USE, FIRST, P },
    { "clear_event", EVENT, PT_BTF_EVENT_USE, NEW, T },
    { "clear_event", EVENT, PT_BTF_EVENT_USE, FIRST, P },
    { "set_event", EVENT, PT_BTF_SET_EVENT, NEW, P | STI },
    { "set_event", EVENT, PT_BTF_SET_EVENT, FIRST, P },
    { "read", SIG, PT_BTF_READ, NEW, P },
    { "read", SIG, PT_BTF_READ, FIRST, P | SIG },
    { "write", SIG, PT_BTF_WRITE, EACH, P | STI },
    { "requestsemaphore", SEM, PT_BTF_REQUEST, EACH, P },
    { "increment", SEM, PT_BTF_INCREMENT, EACH, P },
    { "decrement", SEM, PT_BTF_DECREMENT, EACH, P },
    { "queued", SEM, PT_BTF_QUEUED, NEW, P },
    { "queued", SEM, PT_BTF_QUEUED, FIRST, P | SEM },
    { "assigned", SEM, PT_BTF_ASSIGNED, EACH, P },
    { "waiting", SEM, PT_BTF_WAITING, EACH, P },
    { "released", SEM, PT_BTF_RELEASED, EACH, P },
    { "exclusivesemaphore", SEM, PT_BTF_REQUEST, FIRST, P },
    { "releasesemaphore", SEM, PT_BTF_NO_ACT, FIRST, P },
    { "ready", SEM, PT_BTF_READY, FIRST, SEM },
    { "finalize", SEM, PT_BTF_NO_ACT, FIRST, SEM },
    { "trigger", SEM, PT_BTF_NO_ACT, FIRST, SEM },
    { "free", SEM, PT_BTF_FREE, EACH, SEM },
    { "used", SEM, PT_BTF_USED, EACH, SEM },
    { "lock", SEM, PT_BTF_LOCK, EACH, SEM },
    { "lock_used", SEM, PT_BTF_LOCK_USED, EACH, SEM },
    { "full", SEM, PT_BTF_FULL, EACH, SEM },
    { "overfull", SEM, PT_BTF_OVERFULL, EACH, SEM },
    { "unlock", SEM, PT_BTF_UNLOCK, EACH, SEM },
    { "unlock_full", SEM, PT_BTF_UNLOCK_FULL, EACH, SEM },
    { "finalize", SIM, PT_BTF_NO_ACT, FIRST, SIM },
    { "error", SIM, PT_BTF_NO_ACT, FIRST, SIM },
    { "tag", SIM, PT_BTF_NO_ACT, FIRST, ANY },
    { "description", SIM, PT_BTF_NO_ACT, FIRST, ANY },
    { "start", SYS, PT_BTF_NO_ACT, FIRST, SIM },
    { "stop", SYS, PT_BTF_NO_ACT, FIRST, SIM },
    { "execute", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "idle", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "idle_execution", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "execute_idle", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "execute_waiting", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "wait_postexecution", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "lock", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "unlock", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "set_frequence", CORE, PT_BTF_NO_ACT, 0, ANY },
    { "set_frequency", CORE, PT_BTF_NO_ACT, 0, ANY },
    { NULL, 0, 0, 0, 0 }
};

_Static_assert(sizeof pt_btf_actions / sizeof *pt_btf_actions <= PT_BTF_ACTIONS_MAX,
               "users have a table of as many");

static const char *const type_names[PT_BTF_TYPES] = { "STI", "T",         "I",     "R",   "IB",
                                                      "ECU", "Processor", "C",     "M",   "SCHED",
                                                      "SIG", "SEM",       "EVENT", "SIM", "SYS" };

const char *pt_btf_type_name(unsigned type)
{
    return type < PT_BTF_TYPES ? type_names[type] : "?";
}

unsigned pt_btf_type_find(const char *name)
{
    static const struct {
        const char *name;
        unsigned type;
    } others[] = {
        { "ISR", PT_BTF_I },
        { "Core", PT_BTF_C },
        { "P", PT_BTF_PROCESSOR },
    };

    for (unsigned i = 0; i < PT_BTF_TYPES; i++)
        if (strcmp(name, type_names[i]) == 0)
            return i;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].type;
    return PT_BTF_TYPES;
}

bool pt_btf_type_is_in(unsigned type, unsigned version)
{
    unsigned left = STI | P | R | SCHED | SIG | SEM | EVENT;

    return type < PT_BTF_TYPES && ((version & FIRST) || (left & PT_BTF_BIT(type)));
}

const struct pt_btf_action *pt_btf_action_find(unsigned type, const char *name, unsigned version)
{
    const struct pt_btf_action *a = pt_btf_actions;

    if (type >= PT_BTF_TYPES)
        return NULL;
    for (; a->name; a++)
        if ((a->types & PT_BTF_BIT(type)) && *a->name == *name && strcmp(a->name, name) == 0 &&
            (version == 0 || (a->versions & version)))
            return a;
    return NULL;
}

/* The numbers of "2.1.5"; those that are missing are 0.  False: no version. */
static bool take_numbers(const char *text, unsigned number[3])
{
    number[0] = number[1] = number[2] = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (*text < '0' || *text > '9')
            return false;
        while (*text >= '0' && *text <= '9' && number[i] < 1000)
            number[i] = number[i] * 10 + (unsigned)(*text++ - '0');
        if (*text != '.')
            break;
        text++;
    }
    return *text == '\0';
}

unsigned pt_btf_rules(const char *version, bool *known)
{
    unsigned n[3];

    *known = take_numbers(version, n) && n[0] >= 1 && n[0] <= 2 && (n[0] == 1 || n[1] <= 3);
    if (!*known)
        return PT_BTF_23;
    if (n[0] == 1 || n[1] == 0 || (n[1] == 1 && n[2] < 4))
        return PT_BTF_OLD;
    return n[1] == 1 ? PT_BTF_21 : n[1] == 2 ? PT_BTF_22 : PT_BTF_23;
}

const char *pt_btf_rules_name(unsigned rules)
{
    return rules == PT_BTF_OLD  ? "before 2.1.4"
           : rules == PT_BTF_21 ? "2.1.5"
           : rules == PT_BTF_22 ? "2.2.1"
                                : "2.3.0";
}
