/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Selecting events; see select.h.
 */
#include "print/select.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

void select_init(struct selection *s)
{
    memset(s, 0, sizeof *s);
    s->from_ns = INT64_MIN;
    s->to_ns = INT64_MAX;
}

void select_free(struct selection *s)
{
    free(s->pids);
    free(s->tids);
}

static int add_number(const char *option, const char *text, int32_t **list, size_t *count)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value > INT32_MAX)
        return tool_usage("option '--%s' needs a number from 0 to %d, found %s", option, INT32_MAX,
                          quote(text));
    *list = tool_grow(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = (int32_t)value;
    return EXIT_DONE;
}

int select_add_pid(struct selection *s, const char *number)
{
    return add_number("pid", number, &s->pids, &s->pid_count);
}

int select_add_tid(struct selection *s, const char *number)
{
    return add_number("tid", number, &s->tids, &s->tid_count);
}

static int set_moment(const char *option, const char *text, struct when *when)
{
    if (when_parse(text, when))
        return EXIT_DONE;
    return tool_usage("option '--%s': %s is no time; write nanoseconds since 1970, @SECONDS, "
                      "+1.5s (or ms, us, ns, min) or 2026-11-21T10:00:00.5Z",
                      option, quote(text));
}

int select_set_from(struct selection *s, const char *moment)
{
    return set_moment("from", moment, &s->from);
}

int select_set_to(struct selection *s, const char *moment)
{
    return set_moment("to", moment, &s->to);
}

int select_resolve(struct selection *s, int64_t first)
{
    if (s->from.kind != WHEN_NEVER)
        s->from_ns = when_resolve(&s->from, first);
    if (s->to.kind != WHEN_NEVER)
        s->to_ns = when_resolve(&s->to, first);
    if (s->from_ns > s->to_ns)
        return tool_usage("--from (%s) is later than --to (%s)", when_iso(s->from_ns),
                          when_iso(s->to_ns));
    return EXIT_DONE;
}

static bool contains(const int32_t *list, size_t count, int32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == value)
            return true;
    }
    return count == 0;
}

bool select_wants_other(const struct selection *s, const struct posixtrace_event *e)
{
    return contains(s->pids, s->pid_count, e->pid) && contains(s->tids, s->tid_count, e->tid);
}
