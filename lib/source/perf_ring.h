/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One of the kernel's rings of context-switch records, and the events that write
 * into it: perf_event_open(2), one ring a processor.
 */
#ifndef PT_SOURCE_PERF_RING_H
#define PT_SOURCE_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/atomics.h"
#include "source/perf_clock.h"
#include "source/perf_loss.h"

struct pt_perf_ring {
    int fd; /* of an event without records, whose ring it is */
    int cpu;
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    size_t size; /* of data: a power of two */
    size_t mapped;
    uint64_t until; /* where the reader stops this time */
    struct pt_perf_loss loss;
};

#define PT_PERF_SWITCH_BYTES 40u /* of a record of a switch */

/* The members of a record that concern a switch or its thread. */
struct pt_perf_record {
    uint32_t type; /* PERF_RECORD_SWITCH, _FORK, _COMM, _EXIT, _LOST, no others */
    uint16_t misc;
    int32_t pid, tid; /* of the thread that is made, named, or ends */
    int32_t parent;   /* FORK: the thread that makes it */
    char name[16];    /* COMM */
    uint64_t time;    /* of the clock that the events were opened with */
    uint64_t id;      /* which event saw it */
    uint32_t cpu;
    uint64_t lost;
};

/* The ring of a processor, of so many bytes; its descriptor is readable when half are used.  0;
 * -ENODEV: there is no such processor; -EPERM, -ENOMEM: the limit on locked memory; -ESTALE: its
 * times cannot be converted in the way that the clock asks for; or why it cannot be had. */
int pt_perf_ring_open(struct pt_perf_ring *r, int cpu, size_t bytes, struct pt_perf_clock *clock);
void pt_perf_ring_close(struct pt_perf_ring *r);

/* Writes the switches of a thread on the ring's processor into it, and of all that
 * it creates: threads, and with children processes.  The descriptor, or negative errno. */
int pt_perf_watch(const struct pt_perf_ring *r, const struct pt_perf_clock *clock, int32_t tid,
                  bool children, uint64_t *id);
/* Waits until all records that the event and its heirs had begun to write are in their rings or
 * lost.  Returns how many were lost so far; 0 also before Linux 6.0, which does not count them. */
uint64_t pt_perf_settle(int fd);

/* How far the kernel has come. */
static inline uint64_t pt_perf_ring_head(const struct pt_perf_ring *r)
{
    return pt_load_acquire((uint64_t *)(void *)&r->page->data_head);
}

/* The next record before head, copied; false: there is none.  Bytes that are no
 * record end the ring's contents. */
bool pt_perf_ring_next(struct pt_perf_ring *r, uint64_t head, struct pt_perf_record *record);

#endif
