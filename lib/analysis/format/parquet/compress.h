/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Compression of pages. */
#ifndef PT_PARQUET_COMPRESS_H
#define PT_PARQUET_COMPRESS_H

#include "analysis/tables/bytes.h"

enum pt_parquet_codec { PT_PARQUET_UNCOMPRESSED = 0, PT_PARQUET_ZSTD = 6 };

/* Of this build. */
enum pt_parquet_codec pt_parquet_codec(void);
/* Into to, which is cleared.  *state begins as NULL, and is freed by _free().  False: no memory. */
bool pt_parquet_compress(void **state, const struct pt_bytes *from, struct pt_bytes *to);
void pt_parquet_compress_free(void *state);

#endif
