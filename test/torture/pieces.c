/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A writer of a log in pieces that is killed at each of its writes and renames in turn.
 *
 * pwrite() and renameat() are this program's own: the k-th call of the traced process ends it by
 * SIGKILL, before it has an effect, or after half of the bytes.  For each k until the process ends
 * by itself, with each plan:
 *
 *   what has its final name is a whole log, at any moment
 *   all pieces with what the process left in memory, one by one and as one stream, give its
 *   events in order, each once, and events plus losses are what was generated, also of one thread
 *   alone
 *   a recovery of what has no final name changes no sum, wherever it is killed itself, and leaves
 *   logs without damage
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include "torture/audit.h"

#define STREAM_BYTES (256u << 10)
#define PIECE_BYTES  (8u << 10)
#define LANES_MAX    3u
#define BURSTS       6u
#define BURST        600u   /* events of all lanes; a stream holds them */
#define FLOOD        20000u /* a stream does not hold these */
#define WATCHDOG_S   380
#define PAGE         4096
#define PIECES_MAX   200u
#define NAME         "t-1Z-"

struct plan {
    bool packed, half, flood, marks;
    unsigned lanes, keep;
};

static struct shared {
    volatile uint64_t returned[LANES_MAX];
    volatile pid_t first; /* the thread of the first lane; the others have one a burst */
} * shared;

static unsigned failed, calls, kill_at; /* 0: never */
static unsigned most_pieces;
static bool kill_half;
static char what[200], folder[300];

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);
int renameat(int from_dir, const char *from, int to_dir, const char *to);

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    if (++calls == kill_at) {
        /* A kill does not cut a write inside a page: the header block is one. */
        if (kill_half && offset >= PAGE)
            syscall(SYS_pwrite64, fd, from, bytes / 2, offset);
        kill(getpid(), SIGKILL);
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    if (++calls == kill_at)
        kill(getpid(), SIGKILL);
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

static uint64_t traced(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < LANES_MAX; i++)
        sum += shared->returned[i];
    return sum;
}

/* ---- the process that is killed ---- */

struct tracer {
    trace_event_id_t id;
    uint32_t lane;
    uint64_t events;
};

static void *trace_some(void *argument)
{
    const struct tracer *t = argument;
    struct payload p;

    for (uint64_t n = 0; n < t->events; n++) {
        uint64_t seq = shared->returned[t->lane];
        size_t len = payload_make(&p, t->lane, seq);

        posix_trace_event(t->id, &p, len);
        shared->returned[t->lane] = seq + 1;
    }
    return NULL;
}

static void trace_burst(const struct plan *plan, trace_event_id_t id)
{
    uint64_t events = (plan->flood ? FLOOD : BURST) / plan->lanes;
    struct tracer tracers[LANES_MAX];
    pthread_t threads[LANES_MAX];

    for (uint32_t i = 0; i < plan->lanes; i++)
        tracers[i] = (struct tracer){ id, i, events };
    for (uint32_t i = 1; i < plan->lanes; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_some, &tracers[i]));
    trace_some(&tracers[0]);
    for (uint32_t i = 1; i < plan->lanes; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
}

static void flush(trace_id_t trid)
{
    struct posix_trace_status_info status;

    posix_trace_flush(trid);
    do
        DEMAND_OK(posix_trace_get_status(trid, &status));
    while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

static trace_id_t create(const struct plan *plan)
{
    struct posixtrace_rotation rotation = { .bytes = PIECE_BYTES, .keep = plan->keep };
    trace_event_set_t system;
    trace_attr_t attr;
    trace_id_t trid;
    char path[400];
    int fd;

    snprintf(path, sizeof path, "%s/" NAME "01.ptl.part", folder);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    DEMAND(fd >= 0, "%s", path);
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    if (plan->packed)
        DEMAND_OK(posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD));
    if (posix_trace_create_withlog(0, &attr, fd, &trid) != 0)
        _exit(3);
    DEMAND_OK(posixtrace_log_rotate(trid, &rotation, sizeof rotation));
    DEMAND_OK(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS));
    if (!plan->marks)
        DEMAND_OK(posix_trace_set_filter(trid, &system, POSIX_TRACE_SET_EVENTSET));
    return trid;
}

static void trace_and_die(const struct plan *plan, unsigned k)
{
    trace_event_id_t id;
    trace_id_t trid;

    alarm(WATCHDOG_S);
    DEMAND_OK(posix_trace_eventid_open("each piece", &id));
    shared->first = gettid();
    kill_at = k;
    kill_half = plan->half;
    trid = create(plan);
    DEMAND_OK(posix_trace_start(trid));
    for (unsigned i = 0; i < BURSTS; i++) {
        trace_burst(plan, id);
        flush(trid);
    }
    trace_burst(plan, id);
    DEMAND_OK(posix_trace_shutdown(trid));
    _exit(0);
}

/* ---- the process that verifies ---- */

struct piece {
    char path[600];
    unsigned number;
    bool finished;
};

struct books {
    uint64_t read, lost;
    uint64_t by_first; /* read of the first lane, and lost by it: one thread's */
    unsigned pieces;
};

static int by_number(const void *a, const void *b)
{
    return (int)((const struct piece *)a)->number - (int)((const struct piece *)b)->number;
}

static unsigned list_pieces(struct piece list[PIECES_MAX])
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    unsigned n = 0;

    DEMAND(dir, "no folder %s", folder);
    while ((e = readdir(dir))) {
        struct piece *p = &list[n];

        if (e->d_name[0] == '.')
            continue;
        DEMAND(n < PIECES_MAX, "%s: too many pieces", what);
        DEMAND(sscanf(e->d_name, NAME "%u.ptl", &p->number) == 1, "%s: a file %s", what, e->d_name);
        p->finished = !strstr(e->d_name, ".part");
        snprintf(p->path, sizeof p->path, "%s/%s", folder, e->d_name);
        n++;
    }
    closedir(dir);
    qsort(list, n, sizeof *list, by_number);
    return n;
}

static void check_whole(const char *path)
{
    struct posixtrace_log_report check;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    DEMAND(fd >= 0, "%s", path);
    DEMAND_OK(posixtrace_log_check(fd, NULL, NULL, &check, sizeof check));
    DEMAND(check.complete && !check.damaged, "%s: %s: complete %d, damaged %d", what, path,
           check.complete, check.damaged);
    close(fd);
}

static uint64_t recorded_by_threads(trace_id_t trid)
{
    struct posixtrace_thread_info thread;
    uint64_t recorded = 0;
    int none;

    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        DEMAND_OK(posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &none));
        if (none)
            return recorded;
        recorded += thread.recorded;
    }
}

/* A finished piece stands for itself. */
static void check_alone(const struct plan *plan, const struct piece *p, trace_id_t trid,
                        uint64_t read)
{
    struct posixtrace_info info;
    uint64_t lost = audit_lost(trid), recorded = recorded_by_threads(trid);

    check_whole(p->path);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(info.end == POSIXTRACE_END_SHUTDOWN || info.end == POSIXTRACE_END_RECOVERED,
           "%s: %s: end %d", what, p->path, info.end);
    DEMAND(plan->marks || (info.events == read && recorded <= read + lost),
           "%s: %s: %llu events, %llu read, %llu lost, %llu recorded", what, p->path,
           (unsigned long long)info.events, (unsigned long long)read, (unsigned long long)lost,
           (unsigned long long)recorded);
    /* What was refused or overwritten has no number in between. */
    DEMAND(plan->marks || plan->flood || recorded == read + lost,
           "%s: %s: %llu read, %llu lost, %llu recorded", what, p->path, (unsigned long long)read,
           (unsigned long long)lost, (unsigned long long)recorded);
}

/* 0: the log does not have it. */
static trace_event_id_t find_type(trace_id_t trid)
{
    trace_event_id_t id;
    int none;

    DEMAND_OK(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        char name[TRACE_EVENT_NAME_MAX + 1];

        DEMAND_OK(posix_trace_eventtypelist_getnext_id(trid, &id, &none));
        if (none)
            return 0;
        DEMAND_OK(posix_trace_eventid_get_name(trid, id, name));
        if (strcmp(name, "each piece") == 0)
            return id;
    }
}

static struct books read_all(const struct plan *plan, const char *when)
{
    static struct piece list[PIECES_MAX];
    unsigned n = list_pieces(list);
    struct books b = { .pieces = n };
    struct audit a;

    audit_init(&a, 0, LANES_MAX);
    for (unsigned i = 0; i < n; i++) {
        int fd = open(list[i].path, O_RDONLY | O_CLOEXEC), e;
        uint64_t before = a.events;
        trace_id_t trid;

        e = posix_trace_open(fd, &trid);
        close(fd);
        /* Killed when it was made. */
        DEMAND(e == 0 || (i == n - 1 && !list[i].finished), "%s, %s: %s does not open: %s", what,
               when, list[i].path, strerror(e));
        if (e != 0)
            continue;
        a.id = find_type(trid);
        DEMAND(a.id || (i == n - 1 && !list[i].finished), "%s, %s: %s has no names", what, when,
               list[i].path);
        audit_read_log(&a, trid);
        b.lost += audit_lost(trid);
        b.by_first += audit_lost_by(trid, shared->first);
        if (list[i].finished)
            check_alone(plan, &list[i], trid, a.events - before);
        DEMAND_OK(posix_trace_close(trid));
    }
    b.read = a.events;
    b.by_first += a.read[0];
    DEMAND(a.backward == 0, "%s, %s: time goes back %llu times", what, when,
           (unsigned long long)a.backward);
    audit_deinit(&a);
    if (plan->keep)
        return b;
    DEMAND(plan->marks ||
               (b.read + b.lost >= traced() && b.read + b.lost <= traced() + plan->lanes),
           "%s, %s: %llu read, %llu lost in %u pieces, %llu traced", what, when,
           (unsigned long long)b.read, (unsigned long long)b.lost, b.pieces,
           (unsigned long long)traced());
    DEMAND(b.by_first >= shared->returned[0] && b.by_first <= shared->returned[0] + 1,
           "%s, %s: the first lane read or lost %llu, %llu traced", what, when,
           (unsigned long long)b.by_first, (unsigned long long)shared->returned[0]);
    return b;
}

/* All as one stream: the same events and losses; those of removed pieces are counted, too. */
static struct books read_as_one(const struct plan *plan, const char *when)
{
    static struct piece list[PIECES_MAX];
    static const char *paths[PIECES_MAX];
    unsigned n = list_pieces(list);
    struct books b = { .pieces = n };
    struct posixtrace_info info;
    uint64_t by_threads = 0, others;
    trace_id_t trid;
    struct audit a;

    for (unsigned i = 0; i < n; i++)
        paths[i] = list[n - 1 - i].path;
    DEMAND_OK(posixtrace_open_pieces(paths, n, &trid));
    audit_init(&a, find_type(trid), LANES_MAX);
    audit_read_log(&a, trid);
    DEMAND(a.backward == 0, "%s, %s: time goes back %llu times", what, when,
           (unsigned long long)a.backward);
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    b.read = a.events;
    b.lost = audit_lost(trid);
    b.by_first = a.read[0] + audit_lost_by(trid, shared->first);
    others = list[0].number > 1 ? 2 : 0; /* OVERFLOW and RESUME in front */
    DEMAND(plan->marks || info.events == b.read + others, "%s, %s: %llu events, %llu read", what,
           when, (unsigned long long)info.events, (unsigned long long)b.read);
    by_threads = recorded_by_threads(trid);
    DEMAND(plan->marks ||
               (b.read + b.lost >= traced() && b.read + b.lost <= traced() + plan->lanes),
           "%s, %s: as one %llu read, %llu lost, %llu traced", what, when,
           (unsigned long long)b.read, (unsigned long long)b.lost, (unsigned long long)traced());
    DEMAND(plan->marks || plan->flood || by_threads >= traced(),
           "%s, %s: threads recorded %llu of %llu", what, when, (unsigned long long)by_threads,
           (unsigned long long)traced());
    audit_deinit(&a);
    DEMAND_OK(posix_trace_close(trid));
    return b;
}

static void compare_as_one(const struct plan *plan, const struct books *b, const char *when)
{
    struct books one = read_as_one(plan, when);

    DEMAND(one.read == b->read, "%s, %s: as one %llu, one by one %llu", what, when,
           (unsigned long long)one.read, (unsigned long long)b->read);
    DEMAND(plan->keep || (one.lost == b->lost && one.by_first == b->by_first),
           "%s, %s: as one lost %llu, one by one %llu", what, when, (unsigned long long)one.lost,
           (unsigned long long)b->lost);
}

/* In a process of its own, killed at its write number k.  False: it came to its end. */
static bool recover_and_die(const char *path, unsigned k)
{
    struct posixtrace_recover_report report;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);

        calls = 0;
        kill_at = k;
        kill_half = k % 2;
        _exit(posixtrace_log_recover(fd, &report, sizeof report));
    }
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(WIFSIGNALED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == EILSEQ,
           "%s: recovery of %s fails: %d", what, path, WEXITSTATUS(status));
    return WIFSIGNALED(status);
}

/* In either order: the piece that has the tail may be recovered before the one before it. */
static void recover_all(const struct plan *plan, bool kills, bool backward)
{
    static struct piece list[PIECES_MAX];
    unsigned n = list_pieces(list);

    for (unsigned i = 0; i < n; i++) {
        const struct piece *p = &list[backward ? n - 1 - i : i];

        if (p->finished)
            continue;
        for (unsigned k = 1; kills && recover_and_die(p->path, k); k++)
            read_all(plan, "recovery killed");
        DEMAND(!recover_and_die(p->path, 0), "killed");
    }
}

static void hide_segments(bool hide)
{
    const char *dir = getenv("POSIXTRACE_DIR");
    const char *from = hide ? ".seg" : ".hidden", *to = hide ? ".hidden" : ".seg";
    char old[400], new[400];
    struct dirent *e;
    DIR *d = opendir(dir);

    DEMAND(d, "no folder %s", dir);
    while ((e = readdir(d))) {
        size_t len = strlen(e->d_name), tail = strlen(from);

        if (len <= tail || strcmp(e->d_name + len - tail, from) != 0)
            continue;
        snprintf(old, sizeof old, "%s/%s", dir, e->d_name);
        snprintf(new, sizeof new, "%s/%.*s%s", dir, (int)(len - tail), e->d_name, to);
        DEMAND(rename(old, new) == 0, "rename %s", old);
    }
    closedir(d);
}

struct job {
    const struct plan *plan;
    unsigned k;
};

static void verify(void *context)
{
    const struct job *job = context;
    const struct plan *plan = job->plan;
    struct books before, after;
    static struct piece list[PIECES_MAX];
    unsigned n;

    alarm(WATCHDOG_S);
    if (traced() == 0)
        return;
    before = read_all(plan, "as killed");
    compare_as_one(plan, &before, "as killed");
    recover_all(plan, job->k % 4 == 1, job->k % 2);
    hide_segments(true);
    after = read_all(plan, "recovered");
    compare_as_one(plan, &after, "recovered");
    hide_segments(false);
    DEMAND(plan->keep || before.read + before.lost == after.read + after.lost,
           "%s: %llu read, %llu lost; then %llu, %llu", what, (unsigned long long)before.read,
           (unsigned long long)before.lost, (unsigned long long)after.read,
           (unsigned long long)after.lost);
    n = list_pieces(list);
    for (unsigned i = 0; i + 1 < n; i++)
        check_whole(list[i].path);
    if (plan->keep) {
        DEMAND(n <= plan->keep + 2, "%s: %u files, of which %u were to stay", what, n, plan->keep);
        DEMAND(list[n - 1].number - list[0].number == n - 1, "%s: a hole", what);
    }
}

static void verify_whole_run(void *context)
{
    static struct piece list[PIECES_MAX];
    const struct plan *plan = context;
    struct books b = read_all(plan, "at its end");
    unsigned n = list_pieces(list);

    compare_as_one(plan, &b, "at its end");
    for (unsigned i = 0; i < n; i++)
        DEMAND(list[i].finished, "%s: %s is left", what, list[i].path);
    DEMAND(plan->keep ? n == plan->keep && list[n - 1].number > n : b.pieces > BURSTS / 2,
           "%s: %u pieces", what, n);
    DEMAND(plan->keep || plan->marks || b.read + b.lost == traced(),
           "%s: %llu read, %llu lost, %llu traced", what, (unsigned long long)b.read,
           (unsigned long long)b.lost, (unsigned long long)traced());
}

/* ---- the parent ---- */

static void empty_folder(void)
{
    static struct piece list[PIECES_MAX];
    unsigned n = list_pieces(list);

    most_pieces = n > most_pieces ? n : most_pieces;
    for (unsigned i = 0; i < n; i++)
        unlink(list[i].path);
}

static void remove_left(void *context)
{
    (void)context;
    DEMAND_OK(posixtrace_stream_reap(1, NULL, NULL));
}

/* False: the process was not killed. */
static bool run_killed_at(struct plan *plan, unsigned k)
{
    struct job job = { plan, k };
    int status;
    pid_t pid;

    snprintf(what, sizeof what, "%s%s%s%s, %u lanes, %u pieces stay, killed at call %u",
             plan->packed ? "packed" : "plain", plan->half ? ", half" : "",
             plan->flood ? ", flood" : "", plan->marks ? ", marks" : "", plan->lanes, plan->keep,
             k);
    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    pid = fork();
    DEMAND(pid >= 0, "fork");
    if (pid == 0)
        trace_and_die(plan, k);
    DEMAND(waitpid(pid, &status, 0) == pid, "waitpid");
    DEMAND(!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL, "%s: status %#x", what, status);
    DEMAND(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "%s: status %#x", what, status);
    failed += WIFSIGNALED(status) ? audit_in_child(verify, &job) != 0
                                  : audit_in_child(verify_whole_run, plan) != 0;
    empty_folder();
    audit_in_child(remove_left, NULL);
    return WIFSIGNALED(status);
}

static unsigned run_all(bool all)
{
    unsigned kills = 0;

    for (unsigned bits = 0; bits < 64; bits++) {
        struct plan plan = { .packed = bits & 1,
                             .half = bits & 2,
                             .flood = bits & 4,
                             .marks = (bits & 9) == 1,
                             .lanes = bits & 8 ? LANES_MAX : 1,
                             .keep = bits & 16 ? 2 : 0 };

        if (bits & 32 || (!all && bits % 7 != 2 && bits != 12 && bits != 1))
            continue;
        for (unsigned k = 1; run_killed_at(&plan, k); k += all ? 1 : 1 + k / 20)
            kills++;
    }
    return kills;
}

int main(int argc, char **argv)
{
    const char *dir = getenv("POSIXTRACE_DIR");
    unsigned kills;

    if (!dir) {
        puts("skipped: needs a folder of its own in POSIXTRACE_DIR");
        return SKIPPED;
    }
    snprintf(folder, sizeof folder, "%s.pieces.XXXXXX", dir);
    DEMAND(mkdtemp(folder), "%s", folder);
    shared = audit_shared(sizeof *shared);
    kills = run_all(argc > 1 && strcmp(argv[1], "all") == 0);
    rmdir(folder);
    printf("%u kills, at most %u pieces, %u failures\n", kills, most_pieces, failed);
    DEMAND(kills >= 100 && most_pieces > 3, "only %u kills", kills);
    return failed != 0;
}
