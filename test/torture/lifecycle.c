/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams come and go, threads come and go, processes fork, while others
 * record.
 *
 *   lifecycle [MULTIPLIER [SEED]]
 *
 *   recorders    each keeps one lane of events going, in threads that follow
 *                one another
 *   controllers  make streams of all kinds, do to them at random what can be
 *                done to a stream, read them, shut them down
 *   a vandal     calls everything on the controllers' handles, whatever state
 *                they are in, and on handles that never were
 *   the main thread forks children into a stream that they inherit and one
 *                that they do not
 *
 * Nothing crashes or hangs, no event is torn or out of its lane's order, and
 * the streams of the forks hold exactly what they must.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include "torture/audit.h"

#define RECORDERS   4u
#define CONTROLLERS 3u
#define ROUNDS      120u /* streams of one controller */
#define ACTS        25u  /* of one stream */
#define LIFE        400u /* events of a recorder's thread */
#define FORKS       40u
#define FORK_EVENTS 50u
#define WATCHDOG_S  380

enum { LANE_PARENT = RECORDERS, LANE_CHILD, LANES = LANE_CHILD + 2 * FORKS };

/* LeakSanitizer asks this at exit.  In a child of fork() it would not find the
 * stacks of the parent's other threads, and call leaked what they hold. */
int __lsan_is_turned_off(void);

static int is_child;

int __lsan_is_turned_off(void)
{
    return is_child;
}

static trace_event_id_t record_id, fork_id;
static trace_id_t shown[CONTROLLERS]; /* to the vandal */
static unsigned rounds;
static int finished;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static bool all_done(void)
{
    return __atomic_load_n(&finished, __ATOMIC_ACQUIRE) != 0;
}

static void trace_one(trace_event_id_t id, uint32_t lane, uint64_t seq)
{
    struct payload p;
    size_t len = payload_make(&p, lane, seq);

    posix_trace_event(id, &p, len);
}

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    DEMAND_OK(pthread_create(&thread, NULL, function, argument));
    return thread;
}

/* ---- recorders ---- */

struct lane {
    uint32_t no;
    uint64_t seq;
};

static void *record_for_a_while(void *argument)
{
    struct lane *lane = argument;

    for (unsigned i = 0; i < LIFE; i++)
        trace_one(record_id, lane->no, lane->seq++);
    return NULL;
}

static void *keep_recording(void *argument)
{
    struct lane lane = { (uint32_t)(uintptr_t)argument, 0 };

    while (!all_done())
        DEMAND_OK(pthread_join(start(record_for_a_while, &lane), NULL));
    return NULL;
}

/* ---- controllers ---- */

struct controlled {
    trace_id_t trid;
    int log_fd; /* -1: no log */
    struct audit audit;
    uint64_t *random;
};

static trace_event_set_t random_set(uint64_t *random)
{
    trace_event_set_t set;

    DEMAND_OK(posix_trace_eventset_empty(&set));
    if (next_random(random) % 2)
        DEMAND_OK(posix_trace_eventset_add(record_id, &set));
    if (next_random(random) % 4 == 0)
        DEMAND_OK(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
    return set;
}

static void create(struct controlled *c)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
    static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
                                        POSIX_TRACE_APPEND };
    unsigned policy = next_random(c->random) % 3;
    trace_attr_t attr;

    c->log_fd = policy == 2 ? audit_temporary_file() : -1;
    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 4096u << next_random(c->random) % 7));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, policies[policy]));
    DEMAND_OK(posix_trace_attr_setlogsize(&attr, 256 << 10));
    DEMAND_OK(posix_trace_attr_setlogfullpolicy(&attr, log_policies[next_random(c->random) % 3]));
    if (c->log_fd >= 0)
        DEMAND_OK(posix_trace_create_withlog(0, &attr, c->log_fd, &c->trid));
    else
        DEMAND_OK(posix_trace_create(0, &attr, &c->trid));
    DEMAND_OK(posix_trace_attr_destroy(&attr));
    audit_init(&c->audit, record_id, LANES);
}

static void change_filter(struct controlled *c)
{
    static const int ways[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
                                POSIX_TRACE_SUB_EVENTSET };
    trace_event_set_t set = random_set(c->random);

    DEMAND_OK(posix_trace_set_filter(c->trid, &set, ways[next_random(c->random) % 3]));
}

static void look_around(trace_id_t trid)
{
    struct posix_trace_status_info status;
    struct posixtrace_info info;
    trace_event_set_t set;
    trace_attr_t attr;

    DEMAND_OK(posix_trace_get_status(trid, &status));
    DEMAND_OK(posix_trace_get_attr(trid, &attr));
    DEMAND_OK(posix_trace_get_filter(trid, &set));
    DEMAND_OK(posixtrace_get_info(trid, &info, sizeof info));
    DEMAND(audit_type(trid, "lifecycle") == record_id, "another id");
}

static void act(struct controlled *c)
{
    switch (next_random(c->random) % 8) {
    case 0: DEMAND_OK(posix_trace_stop(c->trid)); break;
    case 1:
    case 2: DEMAND_OK(posix_trace_start(c->trid)); break;
    case 3: change_filter(c); break;
    case 4: look_around(c->trid); break;
    case 5: DEMAND_OK(posix_trace_clear(c->trid)); break;
    default:
        if (c->log_fd >= 0)
            DEMAND_OK(posix_trace_flush(c->trid));
        else
            audit_drain(&c->audit, c->trid);
    }
}

static void read_the_log(struct controlled *c)
{
    struct audit audit;
    trace_id_t trid;

    DEMAND_OK(posix_trace_open(c->log_fd, &trid));
    audit_init(&audit, audit_type(trid, "lifecycle"), LANES);
    audit_read_log(&audit, trid);
    audit_check_time(&audit, trid);
    audit_deinit(&audit);
    DEMAND_OK(posix_trace_close(trid));
    close(c->log_fd);
}

static void control_one_stream(unsigned who, uint64_t *random)
{
    struct controlled c = { .random = random };
    struct posix_trace_status_info status;

    create(&c);
    __atomic_store_n(&shown[who], c.trid, __ATOMIC_RELEASE);
    DEMAND_OK(posix_trace_start(c.trid));
    for (unsigned i = 0; i < ACTS; i++)
        act(&c);
    DEMAND_OK(posix_trace_shutdown(c.trid));
    DEMAND(posix_trace_get_status(c.trid, &status) == EINVAL, "a stream after its shutdown");
    DEMAND(posix_trace_shutdown(c.trid) == EINVAL, "shut down twice");
    if (c.log_fd >= 0)
        read_the_log(&c);
    audit_deinit(&c.audit);
}

struct actor {
    unsigned no;
    uint64_t random;
};

static void *control(void *argument)
{
    struct actor *actor = argument;

    for (unsigned i = 0; i < rounds; i++)
        control_one_stream(actor->no, &actor->random);
    return NULL;
}

/* ---- the vandal ---- */

static void read_what_comes(trace_id_t trid, bool sleeping)
{
    struct posix_trace_event_info info;
    struct timespec until;
    uint8_t data[PAYLOAD_MAX];
    struct payload p;
    size_t len;
    int unavailable, error;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec = until.tv_nsec > 990000000 ? 999999999 : until.tv_nsec + 10000000;
    error = sleeping
                ? posix_trace_timedgetnext_event(trid, &info, data, sizeof data, &len, &unavailable,
                                                 &until)
                : posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &unavailable);
    DEMAND(error == 0 || error == EINVAL || error == ETIMEDOUT, "error %d", error);
    if (error == 0 && !unavailable && info.posix_event_id == record_id)
        DEMAND(payload_is_whole(&p, data, len), "torn event of %zu bytes", len);
}

static void vandalise(trace_id_t trid, uint64_t *random)
{
    struct posix_trace_status_info status;
    trace_event_set_t set = random_set(random);
    char name[TRACE_EVENT_NAME_MAX + 1];
    int error = 0;

    switch (next_random(random) % 9) {
    case 0: error = posix_trace_start(trid); break;
    case 1: error = posix_trace_stop(trid); break;
    case 2: error = posix_trace_clear(trid); break;
    case 3: error = posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET); break;
    case 4: error = posix_trace_get_status(trid, &status); break;
    case 5: error = posix_trace_flush(trid); break;
    case 6: error = posix_trace_eventid_get_name(trid, record_id, name); break;
    case 7: read_what_comes(trid, true); break;
    case 8: read_what_comes(trid, false); break;
    }
    DEMAND(error == 0 || error == EINVAL, "error %d", error);
}

static void *be_a_vandal(void *argument)
{
    struct actor *actor = argument;

    while (!all_done()) {
        unsigned victim = next_random(&actor->random) % (CONTROLLERS + 1);
        trace_id_t trid = victim < CONTROLLERS ? __atomic_load_n(&shown[victim], __ATOMIC_ACQUIRE)
                                               : 0x7f000000u + next_random(&actor->random) % 4096;

        vandalise(trid, &actor->random);
    }
    return NULL;
}

/* ---- forks ---- */

/* A stream that takes nothing but fork_id, and is big enough for all of it. */
static trace_id_t fork_stream(int inheritance)
{
    trace_event_set_t set;
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, inheritance));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
    DEMAND_OK(posix_trace_eventset_del(fork_id, &set));
    DEMAND_OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

/* In the child, the parent's handles are not its own. */
static void trace_as_child(uint32_t lane, trace_id_t parents)
{
    struct posix_trace_status_info status;

    is_child = 1;
    alarm(WATCHDOG_S);
    for (uint64_t seq = 0; seq < FORK_EVENTS; seq++)
        trace_one(fork_id, lane, seq);
    DEMAND(posix_trace_get_status(parents, &status) == EINVAL, "the parent's handle works");
    DEMAND(posix_trace_stop(parents) == EINVAL, "the parent's handle works");
}

/* Traces in its lane, and its own child, if it is to have one, in the next. */
static void be_a_child(unsigned no, uint32_t lane, trace_id_t parents, bool with_child)
{
    int status;

    trace_as_child(lane, parents);
    if (with_child) {
        pid_t pid = fork();

        if (pid == 0) {
            trace_as_child(lane + 1, parents);
            _exit(0);
        }
        DEMAND(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
               "grandchild of child %u: status %#x", no, status);
    }
    if (no % 2)
        exit(0);
    _exit(0);
}

static void expect(trace_id_t trid, uint32_t first_child_lane, unsigned child_lanes,
                   uint64_t *parent_seq)
{
    struct audit audit;

    audit_init(&audit, fork_id, LANES);
    audit.next[LANE_PARENT] = *parent_seq - 1;
    audit_drain(&audit, trid);
    DEMAND(audit.gaps == 0, "%llu gaps", (unsigned long long)audit.gaps);
    DEMAND(audit.read[LANE_PARENT] == 1, "%llu events of the parent",
           (unsigned long long)audit.read[LANE_PARENT]);
    for (unsigned i = 0; i < child_lanes; i++)
        DEMAND(audit.read[first_child_lane + i] == FORK_EVENTS, "child: %llu of %u events",
               (unsigned long long)audit.read[first_child_lane + i], FORK_EVENTS);
    DEMAND(audit.events == 1 + child_lanes * FORK_EVENTS, "%llu events",
           (unsigned long long)audit.events);
    audit_deinit(&audit);
}

static void fork_under_load(void)
{
    trace_id_t inherited = fork_stream(POSIX_TRACE_INHERITED);
    trace_id_t closed = fork_stream(POSIX_TRACE_CLOSE_FOR_CHILD);
    uint64_t parent_seq = 0;
    int status;

    for (unsigned no = 0; no < FORKS; no++) {
        bool with_child = no % 3 == 0;
        uint32_t lane = LANE_CHILD + 2 * no;
        pid_t pid;

        fflush(NULL);
        pid = fork();
        if (pid == 0)
            be_a_child(no, lane, no % 4 ? inherited : closed, with_child);
        trace_one(fork_id, LANE_PARENT, parent_seq++);
        DEMAND(pid > 0 && waitpid(pid, &status, 0) == pid, "fork %u", no);
        DEMAND(status == 0, "child %u: status %#x", no, status);
        expect(inherited, lane, with_child ? 2 : 1, &parent_seq);
        expect(closed, lane, 0, &parent_seq);
    }
    DEMAND_OK(posix_trace_shutdown(inherited));
    DEMAND_OK(posix_trace_shutdown(closed));
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : (unsigned)time(NULL);
    double multiplier = audit_multiplier(argc > 1 ? argv[1] : NULL);
    pthread_t recorders[RECORDERS], controllers[CONTROLLERS], vandal;
    struct actor actors[CONTROLLERS + 1];

    printf("seed %u\n", seed);
    alarm((unsigned)(WATCHDOG_S * (multiplier > 1 ? multiplier : 1)));
    rounds = (unsigned)(ROUNDS * multiplier) + 1;
    DEMAND_OK(posix_trace_eventid_open("lifecycle", &record_id));
    DEMAND_OK(posix_trace_eventid_open("lifecycle fork", &fork_id));
    for (unsigned i = 0; i < CONTROLLERS + 1; i++)
        actors[i] = (struct actor){ i, seed + i };
    for (uintptr_t i = 0; i < RECORDERS; i++)
        recorders[i] = start(keep_recording, (void *)i);
    for (unsigned i = 0; i < CONTROLLERS; i++)
        controllers[i] = start(control, &actors[i]);
    vandal = start(be_a_vandal, &actors[CONTROLLERS]);
    /* ThreadSanitizer does not support children of a process with threads: they
     * hang in it now and then. */
    if (!SIGNALS_ARE_DELAYED)
        fork_under_load();
    for (unsigned i = 0; i < CONTROLLERS; i++)
        DEMAND_OK(pthread_join(controllers[i], NULL));
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    DEMAND_OK(pthread_join(vandal, NULL));
    for (unsigned i = 0; i < RECORDERS; i++)
        DEMAND_OK(pthread_join(recorders[i], NULL));
    printf("%u streams, %u forks\n", CONTROLLERS * rounds, FORKS);
    return 0;
}
