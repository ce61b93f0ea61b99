/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* How good the clock of the host was that recorded a log (posixtrace/clock.h). */
#ifndef INFO_CLOCK_H
#define INFO_CLOCK_H

#include "input/log_file.h"

/* "within 12 ms of UTC, synchronised"; NULL: the log does not say.  A static buffer. */
const char *info_clock_text(const struct log_file *log);
/* "too full for ..." with how far times were off; NULL: it never was. */
const char *info_clock_left(const struct log_file *log);
/* Members of the JSON object that is open; none if the log does not say. */
void info_clock_json(const struct log_file *log);

#endif
