/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Evaluates the filter for event types whose gate has the stream's shadow bit: first the
 * stream's expression, then the handler of the program.
 *
 * Each writer (a thread's writer for a stream and level) has its own compiled copy of the
 * expression.  It is compiled from the text in the segment at the first evaluation, and again
 * when filter_now has changed, or when the gate bit belongs to another stream (epoch).  So
 * evaluation shares nothing between threads, and no copy is freed while it is in use.
 *
 * Layouts, the compiled descriptions of event types that expressions with fields need, are
 * shared by the process.  Each is published once by compare-and-exchange and never freed; if a
 * type has no description, the next event looks again as soon as the name map has new ones, which
 * takes no system call unless one is of the type.
 * Beside them stands for which names the memory is reserved: the first event of a type that is
 * asked about makes a system call for that, later ones none.
 *
 * If there is no memory for an expression, or its text does not compile, the filter lets the
 * event pass.  Callers are inside an event: everything is async-signal-safe and allocates by
 * mmap() only.
 */
#ifndef PT_WRITER_FILTER_EVAL_H
#define PT_WRITER_FILTER_EVAL_H

#include <posixtrace/event.h>
#include "process/thread.h"

/* Compiles the stream's expression, if it has fields also all descriptions, those of system types
 * too, and reserves the memory of all names, so that an event of the thread makes no system call
 * for them, except for types that are opened or described later.  Called inside an event. */
void pt_filter_eval_prepare(struct pt_self *self, struct pt_writer *writer, unsigned bit);
/* True: record the event.  Called inside an event.  Keeps errno, also if the handler does not. */
bool pt_filter_eval_wants(struct pt_self *self, struct pt_writer *writer, unsigned bit,
                          const struct posixtrace_event *event);

/* Fills the event as filters receive it: without a time, which it does not have yet.
 * name_room: a copy of the name, since other processes can change the shared name map. */
void pt_filter_eval_event(struct pt_self *self, const struct pt_thread *t,
                          struct posixtrace_event *event, char name_room[TRACE_EVENT_NAME_MAX + 1],
                          uint32_t id, const void *data, size_t len, uint64_t addr);

#endif
