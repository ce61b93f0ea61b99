/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Making a log of events that come from elsewhere, one by one, in the order of
 * their time.  Events with equal times come out again in the order in which
 * they were added.  One caller at a time.
 */
#ifndef PT_LOG_WRITER_BUILDER_H
#define PT_LOG_WRITER_BUILDER_H

#include <posixtrace/log.h>
#include "log/writer/writer.h"

struct pt_log_builder;

/* attr: NULL for defaults; its policies do not count, the log is APPEND. */
int pt_log_builder_new(struct pt_log_builder **builder, int fd, const struct pt_attr *attr);
int pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event);
/* -EINVAL: of the system, or no name; -EEXIST: described in other words. */
int pt_log_builder_describe(struct pt_log_builder *b, const char *name, const char *text);
/* A mapping's text; it may be changing. */
int pt_log_builder_map(struct pt_log_builder *b, uint32_t number, const char *text);
/* Events are missing before the one that was added last, and nothing else says so. */
void pt_log_builder_hides(struct pt_log_builder *b);
/* More that is lost, by cause. */
void pt_log_builder_lost(struct pt_log_builder *b, const uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
/* Completes the log; frees in every case. */
int pt_log_builder_finish(struct pt_log_builder *b);
/* Leaves a log that is not complete. */
void pt_log_builder_free(struct pt_log_builder *b);

#endif
