/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See switch_event.h. */
#include <posixtrace/system.h>
#include <stdlib.h>
#include "flush/switch_event.h"
#include "model/layout.h"

uint32_t pt_switch_event(const struct pt_switch *s)
{
    static const uint32_t ids[] = { [PT_SWITCH_IN] = POSIXTRACE_SWITCH_IN,
                                    [PT_SWITCH_OUT] = POSIXTRACE_SWITCH_OUT,
                                    [PT_SWITCH_PREEMPTED] = POSIXTRACE_SWITCH_PREEMPTED,
                                    [PT_SWITCH_TIME] = POSIXTRACE_CPU_TIME,
                                    [PT_SWITCH_ENDED] = POSIXTRACE_SWITCH_OUT };

    return ids[s->what];
}

uint32_t pt_switch_length(const struct pt_switch *s)
{
    return s->what == PT_SWITCH_TIME ? sizeof(struct pt_cpu_time) : sizeof s->value;
}

const void *pt_switch_data(const struct pt_switch *s, struct pt_cpu_time *t)
{
    *t = (struct pt_cpu_time){ s->run_ns, s->value };
    return s->what == PT_SWITCH_TIME ? (const void *)t : &s->value;
}

void pt_switch_layouts_free(struct pt_switch_layouts *layouts)
{
    for (size_t i = 0; i < sizeof layouts->of / sizeof *layouts->of; i++)
        free(layouts->of[i]);
}

/* NULL: no memory for it yet. */
static const struct posixtrace_layout *layout_of(struct pt_switch_layouts *layouts,
                                                 const struct pt_switch *s)
{
    const char *text = pt_event_system_description(pt_switch_event(s));

    if (!layouts->of[s->what] && text)
        pt_layout_parse(text, &layouts->of[s->what], NULL);
    return layouts->of[s->what];
}

bool pt_switch_is_wanted(struct pt_switch_layouts *layouts, const struct pt_gates *gates,
                         const struct pt_author *author, const struct pt_switch *s)
{
    uint32_t id = pt_switch_event(s);
    struct pt_cpu_time time;
    struct posixtrace_event event = {
        .thread_id = author->thread_id,
        .data = pt_switch_data(s, &time),
        .data_len = pt_switch_length(s),
        .thread_name = author->name,
        .name = pt_event_system_name(id),
        .id = id,
        .pid = author->pid,
        .tid = author->tid,
    };
    struct pt_subject_event subject = { .name = event.name, .event = &event };

    if (pt_set_has(&gates->filter, id))
        return false;
    if (!gates->expression)
        return true;
    subject.layout = layout_of(layouts, s);
    return pt_expression_value(gates->expression, &subject) == 1;
}
