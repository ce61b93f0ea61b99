/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program records itself where its environment asks for it (POSIXTRACE_RECORD and its
 * companions, posixtrace(7)).
 *
 * The library's constructor reads the variables, so that a relative name starts at the working
 * directory in which the program was started.  It uses secure_getenv(): the environment has no
 * effect on set-id programs.  With POSIXTRACE_RECORD the stream begins when the program opens
 * its first event type: programs that are linked with the library but only read or control
 * traces, such as posixtrace itself, record nothing and overwrite no log.
 *
 * A failure stops no program.  posixtrace_get_self_record() reports it, and the file NAME.error
 * beside the log, as the library does not print.
 */
#ifndef PT_STARTUP_SELF_RECORD_H
#define PT_STARTUP_SELF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/atomics.h"

/* A type is opened: begins, if the variables ask for it, once in a process and its forked
 * children.  Before the library's constructor has read them: when it has.  Any thread, not
 * in signal handlers. */
void pt_self_record_begin(void);

/* The log that the process records itself into, or would; "" for none.  Returns
 * 0 or, as error number, why it does not, or would not. */
int pt_self_record_look(char *log, size_t size);
/* Which variable is not understood, and why; "" for none. */
const char *pt_self_record_fault(void);

#endif
