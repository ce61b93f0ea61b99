/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A context switch, or how long a thread has run, as an event of the stream. */
#ifndef PT_FLUSH_SWITCH_EVENT_H
#define PT_FLUSH_SWITCH_EVENT_H

#include "flush/switches.h"
#include "process/gates.h"
#include "shm/layout.h"

uint32_t pt_switch_event(const struct pt_switch *s);
uint32_t pt_switch_length(const struct pt_switch *s);
/* In s, or in *t. */
const void *pt_switch_data(const struct pt_switch *s, struct pt_cpu_time *t);

/* Layouts of the data, by kind, for a filter that uses fields. */
struct pt_switch_layouts {
    struct posixtrace_layout *of[PT_SWITCH_ENDED + 1];
};
void pt_switch_layouts_free(struct pt_switch_layouts *layouts);

/* Does the stream's filter let it pass? */
bool pt_switch_is_wanted(struct pt_switch_layouts *layouts, const struct pt_gates *gates,
                         const struct pt_author *author, const struct pt_switch *s);

#endif
