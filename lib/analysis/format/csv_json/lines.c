/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines; see lines.h.  Reading in order makes the window slide by large steps; a jump
 * begins a new one with a small read, and each further line in order doubles that, so
 * that neither sorted nor shuffled access reads much more than it uses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/csv_json/lines.h"
#include "analysis/format/common/spool.h"

enum { AHEAD_LEAST = 4096, AHEAD_MOST = 1 << 18 };

static bool make_room(struct pt_lines *l)
{
    size_t room = l->filled + l->ahead;
    char *more;

    if (l->room >= room)
        return true;
    more = realloc(l->window, room);
    if (!more)
        return false;
    l->window = more;
    l->room = room;
    return true;
}

int pt_lines_open(struct pt_lines *l, FILE *from, bool quotes)
{
    int error;

    memset(l, 0, sizeof *l);
    l->file = from;
    l->quotes = quotes;
    l->ahead = AHEAD_MOST;
    l->limit = -1;
    l->start = ftello(from);
    l->piped = l->start < 0;
    l->start = l->piped ? 0 : l->start;
    l->next = l->window_at = l->file_at = l->start;
    if (!make_room(l))
        return ENOMEM;
    error = l->piped ? pt_temporary_file(&l->spool) : 0;
    if (error)
        pt_lines_close(l);
    return error;
}

void pt_lines_close(struct pt_lines *l)
{
    if (l->spool)
        fclose(l->spool);
    free(l->window);
}

/* A read that a signal interrupts continues, or has ended. */
static size_t read_some(struct pt_lines *l, size_t wanted)
{
    char *to = l->window + l->filled;
    size_t got;

    do {
        clearerr(l->file);
        errno = 0;
        got = fread(to, 1, wanted, l->file);
    } while (got == 0 && ferror(l->file) && errno == EINTR);
    return got;
}

/* Reads more after the window: number of bytes, 0 at the end, or -errno. */
static ssize_t fill(struct pt_lines *l)
{
    off_t at = l->window_at + (off_t)l->filled;
    size_t wanted = l->ahead, got;

    if (!make_room(l))
        return -ENOMEM;
    if (l->limit >= 0 && at + (off_t)wanted > l->limit)
        wanted = (size_t)(l->limit - at);
    if (l->ended || wanted == 0)
        return 0;
    if (!l->piped && l->file_at != at && fseeko(l->file, at, SEEK_SET) != 0)
        return -errno;
    got = read_some(l, wanted);
    if (got == 0 && ferror(l->file))
        return -(errno ? errno : EIO);
    if (l->piped && fwrite(l->window + l->filled, 1, got, l->spool) != got)
        return -(errno ? errno : EIO);
    l->ended = l->piped && got == 0;
    l->filled += got;
    l->file_at = at + (off_t)got;
    return (ssize_t)got;
}

/* Makes the window begin at l->next. */
static void slide(struct pt_lines *l)
{
    size_t gone = (size_t)(l->next - l->window_at);

    memmove(l->window, l->window + gone, l->filled - gone);
    l->filled -= gone;
    l->window_at = l->next;
}

static bool odd_quotes(const char *at, const char *end)
{
    bool odd = false;

    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        odd = !odd;
        at++;
    }
    return odd;
}

/* Finds the newline that ends the line.  *looked: bytes of the line that were searched before;
 * *open: they end between quotes.  NULL: more bytes are needed. */
static char *find_end(struct pt_lines *l, size_t *looked, bool *open)
{
    char *at = l->window + *looked, *end = l->window + l->filled, *newline;

    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        if (!l->quotes || !(*open ^= odd_quotes(at, newline)))
            return newline;
        l->within++;
        at = newline + 1;
    }
    if (at < end && l->quotes)
        *open ^= odd_quotes(at, end);
    *looked = l->filled;
    return NULL;
}

/* The line at l->next, which is in the window or just after it. */
static int line_here(struct pt_lines *l, const char **line, size_t *length)
{
    size_t begin = (size_t)(l->next - l->window_at), looked = begin;
    bool open = false;
    char *newline;
    ssize_t n = 1;

    l->within = 0;
    while (!(newline = find_end(l, &looked, &open)) && l->filled - begin <= PT_LINE_MAX && n > 0) {
        if (begin > 0) {
            slide(l);
            looked -= begin;
            begin = 0;
        }
        n = fill(l);
    }
    if (n < 0)
        return (int)n;
    *line = l->window + begin;
    *length = newline ? (size_t)(newline - *line) : l->filled - begin;
    if (*length > PT_LINE_MAX)
        return -E2BIG;
    if (!newline && *length == 0)
        return 0;
    l->next += (off_t)*length + (newline != NULL);
    return 1;
}

int pt_lines_next(struct pt_lines *l, const char **line, size_t *length)
{
    uint64_t within = l->within;
    int got = line_here(l, line, length);

    if (got != 0)
        l->number += 1 + within;
    return got;
}

int pt_lines_rewind(struct pt_lines *l, bool ended)
{
    if (ended)
        l->limit = l->next;
    if (l->piped) {
        /* The unread rest is after a fault and is not needed. */
        if (fflush(l->spool) != 0)
            return errno;
        l->file = l->spool;
        l->piped = l->ended = false;
        l->file_at = -1;
    }
    l->filled = 0;
    l->number = l->within = 0;
    l->ahead = AHEAD_MOST;
    l->next = l->window_at = l->start;
    return 0;
}

int pt_lines_at(struct pt_lines *l, off_t offset, const char **line, size_t *length)
{
    bool in_order = offset == l->next;

    if (offset < l->window_at || offset >= l->window_at + (off_t)l->filled) {
        if (!in_order) {
            l->filled = 0;
            l->window_at = offset;
        }
        l->ahead = in_order && l->ahead < AHEAD_MOST ? 2 * l->ahead : AHEAD_LEAST;
    }
    l->next = offset;
    return line_here(l, line, length);
}
