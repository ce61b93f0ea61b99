/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pack.h. */
#include "log/pack.h"

#include <errno.h>
#include <posixtrace/attr.h>
#include <stdlib.h>

#include "base/array.h"
#include "log/format.h"

bool pt_pack_available(int method)
{
    return method != POSIXTRACE_COMPRESSION_ZSTD || pt_compress_available();
}

uint32_t pt_pack(struct pt_packer *p, int method, const void *records, uint32_t bytes,
                 const void **packed, unsigned *flags)
{
    uint32_t columns = 0, compressed = 0;

    /* Records are padded to 8 bytes: to save less than 8 is no gain. */
    if (bytes > 8 && pt_array_renew(&p->buffer, &p->room, bytes) == 0)
        columns = pt_columns_write(&p->columns, records, bytes, p->buffer, bytes - 8);
    if (columns) {
        records = *packed = p->buffer;
        bytes = columns;
    }
    if (method == POSIXTRACE_COMPRESSION_ZSTD)
        compressed = pt_compress(&p->zstd, records, bytes, !columns, packed);
    *flags = (columns ? PT_DATA_COLUMNS : 0) | (compressed ? PT_DATA_PACKED : 0);
    return compressed ? compressed : columns;
}

void pt_packer_deinit(struct pt_packer *p)
{
    pt_compressor_deinit(&p->zstd);
    pt_columns_deinit(&p->columns);
    free(p->buffer);
    *p = (struct pt_packer){ .buffer = NULL };
}

static void swap_buffers(struct pt_unpacker *u)
{
    uint8_t *buffer = u->buffer;
    size_t room = u->room;

    u->buffer = u->zstd.buffer;
    u->room = u->zstd.room;
    u->zstd.buffer = buffer;
    u->zstd.room = room;
}

/* Makes *from and *packed the columns themselves. */
static int find_columns(struct pt_unpacker *u, unsigned flags, uint32_t bytes, const void **from,
                        uint32_t *packed)
{
    uint32_t columns;
    int error;

    if (!(flags & PT_DATA_PACKED))
        return 0;
    columns = pt_compressed_content(*from, *packed);
    /* Columns are shorter than rows. */
    error = columns < bytes ? pt_decompress(&u->zstd, columns, *from, *packed) : -EBADMSG;
    *from = u->zstd.buffer;
    *packed = columns;
    return error;
}

int pt_unpack(struct pt_unpacker *u, unsigned flags, uint32_t bytes, const void *from,
              uint32_t packed)
{
    int error = 0;

    if (bytes == 0)
        return -EBADMSG; /* no writer packs 0 bytes */
    if (!(flags & PT_DATA_COLUMNS)) {
        error = pt_decompress(&u->zstd, bytes, from, packed);
        swap_buffers(u);
        return error;
    }
    error = find_columns(u, flags, bytes, &from, &packed);
    if (!error)
        error = pt_array_renew(&u->buffer, &u->room, bytes);
    return error ? error : pt_columns_read(&u->columns, from, packed, u->buffer, bytes);
}

int pt_unpack_open(struct pt_unpacker *u, unsigned flags, uint32_t bytes, const void *from,
                   uint32_t packed, struct pt_columns_view *v)
{
    int error = bytes ? find_columns(u, flags, bytes, &from, &packed) : -EBADMSG;

    return error ? error : pt_columns_open(&u->columns, v, from, packed, bytes);
}

void pt_unpacker_deinit(struct pt_unpacker *u)
{
    pt_decompressor_deinit(&u->zstd);
    pt_columns_deinit(&u->columns);
    free(u->buffer);
    *u = (struct pt_unpacker){ .buffer = NULL };
}
