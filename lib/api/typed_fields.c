/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The layouts of a stream's types.  A type without a description may get one while a
 * stream or a growing log is read: it is asked for again at its second, fourth, eighth
 * ... event, so that types that never get one cost nearly nothing.
 */
#include <errno.h>
#include <posixtrace/typed.h>
#include <stdlib.h>
#include "api/trace_names.h"
#include "base/atomics.h"
#include "model/layout.h"

#define IDS 4096u /* beyond every id that a stream can have */

struct entry {
    posixtrace_layout_t *layout;
    uint32_t asked, next; /* calls that found none, and the one that looks again */
};

struct posixtrace_fields {
    trace_id_t trid;
    struct entry entry[IDS];
};

PT_PUBLIC int posixtrace_fields_create(trace_id_t trid, posixtrace_fields_t **fields)
{
    posixtrace_fields_t *f = fields ? calloc(1, sizeof *f) : NULL;

    if (!f)
        return fields ? ENOMEM : EINVAL;
    f->trid = trid;
    *fields = f;
    return 0;
}

PT_PUBLIC void posixtrace_fields_free(posixtrace_fields_t *fields)
{
    if (!fields)
        return;
    for (size_t i = 0; i < IDS; i++)
        free(fields->entry[i].layout);
    free(fields);
}

/* A text that this version does not understand will not be understood later. */
static void look(posixtrace_fields_t *f, trace_event_id_t event, struct entry *e)
{
    char text[POSIXTRACE_DESCRIPTION_MAX + 1];
    int error = pt_event_description(f->trid, event, text);

    if (!error && pt_layout_read(text, &e->layout) == -EINVAL)
        e->next = UINT32_MAX;
    else
        e->next = e->next ? 2 * e->next : 1;
}

PT_PUBLIC const posixtrace_layout_t *posixtrace_fields_layout(posixtrace_fields_t *f,
                                                              trace_event_id_t event)
{
    struct entry *e = event < IDS ? &f->entry[event] : NULL;

    if (!e || e->layout)
        return e ? e->layout : NULL;
    if (e->asked++ == e->next && e->next < UINT32_MAX / 2)
        look(f, event, e);
    return e->layout;
}
