/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See mix_subject.h. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/emit.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "proof/mix_subject.h"
#include "proof/stepper.h"
#include "torture/demand.h"
#if !defined SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

#define STREAMS  3u
#define WORDS    31u  /* of the longest event */
#define CHUNKFUL 100u /* events of 8 bytes, more than a chunk of 1 or 2 KiB has room for */

enum type { A, B, C, D, TYPES };
enum source { MAIN, HANDLER, OTHER, CHILD, SOURCES };

struct shared *shared;

static trace_event_id_t ids[TYPES];
static trace_id_t trids[STREAMS];
static volatile uint64_t made[TYPES][SOURCES];
static uint64_t seen[STREAMS][TYPES][SOURCES];
static uint64_t made_once; /* FORK: number of the event of the window */
static bool may_miss;      /* one event of the window, one of the handler */
static volatile sig_atomic_t handled, jump_now, nest_now, fork_now;
static volatile pid_t child = -1;
static sigjmp_buf way_out, inner_way;

static void trace(enum type type, enum source source, unsigned words)
{
    uint64_t data[WORDS];

    made[type][source]++;
    for (unsigned i = 0; i < words; i++)
        data[i] = made[type][source] << 4 | (unsigned)source;
    posix_trace_event(ids[type], data, words * sizeof data[0]);
}

/* As POSIXTRACE_EVENT does for two words. */
static void trace_words(enum type type, enum source source)
{
    uint64_t word = ++made[type][source] << 4 | (unsigned)source;

    posixtrace_event_words(ids[type], 2 * sizeof word, word, word);
}

static void act(enum act what, enum source source)
{
    switch (what) {
    case A_SHORT: trace(A, source, 1); break;
    case A_SIZED: trace(A, source, 5); break;
    case A_WORDS: trace_words(A, source); break;
    case B_SHORT: trace(B, source, 1); break;
    case B_LONG: trace(B, source, WORDS); break;
    case C_ASKED: trace(C, source, 1); break;
    case B_B_A:
        trace(B, source, 1);
        trace(B, source, 1);
        trace(A, source, 1);
        break;
    case PREPARE: DEMAND_OK(posixtrace_prepare()); break;
    default: DEMAND_OK(posix_trace_eventid_open("A", &ids[A]));
    }
}

__attribute__((noinline, used)) static void window(enum act what, enum source source)
{
    __asm__ volatile(".globl step_begin\n.hidden step_begin\nstep_begin:" ::: "memory");
    act(what, source);
    __asm__ volatile(".globl step_end\n.hidden step_end\nstep_end:" ::: "memory");
}

/* Between an event and its handler's context, on the handler's stack: words that look like the
 * range of a disarmed alternate stack, and are not. */
static void act_above_decoys(enum act what)
{
    volatile stack_t decoys[4];

    for (unsigned i = 0; i < 4; i++) {
        decoys[i].ss_sp = i % 2 ? (void *)(uintptr_t)64 : NULL;
        decoys[i].ss_flags = (int)(SS_AUTODISARM | i / 2);
        decoys[i].ss_size = (uintptr_t)(decoys + 4) + 1024;
    }
    act(what, HANDLER);
    DEMAND(decoys[3].ss_size != 0, "no decoys");
}

static void on_outer(int sig)
{
    (void)sig;
    if (nest_now) {
        nest_now = 0;
        if (sigsetjmp(inner_way, 1) == 0) {
            stepper_stop();
            window((enum act)handled, HANDLER);
        }
        return;
    }
    if (fork_now) {
        fork_now = 0;
        child = fork();
        while (child == 0 && !shared->child_may)
            usleep(50);
        return;
    }
    act_above_decoys((enum act)handled);
    if (jump_now) {
        jump_now = 0;
        siglongjmp(way_out, 1);
    }
}

static void on_inner(int sig)
{
    (void)sig;
    siglongjmp(inner_way, 1);
}

static void check_one(unsigned stream, const struct posix_trace_event_info *info,
                      const uint64_t *data, size_t len)
{
    enum source source = (enum source)(data[0] & 15);
    enum type type = 0;
    uint64_t *next;

    while (type < TYPES && ids[type] != info->posix_event_id)
        type++;
    if (type == TYPES)
        return;
    DEMAND(source < SOURCES && len % 8 == 0, "a torn event");
    for (size_t i = 1; i < len / 8; i++)
        DEMAND(data[i] == data[0], "a torn event, word %zu", i);
    if (info->posix_pid != getpid() && source == MAIN) {
        DEMAND(made_once == 0 || data[0] >> 4 == made_once, "a child has traced %llu",
               (unsigned long long)data[0] >> 4);
        return;
    }
    next = &seen[stream][type][source];
    if (may_miss && data[0] >> 4 == *next + 2)
        ++*next;
    DEMAND(data[0] >> 4 == ++*next, "stream %u, type %c, source %u: %llu instead of %llu", stream,
           "ABCD"[type], (unsigned)source, (unsigned long long)data[0] >> 4,
           (unsigned long long)*next);
}

static bool is_for(unsigned stream, enum type type)
{
    static const bool wanted[STREAMS][TYPES] = { { true, true, true, false },
                                                 { false, true, false, false },
                                                 { false, false, true, true } };

    return wanted[stream][type];
}

static void read_all(unsigned stream)
{
    struct posix_trace_event_info info;
    struct posix_trace_status_info status;
    uint64_t data[WORDS];
    size_t len;
    int unavailable;

    for (;;) {
        DEMAND_OK(posix_trace_trygetnext_event(trids[stream], &info, data, sizeof data, &len,
                                               &unavailable));
        if (unavailable)
            break;
        check_one(stream, &info, data, len);
    }
    for (enum type type = 0; type < TYPES; type++)
        for (enum source s = 0; s < SOURCES; s++) {
            uint64_t wanted = is_for(stream, type) ? made[type][s] : 0;
            uint64_t *got = &seen[stream][type][s];

            if (may_miss && *got + 1 == wanted)
                ++*got;
            DEMAND(*got == wanted, "stream %u, type %c, source %u: %llu of %llu events", stream,
                   "ABCD"[type], (unsigned)s, (unsigned long long)*got, (unsigned long long)wanted);
        }
    DEMAND_OK(posix_trace_get_status(trids[stream], &status));
    DEMAND(status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN, "stream %u: overrun",
           stream);
}

static sem_t other_may, other_has;

/* Its chunks are beside the main thread's. */
static void *other(void *unused)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        trace(B, OTHER, 1);
        trace(A, OTHER, 1);
        sem_post(&other_has);
        while (sem_wait(&other_may) < 0)
            ;
    }
    return unused;
}

static void wait_for_other(void)
{
    while (sem_wait(&other_has) < 0)
        ;
}

static void be_child(void)
{
    alarm(WATCHDOG_S);
    made[B][CHILD] = shared->by_children;
    for (unsigned i = 0; i < 3; i++)
        trace(B, CHILD, i == 1 ? WORDS : 1);
    shared->by_children = made[B][CHILD];
    _exit(0);
}

static void wait_for_child(const struct plan *plan)
{
    int status;

    shared->child_may = 1;
    DEMAND(waitpid(child, &status, 0) == child, "no child");
    DEMAND(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's status is %#x",
           (unsigned)status);
    shared->child_may = 0;
    child = -1;
    made[B][CHILD] = plan->inherit ? shared->by_children : 0;
}

static enum type type_of(enum act what)
{
    return what <= A_WORDS ? A : what <= B_LONG || what == B_B_A ? B : C;
}

static void one_round(const struct plan *plan)
{
    may_miss = plan->blow == JUMP || plan->blow == NEST;
    handled = (int)plan->handled;
    for (unsigned i = 0; i < 3; i++)
        trace(B, MAIN, 1);
    stepper_stop();
    jump_now = plan->blow == JUMP;
    nest_now = plan->blow == NEST;
    fork_now = plan->blow == FORK && !shared->end;
    made_once = made[type_of(plan->window)][MAIN] + 1;
    if (sigsetjmp(way_out, 1) == 0)
        window(plan->window, MAIN);
    jump_now = nest_now = fork_now = 0;
    if (child == 0)
        be_child();
    for (unsigned i = 0; i < CHUNKFUL; i++)
        trace(B, MAIN, 1);
    raise(SIGUSR1);
    if (child > 0)
        wait_for_child(plan);
    sem_post(&other_may);
    wait_for_other();
    trace(D, MAIN, 1);
    for (unsigned i = 0; i < STREAMS; i++)
        read_all(i);
}

/* Events at the level of a handler that has interrupted an event: they clear what a
 * half-way event of that level has left, for which a reader would wait. */
static bool trace_inside(void *context, const struct posixtrace_event *event)
{
    (void)event;
    (void)context;
    trace(A, HANDLER, 1);
    trace(B, HANDLER, 1);
    trace(C, HANDLER, 1);
    return true;
}

static void open_streams(const struct plan *plan)
{
    static const char *const names[TYPES] = { "A", "B", "C", "D" };
    trace_event_set_t without_d, only_b, only_c;
    trace_attr_t attr;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 64 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, WORDS * 8));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_attr_setinherited(&attr, plan->inherit ? POSIX_TRACE_INHERITED
                                                                 : POSIX_TRACE_CLOSE_FOR_CHILD));
    for (enum type type = 0; type < TYPES; type++)
        DEMAND_OK(posix_trace_eventid_open(names[type], &ids[type]));
    for (unsigned i = 0; i < STREAMS; i++)
        DEMAND_OK(posix_trace_create(0, &attr, &trids[i]));
    DEMAND_OK(posix_trace_eventset_empty(&without_d));
    DEMAND_OK(posix_trace_eventset_add(ids[D], &without_d));
    DEMAND_OK(posix_trace_set_filter(trids[0], &without_d, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_eventset_fill(&only_b, POSIX_TRACE_ALL_EVENTS));
    DEMAND_OK(posix_trace_eventset_del(ids[B], &only_b));
    DEMAND_OK(posix_trace_set_filter(trids[1], &only_b, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posix_trace_eventset_fill(&only_c, POSIX_TRACE_ALL_EVENTS));
    DEMAND_OK(posix_trace_eventset_del(ids[C], &only_c));
    DEMAND_OK(posix_trace_eventset_del(ids[D], &only_c));
    DEMAND_OK(posix_trace_set_filter(trids[2], &only_c, POSIX_TRACE_SET_EVENTSET));
    DEMAND_OK(posixtrace_set_expression(trids[2], "length >= 8", NULL));
    DEMAND_OK(posixtrace_set_handler(trids[2], ids[D], trace_inside, NULL));
    for (unsigned i = 0; i < STREAMS; i++)
        DEMAND_OK(posix_trace_start(trids[i]));
}

char stacks[2][STACK_BYTES] __attribute__((aligned(64)));

/* alternate: where the handler's stack is, of STACK_BYTES / 2; NULL: it has none. */
static void handle(int sig, void (*handler)(int), void *alternate)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = alternate ? SA_ONSTACK : 0 };
    stack_t stack = { .ss_sp = alternate,
                      .ss_size = STACK_BYTES / 2,
                      .ss_flags = (int)SS_AUTODISARM };

    DEMAND(!alternate || sigaltstack(&stack, NULL) == 0, "no alternate stack");
    DEMAND(sigaction(sig, &action, NULL) == 0, "no handler");
}

void be_subject(const struct plan *plan)
{
    char inside[STACK_BYTES / 2]; /* in the stack of this thread */
    pthread_t thread;

    alarm(WATCHDOG_S);
    shared->by_children = 0;
    open_streams(plan);
    handle(SIGUSR1, on_outer, plan->blow == DISARM ? stacks[1] : plan->blow == OWN ? inside : NULL);
    handle(SIGUSR2, on_inner, NULL);
    sem_init(&other_may, 0, 0);
    sem_init(&other_has, 0, 0);
    DEMAND_OK(pthread_create(&thread, NULL, other, NULL));
    wait_for_other();
    stepper_attach();
    while (!shared->end)
        one_round(plan);
    _exit(0);
}
