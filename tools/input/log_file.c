/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs as input; see log_file.h.
 */
#include "input/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <posixtrace/attr.h>
#include <posixtrace/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tool.h"
#include "common/sync_option.h"
#include "input/folder.h"

enum { NEWEST_VERSION = 2 }; /* of the format that the library reads */

int log_file_descriptor(const char *path, int flags)
{
    int fd;

    if (strcmp(path, "-") == 0)
        return STDIN_FILENO;
    fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        tool_error("cannot open %s: %s", quote(path), strerror(errno));
    return fd;
}

char *log_file_call(const char *path)
{
    char *name;

    if (strcmp(path, "-") != 0)
        return quote_copy(path);
    name = tool_grow(NULL, sizeof "standard input", 1);
    return strcpy(name, "standard input");
}

static int lock_writer(int fd, int command, struct flock *lock)
{
    *lock = (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1, .l_start = (off_t)1 << 62
    };
    return fcntl(fd, command, lock) == 0 ? 0 : errno == EACCES ? EAGAIN : errno;
}

int log_file_lock(int fd)
{
    struct flock lock;

    return lock_writer(fd, F_OFD_SETLK, &lock);
}

bool log_file_is_locked(int fd)
{
    struct flock lock;

    return lock_writer(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

const char *log_file_why_not(int fd)
{
    struct stat st;
    char first;

    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return "it is a directory";
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return "it is empty";
    if (pread(fd, &first, 1, 0) == 1 && first == '{')
        return "it looks like JSON; 'posixtrace import --format=jsonl' makes a log of that";
    return "it has not the header of a log";
}

/* The version of the format in the header of a log (docs/log-format.md, 2); 0: a pipe. */
static uint32_t version_of(int fd)
{
    uint8_t head[12];

    if (pread(fd, head, sizeof head, 0) != sizeof head)
        return 0;
    return head[8] | (uint32_t)head[9] << 8 | (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
}

const char *log_file_why_unsupported(int fd)
{
    static char text[120];
    uint32_t version = version_of(fd);
    trace_attr_t attr;
    int error = posix_trace_attr_init(&attr);

    if (version > NEWEST_VERSION) {
        snprintf(text, sizeof text,
                 "it has version %" PRIu32 " of the format, this posixtrace reads versions up to "
                 "%d; use a newer one",
                 version, NEWEST_VERSION);
        return text;
    }
    if (error == 0)
        error = posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD);
    if (error == ENOTSUP)
        return "it is compressed, and this posixtrace was built without zstd; build it again "
               "where libzstd-dev is installed";
    return "it was written by a newer version of posixtrace; use that one to read it";
}

static void release(struct log_file *log)
{
    if (log->fd != STDIN_FILENO)
        close(log->fd);
    free(log->shown);
    free(log->name);
}

static int explain(struct log_file *log, int error)
{
    if (error == EINVAL || error == EILSEQ)
        return tool_error("%s is not a trace log: %s", log->shown, log_file_why_not(log->fd));
    if (error == ENOTSUP)
        return tool_error("cannot read %s: %s", log->shown, log_file_why_unsupported(log->fd));
    return tool_error("cannot read %s: %s", log->shown, failure_reason(error));
}

static int open_file(struct log_file *log, const char *path)
{
    struct stat st;
    int error;

    log->fd = log_file_descriptor(path, O_RDONLY);
    if (log->fd < 0)
        return EXIT_FAILED;
    log->shown = log_file_call(path);
    log->name = strcpy(tool_grow(NULL, strlen(path) + 1, 1), path);
    error = fstat(log->fd, &st) == 0 ? 0 : errno;
    if (error == 0 && S_ISREG(st.st_mode)) {
        log->seekable = true;
        log->size = (uint64_t)st.st_size;
    }
    if (error == 0)
        error = posix_trace_open(log->fd, &log->trid);
    if (error != 0)
        error = explain(log, error);
    else if (sync_option_apply(log->trid, log->shown) != EXIT_DONE ||
             log_file_refresh(log) != EXIT_DONE)
        error = EXIT_FAILED;
    if (error != 0)
        release(log);
    return error;
}

/* The descriptor is of one piece: the library opens the others when their turn comes. */
static int open_pieces(struct log_file *log, const struct folder_log *is)
{
    int error, status = EXIT_DONE;

    for (size_t i = 0; log->fd < 0 && i < is->count; i++)
        log->fd = open(is->files[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);
    log->name = strcpy(tool_grow(NULL, strlen(is->name) + 1, 1), is->name);
    log->shown = log_file_call(is->path);
    log->seekable = true;
    log->size = is->bytes;
    error = posixtrace_open_pieces((const char *const *)is->files, is->count, &log->trid);
    if (error != 0)
        status = explain(log, error);
    else if (sync_option_apply(log->trid, log->shown) != EXIT_DONE ||
             log_file_refresh(log) != EXIT_DONE)
        status = EXIT_FAILED;
    if (status != EXIT_DONE)
        release(log);
    return status;
}

static int open_in_folder(struct log_file *log, const char *path, const char *folder,
                          const uint8_t *id)
{
    const struct folder_log *is;
    struct folder f;
    int status = folder_list(&f, folder);

    is = status == EXIT_DONE ? folder_find(&f, path, id) : NULL;
    if (!is)
        status = EXIT_FAILED;
    else if (is->files)
        status = open_pieces(log, is);
    else
        status = open_file(log, is->path);
    folder_free(&f);
    return status;
}

int log_file_open(struct log_file *log, const char *path)
{
    char *folder = NULL;
    uint8_t id[16];
    int status;

    memset(log, 0, sizeof *log);
    log->path = path;
    log->fd = -1;
    if (folder_is(path))
        status = open_in_folder(log, path, path, NULL);
    else if (folder_is_stream(path, &folder, id))
        status = open_in_folder(log, path, folder, id);
    else
        status = open_file(log, path);
    free(folder);
    return status;
}

void log_file_close(struct log_file *log)
{
    posix_trace_close(log->trid);
    release(log);
}

int log_file_refresh(struct log_file *log)
{
    int error = posixtrace_get_info(log->trid, &log->info, sizeof log->info);

    return error ? tool_error("cannot read %s: %s", log->shown, failure_reason(error)) : EXIT_DONE;
}

static int by_id(const void *a, const void *b)
{
    const struct log_type *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

bool log_file_is_loss_mark(trace_event_id_t id)
{
    return id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME;
}

int64_t log_file_kept_from(const struct log_file *log)
{
    int64_t from = log->info.first_ns;
    struct posixtrace_event e;
    int unavailable = 0;

    if (!log->seekable || log->info.events == 0)
        return from;
    while (posixtrace_next_event(log->trid, &e, sizeof e, &unavailable) == 0 && !unavailable) {
        from = e.ns;
        if (!log_file_is_loss_mark(e.id))
            break;
    }
    posix_trace_rewind(log->trid);
    return from;
}

int log_file_types(const struct log_file *log, struct log_type **types, size_t *count)
{
    struct log_type *list = NULL;
    size_t used = 0, room = 0;
    int unavailable = 0, error;

    error = posix_trace_eventtypelist_rewind(log->trid);
    while (error == 0) {
        struct log_type *type;

        if (used == room) {
            room = room ? 2 * room : 64;
            list = tool_grow(list, room, sizeof *list);
        }
        type = &list[used];
        error = posix_trace_eventtypelist_getnext_id(log->trid, &type->id, &unavailable);
        if (error != 0 || unavailable)
            break;
        error = posix_trace_eventid_get_name(log->trid, type->id, type->name);
        /* a pipe counts at its end only */
        if (posixtrace_event_count(log->trid, type->id, &type->count) != 0)
            type->count = 0;
        used++;
    }
    if (error != 0) {
        free(list);
        return tool_error("cannot list the event types of %s: %s", log->shown, strerror(error));
    }
    qsort(list, used, sizeof *list, by_id);
    *types = list;
    *count = used;
    return EXIT_DONE;
}

uint64_t log_file_lost(const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += lost[i];
    return sum;
}

uint64_t log_file_lost_all(const struct log_file *log)
{
    return log_file_lost(log->info.lost);
}

const char *log_file_causes(const struct posixtrace_info *info)
{
    static char causes[640];
    size_t used = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES && used < sizeof causes; i++) {
        if (info->lost[i])
            used += (size_t)snprintf(causes + used, sizeof causes - used, "%s%s %" PRIu64,
                                     used ? ", " : "", posixtrace_loss_cause_text(i),
                                     info->lost[i]);
    }
    if (info->flush_error && used < sizeof causes)
        snprintf(causes + used, sizeof causes - used, "; first error: %s",
                 strerror(info->flush_error));
    return causes;
}

uint64_t log_file_gaps(const struct log_file *log)
{
    uint64_t count = 0;

    if (log_file_lost_all(log) > 0 ||
        posixtrace_event_count(log->trid, POSIX_TRACE_OVERFLOW, &count) != 0)
        return 0;
    return count;
}

bool log_file_has_unread(const struct log_file *log)
{
    return log->info.skipped_bytes > 0 || log->info.end == POSIXTRACE_END_CUT;
}

uint64_t log_file_unnamed(const struct log_file *log)
{
    struct log_type *types = NULL;
    size_t count = 0, named = 0;
    uint64_t events = 0;

    if (log_file_types(log, &types, &count) != EXIT_DONE)
        return 0;
    for (size_t i = 0; i < count; i++) {
        named += types[i].id > POSIX_TRACE_UNNAMED_USEREVENT;
        events += types[i].id == POSIX_TRACE_UNNAMED_USEREVENT ? types[i].count : 0;
    }
    free(types);
    return named >= TRACE_USER_EVENT_MAX - 1 ? events : 0;
}

bool log_file_knows_totals(const struct log_file *log)
{
    return log->seekable || log->info.end != POSIXTRACE_END_CUT;
}

static void say_lost(const struct log_file *log, uint64_t sum)
{
    tool_note("%" PRIu64 " event%s%s%s lost (%s)", sum, sum == 1 ? "" : "s",
              log->one_of_several ? " of " : "", log->one_of_several ? log->shown : "",
              log_file_causes(&log->info));
}

int log_file_report_loss(struct log_file *log, bool strict, int status)
{
    const struct posixtrace_info *info = &log->info;
    uint64_t sum, gaps;
    bool said = false;

    if (log_file_refresh(log) != EXIT_DONE)
        return EXIT_FAILED;
    sum = log_file_lost_all(log);
    if (sum > 0) {
        say_lost(log, sum);
        said = true;
    }
    gaps = log_file_gaps(log);
    if (gaps > 0)
        tool_note("events were lost in %" PRIu64 " place%s of %s, which does not say how many",
                  gaps, gaps == 1 ? "" : "s", log->shown);
    if (info->skipped_bytes > 0)
        tool_note("%" PRIu64 " bytes of %s cannot be read; 'posixtrace check' says where",
                  info->skipped_bytes, log->shown);
    if (info->end == POSIXTRACE_END_CUT)
        tool_note("%s is cut: its writer died, or its end is missing", log->shown);
    said |= gaps > 0 || log_file_has_unread(log);
    return said && strict && status == EXIT_DONE ? EXIT_LOST : status;
}
