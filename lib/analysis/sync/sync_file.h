/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What reading and writing the file of clocks share. */
#ifndef PT_SYNC_FILE_H
#define PT_SYNC_FILE_H

#include "analysis/sync/sync_state.h"

#define PT_SYNC_FIRST_LINE "posixtrace-sync 1"

/* By enum posixtrace_clock and enum posixtrace_sync_source; NULL ends them. */
extern const char *const pt_sync_clock_words[], *const pt_sync_source_words[];

#endif
