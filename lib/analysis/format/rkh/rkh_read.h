/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The reader of RKH frames in its parts: frames and time, records, user events. */
#ifndef PT_FORMAT_RKH_READ_H
#define PT_FORMAT_RKH_READ_H

#include "analysis/format/rkh/rkh_job.h"

/* Notes, by kind. */
enum {
    PT_RKH_NOTE_DAMAGE,
    PT_RKH_NOTE_LOSS,
    PT_RKH_NOTE_CONFIG,
    PT_RKH_NOTE_MISFIT,
    PT_RKH_NOTE_SYMBOLS,
    PT_RKH_NOTE_TIME,
    PT_RKH_NOTE_SHAPES
};

struct pt_rkh_users;

struct pt_rkh_reader {
    struct pt_job *job;
    struct pt_rkh_types types;
    struct pt_rkh_type damaged, lost, unknown, config_type;
    struct pt_rkh_config config;
    struct pt_rkh_symbols *symbols;
    struct pt_rkh_objects objects;
    struct pt_rkh_users *users;
    struct pt_rkh_bytes data; /* of the event that is made */
    bool flat, flagged;       /* flagged: there was a flag */

    /* the frame under way */
    uint8_t *frame;
    size_t used;
    bool escaped, broken;   /* after an escape byte; the frame is damaged */
    uint8_t why;            /* with broken: enum why */
    uint64_t offset, begin; /* bytes read; where the frame began */

    uint64_t good, bad, most; /* frames; most: to be read */

    bool sequence_known, configured; /* configured: since then no sequence was seen */
    uint8_t sequence;                /* the next one */

    uint64_t rate; /* ticks a second */
    bool rate_given;
    bool time_known;
    uint64_t ticks, base_ticks; /* raw, of the last record; where base_ns was */
    uint64_t passed;            /* ticks since base_ns */
    int64_t base_ns, ns;
};

bool pt_rkh_read_options(struct pt_rkh_reader *r);
/* With --baud the input is a serial line, which is made to hand over bytes as they are.
 * *set: *was is how it was. */
struct termios;
bool pt_rkh_set_line(struct pt_job *job, struct termios *was, bool *set);

/* Of a frame that is whole, without its head.  False: job->error. */
bool pt_rkh_read_record(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len);
/* A record that is not what its number says. */
bool pt_rkh_read_unknown(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len);
struct posixtrace_event pt_rkh_event(const struct pt_rkh_reader *r);
/* From now on the time is ns, and the clock of the target has this rate. */
void pt_rkh_set_time(struct pt_rkh_reader *r, int64_t ns);
void pt_rkh_set_rate(struct pt_rkh_reader *r, uint64_t rate);

/* User events: of any target, and of our own export, which become what they were. */
bool pt_rkh_read_user(struct pt_rkh_reader *r, unsigned id, const uint8_t *args, size_t len);
/* A name was given; true: it is one of those that our export needs, and no event. */
bool pt_rkh_user_symbol(struct pt_rkh_reader *r, unsigned record, uint64_t value, const char *name);
/* The configuration came from our export. */
void pt_rkh_users_ours(struct pt_rkh_reader *r);

#endif
