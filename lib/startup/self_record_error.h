/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The file LOG.error, where programs leave the reason why they are not recorded into a log, one
 * line each.  Several programs that start together with one name append to it, while the one that
 * records removes the lines of earlier runs.  So that it removes no line of this run:
 *
 *   recorder       reads the file, locks the log, begins to record, and removes the lines that it
 *                  has read, if the file still begins with them
 *   other program  finds the log locked, and appends its line after them
 *
 * Where the recorder fails, it removes nothing: others may have found the log locked by another.
 *
 * Both hold a flock() on the file meanwhile.  A program that does not get it for TURNS ms,
 * since its holder is stopped, does not touch the file: the recorder lets the lines of earlier
 * runs be, and the other program leaves its line in PT_RECORD_NOTE.  No program removes that file:
 * without its flock() the line is appended, too.  The same holds for LOG.error on a file system
 * without flock(), where the recorder removes nothing.
 *
 * Links, files with two names and files of another user are let be, too.
 */
#ifndef PT_STARTUP_SELF_RECORD_ERROR_H
#define PT_STARTUP_SELF_RECORD_ERROR_H

#include <stddef.h>

/* A file in the directory of streams: the lines that the file beside the log did not take, with the
 * log's name before them. */
#define PT_RECORD_NOTE "record.error"

struct pt_record_error {
    char *path; /* NULL: there was none, or it is not this user's */
    char *lines;
    size_t size;
};

/* Leaves a line.  unless: not if a line of the file has this text; or NULL. */
void pt_record_error_leave(const char *log, const char *line, const char *unless);
/* As it is before the log is locked. */
void pt_record_error_look(struct pt_record_error *e, const char *log);
/* Once this process records: removes the lines that were there, and the file if these are all. */
void pt_record_error_remove(const struct pt_record_error *e);
void pt_record_error_free(struct pt_record_error *e);

#endif
