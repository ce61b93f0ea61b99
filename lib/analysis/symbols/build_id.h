/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Opens a program, library or file of debug information.  The path may come from a log, so from
 * anyone: only a regular file is opened, as to open a device or a FIFO may have effects, and it is
 * used if it has at most 4 GiB and the build id.  libdw then reads it, so that it must also belong
 * to root or to the user, but in a folder that the user has named.
 */
#ifndef PT_SYMBOLS_BUILD_ID_H
#define PT_SYMBOLS_BUILD_ID_H

#include <stdbool.h>

/* A descriptor, or -1.  build_id: in hexadecimal, not empty; named: in such a folder. */
int pt_symbol_open(const char *path, const char *build_id, bool named);

#endif
