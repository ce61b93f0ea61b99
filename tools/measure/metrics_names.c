/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_names.h.
 */
#include "measure/metrics_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/tool.h"

static void say_wrong(const posixtrace_metric_t *metric, const char *event,
                      void (*say)(void *, const char *), void *context)
{
    const char *near = strncmp(event, "posixtrace_", 11) == 0
                           ? options_nearest(event, metrics_system_names())
                           : NULL;
    char sentence[1024], *name = quote_copy(posixtrace_metric_name(metric));

    snprintf(sentence, sizeof sentence, "metric %s: metrics get no system event %s%s%s%s", name,
             quote(event), near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(name);
    say(context, sentence);
}

unsigned metrics_names_check(const posixtrace_metric_t *metric,
                             void (*say)(void *context, const char *sentence), void *context)
{
    const char *event;
    unsigned count = 0;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, NULL)) != NULL; i++) {
        if (!metrics_name_is_wrong(event))
            continue;
        say_wrong(metric, event, say, context);
        count++;
    }
    return count;
}
