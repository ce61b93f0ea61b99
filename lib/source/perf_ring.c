/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See perf_ring.h.  The ring belongs to an event of the thread that opens it, which
 * records nothing: so it lives as long as that thread, whichever of the watched
 * threads end.  All events of a processor have their output directed to its ring.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "source/perf_ring.h"

/* PERF_FORMAT_LOST, which headers of before Linux 6.0 do not have. */
enum { FORMAT_LOST = 1 << 4 };

/* The part after each record, defined by sample_type. */
struct sample_id {
    uint32_t pid, tid;
    uint64_t time;
    uint64_t id;
    uint32_t cpu, reserved;
};

struct task_body { /* FORK, EXIT */
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

struct comm_body {
    uint32_t pid, tid; /* after them the name, with NUL */
};

struct lost_body {
    uint64_t id, lost;
};

static int event_open(const struct perf_event_attr *attr, int32_t tid, int cpu)
{
    int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* Without the kernel's own side, which the limits of perf_event_paranoid are about. */
static struct perf_event_attr plain(const struct pt_perf_clock *clock)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
    attr.sample_id_all = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    pt_perf_clock_ask(clock, &attr);
    return attr;
}

static int map(struct pt_perf_ring *r, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);

    if (at == MAP_FAILED)
        return -errno;
    r->size = bytes;
    r->mapped = page + bytes;
    r->page = at;
    r->data = (const uint8_t *)at + page;
    return 0;
}

int pt_perf_ring_open(struct pt_perf_ring *r, int cpu, size_t bytes, struct pt_perf_clock *clock)
{
    struct perf_event_attr attr = plain(clock);
    int e;

    memset(r, 0, sizeof *r);
    r->cpu = cpu;
    attr.watermark = 1;
    attr.wakeup_watermark = 0; /* half of it */
    r->fd = event_open(&attr, 0, cpu);
    if (r->fd < 0)
        return r->fd;
    e = map(r, bytes);
    if (e < 0) {
        close(r->fd);
    } else if (!pt_perf_clock_learn(clock, r->page)) {
        pt_perf_ring_close(r);
        e = -ESTALE;
    }
    return e;
}

void pt_perf_ring_close(struct pt_perf_ring *r)
{
    munmap(r->page, r->mapped);
    close(r->fd);
}

int pt_perf_watch(const struct pt_perf_ring *r, const struct pt_perf_clock *clock, int32_t tid,
                  bool children, uint64_t *id)
{
    struct perf_event_attr attr = plain(clock);
    int fd, e;

    attr.context_switch = 1;
    attr.task = 1;
    attr.comm = 1;
    attr.inherit = 1;
    attr.inherit_thread = !children;
    attr.read_format = FORMAT_LOST;
    fd = event_open(&attr, tid, r->cpu);
    if (fd == -EINVAL) {
        attr.read_format = 0;
        fd = event_open(&attr, tid, r->cpu);
    }
    if (fd == -EINVAL && attr.inherit_thread) {
        /* Before Linux 5.13 child processes are watched too, and passed over later. */
        attr.inherit_thread = 0;
        fd = event_open(&attr, tid, r->cpu);
    }
    if (fd < 0)
        return fd;
    if (ioctl(fd, PERF_EVENT_IOC_ID, id) == 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) == 0)
        return fd;
    e = -errno;
    close(fd);
    return e;
}

/* To read an event that is on a processor the kernel interrupts that processor. */
uint64_t pt_perf_settle(int fd)
{
    struct {
        uint64_t count, lost;
    } value = { 0, 0 };

    while (read(fd, &value, sizeof value) < 0 && errno == EINTR)
        ;
    return value.lost;
}

static void copy_out(const struct pt_perf_ring *r, void *to, uint64_t at, size_t bytes)
{
    size_t from = (size_t)(at & (r->size - 1)), first = r->size - from;

    if (first > bytes)
        first = bytes;
    memcpy(to, r->data + from, first);
    memcpy((uint8_t *)to + first, r->data, bytes - first);
}

static void take_task(const struct pt_perf_ring *r, uint64_t at, struct pt_perf_record *record)
{
    struct task_body task;

    copy_out(r, &task, at, sizeof task);
    record->pid = (int32_t)task.pid;
    record->tid = (int32_t)task.tid;
    record->parent = (int32_t)task.ptid;
}

/* bytes: of the body. */
static void take_comm(const struct pt_perf_ring *r, uint64_t at, size_t bytes,
                      struct pt_perf_record *record)
{
    size_t most = sizeof record->name - 1, length = bytes - sizeof(struct comm_body);
    struct comm_body comm;

    copy_out(r, &comm, at, sizeof comm);
    copy_out(r, record->name, at + sizeof comm, length < most ? length : most);
    record->pid = (int32_t)comm.pid;
    record->tid = (int32_t)comm.tid;
}

/* A record of bytes bytes that begins at at, without its head. */
static void take(const struct pt_perf_ring *r, uint64_t at, size_t bytes,
                 struct pt_perf_record *record)
{
    size_t body = bytes - sizeof(struct sample_id);
    struct sample_id sample;
    struct lost_body lost;

    copy_out(r, &sample, at + body, sizeof sample);
    record->pid = (int32_t)sample.pid;
    record->tid = (int32_t)sample.tid;
    record->time = sample.time;
    record->id = sample.id;
    record->cpu = sample.cpu;
    if ((record->type == PERF_RECORD_EXIT || record->type == PERF_RECORD_FORK) &&
        body >= sizeof(struct task_body)) {
        take_task(r, at, record);
    } else if (record->type == PERF_RECORD_COMM && body >= sizeof(struct comm_body)) {
        take_comm(r, at, body, record);
    } else if (record->type == PERF_RECORD_LOST && body >= sizeof lost) {
        copy_out(r, &lost, at, sizeof lost);
        record->lost = lost.lost;
    }
}

static bool is_wanted(uint32_t type)
{
    return type == PERF_RECORD_SWITCH || type == PERF_RECORD_FORK || type == PERF_RECORD_COMM ||
           type == PERF_RECORD_EXIT || type == PERF_RECORD_LOST;
}

bool pt_perf_ring_next(struct pt_perf_ring *r, uint64_t head, struct pt_perf_record *record)
{
    uint64_t *tail = (uint64_t *)(void *)&r->page->data_tail;
    uint64_t at = pt_load_relaxed(tail);
    struct perf_event_header h;
    bool found = false;

    while (!found && head - at >= sizeof h) {
        copy_out(r, &h, at, sizeof h);
        if (h.size < sizeof h || h.size > head - at) {
            at = head;
            break;
        }
        memset(record, 0, sizeof *record);
        record->type = h.type;
        record->misc = h.misc;
        found = is_wanted(h.type) && h.size >= sizeof h + sizeof(struct sample_id);
        if (found)
            take(r, at + sizeof h, h.size - sizeof h, record);
        at += h.size;
    }
    /* Everything before it was copied: the kernel may write there. */
    pt_store_release(tail, at);
    return found;
}
