/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The place of this process's streams: its user, and the environment variables that name the
 * directory (dir.h).
 *
 * They are fixed once, when the process gets its record (process/self.h): a program that clears its
 * environment or changes its user id afterwards still finds, and removes, its earlier files.  A
 * forked child fixes its own, with its present user id, because a controller looks for its page
 * there.
 *
 * A relative POSIXTRACE_DIR starts at the working directory in which it was first read: the
 * program may change to another one.
 *
 * The environment is read when the library is loaded, while no other thread can
 * change it, and again by control calls of a process that has no record yet.  Events
 * never read it: another thread may be in setenv().
 *
 * Set-id programs (AT_SECURE) have empty variables.
 */
#ifndef PT_PLACE_PLACE_H
#define PT_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pt_place {
    uid_t uid;          /* the effective user id */
    char given[512];    /* POSIXTRACE_DIR from the environment, "": not set */
    char variable[512]; /* the directory that it names, an absolute path */
    int error;          /* 0, or why it names none: a negative errno; variable is as given */
    char runtime[512];  /* XDG_RUNTIME_DIR */
    char follow[64];    /* POSIXTRACE_FOLLOW: a segment's file; "": none, or not one */
};

/* The place of this process, never NULL; immutable.  Async-signal-safe where it is
 * fixed. */
const struct pt_place *pt_place(void);
/* Its user, for whose directory. */
static inline uid_t pt_place_uid(void)
{
    return pt_place()->uid;
}

/* Fixes it as long as *fixed is not 0, a word that fork wipes.  reread: by a control
 * call, which may read the environment.  Async-signal-safe without that.  The effective user id, of
 * now. */
uid_t pt_place_fix(bool reread, uint64_t *fixed);

#endif
