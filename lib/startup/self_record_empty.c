/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self_record_empty.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "control/info.h"
#include "startup/self_record_empty.h"
#include "startup/self_record_error.h"
#include "stream/handle.h"

enum { NAMED = 5, LIST_BYTES = 5 * TRACE_EVENT_NAME_MAX };

/* Written once, before the handler is registered. */
static struct {
    const char *log;
    trace_id_t trid;
    pid_t pid;
} recording;

/* Without memory: true, so that no warning is written. */
static bool has_events(struct pt_stream *s)
{
    struct posixtrace_thread_info t;
    int r;

    pt_stream_rewind_threads(s);
    while ((r = pt_stream_next_thread(s, &t)) == 1) {
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            t.recorded += t.lost[c];
        if (t.recorded > 0)
            return true;
    }
    return r < 0;
}

/* "; event types: 'a', 'b'", or nothing. */
static void list_types(const struct pt_names *names, char list[LIST_BYTES])
{
    char *to = list, *end = list + LIST_BYTES;
    unsigned count = 0;

    *list = '\0';
    for (uint32_t id = PT_ID_NAMED_FIRST; id < pt_names_end(names) && count <= NAMED; id++) {
        const char *name = pt_names_get(names, id);

        if (!name || to >= end)
            continue;
        if (++count > NAMED)
            to += snprintf(to, (size_t)(end - to), ", ...");
        else
            to += snprintf(to, (size_t)(end - to), "%s'%.60s'",
                           count == 1 ? "; event types: " : ", ", name);
    }
}

static void leave_note(const struct pt_stream *s)
{
    char list[LIST_BYTES], *line;

    list_types(s->names, list);
    if (asprintf(&line,
                 "nothing of process %d (%s) is recorded: no event matches "
                 "POSIXTRACE_RECORD_FILTER%s\n",
                 (int)getpid(), program_invocation_short_name, list) < 0)
        return;
    pt_record_error_leave(recording.log, line, line);
    free(line);
}

static void at_exit(void)
{
    int saved = errno, cancel;
    struct pt_stream *s;

    if (recording.pid != getpid())
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    s = pt_handle_get(recording.trid, PT_STREAM_LOGGED);
    if (s && !has_events(s))
        leave_note(s);
    if (s)
        pt_handle_put(s);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

void pt_self_empty_begin(trace_id_t trid, const char *log)
{
    recording.trid = trid;
    recording.log = log;
    recording.pid = getpid();
    atexit(at_exit); /* without memory for it no reason is left */
}
