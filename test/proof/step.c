/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Proves the fast path instruction by instruction.
 *
 *   step [signal|jump|hold|kill|twice]    all modes, or the named one
 *
 * A child traces one event after the other; one of its calls of posix_trace_event is the window.
 * For each instruction k of the window a fresh child is stepped to k and then disturbed:
 *
 *   signal  its handler traces an event, the call continues
 *   jump    its handler traces an event and leaves by siglongjmp; the program traces further events
 *   hold    it is stopped while another thread traces and reads: its event must not be overtaken
 *   twice   signal, and again some instructions after the handler's return
 *   kill    SIGKILL; the stream has a log, which was not flushed yet
 *
 * Afterwards every event whose call had returned is there, once, whole and in
 * order.  The event of the window itself is there if its call returned, and at
 * most once if it was left.  After signal and jump the child reads its streams
 * itself; after kill a third process opens the log, completes it and opens it
 * again.
 *
 * Scenes say which call is the window; an instruction survey finds the ones
 * that change chunks.  Scenes that go through the slow path are sampled, unless
 * POSIXTRACE_PROOF_FULL is set.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proof/stepper.h"
#include "proof/subject.h"
#include "torture/demand.h"

#define STEADY  40u /* the window of the steady scenes */
#define SAMPLES 100u
#define FIRST   4u  /* calls before it have more to do */
#define EARLY   5u  /* by fewer events a survey changes chunks early */
#define LEAST   20u /* fewer instructions that were struck prove nothing */

static const char *const scene_names[] = { "steady",           "two streams",     "chunk change",
                                           "a stream joins",   "first event",     "8 bytes",
                                           "8 in two streams", "8 at chunk's end" };
static const char *const blow_names[] = { "signal", "jump",    "hold",  "kill",
                                          "twice",  "nothing", "survey" };

static const char *only; /* the blow named on the command line */

static pid_t start(void (*role)(const struct plan *), const struct plan *plan)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        role(plan);
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    return pid;
}

static bool ended_well(const struct plan *plan, unsigned k, const char *who, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    fprintf(stderr, "FAIL: %s, %s at instruction %u (event %u): the %s %s %d\n",
            scene_names[plan->scene], blow_names[plan->blow], k, plan->window, who,
            WIFEXITED(status) ? "ended with status" : "was ended by signal",
            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return false;
}

static struct stepper begin(const struct plan *plan)
{
    struct stepper s = { .pid = 0 };

    *shared = (struct shared){ .returned = 0 };
    for (unsigned i = 0; i < STREAMS; i++) {
        if (ftruncate(logs[i], 0) < 0) {
            perror("ftruncate");
            exit(1);
        }
    }
    s.pid = start(be_subject, plan);
    return s;
}

/* Lets the second thread do its work; false: it does not come to an end. */
static bool hold(void)
{
    int64_t begin_ms = proof_now_ms();

    shared->held_ms = begin_ms;
    shared->help_now = 1;
    while (!shared->help_done) {
        if (proof_now_ms() - begin_ms > HOLD_MOST_MS) {
            fprintf(stderr, "the second thread waits for the one that stands still\n");
            return false;
        }
        usleep(50);
    }
    shared->released_ms = proof_now_ms();
    return true;
}

/* Strikes once, at instruction k; *left: the window is not that long. */
static bool strike(const struct plan *plan, unsigned k, bool *left)
{
    struct stepper s = begin(plan);
    enum stepper_end end = stepper_wait(&s);
    int status;

    if (end == STEPPER_INSIDE)
        end = stepper_run(&s, k);
    if (end == STEPPER_INSIDE && plan->blow == TWICE)
        end = stepper_interrupt(&s, SIGUSR1);
    if (end == STEPPER_INSIDE && plan->blow == TWICE)
        end = stepper_go_on(&s, k + plan->pause);
    *left = end == STEPPER_LEFT;
    if (end == STEPPER_STRANGE || end == STEPPER_EXITED) {
        fprintf(stderr, "instruction %u: status %#x before it was struck\n", s.steps, s.status);
        if (end == STEPPER_STRANGE)
            stepper_continue(&s, WSTOPSIG(s.status));
    } else if (plan->blow == KILL) {
        kill(s.pid, SIGKILL);
    } else if (plan->blow == HOLD) {
        stepper_continue(&s, hold() ? 0 : SIGKILL);
    } else {
        stepper_continue(&s, SIGUSR1);
    }
    if (end != STEPPER_EXITED)
        stepper_finish(&s);
    if (plan->blow != KILL || !WIFSIGNALED(s.status) || WTERMSIG(s.status) != SIGKILL)
        return ended_well(plan, k, "traced process", s.status) && plan->blow != KILL;
    waitpid(start(be_verifier, plan), &status, 0);
    return ended_well(plan, k, "verifying process", status);
}

/* Instructions of each of the first SURVEY calls in a scene. */
static bool survey(enum scene scene, unsigned *counts)
{
    struct plan plan = { .scene = scene, .blow = SURVEY_ONLY, .window = SURVEY - 1 };
    struct stepper s = begin(&plan);

    for (unsigned i = 0; i < SURVEY; i++) {
        if (stepper_wait(&s) != STEPPER_INSIDE || stepper_run(&s, UINT32_MAX) != STEPPER_LEFT) {
            fprintf(stderr, "survey: event %u, status %#x\n", i, s.status);
            return false;
        }
        counts[i] = s.steps;
        stepper_continue(&s, 0);
    }
    stepper_finish(&s);
    return ended_well(&plan, 0, "surveyed process", s.status);
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/* Instructions in the window of a plan when nothing strikes; 0: it failed. */
static unsigned length_of(const struct plan *plan)
{
    struct stepper s = begin(plan);

    if (stepper_wait(&s) != STEPPER_INSIDE || stepper_run(&s, UINT32_MAX) != STEPPER_LEFT) {
        fprintf(stderr, "%s: status %#x\n", scene_names[plan->scene], s.status);
        return 0;
    }
    stepper_continue(&s, 0);
    stepper_finish(&s);
    return ended_well(plan, s.steps, "process that nothing struck", s.status) ? s.steps : 0;
}

static bool is_much(unsigned count, unsigned usual)
{
    return count > 3 * usual;
}

/* Without steps: does that call take much longer, each time? */
static bool is_long(enum scene scene, unsigned window, unsigned usual)
{
    struct plan plan = { .scene = scene, .blow = NOTHING, .window = window };

    return is_much(length_of(&plan), usual) && is_much(length_of(&plan), usual);
}

static unsigned find_longest(const unsigned *counts)
{
    unsigned longest = FIRST;

    for (unsigned i = FIRST; i < SURVEY; i++) {
        if (counts[i] > counts[longest])
            longest = i;
    }
    return longest;
}

/*
 * The usual count, and a later call that takes much longer: 0 if there is none.  On a loaded
 * machine a survey takes so long that some of its calls record how much time has passed: these
 * take longer, too, and their records change chunks some events early, or so early that only a
 * look at each call finds the change.
 */
static unsigned find_chunk_change(enum scene scene, unsigned *counts, unsigned *usual)
{
    unsigned sorted[SURVEY], longest;

    memcpy(sorted, counts, sizeof sorted);
    qsort(sorted, SURVEY, sizeof sorted[0], by_value);
    *usual = sorted[SURVEY / 2];
    while (is_much(counts[longest = find_longest(counts)], *usual)) {
        for (unsigned i = longest; i < longest + EARLY; i++) {
            if (is_long(scene, i, *usual))
                return i;
        }
        counts[longest] = *usual;
    }
    for (unsigned i = FIRST; i < SURVEY; i++)
        if (is_long(scene, i, *usual))
            return i;
    return 0;
}

/* Strikes everywhere in a scene.  Instructions struck; 0 if it failed. */
static unsigned prove(const struct plan *plan, bool every)
{
    struct plan undisturbed = { .scene = plan->scene, .blow = NOTHING, .window = plan->window };
    unsigned length, stride, struck = 0;
    bool left = false;

    if (only && strcmp(only, blow_names[plan->blow]) != 0)
        return UINT_MAX;
    length = length_of(&undisturbed);
    if (length == 0)
        return 0;
    stride = every || length < SAMPLES ? 1 : length / SAMPLES < 7 ? 7 : length / SAMPLES;
    for (unsigned k = 0; k <= length; k += stride) {
        if (!strike(plan, k, &left))
            return 0;
        struck += !left;
    }
    printf("%-16s %-7s %6u instructions, struck before %u of them", scene_names[plan->scene],
           blow_names[plan->blow], length, struck);
    if (plan->blow == TWICE)
        printf(", %u between the two", plan->pause);
    printf("%s\n", plan->alternate ? ", on another stack" : "");
    return struck;
}

static bool is_proved(const struct plan *plan, bool every)
{
    unsigned struck = prove(plan, every);

    if (struck > 0 && struck <= LEAST)
        fprintf(stderr, "FAIL: %s, %s (event %u): only %u instructions were struck\n",
                scene_names[plan->scene], blow_names[plan->blow], plan->window, struck);
    return struck > LEAST;
}

static bool prove_scene(enum scene scene, unsigned window, bool every)
{
    for (enum blow blow = SIGNAL; blow <= KILL; blow++) {
        if (!is_proved(&(struct plan){ .scene = scene, .blow = blow, .window = window }, every))
            return false;
    }
    return true;
}

/* Proofs for the plain event only. */
static bool prove_more_of_steady(void)
{
    static const unsigned pauses[] = { 0, 1, 3, 8, 15, 25, 40, 60 };
    struct plan plan = { .scene = STEADY_ONE, .window = STEADY, .alternate = true };

    for (plan.blow = SIGNAL; plan.blow <= JUMP; plan.blow++) {
        if (!is_proved(&plan, true))
            return false;
    }
    plan.alternate = false;
    plan.blow = TWICE;
    for (unsigned i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        plan.pause = pauses[i];
        if (!is_proved(&plan, true))
            return false;
    }
    return true;
}

static int temporary_file(void)
{
    char path[] = "/tmp/posixtrace-proof.XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0) {
        perror(path);
        exit(1);
    }
    unlink(path);
    return fd;
}

int main(int argc, char **argv)
{
    bool full = getenv("POSIXTRACE_PROOF_FULL") != NULL;
    const char *refused = stepper_refused();
    unsigned counts[SURVEY], short_counts[SURVEY], usual, short_usual, at[SCENES];

    only = argc > 1 ? argv[1] : NULL;
    if (refused) {
        printf("skipped: %s\n", refused);
        return SKIPPED;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < STREAMS; i++)
        logs[i] = temporary_file();
    if (shared == MAP_FAILED || !survey(STEADY_ONE, counts) || !survey(SHORT_TWO, short_counts))
        return 1;
    at[STEADY_ONE] = at[STEADY_TWO] = at[STREAM_JOINS] = STEADY;
    at[SHORT_ONE] = at[SHORT_TWO] = STEADY;
    at[FIRST_EVENT] = 0;
    at[CHUNK_CHANGE] = find_chunk_change(STEADY_ONE, counts, &usual);
    at[SHORT_LAST] = find_chunk_change(SHORT_TWO, short_counts, &short_usual) - 1;
    printf("an event takes %u instructions, the first %u, event %u changes chunks\n", usual,
           counts[0], at[CHUNK_CHANGE]);
    if (usual <= 20 || at[CHUNK_CHANGE] == 0 || at[SHORT_LAST] == UINT_MAX ||
        is_long(SHORT_LAST, at[SHORT_LAST], short_usual)) {
        fprintf(stderr, "FAIL: the survey missed the code, or no event changed chunks\n");
        return 1;
    }
    for (enum scene scene = 0; scene < SCENES; scene++) {
        if (!prove_scene(scene, at[scene], full || scene == STEADY_ONE || scene >= SHORT_ONE))
            return 1;
    }
    return prove_more_of_steady() ? 0 : 1;
}
