/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/sys.h"
#include "ring/dir.h"
#include "ring/liveness.h"
#include "stream/self.h"

const uint64_t *pt_gates = pt_page_all_ones;
static const uint64_t no_gates[PT_ID_MAX];

static struct pt_self *self_now;
/* In a page that fork wipes: [0] this process has a page, [1] its instance. */
static uint64_t *live_words;
static uint64_t last_instance;   /* not wiped: a child's is greater than its parent's */

static void *new_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static bool live(void)
{
    const uint64_t *words = pt_load_acquire(&live_words);

    return words && pt_load_relaxed(words) != 0;
}

static uint64_t *get_words(void)
{
    uint64_t *words = pt_load_acquire(&live_words), *fresh;

    if (words)
        return words;
    fresh = new_pages(4096);
    if (!fresh)
        return NULL;
    madvise(fresh, 4096, MADV_WIPEONFORK);
    if (pt_cas_seqcst(&live_words, &words, fresh))
        return fresh;
    munmap(fresh, 4096);
    return words;
}

uint64_t pt_self_instance(void)
{
    uint64_t *words = get_words(), none = 0, mine;

    if (!words)
        return 0;
    if (pt_load_acquire(&words[1]) == 0) {
        mine = pt_add_seqcst(&last_instance, 1u) + 1;
        pt_cas_seqcst(&words[1], &none, mine);
    }
    return pt_load_acquire(&words[1]);
}

bool pt_self_forget_parent(void)
{
    uint64_t *words = pt_load_acquire(&live_words);

    if (!words || (!pt_load_relaxed(&words[0]) && !pt_load_relaxed(&words[1])))
        return false;
    pt_store_relaxed(&words[0], 0u);
    pt_store_relaxed(&words[1], 0u);
    return true;
}

struct pt_self *pt_self_peek(void)
{
    return live() ? pt_load_acquire(&self_now) : NULL;
}

int pt_self_register(struct pt_self *self, struct pt_seg *seg, unsigned bit)
{
    struct pt_seg_header *h = seg->h;

    for (unsigned i = 0; i < PT_PROC_MAX; i++) {
        struct pt_proc *p = &h->procs[i];
        uint32_t pid = pt_load_relaxed(&p->pid);

        /* An entry of a process that is gone is as good as a free one; ours may
         * be there already, or half-way, from another thread of this process. */
        if (pid != 0 && pid != self->pid && pt_sys_thread_exists((int32_t)pid, (int32_t)pid))
            continue;
        if (!pt_cas_seqcst(&p->pid, &pid, self->pid))
            continue;
        pt_store_relaxed(&p->bit, bit);
        pt_store_seqcst(&p->start, self->start);
        /* Registered before the state is looked at; the controller changes the
         * state before it looks at the table.  One of the two sees the other. */
        pt_fence_seqcst();
        if (pt_state_of(pt_load_seqcst(&h->state)) != PT_SUSPENDED && !pt_load_seqcst(&h->closed))
            pt_page_open_gates(self->page, bit, &h->filter);
        return 0;
    }
    return -EAGAIN;
}

/*
 * In a forked child: what of the parent's streams goes on here.  Threads of the
 * child and their handlers may all be here at once, each with a pt_self of its
 * own but, in general, with the same page: all do the same, and each step can
 * be done twice.  Epoch 1 says that a bit is inherited, see pt_page_take_bit;
 * a bit whose epoch is another belongs to somebody else by now.
 */
static void inherit(struct pt_self *child, const struct pt_self *parent)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        struct pt_seg *seg = pt_load_acquire(&parent->known[bit].seg);
        struct pt_page_stream *stream = &child->page->stream[bit];
        uint64_t mask = 1ull << bit, epoch = 0;

        if (!seg || pt_load_relaxed(&parent->known[bit].epoch) !=
                        pt_load_relaxed(&parent->page->epoch[bit]) ||
            seg->h->attr.inheritance != POSIX_TRACE_INHERITED)
            continue;
        if (!(pt_or_seqcst(&child->page->used, mask) & mask)) {
            memcpy(stream->file, seg->file, sizeof stream->file - 1);
            stream->inherited = 1;
        }
        if (!pt_cas_seqcst(&child->page->epoch[bit], &epoch, PT_EPOCH_INHERITED) &&
            epoch != PT_EPOCH_INHERITED)
            continue;
        pt_self_set_segment(child, bit, PT_EPOCH_INHERITED, seg);
        pt_self_register(child, seg, bit);
    }
}

/* A name map of our making that nobody else will use. */
static void drop_names(struct pt_self *s)
{
    int dir = pt_dir_open(false);

    if (dir >= 0) {
        unlinkat(dir, s->names_file, 0);
        close(dir);
    }
    pt_names_unmap(s->names);
}

static struct pt_self *build(struct pt_self *parent)
{
    struct pt_self *s = new_pages(sizeof *s);
    struct pt_identity id;

    if (!s)
        return NULL;
    pt_identity_self(&id);
    s->pid = id.pid;
    s->start = id.start;
    if (parent) {
        s->names = parent->names;
        memcpy(s->names_file, parent->names_file, sizeof s->names_file);
    } else if (pt_names_create(&s->names, s->names_file) < 0) {
        munmap(s, sizeof *s);
        return NULL;
    }
    if (pt_page_create(&s->page, s->pid, s->start, s->names_file, s->page_file) < 0) {
        if (!parent)
            drop_names(s);
        munmap(s, sizeof *s);
        return NULL;
    }
    /* Another copy of the library was first: its name map is the process's. */
    if (!parent && strcmp(s->page->names_file, s->names_file) != 0) {
        drop_names(s);
        memcpy(s->names_file, s->page->names_file, sizeof s->names_file);
        s->names_file[sizeof s->names_file - 1] = '\0';
        if (pt_names_open(&s->names, s->names_file) < 0) {
            pt_page_unmap(s->page);
            munmap(s, sizeof *s);
            return NULL;
        }
    }
    return s;
}

/* Somebody else was first: nobody has seen this one. */
static void discard(struct pt_self *s, const struct pt_self *parent)
{
    pt_page_unmap(s->page);
    if (!parent)
        pt_names_unmap(s->names);
    munmap(s, sizeof *s);
}

struct pt_self *pt_self_get(void)
{
    if (pt_load_relaxed(&pt_gates) == no_gates && !pt_load_acquire(&self_now))
        return NULL;
    return pt_self_make();
}

struct pt_self *pt_self_make(void)
{
    struct pt_self *parent = pt_load_acquire(&self_now), *old = parent, *s;
    int saved = errno;

    if (old && live())
        return old;
    s = get_words() ? build(parent) : NULL;
    if (!s) {
        pt_store_release(&pt_gates, (const uint64_t *)no_gates);
        errno = saved;
        return NULL;
    }
    if (parent)
        inherit(s, parent);
    if (!pt_cas_seqcst(&self_now, &old, s)) {
        discard(s, parent);
        s = old;
    }
    pt_store_release(&pt_gates, (const uint64_t *)s->page->gates);
    /* Last: who sees this sees the rest. */
    pt_store_release(get_words(), 1u);
    errno = saved;
    return s;
}

struct pt_seg *pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    struct pt_seg *seg = pt_load_acquire(&self->known[bit].seg);
    char file[sizeof self->page->stream[bit].file];

    if (seg && pt_load_acquire(&self->known[bit].epoch) == epoch)
        return seg;
    /* Made by another copy of the library in this process. */
    memcpy(file, self->page->stream[bit].file, sizeof file);
    file[sizeof file - 1] = '\0';
    if (!file[0] || strchr(file, '/'))
        return NULL;
    seg = new_pages(sizeof *seg);
    if (!seg)
        return NULL;
    if (pt_seg_open(seg, file) < 0) {
        munmap(seg, sizeof *seg);
        return NULL;
    }
    pt_self_set_segment(self, bit, epoch, seg);
    return seg;
}

void pt_self_set_segment(struct pt_self *self, unsigned bit, uint64_t epoch, struct pt_seg *seg)
{
    pt_store_release(&self->known[bit].seg, (struct pt_seg *)NULL);
    pt_store_release(&self->known[bit].epoch, epoch);
    pt_store_release(&self->known[bit].seg, seg);
}

void pt_self_unlink(struct pt_self *self)
{
    int dir = pt_dir_open(false);

    if (dir < 0)
        return;
    if (self->page_file[0])
        unlinkat(dir, self->page_file, 0);
    if (self->names_file[0] && !pt_page_names_in_use(dir, self->names_file))
        unlinkat(dir, self->names_file, 0);
    close(dir);
}
