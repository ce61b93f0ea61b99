/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See descriptor.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/descriptor.h"

#define LOWEST 512 /* of our copies; the usual limit is 1,024 */

int pt_descriptor_note(struct pt_descriptor *d, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    *d = (struct pt_descriptor){ fd, st.st_dev, st.st_ino };
    return 0;
}

int pt_descriptor_copy(struct pt_descriptor *d, int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST), e;

    if (own < 0 && errno != EBADF)
        own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return -errno;
    e = pt_descriptor_note(d, own);
    if (e < 0)
        close(own);
    return e;
}

int pt_descriptor_check(const struct pt_descriptor *d)
{
    struct stat st;

    return d->fd >= 0 && fstat(d->fd, &st) == 0 && st.st_dev == d->dev && st.st_ino == d->ino
               ? 0
               : -EBADF;
}

void pt_descriptor_close(struct pt_descriptor *d)
{
    if (pt_descriptor_check(d) == 0)
        close(d->fd);
    d->fd = -1;
}
