/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A build without zstd; see compress.h. */
#include "analysis/format/parquet/compress.h"

enum pt_parquet_codec pt_parquet_codec(void)
{
    return PT_PARQUET_UNCOMPRESSED;
}

bool pt_parquet_compress(void **state, const struct pt_bytes *from, struct pt_bytes *to)
{
    (void)state;
    (void)from;
    (void)to;
    return false;
}

void pt_parquet_compress_free(void *state)
{
    (void)state;
}
