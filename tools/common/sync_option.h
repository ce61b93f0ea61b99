/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --sync=FILE: the times of all logs that the verb opens are those of the common clock that
 * 'posixtrace sync' has found.
 */
#ifndef SYNC_OPTION_H
#define SYNC_OPTION_H

#include <posixtrace/sync.h>

/* Takes the option, for the rest of the program.  EXIT_DONE, or another status after a message. */
int sync_option_take(const char *path);
/* The clocks, or NULL: the option was not given. */
const posixtrace_sync_t *sync_option_clocks(void);
/* Of a log that was opened.  EXIT_DONE, or another status after a message. */
int sync_option_apply(trace_id_t trid, const char *shown);

#endif
