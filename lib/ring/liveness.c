/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See liveness.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "ring/liveness.h"

static ssize_t read_file(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    if (fd < 0)
        return -errno;
    n = read(fd, to, size - 1);
    if (n < 0)
        n = -errno;
    close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n;
}

static void proc_path(char *to, uint32_t pid, const char *leaf)
{
    char digits[12], *d = digits + sizeof digits - 1;
    char *p = to;

    *d = '\0';
    do
        *--d = (char)('0' + pid % 10);
    while ((pid /= 10) != 0);
    p = stpcpy(p, "/proc/");
    p = stpcpy(p, d);
    stpcpy(p, leaf);
}

uint64_t pt_process_start(uint32_t pid)
{
    char path[40], text[1024], *p;
    uint64_t start = 0;
    int saved = errno;
    ssize_t n;

    proc_path(path, pid, "/stat");
    n = read_file(path, text, sizeof text);
    errno = saved;
    if (n <= 0)
        return (n == -ENOENT || n == -ESRCH) && access("/proc/self/stat", R_OK) == 0
                   ? 0 : UINT64_MAX;
    /* Field 22; the command name in field 2 may contain anything, so count
     * from the last parenthesis, after which field 3 follows. */
    p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    for (; p && *p >= '0' && *p <= '9'; p++)
        start = start * 10 + (uint64_t)(*p - '0');
    return p ? start : UINT64_MAX;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void pt_identity_self(struct pt_identity *id)
{
    char text[64] = "";
    struct stat st;
    int saved = errno;
    unsigned k = 0;

    memset(id, 0, sizeof *id);
    id->pid = (uint32_t)getpid();
    id->start = pt_process_start(id->pid);
    if (id->start == UINT64_MAX)
        id->start = 0;
    read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    for (const char *p = text; *p && k < 32; p++) {
        int d = hex_digit(*p);

        if (d >= 0) {
            id->boot_id[k / 2] = (uint8_t)(id->boot_id[k / 2] << 4 | d);
            k++;
        }
    }
    if (stat("/proc/self/ns/pid", &st) == 0)
        id->pid_ns = st.st_ino;
    errno = saved;
}

/* Is dev:ino among the mappings of pid?  1 yes, 0 no, -1 cannot be told. */
static int maps_file(uint32_t pid, dev_t dev, ino_t ino)
{
    char path[40], *line = NULL;
    size_t size = 0;
    int found = 0;
    FILE *f;

    proc_path(path, pid, "/maps");
    f = fopen(path, "re");
    if (!f)
        return errno == ENOENT || errno == ESRCH ? 0 : -1;
    while (!found && getline(&line, &size, f) > 0) {
        unsigned major, minor;
        unsigned long long inode;

        if (sscanf(line, "%*s %*s %*s %x:%x %llu", &major, &minor, &inode) == 3)
            found = inode == ino && major == major(dev) && minor == minor(dev);
    }
    if (!found && ferror(f))
        found = -1;
    free(line);
    fclose(f);
    return found;
}

enum pt_liveness pt_owner_liveness(const struct pt_seg_header *h, dev_t dev, ino_t ino)
{
    struct pt_identity self;
    uint64_t start;
    int mapped;

    pt_identity_self(&self);
    if (memcmp(self.boot_id, h->boot_id, sizeof self.boot_id) != 0)
        return PT_DEAD;
    if (self.pid_ns == 0 || self.pid_ns != h->pid_ns)
        return PT_UNKNOWN;
    start = pt_process_start(h->owner_pid);
    if (start == UINT64_MAX)
        return PT_UNKNOWN;
    if (start == 0 || start != h->owner_start)
        return PT_DEAD;
    mapped = maps_file(h->owner_pid, dev, ino);
    return mapped < 0 ? PT_UNKNOWN : mapped ? PT_ALIVE : PT_DEAD;
}
