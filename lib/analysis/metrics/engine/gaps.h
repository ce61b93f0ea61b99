/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * When the gaps of a trace began, by their numbers, in bounded memory.
 *
 * Numbers grow: a gap has one when it begins, and one more for each event inside it.  The
 * list holds the first number of each gap.  When it is full, every second entry is dropped;
 * a number whose entry is gone then has the time of an earlier gap.  So a time from the list
 * is never later than the true one, and bounds made of it are never too small.
 */
#ifndef PT_METRICS_GAPS_H
#define PT_METRICS_GAPS_H

#include <stddef.h>
#include <stdint.h>

struct pt_gaps {
    struct {
        uint64_t number;
        int64_t from;
    } * at;
    size_t count;
};

/* 0 or ENOMEM. */
int pt_gaps_init(struct pt_gaps *g);
void pt_gaps_deinit(struct pt_gaps *g);
/* Adds a gap that started at that time, with a number above all earlier ones. */
void pt_gaps_add(struct pt_gaps *g, uint64_t number, int64_t from);
/* The start of the gap with that number, or an earlier time.  The first number is 1; there must be
 * a gap. */
int64_t pt_gaps_begin(const struct pt_gaps *g, uint64_t number);

#endif
