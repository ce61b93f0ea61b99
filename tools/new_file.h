/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A file that appears under its name only when it is whole: written under a
 * temporary name in the same folder, renamed at the end, removed on failure, at
 * exit() and when a signal ends the program.  One at a time.
 */
#ifndef NEW_FILE_H
#define NEW_FILE_H

#include <stdbool.h>

struct new_file {
    const char *path;
    bool  replace;     /* an existing file */
    char *temporary;
    int   fd;
};

/* EXIT_DONE, or an error was said: path exists and replace is not set, ... */
int new_file_open(struct new_file *f, const char *path, bool replace);

/* Gives the file its name. */
int new_file_keep(struct new_file *f);

/* Removes it; does nothing after keep. */
void new_file_drop(struct new_file *f);

#endif
