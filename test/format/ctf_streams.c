/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams of a CTF export: the stream of each event, in bounded memory.  ctf.py tests the contents
 * of the files.
 */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analysis/format/ctf/ctf.h"
#include "support/run_suite.h"

#define ALL_MAX (33u << 20) /* what the buffers may have, and a buffer */

static struct posixtrace_conversion conversion;
static struct pt_job job;
static struct ctf_streams *all;
static char folder[256];

static void begin(uint32_t limit)
{
    const char *base = getenv("POSIXTRACE_DIR");

    snprintf(folder, sizeof folder, "%s/streams.XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    job = (struct pt_job){ .c = &conversion };
    all = calloc(1, sizeof *all);
    all->job = &job;
    all->limit = limit;
    all->directory = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(all->directory, 0);
}

/* The sizes of the files, which are removed. */
static uint64_t end(void)
{
    uint64_t bytes = 0;

    ck_assert(pt_ctf_streams_write(all));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct ctf_stream *s = &all->list[i];
        struct stat st;
        char name[64], lane[16] = "";

        if (s->lane)
            snprintf(lane, sizeof lane, "-%u", s->lane);
        if (s->shared)
            snprintf(name, sizeof name, "others%s", lane);
        else
            snprintf(name, sizeof name, "thread-%d-%d%s", s->thread.pid, s->thread.tid, lane);
        if (fstatat(all->directory, name, &st, 0) == 0)
            bytes += (uint64_t)st.st_size;
        unlinkat(all->directory, name, 0);
    }
    pt_ctf_streams_deinit(all);
    free(all);
    ck_assert_int_eq(rmdir(folder), 0);
    return bytes;
}

static struct ctf_stream *put(int32_t tid, uint64_t value, size_t size)
{
    struct ctf_thread thread = { .pid = 1, .tid = tid };
    struct ctf_stream *s = pt_ctf_streams_find(all, &thread, value);
    uint8_t *to = s ? pt_ctf_stream_take(all, s, &thread, value, size) : NULL;

    if (to)
        memset(to, 0xaa, size);
    return s;
}

START_TEST(one_stream_a_thread)
{
    struct ctf_stream *first;

    begin(10);
    for (int32_t tid = 1; tid <= 10; tid++)
        ck_assert_ptr_nonnull(put(tid, 5, 8));
    first = put(3, 6, 8);
    ck_assert_int_eq(first->thread.tid, 3);
    ck_assert(!first->shared);
    ck_assert_uint_eq(all->count, 10);
    /* the limit is reached */
    first = put(11, 7, 8);
    ck_assert(first->shared);
    ck_assert_ptr_eq(put(12, 7, 8), first);
    ck_assert(!put(10, 7, 8)->shared);
    ck_assert_uint_eq(all->count, 11);
    /* 10 packets of one and two events, two of one event: a packet is of one thread */
    ck_assert_uint_eq(end(), 12 * 112 + 14 * 8);
}
END_TEST

START_TEST(late_events_have_streams)
{
    begin(100);
    ck_assert_uint_eq(put(1, 1000, 8)->lane, 0);
    for (uint64_t n = 1; n < CTF_LANES; n++)
        ck_assert_uint_eq(put(1, 1000 - n, 8)->lane, n);
    for (uint64_t n = 0; n < CTF_LANES; n++) {
        struct ctf_stream *s = put(1, 900 - n, 8);

        ck_assert(s->shared);
        ck_assert_uint_eq(s->lane, n);
    }
    ck_assert_ptr_null(put(1, 800, 8));
    ck_assert_int_eq(job.error, 0);
    ck_assert_ptr_nonnull(put(1, 1000, 8));
    ck_assert_uint_eq(all->count, 2 * CTF_LANES);
    ck_assert_uint_gt(end(), 0);
}
END_TEST

START_TEST(buffers_are_bounded)
{
    const size_t size = 30000;
    uint64_t events = 0, bytes;

    begin(300);
    for (uint64_t round = 0; round < 6; round++) {
        for (int32_t tid = 1; tid <= 300; tid++, events++) {
            ck_assert_ptr_nonnull(put(tid, round, size));
            ck_assert_uint_le(all->bytes, ALL_MAX);
        }
    }
    ck_assert_int_eq(job.error, 0);
    bytes = end();
    ck_assert_uint_ge(bytes, events * size + 300 * 112);
    ck_assert_uint_le(bytes, events * (size + 112));
}
END_TEST

START_TEST(long_events_end_packets)
{
    begin(1);
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_ptr_nonnull(put(1, i, 65000));
    ck_assert_uint_le(all->list[0].room, 128 << 10);
    ck_assert_uint_ge(end(), 40 * 65000);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, 60);
}

static void add(TCase *t)
{
    tcase_add_test(t, one_stream_a_thread);
    tcase_add_test(t, late_events_have_streams);
    tcase_add_test(t, buffers_are_bounded);
    tcase_add_test(t, long_events_end_packets);
}

int main(void)
{
    return run_suite("ctf", "streams", prepare, add);
}
