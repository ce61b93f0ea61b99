/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* No packing: the build without zstd; see pack.h. */
#include <errno.h>
#include <posixtrace/attr.h>
#include "log/pack.h"

bool pt_pack_available(int method)
{
    return method == POSIXTRACE_COMPRESSION_NONE;
}

uint32_t pt_pack(struct pt_packer *p, const void *from, uint32_t bytes, const void **packed)
{
    (void)p, (void)from, (void)bytes, (void)packed;
    return 0;
}

void pt_packer_deinit(struct pt_packer *p)
{
    (void)p;
}

int pt_unpack(struct pt_unpacker *u, uint32_t bytes, const void *from, uint32_t packed)
{
    (void)u, (void)bytes, (void)from, (void)packed;
    return -ENOTSUP;
}

void pt_unpacker_deinit(struct pt_unpacker *u)
{
    (void)u;
}
