/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The place of a log that may replace an earlier one.
 *
 * Root records into folders of other users, who can exchange their files at any moment: a
 * link to a file of root's for the log that has just been looked at.  So the path is
 * resolved once.  The folder is a descriptor from then on; a link is followed only if it is
 * root's or the caller's own, and the file itself is opened without following one; what has
 * been moved is compared with the file that is open; owner and mode of the new file are
 * those of the open one, if its owner can be trusted with them.
 *
 * Names below /proc and /dev (/dev/stdout), except /dev/shm, are opened directly, and nothing is
 * moved there.
 */
#ifndef LOG_PLACE_H
#define LOG_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct log_place {
    char *path;    /* of the log, links resolved; NULL: not found yet */
    char *name;    /* its last part, or path where there is no folder */
    int folder;    /* O_PATH, or AT_FDCWD */
    int nofollow;  /* O_NOFOLLOW, or 0 where there is no folder */
    char *earlier; /* path of the earlier log, which has been moved; NULL: it has not */
};

/* EXIT_DONE, or another status after an error message; place_end() in either case. */
int log_place_find(struct log_place *p, const char *path);
/* As openat(); mode for O_CREAT. */
int log_place_open(const struct log_place *p, int flags, mode_t mode);
/* As fstatat(). */
int log_place_stat(const struct log_place *p, struct stat *st);
/* May the recording be written into the file, and a new log have its owner and mode?  In a folder
 * that others can write to, any of them can make a file of that name: it must be the caller's, or
 * belong to the owner of the folder.  folder AT_FDCWD: yes, since the path is below /dev or
 * /proc. */
bool log_place_trusts(int folder, const struct stat *file);
/* Is this still the file of that name? */
bool log_place_has(const struct log_place *p, const struct stat *st);
/* Gives the file, which is st, another name (log_left.h).  -1: it stays where it is; EXIT_FAILED
 * after an error message: another file has its name now. */
int log_place_move(struct log_place *p, const struct stat *st);
/* The moved file gets its name back (replacing any other file), or is removed, or stays where it
 * is, which is reported. */
void log_place_restore(struct log_place *p);
void log_place_forget(struct log_place *p);
void log_place_leave(struct log_place *p);
/* Removes the file of the name. */
void log_place_remove(const struct log_place *p);
void log_place_end(struct log_place *p);

#endif
