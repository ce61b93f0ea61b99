/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What describes the data of the events of a stream, found once for each type.  A log that
 * is followed is opened again when it has grown: then it is another stream.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include <posixtrace/event.h>
#include <posixtrace/format.h>

struct layouts {
    posixtrace_fields_t *fields; /* of the stream trid; NULL: not made yet */
    trace_id_t trid;
};

/* The layout of an event of that stream; NULL: nothing describes it. */
const posixtrace_layout_t *layouts_find(struct layouts *l, trace_id_t trid,
                                        const struct posixtrace_event *e);
void layouts_free(struct layouts *l);

#endif
