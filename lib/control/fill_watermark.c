/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See fill_watermark.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/annotate.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "control/fill_watermark.h"
#include "shm/attention.h"
#include "shm/liveness.h"
#include "shm/slot.h"
#include "stream/stream.h"

#define PAUSE_NS      20000u /* doubles */
#define PAUSE_MOST_NS 1000000u

struct pt_fill_watermark {
    struct pt_seg *seg;
    struct pt_seg_header *h;
    pthread_t thread;
    int fd;            /* the caller's, then the thread's own */
    uint32_t answered; /* futex: the thread has its descriptor, or an error */
    int answer;
    uint32_t seen;  /* of fill_futex, before the mark was set */
    uint32_t ended; /* futex */
};

static void nap(struct pt_fill_watermark *f, uint64_t ns)
{
    uint64_t at = pt_clock_ns(CLOCK_MONOTONIC) + ns;
    struct timespec until = { (time_t)(at / 1000000000u), (long)(at % 1000000000u) };

    pt_futex_wait(&f->ended, 0, CLOCK_MONOTONIC, &until);
}

/* Is the writer still inside the same event? */
static bool stays(const struct pt_slot *slot, uint64_t inside)
{
    struct pt_author author;

    if (pt_load_acquire(&slot->inside) != inside)
        return false;
    pt_copy_unchecked(&author, &slot->author, sizeof author);
    return !pt_thread_is_gone(author.pid, author.tid);
}

/* A chunk is closed, and this thread woken, in the middle of an event, which holds back what a
 * reader may read (shm/watermark.h).  So each writer that is inside an event leaves it first. */
static void let_writers_leave(struct pt_fill_watermark *f)
{
    uint64_t until = pt_clock_ns(CLOCK_MONOTONIC) + PT_STALL_NS;
    uint64_t pause = PAUSE_NS;
    uint32_t n = pt_slot_count(f->seg);

    for (uint32_t i = 0; i < n; i++) {
        const struct pt_slot *slot = pt_seg_slot(f->seg, i);
        uint64_t inside = pt_load_acquire(&slot->inside);

        while (inside != 0 && !pt_load_seqcst(&f->ended) && stays(slot, inside) &&
               pt_clock_ns(CLOCK_MONOTONIC) < until) {
            nap(f, pause);
            pause = pause < PAUSE_MOST_NS ? pause * 2 : pause;
        }
    }
}

static void tell(struct pt_fill_watermark *f)
{
    struct pollfd room = { .fd = f->fd, .events = POLLOUT };
    struct pt_seg_header *h = f->h;
    const uint64_t one = 1;

    for (;;) {
        uint32_t now = pt_load_seqcst(&h->fill_futex);

        if (pt_load_seqcst(&f->ended))
            return;
        if (now == f->seen) {
            pt_futex_wait(&h->fill_futex, now, CLOCK_MONOTONIC, NULL);
            continue;
        }
        f->seen = now;
        if (pt_exchange_seqcst(&h->fill_mark, 0u) == 0)
            continue;
        pt_fill_watermark_arm(h);
        let_writers_leave(f);
        /* A counter that has no room for one more is readable already, and a write that blocked
         * would hold up the end of this thread. */
        if (poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) &&
            write(f->fd, &one, sizeof one) < 0)
            continue;
    }
}

/* Takes a copy, because in a build for ThreadSanitizer the thread stays in the program's descriptor
 * table, where the caller may close its own. */
static int take_descriptor(struct pt_fill_watermark *f)
{
    int e = pt_thread_own_descriptors(f->fd);

    if (e < 0)
        return e;
    f->fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
    return f->fd < 0 ? -errno : 0;
}

static void *fill_thread(void *arg)
{
    struct pt_fill_watermark *f = arg;
    int e;

    prctl(PR_SET_NAME, "posixtrace-fill", 0, 0, 0);
    e = f->answer = take_descriptor(f);
    pt_store_seqcst(&f->answered, 1u);
    pt_futex_wake_all(&f->answered);
    if (e < 0)
        return NULL;
    tell(f);
    close(f->fd);
    return NULL;
}

/* 0 or a negative errno, when the thread needs nothing of the program's table any more. */
static int start(struct pt_fill_watermark *f)
{
    int e = pt_thread_start(&f->thread, fill_thread, f);

    if (e < 0)
        return e;
    while (!pt_load_seqcst(&f->answered))
        pt_futex_wait(&f->answered, 0, CLOCK_MONOTONIC, NULL);
    if (f->answer < 0)
        pthread_join(f->thread, NULL);
    return f->answer;
}

void pt_fill_watermark_end(struct pt_stream *s)
{
    struct pt_fill_watermark *f = s->fill;

    if (!f)
        return;
    s->fill = NULL;
    pt_store_seqcst(&f->h->fill_level, 0u);
    pt_store_seqcst(&f->h->fill_mark, 0u);
    pt_store_seqcst(&f->ended, 1u);
    pt_futex_wake_all(&f->ended);
    pt_fill_watermark_tell(f->h);
    pthread_join(f->thread, NULL);
    free(f);
}

/* Full chunks that are percent of the size, at least one. */
static uint32_t level_of(const struct pt_seg *seg, unsigned percent)
{
    uint64_t chunks = ((uint64_t)seg->g.base_chunks * percent + 99) / 100;

    return chunks ? (uint32_t)chunks : 1;
}

static int watch(struct pt_stream *s, unsigned percent, int fd)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_fill_watermark *f;
    int e;

    pt_fill_watermark_end(s);
    if (percent == 0)
        return 0;
    if (fcntl(fd, F_GETFD) < 0)
        return -errno;
    f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->seg = s->seg;
    f->h = h;
    f->fd = fd;
    f->seen = pt_load_seqcst(&h->fill_futex);
    e = start(f);
    if (e < 0) {
        free(f);
        return e;
    }
    s->fill = f;
    pt_store_seqcst(&h->fill_level, level_of(s->seg, percent));
    pt_store_seqcst(&h->fill_mark, level_of(s->seg, percent));
    pt_fill_watermark_closed(h);
    return 0;
}

/* Without signals: a child forked by a handler would wait for a thread that it does not have. */
int pt_fill_watermark_watch(struct pt_stream *s, unsigned percent, int fd)
{
    sigset_t before;
    int r;

    pt_thread_hold_signals(&before);
    r = pt_stream_is_ours(s) ? watch(s, percent, fd) : -EINVAL;
    pt_thread_let_signals(&before);
    return r;
}
