/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches from the kernel: a dummy software event with context_switch on
 * each thread of the target.  It counts nothing, looks at user space only, and is
 * allowed for one's own processes where perf_event_paranoid is 2 or less.
 *
 *   perf_watch.c   the events, and whose they are
 *   perf_rings.c   the rings into which they write: one a processor
 *   perf_ring.c    one ring, and its records
 *   perf_pump.c    the thread that empties the rings while no round does
 *   perf_clock.c   the times of records as those of the stream
 *   perf_loss.h    what a full ring lost
 *   backlog.c      the switches until a round takes them
 *
 * Invariant: no switch before the watermark is missing.  A processor stamps a record and then
 * publishes it, both with interrupts off, within one switch.  So a record with a time before the
 * watermark may not be published yet when the ring is read after the watermark was taken.  Reading
 * the counter of a perf event that is on a processor interrupts that processor; afterwards the
 * switch is over and its record is published.  A perf event that is on no processor has published
 * its record, or takes its time after the watermark.  So each perf event is read once before the
 * rings are (pt_perf_watches_settle()).
 *
 * With the time stamp counter the times of the records are converted (perf_clock.h), with an error
 * of some ns.  That is less than the time between the stamp of a switch and the thread's own events
 * around it: a system call or an interrupt, and its return.  And the rings are read only when that
 * time has passed after the watermark (pt_perf_clock_pass()).
 *
 * The flush thread empties the rings in each round; the pump empties them when one is half full,
 * and requests a round.  If rounds are late, the pump fills the backlog and leaves the rest in the
 * rings, which lose nothing until they are full, too.  Pump and flush thread are not watched,
 * because their own switches would cause more work.
 *
 * The threads of a stopped stream are still watched, because a start, in any process, has to take
 * effect at once.  Switches outside the windows are discarded.
 *
 * After SIGKILL the rings and the backlog are gone, and with them the switches that no round has
 * written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "source/backlog.h"
#include "source/perf.h"
#include "source/perf_pump.h"
#include "source/perf_watch.h"

#define MOST_ROOM (1u << 20) /* switches in the backlog for the sake of the rings */

struct perf_source {
    struct pt_switch_request request;
    pthread_mutex_t lock; /* protects rings, clock, and the pending list of the backlog */
    struct pt_perf_clock clock;
    struct pt_backlog backlog;
    struct pt_perf_rings rings;
    struct pt_perf_watches watches;
    struct pt_perf_pump pump;
    uint64_t taken; /* before that, the rings have been emptied */
    uint64_t *lost; /* by ring: the losses counted by its events; only the taker uses it */
};

static void lose(struct perf_source *s, const struct pt_perf_ring *ring, uint64_t n)
{
    uint64_t ts = pt_perf_clock_ticks(&s->clock, ring->loss.last);

    pt_backlog_lose_in_kernel(&s->backlog, ts < s->taken ? s->taken : ts, n);
}

static void keep(struct perf_source *s, struct pt_perf_ring *ring, const struct pt_perf_record *r)
{
    uint64_t ts = pt_perf_clock_ticks(&s->clock, r->time);
    struct pt_switch k = { .ts = ts, .pid = r->pid, .tid = r->tid, .value = r->cpu };

    if (r->type == PERF_RECORD_LOST) {
        lose(s, ring, pt_perf_loss_report(&ring->loss, r->lost));
        return;
    }
    ring->loss.last = r->time;
    /* Threads that end have no numbers any more; before Linux 5.13 children are there. */
    if (r->tid <= 0 || r->pid <= 0 || (!s->request.children && r->pid != s->request.pid))
        return;
    if (r->type == PERF_RECORD_EXIT) {
        k.what = PT_SWITCH_ENDED;
    } else if (r->type == PERF_RECORD_FORK) {
        k.what = PT_SWITCH_FORKED;
        k.value = (uint32_t)r->parent;
    } else if (r->type == PERF_RECORD_COMM) {
        k.what = PT_SWITCH_NAMED;
        memcpy(k.name, r->name, sizeof k.name);
    } else if (!(r->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
        k.what = PT_SWITCH_IN;
    } else {
        k.what = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PT_SWITCH_PREEMPTED
                                                               : PT_SWITCH_OUT;
    }
    k.origin = pt_perf_watches_origin(&s->watches, r->id);
    pt_backlog_add(&s->backlog, &k);
}

/* all: also drains switches for which the backlog has no room; they are lost. */
static void drain(struct perf_source *s, bool all)
{
    struct pt_perf_record r;

    /* Once: the program may fill them as fast as they are emptied. */
    for (size_t i = 0; i < s->rings.count; i++)
        s->rings.of[i].until = pt_perf_ring_head(&s->rings.of[i]);
    pt_perf_clock_sync(&s->clock);
    for (size_t i = 0; i < s->rings.count; i++)
        while ((all || !pt_backlog_is_full(&s->backlog)) &&
               pt_perf_ring_next(&s->rings.of[i], s->rings.of[i].until, &r))
            keep(s, &s->rings.of[i], &r);
}

/* Called when the rings are empty: counts losses that they have not reported. */
static void count_lost(struct perf_source *s)
{
    for (size_t i = 0; i < s->rings.count; i++)
        lose(s, &s->rings.of[i], pt_perf_loss_count(&s->rings.of[i].loss, s->lost[i]));
}

/* What the threads did on processors that were switched on since is unknown: one loss for each, and
 * each time.  before: as in take(). */
static void count_unwatched(struct perf_source *s, uint64_t before)
{
    size_t n = pt_perf_rings_missing(&s->rings);

    if (n > 0 && before > 0)
        pt_backlog_lose_in_kernel(&s->backlog, before - 1, n);
}

/* Called by the pump. */
static void empty_rings(void *source)
{
    struct perf_source *s = source;

    pthread_mutex_lock(&s->lock);
    drain(s, false);
    pthread_mutex_unlock(&s->lock);
    s->request.filling(s->request.context);
}

static void close_source(struct pt_switch_source *source)
{
    struct perf_source *s = (void *)source;

    pt_perf_pump_stop(&s->pump);
    pt_perf_watches_close(&s->watches);
    pt_perf_rings_close(&s->rings);
    pt_backlog_deinit(&s->backlog);
    pthread_mutex_destroy(&s->lock);
    free(s->lost);
    free(s);
}

static int open_rings(struct perf_source *s)
{
    int e;

    pt_perf_clock_init(&s->clock, s->request.clock);
    e = pt_perf_rings_open(&s->rings, &s->clock, s->request.ring_bytes);
    if (e < 0)
        return e;
    s->lost = calloc(s->rings.count, sizeof *s->lost);
    return s->lost ? 0 : -ENOMEM;
}

/* The room for the contents of the rings when a round is late, unless the stream keeps only the
 * newest. */
static size_t backlog_room(const struct perf_source *s)
{
    uint64_t rings = s->rings.count * (uint64_t)s->rings.of[0].size / PT_PERF_SWITCH_BYTES;

    if (rings > MOST_ROOM)
        rings = MOST_ROOM;
    return (size_t)(s->request.newest || s->request.room > rings ? s->request.room : rings);
}

static int open_source(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    struct perf_source *s = calloc(1, sizeof *s);
    int e;

    if (!s)
        return -ENOMEM;
    s->request = *request;
    pt_perf_pump_init(&s->pump, empty_rings, s);
    pt_perf_pump_init_lock(&s->lock);
    e = open_rings(s);
    if (e == 0)
        e = pt_backlog_init(&s->backlog, backlog_room(s), request->newest);
    if (e == 0)
        e = pt_perf_pump_prepare(&s->pump, &s->rings);
    if (e == 0)
        e = pt_perf_watches_open(&s->watches, &s->rings, &s->clock, request->pid,
                                 request->children);
    if (e == 0)
        e = pt_perf_pump_start(&s->pump);
    if (e < 0) {
        close_source((void *)s);
        return e;
    }
    *source = (void *)s;
    return 0;
}

static size_t take(struct pt_switch_source *source, uint64_t before, const struct pt_switch **list)
{
    struct perf_source *s = (void *)source;

    pthread_mutex_lock(&s->lock);
    pt_perf_clock_pass(&s->clock, before);
    pthread_mutex_unlock(&s->lock);
    pt_perf_watches_settle(&s->watches, s->lost, s->rings.count);
    pthread_mutex_lock(&s->lock);
    pt_backlog_collect(&s->backlog);
    drain(s, true);
    count_lost(s);
    count_unwatched(s, before);
    s->taken = before;
    pt_backlog_collect(&s->backlog);
    pthread_mutex_unlock(&s->lock);
    return pt_backlog_take(&s->backlog, before, list);
}

static void done(struct pt_switch_source *source)
{
    struct perf_source *s = (void *)source;

    pt_backlog_done(&s->backlog);
}

static uint64_t ring_bytes(const struct pt_switch_source *source)
{
    const struct perf_source *s = (const void *)source;

    return s->rings.of[0].size;
}

const struct pt_switch_ops pt_perf_switches = {
    .open = open_source,
    .take = take,
    .done = done,
    .close = close_source,
    .ring_bytes = ring_bytes,
};
