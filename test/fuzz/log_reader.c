/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a log file.  All code that reads logs reads it: the reader over a file and over a
 * pipe, its queries and seeks, the check, and the continuation of a log.  A second reading must
 * give the same as the first, and blocks the same events in any order.
 *
 * Checksums are corrected after most changes, since otherwise the code after them would never be
 * reached.  An input that begins with 'p' in place of 'P' is compressed: the zeros between header
 * and data are left out, so that kept inputs are small.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/crc.h"
#include "fuzz/target.h"
#include "log/reader/block.h"
#include "log/byteorder.h"
#include "log/reader/reader.h"
#include "log/writer/resume.h"
#include "log/writer/writer.h"

#define PIPE_BYTES (1 << 20)
#define MOST       7

/* What reading through a log has shown, as one number for comparing. */
struct seen {
    uint64_t events, sum, parts; /* parts: a sum in any order */
    int result;
};

/* Gives every packet of the image the checksum of its changed bytes. */
static void mend(uint8_t *image, size_t size)
{
    struct pt_log_header *h = (void *)image;
    uint8_t first = size ? image[0] : 0;
    uint32_t seed;

    if (size < sizeof *h)
        return;
    image[0] = 'P';
    h->crc = pt_le32(pt_crc32c(0, h, offsetof(struct pt_log_header, crc)));
    image[0] = first;
    seed = pt_packet_seed(h->id);
    for (size_t at = sizeof *h; at + sizeof(struct pt_packet_head) <= size;) {
        struct pt_packet_head *p = (void *)(image + at);

        uint32_t bytes = pt_le32(p->bytes);

        if (!pt_packet_is_plausible(p, size - at)) {
            at += PT_PACKET_ALIGN;
            continue;
        }
        pt_packet_reseal(p, seed);
        at += bytes;
    }
}

static void see(struct seen *s, const struct pt_event *e)
{
    s->events++;
    s->sum = s->sum * 31 + e->ts + e->id + e->len;
    s->parts += ((uint64_t)e->ns + e->id) * (e->len + 3u);
    for (uint32_t i = 0; i < e->len; i += 64) {
        s->sum += ((const uint8_t *)e->data)[i];
        s->parts += ((const uint8_t *)e->data)[i];
    }
}

static struct seen read_blocks(struct pt_log_reader *r, unsigned wanted)
{
    struct seen s = { .events = 0 };
    struct pt_log_block b;

    while ((s.result = pt_log_reader_next_block(r, wanted, &b)) == 1) {
        FUZZ_NEED(b.count > 0);
        s.events += b.count;
        for (size_t i = 0; i < b.count && wanted & PT_BLOCK_DATA; i++) {
            s.parts += ((uint64_t)b.ns[i] + b.ids[i]) * (b.lengths[i] + 3u);
            for (uint32_t k = 0; k < b.lengths[i]; k += 64)
                s.parts += b.data[b.offsets[i] + k];
        }
    }
    return s;
}

/* most events at a time, looked at when all of them are there. */
static struct seen read_through(struct pt_log_reader *r, size_t most)
{
    struct seen s = { .events = 0 };
    struct pt_event e[MOST];

    while ((s.result = pt_log_reader_next(r, &e[0])) == 1) {
        size_t n = 1;

        while (n < most && pt_log_reader_near(r, &e[n]))
            n++;
        for (size_t i = 0; i < n; i++)
            see(&s, &e[i]);
    }
    return s;
}

/* The bytes of joined packets add up. */
static int look_at_place(void *context, const struct pt_log_packet *packet)
{
    uint64_t *bytes = context;

    *bytes += packet->bytes;
    return 0;
}

static void ask(struct pt_log_reader *r)
{
    struct posix_trace_status_info status;
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    uint64_t count, bytes = 0;

    pt_log_reader_status(r, &status);
    if (pt_log_reader_info(r, &info) == 0 &&
        pt_log_reader_seek(r, info.first_ns / 2 + info.last_ns / 2) == 0)
        read_through(r, MOST);
    for (size_t i = 0; pt_log_reader_thread(r, i, &thread) == 1; i++)
        ;
    pt_log_reader_count(r, 193, &count);
    pt_log_reader_each_packet(r, look_at_place, &bytes);
}

static void go_on(struct pt_log_reader *r, int fd)
{
    struct pt_log_writer *w;

    if (pt_log_writer_resume(&w, fd, r, NULL) != 0)
        return;
    pt_log_put_text(w, PT_TEXT_NAME, 300, "more");
    pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0);
    pt_log_writer_free(w);
}

/* After each gap there is something else, so the number of gaps is limited. */
static void follow(struct pt_log_reader *r, bool held)
{
    uint64_t gaps = 0;
    int rc;

    do {
        rc = pt_log_reader_follow(r, held);
        if (rc >= 0)
            read_through(r, MOST);
        FUZZ_NEED(gaps++ < 1 << 20);
    } while (rc == 1);
}

/* The same events by another clock, and the log's own again. */
static void read_by_another_clock(struct pt_log_reader *r, const struct seen *first)
{
    static const struct pt_knot knots[] = { { 1, INT64_MIN },
                                            { 1ull << 40, 0 },
                                            { 1ull << 63, 1ull << 62 } };
    struct pt_clock_reading reading;
    struct pt_sync point;
    struct seen again;
    size_t n = 0;

    while (pt_log_reader_clock(r, n, &reading) == 1)
        n++;
    FUZZ_NEED(n < PT_CLOCK_TEXT_END);
    for (n = 0; pt_log_reader_point(r, n, &point) == 1; n++)
        ;
    if (pt_log_reader_rewind(r) != 0)
        return;
    if (pt_log_reader_set_map(r, knots, 3) == 0)
        FUZZ_NEED(read_through(r, MOST).events == first->events);
    FUZZ_NEED(pt_log_reader_set_map(r, NULL, 0) == 0 && pt_log_reader_rewind(r) == 0);
    again = read_through(r, MOST);
    FUZZ_NEED(again.events == first->events && again.sum == first->sum);
}

static void read_file(int fd)
{
    struct pt_log_reader *r, *follower;
    struct seen first, second, blocks;

    if (pt_log_reader_new(&r, fd) != 0)
        return;
    first = read_through(r, 1);
    ask(r);
    if (pt_log_reader_rewind(r) == 0) {
        second = read_through(r, MOST);
        FUZZ_NEED(first.events == second.events && first.sum == second.sum &&
                  first.result == second.result);
    }
    if (pt_log_reader_rewind(r) == 0) {
        blocks = read_blocks(r, PT_BLOCK_DATA);
        FUZZ_NEED(first.events == blocks.events && first.parts == blocks.parts &&
                  first.result == blocks.result);
    }
    if (pt_log_reader_rewind(r) == 0)
        FUZZ_NEED(read_blocks(r, 0).events == first.events);
    read_by_another_clock(r, &first);
    if (pt_log_reader_new(&follower, fd) != 0)
        follower = NULL;
    if (follower)
        follow(follower, true);
    go_on(r, fd);
    if (follower)
        follow(follower, false);
    pt_log_reader_free(follower);
    pt_log_reader_free(r);
}

static void read_pipe(const uint8_t *data, size_t size)
{
    struct pt_log_reader *r;
    int ends[2];

    FUZZ_NEED(pipe2(ends, O_CLOEXEC) == 0);
    if (fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) >= (int)size &&
        write(ends[1], data, size) == (ssize_t)size) {
        close(ends[1]);
        if (pt_log_reader_new(&r, ends[0]) == 0) {
            read_through(r, MOST);
            ask(r);
            pt_log_reader_free(r);
        }
    } else {
        close(ends[1]);
    }
    close(ends[0]);
}

static void use(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct posixtrace_log_report report;

    FUZZ_NEED(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    read_pipe(data, size);
    read_file(fd);
    pt_log_check(fd, NULL, NULL, &report);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t head = sizeof(struct pt_log_header);
    uint8_t *image;

    if (size <= head || data[0] != 'p') {
        use(data, size);
        return 0;
    }
    image = calloc(1, size - head + PT_LOG_DATA_START);
    FUZZ_NEED(image);
    memcpy(image, data, head);
    image[0] = 'P';
    memcpy(image + PT_LOG_DATA_START, data + head, size - head);
    use(image, size - head + PT_LOG_DATA_START);
    free(image);
    return 0;
}

/* Numbers at which code breaks. */
static uint64_t some_number(unsigned random)
{
    static const uint64_t numbers[] = { 0,         1,          7,          8,          0x7f,
                                        0xff,      0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
                                        INT64_MAX, 1ull << 63, UINT64_MAX, 4096 };

    return random % 2 ? numbers[random / 2 % (sizeof numbers / sizeof *numbers)]
                      : random / 2 % 100000;
}

/* A change is more likely in a packet's head than in the long data after it. */
static size_t some_place(const uint8_t *image, size_t size, unsigned random)
{
    size_t at = random / 32 % size & ~7ul;

    if (random % 4 == 0)
        return at;
    if (random / 4 % 8 == 0)
        return at % sizeof(struct pt_log_header) & ~3ul;
    while (at > PT_LOG_DATA_START &&
           pt_le32(((const struct pt_packet_head *)(const void *)(image + at))->magic) !=
               PT_PACKET_MAGIC)
        at -= 8;
    return at + (random / 1024 % 400 & ~3u);
}

static void change_word(uint8_t *image, size_t size, unsigned seed)
{
    size_t at, bytes = seed % 2 ? 4 : 8;
    uint64_t number;

    at = some_place(image, size, seed * 2654435761u);
    number = some_number(seed * 2246822519u >> 3);
    if (at + bytes <= size)
        memcpy(image + at, &number, bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (size > 2 * PT_PACKET_ALIGN && seed / 8 % 4)
        change_word(data, size & ~7ul, seed);
    else
        size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8)
        mend(data, size);
    return size;
}

const struct fuzz_replay fuzz_replay = { .rounds = 30 };
