/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a recording: its name, and what may be overwritten.  An earlier log
 * gives way, as the file of any other recorder does; but not one that is being
 * written, and no file that is not a log.
 *
 * An earlier log is kept under another name until the recording has begun: a program
 * that cannot be executed, or a stream that cannot be created, destroys nothing.  Where
 * the folder cannot be written to, the new log takes the place of the old one at once.
 *
 * A regular file is locked (flock) from then on until the recording is over, and so is an
 * earlier log until it goes: the streams of other users, and of other stream directories,
 * cannot be seen, and the stream of a worker (record_apart.c) writes into a pipe.
 *
 * A pipe is opened for writing only, so that record is not its own reader: when the
 * reader ends, writing fails with EPIPE instead of waiting for ever.
 */
#include "record.h"

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

#include "apart.h"
#include "tool.h"

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

    if (!s->has_log || s->liveness != POSIXTRACE_ALIVE || stat(s->log_path, &log) != 0 ||
        log.st_dev != w->log.st_dev || log.st_ino != w->log.st_ino)
        return 0;
    w->pid = s->owner;
    return 1;
}

int record_log_busy(const char *log)
{
    struct writer w = { .pid = 0 };
    char path[40], name[20] = "?\n";
    FILE *f;

    if (stat(log, &w.log) == 0)
        posixtrace_stream_list(is_writer, &w);
    if (w.pid == 0)
        return tool_error("%s is being written by another process; name another file with -o",
                          quote(log));
    snprintf(path, sizeof path, "/proc/%d/comm", (int)w.pid);
    f = fopen(path, "re");
    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = '\0';
        fclose(f);
    }
    name[strcspn(name, "\n")] = '\0';
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

/* May the regular file that is there be overwritten? */
static int judge(struct recording *r)
{
    const int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    struct posixtrace_info info = { .end = POSIXTRACE_END_SHUTDOWN };
    trace_id_t trid;
    int error;

    r->locked = open(r->log, O_RDWR | flags);
    if (r->locked < 0)
        r->locked = open(r->log, O_RDONLY | flags);
    if (r->locked < 0)
        return tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
    if (is_taken(r->locked))
        return record_log_busy(r->log);
    error = posix_trace_open(r->locked, &trid);
    if (error == EINVAL)
        return tool_error("%s exists and is not a trace log; name another file with -o",
                          quote(r->log));
    if (error != 0)
        return EXIT_DONE;
    if (posixtrace_get_info(trid, &info) != 0)
        info.end = POSIXTRACE_END_CUT;
    posix_trace_close(trid);
    if (info.end == POSIXTRACE_END_ACTIVE)
        return record_log_busy(r->log);
    return EXIT_DONE;
}

static void forget_earlier(struct recording *r)
{
    if (r->locked >= 0)
        close(r->locked);
    r->locked = -1;
    free(r->earlier);
    free(r->place);
    r->earlier = r->place = NULL;
}

/* What is a descriptor of ours, as /dev/stdout, stays where it is. */
static bool may_move(const char *path)
{
    return strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

/* Gives the earlier log another name; false: it stays. */
static bool move_away(struct recording *r)
{
    int fd = -1;

    r->place = may_move(r->log) ? realpath(r->log, NULL) : NULL;
    if (!r->place)
        return false;
    r->earlier = tool_grow(NULL, strlen(r->place) + sizeof ".XXXXXX", 1);
    stpcpy(stpcpy(r->earlier, r->place), ".XXXXXX");
    fd = mkostemp(r->earlier, O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && rename(r->place, r->earlier) == 0)
        return true;
    if (fd >= 0)
        unlink(r->earlier);
    free(r->earlier);
    free(r->place);
    r->earlier = r->place = NULL;
    return false;
}

/* The earlier log is there again, if that can be. */
static void move_back(struct recording *r)
{
    if (r->earlier && rename(r->earlier, r->place) != 0)
        tool_error("the earlier %s is %s now: %s", quote(r->place), quote(r->earlier),
                   strerror(errno));
    forget_earlier(r);
}

static int open_regular(struct recording *r, const struct stat *st)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY;

    if (st->st_size > 0 && judge(r) != EXIT_DONE) {
        forget_earlier(r);
        return EXIT_FAILED;
    }
    if (st->st_size == 0 || access(r->log, W_OK) != 0) {
        r->fd = open(r->log, flags);
        return EXIT_DONE;
    }
    if (!move_away(r)) {
        /* The same file, with its lock. */
        r->fd = r->locked;
        r->locked = -1;
        return EXIT_DONE;
    }
    r->fd = open(r->place, flags | O_CREAT | O_EXCL, 0666);
    /* As the earlier one, where that is allowed. */
    if (r->fd >= 0 && fchown(r->fd, st->st_uid, st->st_gid) == 0)
        fchmod(r->fd, st->st_mode & 0777);
    return EXIT_DONE;
}

/* A FIFO waits until it has a reader; a pipe whose reader has gone never has one. */
static int open_pipe(struct recording *r, const struct record_request *q)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    char *path = realpath(r->log, NULL);

    r->fd = open(r->log, flags | O_NONBLOCK);
    if (r->fd < 0 && errno == ENXIO && path) {
        if (!q->quiet)
            tool_note("waiting for a reader of %s", quote(r->log));
        signals_let(NULL);
        r->fd = open(r->log, flags);
        signals_hold();
    } else if (r->fd < 0 && errno == ENXIO) {
        errno = EPIPE;
    } else if (r->fd >= 0) {
        fcntl(r->fd, F_SETFL, flags & O_ACCMODE);
    }
    free(path);
    return EXIT_DONE;
}

static int open_existing(struct recording *r, const struct record_request *q)
{
    struct stat st;

    if (stat(r->log, &st) == 0 && S_ISREG(st.st_mode))
        return open_regular(r, &st);
    if (stat(r->log, &st) == 0 && S_ISFIFO(st.st_mode))
        return open_pipe(r, q);
    r->fd = open(r->log, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return EXIT_DONE;
}

int record_log_open(struct recording *r, const struct record_request *q, const char *program)
{
    struct stat st;

    r->locked = -1;
    r->log = q->log ? expand(q->log, r->pid) : default_name(program, r->pid);
    r->regular = apart_is_worker();
    if (r->regular)
        return EXIT_DONE;
    r->fd = open(r->log, O_RDWR | O_CLOEXEC | O_NOCTTY | O_CREAT | O_EXCL, 0666);
    r->made = r->fd >= 0;
    if (r->fd < 0 && errno == EEXIST && open_existing(r, q) != EXIT_DONE)
        return EXIT_FAILED;
    if (r->fd < 0) {
        tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
        move_back(r);
        return EXIT_FAILED;
    }
    r->regular = fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (r->regular && is_taken(r->fd)) {
        record_log_busy(r->log);
        record_log_drop(r);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

void record_log_keep(struct recording *r)
{
    if (r->earlier)
        unlink(r->earlier);
    forget_earlier(r);
}

void record_log_drop(struct recording *r)
{
    /* Another program has started to write the file since we opened it. */
    if (is_taken(r->fd)) {
        if (r->earlier)
            tool_note("the earlier %s is %s now", quote(r->place), quote(r->earlier));
        forget_earlier(r);
    } else if (r->made) {
        unlink(r->log);
    }
    if (r->fd >= 0)
        close(r->fd);
    move_back(r);
    r->fd = -1;
    r->made = false;
    free(r->log);
    r->log = NULL;
}
