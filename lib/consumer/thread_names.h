/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Reads the latest names of threads for the consumer; see process/thread_name.h. */
#ifndef PT_CONSUMER_THREAD_NAMES_H
#define PT_CONSUMER_THREAD_NAMES_H

#include "consumer/accounting.h"

#define PT_NAMES_A_ROUND 64u

/* The limits for reading names in a round. */
struct pt_name_turn {
    uint64_t now; /* CLOCK_MONOTONIC */
    unsigned left;
    bool all; /* however many, and however often they were read */
};

/* May a name that was read at *read_at, 0 for never, be read again?  Then *read_at is now. */
bool pt_thread_name_is_due(struct pt_name_turn *turn, uint64_t *read_at);

/* Those of writers that have a slot, into the consumer's books of them. */
void pt_accounts_read_names(struct pt_accounts *a, struct pt_name_turn *turn);

#endif
