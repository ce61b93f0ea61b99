/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The time to store an event in a program that records itself. */
#ifndef PT_STARTUP_SELF_RECORD_COST_H
#define PT_STARTUP_SELF_RECORD_COST_H

#include "model/attr.h"

/*
 * In picoseconds, in a stream with such attributes; 0: not known.  The measurement takes a
 * millisecond at most, and makes and removes a small stream.  Where another stream traces this
 * process the function measures nothing, since that stream would record the events.
 */
uint64_t pt_self_record_cost(const struct pt_attr *like);

#endif
