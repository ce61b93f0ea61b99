/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The forms that the records of a packet have in a log: rows, as they were in memory; columns
 * (log/columns.h); and either of them compressed (log/compress.h).  Each packet is packed by
 * itself, and has the form that is shortest, of those that the log may have.
 *
 * Packers and unpackers begin as zeros; each has one user at a time.
 */
#ifndef PT_LOG_PACK_H
#define PT_LOG_PACK_H

#include "log/columns_view.h"
#include "log/compress.h"

struct pt_packer {
    struct pt_compressor zstd;
    struct pt_columns columns;
    uint8_t *buffer; /* the last packet's columns */
    size_t room;
};

struct pt_unpacker {
    struct pt_decompressor zstd;
    struct pt_columns columns;
    uint8_t *buffer; /* the last packet's records */
    size_t room;
};

/* method: enum posixtrace_compression.  Can this build do it? */
bool pt_pack_available(int method);

/* Packs records, which are little-endian.  How many bytes, *packed until the next call, and *flags
 * of the packet; 0: they stay as they are. */
uint32_t pt_pack(struct pt_packer *p, int method, const void *records, uint32_t bytes,
                 const void **packed, unsigned *flags);
void pt_packer_deinit(struct pt_packer *p);

/* Makes exactly `bytes` bytes in u->buffer from `packed` bytes of a packet with these flags.
 * 0; -EBADMSG: they do not give that; -ENOTSUP: not in this build; -ENOMEM. */
int pt_unpack(struct pt_unpacker *u, unsigned flags, uint32_t bytes, const void *from,
              uint32_t packed);
/* Of a packet with PT_DATA_COLUMNS: opens its columns.  *v is good until the next call, and as long
 * as from is.  Errors as above. */
int pt_unpack_open(struct pt_unpacker *u, unsigned flags, uint32_t bytes, const void *from,
                   uint32_t packed, struct pt_columns_view *v);
void pt_unpacker_deinit(struct pt_unpacker *u);

#endif
