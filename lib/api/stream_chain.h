/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace_chain(), as far as others have to do with it. */
#ifndef PT_API_STREAM_CHAIN_H
#define PT_API_STREAM_CHAIN_H

#include <trace.h>

/* The stream is about to be shut down: the one behind it takes its place. */
void pt_chain_release(trace_id_t trid);

#endif
