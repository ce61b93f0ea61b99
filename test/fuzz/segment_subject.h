/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a killed program leaves, for fuzz_segment: a child traces from several
 * threads into a stream with a log and leaves by _exit(), so that its segment
 * and its name map stay and hold what the log lacks.
 *
 * The files are changed in place and put back from images in memory.
 */
#ifndef TEST_FUZZ_SEGMENT_SUBJECT_H
#define TEST_FUZZ_SEGMENT_SUBJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBJECT_THREADS 3u   /* one of them ends before the process does */
#define SUBJECT_EVENTS  150u /* of each thread */

/* A file, the bytes it had, and a second name that keeps it alive. */
struct victim {
    char path[448], spare[456];
    int fd;
    off_t size;
    size_t head; /* bytes that may hold something: the rest is a hole */
    uint8_t *image;
};

struct subject {
    char dir[128], log_path[192];
    struct victim seg, names;
};

/* Makes a stream directory, sets POSIXTRACE_DIR, and fills it. */
void subject_make(struct subject *s);
void subject_remove(const struct subject *s);

/* All bytes as they were. */
void victim_restore(const struct victim *v);
/* Only these. */
void victim_restore_part(const struct victim *v, size_t at, size_t bytes);
/* Restores the name after a test removed it. */
void victim_bring_back(const struct victim *v);

#endif
