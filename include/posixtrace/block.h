/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads the events of a log as columns: block by block, each of one thread, with an array of times,
 * one of types, and what else the caller wants.  For programs that go through all events of a log,
 * as exports to tables do: where packets are columns, blocks of times and types cost some 5 ns an
 * event.  The function is thread-safe; it reads a log or takes a lock, so it is not
 * async-signal-safe.
 */
#ifndef POSIXTRACE_BLOCK_H
#define POSIXTRACE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays beside ns and ids, to be or-ed. */
enum posixtrace_block_columns {
    POSIXTRACE_BLOCK_LENGTHS = 1,   /* lengths and truncated */
    POSIXTRACE_BLOCK_ADDRESSES = 2, /* prog_addresses */
    POSIXTRACE_BLOCK_DATA = 4       /* data and offsets; lengths and truncated, too */
};

/* Arrays have count elements, in the order of the thread's events; those that were not asked for
 * are NULL. */
struct posixtrace_block {
    size_t count;
    const int64_t *ns;              /* time of generation, ns since 1970 (CLOCK_REALTIME) */
    const uint16_t *ids;            /* types, good for trid */
    const uint32_t *lengths;        /* of the data */
    const uint8_t *truncated;       /* 1: the data was cut when it was recorded */
    const uint64_t *prog_addresses; /* to which the trace points' calls return */
    const unsigned char *data;      /* of event i: lengths[i] bytes at data + offsets[i] */
    const uint32_t *offsets;
    uint64_t round;        /* counts flush cycles, as they are read */
    uint64_t writer;       /* a thread at one nesting level: unique in the log */
    uint64_t first_number; /* of the first event among those of its writer, from 0 */
    uint64_t thread_id;    /* pthread_t of the thread, widened */
    const char *thread_name;
    pid_t pid;
    pid_t tid; /* kernel thread id; 0 for events bound to no thread */
    bool gap;  /* events are missing between the block before and this one */
};

/*
 * The next block of events of a pre-recorded stream.  *unavailable is 0 if one was stored; else the
 * end was reached, and of *block only gap counts, and count is 0.  What *block points to belongs to
 * the stream and is good until the next reading call on trid (rewind, seek and close included).
 *
 * Each event is in one block, once, and blocks have the events that posixtrace_next_event() gives,
 * which may read on after any block, and the other way round.  Blocks are not merged: a
 * block has events of one writer, in their order, and another writer's block may have earlier ones.
 * All events of a block are before those of blocks with a greater round, but for late ones
 * (threads that stood still inside an event for more than a second).  So a program that needs the
 * order of all events merges the blocks of one round, by time and then by writer.
 *
 * Losses are in their place: a stream's own events (POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME) are
 * events like others, and where first_number is greater than that of the block of this writer
 * before plus its count, so many events of this writer were lost, left out (outside
 * of windows, or cleared), or are in a part of the log that cannot be read.  gap is true if the log
 * is damaged there, or CLOCK_REALTIME was set by more than 10 ms, in this block or before it.
 *
 * columns: of enum posixtrace_block_columns.
 *
 * EINVAL  trid is not a pre-recorded stream, block or unavailable is NULL, size is 0, or columns
 *         has other bits
 * ENOMEM; EIO and others from read(2): the log could not be read
 */
int posixtrace_next_block(trace_id_t trid, unsigned columns, struct posixtrace_block *block,
                          size_t size, int *unavailable);

#ifdef __cplusplus
}
#endif
#endif
