/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a fuzz target is.
 *
 * A target is one file with LLVMFuzzerTestOneInput(), which takes any bytes and
 * ends the process if something is wrong.  It is linked in one of two ways:
 *
 *   -Dfuzzers=true   with libFuzzer, which makes inputs and looks at coverage;
 *                    PT_FUZZING_ENGINE is defined (scripts/fuzz builds and runs them)
 *   otherwise        with replay.c, whose main() goes through the kept inputs
 *                    and changed copies of them: an ordinary test
 *
 * A target that wants its inputs changed in its own way has a custom mutator;
 * both ways call it.  Inputs must give the same result each time they are run
 * in one process: a target cleans up what it made.
 */
#ifndef TEST_FUZZ_TARGET_H
#define TEST_FUZZ_TARGET_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Changes data in place; its new size, at most room. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
/* Optional, of the target. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* How replay.c goes about it. */
struct fuzz_replay {
    unsigned rounds; /* changed copies of each input */
    /* Not NULL: also each prefix of each small input, and each of its bytes
     * replaced by each of these. */
    const char *replacements;
    /* Not NULL: after the last input, for what the target has counted. */
    void (*finish)(void);
};

extern const struct fuzz_replay fuzz_replay;

#define FUZZ_NEED(condition)                                                        \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

/* The status of a child that has ended.  An engine's clock interrupts the wait. */
static inline int fuzz_wait(pid_t child)
{
    int status;
    pid_t r;

    do
        r = waitpid(child, &status, 0);
    while (r < 0 && errno == EINTR);
    FUZZ_NEED(r == child);
    return status;
}

/* A file in memory with these bytes, at its start; to be closed. */
static inline int fuzz_file(const void *bytes, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    FUZZ_NEED(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* All bytes of a file, which is closed; to be freed. */
static inline char *fuzz_bytes(int fd, size_t *size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    char *bytes = malloc((size_t)end + 1);

    FUZZ_NEED(end >= 0 && bytes && pread(fd, bytes, (size_t)end, 0) == end);
    bytes[end] = '\0';
    *size = (size_t)end;
    close(fd);
    return bytes;
}

#endif
