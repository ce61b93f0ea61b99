/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Functions of the program's that decide over single events (posixtrace_set_handler).
 *
 * A table by stream, private to the process, made when the first function is set and
 * kept for who has the bit next.  An entry points to a pair that never changes, so that
 * function and context belong together; who replaces one waits until no thread is
 * in an event any more before it frees the old one.  A child that fork() makes has them, too.
 */
#ifndef PT_PROCESS_FILTER_CALLBACK_H
#define PT_PROCESS_FILTER_CALLBACK_H

#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include "process/self.h"

struct pt_handler {
    posixtrace_handler_t function;
    void *context;
};

/* fresh, malloced or NULL, is the function for the type from now on; *old was it.  -EAGAIN: no
 * gate bit for it is free; -ENOMEM.  The caller frees *old when no thread is in an event. */
int pt_handler_exchange(struct pt_self *self, unsigned bit, uint32_t id,
                        const struct pt_handler *fresh, const struct pt_handler **old);

/* Is there one for the type?  Of another process's page: is there any at all? */
bool pt_handler_decides(const struct pt_page *page, unsigned bit, uint32_t id);
/* Inside an event: true where there is none. */
bool pt_handler_wants(const struct pt_self *self, unsigned bit, uint64_t epoch,
                      const struct posixtrace_event *event);
/* The bit's stream is over: nobody is asked any more, and nothing is left. */
void pt_handler_forget(struct pt_self *self, unsigned bit);
/* A forked child has another bit for the stream; its gates are open already. */
void pt_handler_inherit(struct pt_self *child, unsigned bit, const struct pt_self *parent,
                        unsigned parents_bit);

#endif
