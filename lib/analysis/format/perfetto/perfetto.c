/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Perfetto's protocol buffers (docs/formats/perfetto.md): a Trace is TracePackets, and each
 * of them here a description of a track, a TrackEvent, or a context switch as ftrace has
 * it.  All are of one sequence, which defines each name once, as a number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/perfetto/perfetto.h"

#define FLUSH_BYTES (64u << 10)
#define FIRST_BYTES (128u << 10)

/* TracePacket */
enum {
    PACKET_FTRACE_EVENTS = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_TRACE_STATS = 35,
    NEEDS_STATE = 2
};

/* TrackEvent */
enum {
    EVENT_CATEGORY_IIDS = 3,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_COUNTER_VALUE = 44,
    EVENT_FLOW_IDS = 47,
    EVENT_TERMINATING_FLOW_IDS = 48,
    SLICE_BEGIN = 1,
    SLICE_END = 2,
    INSTANT = 3,
    COUNTER = 4
};

/* FtraceEventBundle, FtraceEvent, SchedSwitchFtraceEvent */
enum {
    BUNDLE_CPU = 1,
    BUNDLE_EVENT = 2,
    FTRACE_TIMESTAMP = 1,
    FTRACE_PID = 2,
    FTRACE_SCHED_SWITCH = 4,
    PREV_COMM = 1,
    PREV_PID = 2,
    PREV_PRIO = 3,
    PREV_STATE = 4,
    NEXT_COMM = 5,
    NEXT_PID = 6,
    NEXT_PRIO = 7,
    STATE_RUNNABLE = 0,
    STATE_SLEEPS = 1,
    STATE_DEAD = 16,
    PRIO_UNKNOWN = 120
};

/* TraceStats, BufferStats */
enum { STATS_BUFFERS = 1, BUFFER_TRACE_WRITER_PACKET_LOSS = 19 };

static void flush(struct pt_perfetto *p)
{
    size_t used = pt_pb_used(&p->out);

    if (p->out.failed || p->interned.failed)
        pt_job_fail(p->job, ENOMEM, "no memory for a packet");
    else if (used && fwrite_unlocked(p->out.from, 1, used, p->job->file) != used)
        pt_job_fail_file(p->job);
    p->out.at = p->out.from;
}

static size_t open_packet(struct pt_perfetto *p, int64_t ns)
{
    size_t mark = pt_pb_open(&p->out, TRACE_PACKET);

    pt_pb_uint(&p->out, PACKET_TIMESTAMP, (uint64_t)ns);
    pt_pb_uint(&p->out, PACKET_SEQUENCE_ID, p->job->number + 1);
    pt_pb_uint(&p->out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
    return mark;
}

void pt_perfetto_close(struct pt_perfetto *p, size_t packet)
{
    size_t news = pt_pb_used(&p->interned);

    if (news) {
        pt_pb_bytes(&p->out, PACKET_INTERNED_DATA, p->interned.from, news);
        p->interned.at = p->interned.from;
    }
    pt_pb_close(&p->out, packet);
    if (pt_pb_used(&p->out) >= FLUSH_BYTES || p->out.failed || p->interned.failed)
        flush(p);
}

uint64_t pt_perfetto_name(struct pt_perfetto *p, uint32_t list, uint64_t *number, const char *text,
                          size_t length)
{
    size_t mark;

    if (*number)
        return *number;
    *number = ++p->names.last;
    mark = pt_pb_open(&p->interned, list);
    pt_pb_uint(&p->interned, 1, *number);
    pt_pb_string(&p->interned, 2, text, length);
    pt_pb_close(&p->interned, mark);
    return *number;
}

/* Number of the label's name. */
static uint64_t *label_number(struct pt_perfetto *p, uint32_t label)
{
    uint64_t *labels = p->labels;

    if (label >= p->label_room) {
        labels = realloc(labels, (label + 64u) * sizeof *labels);
        if (!labels) {
            pt_job_fail(p->job, ENOMEM, "no memory for the names of slices");
            return NULL;
        }
        memset(labels + p->label_room, 0, (label + 64u - p->label_room) * sizeof *labels);
        p->label_room = label + 64u;
        p->labels = labels;
    }
    return &labels[label];
}

static void put_label(struct pt_perfetto *p, uint32_t label)
{
    const char *text = pt_timeline_label(p->timeline, label);
    uint64_t *number = label_number(p, label);

    if (number)
        pt_pb_uint(&p->out, EVENT_NAME_IID,
                   pt_perfetto_name(p, INTERNED_EVENT_NAMES, number, text, strlen(text)));
}

static void put_category(struct pt_perfetto *p, const struct pt_tl_event *ev)
{
    const struct pt_tl_type *t = ev->type;

    if (t->class_length > 0)
        pt_pb_uint(&p->out, EVENT_CATEGORY_IIDS,
                   pt_perfetto_name(p, INTERNED_EVENT_CATEGORIES, &p->names.category[ev->e->id],
                                    t->name, t->class_length));
}

static void put_flows(struct pt_perfetto *p, const struct pt_tl_event *ev)
{
    for (size_t i = 0; i < ev->flow_count; i++)
        pt_pb_fixed64(&p->out, ev->flows[i].ends ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS,
                      ev->flows[i].id);
}

static size_t open_event(struct pt_perfetto *p, unsigned type, uint64_t uuid)
{
    size_t mark = pt_pb_open(&p->out, PACKET_TRACK_EVENT);

    pt_pb_uint(&p->out, EVENT_TYPE, type);
    pt_pb_uint(&p->out, EVENT_TRACK_UUID, uuid);
    return mark;
}

/* Times are unsigned there. */
static bool before_1970(struct pt_perfetto *p, int64_t ns, bool event)
{
    if (ns >= 0)
        return false;
    if (event)
        pt_job_left_out(p->job, PT_TL_NOTE_BACK_END, "an event at %lld ns is from before 1970",
                        (long long)ns);
    return true;
}

static void put_begin(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                      const struct pt_tl_event *ev)
{
    struct pt_perfetto *p = self;
    size_t packet, mark;

    if (before_1970(p, ns, ev))
        return;
    packet = open_packet(p, ns);
    mark = open_event(p, SLICE_BEGIN, pt_perfetto_uuid(p, t));
    put_label(p, label);
    if (ev) {
        put_category(p, ev);
        put_flows(p, ev);
        pt_perfetto_args(p, ev, false);
    } else {
        pt_perfetto_arg_true(p, TRACK_EVENT_DEBUG_ANNOTATIONS, &p->names.goes_on, "continued");
    }
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

static void put_end(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                    const struct pt_tl_event *ev)
{
    struct pt_perfetto *p = self;
    size_t packet, mark;

    (void)label;
    if (before_1970(p, ns, ev))
        return;
    packet = open_packet(p, ns);
    mark = open_event(p, SLICE_END, pt_perfetto_uuid(p, t));
    if (ev) {
        put_flows(p, ev);
        pt_perfetto_args(p, ev, true);
    }
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

/* The annotation is what the slice is, not why: its value is true. */
static void put_cut(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                    const char *because)
{
    struct pt_perfetto *p = self;
    size_t packet, mark;

    (void)label;
    (void)because;
    if (before_1970(p, ns, false))
        return;
    packet = open_packet(p, ns);
    mark = open_event(p, SLICE_END, pt_perfetto_uuid(p, t));
    pt_perfetto_arg_true(p, TRACK_EVENT_DEBUG_ANNOTATIONS, &p->names.cut, "cut");
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

static void put_instant(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct pt_perfetto *p = self;
    const char *name = ev->type->name;
    size_t packet, mark;

    if (before_1970(p, ev->e->ns, true))
        return;
    packet = open_packet(p, ev->e->ns);
    mark = open_event(p, INSTANT, pt_perfetto_uuid(p, t));
    pt_pb_uint(
        &p->out, EVENT_NAME_IID,
        pt_perfetto_name(p, INTERNED_EVENT_NAMES, &p->names.name[ev->e->id], name, strlen(name)));
    put_category(p, ev);
    put_flows(p, ev);
    pt_perfetto_args(p, ev, false);
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

/* Readers sort all packets by time. */
static void put_whole(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                      const struct pt_tl_event *ev)
{
    put_begin(self, t, since, label, ev);
    put_end(self, t, ev->e->ns, label, NULL);
}

static void put_counter(void *self, struct pt_tl_track *process, const struct pt_tl_event *ev,
                        unsigned option, size_t field)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    const struct posixtrace_value *v = &ev->values[field];
    struct pt_perfetto *p = self;
    size_t packet, mark;
    uint64_t n;

    if (before_1970(p, ev->e->ns, false))
        return;
    if (!(process->counters >> option & 1))
        pt_perfetto_counter(p, process, option);
    packet = open_packet(p, ev->e->ns);
    mark = open_event(p, COUNTER, pt_perfetto_counter_uuid(p, process, option));
    if (f->kind == POSIXTRACE_FIELD_FLOAT) {
        pt_pb_double(&p->out, EVENT_DOUBLE_COUNTER_VALUE,
                     posixtrace_value_float(ev->layout, field, v, 0));
    } else {
        n = posixtrace_value_integer(ev->layout, field, v, 0);
        if (f->kind != POSIXTRACE_FIELD_SIGNED && n > INT64_MAX)
            pt_pb_double(&p->out, EVENT_DOUBLE_COUNTER_VALUE, (double)n);
        else
            pt_pb_uint(&p->out, EVENT_COUNTER_VALUE, n);
    }
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

/* Thread 0 is that of no log. */
static uint64_t thread_of(const struct pt_perfetto *p, const struct pt_tl_runner *r)
{
    return r->tid ? (uint64_t)pt_job_number(p->job, r->tid) : 0;
}

static void put_side(struct pt_perfetto *p, const struct pt_tl_runner *r, uint32_t comm,
                     uint32_t pid, uint32_t prio)
{
    struct pt_pb *to = &p->out;
    const char *name = r->tid ? r->name : "swapper";

    pt_pb_string(to, comm, name, strlen(name));
    pt_pb_uint(to, pid, thread_of(p, r));
    pt_pb_uint(to, prio, PRIO_UNKNOWN);
}

/* Readers take PT_TL_CPUS numbers of processors: each of several logs has as many of them. */
static uint32_t processors_each(const struct pt_perfetto *p)
{
    return p->job->label ? PT_TL_CPUS / p->job->logs : PT_TL_CPUS;
}

static bool has_processor(struct pt_perfetto *p, uint32_t cpu)
{
    if (cpu < processors_each(p))
        return true;
    pt_job_left_out(p->job, PT_TL_NOTE_BACK_END,
                    "a switch on processor %lu: of %lu logs in one trace each has room for %lu",
                    (unsigned long)cpu, (unsigned long)p->job->logs,
                    (unsigned long)processors_each(p));
    return false;
}

static void put_run(void *self, int64_t ns, uint32_t cpu, const struct pt_tl_runner *prev,
                    enum pt_tl_leave why, const struct pt_tl_runner *next)
{
    static const uint8_t states[] = { STATE_RUNNABLE, STATE_SLEEPS, STATE_DEAD };
    struct pt_perfetto *p = self;
    size_t packet, bundle, event, mark;

    if (before_1970(p, ns, true) || !has_processor(p, cpu))
        return;
    packet = open_packet(p, ns);
    bundle = pt_pb_open(&p->out, PACKET_FTRACE_EVENTS);
    pt_pb_uint(&p->out, BUNDLE_CPU, cpu + p->job->number * processors_each(p));
    event = pt_pb_open(&p->out, BUNDLE_EVENT);
    pt_pb_uint(&p->out, FTRACE_TIMESTAMP, (uint64_t)ns);
    pt_pb_uint(&p->out, FTRACE_PID, thread_of(p, prev));
    mark = pt_pb_open(&p->out, FTRACE_SCHED_SWITCH);
    put_side(p, prev, PREV_COMM, PREV_PID, PREV_PRIO);
    pt_pb_uint(&p->out, PREV_STATE, states[why]);
    put_side(p, next, NEXT_COMM, NEXT_PID, NEXT_PRIO);
    pt_pb_close(&p->out, mark);
    pt_pb_close(&p->out, event);
    pt_pb_close(&p->out, bundle);
    pt_perfetto_close(p, packet);
}

/* The sum makes the viewer warn of lost data, and is the number that it shows. */
static void put_stats(struct pt_perfetto *p, const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    size_t packet = pt_pb_open(&p->out, TRACE_PACKET), mark, buffer;
    uint64_t sum = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += lost[i];
    pt_pb_uint(&p->out, PACKET_SEQUENCE_ID, p->job->number + 1);
    mark = pt_pb_open(&p->out, PACKET_TRACE_STATS);
    buffer = pt_pb_open(&p->out, STATS_BUFFERS);
    pt_pb_uint(&p->out, BUFFER_TRACE_WRITER_PACKET_LOSS, sum);
    pt_pb_close(&p->out, buffer);
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

static void put_lost(void *self, const struct pt_tl_track *t, int64_t ns,
                     const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    static const char name[] = "events lost";
    struct pt_perfetto *p = self;
    size_t packet, mark;

    packet = open_packet(p, ns < 0 ? 0 : ns);
    mark = open_event(p, INSTANT, pt_perfetto_uuid(p, t));
    pt_pb_uint(
        &p->out, EVENT_NAME_IID,
        pt_perfetto_name(p, INTERNED_EVENT_NAMES, &p->names.lost_name, name, sizeof name - 1));
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        if (lost[i])
            pt_perfetto_arg_count(p, &p->names.lost[i], posixtrace_loss_cause_text(i), lost[i]);
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
    if (t->pid == 0 && t->tid == 0)
        put_stats(p, lost);
}

static const struct pt_tl_ops ops = {
    pt_perfetto_first, pt_perfetto_track, put_begin, put_end, put_instant, put_whole, put_counter,
    put_run,           put_lost,          NULL,      put_cut, NULL,        NULL
};

static int begin(struct pt_perfetto *p)
{
    if (!pt_pb_init(&p->out, FIRST_BYTES) || !pt_pb_init(&p->interned, PT_PB_LEAST))
        return pt_job_fail(p->job, ENOMEM, "no memory for packets");
    p->timeline = pt_timeline_new(p->job, &ops, p);
    return p->job->error;
}

static int work(struct pt_perfetto *list, size_t count, struct pt_timeline **timelines)
{
    const bool failed = false;

    for (size_t i = 0; i < count; i++) {
        int error = begin(&list[i]);

        if (error)
            return error;
        timelines[i] = list[i].timeline;
    }
    pt_timelines_run(timelines, count, &failed);
    for (size_t i = 0; i < count; i++)
        if (list[i].job->error)
            return list[i].job->error;
    for (size_t i = 0; i < count; i++) {
        pt_timeline_end(list[i].timeline);
        if (!list[i].job->error)
            flush(&list[i]);
        if (list[i].job->error)
            return list[i].job->error;
    }
    return 0;
}

static void deinit(struct pt_perfetto *p)
{
    pt_timeline_free(p->timeline);
    for (size_t i = 0; i < PT_TL_TYPES; i++)
        free(p->names.fields[i]);
    free(p->labels);
    pt_pb_deinit(&p->interned);
    pt_pb_deinit(&p->out);
}

/* Each log is a sequence of packets of its own; readers sort them by time. */
static int write_logs(struct pt_job *const *jobs, size_t count)
{
    struct pt_perfetto *list = calloc(count, sizeof *list);
    struct pt_timeline **timelines = calloc(count, sizeof(struct pt_timeline *));
    int error = 0;

    if (!list || !timelines)
        error = pt_job_fail(jobs[0], ENOMEM, "no memory for the names");
    for (size_t i = 0; !error && i < count; i++)
        list[i].job = jobs[i];
    if (!error)
        error = work(list, count, timelines);
    for (size_t i = 0; list && i < count; i++)
        deinit(&list[i]);
    free(timelines);
    free(list);
    return error;
}

static int write_perfetto(struct pt_job *job)
{
    return write_logs(&job, 1);
}

static const struct posixtrace_format_option options[] = { PT_TL_OPTION_LINES, { NULL, NULL } };

const struct pt_format pt_format_perfetto = {
    .about = { .name = "perfetto",
               .about = "Perfetto trace, for ui.perfetto.dev",
               .exports = true,
               .options = options },
    .write = write_perfetto,
    .write_logs = write_logs,
};
