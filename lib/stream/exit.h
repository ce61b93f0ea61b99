/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * exit(3) and return from main shut every stream of the process down, logs
 * completed; registered at the first create, not at load.  A forked child
 * leaves the parent's streams alone.  _exit, exec and kill run nothing here:
 * those logs are completed by who opens or recovers them.
 */
#ifndef PT_STREAM_EXIT_H
#define PT_STREAM_EXIT_H

/* 0 or -ENOMEM. */
int pt_exit_register(void);

#endif
