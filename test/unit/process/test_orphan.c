/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A child that calls the library for the first time after its parent has ended, as a daemon
 * does.  The parent's page was the last that named the map of the family; the child's ids are
 * of that map, and its own page, its streams and the images that it starts need a file of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "page/page_left.h"
#include "place/dir.h"
#include "process/self.h"
#include "stream/handle.h"
#include "support/need.h"

enum { HANG_S = 60 };

static int to_child[2], to_parent[2], to_test[2];

static void wait_on(const int pipe_ends[2])
{
    char c;

    NEED(read(pipe_ends[0], &c, 1) == 1);
}

static void let_go(const int pipe_ends[2])
{
    NEED(write(pipe_ends[1], "", 1) == 1);
}

/* The page names a map that can be opened, and in which a name has that id. */
static void check_names(const struct pt_self *self, const char *name, trace_event_id_t id)
{
    struct pt_names *names;
    uint32_t there;

    NEED(pt_names_open(&names, self->page->names_file) == 0);
    NEED(strcmp(self->page->names_file, self->names_file) == 0);
    NEED(pt_names_id(names, name, false, &there) == 0 && there == id);
    NEED(pt_page_is_counted(self->page) && pt_names_is_used(names->users));
    pt_names_unmap(names);
}

/* Of a stream of its own: the segment has a link to the names. */
static void check_own_stream(void)
{
    struct pt_stream *s;
    struct pt_names *names;
    trace_id_t trid;

    NEED(posix_trace_create(0, NULL, &trid) == 0);
    s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    NEED(s && s->seg->h->names_file[0]);
    NEED(pt_names_open(&names, s->seg->h->names_file) == 0);
    pt_names_unmap(names);
    pt_handle_put(s);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void live_as_child(trace_event_id_t known)
{
    trace_event_id_t again, fresh;
    uint64_t value = 1;

    wait_on(to_child);
    posix_trace_event(known, &value, sizeof value);
    NEED(posix_trace_eventid_open("known", &again) == 0 && again == known);
    NEED(posix_trace_eventid_open("of the child", &fresh) == 0 && fresh != known);
    posix_trace_event(fresh, &value, sizeof value);
    check_names(pt_self_get(), "known", known);
    check_names(pt_self_get(), "of the child", fresh);
    check_own_stream();
    let_go(to_test);
    exit(0);
}

/* Ends by exit(), which takes its page away, or by _exit(): then another one does. */
static void live_as_parent(bool traced, bool by_exit)
{
    trace_event_id_t known;
    pid_t child;

    alarm(HANG_S);
    NEED(posix_trace_eventid_open("known", &known) == 0);
    if (traced) {
        let_go(to_test);
        wait_on(to_parent);
        posix_trace_event(known, NULL, 0);
    }
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        alarm(HANG_S);
        live_as_child(known);
    }
    if (by_exit)
        exit(0);
    _exit(0);
}

static unsigned count(trace_id_t trid, const char *name)
{
    struct posix_trace_event_info event;
    char is[TRACE_EVENT_NAME_MAX + 1];
    unsigned n = 0;
    int unavailable;
    uint64_t data;
    size_t length;

    for (;;) {
        NEED(posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length,
                                          &unavailable) == 0);
        if (unavailable)
            return n;
        NEED(posix_trace_eventid_get_name(trid, event.posix_event_id, is) == 0);
        n += strcmp(is, name) == 0;
    }
}

static trace_id_t stream_of(pid_t pid)
{
    trace_attr_t attr;
    trace_id_t trid;

    wait_on(to_test);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(pid, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    let_go(to_parent);
    return trid;
}

static void run(bool traced, bool by_exit)
{
    pid_t parent = fork();
    trace_id_t trid = 0;
    int status;

    NEED(parent >= 0);
    if (parent == 0)
        live_as_parent(traced, by_exit);
    if (traced)
        trid = stream_of(parent);
    NEED(waitpid(parent, &status, 0) == parent && status == 0);
    let_go(to_child);
    wait_on(to_test);
    if (traced) {
        NEED(count(trid, "of the child") == 1);
        NEED(posix_trace_shutdown(trid) == 0);
    }
}

int main(void)
{
    alarm(HANG_S);
    NEED(pipe(to_child) == 0 && pipe(to_parent) == 0 && pipe(to_test) == 0);
    run(false, true);
    run(false, false);
    run(true, true);
    run(true, false);
    return 0;
}
