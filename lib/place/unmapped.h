/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Does any process map a file of the directory, in whatever pid namespace?
 *
 * The kernel gives a read lease only for a file that no process has open for writing, and a mapping
 * keeps the file open from which it was made, until it is unmapped or its process has ended or
 * executed another program.  It is asked only where that was tested: on an overlay a mapping keeps
 * another file open.  Everything here is async-signal-safe.
 */
#ifndef PT_PLACE_UNMAPPED_H
#define PT_PLACE_UNMAPPED_H

#include <stdbool.h>

/* A descriptor, until whose release no process opens the file for writing: the library's calls
 * get EAGAIN, also the holder's.  -EAGAIN: a process maps it, or has it open for writing; other
 * negative errnos: that cannot be known. */
int pt_unmapped_hold(int dir, const char *file);
void pt_unmapped_release(int fd);
/* The same at this moment only.  False: mapped, unknown, or there is no such file. */
bool pt_is_unmapped(int dir, const char *file);

#endif
