/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The file LOG.error, where programs leave the reason why they are not recorded into a log, one
 * line each.  Several programs that start together with one name append to it, while the one that
 * records removes the lines of earlier runs.  So that it removes no line of this run:
 *
 *   recorder       looks at the file, locks the log, and removes the file if it is as it was
 *   other program  finds the log locked, and appends its line: the file is not as it was
 *
 * Both hold a flock() on the file meanwhile.
 */
#ifndef PT_STARTUP_SELF_RECORD_ERROR_H
#define PT_STARTUP_SELF_RECORD_ERROR_H

#include <sys/stat.h>

/* A file in the directory of streams: the lines for logs in whose folders no file can be made, with
 * the log's name before them. */
#define PT_RECORD_NOTE "record.error"

struct pt_record_error {
    char *path; /* NULL: the file was not there */
    struct stat st;
};

/* Leaves a line.  unless: not if a line of the file has this text; or NULL. */
void pt_record_error_leave(const char *log, const char *line, const char *unless);
/* As it is before the log is locked. */
void pt_record_error_look(struct pt_record_error *e, const char *log);
/* Once the log is locked: removes the file if no line was added.  Not where the log is not. */
void pt_record_error_remove(struct pt_record_error *e);
void pt_record_error_free(struct pt_record_error *e);

#endif
