/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export as a kev file.  Events that were imported from QNX become the records that they
 * were; context switches become thread states, all others events of class USER, from
 * which our import makes the same events again: kev_roundtrip.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/qnx/kev_write.h"

int pt_kev_write(struct pt_job *job);

/* ---- records ---- */

static uint8_t *add_record(struct pt_kev_writer *w, uint32_t header, uint32_t low)
{
    uint8_t *at = w->out + (size_t)w->count++ * PT_KEV_RECORD;

    pt_kev_store(at, header);
    pt_kev_store(at + 4, low);
    return at;
}

static bool close_buffer(struct pt_kev_writer *w)
{
    size_t bytes = (size_t)w->count * PT_KEV_RECORD;

    if (w->count == 0)
        return true;
    pt_kev_store(w->out + 12, w->count);
    w->count = 0;
    w->sequence++;
    if (fwrite_unlocked(w->out, 1, bytes, w->job->file) == bytes)
        return true;
    pt_job_fail_file(w->job);
    return false;
}

bool pt_kev_tells_time(struct pt_kev_writer *w, unsigned cpu, int64_t ns)
{
    uint32_t high = (uint32_t)((uint64_t)ns >> 32);

    if (w->cpu[cpu].known && w->cpu[cpu].sequence == w->sequence && w->cpu[cpu].high == high)
        return false;
    w->cpu[cpu].known = true;
    w->cpu[cpu].sequence = w->sequence;
    w->cpu[cpu].high = high;
    if (cpu >= w->cpus)
        w->cpus = cpu + 1;
    return true;
}

/* Makes room for a record, and writes the records that must come before it. */
static bool make_ready(struct pt_kev_writer *w, uint32_t header, int64_t ns)
{
    uint32_t control = pt_kev_header(PT_KEV_CONTROL, 0, pt_kev_cpu(header), 0);
    uint8_t *at;

    if (w->count + 2 > PT_KEV_BUFFER_MAX && !close_buffer(w))
        return false;
    if (w->count == 0) {
        at = add_record(w, control | PT_KEV_BUFFER, (uint32_t)ns);
        pt_kev_store(at + 8, w->sequence);
    }
    if (!pt_kev_tells_time(w, pt_kev_cpu(header), ns))
        return true;
    at = add_record(w, control | PT_KEV_TIME, (uint32_t)ns);
    pt_kev_store(at + 8, (uint32_t)((uint64_t)ns >> 32));
    pt_kev_store(at + 12, (uint32_t)ns);
    return true;
}

static bool open_buffer(struct pt_kev_writer *w, int64_t ns)
{
    return make_ready(w, 0, ns);
}

static bool put_records(struct pt_kev_writer *w, uint32_t header, const uint8_t *data,
                        size_t length, int64_t ns, bool cut, const struct posixtrace_event *note)
{
    (void)note;
    for (size_t i = 0; i < length; i += 8) {
        unsigned part = i + 8 == length && !cut ? length == 8 ? PT_KEV_SIMPLE : PT_KEV_END
                        : i == 0                ? PT_KEV_BEGIN
                                                : PT_KEV_MIDDLE;

        if (!make_ready(w, header, ns))
            return false;
        memcpy(add_record(w, header | (uint32_t)part << 30, (uint32_t)ns) + 8, data + i, 8);
    }
    return w->count < PT_KEV_BUFFER_HIGH || close_buffer(w);
}

static bool put_head_line(struct pt_kev_writer *w, const char *name, const char *value)
{
    if (fprintf(w->job->file, "TRACE_%s::%s", name, value ? value : "") > 0)
        return true;
    pt_job_fail_file(w->job);
    return false;
}

/* ---- events ---- */

/* A gap is between two buffers, also if they have nothing in them. */
bool pt_kev_write_gap(struct pt_kev_writer *w, uint32_t missing, int64_t ns)
{
    if ((w->count == 0 && !w->open(w, ns)) || !w->close(w))
        return false;
    w->sequence += missing;
    return w->open(w, ns);
}

static void learn(struct pt_kev_writer *w, struct pt_kev_target *t,
                  const struct posixtrace_event *e)
{
    enum pt_kev_form form;
    unsigned type;

    t->kind = PT_KEV_IS_ANY;
    if (!w->of_qnx)
        return;
    if (strcmp(e->name, PT_KEV_LOST_EVENT) == 0)
        t->kind = PT_KEV_IS_LOST;
    else if (strcmp(e->name, PT_KEV_OTHER_EVENT) == 0)
        t->kind = PT_KEV_IS_OTHER;
    else if (pt_kev_named(&w->rules, e->name, &type, &form))
        t->kind = PT_KEV_IS_NATIVE;
    if (t->kind != PT_KEV_IS_NATIVE)
        return;
    t->type = (uint16_t)type;
    t->form = (uint8_t)form;
    if (type >> 10 == PT_KEV_USER) {
        if (!pt_kev_user_is_free(w, type & 1023, 0))
            t->kind = PT_KEV_IS_ANY;
        w->taken[type & 1023] = true;
    }
}

/* Was the event added by an import, beside the events of QNX?  The next import will add it
 * again. */
static bool is_derived(struct pt_kev_writer *w, const struct posixtrace_event *e)
{
    if (w->swallow > 0) {
        w->swallow--;
        if (strcmp(e->name, "posix_trace_overflow") == 0 ||
            strcmp(e->name, "posix_trace_resume") == 0)
            return true;
        w->swallow = 0;
    }
    return w->of_qnx && (e->id == POSIXTRACE_SWITCH_IN || e->id == POSIXTRACE_SWITCH_OUT ||
                         e->id == POSIXTRACE_SWITCH_PREEMPTED || e->id == POSIXTRACE_SLEEP ||
                         e->id == POSIXTRACE_SLEEP_DONE);
}

/* A missing buffer number shows the loss to all readers; ours knows that it is intended. */
static bool write_lost(struct pt_kev_writer *w, const struct posixtrace_event *e, bool *done)
{
    uint32_t missing = e->data_len == 12 ? pt_kev_load(e->data, false) : 0;

    *done = missing > 0 && missing <= INT32_MAX;
    w->swallow = *done ? 2 : 0;
    return !*done || pt_kev_write_gap(w, missing, e->ns);
}

static bool write_event(struct pt_kev_writer *w, const struct posixtrace_event *e)
{
    struct pt_kev_target *t = &w->target[e->id % PT_KEV_EVENT_IDS];
    bool done = false;

    if (is_derived(w, e))
        return true;
    if (t->kind == PT_KEV_IS_NEW)
        learn(w, t, e);
    if (t->kind == PT_KEV_IS_NATIVE && !pt_kev_write_native(w, t, e, &done))
        return false;
    if (t->kind == PT_KEV_IS_LOST && !write_lost(w, e, &done))
        return false;
    if (t->kind == PT_KEV_IS_OTHER && !pt_kev_write_other(w, e, &done))
        return false;
    if (!done && !w->of_qnx && e->id <= POSIXTRACE_SWITCH_PREEMPTED &&
        e->id >= POSIXTRACE_SWITCH_IN && !pt_kev_write_switch(w, e, &done))
        return false;
    if (done)
        return true;
    if (!w->of_qnx && e->id == POSIX_TRACE_OVERFLOW && !pt_kev_write_overflow(w, e))
        return false;
    return pt_kev_write_ours(w, t, e);
}

/* The header of the trace that it was comes first. */
static bool begin(struct pt_kev_writer *w, struct posixtrace_event *e, bool *any)
{
    *any = pt_job_next(w->job, e);
    while (*any && strcmp(e->name, PT_KEV_HEADER_EVENT) == 0 && pt_kev_keep_attribute(w, e)) {
        w->of_qnx = true;
        *any = pt_job_next(w->job, e);
    }
    pt_kev_rules_take(&w->rules, w->attributes, w->attribute_bytes);
    if (w->job->error || !pt_kev_write_head(w, *any ? e->ns : 0))
        return false;
    if (*any && w->of_qnx && e->ns < 0)
        pt_job_note(w->job, PT_KEV_TELL_TIME,
                    "times before 1970, which QNX does not have: an "
                    "import reads them as times in the far future");
    return true;
}

int pt_kev_write_all(struct pt_kev_writer *w)
{
    struct posixtrace_event e;
    bool good, any;

    w->cpu_at = -1;
    w->sequence = 1;
    w->data = malloc(PT_KEV_DATA_MAX);
    w->attributes = malloc(PT_KEV_HEAD_MAX);
    if (!w->data || !w->attributes)
        return pt_job_fail(w->job, ENOMEM, "no memory");
    good = begin(w, &e, &any);
    while (good && any) {
        good = write_event(w, &e);
        any = good && pt_job_next(w->job, &e);
    }
    if (good && !w->job->error && w->close(w))
        pt_kev_write_cpus(w);
    return w->job->error;
}

int pt_kev_write(struct pt_job *job)
{
    struct pt_kev_writer *w = calloc(1, sizeof *w);

    if (w) {
        w->job = job;
        w->put = put_records;
        w->marks = true;
        w->head_line = put_head_line;
        w->open = open_buffer;
        w->close = close_buffer;
        w->out = malloc(PT_KEV_BUFFER_MAX * PT_KEV_RECORD);
    }
    if (w && w->out)
        pt_kev_write_all(w);
    else
        pt_job_fail(job, ENOMEM, "no memory");
    if (w) {
        free(w->out);
        free(w->data);
        free(w->attributes);
    }
    free(w);
    return job->error;
}
