/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self_record_log.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/open_above.h"
#include "consumer/crash_recovery.h"
#include "log/reader/reader.h"
#include "log/writer/lock.h"
#include "startup/self_record_log.h"

enum { TRIES = 99, KEPT = 1 };

static bool expand(const struct pt_record_name *name, const char *suffix, char path[PT_RECORD_PATH])
{
    char *to = path, *end = path + PT_RECORD_PATH;
    size_t length = strlen(name->folder);

    if (length > PT_RECORD_PATH - 12)
        return false;
    to = mempcpy(to, name->folder, length);
    for (const char *at = name->pattern; *at && to < end - 12; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            to += snprintf(to, (size_t)(end - to), "%d", (int)getpid());
            at++;
        } else {
            *to++ = *at;
            at += at[0] == '%' && at[1] == '%';
        }
    }
    *to = '\0';
    if (to >= end - 12)
        return false;
    strcpy(to, suffix);
    return true;
}

/* Until the stream has one (pt_log_lock_give()).  A stream that has taken its byte frees the given
 * lock before it takes its own.  File systems without locks have none. */
static int lock(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return -EBUSY;
    return pt_log_byte_is_taken(fd, PT_LOG_BYTE_STREAM) ? -EBUSY : 0;
}

/* Did its own writer complete the log?  Where a recovery did, which any program may start
 * in the background, the writer was killed, and the log is as worth keeping as before. */
static bool was_shut_down(struct pt_log_reader *reader)
{
    struct posixtrace_info info;

    return pt_log_reader_info(reader, &info) == 0 && info.end == POSIXTRACE_END_SHUTDOWN;
}

/* In a folder that others can write to, any user can make a file of that name, and read the
 * events that are recorded into it. */
static bool is_trusted(const char *path, const struct stat *log)
{
    const char *slash = strrchr(path, '/');
    char folder[PT_RECORD_PATH] = ".";
    struct stat st;

    if (slash)
        *(char *)mempcpy(folder, path, (size_t)(slash - path) + 1) = '\0';
    return log->st_uid == geteuid() || (stat(folder, &st) == 0 && st.st_uid == log->st_uid);
}

/* 0: fd, which was there before, may be overwritten; KEPT; or a negative errno. */
static int judge(int fd, const char *path)
{
    struct pt_log_reader *reader;
    struct pt_tail *tail = NULL;
    struct stat st;
    int r;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -EEXIST;
    if (!is_trusted(path, &st))
        return -EACCES;
    if (st.st_size == 0)
        return 0;
    r = pt_log_reader_new(&reader, fd);
    if (r < 0)
        return r == -EINVAL || r == -ENOTSUP ? -EEXIST : r;
    if (!pt_log_reader_complete(reader)) {
        r = pt_tail_open(&tail, pt_log_reader_params(reader)->id);
        r = r < 0 ? r : r == PT_TAIL_WRITER_ALIVE ? -EBUSY : KEPT;
        pt_tail_close(tail);
    } else if (r == 0 && !was_shut_down(reader)) {
        r = KEPT;
    }
    pt_log_reader_free(reader);
    return r;
}

static int open_one(const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = pt_open_above(AT_FDCWD, path, flags | O_CREAT | O_EXCL, 0666), r = 0;
    bool found = fd < 0 && errno == EEXIST;

    if (found)
        fd = pt_open_above(AT_FDCWD, path, flags, 0);
    if (fd < 0)
        return -errno;
    r = lock(fd);
    /* The process that has the lock may be completing the log of a dead writer; or it has begun
     * to overwrite a complete one, which then looks like that once at most. */
    if (found) {
        int verdict = judge(fd, path);

        if (r < 0 && verdict == KEPT)
            verdict = judge(fd, path);
        if (r == 0 || verdict == KEPT)
            r = verdict;
    }
    if (r == 0)
        return fd;
    close(fd);
    return r < 0 ? r : -ENOTEMPTY;
}

int pt_record_log_open(const struct pt_record_name *name, char path[PT_RECORD_PATH],
                       struct pt_record_old *old)
{
    int r = -ENOTEMPTY;

    *old = (struct pt_record_old){ .of_name.path = NULL };
    for (int i = 1; r == -ENOTEMPTY && i <= TRIES; i++) {
        struct pt_record_error *e = i > 1 ? &old->of_log : &old->of_name;
        char suffix[12] = "";

        if (i > 1)
            snprintf(suffix, sizeof suffix, ".%d", i);
        pt_record_error_free(e);
        if (expand(name, suffix, path)) {
            pt_record_error_look(e, path);
            r = open_one(path);
        } else {
            r = -ENAMETOOLONG;
        }
    }
    if (r < 0)
        pt_record_log_done(old, false);
    return r == -ENOTEMPTY ? -EEXIST : r;
}

void pt_record_log_done(struct pt_record_old *old, bool recorded)
{
    if (recorded) {
        pt_record_error_remove(&old->of_name);
        pt_record_error_remove(&old->of_log);
    }
    pt_record_error_free(&old->of_name);
    pt_record_error_free(&old->of_log);
}

void pt_record_log_drop(int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && st.st_size == 0)
        unlink(path);
}

int pt_record_log_look(const struct pt_record_name *name)
{
    char path[PT_RECORD_PATH], *slash;
    struct stat st;

    if (!expand(name, "", path))
        return -ENAMETOOLONG;
    if (stat(path, &st) == 0)
        return S_ISREG(st.st_mode) ? access(path, W_OK) < 0 ? -errno : 0 : -EEXIST;
    if (errno != ENOENT)
        return -errno;
    slash = strrchr(path, '/');
    if (!slash)
        slash = strcpy(path, "./") + 1;
    slash[slash == path] = '\0';
    return access(path, W_OK | X_OK) < 0 ? -errno : 0;
}

static const char *reason(int error, const char *bad)
{
    switch (error) {
    case EAGAIN: return "there are too many streams; one with a filter counts twice";
    case EBUSY: return "its log is being written by another process; put %p into the name";
    case EEXIST: return "a file of that name exists and is not a trace log that may be overwritten";
    case EINVAL: return bad ? bad : "the sizes are not good for a stream";
    default: return strerror(error);
    }
}

void pt_record_log_note(const struct pt_record_name *name, int error, const char *bad)
{
    static char path[PT_RECORD_PATH]; /* the thread may have a small stack */
    char line[512];

    snprintf(line, sizeof line, "process %d (%s) is not recorded: %s\n", (int)getpid(),
             program_invocation_short_name, reason(error, bad));
    pt_record_error_leave(expand(name, "", path) ? path : name->pattern, line, NULL);
}
