/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the event types of a log mean to a report, by their names.  A kind of call is a line of
 * pt_report_calls; all else follows from it.
 */
#ifndef PT_REPORT_TYPES_H
#define PT_REPORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <posixtrace/event.h>

/* What a call waits for, in the data of its events. */
enum pt_report_subject {
    PT_REPORT_NOTHING,
    PT_REPORT_OBJECT,     /* u64 object */
    PT_REPORT_DESCRIPTOR, /* u32 call, i32 descriptor */
    PT_REPORT_PROCESS     /* u32 call, i32 process */
};

struct pt_report_call {
    uint32_t id;             /* of begin */
    const char *begin, *end; /* after "posixtrace_" */
    const char *unlock;      /* of locks, else NULL */
    const char *wake;        /* what ends waits of other threads, or NULL */
    unsigned kind;           /* enum posixtrace_wait */
    enum pt_report_subject subject;
    size_t caller; /* where u64 caller is in the data of begin */
};

extern const struct pt_report_call pt_report_calls[];

enum pt_report_role {
    PT_REPORT_NO_ROLE,
    PT_REPORT_BEGIN,
    PT_REPORT_END,
    PT_REPORT_UNLOCK,
    PT_REPORT_WAKE,
    PT_REPORT_SWITCH_IN,
    PT_REPORT_SWITCH_OUT,
    PT_REPORT_PREEMPTED,
    PT_REPORT_CPU_TIME,
    PT_REPORT_THREAD_BEGIN,
    PT_REPORT_THREAD_END,
    PT_REPORT_SIGNAL_BEGIN,
    PT_REPORT_SIGNAL_END,
    PT_REPORT_NAMES_DESCRIPTOR,
    PT_REPORT_LONG_CALL,
    PT_REPORT_STILL_WAITS,
    PT_REPORT_PAIR_BEGIN,
    PT_REPORT_PAIR_END,
    PT_REPORT_CONNECTION,
    PT_REPORT_EPOLL_SET,
    PT_REPORT_FOUND_READY
};

struct pt_report_type {
    bool known;
    enum pt_report_role role;
    const struct pt_report_call *call; /* of BEGIN, END, UNLOCK, WAKE */
    size_t stem;                       /* of a pair: the length of its name */
    unsigned watched;                  /* an observer's; report_state.h */
};

/* The type with that name; NULL: it has none. */
struct pt_report_type pt_report_type_of(const char *name);

/* Fields of data, which may have any length: 0 where it is too short. */
uint64_t pt_report_u64(const struct posixtrace_event *e, size_t at);
uint32_t pt_report_u32(const struct posixtrace_event *e, size_t at);

#endif
