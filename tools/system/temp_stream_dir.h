/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A stream directory of our own for a while: a new one inside of the user's, so
 * that the memory is the same and no stream of the user's is touched, neither
 * listed nor reaped; removed afterwards with all that killed children left in
 * it.  Where the user's directory cannot be used ours cannot either.
 */
#ifndef TEMP_STREAM_DIR_H
#define TEMP_STREAM_DIR_H

#include <stdbool.h>

struct temp_stream_dir {
    char *path;   /* NULL: there is none, streams go where they would */
    char *before; /* the old POSIXTRACE_DIR, or NULL */
};

/* To be called before the first posix_trace_* call of the process, which then does
 * not record itself either.  True: it is there. */
bool temp_stream_dir_enter(struct temp_stream_dir *o);
/* Streams that are still there keep working, but without a name. */
void temp_stream_dir_leave(struct temp_stream_dir *o);

/* "parent/name", where the last six letters of name are XXXXXX and are replaced;
 * to be freed; NULL and errno. */
char *own_folder(const char *parent, const char *name);
/* Removes a folder that has files only, and reports a failure; frees path. */
void own_folder_remove(char *path);

#endif
