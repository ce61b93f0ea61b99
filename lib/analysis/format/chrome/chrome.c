/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Chrome's trace event format (docs/formats/chrome.md): a JSON object, one event a line.
 *
 * Times are microseconds with three digits.  Readers make doubles of them, which have no
 * room for nanoseconds since 1970, so they count from the first event; otherData has the time
 * of that one.
 *
 * With --stacks=slices the stack of a call is also slices of the call's time, each function within
 * the one that called it, and the call in the innermost: on a track of its own for each thread,
 * since the stack is known after the call's own slice has begun.  They have no data, so that
 * readers add those of one name.
 *
 * Flows have a first arrow, further ones and, if an option names it, a last one.  A table of fixed
 * size has the values whose flow has begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/chrome/chrome.h"

enum { FLOW_SETS = 4096, FLOW_WAYS = 8 };

/* A process that no process is: its threads are the processors.  Of several logs each has one, the
 * first one this. */
static const int64_t PROCESSORS = INT64_C(4294967295);

/* A thread that no thread is has the stacks of the one with the number less. */
static const int64_t STACKS = INT64_C(1) << 31;

struct flow {
    uint64_t id, used; /* used 0: a free entry */
};

/* The file. */
struct output {
    bool begun, absolute, any, slices;
    int64_t base, last;
    uint64_t flow_clock;
    struct flow flows[FLOW_SETS][FLOW_WAYS];
    struct pt_json json;
};

/* What it has of a log. */
struct chrome {
    struct pt_job *job;
    struct output *out;
    struct pt_timeline *timeline;
    bool any_processor, processors[PT_TL_CPUS];
    struct pt_chrome_stacks *stacks;
};

static void separate(struct chrome *c)
{
    if (c->out->any)
        PT_JSON_TEXT(&c->out->json, ",\n");
    c->out->any = true;
}

static void put_numbers(struct chrome *c, int64_t pid, int64_t tid)
{
    PT_JSON_TEXT(&c->out->json, ",\"pid\":");
    pt_json_signed(&c->out->json, pid);
    PT_JSON_TEXT(&c->out->json, ",\"tid\":");
    pt_json_signed(&c->out->json, tid);
}

/* tid: of a thread, or more by STACKS. */
static void put_thread(struct chrome *c, int32_t pid, int64_t tid)
{
    put_numbers(c, pt_job_number(c->job, pid), tid + pt_job_number(c->job, 0));
}

static void put_time(struct chrome *c, int64_t ns)
{
    if (ns > c->out->last)
        c->out->last = ns;
    PT_JSON_TEXT(&c->out->json, ",\"ts\":");
    pt_json_microseconds(&c->out->json, (int64_t)((uint64_t)ns - (uint64_t)c->out->base));
}

/* An event up to its name. */
static void open_event_of(struct chrome *c, char phase, int32_t pid, int64_t tid, int64_t ns)
{
    separate(c);
    PT_JSON_TEXT(&c->out->json, "{\"ph\":\"");
    pt_json_char(&c->out->json, phase);
    pt_json_char(&c->out->json, '"');
    put_thread(c, pid, tid);
    put_time(c, ns);
}

static void open_event(struct chrome *c, char phase, const struct pt_tl_track *t, int64_t ns)
{
    open_event_of(c, phase, t->pid, t->tid, ns);
}

static void put_duration(struct chrome *c, int64_t from, int64_t to)
{
    PT_JSON_TEXT(&c->out->json, ",\"dur\":");
    pt_json_microseconds(&c->out->json, (int64_t)((uint64_t)to - (uint64_t)from));
}

static void put_name(struct chrome *c, const char *name)
{
    PT_JSON_TEXT(&c->out->json, ",\"name\":");
    pt_json_string(&c->out->json, name, strlen(name));
}

static void put_category(struct chrome *c, const struct pt_tl_event *ev)
{
    if (ev && ev->type->class_length > 0) {
        PT_JSON_TEXT(&c->out->json, ",\"cat\":");
        pt_json_string(&c->out->json, ev->type->name, ev->type->class_length);
    }
}

static void close_event(struct chrome *c)
{
    pt_json_char(&c->out->json, '}');
}

static void put_first(void *self, int64_t ns)
{
    struct chrome *c = self;

    if (c->out->begun)
        return;
    c->out->begun = true;
    PT_JSON_TEXT(&c->out->json,
                 "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"posixtrace\","
                 "\"first-event-ns\":\"");
    pt_json_signed(&c->out->json, ns);
    PT_JSON_TEXT(&c->out->json, "\",\"ts-0-ns\":\"");
    c->out->base = c->out->absolute ? 0 : ns;
    c->out->last = ns;
    pt_json_signed(&c->out->json, c->out->base);
    PT_JSON_TEXT(&c->out->json, "\"},\"traceEvents\":[\n");
}

/* Flows */

static struct flow *flow_of(struct chrome *c, uint64_t id, bool *known)
{
    struct flow *set = c->out->flows[(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) % FLOW_SETS],
                *f = set;

    *known = true;
    for (size_t i = 0; i < FLOW_WAYS; i++) {
        if (set[i].used && set[i].id == id)
            return &set[i];
        if (set[i].used < f->used)
            f = &set[i];
    }
    *known = false;
    if (f->used)
        pt_job_note(c->job, PT_TL_NOTE_BACK_END,
                    "more flows at once than are remembered: flow "
                    "%#llx is shown in two parts if it continues",
                    (unsigned long long)f->id);
    return f;
}

/* The end of a flow that has not begun is not an arrow. */
static char phase_of(struct chrome *c, const struct pt_tl_flow *flow)
{
    bool known;
    struct flow *f = flow_of(c, flow->id, &known);

    *f = (struct flow){ flow->id, flow->ends ? 0 : ++c->out->flow_clock };
    return flow->ends ? known ? 'f' : '\0' : known ? 't' : 's';
}

/* Arrows to and from the slice that is there. */
static void put_flows(struct chrome *c, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    for (size_t i = 0; ev && i < ev->flow_count; i++) {
        char phase = phase_of(c, &ev->flows[i]);

        if (!phase)
            continue;
        open_event(c, phase, t, ev->e->ns);
        PT_JSON_TEXT(&c->out->json, ",\"cat\":\"flow\",\"name\":\"flow\",\"bp\":\"e\",\"id\":");
        pt_json_hex(&c->out->json, ev->flows[i].id);
        close_event(c);
    }
}

/* Events */

static void put_metadata(struct chrome *c, int32_t pid, int64_t tid, const char *what,
                         const char *name)
{
    separate(c);
    PT_JSON_TEXT(&c->out->json, "{\"ph\":\"M\"");
    put_thread(c, pid, tid);
    put_name(c, what);
    PT_JSON_TEXT(&c->out->json, ",\"args\":{\"name\":");
    pt_json_string(&c->out->json, name, strlen(name));
    PT_JSON_TEXT(&c->out->json, "}}");
}

/* Of several logs "LABEL: NAME", or the label. */
static void put_process_name(struct chrome *c, int32_t pid, const char *name)
{
    char text[200];

    if (c->job->label) {
        snprintf(text, sizeof text, "%.120s%s%s", c->job->label, *name ? ": " : "", name);
        name = text;
    }
    if (*name)
        put_metadata(c, pid, 0, "process_name", name);
}

static void put_track(void *self, const struct pt_tl_track *t)
{
    struct chrome *c = self;
    char stacks[sizeof t->name + 32];

    if (t->pid == 0 && t->tid == 0)
        put_process_name(c, 0, "not of a process");
    else if (t->tid == 0)
        put_process_name(c, t->pid, t->name);
    else if (t->name[0])
        put_metadata(c, t->pid, t->tid, "thread_name", t->name);
    if (c->out->slices && t->tid > 0) {
        snprintf(stacks, sizeof stacks, "stacks of %s%s%ld", t->name, t->name[0] ? "/" : "",
                 (long)t->tid);
        put_metadata(c, t->pid, t->tid + STACKS, "thread_name", stacks);
    }
}

static void put_begin(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                      const struct pt_tl_event *ev)
{
    struct chrome *c = self;

    open_event(c, 'B', t, ns);
    put_name(c, pt_timeline_label(c->timeline, label));
    put_category(c, ev);
    if (ev)
        pt_chrome_args(&c->out->json, ev, false, c->stacks);
    else
        PT_JSON_TEXT(&c->out->json, ",\"args\":{\"continued\":true}");
    close_event(c);
    put_flows(c, t, ev);
}

static void put_end(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                    const struct pt_tl_event *ev)
{
    struct chrome *c = self;

    put_flows(c, t, ev);
    open_event(c, 'E', t, ns);
    put_name(c, pt_timeline_label(c->timeline, label));
    if (ev)
        pt_chrome_args(&c->out->json, ev, true, c->stacks);
    close_event(c);
}

static void put_cut(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                    const char *because)
{
    struct chrome *c = self;

    open_event(c, 'E', t, ns);
    put_name(c, pt_timeline_label(c->timeline, label));
    PT_JSON_TEXT(&c->out->json, ",\"args\":{\"cut\":");
    pt_json_string(&c->out->json, because, strlen(because));
    pt_json_char(&c->out->json, '}');
    close_event(c);
}

/* A stack, as slices of the call that ended before it. */
static void put_slices(struct chrome *c, const struct pt_tl_track *t, uint64_t frame)
{
    const char *names[POSIXTRACE_STACK_MAX + 1];
    size_t count;

    names[0] = pt_timeline_label(c->timeline, t->past.label);
    count = 1 + pt_chrome_frames(c->stacks, frame, names + 1);
    while (count > 0) {
        open_event_of(c, 'X', t->pid, t->tid + STACKS, t->past.since);
        put_duration(c, t->past.since, t->past.ns);
        put_name(c, names[--count]);
        close_event(c);
    }
}

/* Arrows need a slice: an instant that has some is one of no length. */
static void put_instant(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct chrome *c = self;
    uint64_t frame = 0;

    open_event(c, ev->flow_count ? 'X' : 'i', t, ev->e->ns);
    if (ev->flow_count)
        PT_JSON_TEXT(&c->out->json, ",\"dur\":0");
    else
        PT_JSON_TEXT(&c->out->json, ",\"s\":\"t\"");
    put_name(c, ev->type->name);
    put_category(c, ev);
    pt_chrome_args(&c->out->json, ev, false, c->stacks);
    if (pt_chrome_is_stack(ev)) {
        frame = pt_chrome_stack(c->stacks, ev->e);
        PT_JSON_TEXT(&c->out->json, ",\"sf\":");
        pt_json_unsigned(&c->out->json, pt_chrome_frame_number(c->stacks, frame));
    }
    close_event(c);
    put_flows(c, t, ev);
    if (frame && c->out->slices && t->past.any)
        put_slices(c, t, frame);
}

static void put_whole(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                      const struct pt_tl_event *ev)
{
    struct chrome *c = self;

    open_event(c, 'X', t, since);
    put_duration(c, since, ev->e->ns);
    put_name(c, pt_timeline_label(c->timeline, label));
    put_category(c, ev);
    pt_chrome_args(&c->out->json, ev, false, c->stacks);
    close_event(c);
    put_flows(c, t, ev);
}

static void put_counter(void *self, struct pt_tl_track *process, const struct pt_tl_event *ev,
                        unsigned option, size_t field)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    const struct posixtrace_value *v = &ev->values[field];
    struct chrome *c = self;
    double d = 0;

    if (f->kind == POSIXTRACE_FIELD_FLOAT) {
        d = posixtrace_value_float(ev->layout, field, v, 0);
        if (!(d - d <= 0))
            return; /* not a number that JSON has */
    }
    open_event(c, 'C', process, ev->e->ns);
    put_name(c, pt_timeline_option(c->timeline, option)->text);
    PT_JSON_TEXT(&c->out->json, ",\"args\":{\"value\":");
    if (f->kind == POSIXTRACE_FIELD_FLOAT)
        pt_json_float(&c->out->json, d, f->bits);
    else if (f->kind == POSIXTRACE_FIELD_SIGNED)
        pt_json_signed(&c->out->json, (int64_t)posixtrace_value_integer(ev->layout, field, v, 0));
    else
        pt_json_unsigned(&c->out->json, posixtrace_value_integer(ev->layout, field, v, 0));
    PT_JSON_TEXT(&c->out->json, "}}");
}

/* Processors */

/* Of the processors as a process, or of one. */
static void put_processor_name(struct chrome *c, uint32_t cpu, const char *what, const char *name)
{
    separate(c);
    PT_JSON_TEXT(&c->out->json, "{\"ph\":\"M\"");
    put_numbers(c, PROCESSORS - c->job->number, cpu);
    put_name(c, what);
    PT_JSON_TEXT(&c->out->json, ",\"args\":{\"name\":");
    pt_json_string(&c->out->json, name, strlen(name));
    PT_JSON_TEXT(&c->out->json, "}}");
}

static void name_processor(struct chrome *c, uint32_t cpu)
{
    char text[200] = "processors";

    if (c->processors[cpu])
        return;
    c->processors[cpu] = true;
    if (c->job->label)
        snprintf(text, sizeof text, "%.120s: processors", c->job->label);
    if (!c->any_processor)
        put_processor_name(c, 0, "process_name", text);
    c->any_processor = true;
    snprintf(text, sizeof text, "processor %lu", (unsigned long)cpu);
    put_processor_name(c, cpu, "thread_name", text);
}

/* The time that a thread had the processor, when it is over. */
static void put_time_slice(struct chrome *c, int64_t ns, uint32_t cpu, const struct pt_tl_runner *r,
                           const char *why)
{
    name_processor(c, cpu);
    separate(c);
    PT_JSON_TEXT(&c->out->json, "{\"ph\":\"X\"");
    put_numbers(c, PROCESSORS - c->job->number, cpu);
    put_time(c, r->since);
    put_duration(c, r->since, ns > r->since ? ns : r->since);
    put_name(c, r->name[0] ? r->name : "thread");
    PT_JSON_TEXT(&c->out->json, ",\"args\":{\"pid\":");
    pt_json_signed(&c->out->json, r->pid);
    PT_JSON_TEXT(&c->out->json, ",\"tid\":");
    pt_json_signed(&c->out->json, r->tid);
    PT_JSON_TEXT(&c->out->json, ",\"then\":\"");
    pt_json_text(&c->out->json, why, strlen(why));
    PT_JSON_TEXT(&c->out->json, "\"}}");
    if (ns > c->out->last)
        c->out->last = ns;
}

static void put_run(void *self, int64_t ns, uint32_t cpu, const struct pt_tl_runner *prev,
                    enum pt_tl_leave why, const struct pt_tl_runner *next)
{
    static const char *const words[] = { "preempted", "waits", "ends" };

    (void)next;
    if (prev->tid != 0)
        put_time_slice(self, ns, cpu, prev, words[why]);
}

static void put_lost(void *self, const struct pt_tl_track *t, int64_t ns,
                     const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct chrome *c = self;
    bool any = false;

    open_event(c, 'i', t, ns);
    PT_JSON_TEXT(&c->out->json, ",\"s\":\"t\",\"name\":\"events lost\",\"args\":{");
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        const char *cause = posixtrace_loss_cause_text(i);

        if (!lost[i])
            continue;
        if (any)
            pt_json_char(&c->out->json, ',');
        any = true;
        pt_json_string(&c->out->json, cause, strlen(cause));
        pt_json_char(&c->out->json, ':');
        pt_json_unsigned(&c->out->json, lost[i]);
    }
    PT_JSON_TEXT(&c->out->json, "}}");
}

static const struct pt_tl_ops ops = { put_first, put_track,   put_begin, put_end,  put_instant,
                                      put_whole, put_counter, put_run,   put_lost, NULL,
                                      put_cut,   NULL,        NULL };

/* A thread that has a processor now has it to the end. */
static void end_runs(struct chrome *c, int64_t end)
{
    for (uint32_t cpu = 0; cpu < PT_TL_CPUS; cpu++) {
        const struct pt_tl_runner *r = pt_timeline_runner(c->timeline, cpu);

        if (r->tid != 0)
            put_time_slice(c, end, cpu, r, "runs on");
    }
}

static void finish(struct chrome *list, size_t count)
{
    struct output *out = list->out;
    int64_t end = out->last;
    bool any = false;

    for (size_t i = 0; i < count; i++)
        end_runs(&list[i], end);
    PT_JSON_TEXT(&out->json, "\n]");
    for (size_t i = 0; i < count; i++)
        any |= pt_chrome_stacks_write(list[i].stacks, &out->json, !any);
    if (any)
        PT_JSON_TEXT(&out->json, "\n}");
    PT_JSON_TEXT(&out->json, "}\n");
    pt_json_flush(&out->json);
}

static int take_options(struct chrome *c)
{
    const char *time = pt_job_option(c->job, "time", 0);
    const char *stacks = pt_job_option(c->job, "stacks", 0);

    c->out->absolute = time && strcmp(time, "1970") == 0;
    if (time && !c->out->absolute && strcmp(time, "first") != 0)
        return pt_job_fail(c->job, EINVAL, "option time=%s: say first or 1970", time);
    c->out->slices = stacks && strcmp(stacks, "slices") == 0;
    if (stacks && !c->out->slices && strcmp(stacks, "frames") != 0)
        return pt_job_fail(c->job, EINVAL, "option stacks=%s: say frames or slices", stacks);
    return 0;
}

static int begin(struct chrome *c)
{
    if (take_options(c) != 0)
        return c->job->error;
    c->stacks = pt_chrome_stacks_new(c->job);
    if (c->stacks)
        c->timeline = pt_timeline_new(c->job, &ops, c);
    return c->job->error;
}

static int work(struct chrome *list, size_t count, struct pt_timeline **timelines)
{
    struct output *out = list->out;

    for (size_t i = 0; i < count; i++) {
        int error = begin(&list[i]);

        if (error)
            return error;
        timelines[i] = list[i].timeline;
    }
    pt_timelines_run(timelines, count, &out->json.failed);
    for (size_t i = 0; i < count; i++)
        if (list[i].job->error)
            return list[i].job->error;
    for (size_t i = 0; !out->json.failed && i < count; i++)
        pt_timeline_end(timelines[i]);
    if (!out->json.failed)
        finish(list, count);
    return out->json.failed ? pt_job_fail_file(list->job) : 0;
}

static int write_logs(struct pt_job *const *jobs, size_t count)
{
    struct chrome *list = calloc(count, sizeof *list);
    struct output *out = calloc(1, sizeof *out);
    struct pt_timeline **timelines = calloc(count, sizeof(struct pt_timeline *));
    int error = 0;

    if (!list || !out || !timelines)
        error = pt_job_fail(jobs[0], ENOMEM, "no memory for the output");
    if (!error) {
        out->json.file = jobs[0]->file;
        for (size_t i = 0; i < count; i++) {
            list[i].job = jobs[i];
            list[i].out = out;
        }
        error = work(list, count, timelines);
    }
    for (size_t i = 0; list && i < count; i++) {
        pt_timeline_free(list[i].timeline);
        pt_chrome_stacks_free(list[i].stacks);
    }
    free(timelines);
    free(out);
    free(list);
    return error;
}

static int write_chrome(struct pt_job *job)
{
    return write_logs(&job, 1);
}

static const struct posixtrace_format_option options[] = {
    PT_TL_OPTION_LINES,
    PT_SITES_OPTIONS,
    { "stacks",
      "frames: in stackFrames (default); slices: also as tracks, which speedscope shows" },
    { "time", "first: times count from the first event (default); 1970: since 1970" },
    { NULL, NULL }
};

const struct pt_format pt_format_chrome = {
    .about = { .name = "chrome",
               .about = "Chrome trace events (JSON)",
               .exports = true,
               .options = options },
    .write = write_chrome,
    .write_logs = write_logs,
};
