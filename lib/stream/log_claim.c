/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_claim.h. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/format.h"
#include "stream/log_claim.h"
#include "stream/log_lock.h"

static int lock(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

static void unlock(const struct pt_log_claim *c)
{
    if (c->has_byte)
        flock(c->fd, LOCK_UN);
}

/* Of another log nothing but these bytes is looked at. */
static bool is_same(const struct pt_log_claim *c, const uint8_t head[sizeof c->head])
{
    const size_t id = offsetof(struct pt_log_header, id);

    return memcmp(head, c->head, sizeof PT_LOG_MAGIC - 1) == 0 &&
           memcmp(head + id, c->head + id, sizeof c->head - id) == 0;
}

/* How the file is now; zeros where it has nothing. */
static int look(const struct pt_log_claim *c, uint8_t head[sizeof c->head], off_t *size)
{
    struct stat st;

    memset(head, 0, sizeof c->head);
    if (fstat(c->fd, &st) < 0 || pread(c->fd, head, sizeof c->head, 0) < 0)
        return -errno;
    *size = st.st_size;
    return 0;
}

/* The last byte before end that is not zero; -1: there is none. */
static int find_last(const struct pt_log_claim *c, off_t end, off_t *at)
{
    uint8_t piece[4096];

    for (*at = -1; *at < 0 && end > 0;) {
        off_t from = end > (off_t)sizeof piece ? end - (off_t)sizeof piece : 0;
        ssize_t n = pread(c->fd, piece, (size_t)(end - from), from);

        if (n < 0)
            return -errno;
        while (n > 0 && piece[n - 1] == 0)
            n--;
        *at = n > 0 ? from + n - 1 : -1;
        end = from;
    }
    return 0;
}

static bool is_there(const struct pt_log_claim *c)
{
    uint8_t byte = 0;

    return c->witness < 0 || (pread(c->fd, &byte, 1, c->witness) == 1 && byte != 0);
}

/* Notes what the change may have to be compared with, or replaced by. */
static int prepare(struct pt_log_claim *c, const struct pt_out_change *change)
{
    off_t from = (off_t)change->offset;
    ssize_t n = 0;

    if (change->bytes && change->length <= sizeof c->old)
        n = pread(c->fd, c->old, change->length, from);
    c->old_length = n > 0 ? (size_t)n : 0;
    if (change->zeros && from == c->size && from == c->zeros_end)
        return 0;
    return find_last(c, from < c->size ? from : c->size, &c->witness);
}

static int enter(void *claim, const struct pt_out_change *change)
{
    struct pt_log_claim *c = claim;
    uint8_t head[sizeof c->head];
    off_t size = 0;
    int e = c->over;

    if (e == 0 && c->has_byte)
        e = lock(c->fd);
    if (e < 0)
        return c->over = e;
    e = look(c, head, &size);
    if (e == 0 && (size != c->size || !is_same(c, head)))
        e = -ESTALE;
    if (e == 0)
        e = prepare(c, change);
    if (e < 0)
        unlock(c);
    return c->over = e;
}

/* Does the file have what the change has written? */
static bool is_written(const struct pt_log_claim *c, const struct pt_out_change *change)
{
    const uint8_t *bytes = change->bytes;
    uint8_t piece[4096];

    for (size_t done = 0; done < change->length;) {
        size_t most = change->length - done < sizeof piece ? change->length - done : sizeof piece;
        ssize_t n = pread(c->fd, piece, most, (off_t)(change->offset + done));

        if (n <= 0 || memcmp(piece, bytes + done, (size_t)n) != 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The file has another size, or other bytes, than the change has left: -ESTALE, or why it cannot
 * be taken back. */
static int take_back(const struct pt_log_claim *c, const struct pt_out_change *change, off_t size)
{
    off_t from = (off_t)change->offset, end = from + (off_t)change->length, at;
    bool last = size == end && is_written(c, change);
    int e = 0;

    if (last && find_last(c, from, &at) == 0 && at < 0)
        e = ftruncate(c->fd, 0);
    else if (last && change->bytes)
        e = ftruncate(c->fd, from);
    else if (size > end && c->old_length && c->old_length == change->length &&
             is_written(c, change))
        e = pwrite(c->fd, c->old, c->old_length, from) < 0 ? -1 : 0;
    return e < 0 ? -errno : -ESTALE;
}

static int leave(void *claim, const struct pt_out_change *change)
{
    struct pt_log_claim *c = claim;
    uint8_t head[sizeof c->head];
    off_t end = (off_t)(change->offset + change->length);
    off_t right = !change->bytes || c->size < end ? end : c->size, size = c->size;

    c->over = look(c, head, &size);
    if (c->over == 0 && (size != right || !is_same(c, head) || !is_there(c)))
        c->over = take_back(c, change, size);
    c->size = size;
    c->zeros_end = change->zeros ? end : 0;
    unlock(c);
    return c->over;
}

int pt_log_claim(struct pt_log_claim *c, int fd)
{
    int e;

    memset(c, 0, sizeof *c);
    c->fd = fd;
    c->gate = (struct pt_out_gate){ enter, leave, c };
    e = pt_log_byte_take(fd, PT_LOG_BYTE_RECOVERY);
    c->has_byte = e == 0;
    if (e == -EBUSY || pt_log_byte_is_taken(fd, PT_LOG_BYTE_STREAM) || (e = lock(fd)) < 0) {
        pt_log_claim_end(c);
        return e < 0 ? e : -EBUSY;
    }
    e = look(c, c->head, &c->size);
    unlock(c);
    if (e < 0)
        pt_log_claim_end(c);
    return e;
}

void pt_log_claim_end(struct pt_log_claim *c)
{
    if (c->has_byte)
        pt_log_byte_free(c->fd, PT_LOG_BYTE_RECOVERY);
    else
        flock(c->fd, LOCK_UN);
}

int pt_log_claim_truncate(struct pt_log_claim *c, off_t size)
{
    struct pt_out_change change = { .offset = (uint64_t)size };
    int e = enter(c, &change), cut;

    if (e < 0)
        return e;
    cut = ftruncate(c->fd, size) < 0 ? -errno : 0;
    e = leave(c, &change);
    return cut ? cut : e;
}
