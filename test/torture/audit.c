/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The checks of the torture tests on the events read.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "torture/audit.h"

void audit_init(struct audit *a, trace_event_id_t id, uint32_t lanes)
{
    *a = (struct audit){ .id = id,
                         .lanes = lanes,
                         .next = calloc(lanes, sizeof *a->next),
                         .read = calloc(lanes, sizeof *a->read) };
    DEMAND(a->next && a->read, "no memory for %u lanes", lanes);
}

void audit_deinit(struct audit *a)
{
    free(a->next);
    free(a->read);
}

static void take_payload(struct audit *a, const struct posix_trace_event_info *info,
                         const void *data, size_t len)
{
    struct payload p;

    DEMAND(info->posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED, "truncated: %d",
           info->posix_truncation_status);
    DEMAND(payload_is_whole(&p, data, len), "torn event of %zu bytes after %llu good ones", len,
           (unsigned long long)a->events);
    DEMAND(p.lane < a->lanes, "lane %u", p.lane);
    DEMAND(p.seq >= a->next[p.lane], "lane %u: number %llu, %llu or more was due", p.lane,
           (unsigned long long)p.seq, (unsigned long long)a->next[p.lane]);
    a->gaps += p.seq - a->next[p.lane];
    a->next[p.lane] = p.seq + 1;
    a->read[p.lane]++;
    a->events++;
}

void audit_take(struct audit *a, const struct posix_trace_event_info *info, const void *data,
                size_t len)
{
    int64_t ns = info->posix_timestamp.tv_sec * 1000000000ll + info->posix_timestamp.tv_nsec;

    if (ns < a->last_ns)
        a->backward++;
    else
        a->last_ns = ns;
    a->starts += info->posix_event_id == POSIX_TRACE_START;
    a->stops += info->posix_event_id == POSIX_TRACE_STOP;
    if (info->posix_event_id == a->id)
        take_payload(a, info, data, len);
}

typedef int read_call(trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t,
                      size_t *restrict, int *restrict);

static void read_all(struct audit *a, trace_id_t trid, read_call *call)
{
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    size_t len;
    int unavailable = 0;

    for (;;) {
        DEMAND_OK(call(trid, &info, data, sizeof data, &len, &unavailable));
        if (unavailable)
            return;
        audit_take(a, &info, data, len);
    }
}

void audit_drain(struct audit *a, trace_id_t trid)
{
    read_all(a, trid, posix_trace_trygetnext_event);
}

void audit_read_log(struct audit *a, trace_id_t trid)
{
    read_all(a, trid, posix_trace_getnext_event);
}

trace_event_id_t audit_type(trace_id_t trid, const char *name)
{
    char found[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable;

    DEMAND_OK(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        DEMAND_OK(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        DEMAND(!unavailable, "the stream does not know '%s'", name);
        DEMAND_OK(posix_trace_eventid_get_name(trid, id, found));
        if (strcmp(found, name) == 0)
            return id;
    }
}

uint64_t audit_lost(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += info.lost[i];
    return lost;
}

/* tid NULL: of all threads.  One that never came to trace may be asked for as 0. */
static uint64_t lost_by(trace_id_t trid, const pid_t *tid)
{
    struct posixtrace_thread_info info;
    uint64_t lost = 0;
    int unavailable;

    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        DEMAND_OK(posixtrace_threadlist_getnext(trid, &info, sizeof info, &unavailable));
        if (unavailable)
            return lost;
        for (unsigned i = 0; (!tid || info.tid == *tid) && i < POSIXTRACE_LOSS_CAUSES; i++)
            lost += info.lost[i];
    }
}

uint64_t audit_lost_by(trace_id_t trid, pid_t tid)
{
    return lost_by(trid, &tid);
}

uint64_t audit_lost_by_threads(trace_id_t trid)
{
    return lost_by(trid, NULL);
}

void audit_check_time(const struct audit *a, trace_id_t trid)
{
    struct posixtrace_info info;

    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(a->backward <= info.late, "time went back %llu times, %llu events came late",
           (unsigned long long)a->backward, (unsigned long long)info.late);
}

int audit_temporary_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/posixtrace-torture.XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(path, O_CLOEXEC);
    DEMAND(fd >= 0, "%s", path);
    unlink(path);
    return fd;
}

trace_id_t audit_create(trace_attr_t *attr, int log_fd)
{
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_setstreamsize(attr, 256 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(attr, PAYLOAD_MAX));
    if (log_fd >= 0) {
        DEMAND_OK(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND));
        DEMAND_OK(posix_trace_create_withlog(0, attr, log_fd, &trid));
    } else {
        DEMAND_OK(posix_trace_create(0, attr, &trid));
    }
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

void audit_seed(const char *argument)
{
    unsigned seed = argument ? (unsigned)strtoul(argument, NULL, 0) : (unsigned)time(NULL);

    printf("seed %u\n", seed);
    srandom(seed);
}

unsigned audit_early_us(unsigned longest_us)
{
    unsigned r = (unsigned)random() % 1000;

    return r * r / 1000 * (longest_us / 1000) + 1;
}

void *audit_shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    DEMAND(p != MAP_FAILED, "no memory to share");
    return p;
}

int audit_in_child(void (*check)(void *context), void *context)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0) {
        check(context);
        _exit(0);
    }
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    return status;
}

double audit_multiplier(const char *argument)
{
    double multiplier = argument ? strtod(argument, NULL) : 1;

    DEMAND(multiplier > 0, "'%s' is not a multiplier", argument);
    return getenv("POSIXTRACE_TEST_SHORT") ? multiplier / 20 : multiplier;
}
