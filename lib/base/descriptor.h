/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A descriptor that the library keeps in the program's table from one call to the next.  A
 * program may close all that it does not know (closefrom, close_range) and open files of its own,
 * and the number then belongs to such a file.  So each use compares the file first.
 *
 * The comparison accepts a descriptor of the program for the very same file.  So the number is
 * high where the limit allows, since the program's new files get the lowest free numbers.  What
 * remains: a thread that closes everything between the comparison and the use of another thread.
 */
#ifndef PT_BASE_DESCRIPTOR_H
#define PT_BASE_DESCRIPTOR_H

#include <sys/types.h>

struct pt_descriptor {
    int fd; /* negative: none */
    dev_t dev;
    ino_t ino;
};

/* Notes what the descriptor stands for; it stays the caller's.  0 or a negative errno. */
int pt_descriptor_note(struct pt_descriptor *d, int fd);
/* The same for a copy, which is the library's. */
int pt_descriptor_copy(struct pt_descriptor *d, int fd);
/* 0; -EBADF: the program has closed it, whatever has the number now. */
int pt_descriptor_check(const struct pt_descriptor *d);
/* Unless it is another file's now. */
void pt_descriptor_close(struct pt_descriptor *d);

#endif
