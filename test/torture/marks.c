/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where the marks of losses stand among the events around them.
 *
 *   marks [SEQUENCES [SEED]]
 *
 * Ordered: a controller gives one of several threads at a time the order to trace, so that all
 * events have one order, which they carry as a number, and the thread notes the time after each.
 * Between two events that are read one after the other
 *
 *   a number is missing  there is a mark, OVERFLOW, RESUME or STOP, and the first OVERFLOW of
 *                        LOOP is not later than the first missing event
 *   none is missing      there is no OVERFLOW and no RESUME (LOOP; a FLUSH stream also marks that
 *                        it was full for a moment in which no event came)
 *
 * Free: threads trace at full rate.  Where a thread's events have a gap there is a mark between the
 * two around it, or they are between marks.
 *
 * For the owner and logs of LOOP, UNTIL_FULL and FLUSH streams.  For an onlooker the second holds
 * in both: a chunk that the stream's consumer has taken leaves no time, only a gap in the numbers
 * of its thread.
 *
 * A failure prints the seed: `marks 1 SEED` repeats it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define WRITERS    3u
#define SEQUENCES  250u
#define LANES      (WRITERS + STEPS) /* threads of a sequence: some are replaced */
#define STEPS      60u
#define MOST       20000u /* events of a sequence */
#define MOST_DATA  96u
#define FREE       60000u /* events of each thread */
#define ROUNDS     8u
#define NEAR_NS    100000 /* CLOCK_REALTIME may be slewed */
#define WATCHDOG_S 380

static uint64_t seed, state;
static trace_event_id_t type;

#define HOLDS(condition, ...)                                                             \
    do {                                                                                  \
        if (!(condition))                                                                 \
            fprintf(stderr, "sequence %llu, %s, %s: ", (unsigned long long)seed, v->kind, \
                    v->name);                                                             \
        DEMAND(condition, __VA_ARGS__);                                                   \
    } while (0)

static unsigned below(unsigned n)
{
    state = payload_mix(state + 0x9e3779b97f4a7c15ull);
    return (unsigned)(state >> 33) % n;
}

/* ---- a reader ---- */

struct view {
    const char *kind, *name;
    trace_id_t trid;
    bool exact; /* LOOP: a mark means that an event is missing */
    bool by_lane;
    bool begun, in_gap;  /* in_gap: OVERFLOW was read, and RESUME not yet */
    unsigned marks;      /* since the last event */
    unsigned passed;     /* marks until now */
    unsigned unmarked;   /* gaps of lanes without one */
    int64_t overflow_ns; /* of the first OVERFLOW of these; 0: none */
    int64_t last_ns;
    uint32_t next;      /* number that is expected */
    uint32_t from_lane; /* threads that began later have no event before */
    uint32_t lane_next[LANES];
    bool lane_begun[LANES];
    unsigned lane_passed[LANES];
    uint64_t read, jumps;
};

struct number {
    uint32_t lane, no, of_lane; /* no: of all lanes */
};

static int64_t times[MOST]; /* CLOCK_REALTIME after each event */

static bool is_stop_of_full(const struct posixtrace_event *e)
{
    int reason = 0;

    if (e->id != POSIX_TRACE_STOP || e->data_len != sizeof reason)
        return false;
    memcpy(&reason, e->data, sizeof reason);
    return reason != 0;
}

static void take_mark(struct view *v, const struct posixtrace_event *e)
{
    if (e->id == POSIX_TRACE_OVERFLOW)
        v->in_gap = true;
    else if (e->id == POSIX_TRACE_RESUME)
        v->in_gap = false;
    else if (!is_stop_of_full(e))
        return;
    v->passed++;
    v->marks++;
    if (e->id == POSIX_TRACE_OVERFLOW && v->overflow_ns == 0)
        v->overflow_ns = e->ns;
}

/* Events in one order. */
static void take_ordered(struct view *v, const struct posixtrace_event *e, uint32_t no)
{
    bool jumps = v->begun && no != v->next;
    int64_t off = v->overflow_ns - times[v->next];

    HOLDS(!v->begun || no >= v->next, "event %u, %u is due", no, v->next);
    HOLDS(!jumps || v->marks, "no mark between the events %u and %u", v->next - 1, no);
    HOLDS(!v->exact || !v->begun || jumps || !v->marks, "%u marks before event %u, none is missing",
          v->marks, no);
    HOLDS(!v->exact || !jumps || off < NEAR_NS,
          "OVERFLOW is %lld ns after event %u, the first that is missing before %u", (long long)off,
          v->next, no);
    HOLDS(e->ns < times[no] + NEAR_NS && (no == 0 || e->ns > times[no - 1] - NEAR_NS),
          "event %u is %lld ns after it was made", no, (long long)(e->ns - times[no]));
    v->begun = true;
    v->jumps += jumps;
    v->next = no + 1;
}

static void take_of_lane(struct view *v, uint32_t lane, uint32_t no)
{
    bool jumps = no != v->lane_next[lane] && (lane >= v->from_lane || v->lane_begun[lane]);

    HOLDS(no >= v->lane_next[lane], "lane %u: event %u, %u is due", lane, no, v->lane_next[lane]);
    v->unmarked += jumps && v->passed == v->lane_passed[lane] && !v->in_gap;
    v->jumps += jumps;
    v->lane_next[lane] = no + 1;
    v->lane_begun[lane] = true;
    v->lane_passed[lane] = v->passed;
}

static void take(struct view *v, const struct posixtrace_event *e)
{
    struct number n;

    HOLDS(e->ns >= v->last_ns, "time goes back by %lld ns", (long long)(v->last_ns - e->ns));
    v->last_ns = e->ns;
    if (strcmp(e->name, "marks") != 0) {
        take_mark(v, e);
        return;
    }
    DEMAND(e->data_len >= sizeof n, "%zu bytes", e->data_len);
    memcpy(&n, e->data, sizeof n);
    if (v->by_lane)
        take_of_lane(v, n.lane, n.of_lane);
    else
        take_ordered(v, e, n.no);
    v->read++;
    v->marks = 0;
    v->overflow_ns = 0;
}

/* At most so many events; false: there are no more. */
static bool read_some(struct view *v, unsigned most)
{
    struct posixtrace_event e;
    int none;

    for (unsigned i = 0; i < most; i++) {
        DEMAND_OK(posixtrace_next_event(v->trid, &e, sizeof e, &none));
        if (none)
            return false;
        take(v, &e);
    }
    return true;
}

static void read_all(struct view *v)
{
    while (read_some(v, 1000))
        ;
}

/* ---- streams ---- */

struct kind {
    const char *name;
    int policy;
    bool log;
};

static const struct kind kinds[] = { { "LOOP", POSIX_TRACE_LOOP, false },
                                     { "UNTIL_FULL", POSIX_TRACE_UNTIL_FULL, false },
                                     { "LOOP with log", POSIX_TRACE_LOOP, true },
                                     { "FLUSH", POSIX_TRACE_FLUSH, true } };

static trace_id_t create(int policy, size_t bytes, int log)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, policy));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, MOST_DATA));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, bytes));
    if (log < 0) {
        DEMAND_OK(posix_trace_create(0, &attr, &trid));
    } else {
        DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
        DEMAND_OK(posix_trace_create_withlog(0, &attr, log, &trid));
    }
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static uint8_t observed[16]; /* the stream that is looked at */

static int is_observed(void *file, const struct posixtrace_stream *s)
{
    if (memcmp(s->id, observed, sizeof observed) != 0)
        return 0;
    memcpy(file, s->file, sizeof s->file);
    return 1;
}

static void look_on(struct view *v, trace_id_t stream)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    struct posixtrace_info info;

    DEMAND_OK(posixtrace_get_info(stream, &info, sizeof info));
    memcpy(observed, info.id, sizeof observed);
    DEMAND(posixtrace_stream_list(is_observed, file) == 1, "no stream");
    DEMAND_OK(posixtrace_attach(file, &v->trid));
}

static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    DEMAND_OK(posix_trace_flush(trid));
    do
        DEMAND_OK(posix_trace_get_status(trid, &status));
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

/* ---- ordered ---- */

static struct writer {
    pthread_t thread;
    sem_t go, done;
    uint32_t lane;
    uint32_t made;   /* events of the sequence */
    unsigned events; /* 0: end */
    size_t len;
} writers[WRITERS];

static uint32_t made, lanes; /* events and threads of the sequence */

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void *write_events(void *argument)
{
    uint8_t data[MOST_DATA] = { 0 };
    struct writer *w = argument;

    for (;;) {
        while (sem_wait(&w->go) < 0)
            ;
        if (w->events == 0)
            return NULL;
        for (unsigned i = 0; i < w->events; i++) {
            struct number n = { w->lane, made++, w->made++ };

            memcpy(data, &n, sizeof n);
            posix_trace_event(type, data, w->len);
            times[n.no] = now();
        }
        sem_post(&w->done);
    }
}

static void begin_writer(struct writer *w)
{
    w->lane = lanes++;
    w->made = 0;
    DEMAND_OK(pthread_create(&w->thread, NULL, write_events, w));
}

static void end_writer(struct writer *w)
{
    w->events = 0;
    sem_post(&w->go);
    DEMAND_OK(pthread_join(w->thread, NULL));
}

static void trace_some(struct writer *w)
{
    w->events = below(4) ? 1 + below(6) : 1 + below(300);
    w->len = sizeof(struct number) + below(MOST_DATA - sizeof(struct number) + 1);
    if (made + w->events > MOST)
        return;
    sem_post(&w->go);
    while (sem_wait(&w->done) < 0)
        ;
}

static void step(const struct kind *kind, struct view *owner, struct view *onlooker)
{
    struct writer *w = &writers[below(WRITERS)];

    switch (below(10)) {
    case 0:
        end_writer(w);
        begin_writer(w);
        break;
    case 1:
    case 2:
        if (kind->log)
            flush(owner->trid);
        else
            read_some(owner, below(3) ? below(40) : 100000);
        break;
    case 3:
        if (onlooker->trid == owner->trid) {
            look_on(onlooker, owner->trid);
            onlooker->from_lane = lanes;
        }
        read_some(onlooker, below(3) ? below(40) : 100000);
        break;
    default: trace_some(w);
    }
}

static void read_log(struct view *v, int fd)
{
    DEMAND(lseek(fd, 0, SEEK_SET) == 0, "lseek");
    DEMAND_OK(posix_trace_open(fd, &v->trid));
    read_all(v);
    DEMAND_OK(posix_trace_close(v->trid));
}

/* How many jumps there were. */
static uint64_t ordered(const struct kind *kind)
{
    static const size_t sizes[] = { 4096, 8192, 16384, 65536 };
    int fd = kind->log ? audit_temporary_file() : -1;
    bool exact = kind->policy == POSIX_TRACE_LOOP;
    struct view owner = { .kind = kind->name, .name = "owner", .exact = exact }, onlooker, log;

    made = lanes = 0;
    for (unsigned i = 0; i < WRITERS; i++)
        begin_writer(&writers[i]);
    owner.begun = true;
    owner.trid = create(kind->policy, sizes[below(4)], fd);
    onlooker = log = owner;
    onlooker.name = "onlooker";
    onlooker.by_lane = true;
    onlooker.begun = false;
    log.name = "the log";
    for (unsigned i = 0; i < STEPS; i++)
        step(kind, &owner, &onlooker);
    for (unsigned i = 0; i < WRITERS; i++)
        end_writer(&writers[i]);
    if (onlooker.trid != owner.trid) {
        read_all(&onlooker);
        DEMAND_OK(posixtrace_detach(onlooker.trid));
    }
    if (!kind->log)
        read_all(&owner);
    DEMAND_OK(posix_trace_shutdown(owner.trid));
    if (kind->log) {
        read_log(&log, fd);
        close(fd);
    }
    return owner.jumps + onlooker.jumps + log.jumps;
}

static void all_ordered(unsigned sequences, uint64_t first)
{
    uint64_t jumps[4] = { 0 };

    for (unsigned i = 0; i < WRITERS; i++)
        DEMAND(sem_init(&writers[i].go, 0, 0) == 0 && sem_init(&writers[i].done, 0, 0) == 0,
               "sem_init");
    for (unsigned i = 0; i < sequences; i++) {
        seed = state = first + i;
        jumps[seed % 4] += ordered(&kinds[seed % 4]);
    }
    for (unsigned k = 0; k < 4; k++) {
        printf("%-14s %llu gaps\n", kinds[k].name, (unsigned long long)jumps[k]);
        DEMAND(jumps[k] > 0 || sequences < SEQUENCES, "no gaps");
    }
}

/* ---- free ---- */

static unsigned running, burst;

static void *write_freely(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;

    for (uint32_t i = 0; i < FREE; i++) {
        struct number n = { lane, i, i };

        posix_trace_event(type, &n, sizeof n);
        if (i % burst == 0)
            usleep(100); /* for the readers */
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void read_along(struct view *owner, struct view *onlooker, bool log)
{
    unsigned last;

    do {
        last = __atomic_load_n(&running, __ATOMIC_ACQUIRE);
        if (log)
            DEMAND_OK(posix_trace_flush(owner->trid));
        else
            read_some(owner, 300);
        read_some(onlooker, 300);
    } while (last);
}

/* How many gaps there were, those of the onlooker, and those without a mark. */
static void freely(const struct kind *kind, uint64_t *gaps, uint64_t *onlooker_gaps,
                   uint64_t *unmarked)
{
    int fd = kind->log ? audit_temporary_file() : -1;
    struct view owner = { .kind = kind->name, .name = "owner", .by_lane = true }, onlooker, log;
    pthread_t threads[WRITERS];

    owner.trid = create(kind->policy, 32u << 10, fd);
    onlooker = log = owner;
    onlooker.name = "onlooker";
    log.name = "the log";
    look_on(&onlooker, owner.trid);
    running = WRITERS;
    for (uintptr_t i = 0; i < WRITERS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, write_freely, (void *)i));
    read_along(&owner, &onlooker, kind->log);
    for (unsigned i = 0; i < WRITERS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    read_all(&onlooker);
    DEMAND_OK(posixtrace_detach(onlooker.trid));
    if (!kind->log)
        read_all(&owner);
    DEMAND_OK(posix_trace_shutdown(owner.trid));
    if (kind->log) {
        read_log(&log, fd);
        close(fd);
    }
    *gaps += owner.jumps + log.jumps;
    *onlooker_gaps += onlooker.jumps;
    *unmarked += owner.unmarked + log.unmarked + onlooker.unmarked;
}

static void all_freely(void)
{
    for (unsigned k = 0; k < 4; k++) {
        uint64_t gaps = 0, onlooker_gaps = 0, unmarked = 0;

        for (unsigned i = 0; i < ROUNDS; i++) {
            burst = 100 << i;
            freely(&kinds[k], &gaps, &onlooker_gaps, &unmarked);
        }
        printf("free, %-14s %llu gaps, by the onlooker %llu\n", kinds[k].name,
               (unsigned long long)gaps, (unsigned long long)onlooker_gaps);
        DEMAND(gaps > 0 && onlooker_gaps > 0, "no gaps");
        DEMAND(unmarked == 0, "%llu gaps without a mark", (unsigned long long)unmarked);
    }
}

int main(int argc, char **argv)
{
    unsigned sequences = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : SEQUENCES;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("marks", &type));
    all_ordered(sequences, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    seed = 0;
    if (argc < 3)
        all_freely();
    return 0;
}
