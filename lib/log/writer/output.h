/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The writing end of a log: packets are composed in a buffer and go out in
 * large writes, at offsets (regular file) or one after the other (pipe).
 *
 * After a failed write the bytes that were not written stay in the buffer, and the
 * next flush continues at exactly the same byte; it writes nothing twice and omits
 * nothing.  The output knows at every moment which packets are on disk entirely, so
 * that the events of the others can be counted as lost.
 *
 * The size of the file is checked for a cut by another program before each write,
 * because the write may make the file as long as it was, with a hole.  A cut between the check
 * and the write leaves such a hole: after each write the first byte of the file and the last
 * byte before the write that is not zero are read back.
 */
#ifndef PT_LOG_WRITER_OUT_H
#define PT_LOG_WRITER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet in the buffer; wid and events of a DATA packet, else zeros. */
struct pt_output_packet {
    uint64_t end; /* file offset after it */
    uint64_t wid;
    uint32_t events;
};

/* So many bytes at that offset; or bytes is NULL, and the offset is the file's new size. */
struct pt_output_change {
    const void *bytes;
    size_t length;
    uint64_t offset;
    bool zeros; /* all of the bytes are */
};

/* A recovery may have to give the file up.  enter is called before each change, a negative errno
 * prevents it; leave after it, with the length that was written. */
struct pt_output_gate {
    int (*enter)(void *context, const struct pt_output_change *change);
    int (*leave)(void *context, const struct pt_output_change *change);
    void *context;
};

struct pt_output {
    int fd;
    int reads; /* the same file, since fd may be for writing only.  Set by the owner */
    bool seekable;
    uint8_t *buffer;
    size_t length, room;
    uint64_t position; /* file offset of buffer[0] */
    uint64_t whole;    /* file offset after the last packet that is on disk entirely */
    uint64_t size;     /* of the file: its first size, and the bytes written since */
    uint64_t cut;      /* smallest size to which another program has cut the file */
    bool was_cut;
    int refused;      /* what each write gives; 0: the file can be written.  Set by the owner */
    uint64_t witness; /* where the last byte of the file is that is not zero; 0: unknown */
    struct pt_output_packet *packets;
    size_t packet_count, packet_room;
    /* Called before and after calls that may block; NULL: not.  Set by the owner. */
    void (*waits)(void *context, bool waits);
    void *waits_context;
    const struct pt_output_gate *gate; /* NULL: none.  Set by the owner */
    bool extends;                      /* in pt_output_extend: the write consists of zeros */
    bool rehearses;                    /* nothing is written.  Set by the owner */
    uint64_t reach;                    /* where the last byte would end that a rehearsal writes */
};

int pt_output_init(struct pt_output *o, int fd, bool seekable, uint64_t position);
void pt_output_deinit(struct pt_output *o);
/* Room for a packet of bytes, not yet part of the output; NULL with *error. */
void *pt_output_reserve(struct pt_output *o, size_t bytes, int *error);
/* The packet that was composed in the reserved room becomes part of the output. */
void pt_output_commit(struct pt_output *o, size_t bytes, uint64_t wid, uint32_t events);
int pt_output_flush(struct pt_output *o);
/* Flushes, then continues at another offset (regular files). */
int pt_output_seek(struct pt_output *o, uint64_t position);
/* The packets in the buffer that end within so many bytes after from: their events are counted
 * elsewhere now. */
void pt_output_uncount(struct pt_output *o, uint64_t from, uint64_t bytes);
/* Discards the buffer and continues at another offset. */
void pt_output_discard(struct pt_output *o, uint64_t position);
/* Notices whether the file was cut. */
void pt_output_look(struct pt_output *o);
/* Makes the file shorter or longer; the buffer keeps its bytes. */
int pt_output_truncate(struct pt_output *o, uint64_t size);
/* Makes the file longer by zeros, with disk blocks allocated; the buffer is empty. */
int pt_output_extend(struct pt_output *o, uint64_t size);
/* Writes at an offset past the buffer; all or an error. */
int pt_output_write_at(struct pt_output *o, const void *from, size_t bytes, uint64_t offset);

static inline uint64_t pt_output_offset(const struct pt_output *o)
{
    return o->position + o->length;
}

#endif
