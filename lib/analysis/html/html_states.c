/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The observer of the report engine: states of threads; see html_states.h. */
#include "analysis/html/html_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>

#include "analysis/metrics/run/reader.h"

enum { BATCH = 16384, PARTS_MOST = 65536 };
enum { SWITCHES = 1, WAKES = 2, STILL_WAITS = 4, ENDS = 8, ARRIVES = 16, TRANSFERS = 32 };

struct pt_html_runner *pt_html_runner_of(struct pt_html_watch *w, struct pt_report_thread *th)
{
    struct pt_html_runner *runner = th->watched;

    if (runner)
        return runner;
    runner = calloc(1, sizeof *runner);
    if (runner)
        runner->lane = pt_html_lane_of(w->h, th->row.pid, th->row.tid);
    if (!runner || !runner->lane) {
        free(runner);
        pt_html_fail(w->h, ENOMEM);
        return NULL;
    }
    th->watched = runner;
    return runner;
}

/* ---- the queue ---- */

/* Nothing says where events were lost, or a part of the threads has no switches for that. */
static bool is_unknown(const struct pt_html *h, const struct pt_html_runner *runner)
{
    return !runner->lane->switches && h->switches > 0 && h->gaps > 0;
}

static void give(struct pt_html_watch *w, struct pt_html_runner *runner,
                 const struct pt_html_part *part)
{
    struct pt_html *h = w->h;
    int64_t begin = pt_html_time(h, part->from), end = pt_html_time(h, part->to);
    struct pt_html_item item = {
        .count = 1, .begin = begin, .length = end - begin, .covered = end - begin
    };

    if (runner->lane->shared)
        return;
    if (runner->lane->state_row == PT_HTML_NO_ROW)
        runner->lane->state_row = pt_html_row_add(
            h, (struct pt_html_row){ .kind = PT_HTML_STATE, .owner = runner->lane->number });
    item.row = runner->lane->state_row;
    item.value = part->share == PT_REPORT_UNSURE || is_unknown(h, runner) ? PT_REPORT_UNKNOWN
                                                                          : part->share;
    if (item.length > 0)
        pt_html_detail_add(h, &item);
}

/* May the engine still say something else about it? */
static bool is_open(const struct pt_report_thread *th, const struct pt_html_part *part)
{
    if (th->place != PT_REPORT_NO_SWITCH)
        return part->share == PT_REPORT_UNSURE;
    return part->to > th->own_ns;
}

static void flush(struct pt_html_watch *w, const struct pt_report_thread *th,
                  struct pt_html_runner *runner)
{
    size_t done = 0, most = runner->count > PARTS_MOST ? PARTS_MOST / 2 : PARTS_MOST;

    while (done + 1 < runner->count &&
           (!is_open(th, &runner->parts[done]) || runner->count - done > most))
        give(w, runner, &runner->parts[done++]);
    if (done > 0)
        memmove(runner->parts, runner->parts + done,
                (runner->count - done) * sizeof *runner->parts);
    runner->count -= done;
}

static void push(struct pt_html_watch *w, struct pt_html_runner *runner, int64_t from, int64_t to,
                 unsigned share)
{
    struct pt_html_part *last = runner->count ? &runner->parts[runner->count - 1] : NULL, *parts;

    if (to <= from)
        return;
    if (share == PT_REPORT_UNSURE && w->h->calls + w->h->gaps == 0)
        share = PT_REPORT_UNNAMED; /* calls were not asked for */
    if (last && last->share == share && last->to == from) {
        last->to = to;
        return;
    }
    parts = pt_html_more(w->h, runner->parts, runner->count, &runner->room, sizeof *parts);
    if (!parts)
        return;
    runner->parts = parts;
    parts[runner->count++] = (struct pt_html_part){ from, to, share };
}

/* ---- before the first switch ---- */

static void end_early(struct pt_html_watch *w, struct pt_html_runner *runner, unsigned share)
{
    if (runner->early)
        push(w, runner, runner->early_from, runner->early_to, share);
    runner->early = false;
}

static void add_early(struct pt_html_watch *w, const struct pt_report_thread *th,
                      struct pt_html_runner *runner, int64_t from, int64_t to)
{
    if (runner->early && runner->early_gap != th->gap)
        end_early(w, runner, PT_REPORT_UNKNOWN);
    if (!runner->early) {
        runner->early = true;
        runner->early_from = from;
        runner->early_gap = th->gap;
    }
    runner->early_to = to;
}

/* ---- the observer ---- */

static void spent(void *context, struct pt_report_thread *th, int64_t from, int64_t to,
                  unsigned share)
{
    struct pt_html_watch *w = context;
    struct pt_html_runner *runner = pt_html_runner_of(w, th);

    if (!runner || w->h->error)
        return;
    runner->noted = th->depth > 0 && th->open[0].noted;
    if (th->place == PT_REPORT_NO_SWITCH && runner->lane->switches) {
        add_early(w, th, runner, from, to);
        return;
    }
    push(w, runner, from, to, share);
    if (runner->count > 1)
        flush(w, th, runner);
}

static void settled(void *context, struct pt_report_thread *th, bool known)
{
    struct pt_html_watch *w = context;
    struct pt_html_runner *runner = pt_html_runner_of(w, th);

    for (size_t i = 0; runner && i < runner->count; i++)
        if (runner->parts[i].share == PT_REPORT_UNSURE)
            runner->parts[i].share = known ? PT_REPORT_UNNAMED : PT_REPORT_UNKNOWN;
    if (runner)
        flush(w, th, runner);
}

/* The part from ns on becomes one of its own. */
static bool split(struct pt_html_watch *w, struct pt_html_runner *runner, size_t i, int64_t ns)
{
    struct pt_html_part *parts = pt_html_more(w->h, runner->parts, runner->count, &runner->room,
                                              sizeof *parts);

    if (!parts)
        return false;
    runner->parts = parts;
    memmove(parts + i + 1, parts + i, (runner->count - i) * sizeof *parts);
    runner->count++;
    parts[i].to = ns;
    parts[i + 1].from = ns;
    return true;
}

/* Time between these that was not known was in a call of that kind. */
static void relabel(struct pt_html_watch *w, struct pt_report_thread *th, unsigned kind,
                    int64_t begin, int64_t ns)
{
    struct pt_html_runner *runner = pt_html_runner_of(w, th);
    bool early = th->place == PT_REPORT_NO_SWITCH;

    begin = begin > th->own_ns ? begin : th->own_ns;
    if (early && th->has_cpu_time && th->cpu_ns > begin)
        begin = th->cpu_ns;
    if (!early && (th->pending_count == 0 || th->pending[0].from > begin))
        begin = th->pending_count ? th->pending[0].from : ns;
    for (size_t i = 0; runner && i < runner->count; i++) {
        struct pt_html_part *p = &runner->parts[i];

        if (p->to <= begin || p->from >= ns ||
            (p->share != PT_REPORT_UNSURE && !(early && p->share == PT_REPORT_UNKNOWN)))
            continue;
        if (p->from < begin && !split(w, runner, i++, begin))
            return;
        runner->parts[i].share = kind;
    }
}

static void long_call(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                      int64_t begin, int64_t ns)
{
    if (th->depth == 0)
        relabel(context, th, open->call->kind, begin, ns);
}

/* The event that says in which call the thread still is has put that call first. */
static void note_wait(struct pt_html_watch *w, struct pt_report_thread *th, int64_t ns)
{
    struct pt_html_runner *runner = pt_html_runner_of(w, th);

    if (!runner || runner->noted || th->depth != 1 || !th->open[0].noted)
        return;
    runner->noted = true;
    relabel(w, th, th->open[0].call->kind, th->open[0].ns, ns);
}

static void ended(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                  int64_t result)
{
    pt_html_call_ended(context, th, open, result);
}

static void holds(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                  uint64_t caller)
{
    (void)caller;
    pt_html_lock_held(context, o, th);
}

static void released(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                     int64_t ns, uint64_t caller)
{
    (void)caller;
    pt_html_lock_released(context, o, th, ns);
}

static void unread(void *context)
{
    (void)context;
}

static void typed(void *context, const char *name, struct pt_report_type *t)
{
    (void)context;
    (void)name;
    if (t->role >= PT_REPORT_SWITCH_IN && t->role <= PT_REPORT_PREEMPTED)
        t->watched = SWITCHES;
    else if (t->role == PT_REPORT_WAKE)
        t->watched = WAKES;
    else if (t->role == PT_REPORT_STILL_WAITS)
        t->watched = STILL_WAITS;
    else if (t->role == PT_REPORT_THREAD_END)
        t->watched = ENDS;
    else if (t->role == PT_REPORT_BEGIN && t->call->id == POSIXTRACE_BARRIER_WAIT)
        t->watched = ARRIVES;
    else if (t->role == PT_REPORT_BEGIN && t->call->id == POSIXTRACE_IO)
        t->watched = TRANSFERS;
}

static void take_switch(struct pt_html_watch *w, struct pt_report_thread *th,
                        enum pt_report_role role)
{
    struct pt_html_runner *runner = pt_html_runner_of(w, th);

    if (runner && runner->early)
        end_early(w, runner,
                  role != PT_REPORT_SWITCH_IN && runner->early_gap == th->gap ? PT_REPORT_RUN
                                                                              : PT_REPORT_UNKNOWN);
}

static const struct pt_report_call *join_call(void)
{
    const struct pt_report_call *call = pt_report_calls;

    while (call->id != POSIXTRACE_THREAD_JOIN)
        call++;
    return call;
}

static void taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                  const struct posixtrace_event *e)
{
    struct pt_html_watch *w = context;

    if (!th || w->h->error)
        return;
    if (t->watched == SWITCHES)
        take_switch(w, th, t->role);
    else if (t->watched == STILL_WAITS)
        note_wait(w, th, e->ns);
    else if (t->watched == TRANSFERS)
        pt_html_transfers(w, th, e->ns);
    else if (t->watched == ENDS)
        pt_html_wakes(w, pt_report_object_of(w->report, join_call(), e), th, e->ns);
    else
        pt_html_wakes(w, pt_report_object_of(w->report, t->call, e), th, e->ns);
}

static const struct pt_report_watch watch = { .typed = typed,
                                              .unread = unread,
                                              .taken = taken,
                                              .spent = spent,
                                              .settled = settled,
                                              .long_call = long_call,
                                              .ended = ended,
                                              .holds = holds,
                                              .released = released };

/* ---- the pass ---- */

static void end_threads(struct pt_html_watch *w)
{
    for (size_t i = 0; i < w->report->threads.count; i++) {
        struct pt_report_thread *th = w->report->threads.items[i];
        struct pt_html_runner *runner = th->watched;

        for (size_t n = 0; runner && n < runner->count; n++)
            give(w, runner, &runner->parts[n]);
        if (runner)
            free(runner->parts);
        free(runner);
        th->watched = NULL;
    }
}

static int read_all(struct pt_html_watch *w)
{
    const struct pt_html *h = w->h;
    int unavailable = 0, error = 0;

    while (!unavailable && error == 0 && !h->error) {
        error = posixtrace_report_take(w->report, BATCH, &unavailable);
        if (error == 0 && h->options.progress)
            error = h->options.progress(h->options.context,
                                        h->read + posixtrace_report_events(w->report));
    }
    return error || h->error ? error : posixtrace_report_end(w->report);
}

void pt_html_states_pass(struct pt_html *h)
{
    struct pt_html_watch w = { .h = h };
    int error;

    if (h->switches + h->calls == 0 || pt_reader_hides_losses(h->trid))
        return;
    error = posixtrace_report_create(h->trid, NULL, 0, &w.report);
    if (error) {
        pt_html_fail(h, error);
        return;
    }
    w.report->watch = &watch;
    w.report->watcher = &w;
    error = read_all(&w);
    if (error)
        pt_html_fail(h, error);
    pt_html_locks_end(&w);
    end_threads(&w);
    pt_report_map_deinit(&w.channels);
    h->read += posixtrace_report_events(w.report);
    posixtrace_report_free(w.report);
}
