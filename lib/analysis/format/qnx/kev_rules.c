/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The numbers of thread states, by the release in the header, and by options of the import.  The
 * log keeps these, so that its export has the same meaning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/qnx/kev.h"

static const char release_name[] = PT_KEV_ATTRIBUTE "_RELEASE";

const char *pt_kev_attribute(const char *at, size_t bytes, const char *name)
{
    const char *end = at + bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (strcmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

static bool is_name(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

    return n > 0 && n < 24 && !text[n] && (*text < '0' || *text > '9');
}

static void state_name(char name[40], unsigned number)
{
    snprintf(name, 40, PT_KEV_ATTRIBUTE "_STATE_%u", number);
}

/* Of "6.6.0", "8.0.0": only from 8 on states have other numbers. */
void pt_kev_rules_take(struct pt_kev_rules *rules, const char *attributes, size_t bytes)
{
    const char *release = pt_kev_attribute(attributes, bytes, release_name);
    char name[40];

    if (!release)
        release = pt_kev_attribute(attributes, bytes, "SYS_RELEASE");
    rules->release8 = release && *release >= '1' && *release <= '9' && atoi(release) >= 8;
    for (unsigned i = 0; i < PT_KEV_PROCESS; i++) {
        const char *state;

        state_name(name, i);
        state = pt_kev_attribute(attributes, bytes, name);
        if (!state || !is_name(state))
            continue;
        strcpy(rules->state[i], state);
        rules->named = true;
    }
}

static bool take_state(struct pt_job *job, const char *text,
                       bool (*put)(void *context, const char *name, const char *value),
                       void *context)
{
    char *end, name[40];
    unsigned long number = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '=' || number > 63 || !is_name(end + 1)) {
        pt_job_fail(job, EINVAL,
                    "--state=%.60s: a number to 63, '=' and a name of letters, digits "
                    "and '_' are expected, as in 1=RUNNING",
                    text);
        return false;
    }
    state_name(name, (unsigned)number);
    return put(context, name, end + 1);
}

bool pt_kev_rules_options(struct pt_job *job,
                          bool (*put)(void *context, const char *name, const char *value),
                          void *context)
{
    const char *release = pt_job_option(job, "release", 0), *text;

    if (release && ((*release != '6' && *release != '7' && *release != '8') || release[1])) {
        pt_job_fail(job, EINVAL, "--release=%.60s: 6, 7 or 8 is expected", release);
        return false;
    }
    for (size_t i = 0; (text = pt_job_option(job, "state", i)); i++)
        if (!take_state(job, text, put, context))
            return false;
    return !release || put(context, release_name, release);
}
