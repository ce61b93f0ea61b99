/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The chunks of posixtrace/shark.h.  A chunk is a stream with an event type of its own, which all
 * other chunks filter out.  So the type of an event selects the chunk, and no stream has to be
 * started or stopped for it.
 *
 * The number of records of a chunk is counted here, and its stream is large enough for all of them.
 * A thread that traces takes a place first (shark_log.c), so a JTN or STOP chunk never overwrites
 * and never has more records than places.  A thread that finds no place records its event in the
 * successor: the change of chunks loses none.
 *
 * Words that the log path reads are atomic (word.h).  pt_shark_mutex protects the state that
 * only the control functions use; no event ever takes it.
 */
#ifndef PT_FORMAT_SHARK_CHUNK_H
#define PT_FORMAT_SHARK_CHUNK_H

#include <stdbool.h>
#include <pthread.h>
#include <stdint.h>
#include <posixtrace/shark.h>

#define PT_SHARK_BATCH 256u /* records of pt_shark_chunk.taken, at most */

enum {
    PT_SHARK_MODE = FTRACE_CHUNK_FLAG_JTN | FTRACE_CHUNK_FLAG_STOP,
    PT_SHARK_PUBLIC = 0xff, /* the flags that are S.Ha.R.K.'s */
    PT_SHARK_THERE = 0x100  /* the chunk exists */
};

struct pt_shark_chunk {
    /* Atomic.  THERE is stored with release when the others are as they have to be, and
     * the log path loads flags with acquire before it looks at them. */
    uint32_t flags;
    uint32_t next;             /* the successor's number + 1; 0: none */
    uint32_t used, normal;     /* places taken, and how many there are */
    uint32_t closing, reserve; /* the same for closing events */
    uint32_t lost;
    uint32_t event; /* trace_event_id_t of the chunk's type */
    /* Atomic; written by the sender: records that a file or packet has, since the creation. */
    uint64_t sent __attribute__((aligned(8)));

    /* Under the mutex. */
    int size, emergency_size;
    trace_id_t trid;

    /* The sender's, while the chunk is BUSY: records that are taken out of the stream and not
     * sent.  After a failed send they stay, still hold their places, and are sent first.  The
     * memory stays with the number when the chunk is deleted. */
    uint8_t *taken;
    uint32_t taken_count;
};

extern struct pt_shark_chunk pt_shark_chunks[FTRACE_MAX_CHUNKS];
extern uint32_t pt_shark_current; /* number + 1; 0: none is selected; atomic */
extern pthread_mutex_t pt_shark_mutex;

/* NULL: no such chunk.  With the mutex held. */
struct pt_shark_chunk *pt_shark_find(int number);
/* FULL too, where all places are taken: the log path does not have to set it. */
uint32_t pt_shark_flags(const struct pt_shark_chunk *chunk);
/* Can these be the flags that a user gives? */
bool pt_shark_flags_are_good(unsigned flags);
/* In place of all but THERE and BUSY. */
void pt_shark_put_flags(struct pt_shark_chunk *chunk, unsigned flags);
/* Frees the places of so many records, which were sent.  With the mutex held. */
void pt_shark_give_back(struct pt_shark_chunk *chunk, uint64_t records);
/* -1, and errno. */
int pt_shark_fail(int error);

#endif
