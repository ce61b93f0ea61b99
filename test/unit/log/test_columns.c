/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Records by column: random records of many shapes come back bit for bit, the usual ones take few
 * bytes, and input that is cut or changed is refused or gives records of the right length.
 */
#include "log/columns.h"

#include <posixtrace/attr.h>
#include <stdlib.h>

#include "base/crc.h"
#include "log/byteorder.h"
#include "log/pack.h"
#include "shm/record.h"
#include "log_helpers.h"
#include "support/same_events.h"
#include "support/run_suite.h"

enum { ROOM = 1 << 17 };

static uint8_t rows[ROOM], packed[ROOM], back[ROOM];
static struct pt_columns writing, reading;
static unsigned as_cells;

static uint32_t number(uint32_t below)
{
    return (uint32_t)rand() % below;
}

/* Appends a record, whose padding is 0. */
static uint32_t put(uint32_t at, uint32_t kind, uint32_t id, uint32_t length, uint32_t ticks,
                    uint64_t address, const void *data)
{
    uint32_t words[4] = { pt_le32(id | kind << 12 | length << 16), pt_le32(ticks),
                          pt_le32((uint32_t)address), pt_le32((uint32_t)(address >> 32)) };

    memset(rows + at, 0, pt_record_size(length));
    memcpy(rows + at, words, sizeof words);
    if (length)
        memcpy(rows + at + PT_RECORD_HEAD, data, length);
    return at + pt_record_size(length);
}

/* How long; 0: they stay rows. */
static uint32_t there_and_back(uint32_t bytes)
{
    uint32_t n = pt_columns_write(&writing, rows, bytes, packed, ROOM);
    bool suited;

    if (!n)
        return 0;
    memset(back, 0xa5, sizeof back);
    ck_assert_int_eq(pt_columns_read(&reading, packed, n, back, bytes), 0);
    if (memcmp(rows, back, bytes) != 0)
        ck_abort_msg("records of %u bytes came back otherwise", bytes);
    if (!same_events(&reading, packed, n, rows, bytes, &suited))
        ck_abort_msg("records of %u bytes gave other events as cells", bytes);
    as_cells += suited;
    return n;
}

/* Data of a type: numbers that count, repeat, jump or are noise, or a text. */
static uint32_t make_data(uint32_t type, uint32_t i, uint8_t *data)
{
    static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 64, 131, 200 };
    uint32_t length = lengths[type % (sizeof lengths / sizeof lengths[0])];

    if (type % 3 == 0)
        length = number(length + 1);
    for (uint32_t k = 0; k < length; k++)
        switch ((type + k / 4) % 5) {
        case 0: data[k] = (uint8_t)(i >> 8 * (k % 4)); break;
        case 1: data[k] = 7; break;
        case 2: data[k] = (uint8_t)(number(50) ? 3 : rand()); break;
        case 3: data[k] = (uint8_t)rand(); break;
        default: data[k] = (uint8_t)((i * 1000 - 5) >> 8 * (k % 4)); break;
        }
    return length;
}

static uint32_t make_records(unsigned types, unsigned count)
{
    uint32_t at = 0, ticks = number(1000);
    uint8_t data[256];

    for (unsigned i = 0; i < count && at < ROOM - 400; i++) {
        uint32_t type = number(types), length = make_data(type, i, data);

        ticks += number(100) ? number(300) : number(1u << 30);
        at = put(at, PT_RECORD_EVENT, (193 + type) | (number(90) ? 0 : PT_RECORD_TRUNCATED), length,
                 ticks, 0x401000 + (type % 7 ? type : number(4)) * 0x1000010ull, data);
        if (number(200) == 0)
            at = put(at, PT_RECORD_TIME, 0, 0, 0, (uint64_t)rand() << 20, NULL);
    }
    return at;
}

START_TEST(all_shapes)
{
    static const unsigned counts[] = { 1, 2, 3, 5, 17, 64, 65, 300, 2000, 8000 };
    unsigned shorter = 0;

    srand((unsigned)_i + 1);
    for (unsigned k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        uint32_t bytes = make_records(1 + number(30), counts[k]);
        uint32_t n = there_and_back(bytes);

        ck_assert_uint_gt(n, 0);
        shorter += n < bytes;
    }
    ck_assert_uint_gt(shorter, 3);
    ck_assert(as_cells > 0 || PT_FOREIGN_ORDER); /* see cells.h */
}
END_TEST

START_TEST(counters_take_a_byte_of_time)
{
    uint32_t at = 0, ticks = 0, events = 0, n;

    srand(3);
    for (uint64_t i = 0; at < 65000; i++, events++) {
        at = put(at, PT_RECORD_EVENT, 200, 8, ticks, 0x401234, &(uint64_t){ i << 8 });
        ticks += 30 + number(200);
    }
    n = there_and_back(at);
    ck_assert_uint_le(n, events + events / 50 + 200);
}
END_TEST

/* Records by arithmetic alone, which give the same columns in each release: of seven types, one of
 * them of several lengths, with values that stand still, count, wander and jump. */
static uint32_t make_the_same(uint32_t seed)
{
    uint32_t at = 0, x = seed, ticks = 0;

    while (at < 60000) {
        uint32_t type = (x = x * 1664525 + 1013904223) >> 29, i;
        uint32_t data[8] = { 7, at, x >> 20, x >> 9, ticks / 64, x % 61 ? 3 : x, at * 9, type };

        for (i = 0; i < 8; i++)
            data[i] = pt_le32(data[i]);
        i = type % 7;
        ticks += x >> 27 ? x >> 24 : x;
        at = put(at, PT_RECORD_EVENT, 200 + i, i == 3 ? x >> 8 & 31 : 4 * i + (i == 5), ticks,
                 0x401000 + (i == 2 ? x >> 30 : i) * 16, data);
    }
    return at;
}

START_TEST(the_same_bytes)
{
    static const uint32_t sums[] = { 0xe87d5df9, 0x67a56578, 0x8b81c34c };

    for (uint32_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        uint32_t n = there_and_back(make_the_same(i + 1));

        ck_assert_uint_eq(pt_crc32c(n, packed, n), sums[i]);
    }
}
END_TEST

/* More than PT_COLUMNS_CLASSES types; records that no log has; one that is cut. */
START_TEST(what_stays_rows)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i <= PT_COLUMNS_CLASSES; i++)
        at = put(at, PT_RECORD_EVENT, 193 + i, 0, i, 0, NULL);
    ck_assert_uint_eq(there_and_back(at), 0);
    ck_assert_uint_gt(there_and_back(at - PT_RECORD_HEAD), 0);
    ck_assert_uint_eq(there_and_back(at - PT_RECORD_HEAD - 8), 0);
    ck_assert_uint_eq(there_and_back(0), 0);
    at = put(0, PT_RECORD_AUTHOR, 0, 0, 0, 0, NULL);
    ck_assert_uint_eq(there_and_back(at), 0);
    at = put(0, PT_RECORD_EVENT, 193, 8, 0, 0, "12345678");
    ck_assert_uint_eq(there_and_back(at - 8), 0);
}
END_TEST

/* Room for less than the columns: nothing is written past it. */
START_TEST(every_room)
{
    uint32_t bytes, n;

    srand(11);
    bytes = make_records(9, 60);
    n = there_and_back(bytes);
    for (uint32_t room = 0; room < n; room++) {
        memset(packed, 0x5a, sizeof packed);
        ck_assert_uint_eq(pt_columns_write(&writing, rows, bytes, packed, room), 0);
        for (uint32_t i = room; i < n + 100; i++)
            ck_assert_uint_eq(packed[i], 0x5a);
    }
    ck_assert_uint_eq(pt_columns_write(&writing, rows, bytes, packed, n), n);
}
END_TEST

/* A copy that ends where its memory does, so that checkers see a read past it. */
static int read_copy(const uint8_t *from, uint32_t size, uint32_t bytes)
{
    uint8_t *copy = malloc(size ? size : 1), *to = malloc(bytes ? bytes : 1);
    int error;

    ck_assert(copy && to);
    memcpy(copy, from, size);
    error = pt_columns_read(&reading, copy, size, to, bytes);
    free(copy);
    free(to);
    return error;
}

START_TEST(cut_and_changed)
{
    static uint8_t good[ROOM];
    uint32_t bytes, n;

    srand(5);
    bytes = make_records(12, 80);
    n = there_and_back(bytes);
    memcpy(good, packed, n);
    for (uint32_t size = 0; size < n; size++)
        ck_assert_int_eq(read_copy(good, size, bytes), -EBADMSG);
    ck_assert_int_eq(read_copy(good, n, bytes - 8), -EBADMSG);
    ck_assert_int_eq(read_copy(good, n, bytes + 8), -EBADMSG);
    ck_assert_int_eq(read_copy(good, n, 0), -EBADMSG);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            int error;

            good[i] ^= (uint8_t)(1u << bit);
            error = read_copy(good, n, bytes);
            ck_assert(error == 0 || error == -EBADMSG);
            good[i] ^= (uint8_t)(1u << bit);
        }
    ck_assert_int_eq(read_copy(good, n, bytes), 0);
}
END_TEST

/* Each form of a packet, and forms that it has not. */
START_TEST(forms)
{
    struct pt_packer packer = { .buffer = NULL };
    struct pt_unpacker unpacker = { .buffer = NULL };
    const void *at;
    unsigned flags;
    uint32_t bytes, n;

    srand(8);
    bytes = make_records(4, 1000);
    n = pt_pack(&packer, POSIXTRACE_COMPRESSION_COLUMNS, rows, bytes, &at, &flags);
    ck_assert_uint_eq(flags, PT_DATA_COLUMNS);
    ck_assert_int_eq(pt_unpack(&unpacker, flags, bytes, at, n), 0);
    ck_assert_mem_eq(unpacker.buffer, rows, bytes);
    ck_assert_int_lt(pt_unpack(&unpacker, PT_DATA_PACKED, bytes, at, n), 0);
    ck_assert_int_lt(pt_unpack(&unpacker, flags | PT_DATA_PACKED, bytes, at, n), 0);
    ck_assert_int_eq(pt_unpack(&unpacker, flags, 0, at, n), -EBADMSG);
    if (pt_compress_available()) {
        n = pt_pack(&packer, POSIXTRACE_COMPRESSION_ZSTD, rows, bytes, &at, &flags);
        ck_assert_uint_eq(flags, PT_DATA_COLUMNS | PT_DATA_PACKED);
        ck_assert_int_eq(pt_unpack(&unpacker, flags, bytes, at, n), 0);
        ck_assert_mem_eq(unpacker.buffer, rows, bytes);
        ck_assert_int_lt(pt_unpack(&unpacker, PT_DATA_PACKED, bytes, at, n), 0);
        ck_assert_int_lt(pt_unpack(&unpacker, PT_DATA_COLUMNS, bytes, at, n), 0);
    }
    pt_packer_deinit(&packer);
    pt_unpacker_deinit(&unpacker);
}
END_TEST

static void end(void)
{
    pt_columns_deinit(&writing);
    pt_columns_deinit(&reading);
}

static void add(TCase *t)
{
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, NULL, end);
    tcase_add_loop_test(t, all_shapes, 0, 40);
    tcase_add_test(t, counters_take_a_byte_of_time);
    tcase_add_test(t, the_same_bytes);
    tcase_add_test(t, what_stays_rows);
    tcase_add_test(t, every_room);
    tcase_add_test(t, cut_and_changed);
    tcase_add_test(t, forms);
}

int main(void)
{
    return run_suite("log", "columns", NULL, add);
}
