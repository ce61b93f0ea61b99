/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The limits for the kernel's rings of context switches: sysctl and RLIMIT_MEMLOCK. */
#ifndef PERF_LIMITS_H
#define PERF_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_limits {
    long paranoid;       /* kernel.perf_event_paranoid; LONG_MIN: not known */
    long mlock_kb;       /* kernel.perf_event_mlock_kb, for each processor; -1: not known */
    uint64_t memlock_kb; /* RLIMIT_MEMLOCK; UINT64_MAX: none */
};

struct perf_limits perf_limits_read(void);
/* May a user lock a ring of so many bytes for each processor, who locks nothing else?  Whoever
 * has CAP_IPC_LOCK may lock more. */
bool perf_limits_allow(const struct perf_limits *l, uint64_t bytes);
/* The least kernel.perf_event_mlock_kb that allows them with any RLIMIT_MEMLOCK. */
uint64_t perf_limits_wanted_kb(uint64_t bytes);

#endif
