/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of BTF.  Each line becomes an event "btf:TYPE:action" of the thread that did it or that it
 * was done to.  Lines of processes and semaphores also become the system events that the metrics of
 * Linux use.  A process gets and loses a core as a thread does.  Its activation is the due time of
 * a sleep; its start ends that sleep, and its end starts the next one.  A semaphore is a mutex.
 *
 * A line that cannot be understood is reported with its number and skipped; with the option
 * "strict" the import ends there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_read.h"
#include "analysis/format/common/format.h"

enum { PARAMETERS_MAX = 64 << 10, GARBAGE_LINES = 100 };

/* ---- messages ---- */

/* A line that is passed over. */
static bool bad_line(struct pt_btf_reader *r, uint64_t line, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
static bool bad_line(struct pt_btf_reader *r, uint64_t line, const char *what, ...)
{
    char words[160];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(words, sizeof words, what, arguments);
    va_end(arguments);
    if (r->bad_lines++ == 0) {
        r->first_bad_line = line;
        memcpy(r->first_bad, words, sizeof words);
    }
    if (r->strict || (!r->has_events && r->bad_lines == GARBAGE_LINES)) {
        pt_job_fail(r->job, EILSEQ, "%sline %" PRIu64 ": %s",
                    r->strict ? "" : "not BTF: ", r->strict ? line : r->first_bad_line,
                    r->strict ? words : r->first_bad);
        return false;
    }
    pt_job_left_out(r->job, PT_BTF_READ_LINE, "line %" PRIu64 ": %s: left out", line, words);
    return true;
}

/* ---- parameters ---- */

/* Those before the first event wait for it: the date among them is the base of all times. */
static bool flush_parameters(struct pt_btf_reader *r)
{
    const char *at = r->parameters, *end = at + r->parameter_bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (!pt_btf_reader_parameter(r, at, value, r->base))
            return false;
        at = value + strlen(value) + 1;
    }
    r->parameter_bytes = 0;
    return true;
}

static bool keep_parameter(struct pt_btf_reader *r, const struct pt_btf_header *h)
{
    size_t name = strlen(h->name) + 1, value = strlen(h->value) + 1;

    if (value > PT_BTF_DATA_MAX / 2 || name > PT_BTF_DATA_MAX / 4)
        return bad_line(r, r->file.line, "a parameter that is too long");
    if (r->has_events && r->spool.file)
        return pt_btf_reader_put_parameter(r, h->name, h->value);
    if (r->has_events)
        return pt_btf_reader_parameter(r, h->name, h->value, r->last_ns);
    if (r->parameter_bytes + name + value > PARAMETERS_MAX)
        return bad_line(r, r->file.line, "more parameters than are kept (64 KiB)");
    memcpy(r->parameters + r->parameter_bytes, h->name, name);
    memcpy(r->parameters + r->parameter_bytes + name, h->value, value);
    r->parameter_bytes += name + value;
    return true;
}

static bool take_parameter(struct pt_btf_reader *r, char *text)
{
    struct pt_btf_header h;
    struct pt_btf_entity *entity;
    char word[48];

    pt_btf_file_parameter(&r->file, text, &h);
    if (h.fault)
        pt_job_note(r->job, PT_BTF_READ_PARAMETER, "line %" PRIu64 ": %s", r->file.line, h.fault);
    if (h.kind == PT_BTF_COMMENT || h.kind == PT_BTF_MAPPING) {
        entity = h.entity && h.type < PT_BTF_TYPES ? pt_btf_jobs_entity(&r->jobs, h.entity) : NULL;
        if (entity)
            entity->type = (uint8_t)h.type;
        return true;
    }
    if (h.kind == PT_BTF_CREATION_DATE && !r->has_events && !r->has_base) {
        r->has_base = pt_btf_date(h.value, &r->base);
        if (!r->has_base)
            pt_job_note(r->job, PT_BTF_READ_PARAMETER,
                        "line %" PRIu64 ": '%s' is no date of ISO "
                        "8601: times begin in 1970",
                        r->file.line, pt_btf_shown(h.value, word));
    }
    return keep_parameter(r, &h);
}

/* ---- lines ---- */

static bool time_of(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t *ns, bool *go_on)
{
    uint64_t line = r->file.line;

    *go_on = true;
    if (r->has_events && !r->spool.file && e->time < r->last_time)
        *go_on = bad_line(r, line, "time %" PRIi64 " is before %" PRIi64 " of line %" PRIu64,
                          e->time, r->last_time, r->last_line);
    else if (e->time < 0)
        *go_on = bad_line(r, line, "time %" PRIi64 " is negative", e->time);
    else if (!pt_btf_file_ns(&r->file, e->time, ns) || __builtin_add_overflow(*ns, r->base, ns))
        *go_on = bad_line(r, line, "time %" PRIi64 " is beyond the year 2262", e->time);
    else if (!r->spool.file && *ns < r->last_ns)
        *go_on = bad_line(r, line, "the time scale has changed before it");
    else
        return true;
    return false;
}

static bool take_event(struct pt_btf_reader *r, char *text)
{
    struct pt_btf_event e;
    const char *fault = pt_btf_file_event(&r->file, text, &e);
    int64_t ns;
    bool go_on;

    if (!fault && strlen(e.note) + strlen(e.action) + strlen(e.type_name) > PT_BTF_DATA_MAX / 2)
        fault = "a note that is too long";
    if (fault)
        return bad_line(r, r->file.line, "%s", fault);
    if (!time_of(r, &e, &ns, &go_on))
        return go_on;
    if (r->file.divide > 1 && e.time % r->file.divide)
        pt_job_note(r->job, PT_BTF_READ_TIME,
                    "line %" PRIu64 ": picoseconds below a nanosecond "
                    "are cut off",
                    r->file.line);
    if (!r->has_events && !flush_parameters(r))
        return false;
    if (!r->has_events && !r->file.version[0])
        pt_job_note(r->job, PT_BTF_READ_PARAMETER, "there is no #version before the first event");
    r->has_events = true;
    r->last_ns = ns;
    r->last_time = e.time;
    r->last_line = r->line = r->file.line;
    return r->spool.file ? pt_btf_reader_put_event(r, &e, ns) : pt_btf_reader_event(r, &e, ns);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static bool take_line(struct pt_btf_reader *r, int kind, char *text)
{
    if (kind == PT_BTF_TOO_LONG)
        return bad_line(r, r->file.line, "longer than 128 KiB");
    if (kind == PT_BTF_HAS_NUL)
        return bad_line(r, r->file.line, "has a NUL byte");
    if (is_blank(text))
        return true;
    return text[0] == '#' ? take_parameter(r, text) : take_event(r, text);
}

/* Ends with PT_BTF_END, with a negative errno, or with job->error. */
static int take_lines(struct pt_btf_reader *r)
{
    char *text = NULL;
    int kind;

    while ((kind = pt_btf_file_next(&r->file, &text)) > PT_BTF_END) {
        if (r->spool.file && !pt_job_progress(r->job, r->file.line))
            break;
        if (!take_line(r, kind, text))
            break;
    }
    return kind;
}

static void read_lines(struct pt_btf_reader *r)
{
    int end = take_lines(r);

    if (r->spool.file && !r->job->error)
        pt_btf_reader_add_sorted(r);
    if (end < 0)
        pt_job_fail(r->job, -end, "cannot read after line %" PRIu64 ": %s", r->file.line,
                    strerror(-end));
    else if (end > PT_BTF_END)
        return;
    else if (!r->has_events && r->bad_lines)
        pt_job_fail(r->job, EILSEQ, "not BTF: line %" PRIu64 ": %s", r->first_bad_line,
                    r->first_bad);
    else if (!r->has_events && r->file.line == 0)
        pt_job_fail(r->job, EILSEQ, "not BTF: line 1: the file is empty");
    else
        flush_parameters(r);
}

static void take_options(struct pt_btf_reader *r)
{
    const char *strict = pt_job_option(r->job, "strict", 0);

    r->strict = strict && strcmp(strict, "yes") == 0;
    if (strict && !r->strict && strcmp(strict, "no") != 0)
        pt_job_fail(r->job, EINVAL, "strict '%.40s': yes or no", strict);
}

/* From the first line on, which is where the input was when it was given to us. */
static int open_file(struct pt_btf_reader *r, off_t start)
{
    pt_btf_file_deinit(&r->file);
    clearerr(r->input);
    if (start >= 0 && fseeko(r->input, start, SEEK_SET) != 0)
        return errno;
    return pt_btf_file_init(&r->file, r->input);
}

/* Finds out first whether the lines are in order, but where one that is not ends the import. */
static int read_file(struct pt_btf_reader *r)
{
    bool in_order = true;
    off_t start = -1;
    int error = 0;

    r->input = r->job->file;
    if (!r->strict) {
        error = pt_temporary_input(r->job->file, &r->input);
        if (error)
            return pt_job_fail(r->job, error,
                               "cannot copy the input to a temporary file "
                               "(TMPDIR), to read it twice: %s",
                               strerror(error));
        start = ftello(r->input);
        error = open_file(r, start);
        in_order = error || pt_btf_reader_is_in_order(r);
    }
    if (!error && !r->job->error)
        error = open_file(r, start);
    if (error)
        return pt_job_fail(r->job, error, "cannot read lines: %s", strerror(error));
    error = in_order ? 0 : pt_spool_open(&r->spool);
    if (error)
        pt_btf_reader_cannot_sort(r, error);
    if (!r->job->error)
        read_lines(r);
    return r->job->error;
}

int pt_btf_read(struct pt_job *job)
{
    struct pt_btf_reader *r = calloc(1, sizeof *r);

    if (!r)
        return pt_job_fail(job, ENOMEM, "no memory");
    r->job = job;
    take_options(r);
    r->data = malloc(PT_BTF_DATA_MAX);
    r->parameters = malloc(PARAMETERS_MAX);
    if (!r->data || !r->parameters)
        pt_job_fail(job, ENOMEM, "no memory");
    if (!job->error)
        read_file(r);
    if (r->input && r->input != job->file)
        fclose(r->input);
    pt_spool_close(&r->spool);
    pt_btf_file_deinit(&r->file);
    pt_btf_jobs_free(&r->jobs);
    free(r->data);
    free(r->parameters);
    free(r);
    return job->error;
}
