/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads that trace as hard as they can, and exact books kept about it.
 *
 *   torture loop|until-full|flush THREADS steady|burst|churn|signals [MULTIPLIER]
 *   torture all [MULTIPLIER]
 *
 * Each event has a checkable payload (payload.h).  A reader thread empties the
 * stream meanwhile, or the log is read in the end (flush).  Then for each
 * thread: made == read + lost, with lost as the stream tells it, by cause.
 *
 *   steady   all threads trace, and yield now and then
 *   burst    all threads trace at full speed at once, then all pause
 *   churn    threads trace a little and end, others follow
 *   signals  timers and the thread itself raise signals whose handlers trace,
 *            one of them while the other's handler runs
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "torture/audit.h"

#define EVENTS       200000u /* of all threads together, times the multiplier */
#define LIFE         200u    /* events of a short-lived thread, times the multiplier */
#define BURST        1000u
#define STREAM_BYTES (256u << 10)
#define LANES        3u /* a worker: itself, its two handlers */
#define WATCHDOG_S   380
#define TIMERS_PER_S 20000u /* of all threads together */

enum mode { STEADY, BURSTS, CHURN, SIGNALS, MODES };

static const char *const mode_names[] = { "steady", "burst", "churn", "signals" };
static const char *const policy_names[] = { "loop", "until-full", "flush" };
static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };

/* One thread that traces, or in churn one after the other. */
struct worker {
    pid_t tid;
    uint64_t made[LANES]; /* events traced, a lane */
    uint64_t lost;        /* as the stream tells it */
    uint64_t refused;     /* of these: never recorded */
    uint64_t recorded;
    uint32_t no;
};

static struct {
    unsigned policy, threads;
    enum mode mode;
    double multiplier;
    uint32_t worker_count;
    uint64_t events; /* each worker makes */
    struct worker *workers;
    trace_event_id_t id;
    trace_id_t trid;
    pthread_barrier_t barrier;
} run;

static __thread struct worker *self;

static void make_event(struct worker *w, uint32_t lane)
{
    struct payload p;
    size_t len = payload_make(&p, w->no * LANES + lane, w->made[lane]);

    posix_trace_event(run.id, &p, len);
    w->made[lane]++;
}

static void on_signal(int sig)
{
    int saved = errno;

    if (self)
        make_event(self, sig == SIGRTMIN ? 1 : 2);
    errno = saved;
}

/* ---- workers ---- */

static timer_t set_timer(int sig, long interval_ns)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
    struct itimerspec every = { .it_interval.tv_nsec = interval_ns,
                                .it_value.tv_nsec = interval_ns };
    timer_t timer;

    event._sigev_un._tid = gettid();
    DEMAND(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "errno %d", errno);
    DEMAND(timer_settime(timer, 0, &every, NULL) == 0, "errno %d", errno);
    return timer;
}

static void storm(struct worker *w)
{
    long interval = 1000000000l / (TIMERS_PER_S / (2 * run.threads) + 1);
    timer_t one = set_timer(SIGRTMIN, interval), two = set_timer(SIGRTMIN + 1, interval + 777);

    for (uint64_t i = 0; i < run.events; i++) {
        make_event(w, 0);
        if (i % 64 == 0)
            pthread_kill(pthread_self(), SIGRTMIN + (int)(i / 64 % 2));
    }
    timer_delete(one);
    timer_delete(two);
}

static void trace_steadily(struct worker *w)
{
    for (uint64_t i = 0; i < run.events; i++) {
        make_event(w, 0);
        if (i % 64 == 63)
            sched_yield();
    }
}

static void trace_in_bursts(struct worker *w)
{
    for (uint64_t i = 0; i < run.events; i++) {
        if (i % BURST == 0)
            pthread_barrier_wait(&run.barrier);
        make_event(w, 0);
    }
}

static void *work(void *worker)
{
    struct worker *w = worker;

    self = w;
    w->tid = gettid();
    if (run.mode == SIGNALS)
        storm(w);
    else if (run.mode == BURSTS)
        trace_in_bursts(w);
    else
        trace_steadily(w);
    return NULL;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    DEMAND_OK(pthread_create(&thread, NULL, function, argument));
    return thread;
}

/* Churn: lets every THREADS-th worker live, one after the other. */
static void *raise_workers(void *first)
{
    for (uint32_t no = ((struct worker *)first)->no; no < run.worker_count; no += run.threads)
        DEMAND_OK(pthread_join(start(work, &run.workers[no]), NULL));
    return NULL;
}

static void let_all_work(void)
{
    pthread_t *threads = calloc(run.threads, sizeof *threads);

    DEMAND(threads, "no memory");
    for (unsigned i = 0; i < run.threads; i++)
        threads[i] = start(run.mode == CHURN ? raise_workers : work, &run.workers[i]);
    for (unsigned i = 0; i < run.threads; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    free(threads);
}

/* ---- reading ---- */

static int reading_ended;

static struct timespec soon(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 100000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Mixes both ways to wait for an event: asking again, and sleeping. */
static void *read_live(void *audit)
{
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    size_t len;
    int unavailable, ended, error;

    do {
        struct timespec until;

        ended = __atomic_load_n(&reading_ended, __ATOMIC_ACQUIRE);
        audit_drain(audit, run.trid);
        until = soon();
        error = ended ? ETIMEDOUT
                      : posix_trace_timedgetnext_event(run.trid, &info, data, sizeof data, &len,
                                                       &unavailable, &until);
        if (error == 0 && !unavailable)
            audit_take(audit, &info, data, len);
        DEMAND(error == 0 || error == ETIMEDOUT || error == EINTR, "error %d", error);
    } while (!ended);
    return NULL;
}

/* ---- the books ---- */

static struct worker *worker_of(pid_t tid)
{
    for (uint32_t i = 0; i < run.worker_count; i++) {
        if (run.workers[i].tid == tid)
            return &run.workers[i];
    }
    return NULL;
}

static bool was_refused(unsigned cause)
{
    return cause == POSIXTRACE_LOST_FULL || cause == POSIXTRACE_LOST_NO_MEMORY ||
           cause == POSIXTRACE_LOST_NESTED;
}

/* Adds what the stream says of each thread; what it no longer knows by thread
 * goes to *rest. */
static void take_thread_infos(trace_id_t trid, uint64_t *by_cause, struct worker *rest)
{
    struct posixtrace_thread_info info;
    int unavailable;

    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        struct worker *w;

        DEMAND_OK(posixtrace_threadlist_getnext(trid, &info, sizeof info, &unavailable));
        if (unavailable)
            return;
        w = info.tid ? worker_of(info.tid) : rest;
        if (!w)
            w = rest;
        w->recorded += info.recorded;
        for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
            w->lost += info.lost[i];
            w->refused += was_refused(i) ? info.lost[i] : 0;
            by_cause[i] += info.lost[i];
        }
    }
}

static uint64_t made_by(const struct worker *w)
{
    return w->made[0] + w->made[1] + w->made[2];
}

static uint64_t read_of(const struct audit *a, const struct worker *w)
{
    const uint64_t *lanes = &a->read[w->no * LANES];

    return lanes[0] + lanes[1] + lanes[2];
}

/* Ended threads are reported in one sum if there are more than the stream has slots; few threads
 * must be reported one by one. */
static bool some_are_folded(const struct worker *rest)
{
    return rest->recorded + rest->lost > 0 && run.worker_count > 16;
}

static void check_thread(const struct audit *a, const struct worker *w, bool exact)
{
    uint64_t made = made_by(w), seen = read_of(a, w);

    DEMAND(exact ? made == seen + w->lost : made >= seen + w->lost,
           "thread %u: made %llu, read %llu, lost %llu", w->no, (unsigned long long)made,
           (unsigned long long)seen, (unsigned long long)w->lost);
    DEMAND(exact ? made == w->recorded + w->refused : made >= w->recorded + w->refused,
           "thread %u: made %llu, recorded %llu, refused %llu", w->no, (unsigned long long)made,
           (unsigned long long)w->recorded, (unsigned long long)w->refused);
}

static void tell(const struct audit *a, uint64_t made, const uint64_t *by_cause)
{
    printf("%s %u %s: made %llu, read %llu", policy_names[run.policy], run.threads,
           mode_names[run.mode], (unsigned long long)made, (unsigned long long)a->events);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        if (by_cause[i])
            printf(", %s %llu", posixtrace_loss_cause_text(i), (unsigned long long)by_cause[i]);
    }
    printf("\n");
    fflush(stdout);
}

static void balance(const struct audit *a, trace_id_t trid)
{
    uint64_t by_cause[POSIXTRACE_LOSS_CAUSES] = { 0 }, made = 0, lost = 0;
    struct worker rest = { .tid = 0 };
    struct posixtrace_info info;
    bool exact;

    take_thread_infos(trid, by_cause, &rest);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    exact = !some_are_folded(&rest);
    for (uint32_t i = 0; i < run.worker_count; i++)
        made += made_by(&run.workers[i]);
    tell(a, made, by_cause);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++) {
        lost += by_cause[i];
        DEMAND(info.lost[i] == by_cause[i], "%s: stream %llu, threads %llu",
               posixtrace_loss_cause_text(i), (unsigned long long)info.lost[i],
               (unsigned long long)by_cause[i]);
    }
    for (uint32_t i = 0; i < run.worker_count; i++)
        check_thread(a, &run.workers[i], exact);
    DEMAND(made == a->events + lost, "all threads: %lld are missing",
           (long long)(made - a->events - lost));
    DEMAND(by_cause[POSIXTRACE_LOST_NESTED] == 0 && by_cause[POSIXTRACE_LOST_NO_MEMORY] == 0 &&
               by_cause[POSIXTRACE_LOST_LOG_ERROR] == 0,
           "lost without a reason");
    DEMAND(made > a->events || a->gaps == 0, "%llu gaps", (unsigned long long)a->gaps);
}

/* ---- a run ---- */

static void prepare(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    uint64_t total = (uint64_t)(EVENTS * run.multiplier);

    run.events = run.mode == CHURN ? (uint64_t)(LIFE * run.multiplier) + 1
                                   : total / run.threads + 1;
    run.worker_count = run.mode == CHURN ? EVENTS / LIFE : run.threads;
    run.workers = calloc(run.worker_count, sizeof *run.workers);
    DEMAND(run.workers, "no memory");
    for (uint32_t i = 0; i < run.worker_count; i++)
        run.workers[i].no = i;
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    sigaction(SIGRTMIN + 1, &action, NULL);
    pthread_barrier_init(&run.barrier, NULL, run.threads);
    DEMAND_OK(posix_trace_eventid_open("torture", &run.id));
}

static void attributes(trace_attr_t *attr)
{
    DEMAND_OK(posix_trace_attr_init(attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(attr, policies[run.policy]));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND));
}

static void run_live(struct audit *audit, const trace_attr_t *attr)
{
    pthread_t reader;

    DEMAND_OK(posix_trace_create(0, attr, &run.trid));
    DEMAND_OK(posix_trace_start(run.trid));
    reader = start(read_live, audit);
    let_all_work();
    /* helgrind sees an atomic access only where it is an exchange */
    __atomic_exchange_n(&reading_ended, 1, __ATOMIC_ACQ_REL);
    DEMAND_OK(pthread_join(reader, NULL));
    /* Not before: a stream that had stopped itself would not start again. */
    DEMAND_OK(posix_trace_stop(run.trid));
    audit_drain(audit, run.trid);
    audit_check_time(audit, run.trid);
    balance(audit, run.trid);
    if (policies[run.policy] == POSIX_TRACE_UNTIL_FULL)
        DEMAND(audit->starts == audit->stops, "%u times START, %u times STOP", audit->starts,
               audit->stops);
    DEMAND_OK(posix_trace_shutdown(run.trid));
}

static void run_logged(struct audit *audit, const trace_attr_t *attr)
{
    int fd = audit_temporary_file();

    DEMAND_OK(posix_trace_create_withlog(0, attr, fd, &run.trid));
    DEMAND_OK(posix_trace_start(run.trid));
    let_all_work();
    DEMAND_OK(posix_trace_shutdown(run.trid));
    DEMAND_OK(posix_trace_open(fd, &run.trid));
    audit->id = audit_type(run.trid, "torture");
    audit_read_log(audit, run.trid);
    audit_check_time(audit, run.trid);
    balance(audit, run.trid);
    DEMAND_OK(posix_trace_close(run.trid));
    close(fd);
}

static void run_once(void)
{
    struct audit audit;
    trace_attr_t attr;

    alarm((unsigned)(WATCHDOG_S * (run.multiplier > 1 ? run.multiplier : 1)));
    prepare();
    attributes(&attr);
    audit_init(&audit, run.id, run.worker_count * LANES);
    if (policies[run.policy] == POSIX_TRACE_FLUSH)
        run_logged(&audit, &attr);
    else
        run_live(&audit, &attr);
    audit_deinit(&audit);
    free(run.workers);
}

static int run_all(const char *multiplier)
{
    static const unsigned thread_counts[] = { 1, 4, 16, 64 };
    unsigned failed = 0;
    int status;

    for (unsigned i = 0; i < 3 * 4 * MODES; i++) {
        pid_t pid;

        fflush(NULL);
        pid = fork();
        if (pid == 0) {
            run.policy = i % 3;
            run.threads = thread_counts[i / 3 % 4];
            run.mode = (enum mode)(i / 12);
            run.multiplier = audit_multiplier(multiplier);
            run_once();
            exit(0);
        }
        failed += waitpid(pid, &status, 0) != pid || status != 0;
    }
    printf("%u of %u runs failed\n", failed, 3 * 4 * MODES);
    return failed ? 1 : 0;
}

static bool find(const char *word, const char *const *words, unsigned n, unsigned *index)
{
    for (*index = 0; *index < n && strcmp(word, words[*index]) != 0; ++*index)
        ;
    return *index < n;
}

int main(int argc, char **argv)
{
    unsigned mode;

    if (argc >= 2 && strcmp(argv[1], "all") == 0)
        return run_all(argv[2]);
    if (argc < 4 || !find(argv[1], policy_names, 3, &run.policy) ||
        !find(argv[3], mode_names, MODES, &mode)) {
        fprintf(stderr, "usage: torture loop|until-full|flush THREADS steady|burst|churn|signals "
                        "[MULTIPLIER]\n       torture all [MULTIPLIER]\n");
        return 64;
    }
    run.threads = (unsigned)atoi(argv[2]);
    DEMAND(run.threads >= 1 && run.threads <= 1000, "'%s' threads", argv[2]);
    run.mode = (enum mode)mode;
    if (run.mode == SIGNALS && SIGNALS_ARE_DELAYED)
        return SKIPPED;
    run.multiplier = audit_multiplier(argv[4]);
    run_once();
    return 0;
}
