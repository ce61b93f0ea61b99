/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See unmapped.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/sys.h"
#include "place/unmapped.h"

static bool is_tested(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && ((unsigned long)fs.f_type == TMPFS_MAGIC ||
                                     (unsigned long)fs.f_type == EXT4_SUPER_MAGIC);
}

/* If a process opens the file for writing meanwhile, the kernel sends the holder a signal: here one
 * that is ignored by default, in place of SIGIO, which ends a process. */
static int take_lease(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || !is_tested(fd))
        return -EOPNOTSUPP;
    return fcntl(fd, F_SETSIG, SIGWINCH) < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0 ? -errno : 0;
}

int pt_unmapped_hold(int dir, const char *file)
{
    int saved = errno, fd = openat(dir, file, O_RDONLY | PT_OPEN_BRIEFLY);
    int r = fd < 0 ? -errno : take_lease(fd);

    if (r < 0 && fd >= 0)
        close(fd);
    errno = saved;
    return r < 0 ? r : fd;
}

/* A child that was forked meanwhile has the descriptor, too. */
void pt_unmapped_release(int fd)
{
    int saved = errno;

    fcntl(fd, F_SETLEASE, F_UNLCK);
    close(fd);
    errno = saved;
}

bool pt_is_unmapped(int dir, const char *file)
{
    int fd = pt_unmapped_hold(dir, file);

    if (fd >= 0)
        pt_unmapped_release(fd);
    return fd >= 0;
}
