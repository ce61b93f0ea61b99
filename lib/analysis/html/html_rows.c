/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lanes (threads), processes and rows of the page; see html_state.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

struct pt_html_process *pt_html_process_of(struct pt_html *h, int32_t pid)
{
    struct pt_report_key key = { .a = (uint32_t)pid };
    struct pt_html_process *p = pt_report_map_make(&h->processes, key, sizeof *p);

    if (!p) {
        pt_html_fail(h, ENOMEM);
        return NULL;
    }
    if (!p->any) {
        p->any = true;
        p->pid = pid;
        p->number = (uint32_t)h->processes.count - 1;
    }
    return p;
}

static struct pt_html_lane *make_lane(struct pt_html *h, int32_t pid, int32_t tid)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    struct pt_html_lane *lane = pt_report_map_make(&h->lanes, key, sizeof *lane);

    if (!lane) {
        pt_html_fail(h, ENOMEM);
        return NULL;
    }
    if (lane->any)
        return lane;
    lane->any = true;
    lane->pid = pid;
    lane->tid = tid;
    lane->number = (uint32_t)h->lanes.count - 1;
    lane->begin = INT64_MAX;
    lane->events_row = lane->state_row = PT_HTML_NO_ROW;
    lane->process = pid ? pt_html_process_of(h, pid) : NULL;
    return lane;
}

struct pt_html_lane *pt_html_lane_of(struct pt_html *h, int32_t pid, int32_t tid)
{
    struct pt_html_lane *lane = h->last_lane;

    if (!lane || lane->tid != tid || lane->pid != pid)
        h->last_lane = lane = make_lane(h, pid, tid);
    return lane;
}

/* A process is called as its first thread is. */
void pt_html_lane_name(struct pt_html_lane *lane, const char *name)
{
    if (!*name)
        return;
    strncpy(lane->name, name, sizeof lane->name - 1);
    if (lane->process && (lane->tid == lane->pid || !lane->process->name[0]))
        memcpy(lane->process->name, lane->name, sizeof lane->name);
}

uint32_t pt_html_row_add(struct pt_html *h, struct pt_html_row row)
{
    if (h->row_count == h->row_room) {
        uint32_t room = h->row_room ? 2 * h->row_room : 64;
        struct pt_html_row *rows = realloc(h->rows, room * sizeof *rows);

        if (rows)
            h->rows = rows;
        if (!rows || !pt_html_levels_room(h, room)) {
            pt_html_fail(h, ENOMEM);
            return PT_HTML_NO_ROW;
        }
        h->row_room = room;
    }
    h->rows[h->row_count] = row;
    return h->row_count++;
}

uint32_t pt_html_row_of(struct pt_html *h, struct pt_html_row row)
{
    struct pt_report_key key = { .a = (uint64_t)row.kind << 32 | row.owner,
                                 .b = row.part,
                                 .c = row.object };
    uint32_t *number = pt_report_map_make(&h->rows_by_key, key, sizeof *number);

    if (!number) {
        pt_html_fail(h, ENOMEM);
        return PT_HTML_NO_ROW;
    }
    if (*number == 0)
        *number = pt_html_row_add(h, row) + 1;
    return *number - 1;
}

uint32_t pt_html_slice_row(struct pt_html *h, struct pt_html_lane *lane, unsigned depth)
{
    uint32_t *rows = lane->slice_rows;

    if (depth >= lane->rows) {
        rows = realloc(rows, (depth + 1) * sizeof *rows);
        if (!rows) {
            pt_html_fail(h, ENOMEM);
            return PT_HTML_NO_ROW;
        }
        lane->slice_rows = rows;
        for (; lane->rows <= depth; lane->rows++)
            rows[lane->rows] = PT_HTML_NO_ROW;
    }
    if (rows[depth] == PT_HTML_NO_ROW)
        rows[depth] = pt_html_row_add(
            h, (struct pt_html_row){ .kind = PT_HTML_SLICE, .owner = lane->number, .part = depth });
    return rows[depth];
}

void pt_html_rows_deinit(struct pt_html *h)
{
    for (size_t i = 0; i < h->lanes.count; i++) {
        struct pt_html_lane *lane = h->lanes.items[i];

        free(lane->begun);
        free(lane->slice_rows);
    }
    pt_report_map_deinit(&h->lanes);
    pt_report_map_deinit(&h->processes);
    pt_report_map_deinit(&h->rows_by_key);
    pt_report_map_deinit(&h->site_map);
    pt_report_map_deinit(&h->named);
    free(h->rows);
}
