/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One process, one stream, one log; see record.h.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/metrics.h>
#include <posixtrace/stream.h>

#include "common/units.h"
#include "common/tool.h"

enum { SIZE_DEFAULT = 8 << 20, SIZE_SMALL = 1 << 20 };

/*
 * What --policy keeps where there is no room for all: flush the newest that the
 * log may hold, and everything if it may grow; until-full the oldest; loop the
 * newest that fit into memory, which go to the log at the end.
 */
static int set_policies(trace_attr_t *attr, const struct record_request *q)
{
    int stream = q->policy == RECORD_LOOP ? POSIX_TRACE_LOOP : POSIX_TRACE_FLUSH;
    int log = q->policy == RECORD_UNTIL_FULL ? POSIX_TRACE_UNTIL_FULL
              : q->log_size                  ? POSIX_TRACE_LOOP
                                             : POSIX_TRACE_APPEND;
    int error = posix_trace_attr_setstreamfullpolicy(attr, stream);

    return error ? error : posix_trace_attr_setlogfullpolicy(attr, log);
}

/*
 * What an event costs travels with the log, whose reader may be on another machine.  It
 * is measured once, while a program still waits for its stream; where it cannot be, the
 * log does not say it.
 */
static int keep_cost(trace_attr_t *attr)
{
    static bool measured;
    static double ns;

    if (!measured && posixtrace_event_cost_like(attr, &ns) != 0)
        ns = 0;
    measured = true;
    return posixtrace_attr_seteventcost(attr, ns);
}

static int fill_attr(trace_attr_t *attr, const struct record_request *q, const char *program,
                     pid_t pid, uint64_t size)
{
    char name[TRACE_NAME_MAX + 1];
    const char *slash = program ? strrchr(program, '/') : NULL;
    int error = posix_trace_attr_init(attr);

    if (program)
        snprintf(name, sizeof name, "%s", slash ? slash + 1 : program);
    else
        snprintf(name, sizeof name, "pid %d", (int)pid);
    if (error == 0)
        error = posix_trace_attr_setname(attr, name);
    if (error == 0)
        error = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
    if (error == 0)
        error = set_policies(attr, q);
    if (error == 0)
        error = posix_trace_attr_setstreamsize(attr, (size_t)size);
    if (error == 0 && q->log_size)
        error = posix_trace_attr_setlogsize(attr, (size_t)q->log_size);
    if (error == 0)
        error = posixtrace_attr_setcompression(attr, q->zstd ? POSIXTRACE_COMPRESSION_ZSTD
                                                             : POSIXTRACE_COMPRESSION_COLUMNS);
    if (error == 0 && q->switches)
        error = posixtrace_attr_setswitches(attr, 1);
    if (error == 0)
        error = posixtrace_attr_setswitchbuffer(attr, (size_t)q->switch_buffer);
    return error ? error : keep_cost(attr);
}

/* Without a size from the user the stream is large enough to bridge bursts, or small where
 * there is not so much memory. */
static int create(struct recording *r, const struct record_request *q, const char *program)
{
    trace_attr_t attr;
    int error;

    for (uint64_t size = q->size ? q->size : SIZE_DEFAULT;; size = SIZE_SMALL) {
        error = fill_attr(&attr, q, program, r->pid, size);
        if (error == 0)
            error = posix_trace_create_withlog(r->pid, &attr, r->fd, &r->trid);
        posix_trace_attr_destroy(&attr);
        if (error != ENOMEM || q->size || size == SIZE_SMALL)
            return error;
    }
}

static int explain(const struct recording *r, const struct record_request *q, int error)
{
    int pid = (int)r->pid;
    uint64_t limit;

    switch (error) {
    case ESRCH: return tool_error("there is no process %d", pid);
    case EPERM:
        return tool_error("process %d belongs to another user, or has other rights than you; "
                          "root may record it",
                          pid);
    case EAGAIN:
        return tool_error("there are too many streams, %d are possible; 'posixtrace list' shows "
                          "them",
                          TRACE_SYS_MAX);
    case EBUSY: return record_log_busy(r->log);
    case ENOMEM:
        return tool_error("no memory for a stream of %s in %s (%s); 'posixtrace doctor' examines "
                          "that",
                          units_bytes(q->size ? q->size : SIZE_SMALL),
                          quote(posixtrace_stream_directory()), failure_reason(error));
    case EACCES:
        return tool_error("process %d cannot be recorded: there is no stream directory that it and "
                          "you can use, or it has given up the user id with which it first "
                          "called the library; start it with 'posixtrace record', or see "
                          "'posixtrace doctor'",
                          pid);
    case ENOTSUP:
        limit = record_unseen_limit(r->pid);
        if (limit != RECORD_SEEN)
            return tool_error("process %d cannot be recorded: it may write files of %s at most "
                              "(ulimit -f), too small for the names of its event types; start it "
                              "with a larger limit",
                              pid, units_bytes(limit));
        return tool_error("process %d cannot be recorded from here: there is no /proc to ask, it "
                          "is in another pid namespace, or it uses another version of the "
                          "library",
                          pid);
    case EINVAL:
        if (r->regular && q->size)
            return tool_error("no stream can have %s of memory; give less with --size",
                              units_bytes(q->size));
        return tool_error("%s cannot be a log of this policy and size: it is no regular file",
                          quote(r->log));
    default:
        return tool_error("cannot record process %d into %s: %s", pid, quote(r->log),
                          strerror(error));
    }
}

/* A pipe without an active reader may make it wait. */
static int create_free(struct recording *r, const struct record_request *q, const char *program)
{
    int error;

    if (!r->regular)
        signals_let(NULL);
    error = create(r, q, program);
    signals_hold();
    return error;
}

struct recording recording_make(pid_t pid)
{
    return (struct recording){
        .pid = pid, .pidfd = -1, .fd = -1, .locked = -1, .place = { .folder = AT_FDCWD }
    };
}

int recording_begin(struct recording *r, const struct record_request *q, const char *program)
{
    int error, status = record_log_open(r, q, program);

    if (status != EXIT_DONE)
        return status;
    error = create_free(r, q, program);
    if (error == 0) {
        r->active = true;
        error = record_system_begin(r, q);
    }
    if (error == 0 && record_pieces_begin(r, q) != 0) {
        recording_drop(r);
        return EXIT_FAILED;
    }
    /* One expression of the stream, which the traced processes look at themselves: also for
     * types that they open later. */
    if (error == 0 && q->filter.text)
        error = posixtrace_set_expression(r->trid, q->filter.text, NULL);
    if (error == 0)
        error = posix_trace_start(r->trid);
    if (error != 0) {
        explain(r, q, error);
        recording_drop(r);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

struct search {
    uint8_t id[16];
    char file[128];
};

static int is_ours(void *context, const struct posixtrace_stream *s)
{
    struct search *search = context;

    if (memcmp(s->id, search->id, sizeof s->id) != 0)
        return 0;
    memcpy(search->file, s->file, sizeof search->file);
    return 1;
}

const char *recording_file(const struct recording *r)
{
    static struct search search;
    struct posixtrace_info info;

    memset(&search, 0, sizeof search);
    if (posixtrace_get_info(r->trid, &info, sizeof info) != 0)
        return NULL;
    memcpy(search.id, info.id, sizeof search.id);
    posixtrace_stream_list(is_ours, &search);
    return search.file[0] ? search.file : NULL;
}

/* Completing the log takes as long as the disk, or the reader of the pipe, needs. */
static int shut_down(struct recording *r)
{
    char undone[1024];
    int error;

    if (r->regular)
        snprintf(undone, sizeof undone,
                 "the log is not complete; to complete it: posixtrace recover %s",
                 quote_word(r->log));
    else
        snprintf(undone, sizeof undone, "%s did not get everything", quote(r->log));
    r->active = false;
    signals_let(undone);
    error = posix_trace_shutdown(r->trid);
    signals_hold();
    return error;
}

void recording_end(struct recording *r)
{
    if (!r->active)
        return;
    r->error = shut_down(r);
    if (r->fd >= 0 && close(r->fd) != 0 && r->error == 0)
        r->error = errno;
    r->fd = -1;
}

void recording_drop(struct recording *r)
{
    if (r->active)
        shut_down(r);
    record_log_drop(r);
}
