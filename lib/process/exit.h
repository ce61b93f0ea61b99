/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * exit(3) and return from main shut every stream of the process down, logs
 * completed; registered at the first create, not at load.  A forked child
 * leaves the parent's streams alone.  _exit, exec and kill run nothing here:
 * those logs are completed by the process that opens or recovers them.
 * The process page goes later, with the library: exit handlers that come after
 * ours are traced by other processes as before.
 */
#ifndef PT_PROCESS_EXIT_H
#define PT_PROCESS_EXIT_H

/* 0 or -ENOMEM. */
int pt_exit_register(void);
/* What shuts this process's own streams down then. */
void pt_exit_ends(void (*streams)(void));

#endif
