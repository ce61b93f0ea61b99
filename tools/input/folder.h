/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The logs of a folder: each *.ptl, but for pieces (posixtrace_log_rotate()), which are one log
 * for each stream, with the piece that is being written (*.ptl.part).  What belongs together is
 * decided by the id and the number in the header of each file, not by its name.
 *
 * A piece that is being written has ".part" after its name.  A writer that was killed leaves it,
 * and another one if it was killed between two pieces.
 *
 * The path of such a log is FOLDER/ID, with the 32 digits of the stream's id, which is no file:
 * log_file_open() knows it.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- pieces ---- */

#define PIECES_PART ".part"

/* Is it the name of a piece that is, or was, being written? */
bool pieces_is_part(const char *name);

/* A complete piece at that path loses its ".part".  EXIT_DONE, or EXIT_FAILED after a message. */
int pieces_name(const char *path);

/* Completes what killed writers have left in a folder, and names it.  *count: how many, also of
 * those without an event, which are removed.  EXIT_DONE, or EXIT_FAILED after messages. */
int pieces_settle(const char *folder, size_t *count);

/* ---- logs ---- */

struct folder_log {
    char *path;   /* of the file, or FOLDER/ID */
    char *name;   /* the file's, or that of the first piece up to its number */
    char **files; /* paths of pieces; NULL: it is a file */
    size_t count;
    uint64_t bytes; /* of all of them */
    uint8_t id[16];
};

struct folder {
    struct folder_log *logs; /* by name */
    size_t count;
};

bool folder_is(const char *path);
/* FOLDER/NAME, for free(). */
char *folder_join(const char *folder, const char *name);
/* "*.ptl" without a dot at its start: the names of files that are being copied have one. */
bool folder_is_log_name(const char *name);
/* EXIT_DONE, or another status after a message: it cannot be read, or has no log. */
int folder_list(struct folder *f, const char *path);
/* Has it the pieces of one stream, and no other log?  Without a message. */
bool folder_is_one_stream(const char *path);
void folder_free(struct folder *f);
/* FOLDER/ID, for free(). */
char *folder_path_of(const char *folder, const uint8_t id[16]);
/* Is it FOLDER/ID?  Then *folder, for free(), and the id. */
bool folder_is_stream(const char *path, char **folder, uint8_t id[16]);
/* The one log of a folder (id NULL), or that of a stream; NULL after a message. */
const struct folder_log *folder_find(const struct folder *f, const char *path,
                                     const uint8_t id[16]);

#endif
