/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A folder of files that appears under its name only when it is whole; see atomic_file.h.
 * One at a time.
 */
#ifndef NEW_FOLDER_H
#define NEW_FOLDER_H

#include <stdbool.h>

struct new_folder {
    const char *path;
    bool replace;
    char *temporary;
};

/* EXIT_DONE, or another status after an error message: path exists and replace is not set, ... */
int new_folder_open(struct new_folder *f, const char *path, bool replace);

/* The same for a folder whose files new_folder_add() adds to those at path, if there are any. */
int new_folder_open_to_add(struct new_folder *f, const char *path, bool replace);

/* Gives the folder its name.  An old folder is removed if it has nothing but plain files; else it
 * stays, and an error is reported. */
int new_folder_keep(struct new_folder *f);

/* Moves each of its files, also those in folders in it, to the same place below path, and makes the
 * folders there.  A file that exists is replaced, or an error where replace is not set: then none
 * is moved.  Files appear one by one, each when it is whole. */
int new_folder_add(struct new_folder *f);

/* Removes it; does nothing after keep or add. */
void new_folder_drop(struct new_folder *f);

#endif
