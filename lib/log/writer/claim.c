/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See claim.h. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/thread.h"
#include "log/format.h"
#include "log/writer/claim.h"
#include "log/writer/holder.h"
#include "log/writer/lock.h"

/* With locks of its own, or with those of the caller's descriptor. */
static int lock_fd(const struct pt_log_claim *c)
{
    return c->own.file.fd >= 0 ? c->own.file.fd : c->fd;
}

static enum pt_log_owner owner(const struct pt_log_claim *c)
{
    return c->own.file.fd >= 0 ? PT_LOG_OF_DESCRIPTION : PT_LOG_OF_PROCESS;
}

/* Takes the flock(), unless the caller's descriptor has it. */
static int lock(struct pt_log_claim *c)
{
    c->has_lock = flock(lock_fd(c), LOCK_EX | LOCK_NB) == 0;
    if (c->has_lock)
        return 0;
    if (errno != EWOULDBLOCK)
        return -errno;
    return c->own.file.fd >= 0 && pt_log_holder_is(c->fd) > 0 ? 0 : -EBUSY;
}

static void unlock(struct pt_log_claim *c)
{
    if (c->has_lock)
        flock(lock_fd(c), LOCK_UN);
    c->has_lock = false;
}

/* Between two changes. */
static void let_others(struct pt_log_claim *c)
{
    if (c->has_byte)
        unlock(c);
}

/* From another log only these bytes are read. */
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

/* Stores the bytes that the change may have to be compared with, or replaced by. */
static int prepare(struct pt_log_claim *c, const struct pt_output_change *change)
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

static int begin(struct pt_log_claim *c, const struct pt_output_change *change)
{
    uint8_t head[sizeof c->head];
    off_t size = 0;
    int e = c->has_byte ? lock(c) : 0;

    if (e < 0)
        return e;
    e = look(c, head, &size);
    if (e == 0 && (size != c->size || !is_same(c, head)))
        e = -ESTALE;
    if (e == 0)
        e = prepare(c, change);
    if (e < 0)
        let_others(c);
    return e;
}

/* No handler runs from here to leave(): it could fork, and the child make the same change. */
static int enter(void *claim, const struct pt_output_change *change)
{
    struct pt_log_claim *c = claim;

    pt_thread_hold_signals(&c->signals);
    if (c->over == 0)
        c->over = pt_log_own_check(&c->own);
    if (c->over == 0)
        c->over = begin(c, change);
    if (c->over < 0)
        pt_thread_let_signals(&c->signals);
    return c->over;
}

/* Does the file have what the change has written? */
static bool is_written(const struct pt_log_claim *c, const struct pt_output_change *change)
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
static int take_back(const struct pt_log_claim *c, const struct pt_output_change *change,
                     off_t size)
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

static int leave(void *claim, const struct pt_output_change *change)
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
    let_others(c);
    pt_thread_let_signals(&c->signals);
    return c->over;
}

static int claim(struct pt_log_claim *c)
{
    int e = pt_log_byte_take(lock_fd(c), PT_LOG_BYTE_RECOVERY, owner(c));

    c->has_byte = e == 0;
    if (e == -EBUSY || pt_log_byte_is_taken(c->fd, PT_LOG_BYTE_STREAM))
        return -EBUSY;
    e = lock(c);
    if (e < 0)
        return e;
    e = look(c, c->head, &c->size);
    let_others(c);
    return e;
}

int pt_log_claim(struct pt_log_claim *c, int fd)
{
    int e;

    memset(c, 0, sizeof *c);
    c->fd = fd;
    c->gate = (struct pt_output_gate){ enter, leave, c };
    e = pt_log_own_take(&c->own, fd);
    if (e < 0)
        return e;
    e = claim(c);
    if (e < 0)
        pt_log_claim_end(c);
    return e;
}

/* Unlocked, not closed alone: a child of the bare system call may have the description. */
int pt_log_claim_end(struct pt_log_claim *c)
{
    int e = pt_log_own_check(&c->own);

    if (e == 0) {
        unlock(c);
        if (c->has_byte)
            pt_log_byte_free(lock_fd(c), PT_LOG_BYTE_RECOVERY, owner(c));
    }
    pt_log_own_release(&c->own);
    return e == -EBUSY ? e : 0;
}

int pt_log_claim_truncate(struct pt_log_claim *c, off_t size)
{
    struct pt_output_change change = { .offset = (uint64_t)size };
    int e = enter(c, &change), cut;

    if (e < 0)
        return e;
    cut = ftruncate(c->fd, size) < 0 ? -errno : 0;
    e = leave(c, &change);
    return cut ? cut : e;
}

int pt_log_claim_start(struct pt_log_claim *c, const void *bytes, size_t length)
{
    struct pt_output_change change = { .bytes = bytes, .length = length };
    int e = enter(c, &change), wrote = 0;
    ssize_t n;

    if (e < 0)
        return e;
    n = c->size > 0 ? ftruncate(c->fd, 0) : 0;
    if (n == 0) {
        c->size = 0;
        n = pwrite(c->fd, bytes, length, 0);
    }
    if (n == (ssize_t)length) {
        memcpy(c->head, bytes, sizeof c->head);
    } else {
        wrote = n < 0 ? -errno : -ENOSPC;
        change.length = n > 0 ? (size_t)n : 0;
    }
    e = leave(c, &change);
    return wrote ? wrote : e;
}
