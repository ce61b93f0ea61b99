/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where rounds begin, by time, for seeking.  An entry covers all rounds up to the next
 * entry.  Entries have a least distance, which doubles when there are too many of them.
 * So the index stays below 0.1 % of the log and below 2 MiB of memory.
 */
#ifndef PT_LOG_INDEX_H
#define PT_LOG_INDEX_H

#include "log/format.h"

#define PT_INDEX_MAX 65536u

struct pt_index {
    struct pt_index_entry *entries;
    size_t count, room;
    uint64_t spacing; /* least distance of entries in bytes of log */
    uint64_t bytes;   /* of log since the last entry was begun */
};

void pt_index_init(struct pt_index *x);
void pt_index_deinit(struct pt_index *x);
void pt_index_clear(struct pt_index *x);
/* Adds a round of so many bytes in the file.  The second and later parts of a round
 * never become entries.  -ENOMEM: not added; the entry before it covers it. */
int pt_index_add(struct pt_index *x, uint64_t offset, uint64_t bytes, uint64_t first_ts,
                 uint64_t last_ts, bool goes_on);
/* Appends an entry unchanged. */
int pt_index_append(struct pt_index *x, const struct pt_index_entry *entry);
/* The entry from which to read in order to meet every event of time ts or
 * later; NULL: there is none. */
const struct pt_index_entry *pt_index_find(const struct pt_index *x, uint64_t ts);

#endif
