/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See follow.h.
 *
 * A log that grows.  What a reader has opened is the log up to its last round
 * then; so it is opened again when the file has changed, and what was given before
 * is passed over: everything older than the last event, and as many of its very
 * time as were given.  inotify tells of changes.  Whether the writer lives is
 * looked up in the list of streams, by the id that log and stream share; after it
 * has gone, the log is read once more.
 */
#include "follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/attach.h>

#include "stream_find.h"
#include "tool.h"

enum { WAIT_MS = 1000, NO_WATCH_MS = 250 };

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int signal)
{
    (void)signal;
    asked_to_end = 1;
}

/* Waiting calls return when one comes. */
static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = ask_to_end };

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- logs ---- */

static int find_id(void *context, const struct posixtrace_stream *s)
{
    const struct follow *f = context;

    return s->liveness != POSIXTRACE_DEAD && memcmp(s->id, f->id, sizeof f->id) == 0;
}

static bool is_written(struct follow *f)
{
    return posixtrace_stream_list(find_id, f) == 1;
}

static int open_log(struct follow *f, const char *path)
{
    int status;

    f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (f->watch >= 0 && inotify_add_watch(f->watch, path, IN_MODIFY | IN_CLOSE_WRITE) < 0) {
        close(f->watch);
        f->watch = -1;
    }
    status = log_file_open(&f->log, path);
    if (status == EXIT_DONE) {
        memcpy(f->id, f->log.info.id, sizeof f->id);
        f->alive = f->log.info.end == POSIXTRACE_END_ACTIVE;
    }
    return status;
}

/* An error number. */
static int open_again(struct follow *f)
{
    trace_id_t trid;
    int error = posix_trace_open(f->log.fd, &trid);

    if (error != 0)
        return error;
    posix_trace_close(f->log.trid);
    f->log.trid = trid;
    if (f->last_ns == INT64_MIN)
        return 0;
    f->to_skip = f->at_last;
    return posixtrace_seek(trid, f->last_ns);
}

static bool was_given(struct follow *f, const struct posixtrace_event *e)
{
    if (f->last_ns == INT64_MIN || e->ns > f->last_ns)
        return false;
    if (e->ns < f->last_ns)
        return true;
    return f->to_skip > 0 && f->to_skip-- > 0;
}

static void note_given(struct follow *f, const struct posixtrace_event *e)
{
    if (e->ns != f->last_ns)
        f->at_last = 0;
    f->last_ns = e->ns;
    f->at_last++;
    f->to_skip = 0;
}

/* ---- both ---- */

int follow_open(struct follow *f, const char *word)
{
    struct stat st;
    int status;

    memset(f, 0, sizeof *f);
    f->watch = -1;
    f->last_ns = INT64_MIN;
    if (stat(word, &st) == 0) {
        status = open_log(f, word);
    } else {
        f->is_stream = true;
        status = stream_attach(word, &f->stream, &f->log.trid);
        if (status == EXIT_DONE) {
            f->log.path = word;
            f->log.fd = -1;
            f->log.shown = quote_copy(f->stream.name[0] ? f->stream.name : f->stream.file);
        }
    }
    if (status == EXIT_DONE)
        catch_signals();
    return status;
}

void follow_close(struct follow *f)
{
    if (f->watch >= 0)
        close(f->watch);
    if (f->is_stream) {
        posixtrace_detach(f->log.trid);
        free(f->log.shown);
    } else {
        log_file_close(&f->log);
    }
}

/* Changes that there were before the call count, too. */
static bool has_changed(struct follow *f)
{
    struct pollfd p = { .fd = f->watch, .events = POLLIN };
    char events[4096];
    bool changed = false;

    if (f->watch < 0)
        return poll(NULL, 0, NO_WATCH_MS) == 0;
    if (poll(&p, 1, WAIT_MS) > 0)
        while (read(f->watch, events, sizeof events) > 0)
            changed = true;
    return changed;
}

static void wait_for_log(struct follow *f)
{
    bool changed = has_changed(f);

    f->alive = is_written(f);
    if (changed || !f->alive)
        f->error = open_again(f);
}

/* An error number; 0 and *none: nothing. */
static int next_of_stream(struct follow *f, struct posixtrace_event *e, bool wait, int *none)
{
    struct timespec until;
    int error;

    if (!wait)
        return posixtrace_next_event(f->log.trid, e, none);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_MS / 1000;
    error = posixtrace_timednext_event(f->log.trid, e, none, &until);
    *none = error != 0;
    return error == ETIMEDOUT || error == EINTR ? 0 : error;
}

static int next_of_log(struct follow *f, struct posixtrace_event *e, bool wait, int *none)
{
    int error = f->error;

    if (error == 0 && wait && f->alive)
        wait_for_log(f);
    do
        error = f->error ? f->error : posixtrace_next_event(f->log.trid, e, none);
    while (error == 0 && !*none && was_given(f, e));
    if (error == 0 && !*none)
        note_given(f, e);
    return error;
}

enum follow_next follow_next(struct follow *f, struct posixtrace_event *e, bool wait)
{
    int none = 0, error;

    if (asked_to_end)
        return FOLLOW_END;
    error = f->is_stream ? next_of_stream(f, e, wait, &none) : next_of_log(f, e, wait, &none);
    if (error == ENXIO && f->is_stream)
        return FOLLOW_END;
    if (error != 0) {
        tool_error("cannot read on in %s: %s", f->log.shown, strerror(error));
        return FOLLOW_FAILED;
    }
    if (!none)
        return FOLLOW_EVENT;
    return !f->is_stream && !f->alive ? FOLLOW_END : FOLLOW_NOTHING;
}
