/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See metrics_view.h. */
#include "metrics/metrics_view.h"

#include <stdlib.h>
#include <string.h>

#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "input/earliest.h"
#include "measure/metrics_measure.h"

enum { BATCH = 256, PROGRESS_EVERY = 64 };

struct merging {
    struct metrics_view *view;
    struct earliest next; /* by the end of each log's first measurement */
    bool *ended;          /* by place of the log */
    uint64_t batches;
};

void metrics_several_queue(struct metrics_part *part, struct metrics_where where,
                           const struct posixtrace_measurement *m)
{
    if (part->queue_count == part->queue_room) {
        part->queue_room = part->queue_room ? 2 * part->queue_room : BATCH;
        part->queue = tool_grow(part->queue, part->queue_room, sizeof *part->queue);
    }
    part->queue[part->queue_count++] = (struct metrics_waiting){ where, *m };
}

static bool is_empty(const struct metrics_part *part)
{
    return part->queue_first == part->queue_count;
}

/* Reads until there is a measurement, or the log has ended. */
static int refill(struct merging *g, struct metrics_part *part)
{
    int status = EXIT_DONE;

    part->queue_first = part->queue_count = 0;
    while (status == EXIT_DONE && is_empty(part) && !g->ended[part->place] && !out_failed()) {
        status = metrics_take_some(part->run, part->log, BATCH, &g->ended[part->place]);
        if (g->batches++ % PROGRESS_EVERY == 0)
            progress_at(metrics_view_events(g->view));
    }
    return status;
}

static int64_t next_end(const struct metrics_part *part)
{
    return part->queue[part->queue_first].m.end_ns;
}

/* Shows the first measurement of all. */
static int show_first(struct merging *g)
{
    struct metrics_part *part = &g->view->parts[earliest_first(&g->next)];
    const struct metrics_waiting *w = &part->queue[part->queue_first++];
    int status = EXIT_DONE;

    metrics_view_show(g->view, w->where, &w->m);
    if (is_empty(part))
        status = refill(g, part);
    if (is_empty(part))
        earliest_drop(&g->next);
    else
        earliest_advance(&g->next, next_end(part));
    return status;
}

static int merge(struct metrics_view *v)
{
    struct merging g = { .view = v, .ended = tool_zeroed(v->part_count * sizeof *g.ended) };
    int status = EXIT_DONE;

    earliest_init(&g.next, v->part_count);
    for (size_t i = 0; status == EXIT_DONE && i < v->part_count; i++) {
        status = refill(&g, &v->parts[i]);
        if (!is_empty(&v->parts[i]))
            earliest_add(&g.next, i, next_end(&v->parts[i]));
    }
    while (status == EXIT_DONE && !out_failed() && g.next.count > 0)
        status = show_first(&g);
    for (size_t i = 0; i < v->part_count; i++)
        free(v->parts[i].queue);
    earliest_free(&g.next);
    free(g.ended);
    return status;
}

/* Nothing is shown before the end: one after the other. */
static int take_each(struct metrics_view *v)
{
    int status = EXIT_DONE;

    for (size_t i = 0; status == EXIT_DONE && i < v->part_count; i++) {
        bool ended = false;

        while (status == EXIT_DONE && !ended && !out_failed()) {
            status = metrics_take_some(v->parts[i].run, v->parts[i].log, BATCH * PROGRESS_EVERY,
                                       &ended);
            progress_at(metrics_view_events(v));
        }
    }
    return status;
}

int metrics_several_take(struct metrics_view *v)
{
    return metrics_view_shows_each(v) ? merge(v) : take_each(v);
}
