/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The parts of the writer of folded stacks: folded.c, folded_threads.c, folded_types.c. */
#ifndef PT_FORMAT_FOLDED_H
#define PT_FORMAT_FOLDED_H

#include "analysis/format/common/format.h"
#include "analysis/format/common/sites.h"
#include "analysis/format/folded/folded_lines.h"

enum { PT_FOLDED_TYPES = 4096, PT_FOLDED_DEPTH = 32 };
enum pt_folded_of { PT_FOLDED_WAITS, PT_FOLDED_OFFCPU, PT_FOLDED_PAIRS };

/* What events of a type mean; their names are those of posixtrace/system.h. */
enum pt_folded_role {
    PT_FOLDED_NEW,
    PT_FOLDED_NOTHING,
    PT_FOLDED_BEGINS, /* a call that may wait */
    PT_FOLDED_ENDS,   /* the one whose type is before it */
    PT_FOLDED_WHOLE,  /* long_call */
    PT_FOLDED_STILL,  /* waiting */
    PT_FOLDED_STACK,
    PT_FOLDED_GETS,
    PT_FOLDED_WAITS_OUT,
    PT_FOLDED_PREEMPTED,
    PT_FOLDED_PAIR_BEGINS,
    PT_FOLDED_PAIR_ENDS,
    PT_FOLDED_GAP
};

struct pt_folded_open {
    trace_event_id_t id;
    int64_t since, off, inner; /* off the processor; in pairs inside of it */
    uint64_t caller;
    const char *label;
};

struct pt_folded_thread {
    pid_t pid, tid;
    char name[16];
    unsigned depth, deeper;
    struct pt_folded_open open[PT_FOLDED_DEPTH];
    int64_t out; /* since then off the processor; INT64_MIN: on it, or not known */
    bool preempted, waits_for_stack;
    int64_t value, at; /* of the call that has ended */
    struct pt_folded_open ended;
};

struct pt_folded_writer {
    struct pt_job *job;
    enum pt_folded_of of;
    struct pt_sites sites;
    uint8_t role[PT_FOLDED_TYPES];
    char *label[PT_FOLDED_TYPES];
    size_t count;
    struct pt_folded_thread **hash; /* by pid and tid */
    size_t hash_room;
    struct pt_folded_lines lines;
    struct pt_folded_stack stack;
    bool failed;
};

/* folded_threads.c: the thread of an event, made if need be.  NULL: no memory. */
struct pt_folded_thread *pt_folded_thread_of(struct pt_folded_writer *f,
                                             const struct posixtrace_event *e);
/* NULL: there is none. */
const struct pt_folded_thread *pt_folded_find(const struct pt_folded_writer *f, pid_t pid,
                                              pid_t tid);
/* folded_types.c */
enum pt_folded_role pt_folded_role_of(struct pt_folded_writer *f, const struct posixtrace_event *e);

#endif
