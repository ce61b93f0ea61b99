/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * exit(3) and return from main shut down every stream of the process and complete its logs.  The
 * exit handler is registered at the first create, not at load.  A forked child does not touch the
 * parent's streams.  _exit, exec and kill run no code here: those logs are completed by the process
 * that opens or recovers them.  The process page is removed later, with the library, so other
 * processes still trace exit handlers that run after ours.  Streams that those create are shut down
 * then, too.
 */
#ifndef PT_PROCESS_EXIT_H
#define PT_PROCESS_EXIT_H

#include <stdbool.h>

/* 0 or -ENOMEM. */
int pt_exit_register(void);
/* Sets the function that shuts this process's own streams down, and one that does the same when the
 * library goes, after all handlers of atexit(). */
void pt_exit_ends(void (*streams)(void), void (*last)(void));
/* Is the library about to go, or gone?  A thread that finds false after pt_exit_ends() is found by
 * the second function. */
bool pt_exit_is_last(void);

#endif
