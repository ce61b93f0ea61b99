/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The mappings of a family's processes: which file is at which addresses.  They are texts in its
 * name map, so that all streams and logs of the family have them, also after the processes have
 * ended and where events are overwritten.  docs/log-format.md has their form.
 *
 * The list is append-only and lock-free, as that of the names.  Text n has the number n + 1.  Its
 * bytes are written before the compare-and-exchange that publishes its entry; the count of entries
 * follows, and a process that finds an entry at the count advances it.  Readers look at entries
 * below the count only, whose pages have memory.  A list that is full stays as it is.
 */
#ifndef PT_PAGE_MAPPING_LIST_H
#define PT_PAGE_MAPPING_LIST_H

#include "page/names.h"

struct pt_mapping_list {
    uint64_t entry[PT_MAPPING_END - 1]; /* offset | length << 32 | 1 << 63 */
    uint64_t unused;
    char text[384 << 10];
};
#define PT_MAPPING_LIST_BYTES PT_NAMES_PAGES(sizeof(struct pt_mapping_list))

/* Appends a text.  *id: its number.  -ENOSPC: the list is full; -ENOMEM: no memory for the map's
 * file; -EINVAL: it is too long.  Async-signal-safe. */
int pt_mapping_list_add(struct pt_names *names, const char *text, size_t length, uint32_t *id);
/* The number of that text in the list, or 0.  Async-signal-safe. */
uint32_t pt_mapping_list_find(const struct pt_names *names, const char *text, size_t length);
/* NULL: there is none; checked, but another process may change the text. */
const char *pt_mapping_list_get(const struct pt_names *names, uint32_t id);
/* One past the last number. */
uint32_t pt_mapping_list_end(const struct pt_names *names);
/* Reserves memory for the used part. */
int pt_mapping_list_back(const struct pt_names *names);

#endif
