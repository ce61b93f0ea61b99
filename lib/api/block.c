/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/block.h: reading a log by blocks. */
#include <posixtrace/block.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/sequence.h"
#include "log/reader/block.h"

_Static_assert((int)POSIXTRACE_BLOCK_LENGTHS == (int)PT_BLOCK_LENGTHS &&
                   (int)POSIXTRACE_BLOCK_ADDRESSES == (int)PT_BLOCK_ADDRESSES &&
                   (int)POSIXTRACE_BLOCK_DATA == (int)PT_BLOCK_DATA,
               "the same bits");
#define ALL (POSIXTRACE_BLOCK_LENGTHS | POSIXTRACE_BLOCK_ADDRESSES | POSIXTRACE_BLOCK_DATA)

static struct posixtrace_block public_block(const struct pt_log_block *b)
{
    return (struct posixtrace_block){
        .count = b->count,
        .ns = b->ns,
        .ids = b->ids,
        .lengths = b->lengths,
        .truncated = b->truncated,
        .prog_addresses = b->addresses,
        .data = b->data,
        .offsets = b->offsets,
        .round = b->round,
        .writer = b->author->wid,
        .first_number = b->first_no,
        .thread_id = b->author->thread_id,
        .thread_name = b->author->name,
        .pid = b->author->pid,
        .tid = b->author->tid,
        .gap = b->gap,
    };
}

PT_PUBLIC int posixtrace_next_block(trace_id_t trid, unsigned columns,
                                    struct posixtrace_block *block, size_t size, int *unavailable)
{
    struct posixtrace_block to;
    struct pt_log_block from;
    struct pt_guard g;
    int r;

    if (!block || size == 0 || !unavailable || columns & ~(unsigned)ALL ||
        !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = g.s->pieces ? pt_sequence_next_block(g.s, columns, &from)
                    : pt_log_reader_next_block(g.s->log, columns, &from);
    pthread_mutex_unlock(&g.s->reading);
    if (r >= 0) {
        to = r == 1 ? public_block(&from) : (struct posixtrace_block){ .gap = from.gap };
        pt_sized_copy(block, size, &to, sizeof to);
        *unavailable = r == 0;
    }
    return pt_guard_leave(&g, r);
}
