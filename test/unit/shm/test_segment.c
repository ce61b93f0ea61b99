/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Segments: the size formula, creation and opening, every wrong header. */
#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/sys.h"
#include "place/dir.h"
#include "shm_helpers.h"
#include <unistd.h>

/* What an attribute object asks for fits, whatever the sizes: a record of the
 * largest kind in each chunk's tail may be wasted and still stream_size bytes
 * of records are kept. */
START_TEST(size_formula)
{
    static const uint64_t sizes[] = { 1, 1000, 4096, 65536, 1 << 20, (1 << 20) + 1, 200 << 20 };
    static const uint64_t data[] = { 0, 1, 64, 4096, PT_MAX_DATA };

    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned k = 0; k < sizeof data / sizeof *data; k++) {
            uint32_t chunk, count;
            uint64_t r, payload;
            struct pt_attr a;

            pt_attr_init(&a);
            a.stream_size = sizes[i];
            a.max_data = data[k];
            r = pt_attr_max_user_event(&a, a.max_data);
            if (r < pt_attr_max_system_event(&a))
                r = pt_attr_max_system_event(&a);
            pt_seg_geometry(&a, &chunk, &count);
            payload = chunk - sizeof(struct pt_chunk);
            ck_assert_uint_ge(chunk, PT_CHUNK_MIN);
            ck_assert_uint_le(chunk, PT_CHUNK_MAX);
            ck_assert_uint_eq(chunk & (chunk - 1), 0);
            ck_assert_uint_ge(payload, r);
            ck_assert_uint_ge(count * (payload - r + 8), a.stream_size);
            ck_assert_uint_lt((count - 1) * (payload - r + 8), a.stream_size + payload);
            /* Changing chunks costs next to nothing, and hardly half of one is wasted. */
            if (a.stream_size >= 65536 && a.stream_size >= 4 * r) {
                ck_assert_uint_ge(chunk, PT_CHUNK_USUAL);
                ck_assert_uint_le((uint64_t)count * chunk, a.stream_size * 5 / 2 + 2 * chunk);
            }
        }
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    struct pt_seg_request request = { .clock = PT_CLOCK_MONOTONIC };
    struct pt_seg seg = { 0 };

    pt_attr_init(&request.attr);
    request.attr.stream_size = UINT64_MAX / 2;
    ck_assert_int_eq(pt_seg_create(&seg, &request), -ENOMEM);
    ck_assert_ptr_null(seg.h);
}
END_TEST

static struct pt_geometry geometry; /* of the header checked last */

START_TEST(created_and_opened)
{
    struct pt_seg a, b, c;
    int dir = pt_dir_open(true);

    ring_create(&a, 49152);
    ck_assert_int_eq(pt_seg_validate(&geometry, a.h, a.size), 0);
    ck_assert_int_eq(pt_seg_open(&b, a.file), 0);
    ck_assert_ptr_ne(a.h, b.h);
    a.h->hint = 77;
    ck_assert_uint_eq(b.h->hint, 77);
    ck_assert_int_eq(pt_seg_reach_chunks(&b, b.h->base_chunks + 3), 0);
    pt_seg_chunk(&b, b.h->base_chunks + 2)->gen = 5;
    ck_assert_int_eq(pt_seg_reach_chunks(&b, b.h->chunk_max + 1), -ENOMEM);
    ck_assert_int_eq(pt_seg_reach_slots(&b, PT_SLOT_MAX + 1), -ENOMEM);
    a.h->nchunks = a.h->base_chunks + 3; /* a copy has no others */
    ck_assert_int_eq(pt_seg_copy(&c, dir, a.file), 0);
    ck_assert_uint_eq(pt_seg_chunk(&c, a.h->base_chunks + 2)->gen, 5);
    c.h->hint = 1;
    ck_assert_uint_eq(a.h->hint, 77);
    pt_seg_unmap(&b);
    pt_seg_unmap(&c);
    pt_seg_unlink(&a);
    ck_assert_int_eq(pt_seg_open(&b, a.file), -ENOENT);
    pt_seg_unmap(&a);
    close(dir);
}
END_TEST

#define WRONG(member, value)                                                                      \
    do {                                                                                          \
        struct pt_seg_header h = *seg.h;                                                          \
        h.member = (value);                                                                       \
        ck_assert_msg(pt_seg_validate(&geometry, &h, seg.size) == -EINVAL, #member " = " #value); \
    } while (0)

START_TEST(wrong_headers)
{
    struct pt_seg seg;

    ring_create(&seg, 49152);
    WRONG(magic, 0);
    WRONG(magic, PT_SEG_MAGIC + 1);
    WRONG(layout, PT_SEG_LAYOUT + 1);
    WRONG(byte_order, 0x04030201);
    WRONG(word_size, 0);
    WRONG(word_size, 16);
    WRONG(header_size, h.header_size + 8);
    WRONG(size, h.size - 1);
    WRONG(size, h.size + 1);
    WRONG(chunk_size, 0);
    WRONG(chunk_size, PT_CHUNK_MIN / 2);
    WRONG(chunk_size, PT_CHUNK_MIN + 8);
    WRONG(chunk_size, PT_CHUNK_MIN * 2);
    WRONG(chunk_size, PT_CHUNK_MAX * 2);
    WRONG(chunk_max, h.chunk_max + 1 + PT_PAGE / PT_CHUNK_MIN); /* the end is a whole page */
    WRONG(chunk_max, h.base_chunks - 1);
    WRONG(chunk_max, 1u << 26);
    WRONG(chunk_max, UINT32_MAX);
    WRONG(base_chunks, h.chunk_max + 1);
    WRONG(procs_off, 0);
    WRONG(procs_off, h.procs_off + 8);
    WRONG(procs_off, h.infos_off);
    WRONG(infos_off, 0);
    WRONG(infos_off, h.infos_off + 8);
    WRONG(infos_off, h.slots_off);
    WRONG(infos_off, 0xfffff000u);
    WRONG(slots_off, h.slots_off + 8);
    WRONG(slots_off, h.infos_off);
    WRONG(slots_off, h.chunks_off);
    WRONG(slots_off, 0xfffff000u);
    WRONG(chunks_off, h.chunks_off + 8);
    WRONG(chunks_off, h.slots_off);
    WRONG(chunks_off, h.chunks_off + PT_PAGE);
    WRONG(chunks_off, 0xfffff000u);
    WRONG(clock, PT_CLOCK_TSC - 1);
    WRONG(clock, PT_CLOCK_MONOTONIC + 1);
    WRONG(attr.magic, 0);
    WRONG(attr.max_data, PT_MAX_DATA + 1);
    ck_assert_int_eq(pt_seg_validate(&geometry, seg.h, sizeof *seg.h - 1), -EINVAL);
    ck_assert_int_eq(pt_seg_validate(&geometry, seg.h, seg.size + 1), -EINVAL);
    ck_assert_int_eq(pt_seg_validate(&geometry, seg.h, seg.size), 0);
    ring_remove(&seg);
}
END_TEST

START_TEST(files_that_are_none)
{
    int dir = pt_dir_open(true);
    struct pt_seg seg, copy;

    ring_create(&seg, 49152);
    seg.h->layout++;
    ck_assert_int_eq(pt_seg_open(&copy, seg.file), -EINVAL);
    ck_assert_int_eq(pt_seg_copy(&copy, dir, seg.file), -EINVAL);
    seg.h->layout--;
    ck_assert_int_eq(symlinkat(seg.file, dir, "link.seg"), 0);
    ck_assert_int_eq(pt_seg_open(&copy, "link.seg"), -ELOOP);
    ck_assert_int_eq(pt_seg_copy(&copy, dir, "link.seg"), -ELOOP);
    ck_assert_int_eq(pt_seg_open(&copy, "."), -EISDIR);
    ck_assert_int_eq(pt_seg_copy(&copy, dir, "."), -EINVAL);
    ring_remove(&seg);
    close(dir);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, size_formula);
    tcase_add_test(tc, absurd_sizes_are_refused);
    tcase_add_test(tc, created_and_opened);
    tcase_add_test(tc, wrong_headers);
    tcase_add_test(tc, files_that_are_none);
}

int main(void)
{
    return ring_main("segment", add);
}
