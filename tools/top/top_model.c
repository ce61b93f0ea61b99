/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The picture of one refresh. */
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "top/top.h"

static void fill_stream(struct top_stream_row *row, struct top_stream *s)
{
    *row = (struct top_stream_row){ .of = s,
                                    .name = s->info.name[0] ? s->info.name : s->info.file,
                                    .owner = s->info.owner,
                                    .pid = s->pid,
                                    .processes = s->processes,
                                    .running = s->running,
                                    .ended = s->ended,
                                    .policy = s->policy,
                                    .size = s->now.reserved_bytes,
                                    .bytes = s->now.bytes,
                                    .events = s->now.events,
                                    .rate = s->ended ? 0 : s->rate,
                                    .share = s->share,
                                    .stretch = s->stretch_ns,
                                    .locks_known = s->locks_unfiltered };
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++) {
        if (c == POSIXTRACE_LOST_OVERWRITTEN)
            continue;
        row->lost[c] = s->lost_before[c] + s->now.lost[c];
        row->lost_rate[c] = s->ended ? 0 : s->lost_rate[c];
    }
}

/* What recording takes, by the cost of an event that the stream knows, or that was measured. */
static void add_stream(struct top_model *m, const struct top_set *set,
                       const struct top_stream_row *row, double *read)
{
    double ns = row->of->event_ns > 0 ? row->of->event_ns : set->event_ns;

    m->rate += row->rate;
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        m->lost_rate += row->lost_rate[c];
    m->tracing += row->rate * ns / 1e9;
    m->left_out += row->of->left_out;
    *read += row->rate * row->share;
    if (m->event_ns == 0)
        m->event_ns = ns;
}

void top_model_make(struct top_model *m, struct top_set *set, enum top_sort sort, size_t named)
{
    double read = 0;

    memset(m, 0, sizeof *m);
    m->now = set->wall_ns;
    m->seconds = set->refresh > 1 ? set->seconds : 0;
    m->refused = set->refused;
    m->cost = set->cost;
    m->sort = sort;
    m->stream_count = set->count;
    m->streams = tool_grow(NULL, set->count + 1, sizeof *m->streams);
    for (size_t i = 0; i < set->count; i++) {
        struct top_stream *s = set->streams[i];

        fill_stream(&m->streams[i], s);
        add_stream(m, set, &m->streams[i], &read);
        top_rows_pairs(m, s, &m->streams[i]);
        top_rows_threads(m, s, &m->streams[i]);
        top_rows_locks(m, s);
        top_rows_sites(m, s);
    }
    m->share = m->rate > 0 ? read / m->rate : 1;
    top_rows_end(m, named);
}

void top_model_free(struct top_model *m)
{
    free(m->streams);
    free(m->pairs);
    free(m->threads);
    free(m->locks);
    free(m->sites);
    memset(m, 0, sizeof *m);
}
