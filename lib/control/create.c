/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Making and unmaking active streams; see stream.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "consumer/balance.h"
#include "control/control.h"
#include "control/fill_watermark.h"
#include "control/target.h"
#include "flush/thread.h"
#include "page/stream_quota.h"
#include "page/log_folder.h"
#include "place/dir.h"
#include "process/exit.h"
#include "process/filter_callback.h"
#include "process/join.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "shm/syncpoint.h"
#include "stream/control_lock.h"
#include "stream/handle.h"

/* The names must live as long as the segment needs them: a link of its own.  Without one, as where
 * the stream directory was emptied, only this process has the names (control/attach.c), and an
 * image that inherits the stream does not join it (has_names_of in process/inherit.c). */
static int link_names(struct pt_stream *s)
{
    char name[sizeof s->seg->h->names_file];
    int dir, r = 0;

    if (!s->seg->file[0] || !s->names_file[0])
        return 0;
    dir = pt_dir_open_of(s->uid, false);
    if (dir < 0)
        return pt_is_shortage(dir) ? dir : 0;
    pt_seg_names_file(s->seg->file, name);
    if (linkat(dir, s->names_file, dir, name, 0) == 0)
        memcpy(s->seg->h->names_file, name, sizeof name);
    else if (pt_is_no_room(-errno) || errno == ENOMEM)
        r = -ENOMEM;
    close(dir);
    return r;
}

static int open_segment(struct pt_stream *s, const struct pt_attr *attr, int log_fd)
{
    struct pt_seg_request q = { .attr = *attr,
                                .with_log = log_fd >= 0,
                                .for_other = s->other,
                                .uid = s->uid,
                                .clock = pt_clock_choose(),
                                .fences = !pt_barrier_works(),
                                .create_ns = (int64_t)pt_clock_ns(CLOCK_REALTIME) };
    int r;

    if (q.attr.policy_is_default && q.with_log)
        q.attr.stream_policy = POSIX_TRACE_FLUSH;
    q.attr.policy_is_default = 0;
    q.attr.clock_res_ns = pt_clock_resolution_ns();
    s->seg = calloc(1, sizeof *s->seg);
    if (!s->seg)
        return -ENOMEM;
    r = pt_seg_create(s->seg, &q);
    if (r < 0) {
        free(s->seg);
        s->seg = NULL;
        return r == -ENOSPC ? -ENOMEM : r;
    }
    pt_syncpoint_first(s->seg->h, s->seg->g.clock);
    if (log_fd >= 0)
        pt_log_folder_note(s->seg->h, log_fd);
    return link_names(s);
}

/* The process learns of the stream; its gates stay closed until start.  Another
 * one maps the segment with its first event after that. */
static int enter_page(struct pt_stream *s)
{
    struct pt_page *page = s->page;
    unsigned bit = s->bit;

    pt_page_set_file(page, bit, s->seg->file);
    page->stream[bit].inherited = s->seg->g.attr.inheritance == POSIX_TRACE_INHERITED;
    if (!s->other)
        pt_self_set_segment(s->self, bit, pt_load_relaxed(&page->epoch[bit]), s->seg);
    return pt_process_register(s->seg, s->pid, s->start, page, bit);
}

/* A thread may still write into the segment, so the mapping stays for ever. */
static void leave_mapped(struct pt_stream *s)
{
    if (!s->log_is_left)
        pt_seg_unlink(s->seg);
    s->seg = NULL;
    s->live.seg = NULL;
}

/* Makes all writers of this process invalid for the bit.  False: a thread may still use one. */
static bool give_bit(struct pt_stream *s)
{
    bool left = true;

    if (!s->other) {
        pt_filter_callback_forget(s->self, s->bit);
        left = pt_self_drop_segment(s->self, s->bit);
    }
    pt_page_give_bit(s->page, s->bit);
    return left;
}

static pt_u64 held;

uint32_t pt_held_begin(void)
{
    return pt_self_enter(&held);
}

void pt_held_end(uint32_t instance)
{
    if (instance)
        pt_self_leave(&held, instance);
}

uint32_t pt_held_count(void)
{
    return pt_self_inside(&held);
}

static void free_stream(struct pt_stream *s)
{
    uint32_t counted = s->log_is_left ? 0 : s->held;

    pt_consumer_deinit(&s->live);
    if (s->seg) {
        if (!s->log_is_left)
            pt_seg_unlink(s->seg);
        pt_seg_unmap(s->seg);
        free(s->seg);
    }
    pt_traced_close(s);
    pt_stream_free(s);
    pt_held_end(counted);
}

/* The stream has its bit. */
static int build(struct pt_stream *s, const struct pt_attr *attr, int log_fd)
{
    int r = open_segment(s, attr, log_fd);

    if (r == 0 && pt_stream_quota_is_full(s->uid, s->seg->file))
        r = -EAGAIN;
    if (r == 0)
        r = pt_control_lock_init(s);
    return r == 0 ? pt_consumer_init(&s->live, s->seg) : r;
}

/* All but its flush thread and its place among the process's streams. */
static int begin(struct pt_stream **stream, const struct pt_attr *attr, int log_fd,
                 const struct pt_target *target)
{
    struct pt_self *self;
    struct pt_stream *s;
    int r = pt_self_make(&self);

    if (r < 0)
        return r;
    pt_thread_watch_exits();
    r = pt_exit_register();
    if (r < 0)
        return r;
    s = pt_stream_new(log_fd >= 0 ? PT_STREAM_LOGGED : PT_STREAM_ACTIVE);
    if (!s)
        return -ENOMEM;
    s->self = self;
    r = pt_traced_open(s, target);
    if (r == 0)
        r = pt_page_take_bit_for(s->page, self->pid, self->start);
    if (r >= 0) {
        s->bit = (unsigned)r;
        r = build(s, attr, log_fd);
        if (r < 0)
            give_bit(s); /* no thread has found the segment */
    }
    if (r < 0)
        free_stream(s);
    else
        *stream = s;
    return r;
}

/* r: of the flush thread's start. */
static int complete(struct pt_stream *s, int r)
{
    if (r == 0)
        r = enter_page(s);
    if (r < 0 && s->flusher)
        pt_flusher_finish(s->flusher);
    if (r < 0) {
        if (!give_bit(s))
            leave_mapped(s);
        free_stream(s);
    }
    return r;
}

/*
 * A handler may fork meanwhile.  Its child creates a stream of its own if the parent had not
 * started yet, and else has none: it never changes what belongs to the parent.  Signals are
 * blocked, except while the flush thread starts, whose log may be a full pipe.
 */
int pt_stream_create(struct pt_stream **stream, const struct pt_attr *attr, int log_fd,
                     const struct pt_target *target)
{
    struct pt_stream *s = NULL;
    sigset_t before;
    int r;

    pt_thread_hold_signals(&before);
    pt_brief_files_enter();
    r = begin(&s, attr, log_fd, target);
    pt_brief_files_leave();
    if (r == 0 && log_fd >= 0) {
        pt_thread_let_signals(&before);
        r = pt_flusher_start(s, log_fd);
        pt_thread_hold_signals(&before);
        if (!pt_stream_is_ours(s)) {
            pt_thread_let_signals(&before);
            return -EINVAL;
        }
    }
    pt_brief_files_enter();
    if (s)
        r = complete(s, r);
    pt_brief_files_leave();
    pt_thread_let_signals(&before);
    if (r == 0)
        *stream = s;
    return r;
}

/* Has another process mapped the segment?  Its mapping stays until it ends. */
static bool is_shared(const struct pt_stream *s)
{
    for (unsigned i = 0; i < pt_seg_proc_count(s->seg); i++) {
        uint32_t pid = pt_load_relaxed(&pt_seg_proc(s->seg, i)->pid);

        if (pid != 0 && pid != s->self->pid)
            return true;
    }
    return false;
}

bool pt_stream_wait_for_writers(struct pt_stream *s, bool all)
{
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + PT_STALL_NS;
    struct timespec pause = { 0, 20000 };
    uint32_t n = pt_slot_count(s->seg);
    int32_t own = pt_sys_pid();

    for (uint32_t i = 0; i < n; i++) {
        struct pt_slot *slot = pt_seg_slot(s->seg, i);
        uint64_t was = pt_load_acquire(&slot->inside), now;

        while ((now = pt_load_acquire(&slot->inside)) != 0 && (all || now == was) &&
               slot->author.pid != own && !pt_thread_is_gone(slot->author.pid, slot->author.tid)) {
            if (pt_clock_ns(CLOCK_MONOTONIC) >= until)
                return false;
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        }
    }
    return true;
}

/*
 * No process has a bit for the stream any more.  A thread that saw its bit just before, and
 * is held up until now, finds memory that no reader looks at, and its stream closed: it takes
 * no other chunk (find_chunk in writer/writer.c).  A file that cannot be removed, since this
 * process has given up its user id, gives its memory back, too; its name stays until the next
 * program of that user reaps it.
 */
static void release_memory(struct pt_stream *s)
{
    bool stays = !pt_seg_unlink(s->seg);

    pt_barrier_all();
    if ((stays || is_shared(s)) && pt_stream_wait_for_writers(s, true))
        pt_seg_release(s->seg, s->self->pid);
}

/* Stops all recording.  False: a thread of this process is still inside an event. */
static bool close_stream(struct pt_stream *s, uint64_t addr, bool *quiet)
{
    bool left = true;

    pt_stream_stop(s, addr);
    /* After this no other thread or process gets the control lock. */
    do {
        pt_control_lock_begin(s);
        pt_store_seqcst(&s->seg->h->closed, PT_CLOSED);
        pt_stream_update_gates(s, false);
    } while (!pt_control_lock_end(s));
    /* Events check the gate after they are inside, ending threads check the epoch. */
    pt_page_retire_bit(s->page, s->bit);
    if (s->other)
        pt_barrier_all();
    else
        left = pt_threads_left();
    *quiet = pt_stream_wait_for_writers(s, true);
    return left;
}

/* The memory is given back only if the gates of every process are closed: a writer whose gate is
 * open makes no other check as long as its chunk has room. */
static void remove_stream(struct pt_stream *s, bool left, bool quiet)
{
    bool reached = pt_stream_forget_processes(s);

    if (!reached)
        pt_store_seqcst(&s->seg->h->closed, PT_CLOSED_LEFT);
    if (!left || !give_bit(s)) {
        /* A thread has been inside an event for over a second.  Where it may have found the
         * gate open, the gate bit is given up, too. */
        leave_mapped(s);
    } else {
        pt_consumer_deinit(&s->live);
        if (quiet && reached && !s->log_is_left)
            release_memory(s);
    }
    free_stream(s);
}

/* A handler can run only while the flush thread ends; a child that it forks changes nothing. */
int pt_stream_destroy(struct pt_stream *s, uint64_t addr)
{
    bool left = true, quiet = false;
    sigset_t before;
    int r = 0;

    pt_thread_hold_signals(&before);
    if (pt_stream_is_ours(s)) {
        pt_brief_files_enter();
        pt_fill_watermark_end(s);
        left = close_stream(s, addr, &quiet);
        pt_brief_files_leave();
    }
    if (s->flusher) {
        pt_thread_let_signals(&before);
        r = pt_flusher_finish(s->flusher);
        pt_thread_hold_signals(&before);
    }
    if (pt_stream_is_ours(s)) {
        s->flusher = NULL;
        pt_brief_files_enter();
        remove_stream(s, left, quiet);
        pt_brief_files_leave();
    }
    pt_thread_let_signals(&before);
    return r;
}
