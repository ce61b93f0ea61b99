/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the unit tests of lib/shm and lib/page share: a private stream directory, a fresh
 * segment, writers that put plain records into it, a main program.
 */
#ifndef TEST_UNIT_RING_HELPERS_H
#define TEST_UNIT_RING_HELPERS_H

#include <check.h>
#include "shm/segment.h"

/* Runs the tests that add() puts into the case, each in a directory of its own;
 * the value for main(). */
int ring_main(const char *name, void (*add)(TCase *tc));

/* A segment of that many bytes for events; the chunks have 1024 bytes. */
void ring_create(struct pt_seg *seg, uint64_t stream_size);
void ring_remove(struct pt_seg *seg);

/* Mounts a small file system over the stream directory, for this process alone.  False: not
 * permitted here, or the process has other tests to run.  Then one takes all of its memory. */
bool ring_mount_small(void);
void ring_fill_small(void);

/* A slot for the calling thread; the level distinguishes several. */
uint32_t ring_attach(struct pt_seg *seg, uint32_t level);
/* What a writer does: refer to the chunk, then commit records to it. */
void ring_refer(struct pt_seg *seg, uint32_t slot, uint32_t chunk);
/* Appends one event of len bytes at ts (the chunk's base is made 0). */
void ring_put(struct pt_seg *seg, uint32_t chunk, uint32_t id, uint32_t ts, uint32_t len);

/* State of a chunk. */
unsigned ring_state(struct pt_seg *seg, uint32_t chunk);

#endif
