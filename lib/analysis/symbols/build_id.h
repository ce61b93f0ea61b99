/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Opens a program, library or file of debug information.  The path may come from a log, so from
 * anyone: the file is opened without waiting and without effects, and is used if it is a regular
 * file of at most 4 GiB with the build id.  libdw then reads it, so that it must also belong to
 * root or to the user, but in a folder that the user has named.
 */
#ifndef PT_SYMBOLS_BUILD_ID_H
#define PT_SYMBOLS_BUILD_ID_H

#include <stdbool.h>

/* A descriptor, or -1.  build_id: in hexadecimal, not empty; named: in such a folder. */
int pt_symbol_open(const char *path, const char *build_id, bool named);

#endif
