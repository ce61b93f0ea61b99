/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The back end of the timeline engine: events, slices, counters, processors, losses. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

enum { TIMELINE_NOTES = 4 };
enum { AHEAD = 64, CUT_BEGIN = 1, CUT_END = 2, NO_OWNER = UINT32_MAX };
enum { LOST, STOPPED }; /* values of items of losses */

/* ---- labels ---- */

static bool know_label(struct pt_html *h, uint32_t label)
{
    double *means;
    uint64_t *counts;

    if (label < h->labels_known)
        return true;
    means = realloc(h->label_mean, (label + 1) * sizeof *means);
    if (means)
        h->label_mean = means;
    counts = realloc(h->label_count, (label + 1) * sizeof *counts);
    if (counts)
        h->label_count = counts;
    if (!means || !counts) {
        pt_html_fail(h, ENOMEM);
        return false;
    }
    for (; h->labels_known <= label; h->labels_known++) {
        means[h->labels_known] = 0;
        counts[h->labels_known] = 0;
    }
    return true;
}

/* How much longer the slice is than those of its label so far. */
static void score(struct pt_html *h, uint32_t label, int64_t length)
{
    double mean = h->label_mean[label], times = mean > 0 ? (double)length / mean : 1;

    h->label_mean[label] += ((double)length - mean) / (double)++h->label_count[label];
    if (times > h->now.score)
        h->now.score = times;
}

/* ---- losses ---- */

static void put_loss(struct pt_html *h, int64_t from, int64_t to, uint32_t value)
{
    const struct pt_html_row row = { .kind = PT_HTML_LOSS, .owner = NO_OWNER };
    struct pt_html_item item = { .value = value, .count = 1, .begin = from };

    item.row = pt_html_row_of(h, row);
    item.length = item.covered = to > from ? to - from : 0;
    pt_html_detail_add(h, &item);
}

/* A log that starts with the end of a gap has lost its beginning. */
static void look_for_gap(struct pt_html *h, trace_event_id_t id, int64_t ns)
{
    bool starts = !h->marked;

    h->gaps += id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_FILTER;
    h->marked |= id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME;
    if (id == POSIX_TRACE_OVERFLOW && !h->in_gap) {
        h->in_gap = true;
        h->gap_ns = ns;
    } else if (id == POSIX_TRACE_RESUME) {
        if (h->in_gap || starts)
            put_loss(h, h->in_gap ? h->gap_ns : 0, ns, LOST);
        h->in_gap = false;
    } else if (id == POSIX_TRACE_STOP && !h->stopped) {
        h->stopped = true;
        h->stop_ns = ns;
    } else if (id > POSIX_TRACE_ERROR || id == POSIX_TRACE_START) {
        if (h->stopped)
            put_loss(h, h->stop_ns, ns, STOPPED);
        h->gaps += h->stopped;
        h->stopped = false;
    }
}

/* ---- the timeline ---- */

static void take_first(void *self, int64_t ns)
{
    (void)self;
    (void)ns;
}

static void take_track(void *self, const struct pt_tl_track *t)
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = t->tid ? pt_html_lane_of(h, t->pid, t->tid) : NULL;

    if (lane && !lane->shared)
        pt_html_lane_name(lane, t->name);
}

static void add_event_item(struct pt_html *h, struct pt_html_lane *lane, int64_t ns)
{
    struct pt_html_item item = { .count = 1, .begin = ns };

    if (lane->events_row == PT_HTML_NO_ROW)
        lane->events_row = pt_html_row_add(
            h, (struct pt_html_row){ .kind = PT_HTML_EVENTS, .owner = lane->number });
    item.row = lane->events_row;
    pt_html_level_add(h, &item);
}

static void take_event(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = pt_html_lane_of(h, t->pid, t->tid);
    int64_t ns = pt_html_time(h, ev->e->ns);

    if (!lane || h->error)
        return;
    lane->begin = ns < lane->begin ? ns : lane->begin;
    lane->end = ns > lane->end ? ns : lane->end;
    lane->events++;
    pt_html_event_add(h, lane, ev, ns);
    add_event_item(h, lane, ns);
    if (h->stopped || ev->e->id <= POSIX_TRACE_ERROR)
        look_for_gap(h, ev->e->id, ns);
}

static void add_slice(struct pt_html *h, uint32_t row, uint32_t label, int64_t begin, int64_t end)
{
    int64_t length = end > begin ? end - begin : 0;
    struct pt_html_item item = { row, label, 1, begin, length, length };

    pt_html_level_add(h, &item);
    if (know_label(h, label))
        score(h, label, length);
}

/* The slice at that depth ends; with the last event, where it is not cut. */
static void end_slice(struct pt_html *h, const struct pt_html_begun *b, int64_t ns, bool cut)
{
    add_slice(h, b->row, b->label, b->ns, ns);
    if (!cut && !b->cut && b->tile == h->now.number && ns >= b->ns)
        pt_html_slice_add(h, b->row, b->label, b->ordinal);
    else
        pt_html_long_add(h, b->row, b->label, b->ns, ns > b->ns ? ns : b->ns,
                         (b->cut ? CUT_BEGIN : 0u) | (cut ? CUT_END : 0u));
}

static void take_begin(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                       const struct pt_tl_event *ev)
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = pt_html_lane_of(h, t->pid, t->tid);
    unsigned depth = t->depth - 1u;

    if (!lane || lane->shared || h->error)
        return;
    if (depth >= lane->room) {
        struct pt_html_begun *begun = realloc(lane->begun, t->depth * sizeof *begun);

        if (!begun) {
            pt_html_fail(h, ENOMEM);
            return;
        }
        lane->begun = begun;
        lane->room = t->depth;
    }
    /* Those of a track that was forgotten. */
    for (; lane->depth > depth; lane->depth--)
        end_slice(h, &lane->begun[lane->depth - 1], pt_html_time(h, ns), true);
    for (; lane->depth < depth; lane->depth++)
        lane->begun[lane->depth] = (struct pt_html_begun){ .row = PT_HTML_NO_ROW };
    lane->begun[lane->depth++] = (struct pt_html_begun){ .ns = pt_html_time(h, ns),
                                                         .tile = h->now.number,
                                                         .ordinal = (uint32_t)h->now.ns.count - 1,
                                                         .label = label,
                                                         .row = pt_html_slice_row(h, lane, depth),
                                                         .cut = !ev };
}

static void take_end(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                     const struct pt_tl_event *ev)
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = pt_html_lane_of(h, t->pid, t->tid);

    (void)label;
    if (!lane || h->error || t->depth >= lane->depth)
        return;
    lane->depth = t->depth;
    if (lane->begun[t->depth].row != PT_HTML_NO_ROW)
        end_slice(h, &lane->begun[t->depth], pt_html_time(h, ns), !ev);
}

static void take_instant(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    (void)self;
    (void)t;
    (void)ev;
}

static void take_whole(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                       const struct pt_tl_event *ev)
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = pt_html_lane_of(h, t->pid, t->tid);
    int64_t begin = pt_html_time(h, since), end = pt_html_time(h, ev->e->ns);
    uint32_t row = lane && !lane->shared ? pt_html_slice_row(h, lane, t->depth) : PT_HTML_NO_ROW;

    if (h->error || row == PT_HTML_NO_ROW)
        return;
    add_slice(h, row, label, begin, end);
    pt_html_long_add(h, row, label, begin, end > begin ? end : begin, 0);
}

static void take_counter(void *self, struct pt_tl_track *process, const struct pt_tl_event *ev,
                         unsigned option, size_t field)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    struct pt_html *h = self;
    struct pt_html_row row = { .kind = PT_HTML_COUNTER,
                               .owner = NO_OWNER,
                               .part = option,
                               .least = INFINITY,
                               .most = -INFINITY };
    double value;

    if (process->pid)
        row.owner = pt_html_process_of(h, process->pid)->number;
    value = f->kind == POSIXTRACE_FIELD_FLOAT
                ? posixtrace_value_float(ev->layout, field, &ev->values[field], 0)
            : f->kind == POSIXTRACE_FIELD_SIGNED
                ? (double)(int64_t)posixtrace_value_integer(ev->layout, field, &ev->values[field],
                                                            0)
                : (double)posixtrace_value_integer(ev->layout, field, &ev->values[field], 0);
    if (value - value == 0)
        pt_html_counter_add(h, pt_html_row_of(h, row), pt_html_time(h, ev->e->ns), value);
}

static void put_run(struct pt_html *h, uint32_t cpu, const struct pt_tl_runner *r, int64_t ns)
{
    struct pt_html_lane *lane = pt_html_lane_of(h, r->pid, r->tid);
    const struct pt_html_row row = { .kind = PT_HTML_CPU, .owner = cpu };
    struct pt_html_item item = { .count = 1, .begin = pt_html_time(h, r->since) };
    int64_t length = pt_html_time(h, ns) - item.begin;

    if (!lane)
        return;
    item.row = pt_html_row_of(h, row);
    item.value = lane->number + 1;
    item.length = item.covered = length > 0 ? length : 0;
    pt_html_detail_add(h, &item);
}

static void take_run(void *self, int64_t ns, uint32_t cpu, const struct pt_tl_runner *prev,
                     enum pt_tl_leave why, const struct pt_tl_runner *next)
{
    (void)why;
    (void)next;
    if (prev->tid != 0)
        put_run(self, cpu, prev, ns);
}

static void take_lost(void *self, const struct pt_tl_track *t, int64_t ns,
                      const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    struct pt_html *h = self;
    struct pt_html_lane *lane = t->tid ? pt_html_lane_of(h, t->pid, t->tid) : NULL;

    (void)ns;
    if (lane && !lane->shared)
        lane->lost = 0;
    for (unsigned i = 0; lane && i < POSIXTRACE_LOSS_CAUSES; i++)
        lane->lost += lost[i];
}

static const struct pt_tl_ops ops = { take_first, take_track,   take_begin, take_end,  take_instant,
                                      take_whole, take_counter, take_run,   take_lost, take_event,
                                      NULL,       NULL,         NULL };

/* ---- the pass ---- */

static void end_lane(struct pt_html *h, struct pt_html_lane *lane)
{
    while (lane->depth > 0 && !h->error) {
        const struct pt_html_begun *b = &lane->begun[--lane->depth];

        if (b->row != PT_HTML_NO_ROW)
            end_slice(h, b, h->span, true);
    }
}

static void copy_labels(struct pt_html *h)
{
    for (uint32_t i = 0; i < h->type_count; i++) {
        const struct pt_html_type *t = h->type_list[i];

        if (t->begin >= 0)
            know_label(h, (uint32_t)t->begin);
        if (t->end >= 0)
            know_label(h, (uint32_t)t->end);
    }
    h->labels = calloc(h->labels_known + 1u, sizeof *h->labels);
    for (uint32_t i = 0; h->labels && i < h->labels_known; i++)
        h->labels[i] = strdup(pt_timeline_label(h->timeline, i));
    if (!h->labels)
        pt_html_fail(h, ENOMEM);
}

static void copy_counters(struct pt_html *h)
{
    for (uint32_t i = 0; i < h->row_count; i++) {
        unsigned option = h->rows[i].part;

        if (h->rows[i].kind == PT_HTML_COUNTER && !h->counter_names[option])
            h->counter_names[option] = strdup(pt_timeline_option(h->timeline, option)->text);
    }
}

static void end_pass(struct pt_html *h)
{
    for (uint32_t cpu = 0; cpu < PT_TL_CPUS && !h->error; cpu++) {
        const struct pt_tl_runner *r = pt_timeline_runner(h->timeline, cpu);

        if (r->tid != 0)
            put_run(h, cpu, r, h->origin + h->span);
    }
    for (size_t i = 0; i < h->lanes.count; i++)
        end_lane(h, h->lanes.items[i]);
    if (h->in_gap)
        put_loss(h, h->gap_ns, h->span, LOST);
    pt_html_tile_end(h);
    copy_labels(h);
    copy_counters(h);
}

/* The first ones: many are of one kind. */
static void take_note(void *context, const char *text)
{
    struct pt_html *h = context;

    if (h->note_count < TIMELINE_NOTES)
        pt_html_note(h, "%s", text);
}

static int take_progress(void *context, uint64_t events)
{
    struct pt_html *h = context;

    return h->options.progress ? h->options.progress(h->options.context, h->read + events) : 0;
}

static void run(struct pt_html *h, struct pt_job *job)
{
    h->timeline = pt_timeline_new(job, &ops, h);
    while (h->timeline && !h->error && pt_timeline_next(h->timeline))
        ;
    if (h->timeline && !h->error && !job->error) {
        pt_timeline_end(h->timeline);
        end_pass(h);
    }
    if (job->error)
        pt_html_fail(h, job->error);
    pt_timeline_free(h->timeline);
    h->read += job->read;
}

void pt_html_timeline_pass(struct pt_html *h)
{
    char *counters[PT_TL_OPTIONS + 1] = { NULL };
    struct posixtrace_event ahead[AHEAD];
    struct posixtrace_conversion c = { .note = take_note,
                                       .progress = take_progress,
                                       .context = h,
                                       .options = (const char *const *)counters };
    struct pt_job job = {
        .c = &c, .trid = h->trid, .fields = h->fields, .ahead = ahead, .ahead_room = AHEAD
    };
    int error = posix_trace_rewind(h->trid);

    if (!error)
        error = pt_html_find_counters(h->trid, job.fields, counters);
    if (!error)
        run(h, &job);
    else
        pt_html_fail(h, error);
    for (unsigned i = 0; counters[i]; i++)
        free(counters[i]);
}
