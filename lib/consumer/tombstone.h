/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The loss counts of a dead stream whose segment was removed although no log had taken its
 * events (directory/settle.h).  Opening or recovering the log adds them to its losses.
 *
 * The file "lost" in the stream directory is a ring of 1,024 of them, the latest, after a
 * header that counts all.  One process writes at a time: it has the lock on the directory
 * (flock).  A tombstone is written before its segment is removed; if the process is killed in
 * between, the segment counts.
 */
#ifndef PT_CONSUMER_TOMBSTONE_H
#define PT_CONSUMER_TOMBSTONE_H

#include "consumer/crash_recovery.h"
#include "log/reader/reader.h"
#include "shm/layout.h"

struct pt_tombstone {
    uint8_t id[16];
    uint64_t events;            /* that were only in the segment */
    uint64_t lost[PT_LOST_OWN]; /* that its writers had lost, from the start of the stream on */
    int64_t created_ns, buried_ns;
    uint32_t pid;
    uint32_t lost_switches; /* beside lost; UINT32_MAX: or more */
    char log_path[248];
    uint32_t piece; /* of a log in pieces: which one has lost the events; else 0 */
    uint32_t zero;
};

/* Makes the tombstone of the dead stream with that header; log: open for reading, or negative.
 * PT_TAIL_FOUND; PT_TAIL_NONE if there is nothing to bury; a negative errno if the counts cannot be
 * found out now. */
int pt_tombstone_make(struct pt_tombstone *t, const struct pt_seg_header *h, int log);
/* 0 or a negative errno. */
int pt_tombstone_put(int dir, const struct pt_tombstone *t);
/* Adds the counts in the tombstones of its stream to the losses of a log. */
void pt_tombstone_tell(struct pt_log_reader *r);
/* The number of all tombstones ever written. */
void pt_tombstone_count(uint64_t *streams, uint64_t *events);

#endif
