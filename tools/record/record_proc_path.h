/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Files of /proc/PID about the memory of a process.  Those of a process whose first thread has
 * ended, by pthread_exit() in main(), are empty or missing, and another thread has them.
 */
#ifndef TOOLS_RECORD_RECORD_PROC_PATH_H
#define TOOLS_RECORD_RECORD_PROC_PATH_H

#include <sys/types.h>

enum { PROC_PATH = 64 };

/* The path of such a file: maps, environ or exe. */
void record_proc_path(pid_t pid, const char *leaf, char path[PROC_PATH]);

#endif
