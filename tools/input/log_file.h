/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log that a verb reads: opening, information, and reports of its losses.  "-" is standard input.
 * A log that cannot be positioned (a pipe) learns its names, counts and losses while it is read:
 * info and types are complete only at its end.
 */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>

struct log_file {
    const char *path; /* as given; also a folder with one log, or FOLDER/ID (folder.h) */
    char *name;       /* what a label shows: a file's path, or for pieces what their names share */
    char *shown;      /* for messages: quoted, or "standard input" */
    int fd;
    trace_id_t trid;
    bool seekable;
    bool one_of_several;         /* which messages have to name */
    uint64_t size;               /* bytes; 0 for a pipe */
    struct posixtrace_info info; /* as of the last log_file_refresh(), as the next one */
};

struct log_type {
    trace_event_id_t id;
    uint64_t count;
    char name[TRACE_EVENT_NAME_MAX + 1];
};

/* EXIT_DONE, or another status after an error message. */
int log_file_open(struct log_file *log, const char *path);
void log_file_close(struct log_file *log);

/* How a path is called in messages; to be freed. */
char *log_file_call(const char *path);

/* The descriptor of a path, or of standard input for "-"; -1 after an error message. */
int log_file_descriptor(const char *path, int flags);

/* Locks the file as its writer (docs/log-format.md, 11), as long as the descriptor is open.
 * 0, or an error number; EAGAIN: another has that lock. */
int log_file_lock(int fd);
/* Does another have that lock? */
bool log_file_is_locked(int fd);

/* Why the file on fd is no log, as the rest of a sentence. */
const char *log_file_why_not(int fd);
/* The same for one that is a log, but not for this build (ENOTSUP). */
const char *log_file_why_unsupported(int fd);

/* Fetches info again. */
int log_file_refresh(struct log_file *log);

/* The time of the first event that the log has kept.  info.first_ns, before it, can be that of
 * a mark: where the oldest were overwritten, when that began.  Call before reading the log. */
int64_t log_file_kept_from(const struct log_file *log);
bool log_file_is_loss_mark(trace_event_id_t id);

/* The event types in the order of their ids; *types is for free(). */
int log_file_types(const struct log_file *log, struct log_type **types, size_t *count);

/* Reports the losses of the log and its unreadable parts, a line each.  Returns status, or
 * EXIT_LOST if strict, something was reported and status is 0. */
int log_file_report_loss(struct log_file *log, bool strict, int status);

/* Places where events are missing (posix_trace_overflow) in a log that counts no lost ones: it was
 * imported, and its source has only the fact of the loss.  For a log, not a stream. */
uint64_t log_file_gaps(const struct log_file *log);

/* Is a part of the log missing or not readable?  Complete when the log was read. */
bool log_file_has_unread(const struct log_file *log);

/* Events whose types got no name, since the process has as many names as there can be.  Of a
 * log. */
uint64_t log_file_unnamed(const struct log_file *log);

/* The totals of a log that is not whole are in its header and its last round, which a pipe has
 * passed by. */
bool log_file_knows_totals(const struct log_file *log);

/* The losses by cause, and the first error of writing; a static buffer. */
const char *log_file_causes(const struct posixtrace_info *info);

/* Sum over the causes in an array. */
uint64_t log_file_lost(const uint64_t lost[POSIXTRACE_LOSS_CAUSES]);
/* Sum over all causes. */
uint64_t log_file_lost_all(const struct log_file *log);

#endif
