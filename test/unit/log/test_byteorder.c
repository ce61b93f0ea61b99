/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Conversion of packets between byte orders, on any machine: a packet converted and back is
 * unchanged; every number is converted, and nothing else; bytes that are not a record end the
 * conversion where they end the decoding.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "log/byteorder.h"
#include "model/layout.h"
#include "model/set.h"
#include "shm/record.h"
#include "support/run_suite.h"

enum { ROOM = 4096, ADDRESSES = 3 };

/* A packet whose every byte tells its place: a number of n bytes that was turned
 * is recognised by its bytes descending. */
struct subject {
    _Alignas(8) uint8_t before[ROOM], after[ROOM];
    bool turned[ROOM]; /* expected, by byte */
};

static uint8_t mark(size_t at)
{
    return (uint8_t)(at * 7 + at / 256 + 1);
}

static void expect_number(struct subject *s, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ck_assert_msg(s->after[at + i] == s->before[at + size - 1 - i],
                      "a number of %zu bytes at %zu is not turned", size, at);
        s->turned[at + i] = true;
    }
}

/* runs: { at, size, count }, until a size of 0. */
static void expect_numbers(struct subject *s, const uint16_t (*runs)[3], size_t at)
{
    for (; (*runs)[1]; runs++)
        for (unsigned i = 0; i < (*runs)[2]; i++)
            expect_number(s, at + (*runs)[0] + i * (*runs)[1], (*runs)[1]);
}

static void expect_rest_untouched(const struct subject *s, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++)
        if (!s->turned[at])
            ck_assert_msg(s->after[at] == s->before[at], "byte %zu is turned, and no number", at);
}

static struct pt_packet_head *begin(struct subject *s, unsigned type, uint32_t bytes)
{
    struct pt_packet_head *head = (void *)s->before;

    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < bytes; i++)
        s->before[i] = mark(i);
    head->type = (uint16_t)type;
    head->flags = 0;
    head->bytes = bytes;
    return head;
}

/* Out, which is compared, and in again. */
static void turn(struct subject *s, uint32_t bytes)
{
    static _Alignas(8) uint8_t again[ROOM];

    memcpy(s->after, s->before, bytes);
    pt_swap_packet((void *)s->after, PT_SWAP_OUT);
    memcpy(again, s->after, bytes);
    pt_swap_packet((void *)again, PT_SWAP_IN);
    ck_assert_mem_eq(again, s->before, bytes);
    expect_number(s, 0, 4);
    expect_number(s, 4, 2);
    expect_number(s, 6, 2);
    expect_number(s, 8, 4);
    expect_number(s, 12, 4);
    expect_number(s, 16, 8);
    expect_number(s, 24, 8);
}

/* The places are those of docs/log-format.md. */
static const uint16_t state_runs[][3] = {
    { 32, 8, 1 }, { 40, 4, 8 }, { 72, 8, 28 }, { 296, 4, 2 }, { 0, 0, 0 }
};
static const uint16_t author_runs[][3] = { { 0, 4, 4 }, { 16, 8, 1 }, { 40, 8, 8 }, { 0, 0, 0 } };
static const uint16_t count_runs[][3] = { { 0, 4, 2 }, { 8, 8, 1 }, { 0, 0, 0 } };
static const uint16_t triple_runs[][3] = { { 0, 8, 3 }, { 0, 0, 0 } };

START_TEST(name_and_pad)
{
    struct subject s;

    begin(&s, PT_PACKET_NAME, 64);
    turn(&s, 64);
    expect_number(&s, 32, 4);
    expect_number(&s, 36, 4);
    expect_rest_untouched(&s, 64);
    begin(&s, PT_PACKET_PAD, 64);
    turn(&s, 64);
    expect_rest_untouched(&s, 64);
    begin(&s, PT_PACKET_TYPES + 3, 64); /* to come */
    turn(&s, 64);
    expect_rest_untouched(&s, 64);
}
END_TEST

START_TEST(sync_and_index)
{
    struct subject s;
    struct pt_packet_sync *p = (void *)s.before;

    for (unsigned type = PT_PACKET_SYNC; type <= PT_PACKET_INDEX; type += 2) {
        begin(&s, type, 40 + 3 * 24 + 8);
        p->count = 3;
        turn(&s, 40 + 3 * 24 + 8);
        expect_number(&s, 32, 4);
        expect_number(&s, 36, 4);
        for (unsigned i = 0; i < 3; i++)
            expect_numbers(&s, triple_runs, 40 + i * 24);
        expect_rest_untouched(&s, 40 + 3 * 24 + 8);
    }
}
END_TEST

START_TEST(pieces)
{
    static const uint16_t runs[][3] = { { 0, 4, 2 }, { 8, 8, 12 }, { 0, 0, 0 } };
    static const uint16_t rows[][3] = { { 0, 4, 2 }, { 8, 8, 6 }, { 0, 0, 0 } };
    struct subject s;
    struct pt_packet_piece *p = (void *)s.before;

    begin(&s, PT_PACKET_PIECE, 136 + 2 * 56);
    p->authors = 2;
    turn(&s, 136 + 2 * 56);
    expect_numbers(&s, runs, 32);
    for (unsigned i = 0; i < 2; i++)
        expect_numbers(&s, rows, 136 + i * 56);
    expect_rest_untouched(&s, 136 + 2 * 56);
}
END_TEST

START_TEST(rounds)
{
    struct subject s;
    struct pt_packet_round *p = (void *)s.before;
    uint32_t bytes = 344 + 2 * 104 + 8 + 8;

    begin(&s, PT_PACKET_ROUND, bytes);
    p->state.authors = 2;
    turn(&s, bytes);
    expect_numbers(&s, state_runs, 0);
    for (unsigned i = 0; i < 5; i++)
        expect_number(&s, 304 + 8 * i, 8);
    expect_numbers(&s, author_runs, 344);
    expect_numbers(&s, author_runs, 344 + 104);
    expect_number(&s, 344 + 2 * 104, 8);
    expect_rest_untouched(&s, bytes);
}
END_TEST

START_TEST(ends)
{
    struct subject s;
    struct pt_packet_end *p = (void *)s.before;
    uint32_t bytes = 336 + 104 + 2 * 16 + 8 + 8 + 16;

    begin(&s, PT_PACKET_END, bytes);
    p->state.authors = 1;
    p->state.counts = 2;
    turn(&s, bytes);
    expect_numbers(&s, state_runs, 0);
    for (unsigned i = 0; i < 4; i++)
        expect_number(&s, 304 + 8 * i, 8);
    expect_numbers(&s, author_runs, 336);
    expect_numbers(&s, count_runs, 336 + 104);
    expect_numbers(&s, count_runs, 336 + 104 + 16);
    expect_number(&s, 336 + 104 + 2 * 16, 8);
    expect_number(&s, bytes - 16, 8);
    expect_number(&s, bytes - 8, 4);
    expect_number(&s, bytes - 4, 4);
    expect_rest_untouched(&s, bytes);
}
END_TEST

static uint8_t *put(uint8_t *at, unsigned kind, unsigned id, unsigned len)
{
    pt_record_put_head(at, kind, id, len, 0x01020304, 0x0102030405060708);
    for (unsigned i = 0; i < len; i++)
        at[16 + i] = mark(i);
    return at + pt_record_size(len);
}

static void expect_head(struct subject *s, const uint8_t *at)
{
    size_t offset = (size_t)(at - s->before);

    expect_number(s, offset, 4);
    expect_number(s, offset + 4, 4);
    expect_number(s, offset + 8, 8);
}

/* The sizes of posixtrace/system.h; a length that none of them has stays. */
START_TEST(own_system_events)
{
    static const struct {
        unsigned id, len, size;
    } types[] = {
        { POSIXTRACE_SWITCH_IN, 4, 4 },   { POSIXTRACE_MUTEX_LOCK, 8, 8 },
        { POSIXTRACE_SLEEP_DONE, 16, 8 }, { POSIXTRACE_SIGNAL_END, 4, 4 },
        { POSIXTRACE_MUTEX_LOCK, 7, 0 },  { POSIXTRACE_CPU_TIME, 16, 8 },
        { PT_ID_OWN_LAST + 1, 8, 0 },
    };
    struct subject s;
    struct pt_packet_data *p = (void *)s.before;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        begin(&s, PT_PACKET_DATA, 256);
        p->record_bytes = (uint32_t)(put(s.before + 128, PT_RECORD_EVENT, types[i].id,
                                         types[i].len) -
                                     (s.before + 128));
        turn(&s, 256);
        expect_head(&s, s.before + 128);
        for (unsigned at = 0; types[i].size && at < types[i].len; at += types[i].size)
            expect_number(&s, 144 + at, types[i].size);
        for (size_t at = 144; at < 256; at++)
            ck_assert_msg(s.turned[at] || s.after[at] == s.before[at], "%zu: byte %zu", i, at);
    }
}
END_TEST

/* Two numbers, and two arrays with their counts. */
static void expect_ready(struct subject *s, struct posixtrace_layout *layout)
{
    const size_t counts[] = { 144 + 8, 144 + 10 + ADDRESSES * 8 };

    expect_number(s, 144, 4);
    expect_number(s, 148, 4);
    for (size_t i = 0; i < 2; i++)
        expect_number(s, counts[i], 2);
    for (size_t i = 0; i < ADDRESSES; i++) {
        expect_number(s, counts[0] + 2 + i * 8, 8);
        expect_number(s, counts[1] + 2 + i * 2, 2);
    }
    layout->count = 0;
}

/* Every type has its numbers as its description says. */
START_TEST(described_system_events)
{
    struct subject s;
    struct pt_packet_data *p = (void *)s.before;

    for (uint32_t id = PT_ID_OWN_FIRST; id <= PT_ID_OWN_LAST; id++) {
        struct posixtrace_layout *layout;
        uint8_t *data = s.before + 144, *end;
        size_t at = 144, size;

        ck_assert_int_eq(pt_layout_read(pt_event_system_description(id), &layout), 0);
        size = layout->size ? layout->size : 13; /* with a text of any length */
        if (id == POSIXTRACE_STACK)
            size = 2 + ADDRESSES * 8;
        if (id == POSIXTRACE_CONNECTION)
            size = 16 + 5;
        if (id == POSIXTRACE_READY)
            size = 8 + 2 + ADDRESSES * 8 + 2 + ADDRESSES * 2;
        begin(&s, PT_PACKET_DATA, 256);
        end = put(s.before + 128, PT_RECORD_EVENT, id, (unsigned)size);
        p->record_bytes = (uint32_t)(end - (s.before + 128));
        ck_assert_uint_le((size_t)(end - data), 112);
        turn(&s, 256);
        if (id == POSIXTRACE_STACK) {
            expect_number(&s, 144, 2);
            for (size_t i = 0; i < ADDRESSES; i++)
                expect_number(&s, 146 + i * 8, 8);
            layout->count = 0;
        }
        if (id == POSIXTRACE_READY)
            expect_ready(&s, layout);
        for (size_t i = 0; i < layout->count; i++) {
            const struct posixtrace_field *f = &layout->fields[i];

            if (f->kind != POSIXTRACE_FIELD_STRING)
                expect_number(&s, at, f->bits / 8);
            at += f->bits / 8 * (f->count ? f->count : 1);
        }
        for (size_t i = 144; i < 256; i++)
            ck_assert(s.turned[i] || s.after[i] == s.before[i]);
        ck_assert(at == 144 + layout->size || layout->size == 0);
        free(layout);
    }
}
END_TEST

/* A user event's data stays, those of the system are numbers. */
START_TEST(data)
{
    static const uint16_t fixed[][3] = { { 32, 4, 4 }, { 48, 8, 1 }, { 72, 8, 1 },
                                         { 80, 4, 4 }, { 96, 8, 4 }, { 0, 0, 0 } };
    struct subject s;
    struct pt_packet_data *p = (void *)s.before;
    uint8_t *user, *time, *start, *stop, *end;
    uint32_t bytes = 1024;

    begin(&s, PT_PACKET_DATA, bytes);
    user = s.before + 128;
    time = put(user, PT_RECORD_EVENT, 193, 12);
    start = put(time, PT_RECORD_TIME, 0, 0);
    stop = put(start, PT_RECORD_EVENT, POSIX_TRACE_START, sizeof(struct pt_set));
    end = put(stop, PT_RECORD_EVENT, POSIX_TRACE_STOP, 4);
    p->record_bytes = (uint32_t)(end - user);
    turn(&s, bytes);
    expect_numbers(&s, fixed, 0);
    expect_head(&s, user);
    expect_head(&s, time);
    expect_head(&s, start);
    expect_number(&s, (size_t)(start - s.before) + 16, 8);
    for (size_t i = 8; i < sizeof(struct pt_set); i += 4)
        expect_number(&s, (size_t)(start - s.before) + 16 + i, 4);
    expect_head(&s, stop);
    expect_number(&s, (size_t)(stop - s.before) + 16, 4);
    expect_rest_untouched(&s, bytes);
}
END_TEST

START_TEST(packed_records_stay)
{
    struct subject s;
    struct pt_packet_data *p = (void *)s.before;

    begin(&s, PT_PACKET_DATA, 512);
    p->head.flags = PT_DATA_PACKED;
    p->record_bytes = 300;
    turn(&s, 512);
    for (size_t at = 128; at < 512; at++)
        ck_assert_uint_eq(s.after[at], s.before[at]);
}
END_TEST

/* Lengths that lead out of the packet, and kinds that are none. */
START_TEST(bad_records)
{
    _Alignas(8) uint8_t records[256], copy[256];

    for (unsigned bad = 0; bad < 3; bad++) {
        uint8_t *second = put(records, PT_RECORD_EVENT, 193, 8), *behind = second + 16;

        memset(second, 0x77, sizeof records - (size_t)(second - records));
        pt_record_put_head(second,
                           bad == 0   ? PT_RECORD_EVENT
                           : bad == 1 ? PT_RECORD_AUTHOR
                                      : 15,
                           193, bad == 0 ? 60000 : 48, 0, 0);
        memcpy(copy, records, sizeof copy);
        pt_swap_records(copy, sizeof copy, PT_SWAP_OUT);
        ck_assert_mem_eq(copy + (behind - records), behind,
                         sizeof copy - (size_t)(behind - records));
        pt_swap_records(copy, sizeof copy, PT_SWAP_IN);
        ck_assert_mem_eq(copy, records, sizeof copy);
    }
}
END_TEST

START_TEST(headers)
{
    static const uint16_t runs[][3] = { { 8, 4, 4 },   { 56, 4, 2 },  { 64, 8, 9 },
                                        { 136, 4, 4 }, { 232, 8, 3 }, { 256, 4, 2 },
                                        { 328, 4, 1 }, { 508, 4, 1 }, { 0, 0, 0 } };
    struct subject s;

    memset(&s, 0, sizeof s);
    for (size_t i = 0; i < PT_LOG_HEADER_SIZE; i++)
        s.before[i] = s.after[i] = mark(i);
    pt_swap_header((void *)s.after);
    expect_numbers(&s, runs, 0);
    expect_rest_untouched(&s, PT_LOG_HEADER_SIZE);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, name_and_pad);
    tcase_add_test(t, sync_and_index);
    tcase_add_test(t, pieces);
    tcase_add_test(t, rounds);
    tcase_add_test(t, ends);
    tcase_add_test(t, own_system_events);
    tcase_add_test(t, described_system_events);
    tcase_add_test(t, data);
    tcase_add_test(t, packed_records_stay);
    tcase_add_test(t, bad_records);
    tcase_add_test(t, headers);
}

int main(void)
{
    return run_suite("log", "order", NULL, add);
}
