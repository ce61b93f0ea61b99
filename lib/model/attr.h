/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Stream attributes: the contents of a trace_attr_t.  Without pointers, so that they can be copied
 * into segments and logs, and that posix_trace_get_attr works on uninitialised memory.
 */
#ifndef PT_MODEL_ATTR_H
#define PT_MODEL_ATTR_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>

#define PT_ATTR_MAGIC 0x70784154747231ull

#define PT_DEFAULT_STREAM_SIZE (1u << 20)
#define PT_DEFAULT_MAX_DATA    4096u
#define PT_DEFAULT_LOG_SIZE    (64u << 20)
#define PT_EVENT_COST_MAX      1000000000u /* a millisecond */
#define PT_SWITCH_BUFFER_MIN   (4u << 10)
#define PT_SWITCH_BUFFER_MAX   (1u << 30)
#define PT_GEN_VERSION         "pxt0.2" /* at most 7 characters: rationale buffers */

struct __attribute__((may_alias)) pt_attr {
    uint64_t magic;
    char name[TRACE_NAME_MAX + 1];
    char genversion[16];
    int64_t create_ns; /* CLOCK_REALTIME; 0: not fetched from a stream */
    uint64_t clock_res_ns;
    uint64_t stream_size;
    uint64_t max_data;
    uint64_t log_size;
    int32_t stream_policy; /* POSIX_TRACE_LOOP, ... */
    int32_t log_policy;
    int32_t inheritance;
    int32_t policy_is_default; /* stream_policy was never set: FLUSH with a log */
    int32_t compression;       /* enum posixtrace_compression: of the log's packets */
    int32_t switches;          /* 1: context switches of the traced threads, too */
    uint64_t event_cost_ps;    /* time to store an event, in picoseconds; 0: not known */
    uint64_t switch_buffer;    /* bytes of the kernel's ring of switches a processor; 0: default */
    uint64_t reserved[5];
};

_Static_assert(sizeof(struct pt_attr) <= sizeof(trace_attr_t), "trace_attr_t is part of the ABI");

void pt_attr_init(struct pt_attr *attr);
/* The contents of a public object, or NULL if it was never initialised. */
const struct pt_attr *pt_attr_get(const trace_attr_t *attr);
struct pt_attr *pt_attr_get_mutable(trace_attr_t *attr);
/* 0 or -EINVAL: are these attributes good for a stream with (without) a log? */
int pt_attr_check(const struct pt_attr *attr, bool with_log);
/* Upper bounds of event memory, as the getmax*eventsize functions report. */
uint64_t pt_attr_max_user_event(const struct pt_attr *attr, uint64_t data_len);
uint64_t pt_attr_max_system_event(const struct pt_attr *attr);

#endif
