/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs whose writer died: they are read together with the rest in its segment, and continued.  Each
 * event comes once, wherever the flush was cut off.
 */
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <sys/stat.h>
#include "log/reader/block.h"
#include "log/byteorder.h"
#include "log/reader/piece.h"
#include "log/writer/resume.h"
#include "log/writer/state.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 4u
#define EVENTS  30u

static struct maker makers[AUTHORS];

/* The chunks of a segment: one for each author, everything it ever wrote. */
static struct pt_log_packet whole[AUTHORS];
static struct pt_log_author_totals totals[AUTHORS];

static void fill_chunks(struct seen_list *wanted)
{
    uint64_t ts = 0;

    srand(5);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    for (unsigned i = 0; i < AUTHORS * EVENTS; i++) {
        ts += rand() % 20 ? (uint64_t)(rand() % 100) : 5000000000ull;
        seen_add(wanted,
                 maker_add(&makers[(unsigned)rand() % AUTHORS], ts, 8 + (uint32_t)rand() % 30));
    }
    seen_sort(wanted, 0);
    for (unsigned i = 0; i < AUTHORS; i++) {
        whole[i] = makers[i].packet;
        totals[i] = totals_of(&makers[i]);
        totals[i].lost[POSIXTRACE_LOST_FULL] = i;
    }
}

/* The part of a chunk from event number from up to to (exclusive). */
static struct pt_log_packet part_of(const struct pt_log_packet *p, uint32_t from, uint32_t to)
{
    struct pt_decoder d = { p->records, (const uint8_t *)p->records + p->bytes, p->base_ts };
    struct pt_log_packet part = *p;
    struct pt_record r;

    part.events = part.bytes = 0;
    for (uint32_t i = 0; i < p->events && i < to; i++) {
        const uint8_t *at = d.p;
        uint64_t base = d.base;

        ck_assert_int_eq(pt_decode_next(&d, &r), 1);
        if (i < from)
            continue;
        if (i == from) {
            part.records = at;
            part.chunk_off += (uint32_t)(at - (const uint8_t *)p->records);
            part.base_ts = base;
            part.first_ts = r.ts;
            part.first_no = i;
        }
        part.events++;
        part.last_ts = r.ts;
        part.bytes = (uint32_t)(d.p - (const uint8_t *)part.records);
    }
    return part;
}

static struct pt_log_tail tail_of(const struct pt_log_packet *packets, size_t n)
{
    static const char *text[PT_TEXTS][PT_ID_MAX];
    static const struct pt_sync sync = { .ns = 1000, .mult = 2ull << 32 };

    text[PT_TEXT_NAME][ID_A] = "event a";
    text[PT_TEXT_NAME][ID_B + 1] = "only in the segment";
    text[PT_TEXT_DESCRIPTION][ID_A] = "u64 number";
    text[PT_TEXT_MAPPING][1] = "o - /bin/app";
    return (struct pt_log_tail){
        .packets = packets,
        .packet_count = n,
        .syncs = &sync,
        .sync_count = 1,
        .text = { text[PT_TEXT_NAME], text[PT_TEXT_DESCRIPTION], text[PT_TEXT_MAPPING] },
        .text_end = { PT_ID_MAX, PT_ID_MAX, 2 },
        .status = { .status_running = POSIX_TRACE_RUNNING, .peak_bytes = 4711 },
        .authors = totals,
        .author_count = AUTHORS,
    };
}

/* Blocks have the same events, those that only the memory has included. */
static void check_blocks(struct pt_log_reader *r, const struct seen_list *wanted)
{
    struct pt_log_block b;
    uint64_t events = 0, sum = 0;

    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    while (pt_log_reader_next_block(r, PT_BLOCK_DATA, &b) == 1) {
        events += b.count;
        for (size_t i = 0; i < b.count; i++) {
            struct payload p;

            memcpy(&p, b.data + b.offsets[i], sizeof p);
            ck_assert_uint_eq(p.wid, b.author->wid);
            sum += (uint64_t)b.ns[i] * (p.no + 1) + b.ids[i];
        }
    }
    for (size_t i = 0; i < wanted->n; i++)
        sum -= (1000 + 2 * wanted->at[i].ts) * (wanted->at[i].no + 1) + wanted->at[i].id;
    ck_assert_uint_eq(events, wanted->n);
    ck_assert_uint_eq(sum, 0);
}

static void check_union(int fd, const struct seen_list *wanted, int end)
{
    struct pt_log_tail tail = tail_of(whole, AUTHORS);
    struct seen_list got = { 0 };
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_info info;
    struct posixtrace_thread_info t;
    uint64_t count, sum = 0;

    if (end == POSIXTRACE_END_TAIL) {
        ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
        ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_NAME, ID_B + 1), "only in the segment");
        ck_assert_str_eq(pt_log_reader_text(r, PT_TEXT_DESCRIPTION, ID_A), "u64 number");
    }
    read_all(r, &got);
    expect_same(&got, wanted, 0);
    ck_assert_int_eq(pt_log_reader_rewind(r), 0);
    got.n = 0;
    read_all(r, &got);
    expect_same(&got, wanted, 0);
    check_blocks(r, wanted);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, wanted->n);
    ck_assert_int_eq(info.end, end);
    ck_assert_uint_eq(info.peak_bytes, 4711);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_FULL], 0 + 1 + 2 + 3);
    for (unsigned i = 0; i < AUTHORS; i++) {
        ck_assert_int_eq(pt_log_reader_thread(r, i, &t), 1);
        ck_assert_uint_eq(t.recorded, makers[i].next_no);
        ck_assert_uint_eq(t.lost[POSIXTRACE_LOST_FULL], i);
    }
    ck_assert_int_eq(pt_log_reader_thread(r, AUTHORS, &t), 0);
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        ck_assert_int_eq(pt_log_reader_count(r, id, &count), 0);
        sum += count;
    }
    ck_assert_uint_eq(sum, wanted->n);
    pt_log_reader_free(r);
    free(got.at);
}

/* How many events of a chunk are older than a time. */
static uint32_t older_than(const struct pt_log_packet *p, uint64_t ts)
{
    struct pt_decoder d = { p->records, (const uint8_t *)p->records + p->bytes, p->base_ts };
    struct pt_record r;
    uint32_t n = 0;

    while (pt_decode_next(&d, &r) == 1 && r.ts < ts)
        n++;
    return n;
}

/* Two rounds, and a third one that was cut off: it has of each chunk some more
 * events, not up to the same time. */
static void write_some(int fd, int policy, const struct seen_list *wanted)
{
    struct pt_log_params params = log_params(policy, 1 << 20);
    struct pt_log_status status = { .peak_bytes = 4711 };
    struct pt_log_writer *w = log_writer(fd, &params);
    uint32_t done[AUTHORS] = { 0 };

    for (unsigned round = 0; round < 3; round++) {
        size_t cut = wanted->n * round / 4 + (size_t)rand() % (wanted->n / 4);

        for (unsigned i = 0; i < AUTHORS; i++) {
            uint32_t to = round < 2 ? older_than(&whole[i], wanted->at[cut].ts)
                                    : done[i] + (uint32_t)rand() % 10;
            struct pt_log_packet p = part_of(&whole[i], done[i], to);

            if (p.events)
                ck_assert_int_eq(pt_log_put_packet(w, &p), 0);
            done[i] += p.events;
        }
        status.watermark = wanted->at[cut].ts;
        if (round < 2)
            ck_assert_int_eq(pt_log_end_round(w, &status, totals, AUTHORS), 0);
        else
            pt_log_writer_flush(w);
    }
    pt_log_writer_free(w);
}

START_TEST(united)
{
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct stat st;
    off_t least = 4096 + 64 + 48 + 48;

    fill_chunks(&wanted);
    srand((unsigned)_i);
    write_some(fd, POSIX_TRACE_APPEND, &wanted);
    ck_assert_int_eq(fstat(fd, &st), 0);
    for (off_t size = st.st_size; size > least;
         size -= 8 * (1 + rand() % (int)(2000 / test_size(100)))) {
        struct pt_log_packet first = whole[0];

        ck_assert_int_eq(ftruncate(fd, size), 0);
        /* The peak of the last round is gone with it: the segment knows it. */
        check_union(fd, &wanted, POSIXTRACE_END_TAIL);
        whole[0] = first;
    }
    close(fd);
    free(wanted.at);
}
END_TEST

struct made {
    struct pt_log_packet packet;
    uint64_t record[2];
};

/* An event that the flush thread makes itself. */
static void make(struct made *m, uint32_t id, uint64_t ts)
{
    *m = (struct made){ .packet = { .author = { .wid = 1 },
                                    .chunk_seq = PT_LOG_MADE | ts,
                                    .chunk_off = id * 512,
                                    .events = 1,
                                    .bytes = PT_RECORD_HEAD,
                                    .base_ts = ts,
                                    .first_ts = ts,
                                    .last_ts = ts,
                                    .records = m->record } };
    pt_record_put_head(m->record, PT_RECORD_EVENT, id, 0, 0, 0);
}

/* Marks of losses that a round has written, and those that recovery makes from the present state of
 * the stream; the ends of the losses, which are the times of RESUME, too.  The last OVERFLOW may
 * lack its RESUME. */
static const struct {
    unsigned log, tail;
    uint64_t log_end, tail_end, told; /* the last one: of the newest loss in the books */
    bool overflowing;
    unsigned marks;
} made_cases[] = {
    { 0, 2, 0, 6500, 0, false, 2 },          /* the thread has taken the loss, and no more */
    { 0, 2, 0, 6500, 6500, false, 0 },       /* the checkpoint has it */
    { 0, 2, 0, 6500, 6000, false, 2 },       /* an earlier one */
    { 2, 2, 6000, 6000, 0, false, 2 },       /* cut off after the marks: they are there */
    { 2, 2, 6000, 6500, 0, false, 4 },       /* more was lost, from the same time on */
    { 1, 2, 6000, 6000, 0, false, 2 },       /* cut off between the two */
    { 1, 2, 6000, 6500, 0, false, 2 },       /* and more was lost */
    { 3, 2, 6000, 6000, 0, false, 4 },       /* after the first mark of the next gap */
    { 0, 2, 0, 6500, 6000, true, 1 },        /* OVERFLOW is in an earlier round */
    { 1, 1, 6000, UINT64_MAX, 0, false, 1 }, /* in a gap that is still open */
    { 2, 1, 6000, UINT64_MAX, 0, false, 3 }, /* that begins again */
};

static unsigned put_made_marks(struct pt_log_writer *w, struct made *m, unsigned count,
                               uint64_t end)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t id = i % 2 ? POSIX_TRACE_RESUME : POSIX_TRACE_OVERFLOW;

        make(&m[i], id, i == 0 || end == UINT64_MAX ? 5000 : end);
        m[i].packet.first_no = i;
        m[i].packet.chunk_seq = PT_LOG_MADE | end;
        m[i].packet.chunk_off = id * PT_LOG_MADE_STEP + PT_LOG_MADE_LOSS;
        if (w)
            ck_assert_int_eq(pt_log_put_packet(w, &m[i].packet), 0);
    }
    return count;
}

/* Each OVERFLOW has one RESUME, and the last one is not before the end of the newest loss.  Time
 * does not go back. */
START_TEST(made_again)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    struct pt_log_status status = { .watermark = 1000 };
    struct pt_log_packet packets[2];
    struct pt_log_tail tail = tail_of(packets, made_cases[_i].tail);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    bool open = made_cases[_i].overflowing;
    struct pt_log_reader *r;
    struct pt_event e;
    struct made m[3];
    uint64_t last = 0;
    unsigned n = 0;

    tail.author_count = 0;
    tail.lost_told = made_cases[_i].told;
    tail.overflowing = open;
    ck_assert_int_eq(pt_log_end_round(w, &status, NULL, 0), 0);
    put_made_marks(w, m, made_cases[_i].log, made_cases[_i].log_end);
    pt_log_writer_flush(w);
    pt_log_writer_free(w);
    for (unsigned i = put_made_marks(NULL, m, made_cases[_i].tail, made_cases[_i].tail_end);
         i-- > 0;)
        packets[i] = m[i].packet;
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    for (; pt_log_reader_next(r, &e) == 1; n++) {
        ck_assert_uint_ge(e.ts, last);
        ck_assert(open == (e.id == POSIX_TRACE_RESUME));
        open = !open;
        last = e.ts;
    }
    ck_assert_uint_eq(n, made_cases[_i].marks);
    ck_assert(open == (made_cases[_i].tail_end == UINT64_MAX));
    ck_assert(open || n == 0 || last == made_cases[_i].tail_end);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* The steps of a recovery: the writer continues, gets the rest, completes. */
static void recover(int fd)
{
    struct pt_log_tail tail = tail_of(whole, AUTHORS);
    struct pt_log_reader *r = log_reader(fd);
    const struct pt_log_packet *p;
    struct pt_log_writer *w;
    size_t count;

    ck_assert(!pt_log_reader_complete(r));
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    ck_assert_int_eq(pt_log_put_sync(w, &tail.syncs[0]), 0);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, ID_A, "event a"), 0);
    ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_NAME, ID_B, "event b"), 0);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    p = pt_log_reader_tail(r, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(pt_log_put_packet(w, &p[i]), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail.status, totals, AUTHORS),
                     0);
    pt_log_writer_free(w);
    pt_log_reader_free(r);
}

START_TEST(resumed)
{
    struct posixtrace_log_report report;
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct stat st;

    fill_chunks(&wanted);
    srand((unsigned)_i);
    write_some(fd, _i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, &wanted);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(ftruncate(fd, 4096 + rand() % (int)(st.st_size - 4096 + 1)), 0);
    recover(fd);
    check_union(fd, &wanted, POSIXTRACE_END_RECOVERED);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_int_eq(report.damaged, 0);
    close(fd);
    free(wanted.at);
}
END_TEST

/* A log of version 2 before there were columns: its packets are rows, or compressed rows. */
static void make_earlier(int fd)
{
    struct pt_log_header h;

    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    h.version = PT_LOG_VERSION_FEATURES;
    h.features = PT_LOG_ZSTD;
    pt_log_header_seal(&h);
    ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
}

struct watched {
    int fd;
    unsigned changes, with_columns;
};

/* Is there any packet with columns?  They all begin at multiples of 8. */
static bool has_columns(int fd)
{
    static uint64_t file[1 << 16];
    ssize_t n = pread(fd, file, sizeof file, 0);

    ck_assert_int_ge(n, PT_LOG_DATA_START);
    ck_assert_int_lt(n, sizeof file);
    for (ssize_t i = PT_LOG_DATA_START / 8; i < n / 8; i++) {
        struct pt_packet_head head = { .magic = 0 };

        memcpy(&head, &file[i], (size_t)(n - i * 8) < sizeof head ? 8 : sizeof head);
        if (pt_le32(head.magic) == PT_PACKET_MAGIC && pt_le16(head.type) == PT_PACKET_DATA &&
            (pt_le16(head.flags) & PT_DATA_COLUMNS))
            return true;
    }
    return false;
}

static int look(void *context, const struct pt_output_change *change)
{
    struct watched *watched = context;
    bool columns = has_columns(watched->fd);
    struct pt_log_header h;

    (void)change;
    ck_assert_int_eq(pread(watched->fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    ck_assert(!columns || (h.features & PT_LOG_COLUMNS));
    watched->changes++;
    watched->with_columns += columns;
    return 0;
}

/* A writer that is killed after any of its changes leaves a log whose header names the forms of its
 * packets. */
START_TEST(features_first)
{
    struct pt_log_params params = log_params(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 100000);
    struct seen_list wanted = { 0 }, got = { 0 };
    struct watched watched = { .fd = log_file() };
    struct pt_output_gate gate = { look, look, &watched };
    struct pt_log_writer *w;
    struct pt_log_reader *r;

    if (!pt_pack_available(POSIXTRACE_COMPRESSION_ZSTD))
        return;
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    params.attr.compression = POSIXTRACE_COMPRESSION_NONE;
    w = log_writer(watched.fd, &params);
    write_rounds(w, makers, AUTHORS, 5, 200, &wanted);
    pt_log_writer_free(w);
    make_earlier(watched.fd);
    ck_assert(!has_columns(watched.fd));
    r = log_reader(watched.fd);
    ck_assert_int_eq(pt_log_writer_resume(&w, watched.fd, r, &gate), 0);
    pt_log_reader_free(r);
    write_rounds(w, makers, AUTHORS, 5, 200, &wanted);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    ck_assert_uint_gt(watched.with_columns, 4);
    ck_assert_uint_gt(watched.changes, watched.with_columns);
    r = log_reader(watched.fd);
    read_all(r, &got);
    expect_same(&got, &wanted, 0);
    pt_log_reader_free(r);
    close(watched.fd);
    free(wanted.at);
    free(got.at);
}
END_TEST

/* A LOOP log continues after any number of rounds as without an interruption: the accounts of
 * dropped events stay exact. */
START_TEST(resumed_loop)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct posixtrace_info info;
    struct posixtrace_log_report report;
    struct pt_log_reader *r;
    uint64_t by_id[PT_ID_MAX] = { 0 }, count;

    srand((unsigned)_i);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    for (int k = 0; k < 8; k++) {
        write_rounds(w, makers, AUTHORS, 1 + (unsigned)rand() % 20, 60, &wanted);
        pt_log_writer_free(w);
        r = log_reader(fd);
        ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
        pt_log_reader_free(r);
    }
    for (unsigned i = 0; i < AUTHORS; i++)
        totals[i] = totals_of(&makers[i]);
    ck_assert_int_eq(
        pt_log_complete(w, POSIXTRACE_END_RECOVERED, &(struct pt_log_status){ 0 }, totals, AUTHORS),
        0);
    pt_log_writer_free(w);
    r = log_reader(fd);
    read_all(r, &got);
    for (size_t i = got.n; i-- > 0;) { /* of each author the newest */
        const struct seen *s = &got.at[i];

        ck_assert_uint_eq(s->no, --makers[s->wid - 1].next_no);
    }
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got.n);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN], wanted.n - got.n);
    for (size_t i = 0; i < got.n; i++)
        by_id[got.at[i].id]++;
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        ck_assert_int_eq(pt_log_reader_count(r, id, &count), 0);
        ck_assert_uint_eq(count, by_id[id]);
    }
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.damaged, 0);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), -EINVAL); /* complete */
    pt_log_reader_free(r);
    close(fd);
    free(wanted.at);
    free(got.at);
}
END_TEST

static off_t size_of(int fd)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    return st.st_size;
}

/* 0: the ring that the writer has made. */
static void claim_ring(int fd, uint64_t bytes)
{
    struct pt_log_header h;

    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    ck_assert_uint_ne(h.ring_bytes, 0);
    h.ring_bytes = bytes ? bytes : h.ring_bytes;
    h.meta_start = PT_LOG_DATA_START + h.ring_bytes;
    pt_log_header_seal(&h);
    ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
}

/* The file of a LOOP log ends in its ring, whose size in the header may be false: a recovery keeps
 * the contents, and makes the file little longer. */
START_TEST(cut_ring)
{
    static const uint64_t claims[] = { 0, 1ull << 32, (uint64_t)INT64_MAX / 2 & ~7ull };
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 100000);
    struct seen_list wanted = { 0 }, before = { 0 }, got = { 0 };
    struct posixtrace_log_report report;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    off_t size = PT_LOG_DATA_START;

    srand((unsigned)_i);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, 100, 60, &wanted);
    pt_log_writer_free(w);
    if (_i >= 3)
        size += rand() % (int)(size_of(fd) / 2 - PT_LOG_DATA_START);
    ck_assert_int_eq(ftruncate(fd, size), 0);
    claim_ring(fd, claims[_i % 3]);
    r = log_reader(fd);
    read_damaged(r, &before);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    ck_assert_int_le(size_of(fd), size + 100000);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.complete, 1);
    r = log_reader(fd);
    read_damaged(r, &got);
    pt_log_reader_free(r);
    /* A ROUND may have taken the place of the oldest part. */
    ck_assert_uint_ge(got.n + 400, before.n);
    ck_assert_uint_ge(before.n, got.n);
    expect_same(&got, &before, before.n - got.n);
    close(fd);
    free(wanted.at);
    free(before.at);
    free(got.at);
}
END_TEST

/* Cuts the ring there and completes the log.  No event is both readable and lost, before and
 * after. */
static void cut_and_complete(const uint8_t *bytes, off_t size)
{
    struct seen_list before = { 0 }, got = { 0 };
    struct posixtrace_info info;
    int fd = log_file();
    struct pt_log_writer *w;
    struct pt_log_reader *r;

    ck_assert_int_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    r = log_reader(fd);
    read_damaged(r, &before);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, before.n);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    r = log_reader(fd);
    read_damaged(r, &got);
    ck_assert_uint_ge(before.n, got.n);
    expect_same(&got, &before, before.n - got.n);
    free(before.at);
    free(got.at);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, got.n);
    pt_log_reader_free(r);
    close(fd);
}

/* Also where all bytes that are missing of a packet are zeros, as those are which the file gets in
 * their place. */
START_TEST(cut_in_packets)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    off_t size, all;
    uint8_t *bytes;

    srand(5);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, 20, 60, &wanted);
    ck_assert(pt_log_full(w));
    pt_log_writer_free(w);
    all = size_of(fd);
    bytes = malloc((size_t)all);
    ck_assert_int_eq(pread(fd, bytes, (size_t)all, 0), all);
    for (size = all - 7000; size < all - 5000; size += test_size(10) == 10 ? 1 : 61)
        cut_and_complete(bytes, size);
    free(bytes);
    free(wanted.at);
    close(fd);
}
END_TEST

/* The memory of a killed program, all of whose events the log was given. */
static struct pt_log_tail books_of(struct pt_log_writer *w)
{
    struct pt_log_tail tail = tail_of(NULL, 0);

    for (unsigned i = 0; i < AUTHORS; i++) {
        totals[i] = totals_of(&makers[i]);
        totals[i].logged = totals[i].logged_to = makers[i].next_no;
    }
    pt_log_books(w, &tail.booked);
    return tail;
}

static void check_books(const uint8_t *bytes, off_t size, struct pt_log_tail tail, uint64_t events)
{
    int fd = log_file();
    struct posixtrace_info info;
    struct pt_log_reader *r;

    ck_assert_int_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        info.events += info.lost[c];
    ck_assert_uint_eq(info.events, events);
    pt_log_reader_free(r);
    close(fd);
}

/* The part that is cut off may be the only one that tells which older part is not valid any more:
 * its events, which the books have as overwritten, are there again. */
START_TEST(cut_with_books)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct seen_list wanted = { 0 };
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    srand(5);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    for (unsigned round = 0; round < 40; round++) {
        struct pt_log_tail tail;
        uint8_t *bytes;
        off_t all;

        write_rounds(w, makers, AUTHORS, 1, 60, &wanted);
        tail = books_of(w);
        all = size_of(fd);
        bytes = malloc((size_t)all);
        ck_assert_int_eq(pread(fd, bytes, (size_t)all, 0), all);
        for (off_t size = PT_LOG_DATA_START; size <= all; size += 997)
            check_books(bytes, size, tail, wanted.n);
        free(bytes);
    }
    pt_log_writer_free(w);
    free(wanted.at);
    close(fd);
}
END_TEST

/* What the threads of a log have lost, together. */
static void check_threads(struct pt_log_reader *r, uint64_t all, uint64_t threads, uint64_t errors)
{
    struct posixtrace_thread_info t;
    struct posixtrace_info info;
    uint64_t sum = 0, wrong = 0;

    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        all -= info.lost[c];
    ck_assert_uint_eq(all, 0);
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_LOG_ERROR], errors);
    for (size_t i = 0; pt_log_reader_thread(r, i, &t) == 1; i++) {
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            sum += t.lost[c];
        wrong += t.lost[POSIXTRACE_LOST_LOG_ERROR];
    }
    ck_assert_uint_eq(sum, threads);
    ck_assert_uint_eq(wrong, errors < threads ? errors : threads);
}

/* A ring has lost its lists of authors.  By the books 50 of the lost events were of threads without
 * a name, and the rest of control writers; _i: so many could not be written. */
START_TEST(lost_lists)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct pt_log_tail tail = tail_of(NULL, 0);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;

    tail.author_count = 0;
    tail.given_unnamed = 50;
    tail.booked.overwritten = 80 - (uint64_t)_i;
    tail.booked.error = (uint64_t)_i;
    pt_log_writer_flush(w);
    pt_log_writer_free(w);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    check_threads(r, 80, 50, (uint64_t)_i);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail.status, NULL, 0), 0);
    pt_log_writer_free(w);
    pt_log_reader_free(r);
    r = log_reader(fd);
    check_threads(r, 80, 50, (uint64_t)_i);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

static void check_overrun(struct pt_log_reader *r, bool overrun)
{
    struct posix_trace_status_info status;

    pt_log_reader_status(r, &status);
    ck_assert_int_eq(status.posix_log_overrun_status,
                     overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN);
}

/* Threads with names have lost 80 events: _i could not be written, also some that only the dead
 * writer's buffer had.  No list says so: it could not be written either.  The others were
 * overwritten, and the log says that there are such. */
START_TEST(lost_without_lists)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct pt_log_tail tail = tail_of(NULL, 0);
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    uint64_t errors = (uint64_t)_i;
    struct pt_log_reader *r;

    for (unsigned i = 0; i < AUTHORS; i++) {
        maker_init(&makers[i], i + 1);
        totals[i] = totals_of(&makers[i]);
        totals[i].recorded = totals[i].logged = totals[i].logged_to = 80 / AUTHORS;
    }
    totals[0].recorded = totals[0].logged = totals[0].logged_to += 80 % AUTHORS;
    tail.booked.overwritten = 80 - errors;
    tail.booked.events = tail.booked.waiting = errors / 3;
    tail.booked.error = errors - errors / 3;
    pt_log_writer_flush(w);
    pt_log_writer_free(w);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    check_threads(r, 80, 80, errors);
    check_overrun(r, errors < 80);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, &tail.status, totals, AUTHORS),
                     0);
    pt_log_writer_free(w);
    pt_log_reader_free(r);
    r = log_reader(fd);
    check_threads(r, 80, 80, errors);
    check_overrun(r, errors < 80);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* As lost_lists in a later piece, which could not be written: 80 events, 30 of them of control
 * writers, beside those of the pieces before it. */
START_TEST(lost_in_piece)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 20000);
    struct pt_piece_base base = { .number = 2, .events = 90, .recorded = 100 };
    struct pt_log_tail tail = tail_of(NULL, 0);
    int fd = log_file();
    struct pt_log_writer *w;
    struct pt_log_reader *r;

    params.piece = 2;
    ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), 0);
    ck_assert_int_eq(pt_log_put_base(w, &base), 0);
    tail.author_count = 0;
    tail.given_unnamed = 50;
    tail.booked.error = 80;
    tail.booked.piece = 2;
    pt_log_writer_flush(w);
    pt_log_writer_free(w);
    r = log_reader(fd);
    ck_assert_uint_eq(pt_log_reader_base(r)->number, 2);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    check_threads(r, 80, 50, 80);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* n events that the full log does not take, and the end of the round. */
static void refuse(struct pt_log_writer *w, struct maker *m, unsigned n)
{
    struct pt_log_status status = { .status_running = POSIX_TRACE_RUNNING };
    struct pt_log_author_totals all;

    for (unsigned i = 0; i < n; i++)
        maker_add(m, 100, 8);
    ck_assert_int_eq(pt_log_put_packet(w, maker_take(m)), PT_LOG_DISCARDED);
    all = totals_of(m);
    ck_assert_int_eq(pt_log_end_round(w, &status, &all, 1), 0);
}

/* The last ROUND of a full log was replaced, and keeps its lsn: it has later losses of control
 * writers than the books.  Those of the thread, which the books do not name, stay.  _i: which of
 * the two comes first in the lists. */
START_TEST(newer_list)
{
    struct pt_log_params params = log_params(POSIX_TRACE_UNTIL_FULL, 1);
    struct pt_log_tail tail = tail_of(NULL, 0);
    struct maker *control = &makers[0], *thread = &makers[1];
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    struct pt_log_books later;

    maker_init(control, 0);
    maker_init(thread, 2);
    refuse(w, _i ? thread : control, 10);
    refuse(w, _i ? control : thread, 10);
    pt_log_books(w, &tail.booked);
    refuse(w, control, 15);
    pt_log_books(w, &later);
    ck_assert_uint_eq(later.lsn, tail.booked.lsn);
    pt_log_writer_free(w);
    tail.author_count = 0;
    tail.given_unnamed = 10;
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_reader_set_tail(r, &tail), 0);
    check_threads(r, 20, 10, 0);
    pt_log_reader_free(r);
    close(fd);
}
END_TEST

/* A recovery that was killed had made the file longer than the next one needs: nothing stays
 * after the end mark. */
START_TEST(longer_file)
{
    struct pt_log_params params = log_params(POSIX_TRACE_LOOP, 20000);
    struct seen_list wanted = { 0 };
    struct posixtrace_log_report report;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_reader *r;
    struct pt_log_header h;

    srand((unsigned)_i);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, 20, 60, &wanted);
    ck_assert(pt_log_full(w));
    pt_log_writer_free(w);
    ck_assert_int_eq(ftruncate(fd, size_of(fd) + 30000), 0);
    r = log_reader(fd);
    ck_assert_int_eq(pt_log_writer_resume(&w, fd, r, NULL), 0);
    pt_log_reader_free(r);
    if (_i)
        ck_assert_int_eq(pt_log_writer_extend(w, (uint64_t)size_of(fd) - 10000 * (2 - _i)), 0);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    ck_assert_int_eq(size_of(fd), (off_t)h.file_end);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.complete, 1);
    ck_assert_int_eq(report.damaged, 0);
    close(fd);
    free(wanted.at);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, united, 0, 10);
    tcase_add_test(t, made_again);
    tcase_add_loop_test(t, resumed, 0, 40);
    tcase_add_loop_test(t, resumed_loop, 0, 10);
    tcase_add_loop_test(t, features_first, 0, 2);
    tcase_add_test(t, cut_in_packets);
    tcase_add_loop_test(t, cut_ring, 0, 15);
    tcase_add_test(t, cut_with_books);
    tcase_add_loop_test(t, lost_lists, 0, 80);
    tcase_add_loop_test(t, lost_without_lists, 0, 81);
    tcase_add_test(t, lost_in_piece);
    tcase_add_loop_test(t, newer_list, 0, 2);
    tcase_add_loop_test(t, longer_file, 0, 3);
}

int main(void)
{
    return run_suite("log", "resume", NULL, add);
}
