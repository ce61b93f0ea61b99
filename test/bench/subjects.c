/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See subjects.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include "bench/subjects.h"

trace_event_id_t subject_id;
const char subject_name[] = "bench";
uint64_t subject_data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static int clock_kind;

void subject_must(const char *what, int error)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

trace_id_t subject_stream_of(pid_t pid, int policy, size_t bytes)
{
    trace_attr_t attr;
    trace_id_t trid;

    subject_must("posix_trace_attr_init", posix_trace_attr_init(&attr));
    subject_must("setstreamfullpolicy", posix_trace_attr_setstreamfullpolicy(&attr, policy));
    subject_must("setstreamsize", posix_trace_attr_setstreamsize(&attr, bytes));
    subject_must("posix_trace_create", posix_trace_create(pid, &attr, &trid));
    posix_trace_attr_destroy(&attr);
    return trid;
}

trace_id_t subject_stream(int policy, size_t bytes)
{
    return subject_stream_of(0, policy, bytes);
}

int subject_file(void)
{
    int fd = open(bench_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    subject_must(bench_folder(), fd < 0 ? errno : 0);
    return fd;
}

static trace_id_t stream_log(int policy, size_t bytes, size_t log_bytes, int switches, int *fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    subject_must("posix_trace_attr_init", posix_trace_attr_init(&attr));
    subject_must("setstreamfullpolicy", posix_trace_attr_setstreamfullpolicy(&attr, policy));
    subject_must("setstreamsize", posix_trace_attr_setstreamsize(&attr, bytes));
    subject_must("setlogsize", posix_trace_attr_setlogsize(&attr, log_bytes));
    subject_must("setswitches", posixtrace_attr_setswitches(&attr, switches));
    *fd = subject_file();
    subject_must("posix_trace_create_withlog", posix_trace_create_withlog(0, &attr, *fd, &trid));
    posix_trace_attr_destroy(&attr);
    return trid;
}

trace_id_t subject_stream_log(int policy, size_t bytes, size_t log_bytes, int *fd)
{
    return stream_log(policy, bytes, log_bytes, 0, fd);
}

trace_id_t subject_stream_switches(int policy, size_t bytes)
{
    int fd;

    return stream_log(policy, bytes, 256 << 20, 1, &fd);
}

void subjects_init(void)
{
    struct posixtrace_info info;
    trace_id_t trid = subject_stream(POSIX_TRACE_LOOP, 65536);

    subject_must("posix_trace_eventid_open", posix_trace_eventid_open(subject_name, &subject_id));
    subject_must("posixtrace_get_info", posixtrace_get_info(trid, &info, sizeof info));
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    clock_kind = info.clock;
    printf("clock %s, %d processors\n", subjects_clock(), bench_processors());
}

bool subjects_clock_is_tsc(void)
{
    return clock_kind == POSIXTRACE_CLOCK_TSC;
}

const char *subjects_clock(void)
{
    return subjects_clock_is_tsc() ? "tsc" : "monotonic";
}

void stream_start(void *arg)
{
    subject_must("posix_trace_start", posix_trace_start(*(trace_id_t *)arg));
    for (int i = 0; i < 8; i++)
        posix_trace_event(subject_id, subject_data, 8);
}

void stream_stop(void *arg)
{
    subject_must("posix_trace_stop", posix_trace_stop(*(trace_id_t *)arg));
}

bool subject_lttng(struct subject_lttng *functions, const char **why)
{
    const char *plugin = getenv("POSIXTRACE_BENCH_LTTNG");
    void *handle;

    *why = "LTTng-UST is not here (apt: lttng-tools liblttng-ust-dev babeltrace2)";
    if (!plugin || !*plugin)
        return false;
    handle = dlopen(plugin, RTLD_NOW);
    if (!handle) {
        *why = bench_text("%s", dlerror());
        return false;
    }
    functions->loop8 = (void (*)(void *, long))dlsym(handle, "bench_lttng_loop8");
    functions->loop64 = (void (*)(void *, long))dlsym(handle, "bench_lttng_loop64");
    functions->event8 = (void (*)(uint64_t))dlsym(handle, "bench_lttng_event8");
    return functions->loop8 && functions->loop64 && functions->event8;
}
