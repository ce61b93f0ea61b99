/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Context switches from perf_event_open(2), see perf.c. */
#ifndef PT_SOURCE_PERF_H
#define PT_SOURCE_PERF_H

#include "base/atomics.h"
#include "flush/switches.h"

extern const struct pt_switch_ops pt_perf_switches PT_HIDDEN;

#endif
