/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_export and _import: check the arguments, then let the format work. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/format/common/format.h"

#define NOTES_OF_A_KIND 20u
#define PROGRESS_EVERY  0x3fffu
#define AHEAD           64u
#define FILE_BUFFER     (1u << 18)

int pt_job_fail(struct pt_job *job, int error, const char *text, ...)
{
    va_list arguments;

    if (job->error)
        return job->error;
    va_start(arguments, text);
    vsnprintf(job->c->error, sizeof job->c->error, text, arguments);
    va_end(arguments);
    return job->error = error;
}

int pt_job_fail_file(struct pt_job *job)
{
    int error = errno ? errno : EIO;

    return pt_job_fail(job, error, "%s %s: %s", job->builder ? "cannot read" : "cannot write",
                       job->c->name ? job->c->name : "the file", strerror(error));
}

bool pt_job_losses(const struct pt_job *job, uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct posixtrace_info info;

    if (posixtrace_get_info(job->trid, &info, sizeof info) != 0)
        return false;
    memcpy(lost, info.lost, sizeof info.lost);
    return true;
}

uint64_t pt_job_lost(const struct pt_job *job)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], sum = 0;

    if (!pt_job_losses(job, lost))
        return 0;
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += lost[i];
    return sum;
}

static void tell(struct pt_job *job, unsigned kind, const char *text, va_list arguments)
{
    char words[300];

    if (!job->c->note || kind >= sizeof job->notes / sizeof *job->notes ||
        job->notes[kind]++ >= NOTES_OF_A_KIND)
        return;
    vsnprintf(words, sizeof words, text, arguments);
    job->c->note(job->c->context, words);
}

void pt_job_note(struct pt_job *job, unsigned kind, const char *text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    tell(job, kind, text, arguments);
    va_end(arguments);
}

void pt_job_left_out(struct pt_job *job, unsigned kind, const char *why, ...)
{
    va_list arguments;

    job->c->left_out++;
    if (!why)
        return;
    va_start(arguments, why);
    tell(job, kind, why, arguments);
    va_end(arguments);
}

bool pt_job_progress(struct pt_job *job, uint64_t done)
{
    int ends = 0;

    if (!(done & PROGRESS_EVERY) && job->c->progress)
        ends = job->c->progress(job->c->context, done);
    if (ends == 0)
        return true;
    pt_job_fail(job, ends, "stopped after %llu events", (unsigned long long)job->c->events);
    return false;
}

/* Reads on; false: there is nothing, or job->error is set. */
static bool read_ahead(struct pt_job *job)
{
    size_t got = 0;
    int error = posixtrace_next_events(job->trid, job->ahead, sizeof *job->ahead, job->ahead_room,
                                       &got);

    if (error)
        pt_job_fail(job, error, "cannot read events: %s", strerror(error));
    job->ahead_at = 0;
    job->ahead_count = got;
    return got > 0;
}

/* A gap that begins before the selected time, or ends there. */
static void look_for_gap(struct pt_job *job, const struct posixtrace_event *e)
{
    if (!job->c->from_ns || e->ns >= *job->c->from_ns)
        return;
    if (e->id == POSIX_TRACE_OVERFLOW) {
        job->gap = *e;
        job->gap.name = "posix_trace_overflow";
        job->gap.thread_name = "";
        job->gap.data = NULL;
        job->gap.data_len = 0;
        job->gap_is_open = true;
    } else if (e->id == POSIX_TRACE_RESUME) {
        job->gap_is_open = false;
    }
}

/* Does a gap last until next, or the end for NULL, and so into the selected time?  Then its mark,
 * once. */
static bool take_gap(struct pt_job *job, const struct posixtrace_event *next,
                     struct posixtrace_event *mark)
{
    if (!job->gap_is_open || (next && next->ns < *job->c->from_ns))
        return false;
    job->gap_is_open = false;
    job->gap.ns = *job->c->from_ns;
    *mark = job->gap;
    return true;
}

int pt_job_next(struct pt_job *job, struct posixtrace_event *event)
{
    bool wanted = false;

    while (!wanted) {
        bool end = job->ahead_at == job->ahead_count && !job->error && !read_ahead(job);

        if (job->error)
            return 0;
        if (take_gap(job, end ? NULL : &job->ahead[job->ahead_at], event)) {
            job->c->events++;
            return 1;
        }
        if (end)
            return 0;
        *event = job->ahead[job->ahead_at++];
        look_for_gap(job, event);
        wanted = !job->c->wants || job->c->wants(job->c->context, event);
        job->c->events += wanted;
        if (!pt_job_progress(job, ++job->read))
            return 0;
    }
    return 1;
}

bool pt_job_add(struct pt_job *job, const struct posixtrace_event *event)
{
    int error = posixtrace_log_builder_add(job->builder, event, sizeof *event);

    if (error)
        pt_job_fail(job, error, "event %llu, '%s': %s", (unsigned long long)job->c->events + 1,
                    event->name,
                    error == ENOSPC ? "the disk is full, or it is one more than the 1023 event "
                                      "types that a log holds"
                                    : strerror(error));
    return !error && pt_job_progress(job, ++job->c->events);
}

bool pt_job_describe(struct pt_job *job, const char *event_name, const char *description)
{
    int error = posixtrace_log_builder_describe(job->builder, event_name, description);

    if (error && error != EEXIST)
        pt_job_fail(job, error, "cannot describe '%s' as '%s': %s", event_name, description,
                    strerror(error));
    return !error || error == EEXIST;
}

/* The value in "name=value", "" for "name"; NULL: another name. */
static const char *value_of(const char *option, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(option, name, length) != 0)
        return NULL;
    if (option[length] == '=')
        return option + length + 1;
    return option[length] ? NULL : "";
}

const char *pt_job_option(const struct pt_job *job, const char *name, size_t n)
{
    const char *const *options = job->c->options;

    for (; options && *options; options++) {
        const char *value = value_of(*options, name);

        if (value && n-- == 0)
            return value;
    }
    return NULL;
}

static bool options_are_known(struct pt_job *job)
{
    for (const char *const *o = job->c->options; o && *o; o++) {
        const struct posixtrace_format_option *known = job->format->about.options;

        while (known && known->name && !value_of(*o, known->name))
            known++;
        if (!known || !known->name) {
            pt_job_fail(job, EINVAL, "format %s has no option '%s'", job->format->about.name, *o);
            return false;
        }
    }
    return true;
}

static int begin(struct pt_job *job, const char *name, bool directory)
{
    const struct posixtrace_format *about;
    size_t i = 0;

    job->c->events = job->c->left_out = 0;
    job->c->error[0] = '\0';
    while (pt_formats[i] && strcmp(pt_formats[i]->about.name, name) != 0)
        i++;
    job->format = pt_formats[i];
    if (!job->format)
        return pt_job_fail(job, EINVAL, "there is no format '%s'", name);
    about = &job->format->about;
    if (about->unavailable && !(job->builder ? about->imports : about->exports))
        return pt_job_fail(job, ENOTSUP, "format %s: %s", name, about->unavailable);
    if (!(job->builder ? job->format->read : job->format->write))
        return pt_job_fail(job, ENOTSUP, "format %s cannot be %s", name,
                           job->builder ? "imported" : "exported");
    if (about->is_directory != directory && !(directory && about->also_directory))
        return pt_job_fail(job, EINVAL, "a trace in format %s is a %s", name,
                           directory ? "file, not a directory" : "directory, not a file");
    return options_are_known(job) ? 0 : job->error;
}

/* The caller's conversion, in the caller's size. */
static struct posixtrace_conversion given(const struct posixtrace_conversion *c, size_t size)
{
    struct posixtrace_conversion conversion = { .options = NULL };

    memcpy(&conversion, c, size < sizeof conversion ? size : sizeof conversion);
    return conversion;
}

/* Hands the results to the caller; returns error. */
static int give_back(const struct pt_job *job, struct posixtrace_conversion *to, size_t size,
                     int error)
{
    memcpy(to, job->c, size < sizeof *job->c ? size : sizeof *job->c);
    return error;
}

static ssize_t read_by_caller(void *cookie, char *to, size_t size)
{
    const struct pt_job *job = cookie;

    return job->c->read(job->c->context, to, size);
}

/* As the C library wants it: 0, and not -1, where nothing can be written.  The library writes again
 * what a failed call has left, at the latest when it closes the file. */
static ssize_t write_by_caller(void *cookie, const char *from, size_t size)
{
    struct pt_job *job = cookie;
    size_t done = 0;
    ssize_t n;

    while (done < size && !job->write_error) {
        errno = 0;
        n = job->c->write(job->c->context, from + done, size - done);
        if (n > 0)
            done += (size_t)n;
        else
            job->write_error = n < 0 && errno ? errno : EIO;
    }
    if (job->write_error)
        errno = job->write_error;
    return (ssize_t)done;
}

/* A descriptor of the wrong kind is refused before the first event is read. */
static bool is_open_for(int fd, int other)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) == other)
        errno = EBADF;
    return flags >= 0 && (flags & O_ACCMODE) != other;
}

/* A file over the caller's function, or over a copy of the descriptor, which shares its offset. */
static int open_file(struct pt_job *job, int fd)
{
    bool writes = !job->builder;
    const char *mode = writes ? "w" : "r";
    int copy;

    job->fd = fd;
    if (writes ? job->c->write != NULL : job->c->read != NULL) {
        job->file = fopencookie(
            job, mode, (cookie_io_functions_t){ .read = read_by_caller, .write = write_by_caller });
    } else {
        copy = is_open_for(fd, writes ? O_RDONLY : O_WRONLY) ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
        job->file = copy >= 0 ? fdopen(copy, mode) : NULL;
        if (copy >= 0 && !job->file)
            close(copy);
    }
    if (!job->file)
        return pt_job_fail(job, errno, "cannot use the descriptor: %s", strerror(errno));
    setvbuf(job->file, NULL, _IOFBF, FILE_BUFFER);
    return 0;
}

/* What could not be written is perhaps only known now. */
static int close_file(struct pt_job *job, int error)
{
    FILE *file = job->file;

    job->file = NULL;
    errno = 0;
    if (file && fclose(file) != 0 && !error && !job->builder)
        error = pt_job_fail_file(job);
    return error;
}

static int export(struct pt_job *job, const char *format, int fd)
{
    struct posixtrace_event ahead[AHEAD];
    int error = begin(job, format, job->directory != NULL);

    job->ahead = ahead;
    job->ahead_room = AHEAD;
    if (!error && !job->directory)
        error = open_file(job, fd);
    if (!error)
        error = posixtrace_fields_create(job->trid, &job->fields);
    if (!error) {
        errno = 0;
        error = job->format->write(job);
        posixtrace_fields_free(job->fields);
    }
    if (!error && job->file && (fflush(job->file) != 0 || ferror(job->file)))
        error = pt_job_fail_file(job);
    return close_file(job, error);
}

int posixtrace_export(trace_id_t trid, const char *format, int fd,
                      struct posixtrace_conversion *conversion, size_t size)
{
    struct posixtrace_conversion c;
    struct pt_job job = { .c = &c, .trid = trid };

    if (!format || !conversion || size == 0)
        return EINVAL;
    c = given(conversion, size);
    return give_back(&job, conversion, size, export(&job, format, fd));
}

int posixtrace_export_directory(trace_id_t trid, const char *format, const char *directory,
                                struct posixtrace_conversion *conversion, size_t size)
{
    struct posixtrace_conversion c;
    struct pt_job job = { .c = &c, .trid = trid, .directory = directory };

    if (!format || !directory || !conversion || size == 0)
        return EINVAL;
    c = given(conversion, size);
    return give_back(&job, conversion, size, export(&job, format, -1));
}

/* ---- several logs ---- */

struct log_job {
    struct pt_job job;
    struct posixtrace_conversion c;
    const struct posixtrace_export_log *log;
    struct logs_job *all;
    struct posixtrace_event ahead[AHEAD];
};

struct logs_job {
    struct posixtrace_conversion *c; /* the caller's */
    struct log_job *logs;
    struct pt_job **jobs;
    size_t count;
};

static bool log_wants(void *context, const struct posixtrace_event *event)
{
    const struct log_job *l = context;

    return l->log->wants(l->log->context, event);
}

static void log_note(void *context, const char *text)
{
    const struct log_job *l = context;
    char words[400];

    snprintf(words, sizeof words, "%.80s: %s", l->log->label, text);
    l->all->c->note(l->all->c->context, words);
}

static int log_progress(void *context, uint64_t events)
{
    const struct log_job *l = context;

    events = 0; /* of this log */
    for (size_t i = 0; i < l->all->count; i++)
        events += l->all->logs[i].job.read;
    return l->all->c->progress(l->all->c->context, events);
}

static ssize_t log_write(void *context, const void *from, size_t size)
{
    const struct log_job *l = context;

    return l->all->c->write(l->all->c->context, from, size);
}

static int prepare_log(struct logs_job *all, size_t i, const struct posixtrace_export_log *log,
                       const char *format)
{
    struct log_job *l = &all->logs[i];
    int error;

    l->log = log;
    l->all = all;
    l->c = *all->c;
    l->c.context = l;
    l->c.wants = log->wants ? log_wants : NULL;
    l->c.note = all->c->note ? log_note : NULL;
    l->c.progress = all->c->progress ? log_progress : NULL;
    l->c.write = all->c->write ? log_write : NULL;
    l->c.from_ns = log->from_ns;
    l->job = (struct pt_job){ .c = &l->c,
                              .trid = log->trid,
                              .ahead = l->ahead,
                              .ahead_room = AHEAD,
                              .label = log->label,
                              .number = (uint32_t)i,
                              .logs = (uint32_t)all->count };
    all->jobs[i] = &l->job;
    error = begin(&l->job, format, false);
    if (!error && !l->job.format->write_logs)
        error = pt_job_fail(&l->job, ENOTSUP, "a trace in format %s is of one log", format);
    return error ? error : posixtrace_fields_create(log->trid, &l->job.fields);
}

/* The first error of all, with its text. */
static int error_of(const struct logs_job *all, int error)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct log_job *l = &all->logs[i];

        if (!l->job.error)
            continue;
        memcpy(all->c->error, l->c.error, sizeof l->c.error);
        return l->job.error;
    }
    return error;
}

static int export_logs(struct logs_job *all, const struct posixtrace_export_log *logs,
                       size_t log_size, const char *format, int fd)
{
    struct pt_job *first = &all->logs[0].job;
    int error = 0;

    for (size_t i = 0; !error && i < all->count; i++)
        error = prepare_log(
            all, i, (const struct posixtrace_export_log *)((const char *)logs + i * log_size),
            format);
    if (!error)
        error = open_file(first, fd);
    for (size_t i = 1; !error && i < all->count; i++)
        all->jobs[i]->file = first->file;
    if (!error) {
        errno = 0;
        error = first->format->write_logs(all->jobs, all->count);
    }
    if (!error && (fflush(first->file) != 0 || ferror(first->file)))
        error = pt_job_fail_file(first);
    error = close_file(first, error);
    for (size_t i = 0; i < all->count; i++) {
        posixtrace_fields_free(all->logs[i].job.fields);
        all->c->events += all->logs[i].c.events;
        all->c->left_out += all->logs[i].c.left_out;
    }
    return error_of(all, error);
}

int posixtrace_export_logs(const struct posixtrace_export_log *logs, size_t log_size, size_t count,
                           const char *format, int fd, struct posixtrace_conversion *conversion,
                           size_t size)
{
    struct posixtrace_conversion c;
    struct logs_job all = { .c = &c, .count = count };
    struct pt_job whole = { .c = &c };
    int error;

    if (!logs || log_size < sizeof *logs || count == 0 || count > POSIXTRACE_EXPORT_LOGS ||
        !format || !conversion || size == 0)
        return EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!((const struct posixtrace_export_log *)((const char *)logs + i * log_size))->label)
            return EINVAL;
    c = given(conversion, size);
    c.events = c.left_out = 0;
    c.error[0] = '\0';
    all.logs = calloc(count, sizeof *all.logs);
    all.jobs = calloc(count, sizeof(struct pt_job *));
    error = all.logs && all.jobs ? export_logs(&all, logs, log_size, format, fd) : ENOMEM;
    free(all.logs);
    free(all.jobs);
    return give_back(&whole, conversion, size, error);
}

/* ---- import ---- */

static int import(struct pt_job *job, const char *format, int fd)
{
    int error = begin(job, format, job->directory != NULL);

    if (!error && !job->directory)
        error = open_file(job, fd);
    errno = 0;
    if (!error)
        error = job->format->read(job);
    return close_file(job, error);
}

int posixtrace_import(const char *format, int fd, posixtrace_log_builder_t *builder,
                      struct posixtrace_conversion *conversion, size_t size)
{
    struct posixtrace_conversion c;
    struct pt_job job = { .c = &c, .builder = builder };

    if (!format || !builder || !conversion || size == 0)
        return EINVAL;
    c = given(conversion, size);
    return give_back(&job, conversion, size, import(&job, format, fd));
}

int posixtrace_import_directory(const char *format, const char *directory,
                                posixtrace_log_builder_t *builder,
                                struct posixtrace_conversion *conversion, size_t size)
{
    struct posixtrace_conversion c;
    struct pt_job job = { .c = &c, .builder = builder, .directory = directory };

    if (!format || !directory || !builder || !conversion || size == 0)
        return EINVAL;
    c = given(conversion, size);
    return give_back(&job, conversion, size, import(&job, format, -1));
}
