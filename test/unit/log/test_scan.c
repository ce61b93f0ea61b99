/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The quick walk over records against the plain one, on records made at random;
 * and packets that the caller has counted against those that the writer counts:
 * the logs must be the same to the byte.
 */
#include "log/scan.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AREA 8192u

struct area {
    _Alignas(8) uint8_t bytes[AREA];
    uint32_t length;
    uint64_t base;
};

static void put(struct area *a, uint32_t kind, uint32_t id, uint32_t len, uint32_t delta,
                uint64_t second)
{
    uint32_t size = pt_record_size(len);

    if (a->length + size > AREA)
        return;
    pt_record_put_head(a->bytes + a->length, kind, id, len, delta, second);
    memset(a->bytes + a->length + PT_RECORD_HEAD, rand(), size - PT_RECORD_HEAD);
    a->length += size;
}

/* Mostly long rows of the same event, as programs trace them. */
static void fill(struct area *a)
{
    uint32_t delta = 0, id = ID_A, len = 8;

    a->length = 0;
    a->base = 1000000;
    for (unsigned i = 0, n = (unsigned)rand() % 300; i < n; i++) {
        if (rand() % 16 == 0) {
            id = 1 + (uint32_t)rand() % (PT_ID_MAX - 1);
            len = (uint32_t)rand() % 50;
        }
        if (rand() % 100 == 0)
            id |= PT_RECORD_TRUNCATED;
        delta += (uint32_t)rand() % 100;
        put(a, PT_RECORD_EVENT, id, len, rand() % 50 ? delta : delta / 2, (uint64_t)rand());
        switch (rand() % 200) {
        case 0: put(a, PT_RECORD_TIME, 0, 0, 0, a->base + delta); break;
        case 1: put(a, PT_RECORD_AUTHOR, 0, sizeof(struct pt_record_author), 0, 0); break;
        case 2: put(a, PT_RECORD_EVENT, rand() % 2 ? 0 : PT_ID_MAX, 8, delta, 0); break;
        case 3: put(a, 3 + (uint32_t)rand() % 13, ID_B, 8, delta, 0); break;
        default: break;
        }
    }
    /* Some end in the middle of a record. */
    if (a->length && rand() % 4 == 0)
        a->length -= (uint32_t)rand() % (a->length < 24 ? a->length : 24) & ~7u;
}

/* What pt_scan_events says of itself, in the plain way. */
static void plain_walk(struct pt_record_scan *s, uint64_t low, uint64_t high,
                       struct pt_types *types)
{
    struct pt_decoder d = s->at;
    struct pt_record r;

    while (pt_decode_next(&d, &r) == 1 && d.base == s->at.base &&
           d.p - s->at.p == (ptrdiff_t)pt_record_size(r.len) && r.kind == PT_RECORD_EVENT &&
           r.id > 0 && r.id < PT_ID_MAX && r.ts > low && r.ts < high) {
        pt_types_add(types, r.id, 1);
        if (r.ts > s->last_ts)
            s->last_ts = r.ts;
        s->events++;
        s->at = d;
    }
}

static void compare(const struct area *a, uint64_t low, uint64_t high)
{
    static struct pt_types quick_types, plain_types;
    struct pt_record_scan quick = { .at = { a->bytes, a->bytes + a->length, a->base } },
                          plain = quick;

    pt_types_clear(&quick_types);
    pt_types_clear(&plain_types);
    pt_scan_events(&quick, low, high, &quick_types);
    plain_walk(&plain, low, high, &plain_types);
    ck_assert_uint_eq(quick.events, plain.events);
    ck_assert_uint_eq(quick.last_ts, plain.last_ts);
    ck_assert_ptr_eq(quick.at.p, plain.at.p);
    ck_assert_uint_eq(quick.at.base, plain.at.base);
    ck_assert_uint_eq(quick_types.used_count, plain_types.used_count);
    ck_assert_mem_eq(quick_types.count, plain_types.count, sizeof plain_types.count);
}

START_TEST(quick_and_plain_walk_agree)
{
    static struct area a;
    unsigned long taken = 0;

    srand(7);
    for (unsigned i = 0; i < test_size(3000); i++) {
        uint64_t low, high;

        fill(&a);
        low = a.base + (uint64_t)rand() % 200 - 150;
        high = low + (uint64_t)rand() % 20000;
        compare(&a, low, high);
        compare(&a, a.base - 1, a.base + 1);
        compare(&a, high, low);
        compare(&a, 0, UINT64_MAX);
        taken += a.length;
    }
    ck_assert_uint_gt(taken, 0);
    /* Bases at which sums run over. */
    a.base = UINT64_MAX - 50;
    compare(&a, 0, UINT64_MAX);
    compare(&a, UINT64_MAX - 40, UINT64_MAX);
    compare(&a, 3, 90);
}
END_TEST

/* The packet with its events counted, as the flush thread gives it. */
static void count(struct pt_log_packet *p, struct pt_type_count *pairs)
{
    static struct pt_types types;
    struct pt_decoder d = { p->records, (const uint8_t *)p->records + p->bytes, p->base_ts };
    struct pt_record r;

    pt_types_clear(&types);
    while (pt_decode_next(&d, &r) == 1)
        pt_types_add(&types, r.id, 1);
    for (uint32_t i = 0; i < types.used_count; i++)
        pairs[i] = (struct pt_type_count){ types.used[i], types.count[types.used[i]] };
    p->types = pairs;
    p->type_count = types.used_count;
}

static int write_log(const struct pt_log_params *params, bool counted)
{
    static struct maker makers[3];
    struct pt_type_count pairs[8];
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, params);
    struct pt_log_status status = { 0 };
    struct pt_log_author_totals totals[3];
    uint64_t ts = 1000;

    srand(11);
    for (uint32_t m = 0; m < 3; m++)
        maker_init(&makers[m], 2 + m);
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned m = 0; m < 3; m++) {
            struct pt_log_packet *p;

            for (unsigned i = 0, n = 1 + (unsigned)rand() % 200; i < n; i++)
                maker_add(&makers[m], ts++, 8 + (uint32_t)rand() % 40);
            p = maker_take(&makers[m]);
            if (counted)
                count(p, pairs);
            ck_assert_int_ge(pt_log_put_packet(w, p), 0);
            totals[m] = totals_of(&makers[m]);
        }
        status.watermark = ts;
        ck_assert_int_eq(pt_log_end_round(w, &status, totals, 3), 0);
    }
    ck_assert_int_eq(pt_log_complete(w, 1, &status, totals, 3), 0);
    pt_log_writer_free(w);
    return fd;
}

static uint8_t *contents(int fd, off_t *size)
{
    uint8_t *bytes;

    *size = lseek(fd, 0, SEEK_END);
    bytes = malloc((size_t)*size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(pread(fd, bytes, (size_t)*size, 0), *size);
    close(fd);
    return bytes;
}

START_TEST(counted_packets_make_the_same_log)
{
    static const struct {
        int policy;
        uint64_t size;
    } logs[] = {
        { POSIX_TRACE_APPEND, 1 << 20 },     { POSIX_TRACE_LOOP, 40000 },
        { POSIX_TRACE_LOOP, 9000 },          { POSIX_TRACE_UNTIL_FULL, 30000 },
        { POSIX_TRACE_UNTIL_FULL, 1 << 20 },
    };
    struct pt_log_params params = log_params(logs[_i].policy, logs[_i].size);
    off_t size, size2;
    uint8_t *by_writer = contents(write_log(&params, false), &size);
    uint8_t *by_caller = contents(write_log(&params, true), &size2);

    ck_assert_int_eq(size, size2);
    ck_assert_int_gt(size, 8192);
    ck_assert_mem_eq(by_writer, by_caller, (size_t)size);
    free(by_writer);
    free(by_caller);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, quick_and_plain_walk_agree);
    tcase_add_loop_test(t, counted_packets_make_the_same_log, 0, 5);
}

int main(void)
{
    return run_suite("log", "scan", NULL, add);
}
