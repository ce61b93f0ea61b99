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

/* Gives the folder its name.  An old folder is removed if it has nothing but plain files; else it
 * stays, and an error is reported. */
int new_folder_keep(struct new_folder *f);

/* Removes it; does nothing after keep. */
void new_folder_drop(struct new_folder *f);

#endif
