/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What storing an event costs in a program that records itself. */
#ifndef PT_API_SELF_RECORD_COST_H
#define PT_API_SELF_RECORD_COST_H

#include "model/attr.h"

/*
 * In picoseconds, in a stream with such attributes; 0: not known.  Takes a millisecond at
 * most beside making a small stream for it, which is gone afterwards.  Nothing is measured,
 * and nobody sees an event of it, where another stream traces this process.
 */
uint64_t pt_self_record_cost(const struct pt_attr *like);

#endif
