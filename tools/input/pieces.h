/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The files of a log in pieces (posixtrace/log.h): GROUP-TIME-NUMBER.ptl, and the one that is
 * being written with ".part" after it.  A writer that was killed leaves that one, and another one
 * if it was killed between two pieces.
 */
#ifndef PIECES_H
#define PIECES_H

#include <stdbool.h>
#include <stddef.h>

#define PIECES_PART ".part"

/* Is it the name of a piece that is, or was, being written? */
bool pieces_is_part(const char *name);

/* A complete piece at that path loses its ".part".  EXIT_DONE, or EXIT_FAILED after a message. */
int pieces_name(const char *path);

/* Completes what killed writers have left in a folder, and names it.  *count: how many, also of
 * those without an event, which are removed.  EXIT_DONE, or EXIT_FAILED after messages. */
int pieces_settle(const char *folder, size_t *count);

#endif
