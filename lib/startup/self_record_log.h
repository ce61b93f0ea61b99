/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The log of a program that records itself: its name, and which existing file
 * may be overwritten.  No user can be asked, so:
 *
 *   a log that its writer completed gives way
 *   a log in the works is left alone; the process is not recorded (-EBUSY)
 *   a log whose writer died, or executed this very program, without completing
 *                      it: is kept, recovered or not; NAME.2 (.3, ...) is tried
 *   another file       is left alone (-EEXIST)
 */
#ifndef PT_STARTUP_SELF_RECORD_LOG_H
#define PT_STARTUP_SELF_RECORD_LOG_H

#include <stdbool.h>
#include "startup/self_record_error.h"

enum { PT_RECORD_PATH = 4096 };

/* In the pattern %p is the pid of this process and %% a percent sign.  The folder for relative
 * names is used unchanged; it ends in a slash or is empty. */
struct pt_record_name {
    char *folder;
    char *pattern;
};

/* The lines of earlier runs, in NAME.error and, where the log is NAME.2, in NAME.2.error. */
struct pt_record_old {
    struct pt_record_error of_name, of_log;
};

/* Opens the log of this process and locks it.  A descriptor, its name in path, and in old what
 * pt_record_log_done() needs; or a negative errno. */
int pt_record_log_open(const struct pt_record_name *name, char path[PT_RECORD_PATH],
                       struct pt_record_old *old);
/* recorded: the lines of earlier runs are removed. */
void pt_record_log_done(struct pt_record_old *old, bool recorded);
/* It was not used: removes it if it is empty. */
void pt_record_log_drop(int fd, const char *path);
/* Could it be opened?  Nothing is made. */
int pt_record_log_look(const struct pt_record_name *name);

/* Leaves, in NAME.error, why this process is not recorded: error, or the text bad if there is
 * one. */
void pt_record_log_note(const struct pt_record_name *name, int error, const char *bad);

#endif
