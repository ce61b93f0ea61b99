/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Functions of the program that decide about single events (posixtrace_set_handler).
 *
 * A table for each stream, private to the process, made when the first function is set and kept for
 * the next stream with the bit.  An entry points to a pair that never changes, so that function and
 * context belong together.  A thread that replaces a pair waits until no thread is in an event any
 * more, then frees the old one.  A child made by fork() has the functions, too.
 */
#ifndef PT_PROCESS_FILTER_CALLBACK_H
#define PT_PROCESS_FILTER_CALLBACK_H

#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include "process/self.h"

struct pt_filter_callback {
    posixtrace_handler_t function;
    void *context;
};

/* Makes fresh, malloced or NULL, the function for the type; *old: the previous one.  -EAGAIN: no
 * gate bit for it is free; -ENOMEM.  The caller frees *old when no thread is in an event. */
int pt_filter_callback_exchange(struct pt_self *self, unsigned bit, uint32_t id,
                                const struct pt_filter_callback *fresh,
                                const struct pt_filter_callback **old);

/* Is there a function for the type?  For another process's page: is there any function? */
bool pt_filter_callback_decides(const struct pt_page *page, unsigned bit, uint32_t id);
/* Called inside an event: does the function want it?  True if there is none. */
bool pt_filter_callback_wants(const struct pt_self *self, unsigned bit, uint64_t epoch,
                              const struct posixtrace_event *event);
/* Called when the bit's stream ends: no function is called any more, and all are removed. */
void pt_filter_callback_forget(struct pt_self *self, unsigned bit);
/* Called if a forked child has another bit for the stream, after its gates were opened. */
void pt_filter_callback_inherit(struct pt_self *child, unsigned bit, const struct pt_self *parent,
                                unsigned parents_bit);

#endif
