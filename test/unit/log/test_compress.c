/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Compressed packets: they decompress to the same bytes, damaged ones are refused, a log that needs
 * a feature which this build does not have reports it, and the events of a counter take little
 * room.  The other tests of logs run a second time with such logs.
 */
#include <posixtrace/attr.h>
#include <posixtrace/log.h>
#include "log/byteorder.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/run_suite.h"

static struct pt_log_params packed_params(void)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);

    params.attr.compression = POSIXTRACE_COMPRESSION_ZSTD;
    return params;
}

START_TEST(what_goes_in_comes_out)
{
    static uint8_t bytes[PT_PACKET_DATA_MAX];
    struct pt_compressor packer = { .context = NULL };
    struct pt_decompressor unpacker = { .context = NULL };

    srand(3);
    for (uint32_t size = 1000; size <= sizeof bytes; size = size * 2 + 8) {
        const void *packed;
        uint32_t n;

        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(i % 24 < 8 ? rand() % 3 : (int)(i % 24));
        n = pt_compress(&packer, bytes, size, rand() % 2, &packed);
        ck_assert_uint_gt(n, 0);
        ck_assert_uint_lt(n, size / 2);
        ck_assert_int_eq(pt_decompress(&unpacker, size, packed, n), 0);
        ck_assert_mem_eq(unpacker.buffer, bytes, size);
        ck_assert_int_eq(pt_decompress(&unpacker, size - 1, packed, n), -EBADMSG);
        ck_assert_int_eq(pt_decompress(&unpacker, size + 1, packed, n), -EBADMSG);
        ck_assert_int_eq(pt_decompress(&unpacker, size, packed, n - 1), -EBADMSG);
        ck_assert_int_eq(pt_decompress(&unpacker, size, bytes, n), -EBADMSG);
    }
    ck_assert_int_eq(pt_decompress(&unpacker, 0, bytes, 100), -EBADMSG);
    /* What does not get shorter stays as it is. */
    for (uint32_t i = 0; i < 4096; i++)
        bytes[i] = (uint8_t)rand();
    ck_assert_uint_eq(pt_compress(&packer, bytes, 4096, true, &(const void *){ NULL }), 0);
    ck_assert_uint_eq(pt_compress(&packer, bytes, 24, false, &(const void *){ NULL }), 0);
    pt_compressor_deinit(&packer);
    pt_decompressor_deinit(&unpacker);
}
END_TEST

/* A log with the packets of one author: counters with uneven gaps between them. */
static int counter_log(unsigned packets, unsigned events, struct seen_list *wanted)
{
    static struct maker m;
    struct pt_log_params params = packed_params();
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_status status = { 0 };
    struct pt_log_author_totals totals;
    uint64_t ts = 1000;

    srand(5);
    maker_init(&m, 2);
    for (unsigned k = 0; k < packets; k++) {
        for (unsigned i = 0; i < events; i++) {
            seen_add(wanted, maker_add(&m, ts, 8));
            ts += 1 + (uint64_t)rand() % 4096;
        }
        ck_assert_int_eq(pt_log_put_packet(w, maker_take(&m)), PT_LOG_STORED);
    }
    totals = totals_of(&m);
    status.watermark = ts;
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, &status, &totals, 1), 0);
    pt_log_writer_free(w);
    return fd;
}

START_TEST(counters_take_little_room)
{
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = counter_log(20, 2500, &wanted);
    struct pt_log_reader *r = log_reader(fd);
    struct posixtrace_log_report report;
    struct posixtrace_info info;

    read_all(r, &got);
    expect_same(&got, &wanted, 0);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_eq(info.events, wanted.n);
    ck_assert_uint_le(info.bytes, 8 * wanted.n);
    ck_assert_uint_le((uint64_t)lseek(fd, 0, SEEK_END), 8 * wanted.n + 8192);
    ck_assert_int_eq(pt_log_reader_params(r)->attr.compression, POSIXTRACE_COMPRESSION_ZSTD);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_check(fd, NULL, NULL, &report), 0);
    ck_assert_int_eq(report.damaged, 0);
    ck_assert_uint_eq(report.events, wanted.n);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

/* The k-th DATA packet, in *buffer; its offset. */
static off_t data_packet(int fd, unsigned k, uint8_t *buffer)
{
    struct pt_packet_head head;
    off_t at = PT_LOG_DATA_START;

    while (pread(fd, &head, sizeof head, at) == sizeof head) {
        uint32_t bytes = pt_le32(head.bytes);

        ck_assert_uint_eq(pt_le32(head.magic), PT_PACKET_MAGIC);
        if (pt_le16(head.type) == PT_PACKET_DATA && k-- == 0) {
            ck_assert_int_eq(pread(fd, buffer, bytes, at), bytes);
            pt_byteorder_packet_in((struct pt_packet_head *)(void *)buffer);
            return at;
        }
        at += bytes;
    }
    ck_abort_msg("no such packet");
}

static int note_finding(void *context, const struct posixtrace_log_finding *f)
{
    ck_assert_str_eq(f->text, "records that cannot be unpacked");
    *(off_t *)context = (off_t)f->offset;
    return 0;
}

/* Its checksum is right, what it holds is not: only a writer gone mad does it. */
START_TEST(what_cannot_be_unpacked_is_passed_over)
{
    static _Alignas(8) uint8_t buffer[65536];
    struct pt_packet_data *p = (void *)buffer;
    struct seen_list wanted = { 0 }, got = { 0 };
    int fd = counter_log(5, 300, &wanted);
    off_t at = data_packet(fd, 2, buffer), found = 0;
    struct posixtrace_log_report report;
    struct pt_log_reader *r;
    struct posixtrace_info info;
    uint32_t bytes;

    ck_assert(pt_packet_is_packed(p));
    ck_assert_uint_gt(p->packed_bytes, 0);
    switch (_i) {
    case 0: memset(p + 1, 0x5a, p->packed_bytes); break;
    case 1: p->record_bytes += 8; break;
    case 2: p->packed_bytes /= 2; break;
    default: p->record_bytes = 8; break;
    }
    bytes = p->head.bytes;
    pt_packet_seal(&p->head, PT_PACKET_DATA, bytes, pt_packet_seed(packed_params().id));
    ck_assert_int_eq(pwrite(fd, buffer, bytes, at), bytes);
    r = log_reader(fd);
    read_all(r, &got);
    ck_assert_uint_eq(got.n, wanted.n - 300);
    ck_assert_int_eq(pt_log_reader_info(r, &info), 0);
    ck_assert_uint_gt(info.skipped_bytes, 0);
    pt_log_reader_free(r);
    ck_assert_int_eq(pt_log_check(fd, note_finding, &found, &report), 0);
    ck_assert_int_eq(report.damaged, 1);
    ck_assert_uint_eq(report.events, wanted.n - 300);
    ck_assert_int_eq(found, at + (off_t)sizeof *p);
    free(wanted.at);
    free(got.at);
    close(fd);
}
END_TEST

/* The functions of the interface say the same. */
static void expect_refusals(int fd, int error)
{
    struct posixtrace_recover_report recovered;
    struct posixtrace_log_report report;
    char path[64];
    trace_id_t trid;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(posixtrace_open_path(path, &trid), error);
    ck_assert_int_eq(posixtrace_log_check(fd, NULL, NULL, &report, sizeof report), error);
    ck_assert_int_eq(posixtrace_log_recover(fd, &recovered, sizeof recovered), error);
}

/* What opening says of a log with this version and these features. */
static int open_with(uint32_t version, uint32_t features)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    int fd = log_file(), rc;
    struct pt_log_writer *w = log_writer(fd, &params);
    struct pt_log_header h;
    struct pt_log_reader *r;

    pt_log_writer_free(w);
    ck_assert_int_eq(pread(fd, &h, sizeof h, 0), sizeof h);
    ck_assert(pt_log_header_open(&h));
    h.version = version;
    h.features = features;
    pt_log_header_seal(&h);
    ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), sizeof h);
    rc = pt_log_reader_new(&r, fd);
    if (rc == 0)
        pt_log_reader_free(r);
    else
        expect_refusals(fd, rc == -EINVAL ? EILSEQ : -rc);
    close(fd);
    return rc;
}

START_TEST(features)
{
    int zstd = pt_compress_available() ? 0 : -ENOTSUP;

    ck_assert_int_eq(open_with(1, 0), 0);
    ck_assert_int_eq(open_with(1, ~0u), 0); /* zeros of version 1 mean nothing */
    ck_assert_int_eq(open_with(2, 0), 0);
    ck_assert_int_eq(open_with(2, PT_LOG_ZSTD), zstd);
    ck_assert_int_eq(open_with(2, PT_LOG_COLUMNS), 0);
    ck_assert_int_eq(open_with(2, PT_LOG_ZSTD | PT_LOG_COLUMNS), zstd);
    ck_assert_int_eq(open_with(2, PT_LOG_COLUMNS << 1), -ENOTSUP);
    ck_assert_int_eq(open_with(2, 1u << 31), -ENOTSUP);
    ck_assert_int_eq(open_with(3, 0), -ENOTSUP);
    ck_assert_int_eq(open_with(~0u, 0), -ENOTSUP);
    ck_assert_int_eq(open_with(0, 0), -EINVAL);
}
END_TEST

START_TEST(attribute)
{
    bool there = pt_compress_available();
    struct pt_log_params params = packed_params();
    struct pt_log_writer *w;
    trace_attr_t attr;
    int value = 7, fd = log_file();

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posixtrace_attr_getcompression(&attr, &value), 0);
    ck_assert_int_eq(value, POSIXTRACE_COMPRESSION_NONE);
    ck_assert_int_eq(posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD),
                     there ? 0 : ENOTSUP);
    ck_assert_int_eq(posixtrace_attr_getcompression(&attr, &value), 0);
    ck_assert_int_eq(value, there ? POSIXTRACE_COMPRESSION_ZSTD : POSIXTRACE_COMPRESSION_NONE);
    ck_assert_int_eq(posixtrace_attr_setcompression(&attr, 3), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setcompression(&attr, -1), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getcompression(&attr, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_NONE), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_NONE), EINVAL);
    ck_assert_int_eq(posixtrace_attr_getcompression(&attr, &value), EINVAL);
    ck_assert_int_eq(pt_log_writer_new(&w, fd, &params), there ? 0 : -ENOTSUP);
    if (there)
        pt_log_writer_free(w);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, features);
    tcase_add_test(t, attribute);
    if (pt_compress_available()) {
        tcase_add_test(t, what_goes_in_comes_out);
        tcase_add_test(t, counters_take_little_room);
        tcase_add_loop_test(t, what_cannot_be_unpacked_is_passed_over, 0, 4);
    }
}

int main(void)
{
    return run_suite("log", "pack", NULL, add);
}
