/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Packing by zstd; see compress.h.
 *
 * Level 1 was chosen by measurement: 8-byte counters of four types with uneven gaps between the
 * events take 6.8 bytes an event (-1: 7.7, -3: 10.4; 3: 7.3 at 1.6 times the work), the same
 * counter in a loop 2.7.  There is no transformation before it: with irregular values, differences
 * of neighbours save no more than zstd does by itself, and each reader would have to support them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/array.h"
#include "log/compress.h"

#define LEVEL 1
/* What zstd itself chooses for up to 16 KiB, a table of 2^15 matches, is also better for columns of
 * up to 32 KiB, for which it chooses 2^13: a tenth less time in a log of mutexes, no more bytes.
 * Matches of 7 bytes, in place of 5, take 5 to 9 % less time in logs of memcached, nginx, redis and
 * sqlite3, and 2 to 5 % more bytes (bench_encoder). */
#define SMALL       (32u << 10)
#define SMALL_TABLE 15
#define SMALL_MATCH 7
/* Shorter ones save less than a call costs. */
#define LEAST_BYTES 128u

bool pt_compress_available(void)
{
    return true;
}

static ZSTD_CCtx *packing_context(struct pt_compressor *p)
{
    ZSTD_CCtx *c = p->context;

    if (c)
        return c;
    c = ZSTD_createCCtx();
    if (c)
        ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
    p->context = c;
    return c;
}

uint32_t pt_compress(struct pt_compressor *p, const void *from, uint32_t bytes, bool shared,
                     const void **packed)
{
    ZSTD_CCtx *c = packing_context(p);
    size_t n, room = shared ? 2 * (size_t)bytes : bytes;

    if (bytes < LEAST_BYTES || !c || pt_array_renew(&p->buffer, &p->room, room) < 0)
        return 0;
    /* zstd reads more than once. */
    if (shared)
        from = memcpy(p->buffer + bytes, from, bytes);
    ZSTD_CCtx_setParameter(c, ZSTD_c_hashLog, bytes <= SMALL ? SMALL_TABLE : 0);
    ZSTD_CCtx_setParameter(c, ZSTD_c_minMatch, bytes <= SMALL ? SMALL_MATCH : 0);
    /* Records are padded to 8 bytes, so saving less than 8 is no gain. */
    n = ZSTD_compress2(c, p->buffer, bytes - 8, from, bytes);
    if (ZSTD_isError(n))
        return 0;
    *packed = p->buffer;
    return (uint32_t)n;
}

void pt_compressor_deinit(struct pt_compressor *p)
{
    ZSTD_freeCCtx(p->context);
    free(p->buffer);
    *p = (struct pt_compressor){ .context = NULL };
}

uint32_t pt_compressed_content(const void *from, uint32_t packed)
{
    unsigned long long bytes = ZSTD_getFrameContentSize(from, packed);

    /* Errors are greater than any length. */
    return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

int pt_decompress(struct pt_decompressor *u, uint32_t bytes, const void *from, uint32_t packed)
{
    if (bytes == 0)
        return -EBADMSG; /* no writer packs 0 bytes */
    if (!u->context)
        u->context = ZSTD_createDCtx();
    if (!u->context || pt_array_renew(&u->buffer, &u->room, bytes) < 0)
        return -ENOMEM;
    /* An error is a number greater than any length. */
    return ZSTD_decompressDCtx(u->context, u->buffer, bytes, from, packed) == bytes ? 0 : -EBADMSG;
}

void pt_decompressor_deinit(struct pt_decompressor *u)
{
    ZSTD_freeDCtx(u->context);
    free(u->buffer);
    *u = (struct pt_decompressor){ .context = NULL };
}
