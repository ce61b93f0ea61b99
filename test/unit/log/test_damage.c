/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Damaged logs: cut at every byte, every byte changed, made by hand.  They open with their
 * undamaged part or are refused; only events that were written are read.
 *
 * LOOP logs are several times longer, mostly with more of the same packets: of
 * their bytes every seventh is tried, which meets every place in a packet.  Short
 * runs (valgrind) try fewer of all.
 */
#include <posixtrace/info.h>
#include "log/byteorder.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

#define AUTHORS 3u

static struct maker makers[AUTHORS];

struct image {
    uint8_t *bytes;
    size_t size;
    struct seen_list events;  /* that reading it gives */
    struct seen_list written; /* ever */
    bool complete, loop;
};

static void image_read(struct image *image, int fd)
{
    image->size = (size_t)lseek(fd, 0, SEEK_END);
    image->bytes = malloc(image->size);
    ck_assert_int_eq(pread(fd, image->bytes, image->size, 0), (ssize_t)image->size);
}

static void image_write(const struct image *image, int fd, size_t size)
{
    ck_assert_int_eq(pwrite(fd, image->bytes, size, 0), (ssize_t)size);
    ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
}

/* A small log: which & 1 complete, which & 2 a LOOP log that has wrapped. */
static struct image make_image(int which)
{
    bool loop = (which & 2) != 0;
    struct pt_log_params params = log_params(loop ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND, 3000);
    struct pt_log_status status = { .watermark = 0 };
    struct image image = { .complete = which & 1, .loop = loop };
    struct pt_log_reader *r;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);

    srand(3);
    for (unsigned i = 0; i < AUTHORS; i++)
        maker_init(&makers[i], i + 1);
    write_rounds(w, makers, AUTHORS, loop ? 60 : 4, 12, &image.written);
    if (which & 1)
        ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, NULL, 0), 0);
    r = log_reader(fd);
    read_all(r, &image.events);
    ck_assert_uint_gt(image.events.n, 10);
    pt_log_reader_free(r);
    pt_log_writer_free(w);
    image_read(&image, fd);
    close(fd);
    return image;
}

static bool was_written(const struct image *image, const struct seen *s)
{
    for (size_t i = 0; i < image->written.n; i++) {
        const struct seen *e = &image->written.at[i];

        if (e->wid == s->wid && e->no == s->no && e->ts == s->ts && e->id == s->id)
            return true;
    }
    return false;
}

struct found {
    uint64_t bytes, count, last_offset;
};

static int finding(void *context, const struct posixtrace_log_finding *f)
{
    struct found *found = context;

    ck_assert_ptr_nonnull(f->text);
    ck_assert_uint_ge(f->offset, found->last_offset);
    found->last_offset = found->count ? found->last_offset : 0;
    found->bytes += f->bytes;
    found->count++;
    return 0;
}

/* Everything a reader can be asked.  How many events it gave, -1: refused. */
static long exercise(const struct image *image, int fd)
{
    struct posix_trace_status_info status;
    struct posixtrace_log_report report;
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    struct found found = { 0 };
    struct seen_list got = { 0 };
    struct pt_log_reader *r;
    uint64_t count, threads = 0;
    long n;
    int rc = pt_log_reader_new(&r, fd);

    if (rc) {
        ck_assert_int_eq(rc, -EINVAL);
        ck_assert_int_eq(pt_log_check(fd, finding, &found, &report), -EINVAL);
        return -1;
    }
    read_damaged(r, &got);
    for (size_t i = 0; i < got.n; i++)
        if (!was_written(image, &got.at[i]))
            ck_abort_msg("event %zu was never written", i);
    pt_log_reader_status(r, &status);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    if (image->complete && (got.n < image->events.n || !pt_log_reader_text(r, PT_TEXT_NAME, ID_A)))
        ck_assert_uint_gt(info.skipped_bytes, 0);
    while (pt_log_reader_thread(r, threads, &thread) == 1)
        threads++;
    ck_assert_uint_le(threads, AUTHORS + 1); /* and those that are not listed */
    ck_assert_int_eq(pt_log_reader_count(r, ID_A, &count), 0);
    ck_assert_int_eq(pt_log_reader_seek(r, info.first_ns + (info.last_ns - info.first_ns) / 2), 0);
    n = (long)got.n;
    got.n = 0;
    read_damaged(r, &got);
    ck_assert_int_le((long)got.n, n);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_check(fd, finding, &found, &report), 0);
    ck_assert_int_eq(report.damaged, found.count > 0);
    free(got.at);
    return n;
}

/* No event is missing before an author's first one, unless a gap says so. */
static void expect_begin(int fd)
{
    bool met[AUTHORS + 1] = { false }, gap = false, known = true;
    struct pt_log_reader *r;
    struct pt_event e;

    if (pt_log_reader_new(&r, fd) != 0)
        return;
    while (known && pt_log_reader_next_whole(r, &e, &gap) == 1) {
        struct payload p;

        known = !gap;
        if (!known || e.len < sizeof p)
            continue;
        memcpy(&p, e.data, sizeof p);
        if (!met[p.wid] && p.no != 0)
            ck_abort_msg("author %u begins with number %u", p.wid, p.no);
        met[p.wid] = true;
    }
    pt_log_reader_free(r);
}

/* (Of a LOOP log the first round may have lost authors to what came later.)  The end of a
 * log that is not complete may be missing. */
static void exercise_whole(const struct image *image, int fd)
{
    uint32_t next[AUTHORS + 1], last[AUTHORS + 1] = { 0 };
    struct pt_log_reader *r;
    struct pt_event e;
    bool gap;

    if (pt_log_reader_new(&r, fd) != 0)
        return;
    gap = read_whole(r, next, AUTHORS);
    for (size_t i = 0; i < image->written.n; i++)
        last[image->written.at[i].wid] = image->written.at[i].no + 1;
    for (unsigned i = 1; i <= AUTHORS; i++)
        if (next[i] && next[i] != last[i] && !gap && pt_log_reader_complete(r))
            ck_abort_msg("the log ends with number %u of %u", next[i], i);
    ck_assert_int_eq(pt_log_reader_next_whole(r, &e, &gap), 0);
    ck_assert(!gap);
    pt_log_reader_free(r);
}

static size_t step(int which)
{
    return (which & 2 ? 7 : 1) * (test_size(10) == 10 ? 1 : 61);
}

static void image_free(struct image *image)
{
    free(image->bytes);
    free(image->events.at);
    free(image->written.at);
}

static void expect_no_gap(const struct image *image, int fd)
{
    struct pt_log_reader *r = log_reader(fd);
    struct pt_event e;
    size_t n = 0;
    bool gap;

    for (; pt_log_reader_next_whole(r, &e, &gap) == 1; n++)
        ck_assert(!gap);
    ck_assert(!gap);
    ck_assert_uint_eq(n, image->events.n);
    pt_log_reader_free(r);
}

START_TEST(whole)
{
    struct image image = make_image(_i);
    struct posixtrace_log_report report;
    int fd = log_file();

    image_write(&image, fd, image.size);
    ck_assert_int_eq(exercise(&image, fd), (long)image.events.n);
    expect_no_gap(&image, fd);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.complete, _i & 1);
    ck_assert_int_eq(report.damaged, !(_i & 1));
    ck_assert_uint_eq(report.events, image.events.n);
    ck_assert_uint_eq(report.skipped_bytes, 0);
    ck_assert_uint_gt(report.rounds, 0);
    image_free(&image);
    close(fd);
}
END_TEST

/* Rounds that are whole in front of the cut are read entirely. */
START_TEST(cut_at_every_byte)
{
    struct image image = make_image(_i);
    long last = (long)image.events.n, most = 0;
    int fd = log_file();

    image.complete = false; /* not when it is cut */
    image_write(&image, fd, image.size);
    for (size_t size = image.size - 1; size < image.size; size -= step(_i)) {
        long n;

        ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
        n = exercise(&image, fd);
        exercise_whole(&image, fd);
        if (!image.loop)
            expect_begin(fd);
        ck_assert_int_eq(n < 0, size < PT_LOG_HEADER_SIZE);
        if (!(_i & 2) && n >= 0) /* a linear log loses from its end */
            ck_assert_int_le(n, last);
        last = n;
        most = n > most ? n : most;
    }
    ck_assert_int_gt(most, 0);
    image_free(&image);
    close(fd);
}
END_TEST

START_TEST(every_byte_changed)
{
    struct image image = make_image(_i);
    int fd = log_file();

    image_write(&image, fd, image.size);
    for (size_t at = 0; at < image.size; at += step(_i)) {
        uint8_t was, is;
        long n;

        /* After its contents the header block has unused zeros. */
        if (at >= PT_LOG_HEADER_SIZE && at < PT_LOG_DATA_START)
            at = PT_LOG_DATA_START;
        was = image.bytes[at];
        is = was ^ (at % 3 ? 0x01 : 0x80);
        ck_assert_int_eq(pwrite(fd, &is, 1, (off_t)at), 1);
        n = exercise(&image, fd);
        exercise_whole(&image, fd);
        ck_assert_int_eq(n < 0, at < PT_LOG_HEADER_SIZE);
        /* One packet is lost at most, unless it is one that others hang on. */
        if (n >= 0 && !(_i & 2))
            ck_assert_int_ge(n, (long)image.events.n - 12);
        ck_assert_int_eq(pwrite(fd, &was, 1, (off_t)at), 1);
    }
    image_free(&image);
    close(fd);
}
END_TEST

START_TEST(beginning_destroyed)
{
    static const uint8_t zeros[64];
    struct image image = make_image(1);
    int fd = log_file();

    image_write(&image, fd, image.size);
    for (size_t at = PT_LOG_DATA_START; at < image.size - sizeof zeros; at += sizeof zeros) {
        ck_assert_int_eq(pwrite(fd, zeros, sizeof zeros, (off_t)at), (ssize_t)sizeof zeros);
        exercise(&image, fd);
        expect_begin(fd);
    }
    image_free(&image);
    close(fd);
}
END_TEST

START_TEST(not_a_log)
{
    static const char *const texts[] = { "", "x", "PXTLOG\r\n", "PXTLOG\n and more" };
    struct pt_log_reader *r;
    int fd = log_file(), fds[2];

    ck_assert_int_eq(write(fd, texts[_i], strlen(texts[_i])), (ssize_t)strlen(texts[_i]));
    ck_assert_int_eq(pt_log_reader_new(&r, fd), -EINVAL);
    ck_assert_int_eq(ftruncate(fd, 100000), 0);
    ck_assert_int_eq(pt_log_reader_new(&r, fd), -EINVAL);
    close(fd);
    ck_assert_int_eq(pt_log_reader_new(&r, fd), -EBADF);
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], texts[_i], strlen(texts[_i])), (ssize_t)strlen(texts[_i]));
    close(fds[1]);
    ck_assert_int_eq(pt_log_reader_new(&r, fds[0]), -EINVAL);
    close(fds[0]);
}
END_TEST

/* A packet of another log, or of this one traced as data, is not found when
 * the packet around it is damaged. */
START_TEST(packet_inside_data)
{
    struct image other = make_image(0);
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1);
    struct maker *m = &makers[0];
    struct pt_log_packet *p;
    struct seen_list got = { 0 };
    struct pt_log_writer *w;
    struct pt_log_reader *r;
    int fd = log_file();
    off_t end;

    params.id[0] ^= 1;
    params.attr.compression = 0; /* the data must stay to be seen */
    w = log_writer(fd, &params);
    maker_init(m, 1);
    maker_add(m, 5, 4000);
    memcpy(m->records + PT_RECORD_HEAD + 8, other.bytes + PT_LOG_DATA_START, 3900);
    p = maker_take(m);
    ck_assert_int_eq(pt_log_put_packet(w, p), 0);
    ck_assert_int_eq(pt_log_end_round(w, &(struct pt_log_status){ 0 }, NULL, 0), 0);
    pt_log_writer_free(w);
    end = lseek(fd, 0, SEEK_END);
    for (off_t at = PT_LOG_DATA_START; at < PT_LOG_DATA_START + 400; at++)
        ck_assert_int_eq(pwrite(fd, "?", 1, at), 1);
    r = log_reader(fd);
    read_all(r, &got);
    ck_assert_uint_eq(got.n, 0);
    pt_log_reader_free(r);
    ck_assert_int_gt(end, PT_LOG_DATA_START + 4000);
    image_free(&other);
    free(got.at);
    close(fd);
}
END_TEST

/* Bytes that look like heads of huge packets everywhere: opening must not take
 * time that grows with their lengths. */
START_TEST(pretended_packets)
{
    struct image image = make_image(0);
    struct pt_packet_head pretended = { .magic = pt_le32(PT_PACKET_MAGIC),
                                        .type = pt_le16(PT_PACKET_END),
                                        .bytes = pt_le32(4u << 20),
                                        .lsn = 1 };
    size_t size = 6u << 20;
    int fd = log_file();

    image.bytes = realloc(image.bytes, size);
    for (size_t at = PT_LOG_DATA_START; at + sizeof pretended <= size; at += sizeof pretended)
        memcpy(image.bytes + at, &pretended, sizeof pretended);
    image_write(&image, fd, size);
    ck_assert_int_eq(exercise(&image, fd), 0);
    image_free(&image);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, whole, 0, 4);
    tcase_add_loop_test(t, cut_at_every_byte, 0, 4);
    tcase_add_loop_test(t, every_byte_changed, 0, 4);
    tcase_add_test(t, beginning_destroyed);
    tcase_add_loop_test(t, not_a_log, 0, 4);
    tcase_add_test(t, packet_inside_data);
    tcase_add_test(t, pretended_packets);
}

int main(void)
{
    return run_suite("log", "damage", NULL, add);
}
