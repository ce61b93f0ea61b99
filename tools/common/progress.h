/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Progress of long work: one line on stderr that is rewritten in place, only
 * where stderr is a terminal, and not before a second has passed.  It is gone
 * when the work is done or a message is printed.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/* total in the unit of progress_at()'s done; 0: not known. */
void progress_begin(const char *unit, uint64_t total);

/* Cheap enough for every few thousand steps, not for every one. */
void progress_at(uint64_t done);

/* For work in steps: the present step; total of progress_begin() is 0 then. */
void progress_step(const char *text);

/* For a single call that cannot report: a thread shows how long it has been. */
void progress_begin_blind(const char *what);

void progress_end(void);

/* Takes the line off the terminal, if it is there. */
void progress_wipe(void);

#endif
