/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of the BTF checker while it reads: for each entity the types that its name can have by
 * all lines so far; for processes and runnables each living instance.
 */
#ifndef PT_FORMAT_BTF_CHECK_H
#define PT_FORMAT_BTF_CHECK_H

#include <posixtrace/format.h>
#include "analysis/format/btf/btf.h"

enum { PT_BTF_INSTANCES_MAX = 65536, PT_BTF_STACK_MAX = 256 };

/* A living instance of a process or a runnable. */
struct pt_btf_instance {
    int64_t number;
    uint32_t entity;
    uint32_t core; /* of a process: where it is, or NO_NAME */
    uint8_t state; /* enum pt_btf_state */
    uint8_t phase; /* of its request: 0 none, 1 asked, 2 incremented */
    bool used_semaphores;
    uint32_t asked, released; /* semaphores, or NO_NAME */
    uint32_t depth;
    struct pt_btf_instance **runnables; /* of a process: the innermost last */
    struct pt_btf_instance *owner;      /* of a runnable, or NULL */
    struct pt_btf_instance *next;       /* of the same entity */
    bool reported;                      /* a fault in its state was reported, and no event came
                                         * since */
};

struct pt_btf_known {
    uint32_t types; /* that it can be, as bits; mixed: that it has been */
    uint64_t line;  /* where it was seen first */
    uint8_t state;  /* of a semaphore */
    bool counted, counter_reported, any, mixed;
    int64_t counter;     /* last instance that began */
    int64_t first, last; /* instances that were seen */
    struct pt_btf_instance *instances;
    struct pt_btf_instance *runs; /* of a core */
};

struct pt_btf_check {
    struct pt_btf_file file;
    struct pt_btf_names names;
    struct pt_btf_known *known; /* by number of the name */
    uint32_t room, instances;
    unsigned rules;
    bool from_start, rules_given, limit_reported;
    uint64_t events;
    int64_t last_time;
    uint64_t last_line;
    unsigned seen_parameters; /* enum pt_btf_parameter, as bits */
    int (*finding)(void *context, const struct posixtrace_btf_finding *f);
    int ended; /* what finding() returned last */
    void *context;
    struct posixtrace_btf_report *report;
};

/* One line's event with its entities. */
struct pt_btf_case {
    const struct pt_btf_event *e;
    const struct pt_btf_action *a;
    uint32_t source, target;
    bool source_fits; /* it may be of a type that causes this */
};

void pt_btf_find(struct pt_btf_check *c, const char *entity, unsigned state, const char *action,
                 const char *text, ...) __attribute__((format(printf, 5, 6)));

/* ---- btf_check_states.c ---- */

void pt_btf_check_free(struct pt_btf_check *c);
/* PT_BTF_NO_NAME: there are too many, or there is no memory. */
uint32_t pt_btf_check_entity(struct pt_btf_check *c, const char *name);
/* NULL: too many, or no memory. */
struct pt_btf_instance *pt_btf_check_instance(struct pt_btf_check *c, uint32_t entity,
                                              int64_t number);
void pt_btf_check_end(struct pt_btf_check *c, struct pt_btf_instance *i);
/* The number of an instance that begins. */
void pt_btf_check_counter(struct pt_btf_check *c, const struct pt_btf_case *k);
/* One step of a machine; the finding if it is not allowed. */
unsigned pt_btf_check_step(struct pt_btf_check *c, const struct pt_btf_case *k, unsigned machine,
                           unsigned state);

/* ---- btf_check_order.c ---- */

void pt_btf_check_process(struct pt_btf_check *c, const struct pt_btf_case *k);
void pt_btf_check_runnable(struct pt_btf_check *c, const struct pt_btf_case *k);
void pt_btf_check_semaphore(struct pt_btf_check *c, const struct pt_btf_case *k);
/* A process does something for which it has to run; NULL: the source is no process. */
struct pt_btf_instance *pt_btf_check_source(struct pt_btf_check *c, const struct pt_btf_case *k,
                                            bool must_run);

#endif
