/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target for everything that reads logs: the reader, the check, going on
 * with a log.  Built with a fuzzing engine (-fsanitize=fuzzer,
 * -DPT_FUZZING_ENGINE) it is driven by that; without one it replays the files
 * named on the command line, each as it is and with some thousand changes, so
 * that it is a test.  Checksums are made right again after a change, since else
 * nothing behind them would ever be reached.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/crc.h"
#include "log/format.h"
#include "log/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Gives every packet of the image the checksum of its changed bytes. */
static void mend(uint8_t *image, size_t size)
{
    struct pt_log_header *h = (void *)image;
    uint32_t seed;

    if (size < sizeof *h)
        return;
    h->crc = pt_crc32c(0, h, offsetof(struct pt_log_header, crc));
    seed = pt_packet_seed(h->id);
    for (size_t at = sizeof *h; at + sizeof(struct pt_packet_head) <= size;) {
        struct pt_packet_head *p = (void *)(image + at);

        if (!pt_packet_is_plausible(p, size - at)) {
            at += PT_PACKET_ALIGN;
            continue;
        }
        pt_packet_seal(p, p->type, p->bytes, seed);
        at += p->bytes;
    }
}

static void read_through(struct pt_log_reader *r)
{
    struct pt_event e;
    volatile uint8_t byte;

    while (pt_log_reader_next(r, &e) == 1)
        for (uint32_t i = 0; i < e.len; i += 64)
            byte = ((const uint8_t *)e.data)[i];
    (void)byte;
}

static void ask(struct pt_log_reader *r)
{
    struct posix_trace_status_info status;
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    uint64_t count;

    pt_log_reader_status(r, &status);
    if (pt_log_reader_info(r, &info) == 0 && pt_log_reader_seek(r, info.first_ns / 2 +
                                                                info.last_ns / 2) == 0)
        read_through(r);
    for (size_t i = 0; pt_log_reader_thread(r, i, &thread) == 1; i++)
        ;
    pt_log_reader_count(r, 193, &count);
    if (pt_log_reader_rewind(r) == 0)
        read_through(r);
}

static void go_on(struct pt_log_reader *r, int fd)
{
    struct pt_log_writer *w;

    if (pt_log_writer_resume(&w, fd, r) != 0)
        return;
    pt_log_put_name(w, 300, "more");
    pt_log_complete(w, POSIXTRACE_END_RECOVERED, NULL, NULL, 0);
    pt_log_writer_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct posixtrace_log_report report;
    struct pt_log_reader *r;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (pt_log_reader_new(&r, fd) == 0) {
        read_through(r);
        ask(r);
        go_on(r, fd);
        pt_log_reader_free(r);
    }
    pt_log_check(fd, NULL, NULL, &report);
    close(fd);
    return 0;
}

#ifdef PT_FUZZING_ENGINE

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8)
        mend(data, size);
    return size;
}

#else

static uint8_t *load(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    uint8_t *image = malloc(1 << 20);

    if (!f || !image) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    *size = fread(image, 1, 1 << 20, f);
    fclose(f);
    return image;
}

/* Numbers at which code breaks. */
static uint64_t interesting(void)
{
    static const uint64_t values[] = { 0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000,
                                       0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX, 4096 };

    return rand() % 2 ? values[(size_t)rand() % (sizeof values / sizeof *values)]
                      : (uint64_t)rand() % 100000;
}

/* A change is likelier in a packet's head than in the long data behind it. */
static size_t some_place(const uint8_t *image, size_t size)
{
    size_t at = (size_t)rand() % size & ~7ul;

    if (rand() % 4 == 0)
        return at;
    if (rand() % 8 == 0)
        return (size_t)rand() % sizeof(struct pt_log_header) & ~3ul;
    while (at > PT_LOG_DATA_START &&
           ((const struct pt_packet_head *)(const void *)(image + at))->magic != PT_PACKET_MAGIC)
        at -= 8;
    return at + ((size_t)rand() % 400 & ~3ul);
}

static void change(uint8_t *image, size_t size)
{
    for (int n = 1 + rand() % 3; n > 0; n--) {
        size_t at = some_place(image, size);
        uint64_t value = interesting();
        size_t bytes = rand() % 2 ? 4 : 8;

        if (at + bytes <= size)
            memcpy(image + at, &value, bytes);
    }
}

int main(int argc, char **argv)
{
    int rounds = getenv("POSIXTRACE_TEST_SHORT") ? 20 : 400;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE...\n", argv[0]);
        return 1;
    }
    srand(1);
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *image = load(argv[i], &size), *copy = malloc(size + 8);

        LLVMFuzzerTestOneInput(image, size);
        for (int k = 0; k < rounds && size > 8; k++) {
            memcpy(copy, image, size);
            change(copy, size);
            if (k % 8)
                mend(copy, size);
            LLVMFuzzerTestOneInput(copy, k % 5 ? size : (size_t)rand() % size);
        }
        free(image);
        free(copy);
    }
    return 0;
}

#endif
