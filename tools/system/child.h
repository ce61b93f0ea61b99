/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A piece of work in a forked child, for what could end the program: a system
 * call that a filter answers with a signal, a trial of the library in
 * surroundings that do not suit it.  The child ends with exit(): call this
 * before anything that must be undone once only is registered there.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>

enum { CHILD_SIGNAL = 1000 };

/*
 * Runs body(context) in a child and waits for it.  What body returned (0 to
 * 255, meant for error numbers), CHILD_SIGNAL + n if signal n ended the child,
 * or a negative error number if there could be no child.
 */
int child_run(int (*body)(void *context), void *context);

/* What child_run() returned in words: "Operation not permitted", "ended by
 * SIGSYS (Bad system call)".  One of four static buffers. */
const char *child_text(int result);

/* Memory that a child's body shares with the program, zeroed; NULL: none. */
void *child_share(size_t bytes);

#endif
