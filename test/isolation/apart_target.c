/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The program of apart.py, run by a user whom root traces:
 *
 *   trace               two threads trace until stdin ends
 *   scribble FILE SEED  overwrites places of a segment, so many times
 *   truncate FILE       makes it empty
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

enum { WRITES = 3000, PAUSE_NS = 100000 };

static void pause_a_little(void)
{
    const struct timespec t = { 0, PAUSE_NS };

    nanosleep(&t, NULL);
}

static void *trace(void *unused)
{
    trace_event_id_t id;
    char data[200] = "";

    if (posix_trace_eventid_open("apart", &id) != 0)
        abort();
    for (size_t n = 0;; n++) {
        posix_trace_event(id, data, n % 7 ? 8 : n % sizeof data);
        pause_a_little();
    }
    return unused;
}

static int trace_until_told(void)
{
    pthread_t thread;
    char byte;

    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread, NULL, trace, NULL) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    _exit(0);
}

/* Changes bits, and words of 4 and 8 bytes, more often near the start. */
static void scribble_once(uint8_t *at, size_t size, unsigned *seed)
{
    static const long limits[] = { 256, 2048, 16384, 200000, 1500000 };
    static const uint32_t words[] = { 0, 1, UINT32_MAX, 0x80000000u, 65536, 1024 };
    size_t limit = (size_t)limits[rand_r(seed) % 5], place;
    uint64_t word = (uint64_t)rand_r(seed) << 33 ^ (uint64_t)rand_r(seed);

    place = (size_t)rand_r(seed) % (limit < size ? limit : size) & ~(size_t)7;
    switch (rand_r(seed) % 4) {
    case 0: at[place + (size_t)rand_r(seed) % 8] ^= (uint8_t)(1u << rand_r(seed) % 8); break;
    case 1: memcpy(at + place, &word, sizeof word); break;
    case 2: memcpy(at + place, &words[rand_r(seed) % 6], sizeof words[0]); break;
    default: memset(at + place, rand_r(seed) & 1 ? 0xff : 0, 8); break;
    }
}

static int scribble(const char *file, unsigned seed)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    struct stat st;
    uint8_t *at;

    if (fd < 0 || fstat(fd, &st) != 0)
        return 1;
    at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return 1;
    for (int i = 0; i < WRITES; i++) {
        scribble_once(at, (size_t)st.st_size, &seed);
        pause_a_little();
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "trace") == 0)
        return trace_until_told();
    if (argc == 4 && strcmp(argv[1], "scribble") == 0)
        return scribble(argv[2], (unsigned)atoi(argv[3]));
    if (argc == 3 && strcmp(argv[1], "truncate") == 0)
        return truncate(argv[2], 0) == 0 ? 0 : 1;
    return 64;
}
