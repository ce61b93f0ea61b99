/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads a stream on to what a pair has to know of: its first event, events of the pairs, marks of
 * losses, the start of a part that cannot be read, its end.
 */
#include "analysis/metrics/run/reader.h"
#include "analysis/pair/pair_state.h"

static void set_item(struct pt_pair_source *s, enum pt_pair_item item, int64_t ns)
{
    s->item = item;
    s->item_ns = ns;
    s->key = s->key > ns ? s->key : ns;
}

/* When the gap begins that comes next: after the last event, or where the trace began.  False: it
 * is not known, and nothing was there before. */
static bool gap_start(const struct pt_pair_source *s, int64_t *ns)
{
    *ns = s->now;
    return s->any || pt_reader_begin(s->trid, ns);
}

static int fill(posixtrace_pair_run_t *run, struct pt_pair_source *s)
{
    bool gap = false;
    int64_t ns;
    int error = pt_reader_next(s->trid, s->batch, PT_PAIR_BATCH, &s->count, &gap);

    s->at = 0;
    if (error) {
        s->count = 0;
        return error;
    }
    run->events += s->count;
    s->over = s->count == 0;
    if (gap && gap_start(s, &ns)) {
        s->unread = true;
        set_item(s, PT_PAIR_ITEM_GAP, ns);
    }
    return 0;
}

static void set_last(struct pt_pair_source *s)
{
    int64_t last_ns;

    pt_reader_end(s->trid, &last_ns);
    set_item(s, PT_PAIR_ITEM_LAST, last_ns > s->now ? last_ns : s->now);
}

/* Is the event one that is taken?  Where events are missing before it, any is. */
static bool is_wanted(const struct pt_pair_source *s, const struct pt_pair_type *t)
{
    return !s->any || s->unread || t->is_mark || t->count > 0;
}

int pt_pair_source_next(posixtrace_pair_run_t *run, struct pt_pair_source *s)
{
    enum pt_pair_item before = s->item;
    int error = 0;

    s->at += before == PT_PAIR_ITEM_EVENT;
    s->item = PT_PAIR_ITEM_NONE;
    if (before == PT_PAIR_ITEM_LAST)
        return 0;
    while (s->item == PT_PAIR_ITEM_NONE) {
        const struct posixtrace_event *e;

        if (s->at == s->count && s->over) {
            set_last(s);
            return 0;
        }
        if (s->at == s->count) {
            error = fill(run, s);
            if (error)
                return error;
            continue;
        }
        e = &s->batch[s->at];
        s->type = pt_pair_type(run, s, e->id, &error);
        if (!s->type)
            return error;
        if (s->type->is_mark && pt_gap_marks_lack_begin(&s->marks, e->id) && s->any && !s->unread) {
            s->unread = true; /* and the next call takes the event */
            set_item(s, PT_PAIR_ITEM_GAP, s->now);
            return 0;
        }
        s->now = e->ns;
        s->last_is_stop = e->id == POSIX_TRACE_STOP;
        if (is_wanted(s, s->type))
            set_item(s, PT_PAIR_ITEM_EVENT, e->ns);
        else
            s->at++;
        s->any = true;
    }
    return 0;
}
