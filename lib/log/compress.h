/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Compresses the records of a packet, and decompresses them.  Each packet is compressed
 * by itself, so that a compressed log can still be cut, overwritten and read from any
 * packet on.  compress.c uses zstd; builds without zstd have compress-fallback.c.
 *
 * Packers and unpackers begin as zeros; each has one user at a time.
 */
#ifndef PT_LOG_COMPRESS_H
#define PT_LOG_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_compressor {
    void *context;
    uint8_t *buffer;
    size_t room;
};

struct pt_decompressor {
    void *context;
    uint8_t *buffer; /* the last unpacked packet */
    size_t room;
};

/* Can this build do it? */
bool pt_compress_available(void);

/* Compresses; *packed is good until the next call.  shared: other processes may write these
 * bytes meanwhile.  How many bytes, or 0: that would save nothing, or there is no memory; then the
 * records stay as they are. */
uint32_t pt_compress(struct pt_compressor *p, const void *from, uint32_t bytes, bool shared,
                     const void **packed);
void pt_compressor_deinit(struct pt_compressor *p);

/* How many bytes they decompress to; 0: that is not known. */
uint32_t pt_compressed_content(const void *from, uint32_t packed);
/* Makes exactly `bytes` bytes in u->buffer from `packed` bytes.  0; -EBADMSG: they
 * do not give that; -ENOTSUP: not in this build; -ENOMEM. */
int pt_decompress(struct pt_decompressor *u, uint32_t bytes, const void *from, uint32_t packed);
void pt_decompressor_deinit(struct pt_decompressor *u);

#endif
