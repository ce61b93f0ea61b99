/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which of a thread's events still live, by the addresses of their frames (event.h): a handler
 * that has interrupted an event can be left by siglongjmp.
 */
#ifndef PT_WRITER_FRAME_H
#define PT_WRITER_FRAME_H

#include "process/thread.h"

/* The innermost word, from this one outwards, whose frame has not ended as seen from the event
 * frame at now; or idle.  Async-signal-safe. */
uint64_t pt_frame_living_word(const struct pt_thread *t, uint64_t word, uintptr_t now) PT_COLD;

#endif
