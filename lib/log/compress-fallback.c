/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* No packing: the build without zstd; see compress.h. */
#include <errno.h>
#include "log/compress.h"

bool pt_compress_available(void)
{
    return false;
}

uint32_t pt_compress(struct pt_compressor *p, const void *from, uint32_t bytes, bool shared,
                     const void **packed)
{
    (void)p, (void)from, (void)bytes, (void)shared, (void)packed;
    return 0;
}

void pt_compressor_deinit(struct pt_compressor *p)
{
    (void)p;
}

uint32_t pt_compressed_content(const void *from, uint32_t packed)
{
    (void)from, (void)packed;
    return 0;
}

int pt_decompress(struct pt_decompressor *u, uint32_t bytes, const void *from, uint32_t packed)
{
    (void)u, (void)bytes, (void)from, (void)packed;
    return -ENOTSUP;
}

void pt_decompressor_deinit(struct pt_decompressor *u)
{
    (void)u;
}
