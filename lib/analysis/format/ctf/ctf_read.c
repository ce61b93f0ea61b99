/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of CTF, the end that makes the log.  See ctf_import.h.
 *
 * Events that the other tracer had discarded become posix_trace_overflow and
 * posix_trace_resume around the time in which it did, so that metrics know.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "analysis/format/ctf/ctf_import.h"

#define MARK_MAX 6u /* "#4096", with NUL */

enum { NOTE_TOLD, NOTE_LOST, NOTE_TYPES };

struct reader {
    struct pt_job *job;
    int from;
    uint32_t class_count;
    char *names[CTF_CLASSES_MAX]; /* NULL: its events are left out */
    uint32_t name_count;          /* different ones */
    bool in_gap, ended;
    int64_t gap_end, last_ns;
    uint64_t lost;
    char fault[200];
    uint8_t *record; /* in the buffer */
    size_t at, end;
    uint8_t buffer[2 * CTF_RECORD_MAX + 1];
};

/* The name of the type in the log.  If two classes have the same name and different fields, the
 * second is called NAME#2.  0, or the error of the builder. */
static int settle_name(struct reader *r, char *name, const char *description)
{
    size_t length = strlen(name);
    int error = posixtrace_log_builder_describe(r->job->builder, name, description);

    for (unsigned n = 2; error == EEXIST && n <= CTF_CLASSES_MAX; n++) {
        snprintf(name + length, MARK_MAX, "#%u", n);
        error = posixtrace_log_builder_describe(r->job->builder, name, description);
    }
    /* of a name of the system the meaning is known */
    return error == EINVAL ? 0 : error;
}

static bool is_new(const struct reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->class_count; i++)
        if (r->names[i] && strcmp(r->names[i], name) == 0)
            return false;
    return true;
}

static bool leave_out(struct reader *r, const char *name)
{
    pt_job_note(r->job, NOTE_TYPES, "more than %d types: events '%s' are left out",
                TRACE_USER_EVENT_MAX - 1, name);
    r->names[r->class_count++] = NULL;
    return true;
}

static bool take_class(struct reader *r, uint32_t size)
{
    const char *name = (const char *)r->record, *description;
    size_t length = strnlen(name, size);
    char kept[TRACE_EVENT_NAME_MAX + 1];
    int error = 0;

    if (r->class_count == CTF_CLASSES_MAX || length + 1 >= size || r->record[size - 1])
        return false;
    description = name + length + 1;
    if (is_new(r, name) && r->name_count >= TRACE_USER_EVENT_MAX - 1)
        return leave_out(r, name);
    snprintf(kept, sizeof kept - MARK_MAX, "%s", name);
    if (*description)
        error = settle_name(r, kept, description);
    if (error == ENOSPC)
        return leave_out(r, name);
    r->name_count += is_new(r, kept);
    r->names[r->class_count] = strdup(kept);
    if (error || !r->names[r->class_count])
        pt_job_fail(r->job, error ? error : ENOMEM, "cannot describe '%s' as '%s': %s", name,
                    description, strerror(error ? error : ENOMEM));
    r->class_count++;
    return true;
}

static bool add_mark(struct reader *r, const char *name, int64_t ns)
{
    struct posixtrace_event mark = { .ns = ns > r->last_ns ? ns : r->last_ns,
                                     .name = name,
                                     .thread_name = "" };

    r->last_ns = mark.ns;
    return pt_job_add(r->job, &mark);
}

static bool end_gap(struct reader *r)
{
    r->in_gap = false;
    return add_mark(r, "posix_trace_resume", r->gap_end);
}

static bool take_event(struct reader *r, uint32_t size)
{
    struct ctf_event head;
    struct posixtrace_event e;

    if (size < sizeof head)
        return false;
    memcpy(&head, r->record, sizeof head);
    head.thread_name[sizeof head.thread_name - 1] = '\0';
    if (head.class_index >= r->class_count || size - sizeof head > CTF_DATA_MAX ||
        head.ns < r->last_ns)
        return false;
    if (!r->names[head.class_index]) {
        pt_job_left_out(r->job, NOTE_TYPES, NULL);
        return true;
    }
    if (r->in_gap && head.ns > r->gap_end && !end_gap(r))
        return true;
    e = (struct posixtrace_event){
        .ns = head.ns,
        .pid = head.pid,
        .tid = head.tid,
        .thread_id = head.thread_id,
        .prog_address = head.prog_address,
        .thread_name = head.thread_name,
        .name = r->names[head.class_index],
        .data = r->record + sizeof head,
        .data_len = size - sizeof head,
        .truncation = head.truncated ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED,
    };
    r->last_ns = head.ns;
    pt_job_add(r->job, &e);
    return true;
}

static bool take_lost(struct reader *r, uint32_t size)
{
    struct ctf_lost lost;
    const char *stream = (const char *)r->record + sizeof lost;
    char count[32] = "an unknown number", when[80] = "";

    if (size < sizeof lost)
        return false;
    memcpy(&lost, r->record, sizeof lost);
    if (lost.counted)
        snprintf(count, sizeof count, "%" PRIu64, lost.count);
    if (lost.timed)
        snprintf(when, sizeof when, ", between %" PRIi64 " and %" PRIi64 " ns since 1970",
                 lost.begin_ns, lost.end_ns);
    pt_job_note(r->job, NOTE_LOST, "stream %.*s: %s that its tracer lost: %s%s",
                (int)(size - sizeof lost), stream, lost.packets ? "packets" : "events", count,
                when);
    if (lost.counted && !lost.packets)
        r->lost += lost.count;
    if (!lost.timed || lost.end_ns < r->last_ns)
        return true;
    if (r->in_gap && lost.begin_ns > r->gap_end && !end_gap(r))
        return true;
    if (!r->in_gap && !add_mark(r, "posix_trace_overflow", lost.begin_ns))
        return true;
    r->gap_end = r->in_gap && r->gap_end > lost.end_ns ? r->gap_end : lost.end_ns;
    r->in_gap = true;
    return true;
}

/* False: that is no record of a sound reader. */
static bool take(struct reader *r, const struct ctf_record *head)
{
    switch (head->kind) {
    case CTF_CLASS: return take_class(r, head->size);
    case CTF_EVENT: return take_event(r, head->size);
    case CTF_LOST: return take_lost(r, head->size);
    case CTF_NOTE: pt_job_note(r->job, NOTE_TOLD, "%s", (const char *)r->record); return true;
    case CTF_FAULT:
        snprintf(r->fault, sizeof r->fault, "%.190s", (const char *)r->record);
        return true;
    case CTF_END: r->ended = true; return true;
    default: return false;
    }
}

/* That many bytes at r->buffer + r->at; false: the other process has ended before. */
static bool have(struct reader *r, size_t bytes)
{
    ssize_t got;

    if (r->end - r->at >= bytes)
        return true;
    memmove(r->buffer, r->buffer + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = 0;
    while (r->end < bytes) {
        do
            got = read(r->from, r->buffer + r->end, sizeof r->buffer - 1 - r->end);
        while (got < 0 && errno == EINTR);
        if (got <= 0)
            return false;
        r->end += (size_t)got;
    }
    return true;
}

/* A record, with a NUL after it while it is looked at. */
static bool take_one(struct reader *r)
{
    struct ctf_record head;
    uint8_t behind;
    bool good;

    if (!have(r, sizeof head))
        return false;
    memcpy(&head, r->buffer + r->at, sizeof head);
    if (head.size > CTF_RECORD_MAX || !have(r, sizeof head + head.size))
        return false;
    r->record = r->buffer + r->at + sizeof head;
    r->at += sizeof head + head.size;
    behind = r->record[head.size];
    r->record[head.size] = '\0';
    good = take(r, &head);
    r->record[head.size] = behind;
    return good;
}

static void take_all(struct reader *r)
{
    while (!r->job->error && !r->ended && take_one(r))
        ;
    if (r->in_gap && !r->job->error)
        end_gap(r);
}

/* Reports losses and errors at the end. */
static int conclude(struct reader *r, int status)
{
    if (r->lost && !r->job->error)
        pt_job_note(r->job, NOTE_TOLD,
                    "%" PRIu64 " events were lost before this trace was "
                    "written",
                    r->lost);
    if (r->job->error)
        return r->job->error;
    if (r->fault[0])
        return pt_job_fail(r->job, EILSEQ, "after %" PRIu64 " events: %s", r->job->c->events,
                           r->fault);
    if (r->ended)
        return 0;
    if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        return pt_job_fail(r->job, EILSEQ,
                           "after %" PRIu64 " events: libbabeltrace2 cannot "
                           "read the trace, and ended by signal %d",
                           r->job->c->events, WTERMSIG(status));
    return pt_job_fail(r->job, EILSEQ,
                       "after %" PRIu64 " events: libbabeltrace2 cannot read "
                       "the trace, or not with 1 GiB of memory",
                       r->job->c->events);
}

static int wait_for(pid_t child)
{
    int status;
    pid_t got;

    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child ? status : -1;
}

static int read_from(struct pt_job *job, struct reader *r, bool sort)
{
    int ends[2], error;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return pt_job_fail(job, errno, "cannot make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        close(ends[0]);
        pt_ctf_source_run(job->directory, ends[1], sort);
    }
    error = errno;
    close(ends[1]);
    r->from = ends[0];
    if (child < 0) {
        close(ends[0]);
        return pt_job_fail(job, error, "cannot start a process: %s", strerror(error));
    }
    take_all(r);
    close(ends[0]);
    /* its further output is not needed, and it may be in an endless loop */
    if (!r->ended)
        kill(child, SIGKILL);
    return conclude(r, wait_for(child));
}

static int ctf_read(struct pt_job *job)
{
    const char *order = pt_job_option(job, "order", 0);
    bool sort = order && strcmp(order, "sort") == 0;
    struct reader *r;
    int error;

    if (order && !sort && strcmp(order, "time") != 0)
        return pt_job_fail(job, EINVAL, "order '%.40s': time or sort", order);
    r = calloc(1, sizeof *r);
    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    r->last_ns = INT64_MIN;
    error = read_from(job, r, sort);
    for (uint32_t i = 0; i < r->class_count; i++)
        free(r->names[i]);
    free(r);
    return error;
}

const struct pt_format pt_format_ctf = {
    .about = { CTF_ABOUT, .imports = true },
    .write = pt_ctf_write,
    .read = ctf_read,
};
