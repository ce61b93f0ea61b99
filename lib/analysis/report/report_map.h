/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Items by a key of three numbers, in the order in which they were made.  A hash table with open
 * addressing (linear probing) over pointers to items; nothing is ever removed.
 */
#ifndef PT_REPORT_MAP_H
#define PT_REPORT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pt_report_key {
    uint64_t a, b, c;
};

struct pt_report_slot;

struct pt_report_map {
    struct pt_report_slot *slots;
    size_t room; /* of slots: a power of two */
    void **items;
    size_t count, item_room;
};

/* The item with that key, made of so many zeros where there is none; NULL: no memory. */
void *pt_report_map_make(struct pt_report_map *m, struct pt_report_key key, size_t size);
/* Or NULL. */
void *pt_report_map_find(const struct pt_report_map *m, struct pt_report_key key);
/* Frees the items, too. */
void pt_report_map_deinit(struct pt_report_map *m);

#endif
