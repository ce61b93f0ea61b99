/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See follow.h.
 *
 * A log that grows is read with posixtrace_follow() each time that inotify reports a change
 * of the file.  The list of streams shows whether the writer lives, by the id that log and
 * stream share, or the lock of the log does; after the writer's end, the log is read once more.
 */
#include "input/follow.h"

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

#include "common/stdout_buffer.h"
#include "input/stream_find.h"
#include "common/tool.h"

enum { WAIT_MS = 1000, NO_WATCH_MS = 250, STREAM_MS = 100, WRITE_S = 1 };

static volatile sig_atomic_t asked_to_end; /* the signal, or 0 */

/*
 * Events read before the signal are still written.  Where the output takes no byte in a
 * second, the signal ends the program as it ends others.
 */
static void check_writing(int number)
{
    static sig_atomic_t before;

    (void)number;
    if (out_writing && out_writing == before) {
        signal(asked_to_end, SIG_DFL);
        raise(asked_to_end);
    }
    before = out_writing;
    alarm(WRITE_S);
}

static void ask_to_end(int number)
{
    asked_to_end = number;
    alarm(WRITE_S);
}

bool follow_is_over(void)
{
    return asked_to_end != 0;
}

/* Waiting calls return when one comes; a second one ends the program at once. */
static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = check_writing };

    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = ask_to_end;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- logs ---- */

static int find_id(void *context, const struct posixtrace_stream *s)
{
    const uint8_t *id = context;

    return s->liveness != POSIXTRACE_LIVENESS_DEAD && memcmp(s->id, id, sizeof s->id) == 0;
}

static bool is_written(struct follow *f)
{
    return posixtrace_stream_list(find_id, f->log.info.id) == 1 || log_file_is_locked(f->log.fd);
}

/* An error number. */
static int look(struct follow *f, bool *gap)
{
    bool missing = false;
    int error = posixtrace_follow(f->log.trid, &missing);

    *gap = missing != 0;
    if (error == 0)
        error = posixtrace_get_info(f->log.trid, &f->log.info, sizeof f->log.info);
    f->alive = error == 0 && f->log.info.end == POSIXTRACE_END_ACTIVE;
    return error;
}

static enum follow_next failed(const struct follow *f, int error)
{
    if (error == ESTALE)
        tool_error("cannot read on in %s: another log is in the file now", f->log.shown);
    else
        tool_error("cannot read on in %s: %s", f->log.shown, failure_reason(error));
    return FOLLOW_FAILED;
}

/* A pipe is followed by reading it. */
static int open_log(struct follow *f, const char *path)
{
    int status, error = 0;
    bool gap;

    f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (f->watch >= 0 && inotify_add_watch(f->watch, path, IN_MODIFY | IN_CLOSE_WRITE) < 0) {
        close(f->watch);
        f->watch = -1;
    }
    status = log_file_open(&f->log, path);
    if (status == EXIT_DONE && f->log.seekable)
        error = look(f, &gap);
    if (error != 0) {
        failed(f, error);
        log_file_close(&f->log);
        status = EXIT_FAILED;
    }
    return status;
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

static enum follow_next wait_for_log(struct follow *f, bool *gap)
{
    bool ended = !f->alive;
    int error;

    if (!ended && !has_changed(f) && is_written(f))
        return follow_is_over() ? FOLLOW_END : FOLLOW_NOTHING;
    /* After the end there may be a gap before the rest. */
    error = f->log.seekable ? look(f, gap) : 0;
    /* Another program has truncated the log: the writer writes the header again. */
    if (error == EINVAL && is_written(f)) {
        f->alive = true;
        return follow_is_over() ? FOLLOW_END : FOLLOW_NOTHING;
    }
    if (error != 0)
        return failed(f, error);
    if (*gap)
        tool_note("events of %s are missing: they were overwritten or cleared before they were "
                  "read, or are damaged",
                  f->log.shown);
    return ended && !*gap ? FOLLOW_END : FOLLOW_EVENT;
}

static enum follow_next next_of_log(struct follow *f, struct posixtrace_event *e, bool wait)
{
    enum follow_next next = FOLLOW_EVENT;
    bool gap = false;
    int none = 0, error;

    for (;;) {
        error = posixtrace_next_event(f->log.trid, e, sizeof *e, &none);
        if (error != 0)
            return failed(f, error);
        if (!none)
            return FOLLOW_EVENT;
        if (!wait)
            return FOLLOW_NOTHING;
        next = follow_wait(f, &gap);
        if (next != FOLLOW_EVENT)
            return next;
    }
}

/* ---- streams ---- */

static int open_stream(struct follow *f, const char *word)
{
    int status = stream_attach(word, &f->stream, &f->log.trid);

    f->is_stream = true;
    if (status == EXIT_DONE) {
        f->log.path = word;
        f->log.fd = -1;
        f->log.shown = quote_copy(f->stream.name[0] ? f->stream.name : f->stream.file);
    }
    return status;
}

static enum follow_next next_of_stream(struct follow *f, struct posixtrace_event *e, bool wait)
{
    struct timespec until;
    int none = 0, error;

    if (!wait) {
        error = posixtrace_next_event(f->log.trid, e, sizeof *e, &none);
    } else {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += WAIT_MS / 1000;
        error = posixtrace_timednext_event(f->log.trid, e, sizeof *e, &none, &until);
        if (error == ETIMEDOUT || error == EINTR)
            return FOLLOW_NOTHING;
    }
    if (error == ENXIO)
        return FOLLOW_END;
    if (error != 0)
        return failed(f, error);
    return none ? FOLLOW_NOTHING : FOLLOW_EVENT;
}

/* ---- both ---- */

int follow_open(struct follow *f, const char *word)
{
    struct stat st;
    int status;

    memset(f, 0, sizeof *f);
    f->watch = -1;
    status = stat(word, &st) == 0 ? open_log(f, word) : open_stream(f, word);
    if (status == EXIT_DONE)
        catch_signals();
    else if (f->watch >= 0)
        close(f->watch);
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

enum follow_next follow_wait(struct follow *f, bool *gap)
{
    *gap = false;
    if (follow_is_over())
        return FOLLOW_END;
    if (!f->is_stream)
        return wait_for_log(f, gap);
    poll(NULL, 0, STREAM_MS);
    return FOLLOW_EVENT;
}

enum follow_next follow_next(struct follow *f, struct posixtrace_event *e, bool wait)
{
    if (follow_is_over())
        return FOLLOW_END;
    return f->is_stream ? next_of_stream(f, e, wait) : next_of_log(f, e, wait);
}
