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

static int enter(void *claim)
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
    if (e < 0)
        unlock(c);
    return c->over = e;
}

static int leave(void *claim, int64_t size)
{
    static const uint8_t nothing[sizeof ((struct pt_log_claim *)0)->head];
    struct pt_log_claim *c = claim;
    off_t least = size < 0 ? c->size : (off_t)size;
    uint8_t head[sizeof c->head];
    bool cut;

    c->over = look(c, head, &c->size);
    cut = c->over == 0 && (c->size < least || !is_same(c, head));
    /* Cut to nothing, and what is there now is ours alone. */
    if (cut && (is_same(c, head) || memcmp(head, nothing, sizeof head) == 0) &&
        ftruncate(c->fd, 0) < 0)
        c->over = -errno;
    else if (cut)
        c->over = -ESTALE;
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
    int e = enter(c), cut;

    if (e < 0)
        return e;
    cut = ftruncate(c->fd, size) < 0 ? -errno : 0;
    e = leave(c, cut ? -1 : size);
    return cut ? cut : e;
}
