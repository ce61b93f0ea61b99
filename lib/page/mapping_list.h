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
 * below the count only.
 *
 * A list that is full stays as it is.  Then a reader must not take the mappings that an image of a
 * process had for those of the next one, or of a later process with the same number.  So the last
 * part of the list is kept for texts that end what others say, and the end of that part for one
 * that does so for all processes.
 */
#ifndef PT_PAGE_MAPPING_LIST_H
#define PT_PAGE_MAPPING_LIST_H

#include "page/names.h"

enum pt_mapping_room {
    PT_MAPPING_NEW,     /* what a process has */
    PT_MAPPING_NO_MORE, /* what it has not, or that nothing is known of it */
    PT_MAPPING_LAST,    /* that nothing is known of any process */
    PT_MAPPING_ROOMS
};

struct pt_mapping_list {
    uint64_t entry[PT_MAPPING_END - 1]; /* offset | length << 32 | 1 << 63 */
    uint64_t unused;
    char text[384 << 10];
};
#define PT_MAPPING_LIST_BYTES PT_NAMES_PAGES(sizeof(struct pt_mapping_list))

/* Appends a text.  *id: its number.  -ENOSPC: no room for a text of that kind; -ENOMEM: no memory
 * for the map's file; -EINVAL: it is too long.  Async-signal-safe. */
int pt_mapping_list_add(struct pt_names *names, enum pt_mapping_room kind, const char *text,
                        size_t length, uint32_t *id);
/* The number of that text in the list, or 0.  Async-signal-safe. */
uint32_t pt_mapping_list_find(const struct pt_names *names, const char *text, size_t length);
/* Is there no room for what one more process has? */
bool pt_mapping_list_is_full(const struct pt_names *names);
/* Does a text say which mappings that process has?  Async-signal-safe. */
bool pt_mapping_list_has(const struct pt_names *names, uint32_t pid);
/* NULL: there is none, or its page has no memory; checked, but another process may change it. */
const char *pt_mapping_list_get(const struct pt_names *names, uint32_t id);
/* One past the last number. */
uint32_t pt_mapping_list_end(const struct pt_names *names);
/* Reserves memory for the used part. */
int pt_mapping_list_back(const struct pt_names *names);

#endif
