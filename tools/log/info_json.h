/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace info --format=jsonl: one object with all that the text has. */
#ifndef INFO_JSON_H
#define INFO_JSON_H

#include "log/info_select.h"

/* rate: how many events were when, or NULL; first: time of the first event that the log has kept;
 * selected: of the selected events, or NULL.  EXIT_DONE, or the status of an error after a
 * message. */
int info_json(const struct log_file *log, int64_t first, const struct info_selected *selected,
              const char *selection, const struct info_rate *rate);

#endif
