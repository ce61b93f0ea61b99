/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_sync_create(): reads the logs, solves, and makes the clocks of the solution. */
#include <errno.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/typed.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sync/sync_logs.h"
#include "text/hash.h"

enum { BATCH = 512, IDS = 4096, FIELDS = 64, PROGRESS_EVERY = 1 << 16 };
#define MOST_NS INT64_C(4000000000000000000)

struct create {
    struct pt_sync_logs logs;
    struct posixtrace_sync_options o;
    struct pt_sync_messages messages;
    struct pt_sync_channel *channels; /* from * (clocks + 1) + to: the last one is UTC */
    posixtrace_sync_t *sync;
};

/* ---- reading ---- */

static bool is_number(const struct posixtrace_field *f)
{
    return f->kind == POSIXTRACE_FIELD_UNSIGNED || f->kind == POSIXTRACE_FIELD_SIGNED ||
           f->kind == POSIXTRACE_FIELD_HEX || f->kind == POSIXTRACE_FIELD_BOOL ||
           f->kind == POSIXTRACE_FIELD_CHAR;
}

/* Of a number its value, in whatever size; else the bytes. */
static bool id_of(posixtrace_fields_t *all, const struct posixtrace_event *e, const char *field,
                  uint64_t pair, struct pt_sync_id *id)
{
    const posixtrace_layout_t *layout = posixtrace_fields_layout(all, e->id);
    struct posixtrace_value values[FIELDS];
    size_t index, fields = 0;
    uint64_t number;

    if (!layout)
        return false;
    index = posixtrace_layout_find(layout, field);
    posixtrace_layout_split(layout, e->data, e->data_len, values, &fields);
    if (index >= fields)
        return false;
    id->low = pt_hash_bytes(PT_HASH_START, &pair, sizeof pair);
    id->high = pt_hash_bytes(PT_HASH_START + 1, &pair, sizeof pair);
    if (is_number(posixtrace_layout_field(layout, index)) && values[index].count == 1) {
        number = posixtrace_value_integer(layout, index, &values[index], 0);
        id->low = pt_hash_bytes(id->low, &number, sizeof number);
        id->high = pt_hash_bytes(id->high, &number, sizeof number);
    } else {
        id->low = ~pt_hash_bytes(id->low, values[index].at, values[index].count);
        id->high = ~pt_hash_bytes(id->high, values[index].at, values[index].count);
    }
    return true;
}

static int take(struct create *c, size_t log, posixtrace_fields_t *fields,
                const struct posixtrace_event *e)
{
    struct pt_sync_id id;
    int error = 0;

    if (e->ns > MOST_NS || e->ns < 0) /* sums stay within 64 bits */
        return 0;
    for (size_t i = 0; i < c->o.pair_count && !error; i++) {
        const struct posixtrace_sync_pair *p = &c->o.pairs[i];

        if (strcmp(e->name, p->send) == 0 && id_of(fields, e, p->send_id, i, &id)) {
            c->sync->summary.sends++;
            error = pt_sync_messages_add(&c->messages, id, true, c->logs.clock[log], e->ns);
        }
        if (!error && strcmp(e->name, p->receive) == 0 && id_of(fields, e, p->receive_id, i, &id)) {
            c->sync->summary.receives++;
            error = pt_sync_messages_add(&c->messages, id, false, c->logs.clock[log], e->ns);
        }
    }
    return error;
}

static int read_log(struct create *c, size_t log)
{
    struct posixtrace_event *batch = calloc(BATCH, sizeof *batch);
    posixtrace_fields_t *fields = NULL;
    size_t count = 1;
    int error = batch ? posixtrace_fields_create(c->logs.trids[log], &fields) : ENOMEM;
    uint64_t said = 0;

    while (!error && count) {
        error = posixtrace_next_events(c->logs.trids[log], batch, sizeof *batch, BATCH, &count);
        for (size_t i = 0; !error && i < count; i++)
            error = take(c, log, fields, &batch[i]);
        c->sync->summary.events += error ? 0 : count;
        if (c->o.progress && c->sync->summary.events - said >= PROGRESS_EVERY) {
            said = c->sync->summary.events;
            c->o.progress(c->o.context, said);
        }
    }
    posixtrace_fields_free(fields);
    free(batch);
    return error;
}

/* ---- channels ---- */

static int make_channels(struct create *c)
{
    size_t n = c->logs.clocks, all = n + 1;
    struct pt_sync_channel *by_pairs = calloc(n * n, sizeof *by_pairs);
    int error = by_pairs ? pt_sync_messages_join(&c->messages, by_pairs, n, &c->sync->summary)
                         : ENOMEM;

    c->channels = calloc(all * all, sizeof *c->channels);
    if (!c->channels)
        error = ENOMEM;
    for (size_t i = 0; i < n * n && by_pairs; i++)
        if (c->channels)
            c->channels[i / n * all + i % n] = by_pairs[i];
        else
            free(by_pairs[i].messages);
    free(by_pairs);
    for (size_t i = 0; i < n && !error; i++)
        error = pt_sync_logs_kernel(&c->logs, i, &c->channels[n * all + i],
                                    &c->channels[i * all + n]);
    for (size_t i = 0; c->channels && i < all * all; i++) {
        c->channels[i].from = i / all;
        c->channels[i].to = i % all;
        c->channels[i].kernel = i / all == n || i % all == n;
    }
    return error;
}

/* The clock of that name; else the one that the kernel knows best, or that has the most
 * messages. */
static int choose_reference(const struct create *c, size_t *reference)
{
    size_t n = c->logs.clocks, all = n + 1;
    uint64_t most = 0;

    *reference = n;
    for (size_t i = 0; i < n; i++) {
        const struct pt_sync_axis *a = &c->logs.axes[i];
        const struct pt_sync_axis *best = *reference < n ? &c->logs.axes[*reference] : NULL;
        uint64_t messages = 0;
        bool better;

        if (c->o.reference && strncmp(a->host.host, c->o.reference, sizeof a->host.host) != 0)
            continue;
        for (size_t k = 0; k < n; k++)
            messages += c->channels[i * all + k].count + c->channels[k * all + i].count;
        better = !best || (a->kernel && !best->kernel) ||
                 (a->kernel && best->kernel && a->error_ns < best->error_ns) ||
                 (!a->kernel && !best->kernel && messages > most);
        if (better) {
            *reference = i;
            most = messages;
        }
    }
    return *reference < n ? 0 : EINVAL;
}

/* ---- results ---- */

static int fill_host(struct pt_sync_host *h, const struct pt_sync_axis *a,
                     struct pt_sync_line *line)
{
    size_t last = line->count - 1;
    double axis = (double)(line->axis[last] - line->axis[0]);
    double common = (double)(line->common[last] - line->common[0]);

    *h = a->host;
    h->source = line->source;
    h->knots = calloc(line->count, sizeof *h->knots);
    if (!h->knots)
        return ENOMEM;
    for (size_t i = 0; i <= last; i++) {
        uint64_t ticks = pt_sync_ticks(a, line->axis[i]);

        h->knots[i] = (struct posixtrace_clock_knot){ ticks, line->common[i] };
        /* ticks are coarser than the axis, or finer */
        h->knots[i].ns += pt_sync_axis_at(a, ticks) - line->axis[i];
    }
    h->knot_count = line->count;
    h->bounds = line->bounds;
    h->bound_count = line->bound_count;
    line->bounds = NULL;
    h->least_ppb = line->least_ppb;
    h->most_ppb = line->most_ppb;
    h->first_ns = line->common[0];
    h->last_ns = line->common[last];
    h->offset_ns = line->common[0] - line->axis[0] +
                   (line->common[last] - line->axis[last] - line->common[0] + line->axis[0]) / 2;
    h->drift_ppb = (int64_t)((common / axis - 1) * 1e9);
    return 0;
}

static int fill_links(struct create *c)
{
    size_t n = c->logs.clocks, all = n + 1;

    c->sync->links = calloc(n * n + 1, sizeof *c->sync->links);
    if (!c->sync->links)
        return ENOMEM;
    for (size_t i = 0; i < n * n; i++) {
        const struct pt_sync_channel *from = &c->channels[i / n * all + i % n];

        if (from->count)
            c->sync->links[c->sync->link_count++] = (struct posixtrace_sync_link){ i / n, i % n,
                                                                                   from->count };
    }
    return 0;
}

static int fill_conflicts(struct create *c, const struct pt_sync_solution *s)
{
    size_t all = c->logs.clocks + 1;

    c->sync->conflicts = calloc(s->clash_count + 1, sizeof *c->sync->conflicts);
    if (!c->sync->conflicts)
        return ENOMEM;
    for (size_t i = 0; i < s->clash_count; i++)
        c->sync->conflicts[c->sync->conflict_count++] = (struct posixtrace_sync_conflict){
            s->clashes[i].channel / all, s->clashes[i].channel % all, s->clashes[i].message.sent,
            s->clashes[i].message.received, false
        };
    return EDOM;
}

static int fill(struct create *c, struct pt_sync_solution *s)
{
    int error = 0;

    for (size_t i = 0; i < c->logs.clocks && !error; i++)
        error = fill_host(&c->sync->hosts[i], &c->logs.axes[i], &s->lines[i]);
    c->sync->between = s->between;
    c->sync->between_count = s->between_count;
    s->between = NULL;
    s->between_count = 0;
    c->sync->summary.pieces = s->pieces;
    c->sync->summary.kernel_dropped = s->kernel_dropped;
    return error;
}

static int solve(struct create *c)
{
    size_t n = c->logs.clocks, all = n + 1;
    int64_t begin[PT_SYNC_HOSTS], end[PT_SYNC_HOSTS];
    struct pt_sync_group g = { .clocks = n, .begin = begin, .end = end };
    struct pt_sync_solution s = { .lines = NULL };
    int error = choose_reference(c, &g.reference);

    for (size_t i = 0; i < n; i++) {
        const struct pt_sync_axis *a = &c->logs.axes[i];

        begin[i] = a->has_events ? a->begin : a->line[0].ns;
        end[i] = a->has_events ? a->end : a->line[0].ns;
        c->sync->hosts[i] = a->host;
    }
    c->sync->host_count = n;
    g.channels = c->channels;
    g.channel_count = all * all;
    if (!error)
        error = fill_links(c);
    if (!error) {
        error = pt_sync_solve(&g, &s);
        error = error == EDOM ? fill_conflicts(c, &s) : error ? error : fill(c, &s);
        pt_sync_solution_free(&s, n);
    }
    return error;
}

static int make(struct create *c)
{
    int error = pt_sync_logs_open(&c->logs);

    for (size_t i = 0; i < c->logs.count && !error; i++)
        error = c->o.pair_count ? read_log(c, i) : 0;
    if (!error)
        error = make_channels(c);
    c->sync->hosts = calloc(c->logs.clocks + 1, sizeof *c->sync->hosts);
    if (!c->sync->hosts)
        error = ENOMEM;
    return error ? error : solve(c);
}

int posixtrace_sync_create(const trace_id_t *trids, size_t count,
                           const struct posixtrace_sync_options *options, size_t size,
                           posixtrace_sync_t **sync)
{
    struct create c = { .logs = { .trids = trids, .count = count } };
    int error;

    if (!trids || count == 0 || !options || size == 0 || !sync)
        return EINVAL;
    memcpy(&c.o, options, size < sizeof c.o ? size : sizeof c.o);
    if (c.o.pair_count && !c.o.pairs)
        return EINVAL;
    c.sync = calloc(1, sizeof *c.sync);
    if (!c.sync)
        return ENOMEM;
    c.sync->made = true;
    error = make(&c);
    for (size_t i = 0; c.channels && i < (c.logs.clocks + 1) * (c.logs.clocks + 1); i++)
        free(c.channels[i].messages);
    free(c.channels);
    pt_sync_messages_free(&c.messages);
    pt_sync_logs_close(&c.logs);
    if (error && error != EDOM)
        posixtrace_sync_free(c.sync);
    else
        *sync = c.sync;
    return error;
}
