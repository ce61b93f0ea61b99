/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What 'posixtrace sync' says of the clocks that it has found. */
#ifndef SYNC_PRINT_H
#define SYNC_PRINT_H

#include <posixtrace/sync.h>

void sync_print(const posixtrace_sync_t *sync);
/* The messages that contradict; EXIT_FAILED. */
int sync_print_conflict(const posixtrace_sync_t *sync);

#endif
