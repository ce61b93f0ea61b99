/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export to the Common Trace Format 1.8: a folder with a file for each thread, and
 * "metadata", which is written last, when all types are known.
 *
 * Clock values are nanoseconds since 1970, except of traces that begin before it.  Lost
 * events are counters that grow from packet to packet.  Overwritten events are counted
 * before a thread's first events, all others after its last: more is not known.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "analysis/format/ctf/ctf.h"

#define SECOND       INT64_C(1000000000)
#define DAY          INT64_C(86400)
#define FIRST_SECOND (INT64_MIN / SECOND)
#define RECORD       27u /* header and context of an event */
#define DATA_MAX     65535u
#define STREAMS      512u /* readers keep a file open for each; 1024 is a usual limit */

enum { NOTE_EARLY, NOTE_STRANGE };

struct writer {
    struct pt_job *job;
    struct ctf_streams streams;
    struct ctf_classes classes;
    struct ctf_about about;
    uint64_t first, last; /* clock values */
    bool begun;
};

/* False: it is outside the range of clock values. */
static bool clock_value(const struct writer *w, int64_t ns, uint64_t *value)
{
    int64_t v;

    if (__builtin_sub_overflow(ns, w->about.offset_s * SECOND, &v) || v < 0)
        return false;
    *value = (uint64_t)v;
    return true;
}

static uint64_t sum(const uint64_t *lost)
{
    uint64_t s = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        s += lost[i];
    return s;
}

/* ---- losses ---- */

/* The stream that counts a thread's losses: always its first. */
static struct ctf_stream *counter_of(struct writer *w, const struct posixtrace_thread_info *t)
{
    struct ctf_thread thread = { .pid = t->pid, .tid = t->tid, .thread_id = t->thread_id };
    struct ctf_stream *s;

    memcpy(thread.name, t->name, strnlen(t->name, sizeof t->name));
    s = pt_ctf_streams_find(&w->streams, &thread, INT64_MAX);
    if (s && s->lane == 0)
        return s;
    for (uint32_t i = 0; s && i < w->streams.count; i++) {
        struct ctf_stream *other = &w->streams.list[i];

        if (other->lane == 0 && other->shared == s->shared &&
            (s->shared || (other->thread.pid == t->pid && other->thread.tid == t->tid)))
            return other;
    }
    return s;
}

/* Events that were overwritten are older than all that are left. */
static bool count_overwritten(struct writer *w)
{
    struct posixtrace_thread_info t;
    int end = 0;

    posixtrace_threadlist_rewind(w->job->trid);
    while (posixtrace_threadlist_getnext(w->job->trid, &t, sizeof t, &end) == 0 && !end) {
        uint64_t lost = t.lost[POSIXTRACE_LOST_OVERWRITTEN] +
                        t.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN];
        struct ctf_stream *s = lost ? counter_of(w, &t) : NULL;

        if (lost && !s)
            return false;
        if (!s || s->shared)
            continue;
        if (!s->packets && !pt_ctf_stream_put_empty(&w->streams, s, w->first))
            return false;
        s->discarded += lost;
    }
    return true;
}

/* Events of the system that the log has lost belong to no thread. */
static bool collect_lost(struct writer *w)
{
    struct posixtrace_thread_info t, nobody = { .name = "" };
    uint64_t all = 0;
    int end = 0;

    posixtrace_threadlist_rewind(w->job->trid);
    while (posixtrace_threadlist_getnext(w->job->trid, &t, sizeof t, &end) == 0 && !end) {
        uint64_t lost = sum(t.lost);
        struct ctf_stream *s = lost ? counter_of(w, &t) : NULL;

        if (lost && !s)
            return false;
        if (s)
            s->lost += lost;
        all += lost;
    }
    if (pt_job_lost(w->job) > all) {
        struct ctf_stream *s = counter_of(w, &nobody);

        if (!s)
            return false;
        s->lost += pt_job_lost(w->job) - all;
    }
    return true;
}

/* The losses of a packet are the difference of its counter to that of the previous packet. */
static bool tell_lost(struct writer *w)
{
    if (!collect_lost(w))
        return false;
    for (uint32_t i = 0; i < w->streams.count; i++) {
        struct ctf_stream *s = &w->streams.list[i];

        pt_ctf_stream_end_packet(s);
        if (s->lost <= s->told)
            continue;
        if (!s->packets && !pt_ctf_stream_put_empty(&w->streams, s, w->first))
            return false;
        s->discarded = s->lost;
        if (!pt_ctf_stream_put_empty(&w->streams, s, w->last))
            return false;
    }
    return true;
}

/* ---- events ---- */

/* When the trace began, as far as the stream knows, or its first event. */
static int64_t begin_ns(struct writer *w, const struct posixtrace_info *info, int64_t first_ns)
{
    int64_t ns = info->events ? info->first_ns : first_ns, created = w->about.created_ns;

    ns = ns < first_ns ? ns : first_ns;
    return created && created < ns ? created : ns;
}

static bool begin(struct writer *w, int64_t first_ns)
{
    struct posixtrace_info info = { .events = 0 };
    int64_t ns;

    posixtrace_get_info(w->job->trid, &info, sizeof info);
    ns = begin_ns(w, &info, first_ns);
    if (ns < 0) {
        w->about.offset_s = ns / SECOND - 1 - DAY;
        if (w->about.offset_s < FIRST_SECOND)
            w->about.offset_s = FIRST_SECOND;
    }
    w->begun = true;
    memcpy(w->about.uuid, info.id, sizeof info.id);
    memcpy(w->streams.uuid, info.id, sizeof info.id);
    if (clock_value(w, ns, &w->first))
        w->last = w->first;
    return count_overwritten(w);
}

static void put_record(uint8_t *to, const struct posixtrace_event *e, uint64_t value,
                       const struct ctf_payload *p)
{
    to = ctf_put(to, p->class_id, 2);
    to = ctf_put(to, value, 8);
    to = ctf_put(to, (uint32_t)e->pid, 4);
    to = ctf_put(to, (uint32_t)e->tid, 4);
    to = ctf_put(to, e->prog_address, 8);
    to = ctf_put(to, e->truncation != POSIX_TRACE_NOT_TRUNCATED, 1);
    if (p->head)
        to = (uint8_t *)mempcpy(to, e->data, p->head);
    if (p->counted)
        to = ctf_put(to, e->data_len - p->head, 4);
    if (e->data_len > p->head)
        memcpy(to, (const uint8_t *)e->data + p->head, e->data_len - p->head);
}

static bool put_event(struct writer *w, const struct posixtrace_event *e)
{
    struct ctf_thread thread = { .pid = e->pid, .tid = e->tid, .thread_id = e->thread_id };
    struct ctf_stream *s = NULL;
    struct ctf_payload payload;
    uint64_t value;
    uint8_t *to;

    if (e->id >= CTF_IDS || e->data_len > DATA_MAX) {
        pt_job_left_out(w->job, NOTE_STRANGE, "type %u or %zu bytes of data cannot be carried",
                        e->id, e->data_len);
        return true;
    }
    memcpy(thread.name, e->thread_name, strnlen(e->thread_name, sizeof thread.name));
    if (clock_value(w, e->ns, &value))
        s = pt_ctf_streams_find(&w->streams, &thread, value);
    if (!s) {
        if (!w->job->error)
            pt_job_left_out(w->job, NOTE_EARLY,
                            "'%s' of thread %d came too late, or lies too far "
                            "from the first event, to be carried",
                            e->name, (int)e->tid);
        return !w->job->error;
    }
    if (pt_ctf_classes_find(&w->classes, w->job->fields, e, &payload) != 0) {
        pt_job_fail(w->job, ENOMEM, "no memory for the types of events");
        return false;
    }
    to = pt_ctf_stream_take(&w->streams, s, &thread, value,
                            RECORD + e->data_len + (payload.counted ? 4 : 0));
    if (!to)
        return false;
    put_record(to, e, value, &payload);
    w->last = value > w->last ? value : w->last;
    return true;
}

/* ---- all of it ---- */

static int write_metadata(struct writer *w)
{
    int fd = openat(w->streams.directory, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool bad;

    if (!to)
        return pt_job_fail(w->job, errno, "cannot write metadata: %s", strerror(errno));
    pt_ctf_metadata_write(to, &w->about, &w->classes);
    bad = ferror(to);
    if (fclose(to) != 0 || bad)
        return pt_job_fail(w->job, errno ? errno : EIO, "cannot write metadata: %s",
                           strerror(errno ? errno : EIO));
    return 0;
}

static int write_all(struct writer *w)
{
    struct posixtrace_event event;
    bool fine = true;

    while (fine && pt_job_next(w->job, &event))
        fine = (w->begun || begin(w, event.ns)) && put_event(w, &event);
    if (w->job->error)
        return w->job->error;
    if (!w->begun && !begin(w, w->about.created_ns))
        return w->job->error;
    if (!tell_lost(w) || !pt_ctf_streams_write(&w->streams))
        return w->job->error;
    return write_metadata(w);
}

/* How many threads get a stream of their own; 0: job->error is set. */
static uint32_t stream_limit(struct pt_job *job)
{
    const char *text = pt_job_option(job, "streams", 0);
    char *end;
    long n = text ? strtol(text, &end, 10) : (long)STREAMS;

    if (!text || (*text && !*end && n >= 1 && n <= (long)CTF_STREAMS_MAX))
        return (uint32_t)n;
    pt_job_fail(job, EINVAL, "streams is a number from 1 to %u, not '%s'", CTF_STREAMS_MAX, text);
    return 0;
}

static void look_at_attributes(struct writer *w, char *name, char *version)
{
    trace_attr_t attr;
    struct timespec created;

    w->about.name = name;
    w->about.version = version;
    if (posix_trace_get_attr(w->job->trid, &attr) != 0)
        return;
    posix_trace_attr_getname(&attr, name);
    posix_trace_attr_getgenversion(&attr, version);
    if (posix_trace_attr_getcreatetime(&attr, &created) == 0)
        w->about.created_ns = created.tv_sec * SECOND + created.tv_nsec;
    posix_trace_attr_destroy(&attr);
}

int pt_ctf_write(struct pt_job *job)
{
    uint32_t limit = stream_limit(job);
    struct writer *w = limit ? calloc(1, sizeof *w) : NULL;
    char name[TRACE_NAME_MAX + 1] = "", version[TRACE_NAME_MAX + 1] = "";
    int error;

    if (!w)
        return pt_job_fail(job, ENOMEM, "no memory");
    w->job = w->streams.job = job;
    w->streams.limit = limit;
    w->streams.directory = open(job->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->streams.directory < 0) {
        error = pt_job_fail(job, errno, "cannot open %s: %s", job->directory, strerror(errno));
    } else {
        look_at_attributes(w, name, version);
        error = write_all(w);
    }
    pt_ctf_streams_deinit(&w->streams);
    pt_ctf_classes_deinit(&w->classes);
    free(w);
    return error;
}

const struct posixtrace_format_option pt_ctf_options[] = {
    { "streams", "threads that get a file of their own, 1 to 4096 (512); the others share one" },
    { "order", "import: time: a stream is in order of time (default); sort: it need not be" },
    { NULL, NULL }
};
