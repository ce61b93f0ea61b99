/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The functions of posixtrace/info.h, for streams of any kind. */
#ifndef PT_CONTROL_INFO_H
#define PT_CONTROL_INFO_H

#include <posixtrace/info.h>
#include "stream/stream.h"

int pt_stream_info(struct pt_stream *s, struct posixtrace_info *info);
/* The losses of an attached stream before it was attached. */
void pt_stream_lost_before(struct pt_stream *s, uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
void pt_stream_limits(struct pt_stream *s, struct posixtrace_limits *limits);
/* 1: the thread at *cursor, which moves on; 0: no more; -ENOMEM. */
int pt_stream_next_thread(struct pt_stream *s, struct posixtrace_thread_info *t);
/* The next call begins with the first one. */
void pt_stream_rewind_threads(struct pt_stream *s);

#endif
