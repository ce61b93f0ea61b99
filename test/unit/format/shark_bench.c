/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See shark_bench.h. */
#include <fcntl.h>
#include "shark_bench.h"

int sb_chunk(int places, int reserve, unsigned flags)
{
    int chunk = FTrace_chunk_create(places * 16, reserve * 16, (FTrace_flags)flags);

    ck_assert_msg(chunk >= 0, "errno %d", errno);
    return chunk;
}

void sb_log(uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 7, first + i);
}

unsigned sb_flags(int chunk)
{
    FTrace_flags flags;

    ck_ok(FTrace_get_chunk_flags(chunk, &flags));
    return flags;
}

struct posixtrace_shark_chunk sb_look(int chunk)
{
    FTrace_Chunk_Ptr p = FTrace_get_chunk_table()[chunk];

    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p->number, chunk);
    ck_assert_uint_eq(p->id, 0xffaaffbbu);
    return *p;
}

static uint32_t word(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

struct records sb_decode(const unsigned char *bytes, size_t size)
{
    struct records got = { th_alloc((size / 16 + 1) * sizeof *got.at), size / 16 };

    ck_assert_uint_eq(size % 16, 0);
    for (size_t i = 0; i < got.n; i++, bytes += 16)
        got.at[i] = (struct record){ (uint16_t)word(bytes), (uint16_t)(word(bytes) >> 16),
                                     (uint64_t)word(bytes + 4) << 32 | word(bytes + 8),
                                     word(bytes + 12) };
    return got;
}

struct records sb_read(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned char *bytes;
    long size;

    ck_assert_msg(file != NULL, "%s: errno %d", path, errno);
    ck_ok(fseek(file, 0, SEEK_END));
    size = ftell(file);
    rewind(file);
    bytes = th_alloc((size_t)size + 1);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)size, file), (size_t)size);
    ck_ok(fclose(file));
    return sb_decode(bytes, (size_t)size);
}

struct records sb_send(int chunk, unsigned new_flags)
{
    char path[TH_PATH], sent[TH_PATH + 8], *base;

    close(th_file(path, O_RDWR));
    base = strrchr(path, '/') + 1;
    snprintf(sent, sizeof sent, "%.*s0%s", (int)(base - path), path, base);
    ck_ok(FTrace_init_disk_writer(path, 0, NULL, NULL));
    ck_ok(FTrace_send_chunk(chunk, 0, (FTrace_flags)new_flags));
    return sb_read(sent);
}

void sb_expect(struct records got, uint32_t first, uint32_t n)
{
    uint64_t last = 0;

    ck_assert_uint_eq(got.n, n);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(got.at[i].code, FTrace_EVT_ipoint);
        ck_assert_uint_eq(got.at[i].par1, 7);
        ck_assert_uint_eq(got.at[i].par2, first + i);
        ck_assert(got.at[i].tsc >= last);
        last = got.at[i].tsc;
    }
}

void sb_clear(void)
{
    FTrace_Chunk_Ptr *table;

    FTrace_disable();
    for (unsigned f = FTrace_filter_trace_Events; f <= FTrace_filter_timer; f++)
        FTrace_set_filter(f, 0);
    ck_ok(FTrace_actual_chunk_select(-1));
    table = FTrace_get_chunk_table();
    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++) {
        if (table[i]) {
            ck_ok(FTrace_chunk_link(i, -1));
            ck_ok(FTrace_set_chunk_flags(i, 0));
        }
    }
    for (int i = 0; i < FTRACE_MAX_CHUNKS; i++) {
        if (table[i])
            ck_ok(FTrace_chunk_delete(i));
    }
}
