/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a recording: its name, and what may be overwritten.  An earlier log
 * gives way, as the file of any other recorder does; but not one that is being
 * written, and no file that is not a log.
 *
 * An earlier log is kept under another name until the recording has begun: a program
 * that cannot be executed, or a stream that cannot be created, destroys nothing.  If record
 * is killed meanwhile, the next one finds it (log_left.h).  Where the folder cannot be
 * written to, the new log takes the place of the old one at once.
 *
 * A regular file is locked (flock) from then on until the recording is over, and so is an
 * earlier log until it goes: the streams of other users, and of other stream directories,
 * cannot be seen, and the stream of a worker (record_apart.c) writes into a pipe.  For that
 * one record has the lock by which readers know that a log is being written.
 *
 * A pipe is opened for writing only, so that record is not its own reader: when the
 * reader ends, writing fails with EPIPE instead of waiting for ever.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <posixtrace/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apart/apart.h"
#include "input/log_file.h"
#include "input/log_left.h"
#include "common/tool.h"

/* Looks at a lock, a millisecond apart: completing a killed program's log takes it for moments. */
enum { LOOKS = 200 };

/* The pattern with the pid for %p and % for %%; to be freed. */
static char *expand(const char *pattern, pid_t pid)
{
    char number[16], *name, *to;
    size_t digits = (size_t)snprintf(number, sizeof number, "%d", (int)pid);

    name = to = tool_grow(NULL, strlen(pattern) + 1, digits);
    for (const char *at = pattern; *at; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            to = stpcpy(to, number);
            at++;
        } else {
            *to++ = *at;
            at += at[0] == '%' && at[1] == '%';
        }
    }
    *to = '\0';
    return name;
}

static char *default_name(const char *program, pid_t pid)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *base = slash ? slash + 1 : program;
    size_t size = (base ? strlen(base) : 12) + sizeof ".ptl";
    char *name = tool_grow(NULL, size, 1);

    if (base)
        snprintf(name, size, "%s.ptl", base);
    else
        snprintf(name, size, "%d.ptl", (int)pid);
    return name;
}

bool record_log_has_pid(const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '%')); at += at[1] ? 2 : 1)
        if (at[1] == 'p')
            return true;
    return false;
}

struct writer {
    struct stat log;
    pid_t pid;
};

static int is_writer(void *context, const struct posixtrace_stream *s)
{
    struct writer *w = context;
    struct stat log;

    if (!s->has_log || s->liveness != POSIXTRACE_LIVENESS_ALIVE || stat(s->log_path, &log) != 0 ||
        log.st_dev != w->log.st_dev || log.st_ino != w->log.st_ino)
        return 0;
    w->pid = s->owner;
    return 1;
}

int record_log_busy(const char *log)
{
    struct writer w = { .pid = 0 };
    char name[20];

    if (stat(log, &w.log) == 0)
        posixtrace_stream_list(is_writer, &w);
    if (w.pid == 0)
        return tool_error("%s is being written by another process; name another file with -o",
                          quote(log));
    record_process_name(w.pid, name, sizeof name);
    return tool_error("%s is being written by process %d (%s); name another file with -o",
                      quote(log), (int)w.pid, quote(name));
}

/* Does another program write the file?  Else it is ours.  File systems without locks have
 * none. */
static bool is_taken(int fd)
{
    const struct timespec pause = { 0, 1000000 };

    for (int looks = 0; fd >= 0 && looks < LOOKS; looks++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return false;
        nanosleep(&pause, NULL);
    }
    return fd >= 0;
}

int record_log_lock(struct recording *r)
{
    const struct timespec pause = { 0, 1000000 };

    for (int looks = 0; r->regular && looks < LOOKS; looks++) {
        if (log_file_lock(r->fd) != EAGAIN)
            return EXIT_DONE;
        nanosleep(&pause, NULL);
    }
    return r->regular ? record_log_busy(r->log) : EXIT_DONE;
}

/* May the regular file that is open be overwritten? */
static int judge(const struct recording *r)
{
    struct posixtrace_info info = { .end = POSIXTRACE_END_SHUTDOWN };
    trace_id_t trid;
    int error;

    if (is_taken(r->locked))
        return record_log_busy(r->log);
    error = posix_trace_open(r->locked, &trid);
    if (error == EINVAL)
        return tool_error("%s exists and is not a trace log; name another file with -o",
                          quote(r->log));
    if (error != 0)
        return EXIT_DONE;
    if (posixtrace_get_info(trid, &info, sizeof info) != 0)
        info.end = POSIXTRACE_END_CUT;
    posix_trace_close(trid);
    if (info.end == POSIXTRACE_END_ACTIVE)
        return record_log_busy(r->log);
    return EXIT_DONE;
}

static int refuse_owner(const struct recording *r, const struct stat *st)
{
    return tool_error("%s belongs to user %u, who could read the recording in it; name "
                      "another file with -o",
                      quote(r->log), (unsigned)st->st_uid);
}

static int refuse_exchanged(const struct recording *r)
{
    return tool_error("%s was replaced by another file; nothing was written", quote(r->log));
}

static void forget_earlier(struct recording *r)
{
    if (r->locked >= 0)
        close(r->locked);
    r->locked = -1;
    log_place_end(&r->place);
}

/* A file that may only be read is judged, too, and refused afterwards. */
static int open_earlier(struct recording *r, struct stat *st, bool *writable)
{
    r->locked = log_place_open(&r->place, O_RDWR | O_NONBLOCK, 0);
    *writable = r->locked >= 0;
    if (r->locked < 0)
        r->locked = log_place_open(&r->place, O_RDONLY | O_NONBLOCK, 0);
    if (r->locked < 0)
        return tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
    return fstat(r->locked, st) != 0 || !S_ISREG(st->st_mode) ? refuse_exchanged(r) : EXIT_DONE;
}

static int open_regular(struct recording *r)
{
    bool writable, trusted;
    struct stat st;
    int status = open_earlier(r, &st, &writable);

    if (status == EXIT_DONE && st.st_size > 0)
        status = judge(r);
    if (status != EXIT_DONE)
        return status;
    if (!writable) {
        errno = EACCES;
        return EXIT_DONE;
    }
    status = st.st_size > 0 ? log_place_move(&r->place, &st) : -1;
    if (status > EXIT_DONE)
        return status;
    trusted = log_place_trusts(r->place.folder, &st);
    if (status < 0 && !trusted)
        return refuse_owner(r, &st);
    if (status < 0) {
        /* The same file, with its lock. */
        r->fd = r->locked;
        r->locked = -1;
        return EXIT_DONE;
    }
    r->fd = log_place_open(&r->place, O_RDWR | O_CREAT | O_EXCL, 0666);
    /* As the earlier one, where that is allowed. */
    if (r->fd >= 0 && trusted && fchown(r->fd, st.st_uid, st.st_gid) == 0)
        fchmod(r->fd, st.st_mode & 0777);
    return EXIT_DONE;
}

/* A FIFO waits until it has a reader; a pipe whose reader has gone never has one. */
static void open_pipe(struct recording *r, const struct record_request *q)
{
    r->fd = log_place_open(&r->place, O_WRONLY | O_NONBLOCK, 0);
    if (r->fd < 0 && errno == ENXIO && r->place.nofollow) {
        if (!q->quiet)
            tool_note("waiting for a reader of %s", quote(r->log));
        signals_let(NULL);
        r->fd = log_place_open(&r->place, O_WRONLY, 0);
        signals_hold();
    } else if (r->fd < 0 && errno == ENXIO) {
        errno = EPIPE;
    } else if (r->fd >= 0) {
        fcntl(r->fd, F_SETFL, O_WRONLY);
    }
}

/* The open file may be another than the one that was looked at. */
static int check_opened(struct recording *r)
{
    struct stat st;
    int status;

    if (r->fd < 0 || !r->place.nofollow)
        return EXIT_DONE;
    if (fstat(r->fd, &st) != 0 || S_ISREG(st.st_mode))
        status = refuse_exchanged(r);
    else if (S_ISFIFO(st.st_mode) && !log_place_trusts(r->place.folder, &st))
        status = refuse_owner(r, &st);
    else
        return EXIT_DONE;
    close(r->fd);
    r->fd = -1;
    return status;
}

static int open_existing(struct recording *r, const struct record_request *q)
{
    struct stat st;

    if (log_place_stat(&r->place, &st) == 0 && S_ISREG(st.st_mode))
        return open_regular(r);
    if (log_place_stat(&r->place, &st) == 0 && S_ISFIFO(st.st_mode)) {
        if (!log_place_trusts(r->place.folder, &st))
            return refuse_owner(r, &st);
        open_pipe(r, q);
    } else {
        r->fd = log_place_open(&r->place, O_WRONLY, 0);
    }
    return check_opened(r);
}

static void look_for_left(const struct log_place *p)
{
    char *folder = strndup(p->path, (size_t)(p->name - p->path));

    if (folder)
        log_left_look(p->folder, folder, p->name);
    free(folder);
}

/* In the folder of the name, or what has the name already. */
static int open_log(struct recording *r, const struct record_request *q)
{
    int status = log_place_find(&r->place, r->log);

    if (status != EXIT_DONE)
        return status;
    if (r->place.nofollow)
        look_for_left(&r->place);
    r->fd = log_place_open(&r->place, O_RDWR | O_CREAT | O_EXCL, 0666);
    r->made = r->fd >= 0;
    if (r->fd < 0 && errno == EEXIST)
        status = open_existing(r, q);
    if (status == EXIT_DONE && r->fd < 0)
        status = tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
    if (status == EXIT_DONE && isatty(r->fd))
        status = tool_error("%s is a terminal, and a log is binary; name a file, or a pipe to "
                            "another program",
                            quote(r->log));
    return status;
}

int record_log_open(struct recording *r, const struct record_request *q, const char *program)
{
    struct stat st;

    r->locked = -1;
    r->log = q->rotates ? record_pieces_name(q, program, r->pid)
             : q->log   ? expand(q->log, r->pid)
                        : default_name(program, r->pid);
    r->regular = apart_is_worker();
    if (r->regular)
        return EXIT_DONE;
    if (open_log(r, q) != EXIT_DONE) {
        log_place_restore(&r->place);
        forget_earlier(r);
        return EXIT_FAILED;
    }
    r->regular = fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode);
    r->named = r->regular && st.st_nlink > 0;
    if (r->regular && is_taken(r->fd)) {
        record_log_busy(r->log);
        record_log_drop(r);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

void record_log_keep(struct recording *r)
{
    log_place_forget(&r->place);
    forget_earlier(r);
}

void record_log_drop(struct recording *r)
{
    /* Another program has started to write the file since we opened it. */
    if (is_taken(r->fd))
        log_place_leave(&r->place);
    else if (r->made)
        log_place_remove(&r->place);
    if (r->fd >= 0)
        close(r->fd);
    log_place_restore(&r->place);
    forget_earlier(r);
    r->fd = -1;
    r->made = false;
    free(r->log);
    r->log = NULL;
}
