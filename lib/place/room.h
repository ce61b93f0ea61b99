/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Is there room for a large file?  fallocate() takes all that there is before it fails: until then
 * the disk is full for everybody, and where the file is in memory the kernel ends processes to get
 * more.  So who wants much asks first.
 */
#ifndef PT_PLACE_ROOM_H
#define PT_PLACE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* Backs that part of the file with memory or disk blocks.  -ENOMEM: the file system, the memory of
 * the machine or the quota of the user has no room; other negative errnos as from fallocate(). */
int pt_room_take(int fd, uint64_t offset, uint64_t bytes);
/* Has the file system of the file room for that, and for a few files?  True if it does not say. */
bool pt_room_is_left(int fd, uint64_t bytes);

#endif
