/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The parts of the writer of Chrome's trace events: chrome.c, and chrome_args.c the data. */
#ifndef PT_FORMAT_CHROME_H
#define PT_FORMAT_CHROME_H

#include "analysis/format/common/json.h"
#include "analysis/format/timeline/timeline.h"

/* ,"args":{...}, if there is something to tell. */
void pt_chrome_args(struct pt_json *j, const struct pt_tl_event *ev, bool ends);

#endif
