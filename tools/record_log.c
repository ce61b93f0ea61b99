/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a recording: its name, and what may be overwritten.  An earlier log
 * gives way, as the file of any other recorder does; but not one that is being
 * written, and no file that is not a log.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

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

/* May what is there be overwritten? */
static int judge(const struct recording *r)
{
    int fd = open(r->log, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error;
    struct posixtrace_info info = { .end = POSIXTRACE_END_SHUTDOWN };
    struct stat st;
    trace_id_t trid;

    if (fd < 0)
        return tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return EXIT_DONE;
    }
    error = posix_trace_open(fd, &trid);
    close(fd);
    if (error == EINVAL)
        return tool_error("%s exists and is not a trace log; name another file with -o",
                          quote(r->log));
    if (error != 0)
        return EXIT_DONE;
    if (posixtrace_get_info(trid, &info) != 0)
        info.end = POSIXTRACE_END_CUT;
    posix_trace_close(trid);
    if (info.end == POSIXTRACE_END_ACTIVE)
        return tool_error("%s is being written by a living process; name another file with -o",
                          quote(r->log));
    return EXIT_DONE;
}

int record_log_open(struct recording *r, const struct record_request *q, const char *program)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY;
    struct stat st;

    r->log = q->log ? expand(q->log, r->pid) : default_name(program, r->pid);
    r->fd = open(r->log, flags | O_CREAT | O_EXCL, 0666);
    r->made = r->fd >= 0;
    if (r->fd < 0 && errno == EEXIST) {
        if (judge(r) != EXIT_DONE)
            return EXIT_FAILED;
        r->fd = open(r->log, flags);
    }
    if (r->fd < 0)
        return tool_error("cannot write %s: %s", quote(r->log), strerror(errno));
    r->regular = fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode);
    return EXIT_DONE;
}

void record_log_drop(struct recording *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->made)
        unlink(r->log);
    r->fd = -1;
    r->made = false;
    free(r->log);
    r->log = NULL;
}
