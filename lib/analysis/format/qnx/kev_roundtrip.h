/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How our export encodes any event as events of QNX's class USER, so that our import gives the same
 * event again; other programs see user events.  The attribute TRACE_POSIXTRACE of the header marks
 * such a trace: "native", or "qnx" if the rest of the header came from a QNX trace.  Words are
 * little-endian.
 *
 * User event 1023 defines what the others refer to; its first word is the kind:
 *   1 type     number, user event, name, description: strings, in this order
 *   2 thread   index, pid, tid, thread_id (two words, low half first), name
 *   3 place    index, address (two words)
 *   4 buffers  how many sequence numbers will be missing, on purpose
 * User events 1021 down to 0 are one type each, 1022 is all others.  The first word of
 * their data: bits 0-11 index of the thread (0: none), 12-24 of the place in the program
 * (0: none), 25-27 how many bytes of padding the end has, 28-29 truncation, 30: a word
 * with the type's number comes next.  Then the event's data.
 *
 * In a file of records that has come from QNX, "qnx-2", these two carry the flag PT_KEV_OURS:
 * without it they are the program's own user events 1022 and 1023.
 *
 * A context switch is a thread state with the flag PT_KEV_OURS, if there is nothing more
 * to it: RUNNING, READY (preempted), or another.
 */
#ifndef PT_FORMAT_KEV_ROUNDTRIP_H
#define PT_FORMAT_KEV_ROUNDTRIP_H

#include <stdint.h>

#define PT_KEV_OUR_THREADS 4096u
#define PT_KEV_OUR_PLACES  8192u
#define PT_KEV_OUR_TYPES   2048u

enum { PT_KEV_USER_META = 1023, PT_KEV_USER_MORE = 1022, PT_KEV_USER_FIRST = 1021 };
enum { PT_KEV_META_TYPE = 1, PT_KEV_META_THREAD, PT_KEV_META_PLACE, PT_KEV_META_BUFFERS };

#define PT_KEV_OUR_MORE ((uint32_t)1 << 30)

/* Where a thread is in the table, which both sides count alike; from 1. */
static inline uint32_t pt_kev_our_thread(uint32_t pid, uint32_t tid)
{
    uint64_t hash = ((uint64_t)pid << 32 | tid) * 0x9e3779b97f4a7c15u;

    return 1 + (uint32_t)(hash >> 40) % (PT_KEV_OUR_THREADS - 1);
}

#endif
