/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * traffic LOG EVENTS: a log of about so many events of four threads, for measurements: of eight
 * events two are a pair with an id, and six of three types have nine fields in all.
 */
#include <fcntl.h>
#include <posixtrace/attr.h>
#include <posixtrace/emit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

enum { THREADS = 4, ROUND = 8, ROUNDS_BETWEEN_FLUSHES = 4000 };

static trace_id_t trid;
static uint64_t rounds;

static void must(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "traffic: %s: %s\n", what, strerror(error));
    exit(1);
}

static void record_round(uint64_t id, uint64_t *random)
{
    static const char *const symbols[] = { "ABC", "DEFG", "HI", "JKLMN" };

    POSIXTRACE_EVENT("job:begin", id);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t order = (uint32_t)id;
        double price = (double)(*random >> 40) / 100;
        const char *symbol = symbols[*random >> 62];
        int32_t quantity = (int32_t)(*random >> 50 & 1023), level = (int32_t)(id % 9);
        uint64_t bytes = *random >> 44;
        bool last = id % 5 == 0;

        *random = *random * 6364136223846793005u + 1442695040888963407u;
        POSIXTRACE_EVENT("order", order, price, symbol);
        POSIXTRACE_EVENT("fill", order, quantity, last);
        POSIXTRACE_EVENT("read", bytes, level);
    }
    POSIXTRACE_EVENT("job:end", id);
}

/* A stream that is full loses events. */
static void flush(void)
{
    struct posix_trace_status_info status;

    must(posix_trace_flush(trid), "flush");
    do {
        usleep(200);
        must(posix_trace_get_status(trid, &status), "get_status");
    } while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING ||
             status.posix_stream_full_status == POSIX_TRACE_FULL);
}

static void *record(void *number)
{
    uint64_t random = *(unsigned *)number;

    for (uint64_t i = 0; i < rounds; i++) {
        record_round(i, &random);
        if (i % ROUNDS_BETWEEN_FLUSHES == 0)
            flush();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    trace_attr_t attr;
    int fd;

    if (argc != 3) {
        fputs("usage: traffic LOG EVENTS\n", stderr);
        return 64;
    }
    rounds = strtoull(argv[2], NULL, 10) / THREADS / ROUND;
    fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    must(fd < 0, "cannot make the log");
    must(posix_trace_attr_init(&attr), "attr_init");
    must(posix_trace_attr_setstreamsize(&attr, 64 << 20), "setstreamsize");
    must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), "setstreamfullpolicy");
    must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
    must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
    must(posix_trace_start(trid), "start");
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        must(pthread_create(&threads[i], NULL, record, &numbers[i]), "pthread_create");
    }
    for (unsigned i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL), "pthread_join");
    must(posix_trace_shutdown(trid), "shutdown");
    return close(fd) != 0;
}
