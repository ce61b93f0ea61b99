/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attributes objects and event sets of fuzz_calls, each with what the model
 * knows of it; objects may be uninitialised or destroyed.  Also the values that
 * the arguments of calls choose from, and what calls are held to.
 */
#ifndef TEST_FUZZ_CALLS_OBJECTS_H
#define TEST_FUZZ_CALLS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include "fuzz/calls_model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define CALLS_NAMES  7u

extern const char *const calls_names[CALLS_NAMES];
extern trace_event_id_t calls_ids[CALLS_NAMES]; /* of these names */

struct attr {
    trace_attr_t object;
    bool good;
    int policy, log_policy;
    bool policy_set;
    size_t max_data;
};

struct set {
    trace_event_set_t object;
    bool good, has[MODEL_IDS];
};

/* Ends the process unless it is so. */
void expect(int result, int wanted);
/* 0 if good, else EINVAL. */
void expect_ok_if(int result, bool good);

/* Events of types with and without names, and numbers that are no types. */
trace_event_id_t some_id(uint8_t b);
bool is_type(trace_event_id_t id);

void attr_init(struct attr *a);
void attr_destroy(struct attr *a);
/* b: which setter, with which value. */
void attr_set(struct attr *a, uint8_t b);
/* All getters; what they give must be what was set. */
void attr_get(struct attr *a);

/* b: which function, with which type or group of types. */
void set_change(struct set *s, uint8_t b);
void set_expect(const struct set *s);
void expect_members(const trace_event_set_t *object, const bool has[MODEL_IDS]);

#endif
