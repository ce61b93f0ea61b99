/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a file of clocks.  It is refused with a line that it has, or what it says can be
 * used: intervals in order, and written and read again the same.
 */
#include <errno.h>
#include <posixtrace/sync.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz/target.h"

static void use(const posixtrace_sync_t *sync)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, 5000, INT64_MAX };
    struct posixtrace_interval d;
    posixtrace_sync_t *again;
    int fd = memfd_create("again", MFD_CLOEXEC);

    for (size_t from = 0; from < 3; from++)
        for (size_t to = 0; to < 3; to++)
            for (size_t t = 0; t < 25; t++)
                if (posixtrace_sync_difference(sync, from, times[t / 5], to, times[t % 5], &d) == 0)
                    FUZZ_NEED(d.least_ns <= d.most_ns);
    FUZZ_NEED(fd >= 0 && posixtrace_sync_write(sync, fd) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    FUZZ_NEED(posixtrace_sync_read(fd, &again, NULL) == 0);
    posixtrace_sync_free(again);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC), error;
    struct posixtrace_sync_fault fault;
    posixtrace_sync_t *sync;

    FUZZ_NEED(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    error = posixtrace_sync_read(fd, &sync, &fault);
    FUZZ_NEED(error == 0 || (error == EILSEQ && fault.text[0]));
    if (error == 0) {
        use(sync);
        posixtrace_sync_free(sync);
    }
    close(fd);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, room);
}

const struct fuzz_replay fuzz_replay = { .rounds = 300 };
