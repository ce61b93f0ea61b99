/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Families: every way to make a child, every way in which it ends.
 *
 *   family [ROUNDS [WATCHDOG-SECONDS [SEED]]]
 *
 * A round is {fork, _Fork, vfork, clone, daemon, posix_spawn} x {exec, exit,
 * _exit, abort, SIGKILL} x {traced by itself, traced by another}.  Each time a
 * subject, whose two other threads trace all the while, makes a child of that
 * kind, which traces and ends that way; images that are exec'd trace, too.  The
 * stream is INHERITED and large enough, so the books are simple: each thread's
 * events are there, once and in order, from the right process and thread.  A
 * process that was killed may have one more than it has noted.
 *
 * The watchdog is over each operation of the subject, not over the round.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "support/raw_clone.h"
#include "torture/audit.h"

enum way { FORK, _FORK, VFORK, CLONE, DAEMON, SPAWN, WAYS };
enum end { EXEC, EXIT, _EXIT, ABORT, KILL, ENDS };
enum lane { THREAD_1, THREAD_2, SUBJECT, CHILD, IMAGE, SECOND_IMAGE, LANES };

static const char *const way_names[] = { "fork", "_Fork", "vfork", "clone", "daemon", "spawn" };
static const char *const end_names[] = { "exec", "exit", "_exit", "abort", "SIGKILL" };

#define STAGE       100u  /* events of a stage that is not killed */
#define MOST        4000u /* events of a lane */
#define STREAM_SIZE (4u << 20)
#define EVENT_NAME  "family"

struct job {
    enum way way;
    enum end end;
    bool by_other;
    bool quiet; /* no call of the library between fork and exec */
};

struct shared {
    _Atomic uint64_t returned[LANES];
    _Atomic pid_t pid[LANES];
    _Atomic uint64_t thread[LANES];
    _Atomic uint32_t id; /* of the type, as the subject knows it */
    _Atomic int ready, go, stop;
};

static struct shared *shared;
static int shared_fd;
static char self_path[4096];
static unsigned watchdog;
static volatile int vfork_shares; /* not where valgrind or a sanitizer makes a fork of it */
static const char *volatile operation = "nothing";

/* ---- watchdog ---- */

static void bark(int sig)
{
    (void)sig;
    DEMAND(false, "longer than %u s: %s", watchdog, operation);
}

static void begin(const char *what)
{
    operation = what;
    signal(SIGALRM, bark);
    alarm(watchdog);
}

/* ---- whoever traces ---- */

static void put(enum lane lane, trace_event_id_t id)
{
    struct payload p;
    size_t len = payload_make(&p, lane, shared->returned[lane]);

    posix_trace_event(id, &p, len);
    shared->returned[lane]++;
}

static void introduce(enum lane lane)
{
    shared->pid[lane] = getpid();
    shared->thread[lane] = (uint64_t)(uintptr_t)pthread_self();
}

static void put_some(enum lane lane, unsigned n)
{
    trace_event_id_t id;

    DEMAND_OK(posix_trace_eventid_open(EVENT_NAME, &id));
    DEMAND(id == shared->id, "the name has another id here: %u, not %u", (unsigned)id, shared->id);
    introduce(lane);
    while (n--)
        put(lane, id);
}

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

static void *trace_all_the_while(void *argument)
{
    enum lane lane = (enum lane)(uintptr_t)argument;

    introduce(lane);
    while (!shared->stop) {
        for (unsigned i = 0; i < 8 && shared->returned[lane] < MOST; i++)
            put(lane, shared->id);
        rest();
    }
    return NULL;
}

static void be_killed(enum lane lane)
{
    for (;;) {
        while (shared->returned[lane] < MOST)
            put(lane, shared->id);
        rest();
    }
}

static void exec_image(enum lane lane, enum end end)
{
    char fd[12], lane_text[12], end_text[12], seconds[12];
    char *argv[] = { self_path, "image", fd, lane_text, end_text, seconds, NULL };

    snprintf(fd, sizeof fd, "%d", shared_fd);
    snprintf(lane_text, sizeof lane_text, "%d", lane);
    snprintf(end_text, sizeof end_text, "%d", end);
    snprintf(seconds, sizeof seconds, "%u", watchdog);
    execv(self_path, argv);
    DEMAND(false, "exec");
}

static void end_as(enum lane lane, enum end end)
{
    switch (end) {
    case EXEC: exec_image(lane + 1, EXIT); break;
    case EXIT: exit(0);
    case _EXIT: _exit(0);
    case ABORT: abort();
    default: be_killed(lane);
    }
}

/* ---- the child ---- */

static void be_child(const struct job *job)
{
    begin("the child");
    if (!job->quiet)
        put_some(CHILD, STAGE);
    end_as(CHILD, job->end);
}

static int be_image(char **argv)
{
    enum lane lane = (enum lane)atoi(argv[3]);

    watchdog = (unsigned)atoi(argv[5]);
    shared_fd = atoi(argv[2]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
    DEMAND(shared != MAP_FAILED && readlink("/proc/self/exe", self_path, sizeof self_path - 1) > 0,
           "no shared memory");
    begin("an image");
    put_some(lane, STAGE);
    end_as(lane, (enum end)atoi(argv[4]));
    return 1;
}

static void probe_vfork(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        vfork_shares = 1;
        _exit(0);
    }
    DEMAND(waitpid(pid, NULL, 0) == pid, "vfork");
}

static pid_t make_by_vfork(const struct job *job)
{
    static volatile pid_t pid;
    static enum end end;

    end = job->end;
    pid = vfork();
    if (pid == 0) {
        if (vfork_shares)
            put(SUBJECT, shared->id); /* as the subject's thread */
        exec_image(IMAGE, end);
    }
    return pid;
}

static pid_t make_by_spawn(const struct job *job)
{
    char fd[12], end_text[12], seconds[12];
    char *argv[] = { self_path, "image", fd, "4", end_text, seconds, NULL };
    pid_t pid;

    _Static_assert(IMAGE == 4, "as in argv");
    snprintf(fd, sizeof fd, "%d", shared_fd);
    snprintf(end_text, sizeof end_text, "%d", job->end);
    snprintf(seconds, sizeof seconds, "%u", watchdog);
    DEMAND_OK(posix_spawn(&pid, self_path, NULL, NULL, argv, environ));
    return pid;
}

static void be_daemon(const struct job *job)
{
    DEMAND(daemon(1, 1) == 0, "daemon");
    be_child(job);
}

static pid_t make_child(const struct job *job)
{
    pid_t pid;

    switch (job->way) {
    case VFORK: return make_by_vfork(job);
    case SPAWN: return make_by_spawn(job);
    case _FORK: pid = _Fork(); break;
    case CLONE: pid = raw_clone(SIGCHLD); break;
    default: pid = fork();
    }
    if (pid == 0)
        job->way == DAEMON ? be_daemon(job) : be_child(job);
    return pid;
}

/* ---- the subject ---- */

static enum lane last_lane(const struct job *job)
{
    if (job->way == VFORK || job->way == SPAWN)
        return job->end == EXEC ? SECOND_IMAGE : IMAGE;
    return job->end == EXEC ? IMAGE : CHILD;
}

/* Polls: a daemon changes parents while it is waited for. */
static int await(pid_t pid)
{
    int status;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0)
        rest();
    DEMAND(got > 0, "waitpid");
    return status;
}

static void await_end(const struct job *job, pid_t pid)
{
    int want = job->end == KILL ? SIGKILL : job->end == ABORT ? SIGABRT : 0, status;
    enum lane lane = last_lane(job);

    if (job->way == DAEMON) {
        status = await(pid);
        DEMAND(status == 0, "daemon: %#x", status);
        pid = -1;
    }
    if (job->end == KILL) {
        while (shared->returned[lane] == 0)
            rest();
        usleep((unsigned)random() % 3000);
        kill(shared->pid[lane], SIGKILL);
    }
    status = await(pid);
    DEMAND((WIFSIGNALED(status) ? WTERMSIG(status) : status) == want, "status %#x", status);
}

static void make_family(const struct job *job)
{
    pthread_t threads[2];
    pid_t pid;

    for (uintptr_t i = 0; i < 2; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_all_the_while, (void *)i));
    put_some(SUBJECT, STAGE);
    while (!shared->returned[THREAD_1] || !shared->returned[THREAD_2])
        rest();
    begin("making the child");
    pid = make_child(job);
    DEMAND(pid > 0, "%s", way_names[job->way]);
    begin("tracing beside the child");
    put_some(SUBJECT, STAGE);
    begin("the child's end");
    await_end(job, pid);
    put_some(SUBJECT, STAGE);
    shared->stop = 1;
    begin("the threads' end");
    for (unsigned i = 0; i < 2; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
}

/* ---- the controller ---- */

static trace_id_t start_stream(pid_t pid)
{
    trace_attr_t attr;
    trace_id_t trid;

    begin("starting a stream");
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_SIZE));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(pid, &attr, &trid));
    DEMAND_OK(posix_trace_start(trid));
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    return trid;
}

static void check_author(const struct posix_trace_event_info *info, const void *data, size_t len)
{
    struct payload p;

    DEMAND(payload_is_whole(&p, data, len) && p.lane < LANES, "torn");
    DEMAND(info->posix_pid == shared->pid[p.lane] &&
               (uint64_t)(uintptr_t)info->posix_thread_id == shared->thread[p.lane],
           "lane %u, number %llu is from process %d, not %d", p.lane, (unsigned long long)p.seq,
           (int)info->posix_pid, (int)shared->pid[p.lane]);
}

static void read_stream(struct audit *a, trace_id_t trid)
{
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    int unavailable = 0;
    size_t len;

    for (;;) {
        DEMAND_OK(posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &unavailable));
        if (unavailable)
            return;
        if (info.posix_event_id == a->id)
            check_author(&info, data, len);
        audit_take(a, &info, data, len);
    }
}

static void check_books(const struct job *job, trace_id_t trid)
{
    uint64_t most;
    struct audit a;

    begin("reading");
    DEMAND_OK(posix_trace_stop(trid));
    audit_init(&a, (trace_event_id_t)shared->id, LANES);
    /* What a killed writer holds back it holds back for a while. */
    do {
        read_stream(&a, trid);
    } while (a.stops == 0);
    audit_check_time(&a, trid);
    DEMAND(a.gaps == 0, "%llu events are missing", (unsigned long long)a.gaps);
    for (unsigned lane = 0; lane < LANES; lane++) {
        most = shared->returned[lane] + (job->end == KILL && lane == last_lane(job));
        DEMAND(a.read[lane] == shared->returned[lane] || a.read[lane] == most,
               "lane %u: %llu calls returned, %llu events read", lane,
               (unsigned long long)shared->returned[lane], (unsigned long long)a.read[lane]);
    }
    audit_deinit(&a);
    begin("shutdown");
    DEMAND_OK(posix_trace_shutdown(trid));
}

static void be_subject(const struct job *job)
{
    trace_event_id_t id;
    trace_id_t trid = 0;

    DEMAND(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl");
    begin("the subject's start");
    if (!job->by_other)
        trid = start_stream(0);
    shared->ready = 1;
    while (job->by_other && !shared->go)
        rest();
    DEMAND_OK(posix_trace_eventid_open(EVENT_NAME, &id));
    shared->id = (uint32_t)id;
    make_family(job);
    if (!job->by_other)
        check_books(job, trid);
    exit(0);
}

static void run(const struct job *job)
{
    trace_id_t trid = 0;
    int status;
    pid_t pid;

    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        be_subject(job);
    if (job->by_other) {
        while (!shared->ready)
            rest();
        trid = start_stream(pid);
        shared->go = 1;
    }
    /* The subject has watchdogs of its own. */
    alarm(0);
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(status == 0, "%s, %s, traced by %s, %s: status %#x", way_names[job->way],
           end_names[job->end], job->by_other ? "another" : "itself",
           job->quiet ? "quiet" : "not quiet", status);
    if (job->by_other)
        check_books(job, trid);
    alarm(0);
}

int main(int argc, char **argv)
{
    struct rlimit no_core = { 0, 0 };
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10, runs = 0;

    if (argc > 5 && strcmp(argv[1], "image") == 0)
        return be_image(argv);
    if (audit_multiplier(NULL) < 1)
        rounds = 1;
    watchdog = argc > 2 ? (unsigned)atoi(argv[2]) : 60;
    audit_seed(argc > 3 ? argv[3] : NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    probe_vfork();
    DEMAND(readlink("/proc/self/exe", self_path, sizeof self_path - 1) > 0, "no /proc");
    shared_fd = memfd_create("family", 0);
    DEMAND(shared_fd >= 0 && ftruncate(shared_fd, sizeof *shared) == 0, "memfd");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
    DEMAND(shared != MAP_FAILED, "mmap");
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < WAYS * ENDS * 2; i++) {
            struct job job = {
                .way = i % WAYS, .end = i / WAYS % ENDS, .by_other = i / WAYS / ENDS, .quiet = false
            };

            job.quiet = job.end == EXEC && (round + i / WAYS) % 2 == 0;
            run(&job);
            runs++;
        }
    printf("%u rounds, %u families\n", rounds, runs);
    return 0;
}
