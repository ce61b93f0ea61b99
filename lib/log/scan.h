/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Walks many records quickly: counts runs of events that need no decision about
 * any single event.
 */
#ifndef PT_LOG_SCAN_H
#define PT_LOG_SCAN_H

#include "log/types.h"
#include "shm/record.h"

struct pt_record_scan {
    struct pt_decoder at; /* where to begin; afterwards after the last event taken */
    uint64_t events;      /* taken so far */
    uint64_t last_ts;     /* the latest of them */
};

/*
 * Scans events with times between low and high (both excluded), up to the first other record: an
 * event outside these times, a TIME or AUTHOR record, bytes that no writer makes, the end.  Adds
 * the events to s and counts them in types.
 */
void pt_scan_events(struct pt_record_scan *s, uint64_t low, uint64_t high, struct pt_types *types);

#endif
