/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Shared by the files that map segments:
 *
 *   segment.c         mapping, opening and giving back; names in the directory
 *   segment_create.c  making one
 *   segment_room.c    how much of one is mapped where address space is limited
 *   segment_copy.c    reading one into private memory
 */
#ifndef PT_SHM_SEGMENT_MAP_H
#define PT_SHM_SEGMENT_MAP_H

#include "base/sys.h"
#include "shm/segment.h"

#define PT_SEG_SLOT_STEP 64u /* slots that are opened at a time: six pages */

static inline uint64_t pt_seg_page_up(uint64_t n)
{
    return (n + PT_PAGE - 1) & ~(uint64_t)(PT_PAGE - 1);
}

/* Bytes that the first count infos take, in whole pages. */
static inline uint64_t pt_seg_infos_end(uint32_t count)
{
    return pt_seg_page_up((uint64_t)count * sizeof(struct pt_info));
}

/* Maps so many bytes without access, then opens the header.  fd: as pt_dir_new_file() gives it,
 * also a negative one. */
int pt_seg_map(struct pt_seg *seg, int fd, uint64_t size);
/* Maps a file of that size, in part where that is all that fits, and validates its header.
 * to_write: in part may be the header alone; otherwise it includes every chunk in use.
 * -ENOMEM, -EINVAL.  Async-signal-safe. */
int pt_seg_map_file(struct pt_seg *seg, int fd, uint64_t size, bool to_write);
/* The limit of bytes for the chunks of further writers. */
uint64_t pt_seg_growth_bytes(void);
/* Could so many bytes be mapped now? */
bool pt_seg_has_space(uint64_t bytes);
/* Opens processes and infos in this mapping, whose header is good. */
int pt_seg_open_base(struct pt_seg *seg);
/* Is it a file of ours, long enough to have a header? */
bool pt_seg_is_ours(int fd, struct stat *st);

#endif
