/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A descriptor that the library keeps in the program's table from one call to the next.  A program
 * may close all descriptors that it does not know (closefrom, close_range) and open files of its
 * own, which then may have the same number.  So each use compares the file first.
 *
 * The comparison accepts a descriptor of the program for the same file.  So the number is high if
 * the limit allows, since the program's new files get the lowest free numbers.  One race remains: a
 * thread may close everything between the comparison and the use by another thread.
 */
#ifndef PT_BASE_DESCRIPTOR_H
#define PT_BASE_DESCRIPTOR_H

#include <sys/types.h>

struct pt_descriptor {
    int fd; /* negative: none */
    dev_t dev;
    ino_t ino;
};

/* Remembers the file of a descriptor, which stays the caller's.  0 or a negative errno. */
int pt_descriptor_note(struct pt_descriptor *d, int fd);
/* The same for a copy, which is the library's. */
int pt_descriptor_copy(struct pt_descriptor *d, int fd);
/* 0; -EBADF: the program has closed it, also if another file has the number now. */
int pt_descriptor_check(const struct pt_descriptor *d);
/* Unless it is another file's now. */
void pt_descriptor_close(struct pt_descriptor *d);

#endif
