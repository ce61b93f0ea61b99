/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * All pairs of ways through an event, at each instruction.
 *
 *   mix [signal|disarm|own|jump|nest|fork]     all of them, or the one that is named
 *
 * The subject traces four event types: A is for one stream, B for two, C for
 * one stream and for another with a filter expression; D for that other one, whose filter
 * function traces the three from inside the event.  One of its calls, the window, is
 * single-stepped to instruction k; then
 *
 *   signal  a handler traces an event of any way, the call continues
 *   disarm  the same, on an alternate stack with SS_AUTODISARM, above the thread's own
 *   own     the same, on such a stack inside the thread's own
 *   jump    the handler traces and leaves by siglongjmp
 *   nest    the handler traces a long event, which is stepped, too; a second handler leaves
 *           that by siglongjmp into the first, which returns
 *   fork    the handler forks; parent and child return into the event, the child when the
 *           parent has traced beyond the end of its chunks; then the child traces
 *
 * After each strike the subject traces B to the end of its chunks and beyond, a second
 * thread that has the neighbouring chunks traces as well, and everything is read:
 * each event is there, once, whole and in order; after jump and nest one may be missing.
 * After fork the parent misses none, and the child ends well; its own events are in streams
 * that are INHERITED, and nowhere else.  The event of the window is also the child's where
 * the fork comes before it.
 * One process is struck many times: what a strike leaves meets the next one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proof/mix_subject.h"
#include "proof/stepper.h"
#include "torture/demand.h"

#define INSIDE  300u /* instructions, in every event that takes so many */
#define SAMPLES 24u  /* strikes in the ways of hundreds of instructions */

static const char *const act_names[] = { "one stream",
                                         "one stream, 40 bytes",
                                         "one stream, in words",
                                         "two streams",
                                         "two streams, 248 bytes",
                                         "filter expression",
                                         "two, two, one",
                                         "prepare",
                                         "a name" };
static const char *const blow_names[] = { "signal", "disarm", "own", "jump", "nest", "fork" };

static const char *deed(const struct plan *plan)
{
    return plan->blow != FORK ? act_names[plan->handled] : plan->inherit ? "inherited" : "closed";
}

/* Where the struck one stands next: after its round, or at its end. */
static bool is_well(const struct plan *plan, struct stepper *s, unsigned k, enum stepper_end end)
{
    if (end == STEPPER_INSIDE || end == STEPPER_LEFT)
        return true;
    fprintf(stderr, "FAIL: %s of '%s' in '%s' at instruction %u: status %#x\n",
            blow_names[plan->blow], deed(plan), act_names[plan->window], k, (unsigned)s->status);
    kill(s->pid, SIGKILL);
    return false;
}

/* The next stepper_stop(); the subject's own signals are passed on. */
static enum stepper_end wait_for_stop(struct stepper *s)
{
    enum stepper_end end;

    while ((end = stepper_wait(s)) == STEPPER_STRANGE &&
           (WSTOPSIG(s->status) == SIGUSR1 || WSTOPSIG(s->status) == SIGCHLD))
        stepper_continue(s, WSTOPSIG(s->status));
    return end;
}

/* One strike; *left: the window is not that long. */
static bool strike(const struct plan *plan, struct stepper *s, unsigned k, bool *left)
{
    enum stepper_end end = wait_for_stop(s);
    bool inner = plan->blow == NEST;

    if (end == STEPPER_INSIDE)
        end = stepper_run(s, inner ? plan->at : k);
    if (end == STEPPER_INSIDE && inner) {
        stepper_continue(s, SIGUSR1);
        end = stepper_wait(s);
        if (end == STEPPER_INSIDE)
            end = stepper_run(s, k);
    }
    *left = end == STEPPER_LEFT;
    if (!is_well(plan, s, k, end))
        return false;
    if (*left)
        shared->end = 1;
    stepper_continue(s, *left ? 0 : inner ? SIGUSR2 : SIGUSR1);
    return true;
}

/* Instructions of the window, undisturbed. */
static unsigned length_of(const struct plan *plan)
{
    unsigned n = 0;
    struct stepper s = { .pid = 0 };

    shared->end = 0;
    fflush(NULL);
    s.pid = fork();
    if (s.pid == 0)
        be_subject(plan);
    /* The fifth, when everything that is done once has been done. */
    for (unsigned i = 0; i < 5; i++) {
        bool left;

        if (!strike(plan, &s, i < 4 ? 0 : UINT32_MAX, &left))
            return 0;
        n = s.steps;
    }
    stepper_finish(&s);
    return WIFEXITED(s.status) && WEXITSTATUS(s.status) == 0 ? n : 0;
}

static bool prove(struct plan *plan, unsigned samples)
{
    struct plan plain = { .blow = SIGNAL, .window = plan->window, .handled = plan->handled };
    unsigned length, stride, struck = 0;
    struct stepper s = { .pid = 0 };
    bool left = false;

    /* Inside the outer event, whose way may be a shorter one next time. */
    plan->at = plan->blow == NEST ? length_of(&plain) * 2 / 3 : 0;
    plan->at = plan->at < INSIDE ? plan->at : INSIDE;
    length = length_of(plan);
    if (length == 0)
        return false;
    stride = length > 300 || samples < SAMPLES ? length / samples + 1 : 1;
    shared->end = 0;
    s.pid = fork();
    if (s.pid == 0)
        be_subject(plan);
    for (unsigned k = 0; !left; k += stride, struck++)
        if (!strike(plan, &s, k > length ? UINT32_MAX : k, &left))
            return false;
    stepper_finish(&s);
    if (!WIFEXITED(s.status) || WEXITSTATUS(s.status) != 0)
        return is_well(plan, &s, UINT32_MAX, STEPPER_EXITED);
    printf("%-6s %-22s in %-22s %5u instructions, %4u strikes\n", blow_names[plan->blow],
           deed(plan), act_names[plan->window], length, struck);
    return true;
}

static char plain_failure;

/* Windows of one event are enough to fork in. */
static unsigned most(enum blow blow)
{
    return blow == SIGNAL ? ACTS : blow == FORK ? B_B_A : HANDLED;
}

static void *prove_all(void *only)
{
    unsigned samples = getenv("POSIXTRACE_PROOF_FULL")   ? 100000
                       : getenv("POSIXTRACE_TEST_SHORT") ? 12
                                                         : SAMPLES;
    struct plan plan = { .blow = SIGNAL };

    for (; plan.blow < BLOWS; plan.blow++)
        for (plan.window = 0; plan.window < most(plan.blow); plan.window++)
            for (plan.handled = 0; plan.handled < (plan.blow == FORK ? 2 : HANDLED);
                 plan.handled++) {
                plan.inherit = plan.blow == FORK && plan.handled == 1;
                if ((!only || strcmp(only, blow_names[plan.blow]) == 0) &&
                    !prove(&plan, plan.blow == SIGNAL || plan.blow == FORK ? samples : samples / 2))
                    return &plain_failure;
            }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *refused = stepper_refused();
    pthread_attr_t attr;
    pthread_t driver;
    void *failed;

    if (refused) {
        printf("skipped: %s\n", refused);
        return SKIPPED;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    DEMAND_OK(pthread_attr_init(&attr));
    DEMAND_OK(pthread_attr_setstack(&attr, stacks[0], sizeof stacks[0]));
    DEMAND_OK(pthread_create(&driver, &attr, prove_all, argc > 1 ? argv[1] : NULL));
    DEMAND_OK(pthread_join(driver, &failed));
    return failed ? 1 : 0;
}
