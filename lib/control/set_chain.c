/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See set_chain.h. */
#include <string.h>
#include "control/set_chain.h"
#include "process/thread.h"
#include "stream/control_lock.h"
#include "stream/pages.h"

void pt_chain_set_next(struct pt_stream *s, const struct pt_stream *next)
{
    pt_u64 file[sizeof s->seg->h->next_file / 8] = { 0 };

    if (next) {
        memcpy(file, next->seg->file, strnlen(next->seg->file, PT_PAGE_FILE - 1));
        pt_store_seqcst(&s->seg->h->keeps_late, 1u);
    }
    pt_copy_watched(s->seg->h->next_file, file, sizeof file);
}

/* The lock is held. */
static int set_successor(struct pt_stream *s, bool is_successor, bool force)
{
    struct pt_seg_header *h = s->seg->h;
    int r = !force && pt_state_runs(pt_load_seqcst(&h->state)) ? pt_pages_check(s) : 0;

    if (r < 0)
        return r;
    pt_store_seqcst(&h->is_successor, (uint32_t)is_successor);
    r = pt_control_lock_settle(s, false);
    if (r < 0 && !force) {
        pt_store_seqcst(&h->is_successor, (uint32_t)!is_successor);
        pt_control_lock_settle(s, false);
    }
    return r;
}

int pt_chain_set_successor(struct pt_stream *s, bool is_successor, bool force)
{
    int r, e;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        e = set_successor(s, is_successor, force);
    } while (!pt_control_lock_end(s));
    pt_threads_left();
    return e;
}
