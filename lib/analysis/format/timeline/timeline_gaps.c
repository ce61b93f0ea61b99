/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Places where events are missing: slices that may have ended there are cut; see cuts.h. */
#include "analysis/format/timeline/timeline_state.h"

void pt_tl_gaps_init(struct pt_timeline *tl)
{
    uint64_t marks = 0;

    tl->gap_ns = INT64_MIN;
    pt_cuts_init(&tl->cuts, tl->job);
    /* A log of an older version may have losses without marks. */
    tl->unmarked = pt_job_lost(tl->job) > 0 &&
                   (posixtrace_event_count(tl->job->trid, POSIX_TRACE_OVERFLOW, &marks) != 0 ||
                    marks == 0);
}

void pt_tl_mark_open(struct pt_timeline *tl, const struct pt_tl_track *t)
{
    size_t n = pt_timeline_index(tl, t);

    tl->has_open[n / 64] |= UINT64_C(1) << n % 64;
}

void pt_timeline_watch(struct pt_timeline *tl, const struct pt_tl_track *t)
{
    pt_tl_mark_open(tl, t);
}

static void cut_track(struct pt_timeline *tl, struct pt_tl_track *t, int64_t ns,
                      const char *because)
{
    t->beyond = 0;
    t->past.any = false;
    while (t->depth > 0) {
        t->depth--;
        if (tl->ops->cut)
            tl->ops->cut(tl->self, t, ns, t->open[t->depth], because);
        else
            tl->ops->end(tl->self, t, ns, t->open[t->depth], NULL);
    }
    if (tl->ops->gap)
        tl->ops->gap(tl->self, t);
}

static void cut(struct pt_timeline *tl, int64_t ns, const char *because)
{
    struct pt_tl_track *tracks = &tl->tracks[0][0];

    for (size_t word = 0; word < PT_TL_SETS * PT_TL_WAYS / 64; word++)
        for (uint64_t bits = tl->has_open[word]; bits != 0; bits &= bits - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(bits);
            struct pt_tl_track *t = &tracks[64 * word + bit];

            if ((t->depth > 0 || tl->ops->gap) && !pt_cuts_apply(&tl->cuts, t->pid, t->tid))
                continue;
            cut_track(tl, t, ns, because);
            tl->has_open[word] &= ~(UINT64_C(1) << bit);
        }
}

/* Between STOP and START nothing is lost, and yet what begins before need not end after it. */
void pt_tl_look_for_gap(struct pt_timeline *tl, const struct posixtrace_event *e)
{
    int64_t ns;
    const char *because = pt_cuts_before(&tl->cuts, e, &ns);

    if (because)
        cut(tl, ns, because);
    if (e->id == POSIX_TRACE_OVERFLOW || e->id == POSIX_TRACE_STOP)
        tl->in_gap = true;
    else if (e->id != POSIX_TRACE_RESUME && e->id != POSIX_TRACE_START)
        return;
    else
        tl->in_gap = false;
    tl->gap_ns = e->ns;
}

bool pt_timeline_is_whole(const struct pt_timeline *tl, int64_t since, int64_t ns)
{
    return !tl->unmarked && !tl->in_gap && since > tl->gap_ns && since <= ns;
}
