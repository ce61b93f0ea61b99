/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs read by blocks: the same events as read one by one, of each writer in the same order, and
 * merged by round in the same order of all; also where the log is cut, damaged or a LOOP log, after
 * seeks, and where calls for blocks and for single events are mixed.
 */
#include "log/reader/block.h"

#include "log/reader/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 5u

static struct maker makers[AUTHORS];

struct blocks {
    struct seen_list events;
    uint64_t round;
    size_t round_from; /* its first event in the list */
    bool ordered;      /* the events of each round are sorted */
    uint64_t next_no[AUTHORS + 1];
    unsigned count, gaps, jumps;
};

static struct seen event_of(const struct pt_log_block *b, size_t i)
{
    struct payload p = { 0, 0 };
    const uint8_t *data = b->data + b->offsets[i];

    if (b->lengths[i] < sizeof p) /* the STOP of a full log */
        return (struct seen){ .id = b->ids[i] };
    memcpy(&p, data, sizeof p);
    if (p.wid != b->author->wid || p.no != b->first_no + i || b->truncated[i] ||
        b->addresses[i] != 0x400000u + p.no)
        ck_abort_msg("event %zu of a block is writer %u number %u", i, p.wid, p.no);
    for (uint32_t k = sizeof p; k < b->lengths[i]; k++)
        if (data[k] != (p.no & 255))
            ck_abort_msg("byte %u of number %u of writer %u is %u", k, p.no, p.wid, data[k]);
    return (struct seen){ .wid = p.wid, .no = p.no, .id = b->ids[i] };
}

static void end_round(struct blocks *k)
{
    if (k->ordered)
        seen_sort(&k->events, k->round_from);
    k->round_from = k->events.n;
}

static void take_block(struct blocks *k, const struct pt_log_block *b)
{
    uint64_t *next = b->author->wid <= AUTHORS ? &k->next_no[b->author->wid] : NULL;

    ck_assert_uint_gt(b->count, 0);
    ck_assert_uint_ge(b->round, k->round);
    if (b->round != k->round)
        end_round(k);
    k->round = b->round;
    k->gaps += b->gap;
    k->jumps += next && *next != b->first_no;
    for (size_t i = 0; i < b->count; i++) {
        struct seen s = event_of(b, i);

        s.ts = (uint64_t)b->ns[i];
        seen_add(&k->events, s);
    }
    if (next)
        *next = b->first_no + b->count;
    k->count++;
}

static void read_blocks(struct pt_log_reader *r, struct blocks *k)
{
    struct pt_log_block b;
    int rc;

    while ((rc = pt_log_reader_next_block(r, PT_BLOCK_DATA | PT_BLOCK_LENGTHS | PT_BLOCK_ADDRESSES,
                                          &b)) == 1)
        take_block(k, &b);
    ck_assert_int_eq(rc, 0);
    k->gaps += b.gap;
    end_round(k);
}

/* Times as ns, as blocks have them. */
static void read_singly(struct pt_log_reader *r, struct seen_list *list)
{
    struct pt_event e;
    int rc;

    while ((rc = pt_log_reader_next(r, &e)) == 1) {
        struct payload p = { 0, 0 };

        if (e.len >= sizeof p)
            memcpy(&p, e.data, sizeof p);
        seen_add(list, (struct seen){ (uint64_t)e.ns, p.wid, p.no, e.id });
    }
    ck_assert_int_eq(rc, 0);
}

static int by_writer(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->wid != y->wid)
        return x->wid < y->wid ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

/* The same events in both, in whatever order. */
static void expect_equal(struct seen_list *a, struct seen_list *b)
{
    if (a->n)
        qsort(a->at, a->n, sizeof *a->at, by_writer);
    if (b->n)
        qsort(b->at, b->n, sizeof *b->at, by_writer);
    expect_same(a, b, 0);
}

/* which & 1: completed; which & 2: a LOOP log. */
static int make_log(unsigned which, unsigned rounds, unsigned events)
{
    bool loop = (which & 2) != 0;
    struct pt_log_params params = log_params(loop ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 30000);
    struct pt_log_status status = { .watermark = 0 };
    struct seen_list wanted = { .at = NULL };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, rounds, events, &wanted);
    if (which & 1)
        ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), 0);
    pt_log_writer_free(w);
    free(wanted.at);
    return fd;
}

/* Only ns and ids: the same number and the same sums. */
static void compare_times(struct pt_log_reader *r, const struct seen_list *wanted)
{
    uint64_t ns = 0, ids = 0, n = 0;
    struct pt_log_block b;

    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    while (pt_log_reader_next_block(r, 0, &b) == 1) {
        ck_assert(!b.data && !b.offsets && !b.lengths && !b.addresses && !b.truncated);
        for (size_t i = 0; i < b.count; i++) {
            ns += (uint64_t)b.ns[i];
            ids += b.ids[i];
        }
        n += b.count;
    }
    for (size_t i = 0; i < wanted->n; i++) {
        ns -= wanted->at[i].ts;
        ids -= wanted->at[i].id;
    }
    ck_assert_uint_eq(n, wanted->n);
    ck_assert(ns == 0 && ids == 0);
}

/* The last comparison of a test that read the log in both ways, and the end of what it holds. */
static void close_compared(struct pt_log_reader *r, int fd, struct seen_list *singly,
                           struct blocks *k)
{
    compare_times(r, singly);
    pt_log_reader_free(r);
    free(singly->at);
    free(k->events.at);
    close(fd);
}

START_TEST(all_events_in_order)
{
    unsigned which = (unsigned)_i;
    struct seen_list singly = { .at = NULL };
    struct blocks k = { .ordered = true };
    struct pt_log_reader *r;
    int fd;

    srand(5);
    fd = make_log(which, which & 2 ? 30 : 6, test_size(3000));
    r = log_reader(fd);
    read_singly(r, &singly);
    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    read_blocks(r, &k);
    expect_same(&k.events, &singly, 0);
    ck_assert_uint_lt(k.count, singly.n / 10);
    ck_assert_uint_eq(k.gaps, 0);
    if (!(which & 2))
        ck_assert_uint_eq(k.jumps, 0);
    close_compared(r, fd, &singly, &k);
}
END_TEST

/* Bytes that change and a file that ends early: both ways read the same. */
START_TEST(damaged)
{
    unsigned which = (unsigned)_i % 4, told = 0;

    srand(7u + (unsigned)_i);
    for (unsigned n = 0; n < 20; n++) {
        struct seen_list singly = { .at = NULL };
        struct blocks k = { .ordered = false };
        int fd = make_log(which, which & 2 ? 12 : 5, 400);
        off_t size = lseek(fd, 0, SEEK_END);
        struct pt_log_reader *r;

        for (unsigned j = 0; j < 1 + n / 4; j++) {
            off_t at = PT_LOG_DATA_START + rand() % (size - PT_LOG_DATA_START);

            ck_assert_int_eq(pwrite(fd, "\x5a", 1, at), 1);
        }
        if (n % 5 == 4)
            ck_assert_int_eq(ftruncate(fd, size - rand() % (size / 2)), 0);
        r = log_reader(fd);
        read_singly(r, &singly);
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
        read_blocks(r, &k);
        told += k.gaps > 0;
        expect_equal(&k.events, &singly);
        pt_log_reader_free(r);
        free(singly.at);
        free(k.events.at);
        close(fd);
    }
    ck_assert_uint_gt(told, 5);
}
END_TEST

/* Blocks and single events in turn: each event once. */
START_TEST(mixed)
{
    struct seen_list singly = { .at = NULL };
    struct blocks k = { .ordered = false };
    struct pt_log_reader *r;
    int fd, rc = 1;

    srand(20u + (unsigned)_i);
    fd = make_log(1, 5, 2000);
    r = log_reader(fd);
    read_singly(r, &singly);
    for (unsigned n = 0; n < 30; n++, rc = 1) {
        ck_assert_int_eq(pt_log_reader_rewind(r), 0);
        k.events.n = 0;
        k.round = 0;
        while (rc == 1) {
            struct pt_log_block b;
            struct pt_event e;
            unsigned most = (unsigned)rand() % 300 + 1;

            if (rand() % 3) {
                rc = pt_log_reader_next_block(r, PT_BLOCK_DATA | PT_BLOCK_ADDRESSES, &b);
                if (rc == 1)
                    take_block(&k, &b);
                continue;
            }
            for (unsigned i = 0; i < most && (rc = pt_log_reader_next(r, &e)) == 1; i++) {
                struct payload p;

                memcpy(&p, e.data, sizeof p);
                seen_add(&k.events, (struct seen){ (uint64_t)e.ns, p.wid, p.no, e.id });
            }
        }
        expect_equal(&k.events, &singly);
    }
    pt_log_reader_free(r);
    free(singly.at);
    free(k.events.at);
    close(fd);
}
END_TEST

START_TEST(after_a_seek)
{
    struct seen_list all = { .at = NULL }, singly = { .at = NULL };
    struct blocks k = { .ordered = true };
    struct pt_log_reader *r;
    int fd;

    srand(40);
    fd = make_log((unsigned)_i, 20, 500);
    r = log_reader(fd);
    read_singly(r, &all);
    for (unsigned n = 0; n < 50; n++) {
        int64_t ns = (int64_t)all.at[(size_t)rand() % all.n].ts + rand() % 3 - 1;

        singly.n = k.events.n = k.round_from = 0;
        ck_assert_int_eq(pt_log_reader_seek(r, ns), 0);
        read_singly(r, &singly);
        ck_assert_int_eq(pt_log_reader_seek(r, ns), 0);
        read_blocks(r, &k);
        expect_same(&k.events, &singly, 0);
    }
    pt_log_reader_free(r);
    free(all.at);
    free(singly.at);
    free(k.events.at);
    close(fd);
}
END_TEST

/* A reader that may hold little unpacks packets in pieces, each a block. */
START_TEST(pieces)
{
    struct seen_list singly = { .at = NULL };
    struct blocks k = { .ordered = true };
    struct pt_log_reader *r;
    int fd;

    srand(60);
    fd = make_log(1, 3, 3000);
    r = log_reader(fd);
    read_singly(r, &singly);
    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    r->most_unpacked = 16384;
    read_blocks(r, &k);
    expect_same(&k.events, &singly, 0);
    ck_assert_uint_eq(k.jumps, 0);
    close_compared(r, fd, &singly, &k);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, all_events_in_order, 0, 4);
    tcase_add_loop_test(t, damaged, 0, 8);
    tcase_add_loop_test(t, mixed, 0, 3);
    tcase_add_loop_test(t, after_a_seek, 0, 4);
    tcase_add_test(t, pieces);
}

int main(void)
{
    return run_suite("log", "block", NULL, add);
}
