/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Random sequences of start, stop, clear, filter, overwriting and reading, with and without
 * a log, against a reference model.
 *
 *   sequences [SEQUENCES [SEED]]
 *
 * SEQUENCES is 10,000 if it is not given, also where other tests are shortened.
 *
 * There are no races: the controller gives each writer one order at a time and waits for it.  So
 * the model knows, for each thread, how many events it generated inside the windows, and the
 * accounts of the stream must be equal: at every moment
 *
 *     generated = read + cleared + lost + still to be read
 *
 * and nothing is still to be read at the end.  The events read are in order, none twice, and none
 * was generated outside the windows or before the last clear.  That is checked for the stream's
 * owner, an onlooker, and logs, also those of killed processes, before and after recovery.
 *
 * A failure prints the steps of the sequence and its seed: `sequences 1 SEED` repeats it, except
 * for the times at which the flush thread of a log runs.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"
#include "torture/books.h"

#define WRITERS    3u
#define LANES      8u /* writers of one sequence, those that were replaced included */
#define SEQUENCES  10000u
#define MOST_DATA  96u
#define WATCHDOG_S 380
#define SAID       8192u  /* bytes about what a sequence did */
#define MARK_LOOKS 60000u /* a millisecond apart */

static uint64_t seed, state; /* of the sequence that runs */

/* What was done so far; the parent of a process that is killed has it too. */
#define HOLDS(condition, ...)                                                            \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%ssequence %llu: ", model->said, (unsigned long long)seed); \
            DEMAND(condition, __VA_ARGS__);                                              \
        }                                                                                \
    } while (0)

#define SAY(...)                                                                                   \
    do {                                                                                           \
        model->said_len += (size_t)snprintf(model->said + model->said_len, SAID - model->said_len, \
                                            __VA_ARGS__);                                          \
        if (model->said_len >= SAID)                                                               \
            model->said_len = SAID - 1;                                                            \
    } while (0)

static unsigned below(unsigned n)
{
    state = payload_mix(state + 0x9e3779b97f4a7c15ull);
    return (unsigned)(state >> 33) % n;
}

/* ---- the writers ---- */

struct writer {
    pthread_t thread;
    sem_t go, done;
    pid_t tid;
    uint32_t lane;
    unsigned events; /* 0: end */
    size_t len;
    trace_event_id_t id;
};

struct payload_head {
    uint32_t lane, seq;
};

static struct writer writers[WRITERS];
static trace_event_id_t types[2];

/* What the stream has to say; shared with the parent of a process that is killed. */
struct model {
    bool running, filtered;
    uint32_t lanes, seq[LANES]; /* events of a lane so far, outside windows too */
    pid_t tid[LANES];
    uint64_t generated[LANES];
    uint8_t inside[LANES][65536]; /* was that event generated inside a window? */
    uint64_t cleared[LANES];      /* of the log */
    uint32_t clear_seq[LANES];
    size_t said_len;
    char said[SAID];
} * model;

static void *write_events(void *argument)
{
    struct writer *w = argument;
    uint8_t data[MOST_DATA] = { 0 };

    w->tid = (pid_t)syscall(SYS_gettid);
    sem_post(&w->done);
    for (;;) {
        while (sem_wait(&w->go) < 0)
            ;
        if (w->events == 0)
            return NULL;
        for (unsigned i = 0; i < w->events; i++) {
            struct payload_head head = { w->lane, model->seq[w->lane]++ };

            memcpy(data, &head, sizeof head);
            posix_trace_event(w->id, data, w->len);
        }
        sem_post(&w->done);
    }
}

static void begin_writer(struct writer *w)
{
    DEMAND_OK(pthread_create(&w->thread, NULL, write_events, w));
    sem_wait(&w->done);
}

static void end_writer(struct writer *w)
{
    w->events = 0;
    sem_post(&w->go);
    DEMAND_OK(pthread_join(w->thread, NULL));
}

static void end_writers(void)
{
    for (unsigned i = 0; i < WRITERS; i++)
        end_writer(&writers[i]);
}

static void join_sequence(struct writer *w)
{
    w->lane = model->lanes++;
    model->tid[w->lane] = w->tid;
}

static void begin_writers(void)
{
    for (unsigned i = 0; i < WRITERS; i++) {
        DEMAND(sem_init(&writers[i].go, 0, 0) == 0 && sem_init(&writers[i].done, 0, 0) == 0,
               "sem_init");
        begin_writer(&writers[i]);
    }
}

/* ---- who reads: the owner, an onlooker, the reader of a log ---- */

struct view {
    const char *name;
    trace_id_t trid;
    bool log, onlooker;
    bool flushed;         /* the flush thread works while the books are taken */
    uint64_t base[LANES]; /* generated before it began, less what was to be read then */
    uint64_t read[LANES], cleared[LANES];
    uint64_t blurred;     /* of what was cleared, lost by threads not known any more */
    uint32_t next[LANES]; /* lowest number that may come */
    int64_t last_ns;
};

static void take_books(const struct view *v, struct books *b)
{
    books_take(b, v->trid, model->tid, model->lanes);
}

/* What was generated, and what of it was read or lost. */
static void add_up(const struct view *v, const struct books *b, uint64_t *due, uint64_t *have)
{
    *due = v->blurred;
    *have = b->others_lost;
    for (uint32_t i = 0; i < model->lanes; i++) {
        *due += model->generated[i] - v->base[i] - v->cleared[i];
        *have += v->read[i] + b->lost[i];
    }
}

/* Whose slot was used again has books only together with others: in the sum. */
static void check_sums(const struct view *v, const struct books *b, bool at_end)
{
    uint64_t due, have, stored = b->others + b->others_lost;

    add_up(v, b, &due, &have);
    for (uint32_t i = 0; i < model->lanes; i++)
        stored += b->recorded[i] + b->refused[i];
    HOLDS(have <= due && (!at_end || have == due), "%s: generated %llu, read or lost %llu", v->name,
          (unsigned long long)due, (unsigned long long)have);
    HOLDS(v->log || stored >= due, "%s: generated %llu, recorded or refused %llu", v->name,
          (unsigned long long)due, (unsigned long long)stored);
}

/* Of a quiet stream.  at_end: nothing is left to be read. */
static void check_books(const struct view *v, bool at_end)
{
    struct books b;
    bool known;

    take_books(v, &b);
    known = b.others + b.others_lost + v->blurred == 0;
    for (uint32_t i = 0; i < model->lanes; i++) {
        uint64_t due = model->generated[i] - v->base[i] - v->cleared[i];
        uint64_t have = v->read[i] + b.lost[i];

        HOLDS(!known || (have <= due && (!at_end || have == due)),
              "%s, lane %u: generated %llu, read %llu, lost %llu (%s)", v->name, i,
              (unsigned long long)due, (unsigned long long)v->read[i],
              (unsigned long long)b.lost[i], at_end ? "at the end" : "so far");
        HOLDS(v->log || !known || b.recorded[i] + b.refused[i] == due,
              "%s, lane %u: generated %llu, recorded %llu, refused %llu", v->name, i,
              (unsigned long long)due, (unsigned long long)b.recorded[i],
              (unsigned long long)b.refused[i]);
    }
    check_sums(v, &b, at_end);
    HOLDS(v->log || v->flushed ? b.sum <= b.all : b.sum == b.all,
          "%s: lost %llu by threads, %llu in all", v->name, (unsigned long long)b.sum,
          (unsigned long long)b.all);
}

static void take_event(struct view *v, const struct posixtrace_event *e)
{
    struct payload_head head;

    HOLDS(e->ns >= v->last_ns, "%s: time goes back by %lld ns", v->name,
          (long long)(v->last_ns - e->ns));
    v->last_ns = e->ns;
    if (e->data_len < sizeof head || strncmp(e->name, "sequence ", 9) != 0)
        return;
    memcpy(&head, e->data, sizeof head);
    HOLDS(head.lane < model->lanes && head.seq < model->seq[head.lane], "%s: lane %u, event %u",
          v->name, head.lane, head.seq);
    HOLDS(head.seq >= v->next[head.lane], "%s, lane %u: event %u where %u or later was due",
          v->name, head.lane, head.seq, v->next[head.lane]);
    HOLDS(model->inside[head.lane][head.seq], "%s, lane %u: event %u was outside the windows",
          v->name, head.lane, head.seq);
    v->next[head.lane] = head.seq + 1;
    v->read[head.lane]++;
}

/* At most so many; false: there was no more. */
static bool read_some(struct view *v, uint64_t most)
{
    struct posixtrace_event e;
    int none;

    for (uint64_t i = 0; i < most; i++) {
        DEMAND_OK(posixtrace_next_event(v->trid, &e, sizeof e, &none));
        if (none)
            return false;
        take_event(v, &e);
    }
    return true;
}

/* The stream is quiet: what has been generated and was neither read nor lost is gone.  A flush
 * thread that still has a round to make takes more away from an onlooker. */
static void note_clear(struct view *v, const struct books *before)
{
    uint64_t lost = before->sum, now;
    struct books after;

    take_books(v, &after);
    now = after.sum;
    HOLDS(v->flushed ? now >= lost : now == lost, "%s: clear changes lost from %llu to %llu",
          v->name, (unsigned long long)lost, (unsigned long long)now);
    v->blurred = after.others_lost;
    for (uint32_t i = 0; i < model->lanes; i++) {
        v->cleared[i] = model->generated[i] - v->base[i] - v->read[i] - after.lost[i];
        v->next[i] = model->seq[i];
    }
}

/* ---- one sequence ---- */

enum log { NO_LOG, LOG, LOG_AND_KILL };

struct kind {
    int policy;
    enum log log;
    bool onlooker;
};

struct run {
    struct kind kind;
    struct view owner, onlooker;
    bool looks_on;
    int fd;
};

static void create(struct run *r)
{
    static const size_t sizes[] = { 4096, 8192, 16384, 65536 };
    trace_attr_t attr;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, r->kind.policy));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, MOST_DATA));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, sizes[below(4)]));
    if (r->kind.log == NO_LOG) {
        DEMAND_OK(posix_trace_create(0, &attr, &r->owner.trid));
    } else {
        DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
        DEMAND_OK(posix_trace_create_withlog(0, &attr, r->fd, &r->owner.trid));
    }
    DEMAND_OK(posix_trace_attr_destroy(&attr));
}

static void trace_some(struct writer *w)
{
    unsigned type = below(2), seq = model->seq[w->lane];

    w->events = below(4) ? 1 + below(6) : 1 + below(300);
    if (seq + w->events >= sizeof model->inside[0])
        return;
    w->id = types[type];
    w->len = sizeof(struct payload_head) + below(MOST_DATA - sizeof(struct payload_head) + 1);
    SAY("lane %u: %u events of type %u, %zu bytes, from %u\n", w->lane, w->events, type, w->len,
        seq);
    if (model->running && !(model->filtered && type == 1)) {
        model->generated[w->lane] += w->events;
        memset(&model->inside[w->lane][seq], 1, w->events);
    }
    sem_post(&w->go);
    while (sem_wait(&w->done) < 0)
        ;
}

static void replace(struct writer *w)
{
    if (model->lanes == LANES)
        return;
    SAY("lane %u ends\n", w->lane);
    end_writer(w);
    begin_writer(w);
    join_sequence(w);
}

static void toggle_filter(struct run *r)
{
    trace_event_set_t set;

    SAY("filter\n");
    model->filtered = !model->filtered;
    DEMAND_OK(posix_trace_eventset_empty(&set));
    if (model->filtered)
        DEMAND_OK(posix_trace_eventset_add(types[1], &set));
    DEMAND_OK(posix_trace_set_filter(r->owner.trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static void clear(struct run *r)
{
    struct posix_trace_status_info status;
    struct books owner, onlooker;

    SAY("clear\n");
    take_books(&r->owner, &owner);
    if (r->looks_on)
        take_books(&r->onlooker, &onlooker);
    DEMAND_OK(posix_trace_clear(r->owner.trid));
    DEMAND_OK(posix_trace_get_status(r->owner.trid, &status));
    /* One that had stopped itself stays stopped. */
    model->running = status.posix_stream_status == POSIX_TRACE_RUNNING;
    model->filtered = false;
    if (r->kind.log != NO_LOG) {
        struct books after;

        take_books(&r->owner, &after);
        for (uint32_t i = 0; i < model->lanes; i++) {
            r->owner.cleared[i] = model->generated[i] - after.recorded[i] - after.refused[i];
            model->cleared[i] = model->generated[i] - after.lost[i];
            model->clear_seq[i] = model->seq[i];
        }
    } else {
        note_clear(&r->owner, &owner);
    }
    if (r->looks_on)
        note_clear(&r->onlooker, &onlooker);
}

static int own_stream(void *file, const struct posixtrace_stream *s)
{
    if (s->owner != getpid())
        return 0;
    strcpy(file, s->file);
    return 1;
}

static void look_on(struct run *r)
{
    struct view *v = &r->onlooker;
    char file[sizeof((struct posixtrace_stream *)0)->file];
    struct books b;

    SAY("an onlooker attaches\n");
    DEMAND(posixtrace_stream_list(own_stream, file) == 1, "no stream");
    memset(v, 0, sizeof *v);
    v->name = "onlooker";
    v->onlooker = true;
    v->flushed = r->owner.flushed;
    DEMAND_OK(posixtrace_attach(file, &v->trid));
    r->looks_on = true;
    take_books(v, &b);
    for (uint32_t i = 0; i < model->lanes; i++) {
        /* A flush thread may have given a chunk back since. */
        HOLDS(b.lost[i] == 0 || r->owner.flushed, "an onlooker begins with %llu lost",
              (unsigned long long)b.lost[i]);
        v->base[i] = model->generated[i] - b.recorded[i];
    }
}

static bool has_all(const struct view *v)
{
    uint64_t due, have;
    struct books b;

    take_books(v, &b);
    add_up(v, &b, &due, &have);
    return have >= due;
}

/* A flush thread that is inside an event of its own holds back later events. */
static void leave(struct run *r)
{
    const struct timespec pause = { 0, 1000000 };
    struct view *v = &r->onlooker;

    for (unsigned i = 0; i < MARK_LOOKS; i++) {
        while (read_some(v, 1000))
            ;
        if (!v->flushed || has_all(v))
            break;
        nanosleep(&pause, NULL);
    }
    check_books(v, true);
    DEMAND_OK(posixtrace_detach(r->onlooker.trid));
    r->looks_on = false;
}

static void read_as(struct run *r, struct view *v)
{
    uint64_t most = below(3) ? below(40) : 100000;
    bool more;

    if (!v->onlooker && r->kind.log != NO_LOG) {
        SAY("flush\n");
        DEMAND_OK(posix_trace_flush(r->owner.trid));
        return;
    }
    more = read_some(v, most);
    SAY("%s reads %llu%s\n", v->name, (unsigned long long)most, more ? "" : ", all");
}

static void start_or_stop(struct run *r)
{
    SAY(model->running ? "stop\n" : "start\n");
    if (model->running)
        DEMAND_OK(posix_trace_stop(r->owner.trid));
    else
        DEMAND_OK(posix_trace_start(r->owner.trid));
    model->running = !model->running;
}

static void one_step(struct run *r)
{
    unsigned what = below(100);

    if (what < 50)
        trace_some(&writers[below(WRITERS)]);
    else if (what < 70)
        start_or_stop(r);
    else if (what < 80)
        read_as(r, &r->owner);
    else if (what < 84)
        toggle_filter(r);
    else if (what < 86)
        replace(&writers[below(WRITERS)]);
    else if (what < 87)
        clear(r);
    else if (what < 92)
        check_books(&r->owner, false);
    else if (!r->kind.onlooker)
        return;
    else if (!r->looks_on)
        look_on(r);
    else if (what < 94)
        leave(r);
    else
        read_as(r, &r->onlooker);
}

static void make_steps(struct run *r)
{
    unsigned steps = 10 + below(60);

    for (unsigned i = 0; i < WRITERS; i++)
        join_sequence(&writers[i]);
    create(r);
    r->owner.flushed = r->kind.log != NO_LOG;
    for (unsigned i = 0; i < steps; i++)
        one_step(r);
}

static void end_run(struct run *r)
{
    if (model->running)
        start_or_stop(r);
    if (r->looks_on)
        leave(r);
    if (r->kind.log == NO_LOG) {
        while (read_some(&r->owner, 1000))
            ;
        check_books(&r->owner, true);
    }
    DEMAND_OK(posix_trace_shutdown(r->owner.trid));
}

static void read_log(struct run *r)
{
    struct view *v = &r->owner;

    *v = (struct view){ .name = r->kind.log == LOG ? "log" : "log of the killed", .log = true };
    memcpy(v->cleared, model->cleared, sizeof v->cleared);
    memcpy(v->next, model->clear_seq, sizeof v->next);
    DEMAND(lseek(r->fd, 0, SEEK_SET) == 0, "lseek");
    DEMAND_OK(posix_trace_open(r->fd, &v->trid));
    while (read_some(v, 1000))
        ;
    check_books(v, true);
    DEMAND_OK(posix_trace_close(v->trid));
}

static void be_killed(void *run)
{
    begin_writers();
    make_steps(run);
    kill(getpid(), SIGKILL);
    pause();
}

static void one_sequence(uint64_t n)
{
    static const struct kind kinds[] = {
        { POSIX_TRACE_LOOP, NO_LOG, false },        { POSIX_TRACE_UNTIL_FULL, NO_LOG, false },
        { POSIX_TRACE_LOOP, NO_LOG, true },         { POSIX_TRACE_UNTIL_FULL, NO_LOG, true },
        { POSIX_TRACE_LOOP, LOG, false },           { POSIX_TRACE_UNTIL_FULL, LOG, false },
        { POSIX_TRACE_FLUSH, LOG, false },          { POSIX_TRACE_LOOP, LOG, true },
        { POSIX_TRACE_LOOP, LOG_AND_KILL, false },  { POSIX_TRACE_UNTIL_FULL, LOG_AND_KILL, false },
        { POSIX_TRACE_FLUSH, LOG_AND_KILL, false }, { POSIX_TRACE_LOOP, NO_LOG, false },
    };
    struct run r = { .kind = kinds[n % (sizeof kinds / sizeof *kinds)],
                     .owner = { .name = "owner" },
                     .fd = -1 };
    struct posixtrace_recover_report report;

    seed = state = n;
    memset(model, 0, sizeof *model);
    if (r.kind.log != NO_LOG)
        r.fd = audit_temporary_file();
    if (r.kind.log == LOG_AND_KILL) {
        int status;

        /* A child of threads may not have any under ThreadSanitizer. */
        end_writers();
        status = audit_in_child(be_killed, &r);
        begin_writers();
        HOLDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
    } else {
        make_steps(&r);
        end_run(&r);
    }
    if (r.kind.log != NO_LOG)
        read_log(&r);
    if (r.kind.log == LOG_AND_KILL) {
        DEMAND_OK(posixtrace_log_recover(r.fd, &report, sizeof report));
        read_log(&r);
    }
    if (r.fd >= 0)
        close(r.fd);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : SEQUENCES;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

    alarm((unsigned)(WATCHDOG_S + count / 20));
    model = audit_shared(sizeof *model);
    DEMAND_OK(posix_trace_eventid_open("sequence 0", &types[0]));
    DEMAND_OK(posix_trace_eventid_open("sequence 1", &types[1]));
    begin_writers();
    for (uint64_t i = 0; i < count; i++)
        one_sequence(first + i);
    printf("%llu sequences\n", (unsigned long long)count);
    return 0;
}
