/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The packets that events need before them: the first one, and those that describe a
 * track.  Times are ns since 1970, and that is the clock of the trace.  Events of ftrace are always
 * in BOOTTIME: the one clock snapshot declares both clocks equal.
 */
#include <string.h>
#include "analysis/format/perfetto/perfetto.h"

/* TracePacket */
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,
    STATE_CLEARED = 1
};

/* TracePacketDefaults, ClockSnapshot and its Clock, builtin clocks */
enum {
    DEFAULTS_TIMESTAMP_CLOCK_ID = 58,
    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    REALTIME = 1,
    BOOTTIME = 6
};

/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor */
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5
};

enum { NAME = 200 };

/* Numbers of tracks: pid, then tid or counter, then one of these; no two are the same. */
enum { OF_THREAD, OF_PROCESS, OF_COUNTER, OF_TRACE };

static uint64_t uuid_of(int64_t pid, uint64_t second, unsigned kind)
{
    return ((uint64_t)pid & 0x7fffffffu) << 33 | (second & 0x7fffffffu) << 2 | kind;
}

uint64_t pt_perfetto_uuid(const struct pt_perfetto *p, const struct pt_tl_track *t)
{
    int64_t pid = pt_job_number(p->job, t->pid);

    if (t->tid != 0)
        return uuid_of(pid, (uint64_t)pt_job_number(p->job, t->tid), OF_THREAD);
    return uuid_of(pid, 0, t->pid ? OF_PROCESS : OF_TRACE);
}

uint64_t pt_perfetto_counter_uuid(const struct pt_perfetto *p, const struct pt_tl_track *process,
                                  unsigned option)
{
    return uuid_of(pt_job_number(p->job, process->pid), option, OF_COUNTER);
}

static void put_clock(struct pt_pb *to, uint64_t id, int64_t ns)
{
    size_t mark = pt_pb_open(to, SNAPSHOT_CLOCKS);

    pt_pb_uint(to, CLOCK_ID, id);
    pt_pb_uint(to, CLOCK_TIMESTAMP, (uint64_t)ns);
    pt_pb_close(to, mark);
}

/* The packet that readers need first: the clocks, and a state without names. */
void pt_perfetto_first(void *self, int64_t ns)
{
    struct pt_perfetto *p = self;
    size_t packet = pt_pb_open(&p->out, TRACE_PACKET), mark;

    pt_pb_uint(&p->out, PACKET_SEQUENCE_ID, p->job->number + 1);
    pt_pb_uint(&p->out, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    pt_pb_uint(&p->out, PACKET_FIRST_ON_SEQUENCE, 1);
    mark = pt_pb_open(&p->out, PACKET_DEFAULTS);
    pt_pb_uint(&p->out, DEFAULTS_TIMESTAMP_CLOCK_ID, REALTIME);
    pt_pb_close(&p->out, mark);
    mark = pt_pb_open(&p->out, PACKET_CLOCK_SNAPSHOT);
    put_clock(&p->out, REALTIME, ns < 0 ? 0 : ns);
    put_clock(&p->out, BOOTTIME, ns < 0 ? 0 : ns);
    pt_pb_uint(&p->out, SNAPSHOT_PRIMARY, REALTIME);
    pt_pb_close(&p->out, mark);
    pt_pb_close(&p->out, packet);
}

/* Of several logs "LABEL: NAME", or the label. */
static const char *name_of(const struct pt_job *job, const char *name, char text[NAME])
{
    if (!job->label)
        return name;
    snprintf(text, NAME, "%.120s%s%s", job->label, *name ? ": " : "", name);
    return text;
}

static void put_process(const struct pt_job *job, struct pt_pb *to, const struct pt_tl_track *t)
{
    size_t mark = pt_pb_open(to, TRACK_PROCESS);
    char text[NAME];
    const char *name = name_of(job, t->name, text);

    pt_pb_uint(to, PROCESS_PID, (uint64_t)pt_job_number(job, t->pid));
    if (name[0])
        pt_pb_string(to, PROCESS_NAME, name, strlen(name));
    pt_pb_close(to, mark);
}

static void put_thread(const struct pt_job *job, struct pt_pb *to, const struct pt_tl_track *t)
{
    size_t mark = pt_pb_open(to, TRACK_THREAD);

    pt_pb_uint(to, THREAD_PID, (uint64_t)pt_job_number(job, t->pid));
    pt_pb_uint(to, THREAD_TID, (uint64_t)pt_job_number(job, t->tid));
    if (t->name[0])
        pt_pb_string(to, THREAD_NAME, t->name, strlen(t->name));
    pt_pb_close(to, mark);
}

/* A thread of no process has only a name. */
static void put_orphan(const struct pt_job *job, struct pt_pb *to, const struct pt_tl_track *t)
{
    char own[48] = "not of a thread", text[NAME];
    const char *name;

    if (t->tid != 0)
        snprintf(own, sizeof own, "%s (thread %ld)", t->name, (long)t->tid);
    name = name_of(job, own, text);
    pt_pb_string(to, TRACK_NAME, name, strlen(name));
}

void pt_perfetto_track(void *self, const struct pt_tl_track *t)
{
    struct pt_perfetto *p = self;
    size_t packet = pt_pb_open(&p->out, TRACE_PACKET), mark;

    pt_pb_uint(&p->out, PACKET_SEQUENCE_ID, p->job->number + 1);
    mark = pt_pb_open(&p->out, PACKET_TRACK_DESCRIPTOR);
    pt_pb_uint(&p->out, TRACK_UUID, pt_perfetto_uuid(p, t));
    if (t->pid == 0)
        put_orphan(p->job, &p->out, t);
    else if (t->tid == 0)
        put_process(p->job, &p->out, t);
    else
        put_thread(p->job, &p->out, t);
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}

void pt_perfetto_counter(struct pt_perfetto *p, struct pt_tl_track *process, unsigned option)
{
    const char *name = pt_timeline_option(p->timeline, option)->text;
    size_t packet, mark;

    process->counters |= (uint64_t)1 << option;
    packet = pt_pb_open(&p->out, TRACE_PACKET);
    pt_pb_uint(&p->out, PACKET_SEQUENCE_ID, p->job->number + 1);
    mark = pt_pb_open(&p->out, PACKET_TRACK_DESCRIPTOR);
    pt_pb_uint(&p->out, TRACK_UUID, pt_perfetto_counter_uuid(p, process, option));
    if (process->pid)
        pt_pb_uint(&p->out, TRACK_PARENT_UUID, pt_perfetto_uuid(p, process));
    pt_pb_string(&p->out, TRACK_NAME, name, strlen(name));
    pt_pb_close(&p->out, pt_pb_open(&p->out, TRACK_COUNTER));
    pt_pb_close(&p->out, mark);
    pt_perfetto_close(p, packet);
}
