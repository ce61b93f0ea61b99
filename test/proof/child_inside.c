/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Proves that a child which a handler makes inside an event does no harm, at each instruction.
 *
 *   child_inside [fork|_Fork|clone|vfork|shared|bare]    all ways, or the named one
 *
 * A process traces one event after the other; one of its calls of posix_trace_event() is the
 * window.  For each instruction k of the window a fresh process is stepped to k and then gets a
 * signal, whose handler makes a child:
 *
 *   fork, _Fork  the child returns from the handler into the event, as its parent does
 *   clone        clone(3) without CLONE_VM: its function traces and ends
 *   vfork        the child runs in its parent's memory, traces and ends
 *   shared       clone(3) with CLONE_VM and CLONE_VFORK, which is the same on another stack
 *   bare         the bare system call, for which no code of the library runs: as fork.  It does
 *                harm (process/fork.h), so it runs only if it is named, and shows
 *                where: in all scenes with POSIXTRACE_PROOF_FULL, which takes a quarter of an hour.
 *
 * The child stands still in the handler until its parent has ended the event and has traced more,
 * so that whatever it finishes is stale.  Then it finishes its half of the event, if its way has
 * one, traces, and ends by _exit() or exit().  At every other place it also traces in the handler.
 *
 * In the scene "as many" both streams are inherited, and the child has traced as many events as its
 * parent when it returns into its half: its next event has the number of that half.
 *
 * In the scene "dead record" the window is a first event that takes the record of a thread that has
 * ended unnoticed: the program has more keys than the library uses.
 *
 * In one more scene the window is a call that reads the last event of a chunk.  There every second
 * child ends before its parent continues.
 *
 * Afterwards the parent's events are in its streams, each once, whole and in order, none lost and
 * none late; those of the child are in the inherited stream under its number and not in the other
 * one; the child has ended well.
 *
 * A child made by the bare call inside the event may end by SIGSEGV, and at some instructions it
 * takes the parent's next events back, as posix_trace_event(3) says.  In the scene "8 bytes" these
 * instructions are in one piece, from the load of the chunk's address to the commit: that is
 * demanded, and that they are no more than BARE_MOST.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "proof/stepper.h"
#include "support/raw_clone.h"
#include "torture/demand.h"
#include "torture/payload.h"

#define STREAMS   2u
#define STEADY    40u /* the window of the steady scenes */
#define SURVEY    400u
#define FIRST     4u /* calls before it have more to do */
#define EARLY     5u
#define SAMPLES   60u
#define AFTER     6u /* events of the parent after the window, while the child stands still */
#define LATER     3u /* and after the child's end */
#define TO_READ   250u
#define OF_CHILD  4u
#define WATCH_S   380
#define BARE_MOST 26u
#define KEYS      40u

enum scene {
    ONE,
    LONG_DATA,
    TWO,
    AS_MANY,
    CHUNK_CHANGE,
    FIRST_EVENT,
    DEAD_RECORD,
    READING,
    SCENES
};
enum way { FORK, _FORK, CLONE, VFORK, SHARED, BARE, WAYS, NOTHING };
enum lane { PARENT, CHILD, LANES };

static const char *const scene_names[] = {
    "8 bytes",      "more bytes",  "two streams", "as many",
    "chunk change", "first event", "dead record", "reading"
};
static const char *const way_names[] = { "fork", "_Fork", "clone", "vfork", "shared", "bare" };

struct plan {
    enum scene scene;
    enum way way;
    unsigned window; /* number of the event that is the window */
    unsigned k;
    bool survey; /* all events are windows, and no child is made */
};

/* Memory that all processes share. */
static struct shared {
    volatile unsigned go;      /* the child may end the handler */
    volatile unsigned traced;  /* events of the child whose call has returned */
    volatile unsigned entered; /* events of the child that were begun */
    volatile bool segv;        /* the child ended by SIGSEGV */
    volatile bool reaped;
} * shared;

static const struct plan *plan;
static trace_event_id_t event_id;
static trace_id_t trids[STREAMS];
static volatile pid_t child = -1; /* 0: this is the child */
static pid_t child_number;

/* The event that was read last, and the numbers that are expected next. */
static struct reading {
    struct posix_trace_event_info info;
    uint8_t data[PAYLOAD_MAX];
    size_t len;
    int none;
    uint64_t next[LANES];
    unsigned repeated;
} readings[STREAMS];

/* ---- tracing ---- */

static int read_one(unsigned stream)
{
    struct reading *r = &readings[stream];

    return posix_trace_trygetnext_event(trids[stream], &r->info, r->data, sizeof r->data, &r->len,
                                        &r->none);
}

__attribute__((noinline)) static void read_or_trace(const struct payload *p, size_t len)
{
    if (!p)
        read_one(0);
    else
        posix_trace_event(event_id, p, len);
}

/* The symbols must exist once: neither inlined nor copied, also not with one branch each. */
__attribute__((noinline, noclone, used)) static void window(const struct payload *p, size_t len)
{
    __asm__ volatile(".globl step_begin\n.hidden step_begin\nstep_begin:" ::: "memory");
    read_or_trace(p, len);
    __asm__ volatile(".globl step_end\n.hidden step_end\nstep_end:" ::: "memory");
}

static size_t make(struct payload *p, enum lane lane, uint64_t seq)
{
    return plan->scene <= AS_MANY && plan->scene != LONG_DATA ? payload_make_short(p, lane, seq)
                                                              : payload_make(p, lane, seq);
}

static void trace(enum lane lane, uint64_t seq)
{
    struct payload p;
    size_t len = make(&p, lane, seq);

    posix_trace_event(event_id, &p, len);
}

static void trace_window(uint64_t seq)
{
    struct payload p;
    size_t len = make(&p, PARENT, seq);

    stepper_stop();
    window(&p, len);
}

static void read_in_window(void)
{
    stepper_stop();
    window(NULL, 0);
}

static void trace_as_child(unsigned events)
{
    while (events-- > 0) {
        shared->entered = shared->traced + 1;
        trace(CHILD, shared->traced);
        shared->traced++;
    }
}

/* ---- the child ---- */

static void wait_for_parent(void)
{
    alarm(WATCH_S);
    while (!shared->go)
        usleep(50);
}

static bool has_own_memory(void)
{
    return plan->way != VFORK && plan->way != SHARED;
}

static bool is_early(void)
{
    return plan->k % 2 != 0;
}

/* Events of the child before it returns into its half of the event. */
static unsigned early_events(void)
{
    return !is_early() ? 0 : plan->scene == AS_MANY ? plan->window : OF_CHILD;
}

/* Does the child end before its parent continues?  If it gave memory back that the parent is about
 * to read, this would be the order. */
static bool is_first(void)
{
    return plan->scene == READING && plan->k % 2 == 0;
}

static int run_apart(void *waits)
{
    trace_as_child(early_events());
    if (waits)
        wait_for_parent();
    trace_as_child(OF_CHILD);
    if (waits && plan->k % 3 == 1)
        exit(0);
    if (plan->k % 3 == 2)
        _exit(0);
    return 0;
}

static pid_t make_by_clone(int flags)
{
    static char stack[256 << 10] __attribute__((aligned(16)));
    bool waits = !(flags & CLONE_VM);

    return clone(run_apart, stack + sizeof stack, flags | SIGCHLD, waits ? stack : NULL);
}

static pid_t make_by_vfork(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        run_apart(NULL);
        _exit(0);
    }
    return pid;
}

static pid_t make_child(void)
{
    switch (plan->way) {
    case FORK: return fork();
    case _FORK: return _Fork();
    case CLONE: return make_by_clone(0);
    case VFORK: return make_by_vfork();
    case SHARED: return make_by_clone(CLONE_VM | CLONE_VFORK);
    default: return raw_clone(SIGCHLD);
    }
}

static void end_as_child(void)
{
    trace_as_child(OF_CHILD);
    if (plan->k % 3 == 1)
        exit(0);
    _exit(0);
}

/* ---- the parent ---- */

static unsigned stream_count(void)
{
    return plan->scene >= TWO && plan->scene <= CHUNK_CHANGE ? 2 : 1;
}

static bool is_to_inherit(unsigned stream)
{
    return stream == 0 || plan->scene == AS_MANY;
}

static trace_id_t open_stream(unsigned i)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 256 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, is_to_inherit(i) ? POSIX_TRACE_INHERITED
                                                                    : POSIX_TRACE_CLOSE_FOR_CHILD));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void check_losses(unsigned stream)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    DEMAND_OK(posixtrace_get_info(trids[stream], &info, sizeof info));
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += info.lost[i];
    DEMAND(lost == 0, "%llu events lost in stream %u", (unsigned long long)lost, stream);
    DEMAND(info.late == 0, "%llu events late in stream %u", (unsigned long long)info.late, stream);
}

static bool is_inherited(unsigned stream)
{
    return is_to_inherit(stream) || !has_own_memory();
}

/* A child that is made before the event has begun makes the same call for itself. */
static bool is_repeated(const struct posix_trace_event_info *info, const struct payload *p)
{
    return info->posix_pid == child_number && info->posix_pid != getpid() && p->lane == PARENT &&
           p->seq == plan->window;
}

/* The event that was read; false: it is no one of ours. */
static bool check_event(unsigned stream)
{
    struct reading *r = &readings[stream];
    struct payload p;

    if (r->info.posix_event_id != event_id)
        return false;
    DEMAND(payload_is_whole(&p, r->data, r->len) && p.lane < LANES, "torn event of %zu bytes",
           r->len);
    if (is_repeated(&r->info, &p) && is_inherited(stream)) {
        DEMAND(!r->repeated++, "the child has recorded the parent's event twice");
        return true;
    }
    DEMAND(p.seq == r->next[p.lane], "stream %u, lane %u: %llu instead of %llu", stream, p.lane,
           (unsigned long long)p.seq, (unsigned long long)r->next[p.lane]);
    DEMAND(r->info.posix_pid == (p.lane == CHILD && has_own_memory() ? child_number : getpid()),
           "lane %u has the process %d", p.lane, (int)r->info.posix_pid);
    r->next[p.lane]++;
    return true;
}

static void check_stream(unsigned stream, uint64_t events)
{
    struct reading *r = &readings[stream];

    for (;;) {
        DEMAND_OK(read_one(stream));
        if (r->none)
            break;
        check_event(stream);
    }
    DEMAND(r->next[PARENT] == events, "stream %u: %llu events of %llu", stream,
           (unsigned long long)r->next[PARENT], (unsigned long long)events);
    DEMAND(r->next[CHILD] == (is_inherited(stream) ? shared->traced : 0),
           "stream %u: %llu events of the child", stream, (unsigned long long)r->next[CHILD]);
    check_losses(stream);
}

static void reap(void)
{
    int status = 0;

    DEMAND(child > 0 && waitpid(child, &status, 0) == child, "no child: %d", (int)child);
    shared->reaped = true;
    child_number = child;
    shared->segv = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
    DEMAND(status == 0 || (shared->segv && plan->way == BARE), "the child: status %#x",
           (unsigned)status);
    DEMAND(shared->segv || shared->traced == early_events() + OF_CHILD, "%u events of it",
           shared->traced);
}

static void on_signal(int sig)
{
    pid_t pid = make_child();

    (void)sig;
    child = pid;
    if (pid != 0 && is_first()) {
        shared->go = 1;
        reap();
    }
    if (pid != 0)
        return;
    trace_as_child(early_events());
    wait_for_parent();
}

static void *trace_first(void *tid)
{
    trace(PARENT, 0);
    *(pid_t *)tid = gettid();
    return NULL;
}

/* By a thread that the kernel does not know any more then. */
static void trace_by_a_thread(void)
{
    pthread_t thread;
    pid_t tid;

    DEMAND(pthread_create(&thread, NULL, trace_first, &tid) == 0, "no thread");
    DEMAND(pthread_join(thread, NULL) == 0, "join");
    while (tgkill(getpid(), tid, 0) == 0)
        sched_yield();
}

/* Events, or calls that read one, up to the window and the window. */
static uint64_t come_to_window(void)
{
    bool reads = plan->scene == READING;
    uint64_t end = reads ? TO_READ : plan->window + 1;

    for (uint64_t seq = 0; seq < end - !reads; seq++) {
        if (plan->scene == DEAD_RECORD)
            trace_by_a_thread();
        else if (plan->survey && !reads)
            trace_window(seq);
        else
            trace(PARENT, seq);
    }
    for (unsigned i = 0; reads && i < plan->window; i++) {
        if (plan->survey)
            read_in_window();
        else
            DEMAND_OK(read_one(0));
        check_event(0);
    }
    if (reads)
        read_in_window();
    else
        trace_window(plan->window);
    return end;
}

/* While the child stands still, or after its end where it is the first. */
static void trace_after(uint64_t *seq)
{
    for (unsigned i = 0; i < AFTER; i++)
        trace(PARENT, (*seq)++);
    for (unsigned i = 0; i < AFTER && plan->scene == READING; i++) {
        DEMAND_OK(read_one(0));
        check_event(0);
    }
}

static void trace_all(void)
{
    uint64_t seq = come_to_window();

    if (child == 0)
        end_as_child();
    if (plan->scene == READING)
        check_event(0);
    trace_after(&seq);
    shared->go = 1;
    if (child != -1 && !shared->reaped)
        reap();
    for (unsigned i = 0; i < LATER; i++)
        trace(PARENT, seq++);
    for (unsigned i = 0; i < stream_count(); i++) {
        DEMAND_OK(posix_trace_stop(trids[i]));
        check_stream(i, seq);
    }
}

static void be_subject(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    pthread_key_t key;

    alarm(WATCH_S);
    for (unsigned i = 0; plan->scene == DEAD_RECORD && i < KEYS; i++)
        DEMAND(pthread_key_create(&key, NULL) == 0, "no key");
    sigemptyset(&action.sa_mask);
    DEMAND(sigaction(SIGUSR1, &action, NULL) == 0, "no handler");
    DEMAND_OK(posix_trace_eventid_open("proof", &event_id));
    for (unsigned i = 0; i < stream_count(); i++)
        trids[i] = open_stream(i);
    stepper_attach();
    trace_all();
    for (unsigned i = 0; i < stream_count(); i++)
        DEMAND_OK(posix_trace_shutdown(trids[i]));
    _exit(0);
}

/* ---- the driver ---- */

static struct stepper begin(const struct plan *p)
{
    struct stepper s = { .pid = 0 };

    *shared = (struct shared){ .go = 0 };
    plan = p;
    fflush(NULL);
    s.pid = fork();
    if (s.pid == 0)
        be_subject();
    DEMAND(s.pid > 0, "fork");
    return s;
}

static bool ended_well(const struct stepper *s)
{
    if (WIFEXITED(s->status) && WEXITSTATUS(s->status) == 0)
        return true;
    fprintf(stderr, "FAIL: %s, %s at instruction %u (event %u): status %#x\n",
            scene_names[plan->scene], way_names[plan->way], plan->k, plan->window,
            (unsigned)s->status);
    return false;
}

/* Instructions of each of the first count calls; false: it failed. */
static bool survey(enum scene scene, unsigned count, unsigned *instructions)
{
    struct plan p = { .scene = scene, .survey = true, .window = count - 1 };
    struct stepper s = begin(&p);

    for (unsigned i = 0; i < count; i++) {
        if (stepper_wait(&s) != STEPPER_INSIDE || stepper_run(&s, UINT32_MAX) != STEPPER_LEFT)
            return ended_well(&s);
        instructions[i] = s.steps;
        stepper_continue(&s, 0);
    }
    stepper_finish(&s);
    return ended_well(&s);
}

/* Makes a child at instruction k; *left: the window is not that long. */
static bool strike(const struct plan *p, bool *left, int *status)
{
    struct stepper s = begin(p);
    enum stepper_end end = stepper_wait(&s);

    if (end == STEPPER_INSIDE)
        end = stepper_run(&s, p->k);
    *left = end == STEPPER_LEFT;
    if (end == STEPPER_INSIDE || end == STEPPER_LEFT)
        stepper_continue(&s, end == STEPPER_INSIDE ? SIGUSR1 : 0);
    stepper_finish(&s);
    *status = s.status;
    return p->way == BARE || ended_well(&s);
}

/* Where children of the bare call did harm to their parent. */
struct harm {
    unsigned count, first, last;
};

static void note_harm(struct harm *h, unsigned k)
{
    if (h->count++ == 0)
        h->first = k;
    h->last = k;
}

static void check_harm(enum scene scene, const struct harm *h, unsigned struck)
{
    if (h->count)
        printf("             harm to the parent at %u of these %u, from %u to %u\n", h->count,
               struck, h->first, h->last);
    DEMAND(scene != ONE || (h->count <= BARE_MOST && (!h->count || h->last - h->first < BARE_MOST)),
           "harm at %u instructions", h->count);
}

static bool prove(enum scene scene, enum way way, unsigned window, unsigned length, bool every)
{
    unsigned stride = every || length < 3 * SAMPLES ? 1 : length / SAMPLES, struck = 0, crashed = 0;
    struct harm harm = { 0, 0, 0 };
    bool left = false;
    int status;

    while (stride % 2 == 0 || stride % 3 == 0) /* is_early() and the ways to end shall vary */
        stride++;
    for (unsigned k = 0; k <= length && !left; k += stride) {
        struct plan p = { .scene = scene, .way = way, .window = window, .k = k };

        if (!strike(&p, &left, &status))
            return false;
        if (status != 0)
            note_harm(&harm, k);
        struck += !left;
        crashed += shared->segv;
    }
    printf("%-12s %-6s %6u instructions, a child before %u of them", scene_names[scene],
           way_names[way], length, struck);
    printf(crashed ? ", of which SIGSEGV ended %u\n" : "\n", crashed);
    check_harm(scene, &harm, struck);
    DEMAND(struck > 20, "only %u instructions", struck);
    return true;
}

/* Instructions of one call; 0: it failed. */
static unsigned length_of(enum scene scene, unsigned number)
{
    struct plan p = { .scene = scene, .way = NOTHING, .window = number };
    struct stepper s = begin(&p);

    if (stepper_wait(&s) != STEPPER_INSIDE || stepper_run(&s, UINT32_MAX) != STEPPER_LEFT)
        return 0;
    stepper_continue(&s, 0);
    stepper_finish(&s);
    return ended_well(&s) ? s.steps : 0;
}

static bool is_long(unsigned number, unsigned much)
{
    return length_of(CHUNK_CHANGE, number) > much && length_of(CHUNK_CHANGE, number) > much;
}

/* The call that changes chunks takes long each time.  In a survey, which takes longer, other calls
 * record how much time has passed, and the change may come some events earlier: on a loaded machine
 * so many that only a look at each call finds it.  0: none found. */
static unsigned find_chunk_change(const unsigned *counts)
{
    unsigned much = 3 * counts[STEADY];

    for (unsigned i = FIRST; i < SURVEY; i++)
        for (unsigned j = i; counts[i] > much && j < i + EARLY; j++)
            if (is_long(j, much))
                return j;
    much = 3 * length_of(CHUNK_CHANGE, STEADY);
    for (unsigned i = FIRST; i < SURVEY; i++)
        if (is_long(i, much))
            return i;
    return 0;
}

/* A call that reads the last event of a chunk gives it back, which takes longest. */
static unsigned longest_of(const unsigned *counts, unsigned n)
{
    unsigned found = FIRST;

    for (unsigned i = FIRST; i < n; i++)
        if (counts[i] > counts[found])
            found = i;
    return found;
}

static unsigned surveyed(enum scene scene)
{
    return scene == CHUNK_CHANGE ? SURVEY : scene == READING ? TO_READ - AFTER : STEADY + 1;
}

int main(int argc, char **argv)
{
    bool full = getenv("POSIXTRACE_PROOF_FULL") != NULL;
    const char *refused = stepper_refused(), *only = argc > 1 ? argv[1] : NULL;
    static unsigned counts[SCENES][SURVEY];
    bool bare = only && strcmp(only, way_names[BARE]) == 0;
    enum scene scenes = bare && !full ? TWO : SCENES;
    unsigned at[SCENES] = { STEADY, STEADY, STEADY, STEADY, 0, 0, 1, 0 };

    if (refused) {
        printf("skipped: %s\n", refused);
        return SKIPPED;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    DEMAND(shared != MAP_FAILED, "mmap");
    for (enum scene scene = 0; scene < scenes; scene++)
        if (scene != DEAD_RECORD && !survey(scene, surveyed(scene), counts[scene]))
            return 1;
    if (scenes < SCENES)
        return !prove(ONE, BARE, at[ONE], counts[ONE][at[ONE]], true) ||
               !prove(LONG_DATA, BARE, at[LONG_DATA], counts[LONG_DATA][at[LONG_DATA]], true);
    at[READING] = longest_of(counts[READING], TO_READ - AFTER);
    at[CHUNK_CHANGE] = find_chunk_change(counts[CHUNK_CHANGE]);
    DEMAND(at[CHUNK_CHANGE] != 0, "no event changes chunks");
    counts[CHUNK_CHANGE][at[CHUNK_CHANGE]] = length_of(CHUNK_CHANGE, at[CHUNK_CHANGE]);
    counts[DEAD_RECORD][at[DEAD_RECORD]] = length_of(DEAD_RECORD, at[DEAD_RECORD]);
    for (enum scene scene = 0; scene < SCENES; scene++)
        for (enum way way = 0; way < (scene == READING ? CLONE : only ? WAYS : BARE); way++)
            if ((!only || strcmp(only, way_names[way]) == 0) &&
                !prove(scene, way, at[scene], counts[scene][at[scene]], full))
                return 1;
    return 0;
}
