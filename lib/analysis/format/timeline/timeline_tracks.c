/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The table of tracks: sets of a few entries, chosen by a hash of the numbers; in a full
 * set the entry that was not used for longest makes room.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"

#define NAME_BYTES (sizeof((struct pt_tl_track *)0)->name - 1)

static size_t set_number(int32_t pid, int32_t tid)
{
    uint64_t h = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * UINT64_C(0x9e3779b97f4a7c15);

    return (h >> 32) % PT_TL_SETS;
}

size_t pt_timeline_index(const struct pt_timeline *tl, const struct pt_tl_track *t)
{
    return (size_t)(t - &tl->tracks[0][0]);
}

static struct pt_tl_track *make(struct pt_timeline *tl, struct pt_tl_track *set, int32_t pid,
                                int32_t tid)
{
    struct pt_tl_track *t = set;

    for (size_t i = 1; i < PT_TL_WAYS && t->used; i++)
        if (set[i].used < t->used)
            t = &set[i];
    if (t->depth > 0)
        pt_job_note(tl->job, PT_TL_NOTE_TRACKS,
                    "too many threads: thread %ld was forgotten "
                    "before its slices ended",
                    (long)t->tid);
    if (t->used && tl->ops->forget)
        tl->ops->forget(tl->self, t);
    memset(t, 0, sizeof *t);
    t->pid = pid;
    t->tid = tid;
    t->cpu = t->held = -1;
    return t;
}

/* True: the back end does not know that. */
static bool rename_to(struct pt_tl_track *t, const char *name)
{
    if (strncmp(t->name, name, NAME_BYTES) == 0)
        return false;
    strncpy(t->name, name, NAME_BYTES);
    return true;
}

/* The one with these numbers; the name, if not empty, is its name from now on. */
static struct pt_tl_track *find(struct pt_timeline *tl, int32_t pid, int32_t tid, const char *name)
{
    struct pt_tl_track *set = tl->tracks[set_number(pid, tid)], *t = NULL;
    bool tell = false;

    for (size_t i = 0; i < PT_TL_WAYS && !t; i++)
        if (set[i].used && set[i].pid == pid && set[i].tid == tid)
            t = &set[i];
    if (!t) {
        t = make(tl, set, pid, tid);
        tell = true;
    }
    t->used = tl->clock;
    if (*name && rename_to(t, name))
        tell = true;
    if (tell)
        tl->ops->track(tl->self, t);
    return t;
}

/* A process is called as its first thread is. */
struct pt_tl_track *pt_tl_track_of(struct pt_timeline *tl, int32_t pid, int32_t tid,
                                   const char *name)
{
    struct pt_tl_track *t = tl->last;

    if (t && t->pid == pid && t->tid == tid && strncmp(t->name, name, NAME_BYTES) == 0) {
        t->used = tl->clock;
        return t;
    }
    if (pid != 0)
        find(tl, pid, 0, tid == pid ? name : "");
    tl->last = tid == 0 ? find(tl, pid, 0, "") : find(tl, pid, tid, name);
    return tl->last;
}

const char *pt_timeline_process_name(const struct pt_timeline *tl, int32_t pid)
{
    const struct pt_tl_track *set = tl->tracks[set_number(pid, 0)];

    for (size_t i = 0; i < PT_TL_WAYS; i++)
        if (set[i].used && set[i].pid == pid && set[i].tid == 0)
            return set[i].name;
    return "";
}
