/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self.h; self_make.c makes it. */
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
#include "process/self.h"
#include "process/thread.h"
#include "shm/liveness.h"
#include "shm/loss_interval.h"

const uint64_t *pt_gates = pt_page_unknown.gates;

static struct pt_self *self_now;
/* In memory that fork wipes: [0] this process has a page, [1] its instance, [2] its
 * place is fixed (place/place.h), [3] its number (shm/liveness.h), [4] its pid namespace is that
 * of self_now (process/fork.h). */
static uint64_t *live_words;
#define WORD_BYTES (((size_t)PT_SELF_WORDS * 8 + PT_PAGE - 1) & ~((size_t)PT_PAGE - 1))
static uint64_t last_instance; /* not wiped: a child's is greater than its parent's */

static bool live(void)
{
    const uint64_t *words = pt_load_acquire(&live_words);

    return words && pt_load_relaxed(words) != 0;
}

uint64_t *pt_self_words(void)
{
    uint64_t *words = pt_load_acquire(&live_words), *fresh;

    if (words)
        return words;
    fresh = pt_sys_wiped_pages(WORD_BYTES);
    if (!fresh)
        return NULL;
    if (pt_cas_seqcst(&live_words, &words, fresh)) {
        pt_home_note(fresh + 3);
        return fresh;
    }
    munmap(fresh, WORD_BYTES);
    return words;
}

/* The first call may be that of a child which shares the memory, and has another number. */
__attribute__((constructor)) static void note_home(void)
{
    int saved = errno;

    pt_self_words();
    errno = saved;
}

uint64_t pt_self_instance(void)
{
    uint64_t *words = pt_self_words(), none = 0, mine;

    if (!words)
        return 0;
    if (pt_load_acquire(&words[1]) == 0) {
        mine = pt_add_seqcst(&last_instance, 1u) + 1;
        pt_cas_seqcst(&words[1], &none, mine);
    }
    return pt_load_acquire(&words[1]);
}

uint32_t pt_self_enter(pt_u64 *count)
{
    uint32_t instance = (uint32_t)pt_self_instance();
    uint64_t was = pt_load_relaxed(count);

    while (!pt_cas_seqcst(count, &was,
                          was >> 32 == instance ? was + 1 : (uint64_t)instance << 32 | 1u))
        ;
    return instance;
}

void pt_self_leave(pt_u64 *count, uint32_t instance)
{
    uint64_t was = pt_load_relaxed(count);

    /* Another instance: a handler has forked in between, and this is the child. */
    while (was >> 32 == instance && !pt_cas_seqcst(count, &was, was - 1))
        ;
}

uint32_t pt_self_inside(const pt_u64 *count)
{
    uint64_t now = pt_load_seqcst(count);

    return now >> 32 == (uint32_t)pt_self_instance() ? (uint32_t)now : 0;
}

void pt_self_look_again(void)
{
    pt_store_release(&pt_gates, (const uint64_t *)pt_page_unknown.gates);
}

bool pt_self_forget_parent(void)
{
    uint64_t *words = pt_load_acquire(&live_words);

    if (words)
        pt_home_note(words + 3);
    if (!words ||
        !(pt_load_relaxed(&words[0]) | pt_load_relaxed(&words[1]) | pt_load_relaxed(&words[2])))
        return false;
    pt_store_relaxed(&words[0], 0u);
    pt_store_relaxed(&words[1], 0u);
    pt_store_relaxed(&words[2], 0u);
    for (unsigned i = PT_SELF_OWN_WORDS; i < PT_SELF_WORDS; i++)
        pt_store_relaxed(&words[i], 0u);
    return true;
}

bool pt_self_is_own(const struct pt_self *s)
{
    return s->instance == pt_self_instance();
}

bool pt_self_is_made(void)
{
    const struct pt_self *s = pt_load_acquire(&self_now);

    return s && pt_self_is_own(s);
}

struct pt_self *pt_self_parent(void)
{
    struct pt_self *s = live() ? NULL : pt_load_acquire(&self_now);

    return s && !pt_self_is_own(s) ? s : NULL;
}

void pt_self_set_parent(struct pt_self *parent)
{
    pt_store_release(&self_now, parent);
}

struct pt_self *pt_self_peek(void)
{
    return live() ? pt_load_acquire(&self_now) : NULL;
}

struct pt_self *pt_self_latest(void)
{
    return pt_load_acquire(&self_now);
}

bool pt_self_replace(struct pt_self **old, struct pt_self *fresh)
{
    return pt_cas_seqcst(&self_now, old, fresh);
}

/* ---- segments ---- */

static void unmap_segment(struct pt_seg *seg)
{
    pt_seg_unmap(seg);
    munmap(seg, sizeof *seg);
}

static void push_old(struct pt_self *self, unsigned bit, struct pt_seg *seg)
{
    seg->older = pt_load_acquire(&self->known[bit].old);
    while (!pt_cas_seqcst(&self->known[bit].old, &seg->older, seg))
        ;
}

/* Unmaps segments of streams that had the bit before, by the steps in thread.h.  If a thread is
 * inside an event, a later call does it. */
static void unmap_old(struct pt_self *self, unsigned bit)
{
    struct pt_seg *seg, *next;
    bool out;

    if (!pt_load_acquire(&self->known[bit].old))
        return;
    seg = pt_exchange_seqcst(&self->known[bit].old, (struct pt_seg *)NULL);
    out = pt_threads_are_out();
    for (next = seg; out && next; next = next->older)
        pt_threads_forget(bit, next->epoch);
    out = out && pt_threads_are_out();
    for (; seg; seg = next) {
        next = seg->older;
        if (out)
            unmap_segment(seg);
        else
            push_old(self, bit, seg);
    }
}

/*
 * known[bit].missed: the low halves of the epoch and, below, of a count; missed_many: the same, and
 * counts times MANY.  install() stores the segment before it takes the counts; pt_self_miss()
 * counts before it loads the segment.  So one of the two finds what the other has stored.  A child
 * that was forked while this thread mapped the segment has the counts, too, which are its parent's,
 * and the shared memory.
 */
#define MANY (1ull << 31)

/* Adds to the count of a word; returns how many times MANY it has no room for.  Not if the bit has
 * another stream by now whose events are counted there. */
static uint64_t add_missed(pt_u64 *word, uint64_t epoch, uint64_t n)
{
    uint64_t was = pt_load_seqcst(word), count;

    do {
        uint32_t later = (uint32_t)(was >> 32) - (uint32_t)epoch;

        if (was != 0 && later - 1 < INT32_MAX)
            return 0;
        count = n + (later == 0 ? (uint32_t)was : 0);
    } while (!pt_cas_seqcst(word, &was, epoch << 32 | count % MANY));
    return count / MANY;
}

static uint64_t take_missed(pt_u64 *word, uint64_t epoch)
{
    uint64_t n = pt_exchange_seqcst(word, 0u);

    return n >> 32 == (uint32_t)epoch ? (uint32_t)n : 0;
}

static void count_missed(struct pt_self *self, unsigned bit, struct pt_seg *seg)
{
    uint64_t n = take_missed(&self->known[bit].missed, seg->epoch);

    n += take_missed(&self->known[bit].missed_many, seg->epoch) * MANY;
    if (n == 0 || pt_self_peek() != self)
        return;
    pt_add_relaxed(&seg->h->lost_no_slot[PT_LOST_NO_MEMORY], n);
    pt_loss_interval_note(seg);
}

void pt_self_miss(struct pt_self *self, unsigned bit, uint64_t epoch, uint64_t events)
{
    uint64_t many = add_missed(&self->known[bit].missed, epoch, events);
    struct pt_seg *seg;

    if (many)
        add_missed(&self->known[bit].missed_many, epoch, many);
    seg = pt_load_seqcst(&self->known[bit].seg);
    if (seg && seg->epoch == epoch)
        count_missed(self, bit, seg);
}

/* If several threads have mapped the same stream, only one mapping is kept. */
static struct pt_seg *install(struct pt_self *self, unsigned bit, struct pt_seg *mine)
{
    struct pt_seg *was = pt_load_acquire(&self->known[bit].seg);

    do
        if (was && was->epoch == mine->epoch) {
            unmap_segment(mine);
            return was;
        }
    while (!pt_cas_seqcst(&self->known[bit].seg, &was, mine));
    pt_store_release(&self->known[bit].epoch, mine->epoch);
    count_missed(self, bit, mine);
    if (was && was->epoch != 0)
        push_old(self, bit, was);
    unmap_old(self, bit);
    return mine;
}

/* Made by a controller, or by another copy of the library in this process. */
static struct pt_seg *map_segment(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    char file[PT_PAGE_FILE];
    struct pt_seg *seg;

    pt_page_get_file(self->page, bit, file);
    pt_fence_acquire();
    if (pt_load_seqcst(&self->page->epoch[bit]) != epoch || !pt_dir_is_plain(file, sizeof file))
        return NULL;
    seg = pt_sys_pages(sizeof *seg);
    if (!seg)
        return NULL;
    if (pt_seg_open_to_write(seg, file) < 0) {
        munmap(seg, sizeof *seg);
        return NULL;
    }
    seg->epoch = epoch;
    return install(self, bit, seg);
}

/* A handler that leaves by siglongjmp() would leave a descriptor and a mapping, too: none runs
 * while a segment is mapped.  And an event is no cancellation point. */
struct pt_seg *pt_self_segment(struct pt_self *self, unsigned bit, uint64_t epoch)
{
    struct pt_seg *seg = pt_load_acquire(&self->known[bit].seg);
    sigset_t before;
    int cancel;

    if (epoch == 0) /* of no stream: another process has stored to the page */
        return NULL;
    if (seg && (seg->epoch ? seg->epoch : pt_load_acquire(&self->known[bit].epoch)) == epoch)
        return seg;
    pt_thread_hold_signals(&before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pt_brief_files_enter();
    seg = map_segment(self, bit, epoch);
    pt_brief_files_leave();
    pthread_setcancelstate(cancel, NULL);
    pt_thread_let_signals(&before);
    return seg;
}

struct pt_seg *pt_self_inherited(const struct pt_self *parent, unsigned bit)
{
    uint64_t epoch = pt_load_seqcst(&parent->page->epoch[bit]);
    struct pt_seg *seg = pt_load_acquire(&parent->known[bit].seg);

    /* seg->epoch is the child's, once that has taken the segment. */
    if (!seg || epoch == 0 || pt_load_acquire(&parent->known[bit].epoch) != epoch)
        return NULL;
    return seg->g.attr.inheritance == POSIX_TRACE_INHERITED ? seg : NULL;
}

void pt_self_set_segment(struct pt_self *self, unsigned bit, uint64_t epoch, struct pt_seg *seg)
{
    struct pt_seg *was = pt_exchange_seqcst(&self->known[bit].seg, (struct pt_seg *)NULL);

    if (seg && seg->epoch)
        seg->epoch = epoch; /* a forked child's copy of its parent's mapping */
    pt_store_release(&self->known[bit].epoch, epoch);
    pt_store_release(&self->known[bit].seg, seg);
    if (was && was != seg && was->epoch != 0)
        push_old(self, bit, was);
}

/* Any epoch: the creator's mapping was made for the value in the page, which other processes may
 * write. */
bool pt_self_drop_segment(struct pt_self *self, unsigned bit)
{
    pt_self_set_segment(self, bit, 0, NULL);
    if (!pt_threads_left())
        return false;
    pt_threads_forget(bit, 0);
    return pt_threads_left();
}

void pt_self_unlink(struct pt_self *self)
{
    int dir = pt_dir_open(false);

    if (dir < 0)
        return;
    if (self->page_file[0])
        pt_page_remove(dir, self->page_file, NULL);
    close(dir);
}
