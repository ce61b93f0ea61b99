/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A window over a log that is being read: by pread from a regular file, in
 * order from a pipe.  Bytes from `keep` on stay in the window, so that a
 * caller can collect packets and find them again when it has seen them all.
 */
#ifndef PT_LOG_READER_SOURCE_H
#define PT_LOG_READER_SOURCE_H

#include "base/descriptor.h"
#include "log/format.h"

#define PT_SOURCE_KEEP_NOTHING UINT64_MAX

struct pt_input {
    struct pt_descriptor file;
    bool seekable;
    bool at_end; /* pipe: nothing more will come */
    /* The file was cut, and will be longer again: what it has of a packet is followed by zeros. */
    bool pads;
    uint8_t *buffer;
    size_t length, room;
    uint64_t start; /* file offset of buffer[0] */
    uint64_t keep;
    struct pt_byteorder_buffer order; /* the last packet that was read as numbers */
};

void pt_input_init(struct pt_input *s, const struct pt_descriptor *file, bool seekable);
void pt_input_deinit(struct pt_input *s);

/* bytes bytes at offset, 8-byte aligned if offset is; good until the next
 * fetch.  NULL: *error is 0 where the file ends before (at or before offset, if it pads), else
 * negative errno.
 * From a pipe, offset is at or after the bytes that were fetched (or kept) before. */
const void *pt_input_fetch(struct pt_input *s, uint64_t offset, size_t bytes, int *error);

/* The same bytes if the window has them; NULL if not. */
const void *pt_input_look(const struct pt_input *s, uint64_t offset, size_t bytes);

/* All bytes at offset, past the window; -ENODATA: the file ends before. */
int pt_input_read(const struct pt_input *s, void *to, size_t bytes, uint64_t offset);

/* Forgets the window, so that a file that changed is read again. */
void pt_input_forget(struct pt_input *s);

#endif
