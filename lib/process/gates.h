/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a stream's filter means for the gates of a page: closed, open, or ask.
 *
 * The event set decides first, then the expression as far as the type alone does: its
 * name, the process, what its data cannot have.  Ask is always right, closed and open
 * are faster.  So types without a name are asked about until somebody opens one
 * (pt_gates_named), and a process that joins the stream while it runs asks about
 * all of them until then.
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

/* What is in force now.  names NULL: async-signal-safe; else it allocates. */
void pt_gates_init(struct pt_gates *g, const struct pt_seg_header *h, const struct pt_names *names);
void pt_gates_deinit(struct pt_gates *g);
/* Of a stream that runs. */
enum pt_gate pt_gates_decide(const struct pt_gates *g, const struct pt_page *page, unsigned bit,
                             uint32_t id);
/* Makes sure of the shadow where one is needed.  0 or -EAGAIN. */
int pt_gates_make_room(const struct pt_gates *g, struct pt_page *page, unsigned bit);

/* A type has got a name, or a description, in this process: what can be decided of it
 * is, in the process's own page.  Not async-signal-safe. */
void pt_gates_named(struct pt_self *self, uint32_t id);

#endif
