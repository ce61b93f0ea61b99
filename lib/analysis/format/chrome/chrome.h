/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The parts of the writer of Chrome's trace events: chrome.c, chrome_args.c the data,
 * chrome_stacks.c the frames of stacks. */
#ifndef PT_FORMAT_CHROME_H
#define PT_FORMAT_CHROME_H

#include <posixtrace/system.h>
#include "analysis/format/common/json.h"
#include "analysis/format/common/sites.h"
#include "analysis/format/timeline/timeline.h"

/* The frames of all stacks, each once for each frame that calls it; their number is the memory. */
struct pt_chrome_stacks;

/* ,"args":{...}, if there is something to tell. */
void pt_chrome_args(struct pt_json *j, const struct pt_tl_event *ev, bool ends,
                    struct pt_chrome_stacks *stacks);

/* Takes the options debug-dir and no-symbols.  NULL: job->error. */
struct pt_chrome_stacks *pt_chrome_stacks_new(struct pt_job *job);
void pt_chrome_stacks_free(struct pt_chrome_stacks *s); /* or NULL */
/* Is it a posixtrace_stack with frames? */
bool pt_chrome_is_stack(const struct pt_tl_event *ev);
/* The function and line of the field caller of a system event, in to; 0: it is not known. */
size_t pt_chrome_caller(struct pt_chrome_stacks *s, const struct pt_tl_event *ev,
                        char to[PT_SITES_TEXT]);
/* The number of its innermost frame; 0: no memory, job->error. */
uint64_t pt_chrome_stack(struct pt_chrome_stacks *s, const struct posixtrace_event *e);
/* The frames from that one out, in names, the innermost first; how many, at most
 * POSIXTRACE_STACK_MAX. */
size_t pt_chrome_frames(const struct pt_chrome_stacks *s, uint64_t frame,
                        const char *names[POSIXTRACE_STACK_MAX]);
/* The number of a frame in the file: no two of several logs have the same. */
uint64_t pt_chrome_frame_number(const struct pt_chrome_stacks *s, uint64_t frame);
/* ,"stackFrames":{..., without the last brace; first: no log before has any.  False: there are
 * none. */
bool pt_chrome_stacks_write(const struct pt_chrome_stacks *s, struct pt_json *j, bool first);

#endif
