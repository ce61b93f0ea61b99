/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A file that appears under its name only when it is whole: written under a
 * temporary name in the same folder, renamed at the end, removed on failure, at
 * exit() and when a signal ends the program.  One at a time.
 */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <stdbool.h>

struct atomic_file {
    const char *path;
    bool replace; /* an existing file */
    char *temporary;
    int fd;
};

/* EXIT_DONE, or another status after an error message: path exists and replace is not set, ... */
int atomic_file_open(struct atomic_file *f, const char *path, bool replace);

/* Gives the file its name. */
int atomic_file_keep(struct atomic_file *f);

/* Removes it; does nothing after keep. */
void atomic_file_drop(struct atomic_file *f);

#endif
