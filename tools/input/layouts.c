/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See layouts.h. */
#include "input/layouts.h"

const posixtrace_layout_t *layouts_find(struct layouts *l, trace_id_t trid,
                                        const struct posixtrace_event *e)
{
    if (!l->fields || l->trid != trid) {
        layouts_free(l);
        if (posixtrace_fields_create(trid, &l->fields) != 0)
            return NULL;
        l->trid = trid;
    }
    return posixtrace_fields_layout(l->fields, e->id);
}

void layouts_free(struct layouts *l)
{
    posixtrace_fields_free(l->fields);
    l->fields = NULL;
}
