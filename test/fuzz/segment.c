/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Fuzz target: a hostile segment, what a dead writer left in the stream
 * directory.  An input is a mode and a list of changes to a good segment and
 * its name map, which are put back afterwards.
 *
 *   byte 0    mode: read the log together with the segment, or also recover a
 *             copy of the log, or trace into it as a process that it traces, or
 *             look on and steer it as posixtrace_attach() lets others do; from 128 on
 *             the changes come one by one between these calls, while it is mapped
 *   8 bytes   a change each, see change.h; where: area, see place_of()
 *
 * Nothing may crash, hang or give more events than the bytes can hold.  What
 * was not changed is read completely at the end.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "base/clock.h"
#include "base/sys.h"
#include "fuzz/change.h"
#include "fuzz/segment_subject.h"
#include "fuzz/target.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "writer/writer.h"

#define CHANGES_MAX   24u
#define TRACED_EVENTS 60u

enum mode { MODE_READ, MODE_LOOK_ON, MODE_RECOVER, MODE_TRACE, MODES };

static struct subject subject;
static unsigned long most, inputs, inputs_with_events;

/* Changes that are still to be made while the segment is in use. */
static struct {
    struct fuzz_change changes[CHANGES_MAX];
    size_t count, done;
} late;

static void change_next(void);

/* ---- reading ---- */

static int count_stream(void *context, const struct posixtrace_stream *s)
{
    unsigned *count = context;

    FUZZ_NEED(memchr(s->file, '\0', sizeof s->file) && memchr(s->name, '\0', sizeof s->name) &&
              memchr(s->log_path, '\0', sizeof s->log_path));
    ++*count;
    return 0;
}

/* The number of user events. */
static unsigned long read_events(trace_id_t trid)
{
    unsigned long events = 0, user = 0;
    struct posixtrace_event e;
    volatile uint8_t byte;
    int end = 0;

    while (posixtrace_next_event(trid, &e, sizeof e, &end) == 0 && !end) {
        user += e.id >= POSIX_TRACE_UNNAMED_USEREVENT;
        for (size_t i = 0; i < e.data_len; i++)
            byte = ((const uint8_t *)e.data)[i];
        byte = (uint8_t)(e.name[strlen(e.name)] + e.thread_name[strlen(e.thread_name)]);
        FUZZ_NEED(++events <= most);
        if (events % 32 == 0)
            change_next();
    }
    (void)byte;
    return user;
}

static void ask(trace_id_t trid)
{
    struct posix_trace_status_info status;
    struct posixtrace_thread_info thread;
    struct posixtrace_info info;
    unsigned long threads = 0;
    trace_event_id_t type;
    int end = 0;

    posix_trace_get_status(trid, &status);
    change_next();
    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &end) == 0 && !end)
        FUZZ_NEED(memchr(thread.name, '\0', sizeof thread.name) && ++threads <= 2 * PT_SLOT_MAX);
    for (end = 0; posix_trace_eventtypelist_getnext_id(trid, &type, &end) == 0 && !end;) {
        char name[TRACE_EVENT_NAME_MAX + 1];

        FUZZ_NEED(posix_trace_eventid_get_name(trid, type, name) == 0 &&
                  memchr(name, '\0', sizeof name));
    }
    if (posixtrace_get_info(trid, &info, sizeof info) == 0)
        posixtrace_seek(trid, info.first_ns / 2 + info.last_ns / 2);
}

/* Everything that looks at the segment; the number of user events. */
static unsigned long read_everything(void)
{
    int fd = open(subject.log_path, O_RDONLY | O_CLOEXEC);
    unsigned long user = 0;
    unsigned streams = 0;
    trace_id_t trid;

    FUZZ_NEED(fd >= 0);
    FUZZ_NEED(posixtrace_stream_list(count_stream, &streams) == 0 && streams == 1);
    if (posix_trace_open(fd, &trid) == 0) {
        user = read_events(trid);
        ask(trid);
        FUZZ_NEED(posix_trace_close(trid) == 0);
    }
    close(fd);
    inputs_with_events += user > 0;
    return user;
}

static void recover_copy(void)
{
    struct posixtrace_recover_report report;
    char path[224], buffer[4096];
    int from = open(subject.log_path, O_RDONLY), to;
    ssize_t n;

    snprintf(path, sizeof path, "%s.copy", subject.log_path);
    to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    FUZZ_NEED(from >= 0 && to >= 0);
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        FUZZ_NEED(write(to, buffer, (size_t)n) == n);
    posixtrace_log_recover(to, &report, sizeof report);
    close(from);
    close(to);
    unlink(path);
    victim_bring_back(&subject.seg);
    victim_bring_back(&subject.names);
}

/* ---- tracing ---- */

/* As a thread does whose process finds the segment in its page. */
static void trace(void)
{
    struct pt_author author = { .pid = getpid(), .tid = pt_sys_tid() };
    const char *file = strrchr(subject.seg.path, '/') + 1;
    static const char buffer[TRACED_EVENTS * 4];
    struct pt_writer lane = { 0 };
    struct pt_seg seg;

    if (pt_seg_open(&seg, file) < 0)
        return;
    if (pt_writer_attach(&lane, &seg, 1, &author) == 0) {
        for (unsigned i = 0; i < TRACED_EVENTS; i++) {
            if (i % 4 == 0)
                change_next();
            pt_store_relaxed(&lane.slot->inside, i + 1u);
            pt_writer_write(&lane, POSIX_TRACE_UNNAMED_USEREVENT, buffer, i * 4, 0,
                            pt_clock_now(seg.g.clock));
            pt_store_release(&lane.slot->inside, 0u);
        }
        pt_slot_advised_size(&seg);
        pt_slot_detach(&seg, lane.slot_index, lane.last);
    }
    pt_slot_sweep(&seg);
    pt_seg_unmap(&seg);
}

/* ---- looking on ---- */

/* Its creator is dead; ours is a process that lives and has it mapped. */
static void become_creator(void)
{
    struct pt_identity self;

    pt_identity_self(&self);
    FUZZ_NEED(pwrite(subject.seg.fd, &self.pid, sizeof self.pid,
                     offsetof(struct pt_seg_header, owner_pid)) == (ssize_t)sizeof self.pid);
    FUZZ_NEED(pwrite(subject.seg.fd, &self.start, sizeof self.start,
                     offsetof(struct pt_seg_header, owner_start)) == (ssize_t)sizeof self.start);
}

/* The same, several at a time; skip: after what there is now. */
static void read_some(trace_id_t trid, bool skip)
{
    struct posixtrace_event e[16];
    unsigned long events = 0;
    volatile uint8_t byte;
    size_t count = 0;

    if (skip)
        posixtrace_seek(trid, INT64_MAX);
    while (posixtrace_next_events(trid, e, sizeof e[0], 16, &count) == 0 && count > 0) {
        change_next();
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < e[i].data_len; k++)
                byte = ((const uint8_t *)e[i].data)[k];
            byte = (uint8_t)(e[i].name[strlen(e[i].name)] +
                             e[i].thread_name[strlen(e[i].thread_name)]);
            FUZZ_NEED(++events <= most);
        }
    }
    (void)byte;
}

/* An onlooker that reads several events at a time, and one that skips. */
static void look_on_in_steps(void)
{
    trace_id_t trid;

    for (int skip = 0; skip < 2; skip++) {
        if (posixtrace_attach(strrchr(subject.seg.path, '/') + 1, &trid) != 0)
            continue;
        change_next();
        read_some(trid, skip != 0);
        ask(trid);
        FUZZ_NEED(posixtrace_detach(trid) == 0);
    }
}

static void look_on(void)
{
    trace_event_set_t set;
    trace_id_t trid;

    become_creator();
    look_on_in_steps();
    if (posixtrace_attach(strrchr(subject.seg.path, '/') + 1, &trid) == 0) {
        ask(trid); /* and skips events */
        read_events(trid);
        ask(trid);
        change_next();
        posix_trace_stop(trid);
        change_next();
        posix_trace_start(trid);
        change_next();
        FUZZ_NEED(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS) == 0);
        posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
        posix_trace_get_filter(trid, &set);
        posix_trace_flush(trid);
        change_next();
        read_events(trid);
        FUZZ_NEED(posixtrace_detach(trid) == 0);
    }
    victim_restore(&subject.seg);
}

/* ---- changing ---- */

static const struct victim *victim_of(const struct fuzz_change *c)
{
    return c->where % 8 < 6 ? &subject.seg : &subject.names;
}

/* Where a change matters: any area of the segment, likelier where the words are. */
static size_t place_of(const struct fuzz_change *c)
{
    const struct pt_seg_header *h = (const void *)subject.seg.image;
    size_t state = offsetof(struct pt_seg_header, state), head = sizeof *h - state;
    /* Chunks are taken in order: the low ones have the records. */
    size_t chunk = h->chunks_off + (c->where / 8 + c->at % 2 * 32) % h->nchunks * h->chunk_size;

    switch (c->where % 8) {
    case 0: return c->at % offsetof(struct pt_seg_header, sync_first);
    case 1: return state + c->at % head;
    case 2: return h->infos_off + c->at % (h->nchunks * sizeof(struct pt_info));
    case 3: return h->slots_off + c->at % (h->nslots * sizeof(struct pt_slot));
    case 4: return chunk + c->at / 2 % sizeof(struct pt_chunk);
    case 5: return chunk + c->at / 2 % h->chunk_size;
    case 6: return c->at % 128;
    default: return c->at % subject.names.head;
    }
}

/* The last kind of change is of the size; a header that agrees gets further. */
static void resize(const struct fuzz_change *c, const struct victim *v)
{
    uint64_t size = c->value % (v->head + 8192);

    if (c->at % 2)
        size += (uint64_t)v->size - v->head;
    FUZZ_NEED(ftruncate(v->fd, (off_t)size) == 0);
    if (v == &subject.seg && size >= sizeof(struct pt_seg_header) && c->at / 2 % 2)
        FUZZ_NEED(pwrite(v->fd, &size, sizeof size, offsetof(struct pt_seg_header, size)) ==
                  (ssize_t)sizeof size);
}

static bool is_resize(const struct fuzz_change *c)
{
    return c->how >= 252;
}

static size_t apply(const struct fuzz_change *c)
{
    const struct victim *v = victim_of(c);
    size_t bytes = fuzz_change_width(c), at = place_of(c) & ~(bytes - 1);
    uint64_t value;

    if (at > v->head - sizeof value)
        at = v->head - sizeof value;
    value = fuzz_change_value(c, v->image, v->head, at);
    FUZZ_NEED(pwrite(v->fd, &value, bytes, (off_t)at) == (ssize_t)bytes);
    return at;
}

/* Without changes of the size: a process that maps a file cannot protect itself against
 * truncation. */
static void change_next(void)
{
    while (late.done < late.count && is_resize(&late.changes[late.done]))
        late.done++;
    if (late.done < late.count)
        apply(&late.changes[late.done++]);
}

static void use(enum mode mode)
{
    if (mode == MODE_TRACE)
        trace();
    if (mode == MODE_LOOK_ON)
        look_on();
    read_everything();
    if (mode == MODE_RECOVER)
        recover_copy();
}

static void use_late(enum mode mode, const struct fuzz_change *changes, size_t n)
{
    memcpy(late.changes, changes, n * sizeof *changes);
    late.count = n;
    late.done = 0;
    use(mode);
    late.count = 0;
    victim_restore(&subject.seg);
    victim_restore(&subject.names);
}

static void start(void)
{
    subject_make(&subject);
    most = UINT32_MAX;
    FUZZ_NEED(read_everything() == SUBJECT_THREADS * SUBJECT_EVENTS);
    /* A record has 16 bytes at least; each may bring a few made ones with it. */
    most = 4 * (subject.seg.head / PT_RECORD_HEAD) + 1000;
    inputs_with_events = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_change changes[CHANGES_MAX];
    size_t n, at[CHANGES_MAX];
    bool all = false;
    enum mode mode;

    if (!subject.dir[0])
        start();
    if (size == 0)
        return 0;
    n = (size - 1) / sizeof *changes < CHANGES_MAX ? (size - 1) / sizeof *changes : CHANGES_MAX;
    mode = data[0] % MODES;
    memcpy(changes, data + 1, n * sizeof *changes);
    if (data[0] >= 128) {
        use_late(mode, changes, n);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!is_resize(&changes[i]))
            at[i] = apply(&changes[i]);
    /* Sizes last: a part that is cut off stays so. */
    for (size_t i = 0; i < n; i++)
        if (is_resize(&changes[i])) {
            resize(&changes[i], victim_of(&changes[i]));
            all = true;
        }
    use(mode);
    inputs++;
    if (all || mode == MODE_RECOVER || mode == MODE_TRACE || mode == MODE_LOOK_ON) {
        victim_restore(&subject.seg);
        victim_restore(&subject.names);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        victim_restore_part(victim_of(&changes[i]), at[i], sizeof(uint64_t));
    return 0;
}

/* Most changes leave a segment that is still looked into. */
static void finish(void)
{
    FUZZ_NEED(inputs_with_events > inputs / 2);
    FUZZ_NEED(read_everything() == SUBJECT_THREADS * SUBJECT_EVENTS);
    subject_remove(&subject);
}

const struct fuzz_replay fuzz_replay = { .rounds = 10, .finish = finish };
