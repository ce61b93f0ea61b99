/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Options of a timeline: which event types are pairs, which fields are counters and flows.
 * A field's name has no dot, an event's may have: the last dot separates them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"

static struct pt_tl_option *next_option(struct pt_timeline *tl, const char *value)
{
    struct pt_tl_option *o = &tl->options[tl->option_count];

    if (tl->option_count == PT_TL_OPTIONS) {
        pt_job_fail(tl->job, EINVAL, "more than %d options pair, counter, flow and flow-end",
                    PT_TL_OPTIONS);
        return NULL;
    }
    o->text = strdup(value);
    o->event = strdup(value);
    tl->option_count++;
    if (o->text && o->event)
        return o;
    pt_job_fail(tl->job, ENOMEM, "no memory for option '%s'", value);
    return NULL;
}

static bool read_pair(struct pt_timeline *tl, const char *value)
{
    struct pt_tl_option *o = next_option(tl, value);
    char *comma;

    if (!o)
        return false;
    o->what = PT_TL_PAIR;
    o->label = o->event;
    comma = strchr(o->event, ',');
    if (comma) {
        *comma = '\0';
        o->field = comma + 1;
        comma = strchr(o->field, ',');
    }
    if (comma) {
        *comma = '\0';
        o->label = comma + 1;
    }
    if (o->field && *o->event && *o->field && *o->label && strcmp(o->event, o->field) != 0 &&
        !strchr(o->label, ','))
        return true;
    pt_job_fail(tl->job, EINVAL,
                "option pair=%s: say BEGIN,END or BEGIN,END,LABEL with two different events",
                value);
    return false;
}

static bool read_field(struct pt_timeline *tl, const char *name, int what, const char *value)
{
    struct pt_tl_option *o = next_option(tl, value);
    char *dot;

    if (!o)
        return false;
    o->what = what;
    dot = strrchr(o->event, '.');
    if (dot && dot != o->event && dot[1]) {
        *dot = '\0';
        o->field = dot + 1;
        return true;
    }
    pt_job_fail(tl->job, EINVAL, "option %s=%s: say EVENT.FIELD", name, value);
    return false;
}

bool pt_tl_options_read(struct pt_timeline *tl)
{
    static const struct {
        const char *name;
        int what;
    } of_fields[] = {
        { "counter", PT_TL_COUNTER },
        { "flow", PT_TL_FLOW },
        { "flow-end", PT_TL_FLOW_END },
    };
    const char *value = pt_job_option(tl->job, "pairs", 0);

    tl->by_name = !value || strcmp(value, "yes") == 0;
    if (value && !tl->by_name && strcmp(value, "no") != 0) {
        pt_job_fail(tl->job, EINVAL, "option pairs=%s: say yes or no", value);
        return false;
    }
    for (size_t n = 0; (value = pt_job_option(tl->job, "pair", n)); n++)
        if (!read_pair(tl, value))
            return false;
    for (size_t i = 0; i < sizeof of_fields / sizeof *of_fields; i++)
        for (size_t n = 0; (value = pt_job_option(tl->job, of_fields[i].name, n)); n++)
            if (!read_field(tl, of_fields[i].name, of_fields[i].what, value))
                return false;
    return true;
}

void pt_tl_options_free(struct pt_timeline *tl)
{
    for (unsigned i = 0; i < tl->option_count; i++) {
        free(tl->options[i].text);
        free(tl->options[i].event);
    }
}

void pt_tl_options_unmet(struct pt_timeline *tl)
{
    static const char *const names[] = { "pair", "counter", "flow", "flow-end" };

    for (unsigned i = 0; i < tl->option_count; i++) {
        const struct pt_tl_option *o = &tl->options[i];

        if (!o->used)
            pt_job_note(tl->job, PT_TL_NOTE_OPTION, "option %s=%s: no event of that %s",
                        names[o->what], o->text,
                        o->what == PT_TL_PAIR ? "name" : "name with a field that fits");
    }
}
