/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What packing takes of the flush thread, an event, and the bytes that come out: the packets of
 * logs are packed again, as columns and as columns with zstd, in turns.  Processor time is counted,
 * of rounds that each pack up to MOST bytes of records of the log, more than caches have.
 *
 * usage: encoder LOG..., as `posixtrace record --system` makes them
 */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "log/byteorder.h"
#include "log/format.h"
#include "shm/record.h"

enum { ROUNDS = 15, MOST = 48 << 20, WAYS = 2 };

static const struct {
    int method;
    double limit;
    const char *name;
} ways[WAYS] = { { POSIXTRACE_COMPRESSION_COLUMNS, 10, "columns" },
                 { POSIXTRACE_COMPRESSION_ZSTD, 25, "columns and zstd" } };

/* Records of packets, one after the other. */
struct rows {
    uint8_t *bytes;
    uint32_t *size; /* of each packet's */
    size_t room, used, packets;
    uint64_t events;
};

static void add(struct rows *r, const struct pt_packet_data *p, struct pt_unpacker *u)
{
    struct pt_log_packet packet;

    pt_packet_get_data(&packet, p);
    if (pt_packet_unpack_data(&packet, p, u) < 0 || packet.bytes > r->room - r->used)
        return;
    memcpy(r->bytes + r->used, packet.records, packet.bytes);
    r->used += packet.bytes;
    r->size[r->packets++] = packet.bytes;
    r->events += packet.events;
}

/* All that look like packets: the log was made here, and needs no checks. */
static void read_packets(struct rows *r, const uint8_t *log, size_t bytes)
{
    struct pt_unpacker unpacker = { .buffer = NULL };
    size_t at = PT_LOG_DATA_START;

    while (at + sizeof(struct pt_packet_data) <= bytes) {
        const struct pt_packet_head *head = (const void *)(log + at);

        if (pt_le32(head->magic) != PT_PACKET_MAGIC || pt_le32(head->bytes) > bytes - at ||
            head->bytes == 0) {
            at += PT_PACKET_ALIGN;
            continue;
        }
        if (pt_le16(head->type) == PT_PACKET_DATA)
            add(r, (const void *)head, &unpacker);
        at += pt_le32(head->bytes);
    }
    pt_unpacker_deinit(&unpacker);
}

static bool open_log(struct rows *r, const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *log;

    *r = (struct rows){ .bytes = malloc(MOST), .room = MOST };
    r->size = malloc(MOST / PT_RECORD_HEAD * sizeof *r->size);
    if (fd < 0 || fstat(fd, &st) < 0 || !r->bytes || !r->size)
        return false;
    log = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (log == MAP_FAILED)
        return false;
    read_packets(r, log, (size_t)st.st_size);
    munmap(log, (size_t)st.st_size);
    return r->events > 0;
}

/* How many bytes. */
static uint64_t pack(const struct rows *r, struct pt_packer *packer, int method)
{
    uint64_t sum = 0;
    size_t at = 0;

    for (size_t i = 0; i < r->packets; at += r->size[i++]) {
        const void *packed;
        unsigned flags;
        uint32_t n = pt_pack(packer, method, r->bytes + at, r->size[i], &packed, &flags);

        sum += n ? n : r->size[i];
    }
    return sum;
}

static void measure(const struct rows *r, const char *log)
{
    struct pt_packer packers[WAYS] = { { .buffer = NULL } };
    double ns[WAYS][ROUNDS], events = (double)r->events;
    uint64_t bytes[WAYS];

    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            double start = bench_cpu_seconds();

            bytes[way] = pack(r, &packers[way], ways[way].method);
            ns[way][round] = (bench_cpu_seconds() - start) * 1e9 / events;
        }
    for (int way = 0; way < WAYS; way++) {
        bench_row(&(struct bench_row){
            .id = bench_text("encoder-%d-%s", ways[way].method, log),
            .work = bench_text("packing an event of %s, %s", log, ways[way].name),
            .value = bench_quantile(ns[way], ROUNDS, 0.5),
            .unit = "ns",
            .sense = BENCH_AT_MOST,
            .limit = ways[way].limit,
            .note = bench_text("%.3f bytes an event, of %.1f; %.2f M events",
                               (double)bytes[way] / events, (double)r->used / events,
                               events / 1e6) });
        pt_packer_deinit(&packers[way]);
    }
}

int main(int argc, char **argv)
{
    bench_pin(0);
    if (argc < 2)
        bench_wrong("usage: encoder LOG...");
    for (int i = 1; i < argc; i++) {
        struct rows rows;

        if (open_log(&rows, argv[i]))
            measure(&rows, argv[i]);
        else
            bench_wrong("%s is no log with events", argv[i]);
        free(rows.bytes);
        free(rows.size);
    }
    return bench_end();
}
