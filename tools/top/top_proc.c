/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the kernel says of threads: which exist, their states, and how long they have run and have
 * been ready to run.  Files are read of a bounded number of threads in a refresh, those first that
 * were not read for longest.
 */
#include "top/top_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RECENT_NS INT64_C(10000000000)

static bool read_file(const struct top_thread *t, const char *name, char *text, size_t size)
{
    char path[64];
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)t->pid, (int)t->tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Parts of the time since the last reading; unknown if that is too long ago to be about now. */
static void take_times(struct top_thread *t, int64_t run, int64_t ready, bool before)
{
    int64_t now = top_clock(CLOCK_MONOTONIC);
    double passed = (double)(now - t->proc_ns);

    t->run_share = t->ready_share = -1;
    if (t->proc_ns != 0 && before && passed > 0) {
        t->run_share = (double)(run - t->run_ns) / passed;
        t->ready_share = (double)(ready - t->ready_ns) / passed;
    }
    t->run_ns = run;
    t->ready_ns = ready;
    t->proc_ns = now;
}

/* The name in stat may have any characters, but the last ')' ends it. */
static void look_at(struct top_thread *t, uint64_t refresh)
{
    bool before = top_clock(CLOCK_MONOTONIC) - t->proc_ns < RECENT_NS;
    int64_t run = 0, ready = 0;
    char text[512], *end;

    t->looked = refresh;
    t->state = '\0';
    if (!read_file(t, "stat", text, sizeof text))
        return;
    end = strrchr(text, ')');
    if (end && end[1] == ' ')
        t->state = end[2];
    if (read_file(t, "schedstat", text, sizeof text) &&
        sscanf(text, "%" SCNd64 " %" SCNd64, &run, &ready) == 2)
        take_times(t, run, ready, before);
}

static bool has_gone(const struct top_thread *t)
{
    return syscall(SYS_tgkill, t->pid, t->tid, 0) != 0 && errno == ESRCH;
}

static int by_age(const void *a, const void *b)
{
    const struct top_thread *x = *(struct top_thread *const *)a,
                            *y = *(struct top_thread *const *)b;

    if ((x->rate > 0) != (y->rate > 0))
        return x->rate > 0 ? -1 : 1;
    return x->looked < y->looked ? -1 : x->looked > y->looked;
}

void top_proc_look(struct top_stream *s, uint64_t refresh, unsigned most)
{
    struct top_thread **list = calloc(s->threads.count + 1, sizeof(*list));
    size_t count = 0;

    /* Of another pid namespace the numbers mean other threads. */
    if (!list || s->info.liveness != POSIXTRACE_LIVENESS_ALIVE) {
        free(list);
        return;
    }
    for (size_t i = 0; i < s->threads.count; i++) {
        struct top_thread *t = (struct top_thread *)(void *)s->threads.items[i];

        if (t->looked + 1 < refresh)
            t->state = '\0';
        t->ended = has_gone(t);
        if (!t->ended && t->now.wait_type == 0)
            list[count++] = t;
    }
    if (count > most)
        qsort(list, count, sizeof(*list), by_age);
    for (size_t i = 0; i < count && i < most; i++)
        look_at(list[i], refresh);
    free(list);
}
