/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The window over a log; see input.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/array.h"
#include "log/reader/input.h"

#define READ_BYTES (256u << 10)
#define ALIGNMENT  8u

void pt_input_init(struct pt_input *s, const struct pt_descriptor *file, bool seekable)
{
    *s = (struct pt_input){ .file = *file, .seekable = seekable, .keep = PT_SOURCE_KEEP_NOTHING };
}

void pt_input_deinit(struct pt_input *s)
{
    free(s->buffer);
    free(s->order.at);
    s->order = (struct pt_byteorder_buffer){ .at = NULL };
    s->buffer = NULL;
    s->length = s->room = 0;
}

void pt_input_forget(struct pt_input *s)
{
    if (!s->seekable)
        return;
    s->length = 0;
    s->keep = PT_SOURCE_KEEP_NOTHING;
}

const void *pt_input_look(const struct pt_input *s, uint64_t offset, size_t bytes)
{
    if (offset < s->start || offset - s->start > s->length ||
        bytes > s->length - (offset - s->start))
        return NULL;
    return s->buffer + (offset - s->start);
}

/* Moves the window's start forward to offset, or anywhere in a regular file. */
static void move_to(struct pt_input *s, uint64_t offset)
{
    offset -= offset % ALIGNMENT;
    if (offset >= s->start && offset - s->start < s->length) {
        s->length -= offset - s->start;
        memmove(s->buffer, s->buffer + (offset - s->start), s->length);
        s->start = offset;
    } else if (s->seekable) {
        s->start = offset;
        s->length = 0;
    } else if (offset == s->start + s->length) {
        s->start = offset;
        s->length = 0;
    }
}

static ssize_t read_at(const struct pt_input *s, void *to, size_t bytes, uint64_t offset)
{
    int e = pt_descriptor_check(&s->file);

    if (e < 0) {
        errno = -e;
        return -1;
    }
    return s->seekable ? pread(s->file.fd, to, bytes, (off_t)offset) : read(s->file.fd, to, bytes);
}

/* Reads from the file, as far as there is room: 1, 0 at the end, errno.  It reads at most as much
 * at a time as stays in the cache until it is used. */
static int read_more(struct pt_input *s)
{
    for (;;) {
        void *to = s->buffer + s->length;
        size_t room = s->room - s->length, most = room < READ_BYTES ? room : READ_BYTES;
        ssize_t n = read_at(s, to, most, s->start + s->length);

        if (n > 0) {
            pt_assert((size_t)n <= room);
            s->length += (size_t)n;
            return 1;
        }
        if (n == 0)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

/* The window ends with the file, somewhere in these bytes: those that it lacks become zeros.  NULL:
 * it has none of them. */
static const void *pad(struct pt_input *s, uint64_t offset, size_t bytes)
{
    size_t from = (size_t)(offset - s->start);

    if (!s->pads || offset < s->start || s->length <= from)
        return NULL;
    pt_assert(from + bytes <= s->room);
    memset(s->buffer + s->length, 0, from + bytes - s->length);
    return s->buffer + from;
}

const void *pt_input_fetch(struct pt_input *s, uint64_t offset, size_t bytes, int *error)
{
    const void *there = pt_input_look(s, offset, bytes);
    int rc = 1;

    *error = 0;
    if (there || offset > (uint64_t)INT64_MAX - bytes)
        return there;
    move_to(s, s->keep < offset ? s->keep : offset);
    pt_assert(s->start <= offset || !s->seekable);
    *error = pt_array_grow_to(&s->buffer, &s->room, (size_t)(offset - s->start) + bytes,
                              READ_BYTES);
    while (!*error && rc == 1 && s->length < offset - s->start + bytes) {
        rc = s->at_end ? 0 : read_more(s);
        if (rc < 0)
            *error = rc;
        if (rc == 0 && !s->seekable)
            s->at_end = true;
    }
    if (*error)
        return NULL;
    there = pt_input_look(s, offset, bytes);
    return there ? there : pad(s, offset, bytes);
}

int pt_input_read(const struct pt_input *s, void *to, size_t bytes, uint64_t offset)
{
    uint8_t *p = to;

    while (bytes) {
        ssize_t n = read_at(s, p, bytes, offset);

        if (n == 0 && s->pads && p != to) {
            memset(p, 0, bytes);
            return 0;
        }
        if (n == 0)
            return -ENODATA;
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        p += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}
