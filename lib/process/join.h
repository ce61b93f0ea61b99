/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Putting a stream into a process: the table of processes in its segment, and for
 * an inherited stream the gate bit in the process's page.
 *
 * Threads of a new process and their handlers may all be here at once, each with
 * a pt_self of its own but with the same page: all do the same, none waits for
 * another, and each step can be done twice.  Which bit is whose is agreed on in
 * page->heir, a list that only grows.  Who does not find the stream there takes a
 * bit, writes the file's name to it and then appends the two in one
 * compare-and-exchange; who loses against another that has appended the same
 * stream gives his bit back.
 */
#ifndef PT_PROCESS_JOIN_H
#define PT_PROCESS_JOIN_H

#include "process/self.h"

/* Adds a process to the stream's table and opens its gates if the stream
 * records.  -EAGAIN: the table is full. */
int pt_process_register(struct pt_seg *seg, uint32_t pid, uint64_t start, struct pt_page *page,
                        unsigned bit);

/* child takes the stream over.  opened: seg was mapped for child alone.  Its bit, which
 * it may have lost again: seg belongs to child now; -1: it does not. */
int pt_heir_take(struct pt_self *child, struct pt_seg *seg, bool opened);

#endif
