/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Ids of messages, with the first time of sending and the last one of receiving.  An id that is
 * sent or received several times, as by a retransmission, stands for the only order that is
 * certain: the first send is before the last receive.  An id that two clocks have sent says
 * nothing.
 *
 * Memory is bounded: of too many ids one of 2, 4, ... is kept, by their hashes.
 */
#ifndef PT_SYNC_MESSAGES_H
#define PT_SYNC_MESSAGES_H

#include "analysis/sync/sync_group.h"

struct pt_sync_id {
    uint64_t low, high; /* of pair, kind and value */
};

struct pt_sync_end {
    struct pt_sync_id id;
    int64_t ns;
    uint32_t count;
    uint16_t clock;
    bool used, ambiguous;
};

struct pt_sync_table {
    struct pt_sync_end *ends;
    size_t count, room;
};

struct pt_sync_messages {
    struct pt_sync_table sent, received; /* received: by id and clock */
    uint64_t mask;                       /* kept: hashes without these bits */
    size_t most;                         /* ids of a table */
};

void pt_sync_messages_free(struct pt_sync_messages *m);
int pt_sync_messages_add(struct pt_sync_messages *m, struct pt_sync_id id, bool sent, size_t clock,
                         int64_t ns);
/* Puts what belongs together into channels[from * clocks + to], and counts.  0 or ENOMEM. */
int pt_sync_messages_join(const struct pt_sync_messages *m, struct pt_sync_channel *channels,
                          size_t clocks, struct posixtrace_sync_summary *s);
/* One more message of a channel. */
int pt_sync_channel_add(struct pt_sync_channel *c, int64_t sent, int64_t received);

#endif
