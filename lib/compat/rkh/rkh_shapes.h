/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Forms of user events: each form of a name is an event type, "rkh:USR:NAME" and then
 * "rkh:USR:NAME#2" and so on.  The recording interface and the import share them.
 */
#ifndef PT_COMPAT_RKH_SHAPES_H
#define PT_COMPAT_RKH_SHAPES_H

#include "compat/rkh/rkh_roundtrip.h"

#define PT_RKH_SHAPES    512u
#define PT_RKH_ARGUMENTS 31u /* of an event that gets fields: OBJ, FUN and SIG make two */
#define PT_RKH_NO_SHAPE  UINT16_MAX

struct pt_rkh_shape {
    char name[PT_RKH_NAME_MAX + 20];
    uint8_t base; /* length of the name without "#2" */
    uint8_t count;
    bool described;
    uint8_t formats[PT_RKH_ARGUMENTS];
    uint16_t next; /* of the same user event */
};

struct pt_rkh_our_type {
    char *name;
    bool big_endian;
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
    int truncation;
    uint16_t number[PT_RKH_USER_IDS]; /* of the type; 0: none */
    struct pt_rkh_our_type type[PT_RKH_TYPES];
    struct pt_rkh_our_thread thread[PT_RKH_THREADS];
    uint64_t place[PT_RKH_PLACES];
};

struct pt_rkh_users *pt_rkh_users_new(void);        /* NULL: ENOMEM */
void pt_rkh_users_free(struct pt_rkh_users *users); /* or NULL */
/* The form of a user event, new if need be; NULL: there are too many. */
struct pt_rkh_shape *pt_rkh_find_shape(struct pt_rkh_users *users,
                                       const struct pt_rkh_symbols *symbols, unsigned id,
                                       const uint8_t *formats, unsigned count);
/* Room for POSIXTRACE_DESCRIPTION_MAX + 1. */
void pt_rkh_describe_shape(const struct pt_rkh_shape *s, char *to);

#endif
