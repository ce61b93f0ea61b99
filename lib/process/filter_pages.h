/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The pages of a writer's filter, which a thread keeps to itself; see writer/filter_eval.h. */
#ifndef PT_PROCESS_FILTER_PAGES_H
#define PT_PROCESS_FILTER_PAGES_H

#include "model/expression.h"
#include "shm/layout.h"

/* Address space for the largest; of a usual one two pages are touched. */
struct pt_filter_eval {
    uint64_t epoch, version; /* epoch 0: not made, or left in the middle */
    bool open;               /* there is no expression */
    char text[PT_FILTER_TEXT];
};

static inline size_t pt_filter_eval_bytes(void)
{
    return sizeof(struct pt_filter_eval) + pt_expression_room(PT_FILTER_TEXT);
}

#endif
