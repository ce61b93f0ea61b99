/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reading a log by blocks: the events of a packet, of one author, as arrays.  Blocks are not
 * merged; those of a round come in the order of their first events.  All events of a log are in
 * some block once, and calls for single events may be mixed in.
 */
#ifndef PT_LOG_READER_BLOCK_H
#define PT_LOG_READER_BLOCK_H

#include "log/reader/reader.h"

/* Arrays beside times and ids. */
enum { PT_BLOCK_LENGTHS = 1, PT_BLOCK_ADDRESSES = 2, PT_BLOCK_DATA = 4 };

/* Everything is good until the next call. */
struct pt_log_block {
    const struct pt_author *author;
    uint64_t round;    /* counts those read; a watermark ends each */
    uint64_t first_no; /* the author's number of the first event */
    size_t count;
    const int64_t *ns;
    const uint16_t *ids;
    const uint32_t *lengths;   /* LENGTHS, DATA */
    const uint8_t *truncated;  /* LENGTHS, DATA */
    const uint64_t *addresses; /* ADDRESSES */
    const uint8_t *data;       /* DATA: of event i at data + offsets[i] */
    const uint32_t *offsets;
    bool gap; /* something is missing before it */
};

/* 1; 0: end, and only b->gap was stored; negative errno. */
int pt_log_reader_next_block(struct pt_log_reader *r, unsigned wanted, struct pt_log_block *b);

#endif
