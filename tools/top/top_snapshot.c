/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The key w: what the streams hold now, as logs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/log.h>

#include "common/units.h"
#include "top/top_keys.h"

enum { NUMBERS = 100 };

/* "top-1234.ptl", or with a number if there is one. */
static int make_file(char *name, size_t size, pid_t owner)
{
    int fd = -1;

    for (unsigned i = 1; i <= NUMBERS && fd < 0; i++) {
        if (i == 1)
            snprintf(name, size, "top-%d.ptl", (int)owner);
        else
            snprintf(name, size, "top-%d-%u.ptl", (int)owner, i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static bool make(const struct top_stream *s, char *message, size_t size)
{
    struct posixtrace_snapshot_report report;
    char name[64];
    int fd = make_file(name, sizeof name, s->pid ? s->pid : s->info.owner), error;

    if (fd < 0) {
        snprintf(message, size, "cannot make %s: %s", name, strerror(errno));
        return false;
    }
    error = posixtrace_snapshot(s->trid, fd, &report, sizeof report);
    close(fd);
    if (error != 0) {
        unlink(name);
        snprintf(message, size, "cannot make %s: %s", name, posixtrace_error_text(error));
        return false;
    }
    snprintf(message, size, "%s: %s events", name, units_count(report.events));
    return true;
}

void top_snapshot(const struct top_set *set, char *message, size_t size)
{
    size_t made = 0;

    snprintf(message, size, "no stream that runs");
    for (size_t i = 0; i < set->count; i++) {
        if (set->streams[i]->ended)
            continue;
        if (!make(set->streams[i], message, size))
            return;
        made++;
    }
    if (made > 1)
        snprintf(message, size, "%zu logs: top-PID.ptl", made);
}
