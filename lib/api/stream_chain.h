/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The part of posixtrace_chain() that other files call. */
#ifndef PT_API_STREAM_CHAIN_H
#define PT_API_STREAM_CHAIN_H

#include <trace.h>

/* Called before the stream is shut down: its successor takes its place. */
void pt_chain_release(trace_id_t trid);

#endif
