/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Runs code that could end the program in a forked child: a system call that a filter answers with
 * a signal, a trial of the library in an unsuitable environment.  The child ends with exit(), so
 * call this before any exit handler is registered that must run only once.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>

enum { CHILD_SIGNAL = 1000 };

/*
 * Runs body(context) in a child and waits for it.  Returns the result of body (0 to 255, meant for
 * error numbers), CHILD_SIGNAL + n if signal n ended the child, or a negative error number if no
 * child could be made.
 */
int child_run(int (*body)(void *context), void *context);

/* The result of child_run() as text: "Operation not permitted", "ended by SIGSYS (Bad system
 * call)".  One of four static buffers. */
const char *child_text(int result);

/* Memory that a child's body shares with the program, zeroed; NULL: none. */
void *child_share(size_t bytes);

#endif
