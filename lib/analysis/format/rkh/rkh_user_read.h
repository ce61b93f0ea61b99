/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The reader of user events in its parts: those of any target, those of our export. */
#ifndef PT_FORMAT_RKH_USER_READ_H
#define PT_FORMAT_RKH_USER_READ_H

#include "analysis/format/rkh/rkh_read.h"
#include "analysis/format/rkh/rkh_user.h"

#define PT_RKH_SHAPES     512u
#define PT_RKH_ARGUMENTS  31u      /* of an event that gets fields: OBJ, FUN and SIG make two */
#define PT_RKH_NO_SHAPE  UINT16_MAX

struct pt_rkh_argument {
    uint8_t format, shown;         /* shown: digits */
    const uint8_t *at;
    size_t len;                    /* of a string, with NUL */
};

struct pt_rkh_shape {
    char    name[PT_RKH_NAME_MAX + 20];
    uint8_t base;                  /* length of the name without "#2" */
    uint8_t count;
    bool    described;
    uint8_t formats[PT_RKH_ARGUMENTS];
    uint16_t next;                 /* of the same user event */
};

struct pt_rkh_our_type {
    char *name;
    bool  big_endian;
};

struct pt_rkh_our_thread {
    pid_t pid, tid;
    uint64_t thread_id;
    char name[16];
};

struct pt_rkh_users {
    struct pt_rkh_shape shape[PT_RKH_SHAPES];
    unsigned shape_count;
    uint16_t first[PT_RKH_USER_IDS];
    bool raw_described;
    /* of our export */
    bool ours;
    int  truncation;
    uint16_t number[PT_RKH_USER_IDS];             /* of the type; 0: none */
    struct pt_rkh_our_type type[PT_RKH_TYPES];
    struct pt_rkh_our_thread thread[PT_RKH_THREADS];
    uint64_t place[PT_RKH_PLACES];
};

/* Takes an argument off the front; false: there is none, or not all of it. */
bool pt_rkh_next_argument(const struct pt_rkh_config *c, const uint8_t **at, size_t *left,
                          struct pt_rkh_argument *a);

/* The form of a user event, new if need be; NULL: there are too many. */
struct pt_rkh_shape *pt_rkh_find_shape(struct pt_rkh_users *users,
                                       const struct pt_rkh_symbols *symbols, unsigned id,
                                       const uint8_t *formats, unsigned count);
/* Room for POSIXTRACE_DESCRIPTION_MAX + 1. */
void pt_rkh_describe_shape(const struct pt_rkh_shape *s, char *to);

/* What user event 31 says.  False: it is not ours, or job->error. */
bool pt_rkh_learn_ours(struct pt_rkh_reader *r, const uint8_t *at, size_t left);
/* An event of ours; *misfit: it is none.  False: job->error. */
bool pt_rkh_add_ours(struct pt_rkh_reader *r, unsigned id, const uint8_t *at, size_t left,
                     bool *misfit);

#endif
