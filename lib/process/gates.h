/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Derives the gates of a page from a stream's filter: closed, open, or ask.
 *
 * The event set decides first, then the expression as far as the type decides it: by its name, by
 * the process, by fields that its data cannot have.  Ask is always correct, closed and open are
 * faster.  So a type without a name has ask until a thread opens its name (pt_gates_named), and in
 * a process that joins a running stream all types have ask until then.
 */
#ifndef PT_PROCESS_GATES_H
#define PT_PROCESS_GATES_H

#include "model/expression.h"
#include "page/page.h"
#include "process/self.h"

struct pt_gates {
    const struct pt_seg_header *h;
    const struct pt_names *names; /* NULL: nothing is decided by names */
    struct pt_set filter;
    struct posixtrace_expression *expression; /* NULL: none, or not understood here */
    uint64_t version;                         /* filter_now */
    bool asks;                                /* there is an expression */
};

/* Takes the filter in force.  names NULL: async-signal-safe; else it allocates. */
void pt_gates_init(struct pt_gates *g, const struct pt_seg_header *h, const struct pt_names *names);
void pt_gates_deinit(struct pt_gates *g);
/* The gate of a type in a stream that runs. */
enum pt_gate pt_gates_decide(const struct pt_gates *g, const struct pt_page *page, unsigned bit,
                             uint32_t id);
/* Takes a shadow bit if one is needed.  0 or -EAGAIN. */
int pt_gates_make_room(const struct pt_gates *g, struct pt_page *page, unsigned bit);

/* Called when a type gets a name or a description in this process: decides its gates in the
 * process's own page.  Not async-signal-safe. */
void pt_gates_named(struct pt_self *self, uint32_t id);

#endif
