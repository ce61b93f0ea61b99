/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The writer of RKH frames in its parts: frames and time, RKH's own records, all others. */
#ifndef PT_FORMAT_RKH_WRITE_H
#define PT_FORMAT_RKH_WRITE_H

#include "analysis/format/rkh/rkh_job.h"
#include "compat/rkh/rkh_roundtrip.h"

#define PT_RKH_EVENT_IDS 4096u /* beyond every id that a stream can have */
#define PT_RKH_OUT       131072u

enum { PT_RKH_LEFT_DAMAGE, PT_RKH_LEFT_CONFIG };

/* What an event type of the log becomes. */
struct pt_rkh_slot {
    uint8_t looked;    /* at its name */
    uint8_t is_native; /* its name begins with "rkh:" */
    uint8_t id;        /* of ours: user event */
    bool described;    /* of ours: the description was sent */
    int16_t record;    /* of rkh: number of the record, or -1 */
    uint16_t number;   /* of ours; 0: none yet */
    uint32_t events;   /* of ours */
};

struct pt_rkh_thread_key {
    uint64_t thread_id;
    pid_t pid, tid;
    char name[16];
    bool sent;
};

struct pt_rkh_writer {
    struct pt_job *job;
    struct pt_rkh_types types;
    struct pt_rkh_config config;
    struct pt_rkh_bytes frame; /* without stuffing */
    uint8_t out[2 * PT_RKH_OUT];
    size_t out_used;
    uint8_t sequence;

    uint64_t rate;
    bool rate_given;
    int64_t base_ns;            /* where the clock showed base_ticks */
    uint64_t base_ticks, ticks; /* ticks: of the last frame */

    bool ours;        /* user event 31 was explained */
    bool more;        /* and 30 */
    uint16_t numbers; /* of types of ours */
    unsigned swallow; /* OVERFLOW and RESUME that belong to a rkh:LOST */
    bool taken[PT_RKH_USER_IDS];
    bool taken_by_us[PT_RKH_USER_IDS];
    char user_name[PT_RKH_USER_IDS][PT_RKH_NAME_MAX + 1];
    struct pt_rkh_slot slot[PT_RKH_EVENT_IDS];
    struct pt_rkh_thread_key thread[PT_RKH_THREADS];
    uint64_t place[PT_RKH_PLACES];
};

/* Begins a frame of that number at the time of the last one; and ends it. */
void pt_rkh_frame_begin(struct pt_rkh_writer *w, unsigned id);
bool pt_rkh_frame_end(struct pt_rkh_writer *w);
bool pt_rkh_write_config(struct pt_rkh_writer *w, uint32_t more_bits);
/* Once, before the first event, or NULL: there is none yet; then each event.  False:
 * job->error. */
bool pt_rkh_write_begin(struct pt_rkh_writer *w, const struct posixtrace_event *first);
bool pt_rkh_write_event(struct pt_rkh_writer *w, const struct posixtrace_event *e);
/* Brings the clock to ns; false: it cannot tell so long a step. */
bool pt_rkh_advance(struct pt_rkh_writer *w, int64_t ns);

/* From a "rkh:FWK_TCFG"; false: no target is like that. */
bool pt_rkh_take_config(struct pt_rkh_writer *w, const struct posixtrace_event *e);
/* A record of RKH; *done is false if it does not fit the configuration. */
bool pt_rkh_write_native(struct pt_rkh_writer *w, struct pt_rkh_slot *slot,
                         const struct posixtrace_event *e, bool *done);
/* Any event, as a user event. */
bool pt_rkh_write_ours(struct pt_rkh_writer *w, struct pt_rkh_slot *slot,
                       const struct posixtrace_event *e);

#endif
