/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Children of a process that records itself, after its end.  The flush thread was in that
 * process, so nothing that its children do then is recorded: with daemon(3), and with every
 * fork() after which the parent ends, that is all that the program does.  Whether the parent
 * has ended is checked where a child opens a type and where it calls exit(3); the first
 * child that finds it leaves a note in LOG.error.
 */
#ifndef PT_STARTUP_SELF_RECORD_LEFT_H
#define PT_STARTUP_SELF_RECORD_LEFT_H

#include <stdbool.h>
#include "process/self.h"

/* self, the calling process, records itself into log, which stays where it is. */
void pt_self_left_begin(const struct pt_self *self, const char *log);
/* This process is a child of the one that began, which has ended.  Leaves the note. */
bool pt_self_left_look(void);

#endif
