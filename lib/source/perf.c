/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches from the kernel: a dummy software event with context_switch on
 * each thread of the target.  It counts nothing, looks at user space only, and is
 * allowed for one's own processes where perf_event_paranoid is 2 or less.
 *
 * Threads.  An event that others inherit must belong to one processor, to have a ring
 * (the kernel forbids the other kind); so each thread that exists has one event a
 * processor, and whatever it creates inherits them.  Threads may be created while
 * these are opened: the list of threads is gone over until nobody new is in it.  A
 * thread that both inherits and is found in the list reports twice, with two origins;
 * who takes the switches keeps one of them (stream/switches.h).  A short-lived stream
 * of a program with many threads pays for that with threads x processors descriptors,
 * in the table of the flush thread.
 *
 * Nothing is missing before the watermark.  A processor stamps a record before it
 * publishes it, both with interrupts off, in one switch.  So a record with a time
 * before the watermark may be on its way when the ring is read after the watermark
 * was taken.  Reading the counter of an event that is on a processor interrupts that
 * processor, so afterwards the switch is over and its record is there; an event that
 * is on none is either through with it, or takes its time later than our watermark.
 * That is why each event is read once before the rings are (pt_perf_settle()).
 *
 * On the time stamp counter the times of the records are converted (perf_clock.h), which
 * may be some ns off.  That is less than what lies between the stamp of a switch and
 * the thread's own events around it: a system call or an interrupt, and its return.  And
 * the rings are read no sooner than so much after the watermark (pt_perf_clock_pass()).
 *
 * Who wakes.  An idle program makes no record and wakes nobody.  A thread of this
 * file, the pump, sleeps in epoll_wait(2) until half of a ring is full, empties the rings
 * into the backlog and requests a round; the flush thread's own rounds do the same
 * without it.  Not in poll(2), which fails once the program lowers RLIMIT_NOFILE below the
 * number of rings.  A pump that cannot wait ends, and only rounds empty the rings.  It runs
 * before threads of the program where it may (go_first()).  Pump and flush thread are not
 * watched, else they would feed themselves.
 *
 * A stream that is stopped goes on being watched: a start has to be in force at once
 * in whichever process it is called.  What comes outside the windows is thrown away.
 *
 * SIGKILL takes the rings and the backlog along: what no round has written is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/sys.h"
#include "base/thread.h"
#include "source/backlog.h"
#include "source/perf.h"
#include "source/perf_ring.h"

#define NICE_FIRST (-20)
#define MOST_READY 16   /* rings that one wait tells of */
#define MOST_LISTS 16   /* of the threads: some programs never stand still */

/* One event. */
struct watch {
    uint64_t id;
    int      fd;
    uint32_t origin;    /* number of the thread that it was opened for */
    uint32_t ring;      /* where it writes */
};

struct pt_switch_source {
    struct pt_switch_request request;
    pthread_mutex_t lock;      /* rings, clock, and what is pending in the backlog */
    struct pt_perf_clock clock;
    struct pt_backlog backlog;
    struct pt_perf_ring *rings;
    size_t ring_count;
    uint64_t taken;            /* before that, the rings have been emptied */
    struct watch *watches;     /* in the end by id */
    size_t watch_count, watch_room;
    int32_t *tids;             /* the threads that have events, by origin */
    size_t tid_count, tid_room;
    uint64_t *lost;            /* by ring: what its events have counted; the taker's own */
    pthread_t pump;
    bool pumped;               /* it has been started */
    int epoll;                 /* the rings and the bell, by descriptor */
    int bell;                  /* eventfd: the pump ends */
};

static int by_id(const void *a, const void *b)
{
    const struct watch *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static uint32_t origin_of(const struct pt_switch_source *s, uint64_t id)
{
    const struct watch key = { .id = id };
    const struct watch *w = bsearch(&key, s->watches, s->watch_count, sizeof key, by_id);

    return w ? w->origin : UINT32_MAX;
}

static void lose(struct pt_switch_source *s, const struct pt_perf_ring *ring, uint64_t n)
{
    uint64_t ts = pt_perf_clock_ticks(&s->clock, ring->loss.last);

    pt_backlog_lose(&s->backlog, ts < s->taken ? s->taken : ts, n);
}

static void keep(struct pt_switch_source *s, struct pt_perf_ring *ring,
                 const struct pt_perf_record *r)
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
    k.origin = origin_of(s, r->id);
    pt_backlog_add(&s->backlog, &k);
}

static void drain(struct pt_switch_source *s)
{
    struct pt_perf_record r;

    /* Once: the program may fill them as fast as they are emptied. */
    for (size_t i = 0; i < s->ring_count; i++)
        s->rings[i].until = pt_perf_ring_head(&s->rings[i]);
    pt_perf_clock_sync(&s->clock);
    for (size_t i = 0; i < s->ring_count; i++)
        while (pt_perf_ring_next(&s->rings[i], s->rings[i].until, &r))
            keep(s, &s->rings[i], &r);
}

/* Once the rings are empty: what they had lost before, and have not reported. */
static void count_lost(struct pt_switch_source *s)
{
    for (size_t i = 0; i < s->ring_count; i++)
        lose(s, &s->rings[i], pt_perf_loss_count(&s->rings[i].loss, s->lost[i]));
}

/* The rings fill at the rate of switches, however many threads want the processors: the pump
 * goes before them where it may, in real time or by its nice value. */
static void go_first(void)
{
    const struct sched_param first = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
        setpriority(PRIO_PROCESS, (id_t)pt_sys_tid(), NICE_FIRST);
}

/* Until a ring is half full.  False: the bell has rung, or nobody can wait for them any more. */
static bool await_rings(const struct pt_switch_source *s)
{
    struct epoll_event ready[MOST_READY];
    bool any = false;

    while (!any) {
        int n = epoll_wait(s->epoll, ready, MOST_READY, -1);

        if (n < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == s->bell)
                return false;
            any |= (ready[i].events & EPOLLIN) != 0;
            /* It will not be ready in another way: no more of it. */
            if ((ready[i].events & ~(uint32_t)EPOLLIN) &&
                epoll_ctl(s->epoll, EPOLL_CTL_DEL, ready[i].data.fd, NULL) < 0)
                return false;
        }
    }
    return true;
}

static void *pump(void *arg)
{
    struct pt_switch_source *s = arg;

    go_first();
    prctl(PR_SET_NAME, "posixtrace-perf", 0, 0, 0);
    while (await_rings(s)) {
        pthread_mutex_lock(&s->lock);
        drain(s);
        pthread_mutex_unlock(&s->lock);
        s->request.filling(s->request.context);
    }
    return NULL;
}

/* One event a processor for a thread; all of them or none.  1; 0: it has gone. */
static int watch_thread(struct pt_switch_source *s, int32_t tid)
{
    size_t before = s->watch_count;
    int e = pt_grow(&s->tids, &s->tid_room, s->tid_count, sizeof *s->tids);

    for (size_t i = 0; e >= 0 && i < s->ring_count; i++) {
        struct watch *w;

        e = pt_grow(&s->watches, &s->watch_room, s->watch_count, sizeof *s->watches);
        if (e < 0)
            break;
        w = &s->watches[s->watch_count];
        w->origin = (uint32_t)s->tid_count;
        w->ring = (uint32_t)i;
        e = w->fd = pt_perf_watch(&s->rings[i], &s->clock, tid, s->request.children,
                                  &w->id);
        s->watch_count += e >= 0;
    }
    if (e >= 0) {
        s->tids[s->tid_count++] = tid;
        return 1;
    }
    while (s->watch_count > before)
        close(s->watches[--s->watch_count].fd);
    return e == -ESRCH ? 0 : e;
}

static bool is_watched(const struct pt_switch_source *s, int32_t tid)
{
    for (size_t i = 0; i < s->tid_count; i++)
        if (s->tids[i] == tid)
            return true;
    return false;
}

/* Those of the process's threads that have no event yet; how many. */
static int watch_list(struct pt_switch_source *s)
{
    int32_t own = pt_sys_tid();
    struct dirent *d;
    char path[64];
    int e = 0, n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)s->request.pid);
    dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    while (e >= 0 && (d = readdir(dir))) {
        int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || tid == own || is_watched(s, tid))
            continue;
        e = watch_thread(s, tid);
        n += e > 0;
    }
    closedir(dir);
    return e < 0 ? e : n;
}

static int watch_all(struct pt_switch_source *s)
{
    int n = 1;

    for (int i = 0; n > 0 && i < MOST_LISTS; i++)
        n = watch_list(s);
    if (n < 0)
        return n;
    if (s->watch_count == 0)
        return -ESRCH;
    qsort(s->watches, s->watch_count, sizeof *s->watches, by_id);
    return 0;
}

/* The processors that there are now; those that come later are not watched. */
static int open_rings_once(struct pt_switch_source *s, int processors, bool large)
{
    for (int cpu = 0; cpu < processors; cpu++) {
        int e = pt_perf_ring_open(&s->rings[s->ring_count], cpu, large, &s->clock);

        if (e == -ENODEV)
            continue;
        if (e < 0)
            return e;
        s->ring_count++;
    }
    return s->ring_count ? 0 : -ENODEV;
}

static void close_rings(struct pt_switch_source *s)
{
    while (s->ring_count > 0)
        pt_perf_ring_close(&s->rings[--s->ring_count]);
}

/* All of them large or none: the first ones would take what the last ones need.  Only
 * CAP_IPC_LOCK lifts the limit on locked memory, which not every root has. */
static int open_rings_of_a_size(struct pt_switch_source *s, int processors)
{
    int e = geteuid() == 0 ? open_rings_once(s, processors, true) : -EPERM;

    if (e == 0 || e == -ESTALE)
        return e;
    close_rings(s);
    return open_rings_once(s, processors, false);
}

static int open_rings(struct pt_switch_source *s)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    int e;

    n = n < 1 ? 1 : n;
    s->rings = calloc((size_t)n, sizeof *s->rings);
    s->lost = calloc((size_t)n, sizeof *s->lost);
    if (!s->rings || !s->lost)
        return -ENOMEM;
    pt_perf_clock_init(&s->clock, s->request.clock);
    e = open_rings_of_a_size(s, (int)n);
    if (e != -ESTALE)
        return e;
    close_rings(s);
    pt_perf_clock_use_raw(&s->clock);
    return open_rings_of_a_size(s, (int)n);
}

static int wait_for(const struct pt_switch_source *s, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Before anybody writes into the rings: to be added takes from a ring that it is half full. */
static int prepare_pump(struct pt_switch_source *s)
{
    int e;

    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0)
        return -errno;
    s->bell = eventfd(0, EFD_CLOEXEC);
    if (s->bell < 0)
        return -errno;
    e = wait_for(s, s->bell);
    for (size_t i = 0; e == 0 && i < s->ring_count; i++)
        e = wait_for(s, s->rings[i].fd);
    return e;
}

static int start_pump(struct pt_switch_source *s)
{
    int e = pt_thread_start(&s->pump, pump, s);

    s->pumped = e == 0;
    return e;
}

static void stop_pump(struct pt_switch_source *s)
{
    const uint64_t one = 1;

    if (s->pumped) {
        while (write(s->bell, &one, sizeof one) < 0 && errno == EINTR)
            ;
        pthread_join(s->pump, NULL);
    }
    if (s->bell >= 0)
        close(s->bell);
    if (s->epoll >= 0)
        close(s->epoll);
}

static void close_source(struct pt_switch_source *s)
{
    stop_pump(s);
    for (size_t i = 0; i < s->watch_count; i++)
        close(s->watches[i].fd);
    close_rings(s);
    pt_backlog_deinit(&s->backlog);
    pthread_mutex_destroy(&s->lock);
    free(s->watches);
    free(s->tids);
    free(s->rings);
    free(s->lost);
    free(s);
}

/* Whoever empties the rings has the pump's priority while the pump waits for it. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) != 0 ||
        pthread_mutex_init(lock, &attr) != 0)
        pthread_mutex_init(lock, NULL);
    pthread_mutexattr_destroy(&attr);
}

static int open_source(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    struct pt_switch_source *s = calloc(1, sizeof *s);
    int e;

    if (!s)
        return -ENOMEM;
    s->request = *request;
    s->epoll = s->bell = -1;
    init_lock(&s->lock);
    e = pt_backlog_init(&s->backlog, (size_t)request->room, request->newest);
    if (e == 0)
        e = open_rings(s);
    if (e == 0)
        e = prepare_pump(s);
    if (e == 0)
        e = watch_all(s);
    if (e == 0)
        e = start_pump(s);
    if (e < 0) {
        close_source(s);
        return e;
    }
    *source = s;
    return 0;
}

static size_t take(struct pt_switch_source *s, uint64_t before, const struct pt_switch **list)
{
    pthread_mutex_lock(&s->lock);
    pt_perf_clock_pass(&s->clock, before);
    pthread_mutex_unlock(&s->lock);
    memset(s->lost, 0, s->ring_count * sizeof *s->lost);
    for (size_t i = 0; i < s->watch_count; i++)
        s->lost[s->watches[i].ring] += pt_perf_settle(s->watches[i].fd);
    pthread_mutex_lock(&s->lock);
    drain(s);
    count_lost(s);
    s->taken = before;
    pt_backlog_collect(&s->backlog);
    pthread_mutex_unlock(&s->lock);
    return pt_backlog_take(&s->backlog, before, list);
}

static void done(struct pt_switch_source *s)
{
    pt_backlog_done(&s->backlog);
}

const struct pt_switch_ops pt_perf_switches = { open_source, take, done, close_source, NULL };
