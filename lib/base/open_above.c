/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See open_above.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/descriptor.h"
#include "base/open_above.h"
#include "base/sys.h"

enum { LEAST = 3 };

struct held {
    struct pt_descriptor of[LEAST];
    int count;
};

/* Takes the numbers below LEAST that are free. */
static void hold(struct held *h, int dir)
{
    pt_brief_files_enter();
    h->count = 0;
    while (dir < LEAST && h->count < LEAST) {
        int fd = open(PT_ABOVE_PLACE, O_RDONLY | O_DIRECTORY | PT_OPEN_BRIEFLY);

        if (fd < 0)
            return;
        if (fd >= LEAST || pt_descriptor_note(&h->of[h->count], fd) < 0) {
            close(fd);
            return;
        }
        h->count++;
    }
}

/* Leaves errno alone.  Returns fd, or the number that it has then. */
static int let_go(struct held *h, int fd)
{
    int saved = errno, above;

    if (fd >= 0 && fd < LEAST) {
        above = fcntl(fd, F_DUPFD_CLOEXEC, LEAST);
        saved = above < 0 ? errno : saved;
        close(fd);
        fd = above;
    }
    /* The program may have closed them, and have the number. */
    while (h->count > 0)
        pt_descriptor_close(&h->of[--h->count]);
    pt_brief_files_leave();
    errno = saved;
    return fd;
}

int pt_open_above(int dir, const char *path, int flags, mode_t mode)
{
    struct held held;

    hold(&held, dir);
    return let_go(&held, openat(dir, path, flags, mode));
}

int pt_memory_above(const char *name, unsigned flags)
{
    struct held held;

    hold(&held, -1);
    return let_go(&held, memfd_create(name, flags));
}
