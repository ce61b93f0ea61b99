/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Parses POSIXTRACE_RECORD_FILTER: patterns and expressions as for posixtrace record --filter, with
 * commas between them.
 */
#ifndef PT_STARTUP_SELF_RECORD_FILTER_H
#define PT_STARTUP_SELF_RECORD_FILTER_H

#include <posixtrace/filter.h>

enum { PT_RECORD_BAD = 256 };

/* As one expression, in POSIXTRACE_EXPRESSION_MAX + 1 bytes; "" for a list of nothing.  False:
 * bad has the reason why the variable is refused. */
bool pt_record_filter_read(const char *list, char *expression, char bad[PT_RECORD_BAD]);

#endif
