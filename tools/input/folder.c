/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See folder.h. */
#include "input/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>

#include "common/tool.h"
#include "input/log_file.h"

enum { ID_DIGITS = 32 };

static const char part_end[] = ".ptl" PIECES_PART;

bool pieces_is_part(const char *name)
{
    size_t length = strlen(name);

    return length >= sizeof part_end &&
           strcmp(name + length - (sizeof part_end - 1), part_end) == 0;
}

/* A file of the folder. */
struct entry {
    char *path;
    struct posixtrace_piece piece;
    uint64_t bytes;
};

struct entries {
    struct entry *at;
    size_t count, room;
};

bool folder_is(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *folder_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = tool_grow(NULL, size, 1);

    snprintf(path, size, "%s%s%s", folder, length > 0 && folder[length - 1] != '/' ? "/" : "",
             name);
    return path;
}

bool folder_is_log_name(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && name[0] != '.' && strcmp(name + length - 4, ".ptl") == 0;
}

/* False: it is a piece to come, without a header yet, or gone. */
static bool look_at(struct entry *e, bool part)
{
    int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st = { 0 };
    bool is;

    /* A later message says why it cannot be read. */
    if (fd < 0)
        return !part && errno != ENOENT;
    is = posixtrace_log_piece(fd, &e->piece, sizeof e->piece) == 0;
    if (fstat(fd, &st) == 0)
        e->bytes = (uint64_t)st.st_size;
    close(fd);
    return !part || (is && e->piece.number > 0);
}

static void add_file(struct entries *l, const char *folder, const char *name)
{
    struct entry e = { .path = folder_join(folder, name) };

    if (!look_at(&e, pieces_is_part(name))) {
        free(e.path);
        return;
    }
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->at = tool_grow(l->at, l->room, sizeof *l->at);
    }
    l->at[l->count++] = e;
}

/* An error number. */
static int read_folder(struct entries *l, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int error;

    if (!dir)
        return errno;
    for (errno = 0; (entry = readdir(dir)); errno = 0)
        if (folder_is_log_name(entry->d_name) ||
            (entry->d_name[0] != '.' && pieces_is_part(entry->d_name)))
            add_file(l, folder, entry->d_name);
    error = errno;
    closedir(dir);
    return error;
}

/* Pieces by stream and number, the others first, by path. */
static int by_stream(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    bool piece = x->piece.number > 0;
    int order;

    if (piece != (y->piece.number > 0))
        return piece ? 1 : -1;
    order = piece ? memcmp(x->piece.id, y->piece.id, sizeof x->piece.id) : 0;
    if (order == 0 && x->piece.number != y->piece.number)
        return x->piece.number < y->piece.number ? -1 : 1;
    return order ? order : strcmp(x->path, y->path);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The name of a piece without "-NUMBER"; another name as it is. */
static char *name_of_pieces(const char *path)
{
    const char *name = last_part(path), *end = strstr(name, ".ptl"), *at = end;
    char *copy = tool_grow(NULL, strlen(name) + 1, 1);

    while (at && at > name && isdigit((unsigned char)at[-1]))
        at--;
    strcpy(copy, name);
    if (at && at < end && at > name + 1 && at[-1] == '-')
        strcpy(copy + (at - 1 - name), ".ptl");
    return copy;
}

char *folder_path_of(const char *folder, const uint8_t id[16])
{
    char digits[ID_DIGITS + 1];

    for (int i = 0; i < 16; i++)
        snprintf(digits + 2 * i, 3, "%02x", id[i]);
    return folder_join(folder, digits);
}

/* Takes over the paths of entries first to end, which are pieces of one stream, or one file. */
static struct folder_log make_log(const char *folder, struct entry *first, size_t count)
{
    struct folder_log log = { .path = NULL };

    if (first->piece.number == 0) {
        log.path = first->path;
        log.name = strcpy(tool_grow(NULL, strlen(last_part(log.path)) + 1, 1), last_part(log.path));
        log.bytes = first->bytes;
        return log;
    }
    log.path = folder_path_of(folder, first->piece.id);
    log.name = name_of_pieces(first->path);
    log.files = tool_grow(NULL, count, sizeof *log.files);
    memcpy(log.id, first->piece.id, sizeof log.id);
    for (size_t i = 0; i < count; i++) {
        log.files[log.count++] = first[i].path;
        log.bytes += first[i].bytes;
    }
    return log;
}

static int by_name(const void *a, const void *b)
{
    const struct folder_log *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->path, y->path);
}

static int list(struct folder *f, const char *path)
{
    struct entries l = { NULL, 0, 0 };
    int error = read_folder(&l, path);

    *f = (struct folder){ NULL, 0 };
    if (l.count)
        qsort(l.at, l.count, sizeof *l.at, by_stream);
    for (size_t i = 0, end; i < l.count; i = end) {
        for (end = i + 1; end < l.count && l.at[i].piece.number > 0 &&
                          memcmp(l.at[i].piece.id, l.at[end].piece.id, 16) == 0;)
            end++;
        f->logs = tool_grow(f->logs, f->count + 1, sizeof *f->logs);
        f->logs[f->count++] = make_log(path, &l.at[i], end - i);
    }
    free(l.at);
    if (f->count)
        qsort(f->logs, f->count, sizeof *f->logs, by_name);
    return error;
}

int folder_list(struct folder *f, const char *path)
{
    int error = list(f, path);

    if (error != 0)
        return tool_error("cannot read folder %s: %s", quote(path), strerror(error));
    if (f->count == 0)
        return tool_error("folder %s has no log: no file in it is called *.ptl", quote(path));
    return EXIT_DONE;
}

bool folder_is_one_stream(const char *path)
{
    struct folder f;
    bool is = list(&f, path) == 0 && f.count == 1 && f.logs[0].files;

    folder_free(&f);
    return is;
}

void folder_free(struct folder *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct folder_log *log = &f->logs[i];

        for (size_t k = 0; k < log->count; k++)
            free(log->files[k]);
        free(log->files);
        free(log->name);
        free(log->path);
    }
    free(f->logs);
    *f = (struct folder){ NULL, 0 };
}

bool folder_is_stream(const char *path, char **folder, uint8_t id[16])
{
    const char *name = last_part(path);
    struct stat st;

    if (name == path || strlen(name) != ID_DIGITS ||
        strspn(name, "0123456789abcdef") != ID_DIGITS || stat(path, &st) == 0)
        return false;
    for (int i = 0; i < 16; i++)
        sscanf(name + 2 * i, "%2hhx", &id[i]);
    *folder = strndup(path, name == path + 1 ? 1 : (size_t)(name - 1 - path));
    return *folder && folder_is(*folder);
}

const struct folder_log *folder_find(const struct folder *f, const char *path, const uint8_t id[16])
{
    for (size_t i = 0; id && i < f->count; i++)
        if (f->logs[i].files && memcmp(f->logs[i].id, id, 16) == 0)
            return &f->logs[i];
    if (id) {
        tool_error("cannot open %s: no piece of that stream is in the folder", quote(path));
        return NULL;
    }
    if (f->count == 1)
        return &f->logs[0];
    tool_error("folder %s has %zu logs; name one of them, as %s", quote(path), f->count,
               quote(f->logs[0].path));
    return NULL;
}

/* ---- what killed writers have left ---- */

/* Not in place of another file.  NFS cannot promise that in one step. */
static int rename_new(const char *from, const char *to)
{
    struct stat st;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL)
        return errno;
    if (lstat(to, &st) == 0)
        return EEXIST;
    return rename(from, to) == 0 ? 0 : errno;
}

/* An empty one is removed if another piece comes before it: its writer was killed when it had made
 * it, and all events are in that other one.  ENOENT: a process that looked at the same time was
 * earlier. */
static int name_or_remove(const char *path, bool remove)
{
    size_t length = strlen(path) - strlen(PIECES_PART);
    char *to = tool_grow(NULL, length + 1, 1);
    int error;

    memcpy(to, path, length);
    to[length] = '\0';
    if (!remove)
        error = rename_new(path, to);
    else
        error = unlink(path) == 0 ? 0 : errno;
    free(to);
    if (error && error != ENOENT)
        return tool_error("cannot rename %s, which is complete: %s", quote(path), strerror(error));
    return EXIT_DONE;
}

int pieces_name(const char *path)
{
    return name_or_remove(path, false);
}

/* Has the log on fd nothing, no loss either? */
static bool is_empty(int fd)
{
    struct posixtrace_info info = { .events = 1 };
    trace_id_t trid;

    if (posix_trace_open(fd, &trid) != 0)
        return false;
    posixtrace_get_info(trid, &info, sizeof info);
    posix_trace_close(trid);
    return info.events == 0 && log_file_lost(info.lost) == 0;
}

/* EXIT_DONE also for one whose writer lives. */
static int settle_one(const char *path, size_t *count)
{
    struct posixtrace_recover_report report;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK), error;
    bool empty, begun;
    struct stat st;

    if (fd < 0)
        return errno == ENOENT ? EXIT_DONE
                               : tool_error("cannot open %s: %s", quote(path), strerror(errno));
    error = posixtrace_log_recover(fd, &report, sizeof report);
    empty = error == 0 && is_empty(fd);
    begun = fstat(fd, &st) != 0 || st.st_size > 0;
    close(fd);
    /* A living writer may be about to begin in an empty file. */
    if (error == EBUSY || (error == EILSEQ && !begun))
        return EXIT_DONE;
    if (error)
        return tool_error("cannot complete %s: %s", quote(path), posixtrace_error_text(error));
    ++*count;
    return name_or_remove(path, empty);
}

int pieces_settle(const char *folder, size_t *count)
{
    DIR *dir = opendir(folder);
    int status = EXIT_DONE;
    struct dirent *entry;

    *count = 0;
    if (!dir)
        return tool_error("cannot read folder %s: %s", quote(folder), strerror(errno));
    while ((entry = readdir(dir))) {
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        char *path;
        int one;

        if (!pieces_is_part(entry->d_name))
            continue;
        path = tool_grow(NULL, size, 1);
        snprintf(path, size, "%s/%s", folder, entry->d_name);
        one = settle_one(path, count);
        status = status ? status : one;
        free(path);
    }
    closedir(dir);
    return status;
}
