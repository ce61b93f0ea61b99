/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Sixteen threads record all the time, while streams are created, controlled and shut down.
 *
 *   soak [SECONDS [SEED]]
 *
 * A controller creates up to three streams at once, of all policies, with and without logs, and
 * calls at random: start, stop, clear, filter, flush, read, status and info.  It attaches
 * onlookers, replaces threads by others, forks children, and kills some of them.  At the end of a
 * session all streams are shut down, and the accounts of each must balance: for each thread and
 * child, and in the sum,
 *
 *     generated = read + lost, by the owner, each onlooker, and the log
 *
 * Events are complete, in order, and none comes twice; neither descriptors nor files are left.
 * Calls are made while threads record or, in turn, while all threads rest.  In the first case
 * events that are generated during the call may be part of the stream or not, so the accounts have
 * a lower and an upper bound.  In the second case both are the same.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/stream.h>
#include "torture/soak_model.h"

#define THREADS    16u
#define STREAMS    3u
#define ACTS       120u /* of one session, at most */
#define SECONDS    10u
#define WATCHDOG_S 380u      /* of one session */
#define TELL_S     600u      /* between two lines about how far it has come */
#define MARK_LOOKS 60000u    /* a millisecond apart */
#define FILES_MOST 24u       /* in the stream directory between two sessions */
#define MOST       0xffffffu /* events of a lane: more have no number in a short payload */

/* ---- who generates ---- */

static struct thread {
    pthread_t thread;
    sem_t ready;
    uint32_t lane;
    _Atomic int end;
} threads[THREADS];

static pthread_rwlock_t resting;  /* held for writing: no thread is inside an event */
static trace_event_id_t types[2]; /* by the lane: odd ones can be filtered */
static uint64_t state;            /* of the controller's random numbers */
static bool mild;                 /* the threads rest now and then */

static uint32_t below(uint32_t n)
{
    state = payload_mix(state + 0x9e3779b97f4a7c15ull);
    return (uint32_t)(state >> 33) % n;
}

static void trace_one(uint32_t no)
{
    struct soak_lane *l = &soak_lane[no];
    uint64_t seq = l->begun;
    struct payload p;
    size_t len = no & 2 ? payload_make_short(&p, no, seq) : payload_make(&p, no, seq);

    l->begun = seq + 1;
    posix_trace_event(types[no % 2], &p, len);
    l->returned = seq + 1;
}

static void *trace_until_told(void *argument)
{
    struct thread *t = argument;
    uint64_t random = payload_mix(t->lane + 1);

    soak_tid[t->lane] = gettid();
    sem_post(&t->ready);
    while (!t->end) {
        random = payload_mix(random + 1);
        pthread_rwlock_rdlock(&resting);
        for (uint64_t n = random % 300; n > 0 && soak_lane[t->lane].begun < MOST; n--)
            trace_one(t->lane);
        pthread_rwlock_unlock(&resting);
        if (mild || random >> 60 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = (long)(random >> 32) % 2000000 }, NULL);
    }
    return NULL;
}

static void begin_thread(struct thread *t)
{
    t->end = 0;
    t->lane = soak_lanes++;
    DEMAND_OK(pthread_create(&t->thread, NULL, trace_until_told, t));
    while (sem_wait(&t->ready) < 0)
        ;
}

static void end_thread(struct thread *t)
{
    t->end = 1;
    DEMAND_OK(pthread_join(t->thread, NULL));
}

static struct soak_stream streams[STREAMS];
static uint64_t made, sessions, children;

/* ---- acts ---- */

static void create(struct soak_stream *s)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
    bool log = below(2);
    trace_attr_t attr;

    *s = (struct soak_stream){
        .is = true, .fd = -1, .inherited = below(2), .owner = { .name = "owner", .is = true }
    };
    s->policy = policies[below(log ? 3 : 2)];
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 4096u << below(9)));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, s->policy));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, s->inherited ? POSIX_TRACE_INHERITED
                                                                : POSIX_TRACE_CLOSE_FOR_CHILD));
    if (log) {
        static const int log_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP,
                                            POSIX_TRACE_UNTIL_FULL };

        s->fd = audit_temporary_file();
        DEMAND_OK(posix_trace_attr_setlogsize(&attr, 256u << 10));
        DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, log_policies[below(3)]));
        DEMAND_OK(posix_trace_create_withlog(0, &attr, s->fd, &s->owner.trid));
    } else {
        DEMAND_OK(posix_trace_create(0, &attr, &s->owner.trid));
    }
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    made++;
}

static void filter(struct soak_stream *s, bool on)
{
    trace_event_set_t set;

    DEMAND_OK(posix_trace_eventset_empty(&set));
    if (on)
        DEMAND_OK(posix_trace_eventset_add(types[1], &set));
    DEMAND_OK(posix_trace_set_filter(s->owner.trid, &set, POSIX_TRACE_SET_EVENTSET));
}

enum steering { START_OR_STOP, FILTER };

static void steer(struct soak_stream *s, enum steering what)
{
    struct soak_stream now = *s;
    struct soak_moment from, to;

    soak_note(&from);
    if (what == FILTER) {
        now.filtered = !now.filtered;
        filter(s, now.filtered);
    } else {
        now.running = !now.running;
        now.stops += !now.running;
        DEMAND_OK(now.running ? posix_trace_start(s->owner.trid) : posix_trace_stop(s->owner.trid));
    }
    soak_note(&to);
    soak_change(s, &now, &from, &to);
    *s = now;
}

static void clear(struct soak_stream *s)
{
    struct posix_trace_status_info status;

    DEMAND_OK(posix_trace_clear(s->owner.trid));
    DEMAND_OK(posix_trace_get_status(s->owner.trid, &status));
    s->running = status.posix_stream_status == POSIX_TRACE_RUNNING;
    s->filtered = false;
    soak_begin_again(&s->owner);
    if (s->onlooker.is)
        soak_begin_again(&s->onlooker);
}

static int with_id(void *wanted, const struct posixtrace_stream *found)
{
    struct posixtrace_stream *s = wanted;

    if (memcmp(found->id, s->id, sizeof s->id) != 0)
        return 0;
    *s = *found;
    return 1;
}

static void look_on(struct soak_stream *s)
{
    struct soak_view *v = &s->onlooker;
    struct posixtrace_stream found;
    struct posixtrace_info info;
    struct books b;

    DEMAND_OK(posixtrace_get_info(s->owner.trid, &info, sizeof info));
    memcpy(found.id, info.id, sizeof found.id);
    DEMAND(posixtrace_stream_list(with_id, &found) == 1, "the stream is not listed");
    *v = (struct soak_view){ .name = "onlooker", .is = true };
    DEMAND_OK(posixtrace_attach(found.file, &v->trid));
    soak_begin_again(v);
    books_take(&b, v->trid, soak_tid, soak_lanes);
    memset(v->next, 0, sizeof v->next);
    memset(v->lost_before, 0, sizeof v->lost_before);
    v->sum_before = 0;
    v->others = b.others;
    /* At each stop a thread may have been in an event that came after it.  Such an event, which is
     * no part of the stream, is among the recorded ones until it is read. */
    for (uint32_t i = 0; i < soak_lanes; i++) {
        v->most[i] = b.recorded[i];
        v->least[i] = b.recorded[i] > s->stops ? b.recorded[i] - s->stops : 0;
    }
}

/* A flush thread that is inside an event of its own holds back later events. */
static void leave(struct soak_stream *s)
{
    const struct timespec pause = { 0, 1000000 };

    for (unsigned i = 0; i < MARK_LOOKS; i++) {
        soak_read_some(&s->onlooker, UINT64_MAX);
        if (s->fd < 0 || soak_has_all(s, &s->onlooker))
            break;
        nanosleep(&pause, NULL);
    }
    soak_check_books(s, &s->onlooker, true);
    DEMAND_OK(posixtrace_detach(s->onlooker.trid));
    s->onlooker.is = false;
}

static void read_log(struct soak_stream *s)
{
    struct soak_view *v = &s->owner;

    v->name = "log";
    v->last_ns = 0;
    v->backward = 0;
    DEMAND(lseek(s->fd, 0, SEEK_SET) == 0, "lseek");
    DEMAND_OK(posix_trace_open(s->fd, &v->trid));
    soak_read_some(v, UINT64_MAX);
    soak_check_books(s, v, true);
    DEMAND_OK(posix_trace_close(v->trid));
    close(s->fd);
}

/* The threads rest. */
static void end_stream(struct soak_stream *s)
{
    if (s->running)
        steer(s, START_OR_STOP);
    if (s->onlooker.is)
        leave(s);
    if (s->fd < 0) {
        soak_read_some(&s->owner, UINT64_MAX);
        soak_check_books(s, &s->owner, true);
    }
    DEMAND_OK(posix_trace_shutdown(s->owner.trid));
    if (s->fd >= 0)
        read_log(s);
    s->is = false;
}

static void look_around(struct soak_stream *s)
{
    struct posix_trace_status_info status;
    struct posixtrace_info before, after;

    DEMAND_OK(posixtrace_get_info(s->owner.trid, &before, sizeof before));
    DEMAND_OK(posix_trace_get_status(s->owner.trid, &status));
    DEMAND_OK(posixtrace_get_info(s->owner.trid, &after, sizeof after));
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        DEMAND(after.lost[c] >= before.lost[c], "lost %llu, then %llu",
               (unsigned long long)before.lost[c], (unsigned long long)after.lost[c]);
}

/* ---- children ---- */

static void be_child(uint32_t no, uint32_t events)
{
    soak_tid[no] = gettid();
    for (uint32_t i = 0; i < events; i++)
        trace_one(no);
    _exit(0);
}

/* Killed in the middle of an event: it may be in the streams that count it, or not. */
static void settle_child(uint32_t no)
{
    struct soak_lane *l = &soak_lane[no];

    if (l->begun == l->returned)
        return;
    l->begun = l->returned;
    for (unsigned i = 0; i < STREAMS; i++)
        if (streams[i].is && soak_counts(&streams[i], no)) {
            streams[i].owner.most[no]++;
            streams[i].onlooker.most[no]++;
        }
}

/* No stream is steered while it lives. */
static void have_child(void)
{
    bool killed = below(2);
    uint32_t no = soak_lanes++, events = killed ? UINT32_MAX : below(400), us = below(3000);
    int status;
    pid_t pid;

    soak_lane[no].child = true;
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        be_child(no, events);
    if (killed) {
        nanosleep(&(struct timespec){ .tv_nsec = us * 1000l }, NULL);
        kill(pid, SIGKILL);
    }
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(killed ? WIFSIGNALED(status) : status == 0, "child: status %#x", (unsigned)status);
    settle_child(no);
    children++;
}

/* ---- sessions ---- */

/* What needs resting threads. */
static void act_at_rest(struct soak_stream *s)
{
    switch (below(6)) {
    case 0: clear(s); break;
    case 1:
        if (s->onlooker.is)
            leave(s);
        else
            look_on(s);
        break;
    case 2: end_stream(s); break;
    case 3: steer(s, FILTER); break;
    case 4: soak_check_books(s, &s->owner, false); break;
    default: steer(s, START_OR_STOP);
    }
}

static void act_in_between(struct soak_stream *s)
{
    switch (below(8)) {
    case 0: steer(s, START_OR_STOP); break;
    case 1: steer(s, FILTER); break;
    case 2: look_around(s); break;
    case 3:
        if (s->onlooker.is)
            soak_read_some(&s->onlooker, below(5000));
        break;
    case 4:
        if (!SIGNALS_ARE_DELAYED && soak_lanes < BOOKS_LANES)
            have_child();
        break;
    case 5:
        if (soak_lanes < BOOKS_LANES) {
            struct thread *t = &threads[below(THREADS)];

            end_thread(t);
            begin_thread(t);
        }
        break;
    default:
        if (s->fd >= 0)
            DEMAND_OK(posix_trace_flush(s->owner.trid));
        else
            soak_read_some(&s->owner, below(5000));
    }
}

static void act(struct soak_stream *s)
{
    if (!s->is) {
        create(s);
    } else if (below(4)) {
        act_in_between(s);
    } else {
        pthread_rwlock_wrlock(&resting);
        act_at_rest(s);
        pthread_rwlock_unlock(&resting);
    }
}

static void one_session(void)
{
    uint32_t acts = 1 + below(ACTS);

    alarm(WATCHDOG_S);
    memset(soak_lane, 0, BOOKS_LANES * sizeof *soak_lane);
    memset(soak_tid, 0, BOOKS_LANES * sizeof *soak_tid);
    soak_lanes = 0;
    mild = below(3) != 0;
    for (unsigned i = 0; i < THREADS; i++)
        begin_thread(&threads[i]);
    for (uint32_t i = 0; i < acts; i++)
        act(&streams[below(STREAMS)]);
    for (unsigned i = 0; i < THREADS; i++)
        end_thread(&threads[i]);
    for (unsigned i = 0; i < STREAMS; i++)
        if (streams[i].is)
            end_stream(&streams[i]);
    sessions++;
}

/* Without those of children that were killed while they made a page: these go when they are
 * some time old. */
static unsigned entries_of(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    unsigned n = 0;

    DEMAND(d, "%s", folder);
    while ((entry = readdir(d)))
        n += strncmp(entry->d_name, "t-", 2) != 0;
    closedir(d);
    return n;
}

static void check_leftovers(void)
{
    static unsigned descriptors;
    unsigned now = entries_of("/proc/self/fd"), files = entries_of(posixtrace_stream_directory());

    descriptors = descriptors ? descriptors : now;
    DEMAND(now <= descriptors, "%u descriptors, %u at first", now, descriptors);
    DEMAND(files <= FILES_MOST, "%u files", files);
}

static void tell(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("%llu sessions, %llu streams, %llu children, at most %ld MiB of memory\n",
           (unsigned long long)sessions, (unsigned long long)made, (unsigned long long)children,
           usage.ru_maxrss / 1024);
    fflush(stdout);
}

static uint64_t now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1                          ? strtoull(argv[1], NULL, 0)
                       : getenv("POSIXTRACE_TEST_SHORT") ? SECONDS / 5
                                                         : SECONDS;
    uint64_t until = now_s() + seconds, next = now_s() + TELL_S;
    pthread_rwlockattr_t attr;

    state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    fflush(stdout);
    soak_lane = audit_shared(BOOKS_LANES * sizeof *soak_lane);
    soak_tid = audit_shared(BOOKS_LANES * sizeof *soak_tid);
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    DEMAND_OK(pthread_rwlock_init(&resting, &attr));
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND(sem_init(&threads[i].ready, 0, 0) == 0, "sem_init");
    DEMAND_OK(posix_trace_eventid_open("soak 0", &types[0]));
    DEMAND_OK(posix_trace_eventid_open("soak 1", &types[1]));
    do {
        one_session();
        check_leftovers();
        if (now_s() >= next) {
            tell();
            next += TELL_S;
        }
    } while (now_s() < until);
    tell();
    return 0;
}
