/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See fork.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "base/sys.h"
#include "base/thread.h"
#include "process/filter_pages.h"
#include "process/fork.h"
#include "process/fork_files.h"

/* Events call this one, so that a program which is linked with the static library has this file
 * and its constructor. */
bool pt_fork_has_cut(const struct pt_thread *t)
{
    return pt_thread_is_cut(t);
}

static bool is_inside(const struct pt_thread *t)
{
    return t && (pt_load_relaxed(&t->word) & PT_THREAD_LEVEL) != 0;
}

static void keep_filter(const struct pt_writer *writer, bool on)
{
    if (writer->sieve)
        madvise(writer->sieve, pt_filter_eval_bytes(), on ? MADV_DOFORK : MADV_DONTFORK);
}

static void keep(struct pt_thread *t, bool on)
{
    madvise(t, sizeof *t, on ? MADV_KEEPONFORK : MADV_WIPEONFORK);
    for (unsigned level = 0; level < PT_LEVELS; level++) {
        struct pt_writer *writers = t->writers[level];

        if (level > 0 && writers)
            madvise(writers, PT_STREAMS * sizeof *writers, on ? MADV_KEEPONFORK : MADV_WIPEONFORK);
        for (unsigned bit = 0; writers && bit < PT_STREAMS; bit++)
            keep_filter(&writers[bit], on);
    }
}

/* What the calling thread is inside of while it forks.  In the child, where the thread may already
 * have a new record, it is set until the half is parted. */
struct inside {
    struct pt_thread *event;
    struct pt_seg *taking;
};

/* Set by pt_fork_guard(). */
static _Thread_local struct pt_seg *guarded __attribute__((tls_model("initial-exec")));
static _Thread_local struct inside forking __attribute__((tls_model("initial-exec")));
/* Signals are held: a handler that forked in between would undo keep(). */
static _Thread_local bool holding __attribute__((tls_model("initial-exec")));
static _Thread_local sigset_t held __attribute__((tls_model("initial-exec")));

void pt_fork_guard(struct pt_seg *seg)
{
    guarded = seg;
    pt_fence_compiler();
}

bool pt_fork_keeps_namespace(void)
{
    const uint64_t *words = pt_self_words();

    return words && pt_load_relaxed(&words[PT_SELF_NAMESPACE_WORD]) != 0;
}

/* The number of the process that forks, in the namespace of pt_self_latest(); 0: unknown. */
static uint32_t forking_pid;

static void note_pid(void)
{
    const struct pt_self *self = pt_self_peek();
    uint32_t own = self || pt_fork_keeps_namespace() ? (uint32_t)pt_sys_pid() : 0;

    forking_pid = self && self->pid != own ? 0 : own;
}

/* The first process of a namespace has no parent in it.  Its children, and those whose parent has
 * ended, may have the parent 1, which proves nothing. */
static void note_namespace(void)
{
    uint64_t *words = pt_self_words();

    if (words)
        pt_store_relaxed(&words[PT_SELF_NAMESPACE_WORD],
                         (uint64_t)(forking_pid > 1 && (uint32_t)getppid() == forking_pid));
}

void pt_fork_before(void)
{
    struct pt_thread *t = pt_thread_current();

    note_pid();
    pt_fork_files_before();
    if (!is_inside(t) && !guarded)
        return;
    pt_thread_hold_signals(&held);
    holding = true;
    forking = (struct inside){ .event = is_inside(t) ? t : NULL, .taking = guarded };
    if (forking.event)
        keep(t, true);
}

static void let_signals(void)
{
    if (!holding)
        return;
    holding = false;
    pt_thread_let_signals(&held);
}

void pt_fork_in_parent(void)
{
    if (forking.event)
        keep(forking.event, false);
    forking = (struct inside){ .event = NULL };
    pt_fork_files_in_parent();
    let_signals();
}

/* Leaves seg to the half event, with private memory.  Returns a new mapping of the shared memory,
 * or NULL. */
static struct pt_seg *part(struct pt_seg *seg, const struct pt_author *author)
{
    struct pt_seg *shared = pt_sys_pages(sizeof *shared), rest;

    pt_seg_part(seg, shared ? shared : &rest, author);
    if (shared && shared->h)
        return shared;
    if (shared)
        munmap(shared, sizeof *shared);
    return NULL;
}

/* No reader maps what a half call takes from. */
static void part_for_good(struct pt_seg *seg, const struct pt_author *author)
{
    struct pt_seg unused;

    pt_seg_part(seg, &unused, author);
    pt_seg_unmap(&unused);
}

/* The half event keeps its own struct pt_self, too: its streams are the private ones.  taking: also
 * one that is not among them.  */
static void part_segments(const struct pt_author *author, struct pt_seg *taking)
{
    struct pt_self *old = pt_self_parent(), *self = old ? pt_sys_pages(sizeof *self) : NULL;
    struct pt_self rest;

    if (old)
        memcpy(self ? self : &rest, old, sizeof *old);
    for (unsigned bit = 0; old && bit < PT_STREAMS; bit++) {
        struct pt_seg *seg = pt_load_relaxed(&old->known[bit].seg), *shared;

        shared = seg ? part(seg, author) : NULL;
        if (seg == taking)
            taking = NULL;
        for (struct pt_seg *s = pt_load_relaxed(&old->known[bit].old); s; s = s->older)
            part_for_good(s, author);
        if (self) {
            self->known[bit].seg = shared;
            self->known[bit].old = NULL;
        }
    }
    if (taking)
        part_for_good(taking, author);
    if (old)
        pt_self_set_parent(self);
}

void pt_fork_part(void)
{
    struct pt_thread *t = forking.event, *fresh;
    struct pt_author author = { .pid = t ? t->pid : 0, .tid = t ? t->tid : 0 };

    if (!t && !forking.taking)
        return;
    part_segments(&author, forking.taking);
    forking = (struct inside){ .event = NULL };
    if (t) {
        pt_store_relaxed(&t->pid, PT_THREAD_CUT);
        /* Looks like a record that fork has wiped. */
        fresh = pt_thread_make();
        if (fresh) {
            pt_store_relaxed(&fresh->count, pt_load_relaxed(&t->count));
            pt_thread_self = fresh;
        }
    }
    pt_self_look_again();
}

void pt_fork_in_child(void)
{
    note_namespace();
    pt_fork_files_in_child();
    pt_fork_part();
    /* Where the kernel wipes nothing. */
    pt_thread_forget_parent();
    let_signals();
}

pid_t pt_fork_call(pid_t (*original)(void))
{
    pid_t pid;
    int error;

    /* Signals are held, so this is no handler: the C library's fork() calls it, whose handlers do
     * the rest. */
    if (holding)
        return original();
    pt_fork_before();
    pid = original();
    error = errno;
    if (pid == 0)
        pt_fork_in_child();
    else
        pt_fork_in_parent();
    errno = error;
    return pid;
}

/* At load: pthread_atfork() is not async-signal-safe, and the first call may be an event. */
__attribute__((constructor)) static void watch(void)
{
    pthread_atfork(pt_fork_before, pt_fork_in_parent, pt_fork_in_child);
}
