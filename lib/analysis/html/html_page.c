/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_page_write(): the passes over the log, and then the file.  See html_state.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"
#include "analysis/html/html_web.h"

#define SIZE_DEFAULT UINT64_C(40000000)
#define SIZE_LEAST   UINT64_C(500000)

enum { BATCH = 64, HEAD_LEAST = 16384 };

/* ---- the span ---- */

static int look_at_times(struct pt_html *h, int64_t *first, int64_t *last)
{
    struct posixtrace_event batch[BATCH];
    size_t count = 1;
    int error = posix_trace_rewind(h->trid);

    *first = INT64_MAX;
    *last = INT64_MIN;
    while (!error && count > 0) {
        error = posixtrace_next_events(h->trid, batch, sizeof *batch, BATCH, &count);
        for (size_t i = 0; !error && i < count; i++) {
            *first = batch[i].ns < *first ? batch[i].ns : *first;
            *last = batch[i].ns > *last ? batch[i].ns : *last;
            h->read++;
        }
        if (!error && h->options.progress && (h->read & 0x3fff) < BATCH)
            error = h->options.progress(h->options.context, h->read);
    }
    return error;
}

/* The index has the times of the first and the last event, which are the extreme ones if none is
 * late and the clock was never set back. */
static bool is_in_order(const struct posixtrace_info *info)
{
    return info->late == 0 && info->set_back == 0 && info->clock != POSIXTRACE_CLOCK_REALTIME &&
           info->end == POSIXTRACE_END_SHUTDOWN && info->skipped_bytes == 0;
}

static int find_span(struct pt_html *h)
{
    int64_t first = h->info.first_ns, last = h->info.last_ns;
    int error = is_in_order(&h->info) ? 0 : look_at_times(h, &first, &last);

    if (error)
        return error;
    if (first > last)
        first = last = 0;
    h->origin = first;
    if (__builtin_sub_overflow(last, first, &h->span) || h->span > PT_HTML_EXACT)
        return EOVERFLOW;
    return 0;
}

/* ---- all of it ---- */

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Of the file, what the skeleton and texts leave. */
static void set_budget(struct pt_html *h)
{
    uint64_t fixed = HEAD_LEAST;

    h->size = h->options.size ? h->options.size : SIZE_DEFAULT;
    h->size = h->size < SIZE_LEAST ? SIZE_LEAST : h->size;
    for (unsigned i = 0; i < PT_HTML_PIECES; i++)
        fixed += pt_html_pieces[i].length;
    fixed += length_of(h->options.report) + length_of(h->options.flame) +
             length_of(h->options.distributions);
    for (size_t i = 0; i < h->options.why_count; i++)
        fixed += strlen(h->options.why_reports[i]);
    h->budget = h->size > fixed + h->size / 8 ? h->size - fixed : h->size / 8;
}

static int make(struct pt_html *h)
{
    int error = posixtrace_get_info(h->trid, &h->info, sizeof h->info);

    if (!error)
        error = posixtrace_fields_create(h->trid, &h->fields);
    if (!error)
        error = find_span(h);
    if (error)
        return error;
    set_budget(h);
    error = pt_html_lanes_choose(h);
    if (error)
        return error;
    if (h->options.note)
        pt_html_note(h, "%s", h->options.note);
    pt_html_levels_init(h);
    pt_html_counters_init(h);
    pt_html_timeline_pass(h);
    if (!h->error)
        pt_html_states_pass(h);
    if (!h->error)
        pt_html_levels_end(h);
    if (!h->error)
        pt_html_counters_end(h);
    if (!h->error)
        pt_html_details_end(h);
    pt_html_lanes_end(h);
    pt_html_budget_end(h);
    if (!h->error)
        pt_html_write(h);
    return h->error;
}

static void deinit(struct pt_html *h)
{
    struct pt_html_tiles *const tiles[] = { &h->long_tiles, &h->detail_tiles, &h->flow_tiles,
                                            &h->missing };

    pt_html_levels_deinit(h);
    pt_html_counters_deinit(h);
    pt_html_types_deinit(h);
    pt_html_events_deinit(h);
    pt_html_rows_deinit(h);
    pt_html_blocks_deinit(&h->blocks);
    posixtrace_fields_free(h->fields);
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++)
        free(tiles[i]->at);
    for (uint32_t i = 0; h->labels && i < h->labels_known; i++)
        free(h->labels[i]);
    for (unsigned i = 0; i < PT_TL_OPTIONS; i++)
        free(h->counter_names[i]);
    for (unsigned i = 0; i < h->note_count; i++)
        free(h->notes[i]);
    free(h->labels);
    free(h->label_mean);
    free(h->label_count);
    free(h->longs);
    free(h->flows);
    free(h->details.at);
    free(h->wide_details.at);
}

bool posixtrace_page_available(void)
{
    return pt_html_can_compress();
}

int posixtrace_page_write(trace_id_t trid, const struct posixtrace_page_options *options,
                          size_t size)
{
    struct pt_html *h;
    int error;

    if (!options || size == 0)
        return EINVAL;
    if (!pt_html_can_compress())
        return ENOTSUP;
    error = posix_trace_rewind(trid); /* of an active stream EINVAL, of a pipe ESPIPE */
    if (error)
        return error;
    h = calloc(1, sizeof *h);
    if (!h)
        return ENOMEM;
    h->trid = trid;
    memcpy(&h->options, options, size < sizeof h->options ? size : sizeof h->options);
    error = h->options.write ? make(h) : EINVAL;
    deinit(h);
    free(h);
    return error;
}
