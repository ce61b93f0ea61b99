/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Joins a process to a stream: the table of processes in the segment, and for an inherited stream
 * the gate bit in the process's page.
 *
 * Threads of a new process and their signal handlers may all run this at the same time, each with a
 * pt_self of its own but with the same page.  All do the same steps, none waits for another, and
 * each step may be repeated.  They agree on the bit of a stream by page->heir, a list that only
 * grows.  A thread that does not find the stream there takes a bit, writes the file's name to it,
 * and appends stream and bit by compare-and-exchange.  If another thread has appended the same
 * stream meanwhile, it frees its bit.
 */
#ifndef PT_PROCESS_JOIN_H
#define PT_PROCESS_JOIN_H

#include "process/self.h"

/* Adds a process to the stream's table and opens its gates if the stream
 * records.  -EAGAIN: the table is full; -ENOMEM: it has no memory to grow. */
int pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start, struct pt_page *page,
                        unsigned bit);

/* The process removes its page, as it exits: a controller that does not find the page knows why. */
void pt_process_leaves(const struct pt_seg *seg, uint32_t pid, uint64_t start);

/* Joins child to its parent's stream.  opened: seg was mapped for child alone.  Returns the bit,
 * which child may have lost again; then seg belongs to child.  -1: not joined. */
int pt_join_take(struct pt_self *child, struct pt_seg *seg, bool opened);

#endif
