/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Buffered output of packets; see output.h. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/array.h"
#include "base/sys.h"
#include "log/writer/output.h"

#define BUFFER_BYTES  (256u << 10)
#define FIRST_PACKETS 64u
#define ALIGNMENT     8u

int pt_output_init(struct pt_output *o, int fd, bool seekable, uint64_t position)
{
    memset(o, 0, sizeof *o);
    o->fd = o->reads = fd;
    o->seekable = seekable;
    o->position = o->whole = position;
    o->buffer = malloc(BUFFER_BYTES);
    o->packets = malloc(FIRST_PACKETS * sizeof *o->packets);
    o->room = BUFFER_BYTES;
    o->packet_room = FIRST_PACKETS;
    if (o->buffer && o->packets)
        return 0;
    pt_output_deinit(o);
    return -ENOMEM;
}

void pt_output_deinit(struct pt_output *o)
{
    free(o->buffer);
    free(o->packets);
    o->buffer = NULL;
    o->packets = NULL;
}

void pt_output_look(struct pt_output *o)
{
    struct stat st;

    if (!o->seekable || fstat(o->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size >= o->size)
        return;
    if (!o->was_cut || (uint64_t)st.st_size < o->cut)
        o->cut = (uint64_t)st.st_size;
    o->was_cut = true;
}

/* True: the file has a zero where it had another byte. */
static bool is_hole(const struct pt_output *o, uint64_t at)
{
    uint8_t byte = 1;

    return pread(o->reads, &byte, 1, (off_t)at) == 1 && byte == 0;
}

/* Called after a write: the file may have been cut between the check and the write, which made it
 * as long as before.  The size of the cut is unknown, so the header counts as cut off, too. */
static void look_for_hole(struct pt_output *o, const uint8_t *from, size_t bytes, uint64_t offset)
{
    uint64_t end = offset + bytes;

    if (is_hole(o, 0) || (o->witness && o->witness < offset && is_hole(o, o->witness))) {
        o->was_cut = true;
        o->cut = 0;
    }
    if (end < o->size && (o->witness < offset || o->witness >= end))
        return;
    while (bytes > 0 && from[bytes - 1] == 0)
        bytes--;
    o->witness = bytes > 0 ? offset + bytes - 1 : o->witness < offset ? o->witness : 0;
}

static ssize_t try_write(struct pt_output *o, const void *from, size_t bytes, uint64_t offset,
                         bool seekable)
{
    pt_output_look(o);
    if (o->refused)
        return o->refused;
    /* The thread may be the program's: of a log builder, of a recovery. */
    if (seekable && !pt_sys_allows_size(offset + 1))
        return -EFBIG;
    for (;;) {
        ssize_t n = seekable ? pwrite(o->fd, from, bytes, (off_t)offset)
                             : write(o->fd, from, bytes);

        if (n > 0 && offset + (uint64_t)n > o->size)
            o->size = offset + (uint64_t)n;
        if (n > 0 && seekable)
            look_for_hole(o, from, (size_t)n, offset);
        if (n > 0)
            return n;
        if (n == 0)
            return -EIO;
        if (errno == EAGAIN) {
            /* The application may have made the pipe non-blocking: wait here. */
            struct pollfd poll_fd = { .fd = o->fd, .events = POLLOUT };

            if (poll(&poll_fd, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
}

static size_t rehearse(struct pt_output *o, size_t bytes, uint64_t offset)
{
    if (offset + bytes > o->reach)
        o->reach = offset + bytes;
    return bytes;
}

static int enter(struct pt_output *o, const struct pt_output_change *change)
{
    return o->gate ? o->gate->enter(o->gate->context, change) : 0;
}

static int leave(struct pt_output *o, const struct pt_output_change *change)
{
    return o->gate ? o->gate->leave(o->gate->context, change) : 0;
}

/* One write; how many bytes, or negative errno. */
static ssize_t write_some(struct pt_output *o, const void *from, size_t bytes, uint64_t offset,
                          bool seekable)
{
    struct pt_output_change change = { from, bytes, offset, o->extends };
    int e, cancel;
    ssize_t n;

    if (o->rehearses)
        return (ssize_t)rehearse(o, bytes, offset);
    e = enter(o, &change);
    if (e < 0)
        return e;
    if (o->waits)
        o->waits(o->waits_context, true);
    /* A thread that is cancelled in a builder's write would leave the log half written. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    n = try_write(o, from, bytes, offset, seekable);
    pthread_setcancelstate(cancel, NULL);
    change.length = n > 0 ? (size_t)n : 0;
    e = leave(o, &change);
    if (e < 0)
        n = e;
    if (o->waits)
        o->waits(o->waits_context, false);
    return n;
}

/* bytes more are on disk: removes the packets that they complete from the list. */
static void note_written(struct pt_output *o, size_t bytes)
{
    size_t done = 0;

    pt_assert_call(bytes <= o->length);
    o->position += bytes;
    o->length -= bytes;
    while (done < o->packet_count && o->packets[done].end <= o->position)
        o->whole = o->packets[done++].end;
    o->packet_count -= done;
    memmove(o->packets, o->packets + done, o->packet_count * sizeof *o->packets);
}

/* Where the byte for o->position is in the buffer.  The file offset decides, so
 * that packets stay aligned in memory after a write that ended in the middle. */
static uint8_t *first_byte(const struct pt_output *o)
{
    return o->buffer + o->position % ALIGNMENT;
}

/* Do the packets in the buffer end in order, the last one with the buffer? */
PT_VALIDATOR bool is_valid(const struct pt_output *o)
{
    uint64_t end = o->whole;

    for (size_t i = 0; i < o->packet_count; end = o->packets[i++].end)
        if (o->packets[i].end <= end)
            return false;
    return o->packet_count <= o->packet_room && o->whole <= o->position &&
           o->length <= o->room - ALIGNMENT && (o->packet_count > 0) == (o->length > 0) &&
           (o->packet_count == 0 || end == pt_output_offset(o));
}
int pt_output_flush(struct pt_output *o)
{
    uint8_t *first = first_byte(o);
    size_t done = 0;
    int error = 0;

    while (done < o->length) {
        ssize_t n = write_some(o, first + done, o->length - done, o->position + done, o->seekable);

        if (n < 0) {
            error = (int)n;
            break;
        }
        done += (size_t)n;
    }
    if (done) {
        note_written(o, done);
        memmove(first_byte(o), first + done, o->length);
    }
    pt_assert(error || o->length == 0);
    pt_assert_valid(is_valid(o));
    return error;
}

void *pt_output_reserve(struct pt_output *o, size_t bytes, int *error)
{
    *error = 0;
    if (o->length + bytes > o->room - ALIGNMENT)
        *error = pt_output_flush(o);
    if (*error)
        return NULL;
    *error = pt_array_grow_to(&o->buffer, &o->room, bytes + ALIGNMENT, BUFFER_BYTES);
    if (!*error)
        *error = pt_array_grow(&o->packets, &o->packet_room, o->packet_count, sizeof *o->packets);
    return *error ? NULL : first_byte(o) + o->length;
}

void pt_output_commit(struct pt_output *o, size_t bytes, uint64_t wid, uint32_t events)
{
    pt_assert_call(bytes > 0 && o->packet_count < o->packet_room);
    pt_assert(o->length + bytes <= o->room - ALIGNMENT);
    o->length += bytes;
    o->packets[o->packet_count++] = (struct pt_output_packet){ .end = pt_output_offset(o),
                                                               .wid = wid,
                                                               .events = events };
}

void pt_output_uncount(struct pt_output *o, uint64_t from, uint64_t bytes)
{
    /* Of a part that begins before the ring's end, from is below zero. */
    for (size_t i = 0; i < o->packet_count; i++)
        if (o->packets[i].end - from - 1 < bytes)
            o->packets[i].events = 0;
}

void pt_output_discard(struct pt_output *o, uint64_t position)
{
    o->length = 0;
    o->packet_count = 0;
    o->position = o->whole = position;
}

int pt_output_truncate(struct pt_output *o, uint64_t size)
{
    struct pt_output_change change = { .offset = size };
    int e, cut;

    if (o->rehearses)
        return 0;
    e = enter(o, &change);
    if (e < 0)
        return e;
    cut = ftruncate(o->fd, (off_t)size) != 0 ? -errno : 0;
    e = leave(o, &change);
    if (cut == 0)
        o->size = size;
    if (o->witness >= o->size)
        o->witness = 0;
    return cut ? cut : e;
}

int pt_output_seek(struct pt_output *o, uint64_t position)
{
    int error = pt_output_flush(o);

    if (!error)
        pt_output_discard(o, position);
    return error;
}

int pt_output_write_at(struct pt_output *o, const void *from, size_t bytes, uint64_t offset)
{
    const uint8_t *p = from;

    while (bytes) {
        ssize_t n = write_some(o, p, bytes, offset, true);

        if (n < 0)
            return (int)n;
        p += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

int pt_output_extend(struct pt_output *o, uint64_t size)
{
    struct stat st;
    int error = fstat(o->fd, &st) != 0 ? -errno : 0;
    uint64_t at = error ? size : (uint64_t)st.st_size;

    memset(o->buffer, 0, o->room);
    o->extends = true;
    while (!error && at < size) {
        size_t bytes = size - at < o->room ? (size_t)(size - at) : o->room;

        error = pt_output_write_at(o, o->buffer, bytes, at);
        at += bytes;
    }
    o->extends = false;
    return error;
}
