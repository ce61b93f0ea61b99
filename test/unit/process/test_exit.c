/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A traced child whose exit handler comes after that of the library: while it waits, the
 * parent starts the stream, which is to reach the child.  Afterwards its page has gone.  While a
 * destructor runs after that of the library, the parent controls the stream as before.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "place/dir.h"
#include "process/self.h"
#include "support/need.h"

enum { HANG_S = 60 };

static int to_child[2], to_parent[2];
static trace_event_id_t late;
static bool is_child;

static void exit_late(void)
{
    char c;

    if (!is_child)
        return;
    NEED(write(to_parent[1], "", 1) == 1);
    NEED(read(to_child[0], &c, 1) == 1);
    posix_trace_event(late, NULL, 0);
}

/* After the library's destructor: smaller priorities come later. */
__attribute__((destructor(101))) static void destroy_late(void)
{
    char c;

    if (!is_child)
        return;
    NEED(write(to_parent[1], "", 1) == 1);
    NEED(read(to_child[0], &c, 1) == 1);
}

static void run_child(void)
{
    struct pt_self *self;
    char file[64];

    is_child = true;
    alarm(HANG_S);
    posix_trace_event(late, NULL, 0); /* the stream has not started */
    NEED(pt_self_make(&self) == 0 && self->page_file[0]);
    memcpy(file, self->page_file, sizeof file);
    NEED(write(to_parent[1], file, sizeof file) == (ssize_t)sizeof file);
    exit(0);
}

static unsigned count(trace_id_t trid, trace_event_id_t id)
{
    struct posix_trace_event_info info;
    int unavailable = 0;
    unsigned n = 0;
    size_t len;

    for (;;) {
        NEED(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable) == 0);
        if (unavailable)
            return n;
        n += info.posix_event_id == id;
    }
}

static void control_without_page(trace_id_t trid, const char *file)
{
    trace_event_set_t set;
    int dir = pt_dir_open(false);

    NEED(dir >= 0 && faccessat(dir, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0);
    close(dir);
    NEED(posix_trace_eventset_empty(&set) == 0);
    NEED(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) == 0);
    NEED(posix_trace_stop(trid) == 0);
    NEED(posix_trace_start(trid) == 0);
}

static void run(trace_id_t trid)
{
    char file[64], c;
    int status;
    pid_t child = fork();

    NEED(child >= 0);
    if (child == 0)
        run_child();
    NEED(read(to_parent[0], file, sizeof file) == (ssize_t)sizeof file);
    NEED(read(to_parent[0], &c, 1) == 1);
    NEED(posix_trace_start(trid) == 0);
    NEED(write(to_child[1], "", 1) == 1);
    NEED(read(to_parent[0], &c, 1) == 1);
    control_without_page(trid, file);
    NEED(write(to_child[1], "", 1) == 1);
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(count(trid, late) == 1);
}

int main(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    alarm(HANG_S);
    NEED(pipe(to_child) == 0 && pipe(to_parent) == 0);
    NEED(atexit(exit_late) == 0); /* before the library has registered its own */
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_eventid_open("late", &late) == 0);
    run(trid);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}
