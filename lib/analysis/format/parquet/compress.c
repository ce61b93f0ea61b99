/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Compression of pages, with zstd at level 1. */
#include <zstd.h>
#include "analysis/format/parquet/compress.h"

enum { LEVEL = 1 };

enum pt_parquet_codec pt_parquet_codec(void)
{
    return PT_PARQUET_ZSTD;
}

bool pt_parquet_compress(void **state, const struct pt_bytes *from, struct pt_bytes *to)
{
    size_t most = ZSTD_compressBound(from->used), size;
    uint8_t *at;

    if (!*state)
        *state = ZSTD_createCCtx();
    to->used = 0;
    at = pt_bytes_add(to, most);
    if (!*state || !at)
        return false;
    size = ZSTD_compressCCtx(*state, at, most, from->at, from->used, LEVEL);
    to->used = ZSTD_isError(size) ? 0 : size;
    return !ZSTD_isError(size);
}

void pt_parquet_compress_free(void *state)
{
    ZSTD_freeCCtx(state);
}
