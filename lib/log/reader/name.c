/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The latest name of an author.  A packet has the name that its author had when the packet
 * was written; the author lists have the latest name, which is shown for the whole log.
 *
 * Control writers (START, STOP, FLUSH_START ...) are in no list.  A thread that controls the
 * stream may also record events, as in each process that records itself.  Then its control
 * writer has the name of the thread's own writer, or of its last one if it had several.
 */
#include <string.h>
#include "log/reader/state.h"

static bool is_namesake(const struct pt_author *a, const struct pt_author *control)
{
    return a->wid != 0 && a->pid == control->pid && a->tid == control->tid &&
           (a->thread_id == control->thread_id || a->level == PT_LEVEL_MADE);
}

static void find_namesake(const struct pt_log_reader *r, const struct pt_author *control,
                          struct pt_namesake *n)
{
    const struct pt_author_stats *t = &r->totals;

    *n = (struct pt_namesake){ .pid = control->pid,
                               .tid = control->tid,
                               .thread_id = control->thread_id,
                               .changes = t->changes };
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_author *a = &t->entries[i].author;

        if (is_namesake(a, control) && a->wid > n->wid)
            n->wid = a->wid;
    }
}

/* The writer whose name a control writer has. */
static uint64_t namesake(struct pt_log_reader *r, const struct pt_author *control)
{
    struct pt_namesake *n = &r->namesakes[(uint32_t)control->tid % PT_NAMESAKES];

    if (n->changes != r->totals.changes || n->pid != control->pid || n->tid != control->tid ||
        n->thread_id != control->thread_id)
        find_namesake(r, control, n);
    return n->wid;
}

void pt_reader_latest_name(struct pt_log_reader *r, struct pt_author *author)
{
    bool control = author->wid == 0 && author->tid != 0;
    uint64_t wid = control ? namesake(r, author) : author->wid;
    const struct pt_total *total = wid || !control ? pt_author_stats_find(&r->totals, wid) : NULL;

    if (total && total->author.name[0] && total->author.pid == author->pid &&
        total->author.tid == author->tid)
        memcpy(author->name, total->author.name, sizeof author->name);
}
