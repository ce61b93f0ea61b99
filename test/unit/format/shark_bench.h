/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What the tests of posixtrace/shark.h have in common: chunks made, emptied, cleared away. */
#ifndef TEST_FORMAT_SHARK_BENCH_H
#define TEST_FORMAT_SHARK_BENCH_H

#include <posixtrace/shark.h>
#include "support/trace_helpers.h"

#define FREE  FTRACE_CHUNK_FLAG_FREE
#define FULL  FTRACE_CHUNK_FLAG_FULL
#define CYC   FTRACE_CHUNK_FLAG_CYC
#define JTN   FTRACE_CHUNK_FLAG_JTN
#define STOP  FTRACE_CHUNK_FLAG_STOP
#define NODEL FTRACE_CHUNK_FLAG_NODEL

#define ck_errno(call, error)             \
    do {                                  \
        errno = 0;                        \
        ck_assert_int_eq((call), -1);     \
        ck_assert_int_eq(errno, (error)); \
    } while (0)

struct record {
    uint16_t code, par1;
    uint64_t tsc;
    uint32_t par2;
};

struct records {
    struct record *at;
    size_t n;
};

/* Of places events and reserve closing events. */
int sb_chunk(int places, int reserve, unsigned flags);
/* ipoints, with par2 from first on. */
void sb_log(uint32_t first, uint32_t n);
unsigned sb_flags(int chunk);
/* As the table has it, which is there. */
struct posixtrace_shark_chunk sb_look(int chunk);
/* Sends the chunk to a file of the test's and reads that, by the form in the document. */
struct records sb_send(int chunk, unsigned new_flags);
struct records sb_read(const char *path);
struct records sb_decode(const unsigned char *bytes, size_t size);
/* They are ipoints with these numbers, in order of time. */
void sb_expect(struct records got, uint32_t first, uint32_t n);
/* No chunks, no filters, disabled. */
void sb_clear(void);

#endif
