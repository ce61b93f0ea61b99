/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The parts of the Perfetto writer: perfetto.c events, perfetto_tracks.c the packets before them,
 * perfetto_args.c their data.  docs/formats/perfetto.md has the numbers of all fields, and their
 * source.
 */
#ifndef PT_FORMAT_PERFETTO_H
#define PT_FORMAT_PERFETTO_H

#include "analysis/format/perfetto/protobuf.h"
#include "analysis/format/timeline/timeline.h"

/* Fields of messages that both parts write. */
enum {
    TRACE_PACKET = 1,
    PACKET_SEQUENCE_ID = 10,
    PACKET_SEQUENCE_FLAGS = 13,
    TRACK_EVENT_DEBUG_ANNOTATIONS = 4,

    INTERNED_EVENT_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_DEBUG_ANNOTATION_NAMES = 3,
};

/* Names that the trace has defined; 0: not yet. */
struct pt_perfetto_names {
    uint64_t last; /* number given */
    uint64_t name[PT_TL_TYPES], category[PT_TL_TYPES];
    uint64_t *fields[PT_TL_TYPES]; /* of the layout's fields */
    uint64_t data, ignores, misfit, truncated, end, goes_on, cut, lost_name,
        lost[POSIXTRACE_LOSS_CAUSES];
};

struct pt_perfetto {
    struct pt_job *job;
    struct pt_timeline *timeline;
    struct pt_pb out;      /* packets */
    struct pt_pb interned; /* the names that are new in this one: fields of InternedData */
    struct pt_perfetto_names names;
    uint64_t *labels; /* numbers of the names of labels */
    uint32_t label_room;
};

/* Ends the packet, with the names that are new in it. */
void pt_perfetto_close(struct pt_perfetto *p, size_t packet);
/* Functions of struct pt_tl_ops. */
void pt_perfetto_first(void *self, int64_t ns);
void pt_perfetto_track(void *self, const struct pt_tl_track *t);
/* Describes the track of an option's counter. */
void pt_perfetto_counter(struct pt_perfetto *p, struct pt_tl_track *process, unsigned option);
/* Numbers of tracks: no two are the same. */
uint64_t pt_perfetto_uuid(const struct pt_perfetto *p, const struct pt_tl_track *t);
uint64_t pt_perfetto_counter_uuid(const struct pt_perfetto *p, const struct pt_tl_track *process,
                                  unsigned option);
/* The number of a text in one of the lists of InternedData, new if *number is 0. */
uint64_t pt_perfetto_name(struct pt_perfetto *p, uint32_t list, uint64_t *number, const char *text,
                          size_t length);
/* The event's fields, or its data, as annotations of the TrackEvent that is open. */
void pt_perfetto_args(struct pt_perfetto *p, const struct pt_tl_event *ev, bool ends);
/* One more: that something is so, or how many. */
void pt_perfetto_arg_true(struct pt_perfetto *p, uint32_t field, uint64_t *number,
                          const char *text);
void pt_perfetto_arg_count(struct pt_perfetto *p, uint64_t *number, const char *text,
                           uint64_t count);

#endif
