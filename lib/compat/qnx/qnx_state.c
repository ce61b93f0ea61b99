/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The first events when tracing starts: this process and its threads, with their names and
 * states, as far as the filters want them.  Linux does not show why a thread waits, so a waiting
 * thread has no state.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/qnx/qnx.h"

enum { RUNNING = 1, READY = 2, STOPPED = 3, CREATE = 24 };

/* The first line of a file of the thread; "" if there is none any more. */
static void read_line(int tid, const char *what, char *to, int size)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, what);
    f = fopen(path, "re");
    if (!f || !fgets(to, size, f))
        *to = '\0';
    to[strcspn(to, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* An error is not reported: the trace is started all the same, as in the original. */
static void put(unsigned event_class, unsigned index, const void *data, size_t len)
{
    const struct pt_qnx_kind kind = { .event_class = (uint8_t)event_class,
                                      .index = (uint16_t)index };

    pt_qnx_record(kind, data, len, true);
}

static void put_name(unsigned index, uint32_t one, uint32_t other, const char *name)
{
    uint8_t data[8 + 64];
    size_t len = strnlen(name, 63);

    memcpy(data, &one, 4);
    memcpy(data + 4, &other, 4);
    memcpy(data + 8, name, len);
    data[8 + len] = 0;
    put(_NTO_TRACE_PROCESS, index, data, 8 + len + 1);
}

static void put_thread(unsigned index, int tid)
{
    const struct pt_qnx_kind kind = { .event_class = _NTO_TRACE_THREAD, .index = (uint16_t)index };
    uint32_t words[4] = { (uint32_t)getpid(), (uint32_t)tid, 0, 0 };
    struct sched_param param;
    int policy;

    if (pt_qnx_mode(&kind) != 2) {
        put(_NTO_TRACE_THREAD, index, words, 8);
        return;
    }
    policy = sched_getscheduler(tid);
    words[2] = sched_getparam(tid, &param) == 0 ? (uint32_t)param.sched_priority : 0;
    words[3] = policy > 0 ? (uint32_t)policy : 0;
    put(_NTO_TRACE_THREAD, index, words, sizeof words);
}

static void describe_thread(int tid)
{
    char line[256], *end;

    put_thread(CREATE, tid);
    read_line(tid, "stat", line, sizeof line);
    end = strrchr(line, ')');
    if (tid == (int)syscall(SYS_gettid))
        put_thread(RUNNING, tid);
    else if (end && end[1] == ' ' && end[2] == 'R')
        put_thread(READY, tid);
    else if (end && end[1] == ' ' && strchr("Tt", end[2]) && end[2])
        put_thread(STOPPED, tid);
    read_line(tid, "comm", line, sizeof line);
    if (*line)
        put_name(4, (uint32_t)getpid(), (uint32_t)tid, line);
}

void pt_qnx_put_state(void)
{
    const struct dirent *entry;
    char name[64];
    DIR *tasks;

    read_line(getpid(), "comm", name, sizeof name);
    put_name(2, (uint32_t)getppid(), (uint32_t)getpid(), name);
    tasks = opendir("/proc/self/task");
    if (!tasks)
        return;
    while ((entry = readdir(tasks)))
        if (*entry->d_name != '.')
            describe_thread(atoi(entry->d_name));
    closedir(tasks);
}
