/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Lanes (threads), processes and rows of the page; see html_state.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/html/html_state.h"

/* Of the size.  A lane takes 200 bytes with its rows but those of slices, and such a row 50. */
enum { LANE_PART = 500, ROW_PART = 200 };

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

/* ---- threads that have lanes ---- */

static int by_events(const void *a, const void *b)
{
    const struct pt_html_thread *x = a, *y = b;

    return (x->events < y->events) - (x->events > y->events);
}

static int by_numbers(const void *a, const void *b)
{
    const struct pt_html_thread *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Those with the most events. */
static void choose(struct pt_html *h, size_t count)
{
    qsort(h->kept, count, sizeof *h->kept, by_events);
    h->kept_count = h->lanes_most;
    h->unkept = count - h->lanes_most;
    qsort(h->kept, h->kept_count, sizeof *h->kept, by_numbers);
}

int pt_html_lanes_choose(struct pt_html *h)
{
    struct posixtrace_thread_info thread;
    size_t count = 0, room = 0;
    int unavailable = 0;

    h->lanes_most = h->size / LANE_PART;
    posixtrace_threadlist_rewind(h->trid);
    while (posixtrace_threadlist_getnext(h->trid, &thread, sizeof thread, &unavailable) == 0 &&
           !unavailable) {
        struct pt_html_thread *kept = pt_html_more(h, h->kept, count, &room, sizeof *kept);

        if (!kept)
            return ENOMEM;
        h->kept = kept;
        kept[count++] = (struct pt_html_thread){ thread.pid, thread.tid, thread.recorded };
    }
    if (count > h->lanes_most) {
        choose(h, count);
        return 0;
    }
    free(h->kept);
    h->kept = NULL;
    return 0;
}

/* The list of threads leaves out some that ended long ago. */
static bool has_lane(struct pt_html *h, int32_t pid, int32_t tid)
{
    const struct pt_html_thread key = { .pid = pid, .tid = tid };
    const struct pt_report_key known = { .a = (uint32_t)pid, .b = (uint32_t)tid };

    if (tid == 0 || (h->lanes.count < h->lanes_most && !h->kept))
        return true;
    if (h->kept)
        return bsearch(&key, h->kept, h->kept_count, sizeof key, by_numbers) != NULL;
    return pt_report_map_find(&h->lanes, known) != NULL;
}

void pt_html_lanes_end(struct pt_html *h)
{
    char kept[PT_HTML_COUNT], others[PT_HTML_COUNT];

    if (h->rows_left_out)
        pt_html_note(h, "Slices of some threads, or of some depths, are not in the page, since its "
                        "size is limited.");
    if (h->shared_lane && h->kept)
        pt_html_note(
            h,
            "The %s threads with the most events have lanes, since the size of the page is "
            "limited; of %s others there are the events only, in one lane.",
            pt_html_count(kept, h->kept_count), pt_html_count(others, h->unkept));
    else if (h->shared_lane)
        pt_html_note(h,
                     "The first %s threads have lanes, since the size of the page is limited; of "
                     "others there are the events only, in one lane.",
                     pt_html_count(kept, h->lanes_most));
}

/* ---- lanes ---- */

static struct pt_html_lane *shared_lane(struct pt_html *h)
{
    const struct pt_report_key key = { .a = UINT64_MAX };
    struct pt_html_lane *lane = pt_report_map_make(&h->lanes, key, sizeof *lane);

    if (!lane) {
        pt_html_fail(h, ENOMEM);
        return NULL;
    }
    lane->any = lane->shared = true;
    lane->pid = lane->tid = -1;
    lane->number = (uint32_t)h->lanes.count - 1;
    lane->begin = INT64_MAX;
    lane->events_row = lane->state_row = PT_HTML_NO_ROW;
    strcpy(lane->name, "other threads");
    h->shared_lane = lane;
    return lane;
}

static struct pt_html_lane *make_lane(struct pt_html *h, int32_t pid, int32_t tid)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    struct pt_html_lane *lane;

    if (!has_lane(h, pid, tid))
        return h->shared_lane ? h->shared_lane : shared_lane(h);
    lane = pt_report_map_make(&h->lanes, key, sizeof *lane);
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
    if (rows[depth] == PT_HTML_NO_ROW && h->row_count >= h->size / ROW_PART) {
        h->rows_left_out = true;
        return PT_HTML_NO_ROW;
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
    free(h->kept);
    pt_report_map_deinit(&h->lanes);
    pt_report_map_deinit(&h->processes);
    pt_report_map_deinit(&h->rows_by_key);
    pt_report_map_deinit(&h->site_map);
    pt_report_map_deinit(&h->named);
    free(h->rows);
}
