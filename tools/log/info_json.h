/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace info --format=jsonl: one object with all that the text has. */
#ifndef INFO_JSON_H
#define INFO_JSON_H

#include "input/log_file.h"

/* first: time of the first event that the log has kept.  EXIT_DONE, or the status of an error
 * after a message. */
int info_json(const struct log_file *log, int64_t first);

#endif
