/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The common part of the tests of QNX's interface: its state at the start, and the events read. */
#ifndef FORMAT_QNX_SCENE_H
#define FORMAT_QNX_SCENE_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <posixtrace/event.h>
#include <posixtrace/format.h>
#include <posixtrace/qnx.h>
#include "support/run_suite.h"

#define FAILS(call, number)                \
    do {                                   \
        errno = 0;                         \
        ck_assert_int_eq((call), -1);      \
        ck_assert_int_eq(errno, (number)); \
    } while (0)
#define WORKS(call) ck_assert_int_eq((call), 0)

/* All wanted, fast, no filter of a class, no stream: where tests do not fork. */
static inline void reset(void)
{
    TraceEvent(_NTO_TRACE_STOP);
    TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
    WORKS(TraceEvent(_NTO_TRACE_SETLINEARMODE));
    WORKS(TraceEvent(_NTO_TRACE_ADDALLCLASSES));
    WORKS(TraceEvent(_NTO_TRACE_SETALLCLASSESFAST));
    for (unsigned c = _NTO_TRACE_CONTROL; c <= _NTO_TRACE_PMU; c++) {
        WORKS(TraceEvent(_NTO_TRACE_CLRCLASSPID, c));
        WORKS(TraceEvent(_NTO_TRACE_CLRCLASSTID, c));
        WORKS(TraceEvent(_NTO_TRACE_DELCLASSEVHANDLER, c));
    }
}

static inline trace_id_t start(void)
{
    trace_id_t trid;

    reset();
    WORKS(TraceEvent(_NTO_TRACE_STARTNOSTATE));
    WORKS(posixtrace_qnx_stream(&trid));
    return trid;
}

/* The longest text of an event, and its end. */
enum { QNX_TEXT = 9000 };

/* The next event that is not of the system, as "name fields"; "" if there is none. */
static inline const char *next(trace_id_t trid)
{
    static char text[QNX_TEXT];
    posixtrace_fields_t *fields;
    const posixtrace_layout_t *layout;
    struct posixtrace_event e;
    const char *from;
    int none = 0;
    size_t len;

    do {
        WORKS(posixtrace_next_event(trid, &e, sizeof e, &none));
        if (none)
            return "";
    } while (e.id < POSIX_TRACE_UNNAMED_USEREVENT);
    WORKS(posixtrace_fields_create(trid, &fields));
    layout = posixtrace_fields_layout(fields, e.id);
    ck_assert_msg(layout, "%s has no description", e.name);
    len = (size_t)snprintf(text, sizeof text, "%s ", e.name);
    ck_assert_msg(posixtrace_layout_text(layout, e.data, e.data_len, text + len, sizeof text - len),
                  "%s is not as described", e.name);
    posixtrace_fields_free(fields);
    /* The processor is any, the flags are none. */
    from = strstr(text + len, " flags=0x0 ");
    ck_assert_msg(strncmp(text + len, "cpu=", 4) == 0 && from, "%s", text);
    memmove(text + len, from + 11, strlen(from + 11) + 1);
    return text;
}

#endif
