/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* How long threads run, where the system refuses to tell of their switches: see
 * run_times.c. */
#ifndef PT_SOURCE_RUN_TIMES_H
#define PT_SOURCE_RUN_TIMES_H

#include "base/atomics.h"
#include "flush/switches.h"

extern const struct pt_switch_ops pt_run_times PT_HIDDEN;

#endif
