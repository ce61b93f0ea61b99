/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The parts of a timeline; see timeline.h. */
#ifndef PT_FORMAT_TIMELINE_STATE_H
#define PT_FORMAT_TIMELINE_STATE_H

#include "analysis/format/common/cuts.h"
#include "analysis/format/timeline/timeline.h"

enum { PT_TL_WAYS = 8, PT_TL_SETS = PT_TL_TRACKS / PT_TL_WAYS }; /* of the table of tracks */

struct pt_tl_cpu {
    bool known; /* something was seen there */
    struct pt_tl_runner runner;
};

struct pt_timeline {
    struct pt_job *job;
    const struct pt_tl_ops *ops;
    void *self;
    bool by_name;                 /* names that end in begin and end make slices */
    bool told_deep, told_crossed; /* the user knows that this happens */
    unsigned option_count;
    struct pt_tl_option options[PT_TL_OPTIONS];
    uint32_t label_count, label_room;
    char **labels;
    struct pt_tl_type *types[PT_TL_TYPES];
    uint64_t clock;           /* events so far */
    int64_t first_ns;         /* time of the first */
    int64_t last_ns;          /* the newest of them */
    struct pt_tl_track *last; /* track of the last event */
    struct pt_tl_cpu *cpus;   /* PT_TL_CPUS, made when there is a switch */
    bool unmarked;            /* events were lost, and nothing says where */
    bool in_gap;              /* events are lost, or not recorded */
    int64_t gap_ns;           /* the end of the last such place */
    struct pt_cuts cuts;
    uint64_t has_open[PT_TL_SETS * PT_TL_WAYS / 64]; /* bits: tracks that may have open slices */
    bool has_next;                                   /* read, and not shown yet */
    struct posixtrace_event next;
    struct pt_tl_event ev;
    char ignores[512]; /* text of ev */
    struct pt_tl_track tracks[PT_TL_SETS][PT_TL_WAYS];
};

/* timeline_options.c */
bool pt_tl_options_read(struct pt_timeline *tl);
void pt_tl_options_free(struct pt_timeline *tl);
/* Tells which of them no event met. */
void pt_tl_options_unmet(struct pt_timeline *tl);

/* timeline_types.c: NULL: job->error */
struct pt_tl_type *pt_tl_type_of(struct pt_timeline *tl, const struct posixtrace_event *e);
/* The label of a call, by the type of the event that begins it; -1: it is none, or job->error. */
int32_t pt_tl_call_label(struct pt_timeline *tl, uint32_t id);
/* Finds the fields that options are about, in a layout that is not NULL. */
void pt_tl_type_resolve(struct pt_timeline *tl, struct pt_tl_type *t,
                        const posixtrace_layout_t *layout);
void pt_tl_types_free(struct pt_timeline *tl);

/* timeline_tracks.c: the track of a thread; the back end has its description */
struct pt_tl_track *pt_tl_track_of(struct pt_timeline *tl, int32_t pid, int32_t tid,
                                   const char *name);

/* What a start or a filter ignores, "nothing" or names; NULL: it is neither */
const char *pt_tl_ignores(struct pt_timeline *tl, const struct posixtrace_event *e);

/* timeline_gaps.c */
void pt_tl_gaps_init(struct pt_timeline *tl);
/* A slice begins on the track. */
void pt_tl_mark_open(struct pt_timeline *tl, const struct pt_tl_track *t);
/* Cuts slices that may have ended unseen, before the event is shown. */
void pt_tl_look_for_gap(struct pt_timeline *tl, const struct posixtrace_event *e);

/* timeline_cpus.c: false: it cannot be shown as what runs where */
bool pt_tl_switch(struct pt_timeline *tl, struct pt_tl_track *t);
/* The event is the thread's end. */
void pt_tl_thread_ends(struct pt_timeline *tl, struct pt_tl_track *t);
/* It is no switch, and the thread has ended. */
void pt_tl_ended_acts(struct pt_timeline *tl, struct pt_tl_track *t);

#endif
