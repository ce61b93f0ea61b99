/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Calls of the library to the C library that fail when the test says so.  The
 * program has functions of the same names, which the library finds first; what
 * others than libposixtrace call goes through untouched.
 */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include <stdbool.h>

enum fault_kind {
    FAULT_WRITE,       /* write, pwrite, writev: no space */
    FAULT_WRITE_IO,    /* the same, an I/O error */
    FAULT_WRITE_SHORT, /* the same: half of the bytes are taken, a success */
    FAULT_READ,        /* read, pread: an I/O error */
    FAULT_OPEN,        /* open, openat, memfd_create: too many open files */
    FAULT_MMAP,        /* mmap: no memory */
    FAULT_MPROTECT,    /* mprotect: no memory */
    FAULT_MALLOC,      /* malloc, calloc, realloc */
    FAULT_THREAD,      /* pthread_create: no resources */
    FAULT_ALLOCATE,    /* fallocate, posix_fallocate: no space */
    FAULT_TRUNCATE,    /* ftruncate: an I/O error */
    FAULT_MEMBARRIER,  /* membarrier: refused */
    FAULT_KINDS
};

extern const char *const fault_names[FAULT_KINDS];

/* Call number first of that kind, counted from now on, fails; all later ones
 * too if forever. */
void fault_arm(enum fault_kind kind, unsigned first, bool forever);
/* Nothing fails any more; how many calls of the kind there were. */
unsigned fault_disarm(void);

#endif
