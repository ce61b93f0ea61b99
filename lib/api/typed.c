/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_*_describe, _event_description: descriptions of event types. */
#include <posixtrace/typed.h>
#include <stdlib.h>
#include <string.h>
#include "api/guard.h"
#include "api/sized.h"
#include "api/trace_names.h"
#include "control/control.h"
#include "model/layout.h"
#include "process/gates.h"

#define BIG_ENDIAN_MARK "be; "

static bool is_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Checks a description, and adds the byte order of the tracing machine if it is not the default of
 * readers. */
static int complete(const char *description, char text[PT_DESCRIPTION_MAX + 1])
{
    struct posixtrace_layout *layout;
    const char *mark;
    int r;

    if (!description)
        return -EINVAL;
    r = pt_layout_parse(description, &layout, NULL);
    if (r < 0)
        return r;
    mark = is_big_endian() && !layout->says_order ? BIG_ENDIAN_MARK : "";
    free(layout);
    if (strlen(mark) + strlen(description) > PT_DESCRIPTION_MAX)
        return -ENAMETOOLONG;
    stpcpy(stpcpy(text, mark), description);
    return 0;
}

int pt_event_describe(struct pt_names *names, uint32_t id, const char *description)
{
    char text[PT_DESCRIPTION_MAX + 1];
    int r = complete(description, text);

    if (r == 0 && id <= PT_ID_USER_FIRST)
        r = -EPERM;
    return r < 0 ? r : pt_names_describe(names, id, text);
}

PT_PUBLIC int posixtrace_event_describe(const char *event_name, const char *description,
                                        trace_event_id_t *event_id)
{
    struct pt_self *self;
    trace_event_id_t id;
    int r = pt_eventid_open(event_name, &id, &self);

    if (r == 0) {
        r = -pt_event_describe(self->names, id, description);
        pt_gates_named(self, id);
    }
    if (r == 0 && event_id)
        *event_id = id;
    return r;
}

PT_PUBLIC int posixtrace_trid_event_describe(trace_id_t trid, trace_event_id_t event,
                                             const char *description)
{
    struct pt_guard g;
    int r = -EINVAL;

    if (!pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    if (event < PT_ID_MAX && pt_names_get(g.s->names, event))
        r = pt_event_describe(g.s->names, event, description);
    return pt_guard_leave(&g, r);
}

int pt_event_description(trace_id_t trid, trace_event_id_t event, char *description)
{
    const char *text = NULL;
    struct pt_guard g;
    int r = -EINVAL;

    if (!pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return -EINVAL;
    pthread_mutex_lock(&g.s->reading);
    if (pt_stream_name(g.s, event)) {
        text = pt_stream_description(g.s, event);
        r = text ? 0 : -ENOENT;
    }
    if (text)
        pt_string_table_copy_out(description, text, PT_DESCRIPTION_MAX);
    pthread_mutex_unlock(&g.s->reading);
    return -pt_guard_leave(&g, r);
}

PT_PUBLIC int posixtrace_event_description(trace_id_t trid, trace_event_id_t event,
                                           char *description, size_t size)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    int r;

    if (!description || size == 0)
        return EINVAL;
    r = pt_event_description(trid, event, text);
    return r < 0 ? -r : -pt_sized_text(description, size, text);
}
