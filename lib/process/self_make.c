/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Makes struct pt_self with the first call of a process: finds its name map and its page, and
 * joins the streams that it inherits.  self.c has the functions for later, so that the files
 * below this one (inherit.c, join.c, gates.c, thread.c) call it and not this one.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/sys.h"
#include "base/thread.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/exec.h"
#include "process/exit.h"
#include "process/fork.h"
#include "process/inherit.h"
#include "process/self.h"
#include "process/thread.h"
#include "process/unmade.h"
#include "shm/liveness.h"

/* The map for which the process is counted until its page is. */
struct held {
    struct pt_names *names; /* NULL: for none */
    bool maker;             /* the process has made it */
    char file[64];
};

static void hold(struct held *held, const struct pt_self *s, bool maker)
{
    held->names = s->names;
    held->maker = maker;
    memcpy(held->file, s->names_file, sizeof held->file);
}

/* stays: the map is in use, or will be needed. */
static void release(const struct held *held, bool stays)
{
    if (!held->names)
        return;
    pt_names_release(held->names, pt_place_uid(), held->file, held->maker);
    if (!stays)
        pt_names_unmap(held->names);
}

static int open_names(struct pt_self *s, struct held *held)
{
    int r = pt_names_open(&s->names, s->names_file);

    if (r < 0)
        return r;
    if (pt_names_hold(s->names)) {
        hold(held, s, false);
        return 0;
    }
    pt_names_unmap(s->names);
    return -ENOENT;
}

/* A process for which a descriptor or memory was missing would have names of its own, and not be
 * traced by a stream that it inherits: its event tries again.  A control call has to have an
 * answer; memory may be missing for ever, as where another process has made holes in a file. */
static bool stops(int r, bool by_control)
{
    return pt_is_shortage(r) && !(by_control && r == -ENOMEM);
}

/* Facts that hold while the record is made. */
struct making {
    struct pt_page_dir dir;
    struct pt_process process;
    bool is_ours; /* process is valid */
    bool by_control;
    void *front; /* of a name map of its own */
};

/* The names of a new image: its page's, its family's, or a map of its own. */
static int find_names(struct pt_self *s, struct held *held, struct making *m)
{
    int r = pt_inherit_names(s, &m->dir, m->is_ours ? &m->process : NULL);

    if (r > 0) {
        r = open_names(s, held);
        if (r == 0)
            return 0;
    }
    if (stops(r, m->by_control))
        return r;
    r = pt_names_create_in(&s->names, &m->dir.in, s->pid, s->start, s->names_file, &m->front);
    if (r == 0 && pt_names_hold_as_maker(s->names))
        hold(held, s, true);
    return r;
}

/* Another copy of the library, or a controller, was first with the page: its name
 * map is the process's, unless it is lost. */
static int follow_page(struct pt_self *s, struct held *held, int dir)
{
    if (pt_exec_begin_names(s, dir) || strcmp(s->page->names_file, s->names_file) == 0)
        return 0;
    release(held, false);
    held->names = NULL;
    memcpy(s->names_file, s->page->names_file, sizeof s->names_file);
    s->names_file[sizeof s->names_file - 1] = '\0';
    return open_names(s, held);
}

/*
 * Without /proc, as after chroot(), the pid namespace is unknown.  It is the parent's if each fork
 * since the parent's has shown that (fork.h), or if getppid() is the parent's own pid.  The first
 * process of a namespace has no parent in it; its children may have a parent with the pid 1, which
 * proves nothing.
 */
static bool is_child_of(const struct pt_self *parent)
{
    return pt_fork_keeps_namespace() || (parent->pid != 1 && getppid() == (pid_t)parent->pid);
}

static int build_child(struct pt_self *s, const struct pt_self *parent, struct making *m)
{
    int r;

    s->layouts = pt_load_acquire(&parent->layouts);
    r = pt_page_create_in(&s->page, &m->dir, s->pid, s->start, s->names_file, s->page_file);
    if (r < 0)
        return r;
    if (s->page->pid_ns == 0 && !s->page_file[0] && is_child_of(parent))
        s->page->pid_ns = parent->page->pid_ns;
    pt_exec_settle_names(s, parent);
    return 0;
}

static int build_new(struct pt_self *s, struct held *held, struct making *m)
{
    int r = find_names(s, held, m);

    if (r < 0)
        return r;
    if (m->front)
        r = pt_page_create_front(&s->page, &m->dir, s->pid, s->start, s->names_file, s->page_file,
                                 m->front);
    else
        r = pt_page_create_in(&s->page, &m->dir, s->pid, s->start, s->names_file, s->page_file);
    if (r < 0)
        return r;
    r = follow_page(s, held, m->dir.in.fd);
    if (r < 0)
        pt_page_unmap(s->page);
    return r;
}

static int build_in(struct pt_self *s, const struct pt_self *parent, struct held *held,
                    struct making *m, bool no_offset)
{
    struct pt_identity id;
    int r;

    pt_page_sweep_step(&m->dir, &(struct pt_page_names){ held->file, held->names });
    r = pt_identity_process(&id, &m->process, no_offset, &m->is_ours);
    s->pid = id.pid;
    s->start = id.start;
    s->instance = pt_self_instance();
    if (r == 0)
        r = parent ? build_child(s, parent, m) : build_new(s, held, m);
    /* A process that cannot reach the stream directory has a page without a file, so that no other
     * process could take it off the count of the map's pages, and needs no file of the map's. */
    if (r == 0 && !s->renames && (s->page_file[0] || m->dir.in.fd >= 0))
        pt_page_hold_names(s->page, s->names);
    return r;
}

/* Most processes need one; it is the first one's as long as it is used. */
static struct pt_self first_self;
static uint32_t first_is_used;

static struct pt_self *new_self(void)
{
    uint32_t no = 0;

    return pt_cas_seqcst(&first_is_used, &no, 1u) ? &first_self : pt_sys_pages(sizeof first_self);
}

static void free_self(struct pt_self *s)
{
    if (s != &first_self) {
        munmap(s, sizeof *s);
        return;
    }
    memset(s, 0, sizeof *s);
    pt_store_release(&first_is_used, 0u);
}

static int build(struct pt_self **self, const struct pt_self *parent, bool by_control,
                 bool no_offset)
{
    struct pt_self *s = new_self();
    struct held held = { .names = NULL };
    struct making m = { .by_control = by_control };
    uid_t uid;
    int r;

    if (!s)
        return -ENOMEM;
    uid = pt_place_fix(by_control, pt_self_words() + 2);
    if (parent && pt_exec_take_names(s, parent))
        hold(&held, s, false);
    pt_page_dir_make(&m.dir, pt_place_uid(), uid);
    r = build_in(s, parent, &held, &m, no_offset);
    pt_page_dir_close(&m.dir);
    if (r == 0) {
        pt_exec_enter(s);
        pt_add_seqcst(&s->page->copies, 1u);
    }
    release(&held, (parent && held.names == parent->names) || (r == 0 && held.names == s->names));
    if (r < 0) {
        free_self(s);
        return r;
    }
    *self = s;
    return 0;
}

/* Another thread was first, or the next attempt makes it.  This one was never published. */
static void discard(struct pt_self *s, const struct pt_self *parent)
{
    pt_inherit_close(s);
    pt_exec_drop_names(s);
    pt_add_seqcst(&s->page->copies, (uint64_t)-1);
    pt_page_unmap(s->page);
    if (!parent || s->names != parent->names)
        pt_names_unmap(s->names);
    free_self(s);
}

/* The streams that trace the process already, while it has the rights to open them:
 * it may give up its user id, or its root directory, before its next event. */
static void map_known(struct pt_self *s)
{
    uint64_t used = pt_load_seqcst(&s->page->used) & ~pt_load_seqcst(&s->page->shadows), bit;

    pt_for_each_bit(bit, used)
        pt_self_segment(s, (unsigned)bit, pt_load_seqcst(&s->page->epoch[bit]));
}

static void publish(const struct pt_self *s)
{
    pt_store_release(&pt_gates, (const uint64_t *)s->page->gates);
    pt_home_note_namespace(s->page->pid_ns);
    /* Last: a thread that finds this word set finds all the rest. */
    pt_store_release(pt_self_words(), 1u);
}

/* Does a stream of the parent's trace its children, too? */
static bool is_heir(const struct pt_self *parent)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        if (pt_self_inherited(parent, bit))
            return true;
    return false;
}

static int make_new(struct pt_self **self, bool by_control)
{
    struct pt_self *parent = pt_self_latest(), *old, *s;
    bool no_offset;
    int r;

    if (parent && pt_self_is_own(parent)) { /* pt_self_is_made() */
        publish(parent);
        *self = parent;
        return 0;
    }
    pt_fork_part();
    no_offset = pt_time_learn();
    old = parent = pt_self_latest();
    if (parent && pt_self_is_own(parent)) { /* another thread has made it meanwhile */
        publish(parent);
        *self = parent;
        return 0;
    }
    r = pt_self_words() ? build(&s, parent, by_control, no_offset) : -ENOMEM;
    if (r == 0) {
        r = pt_inherit(s, parent);
        if (stops(r, by_control))
            discard(s, parent);
        else
            r = 0;
    }
    if (r < 0) {
        pt_unmade_failed(parent && is_heir(parent));
        return r;
    }
    pt_inherit_settle(s);
    if (pt_self_replace(&old, s)) {
        pt_exec_give_names(s);
    } else {
        discard(s, parent);
        s = old;
    }
    publish(s);
    map_known(s);
    pt_unmade_settle(s);
    *self = s;
    return 0;
}

/* by_control: not called by an event, which must not read the environment.  Signals are held: a
 * child forked by a handler half-way would take its parent's files for its own.  Cancellation is
 * disabled: an event is not a cancellation point, though open() is one. */
static int make(struct pt_self **self, bool by_control)
{
    struct pt_self *s = pt_self_peek();
    int cancel, saved = errno, r;
    sigset_t before;

    if (s) {
        *self = s;
        return 0;
    }
    pt_thread_hold_signals(&before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pt_brief_files_enter();
    r = make_new(self, by_control);
    pt_brief_files_leave();
    pthread_setcancelstate(cancel, NULL);
    pt_thread_let_signals(&before);
    errno = saved;
    return r;
}

struct pt_self *pt_self_get(void)
{
    struct pt_self *s = NULL;

    if (pt_self_peek() || pt_self_is_made() || pt_unmade_is_due())
        make(&s, false);
    return s;
}

int pt_self_make(struct pt_self **self)
{
    int r = make(self, true);

    return r == 0 || r == -EMFILE || r == -ENFILE ? r : -ENOMEM;
}

/*
 * When the library is loaded into a program that posixtrace record, or something
 * below it, has started: the program has one thread, all its rights and its first
 * environment.  Later the kernel would take milliseconds to register the process for
 * membarrier, in the middle of an event, and a program that has given up its user id
 * would reach no stream.
 */
__attribute__((constructor)) static void follow_at_load(void)
{
    int saved = errno;
    struct pt_self *s;

    if (pt_inherit_at_load() && make(&s, false) == 0) {
        pt_barrier_works();
        pt_exit_register();
        pt_thread_watch_exits();
    }
    errno = saved;
}
