/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a new program image takes over from the process that started it, and
 * what not.  The test starts itself again as that image, directly, by a shell
 * that knows nothing of tracing, or as an orphan; there it opens names, traces
 * and ends.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "process/inherit.h"
#include "shm/liveness.h"
#include "stream/handle.h"
#include "support/image.h"
#include "support/run_suite.h"

#define HANG_S 120
#define EVENTS 5

extern char **environ;

struct shared {
    volatile int arrived, go;
    volatile pid_t pid;
    volatile uint32_t known_id, new_id; /* of "known", "of the image" there */
};

static struct shared *shared;

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* ---- the image ---- */

static int be_image(const char *path)
{
    trace_event_id_t fresh, known;

    shared = MAP_FAILED;
    if (path[0]) {
        FILE *f = fopen(path, "r+e");

        if (f)
            shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    }
    if (shared == MAP_FAILED)
        return 3;
    alarm(HANG_S);
    shared->pid = getpid();
    shared->arrived = 1;
    while (!shared->go)
        rest();
    /* In another order than the test: the ids come from the family's map or differ. */
    if (posix_trace_eventid_open("of the image", &fresh) != 0 ||
        posix_trace_eventid_open("known", &known) != 0)
        return 4;
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(known, "known", 5);
    posix_trace_event(fresh, "fresh", 5);
    shared->known_id = (uint32_t)known;
    shared->new_id = (uint32_t)fresh;
    return 0;
}

/* ---- the test ---- */

static char shared_path[64];

static void set_up(void)
{
    FILE *f;

    alarm(HANG_S);
    strcpy(shared_path, "/tmp/posixtrace-inherit.XXXXXX");
    f = fdopen(mkstemp(shared_path), "r+");
    ck_assert(f && ftruncate(fileno(f), sizeof *shared) == 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    ck_assert(shared != MAP_FAILED);
    fclose(f);
}

static void tear_down(void)
{
    unlink(shared_path);
    munmap(shared, sizeof *shared);
    unsetenv(PT_FOLLOW_VARIABLE);
    alarm(0);
}

static trace_id_t stream(pid_t pid, int inheritance)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, inheritance), 0);
    ck_assert_int_eq(posix_trace_create(pid, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    return trid;
}

/* How many of the image's events the stream has, by their names. */
static unsigned count(trace_id_t trid)
{
    struct posix_trace_event_info info;
    char data[64], name[TRACE_EVENT_NAME_MAX + 1];
    int unavailable = 0;
    unsigned n = 0;
    size_t len;

    for (;;) {
        ck_assert_int_eq(
            posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &unavailable), 0);
        if (unavailable)
            return n;
        if (info.posix_pid != shared->pid || len != 5)
            continue;
        ck_assert_int_eq(posix_trace_eventid_get_name(trid, info.posix_event_id, name), 0);
        ck_assert_str_eq(name, memcmp(data, "known", 5) ? "of the image" : "known");
        n++;
    }
}

static pid_t spawn(void)
{
    pid_t pid;

    ck_assert_int_eq(posix_spawnp(&pid, image_command[0], NULL, NULL, image_command, environ), 0);
    while (!shared->arrived)
        rest();
    return pid;
}

static void finish(pid_t pid)
{
    int status;

    shared->go = 1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static void expect(trace_id_t trid, unsigned events)
{
    ck_assert_uint_eq(count(trid), events);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}

START_TEST(inherited_or_not)
{
    trace_event_id_t known, fresh;
    trace_id_t closed, open;

    ck_assert_int_eq(posix_trace_eventid_open("known", &known), 0);
    closed = stream(0, POSIX_TRACE_CLOSE_FOR_CHILD);
    open = stream(0, POSIX_TRACE_INHERITED);
    finish(spawn());
    ck_assert_uint_eq(shared->known_id, (uint32_t)known);
    ck_assert_int_eq(posix_trace_eventid_open("of the image", &fresh), 0);
    ck_assert_uint_eq(shared->new_id, (uint32_t)fresh);
    expect(closed, 0);
    expect(open, EVENTS + 1);
}
END_TEST

START_TEST(nothing_to_inherit_own_names)
{
    trace_event_id_t known;
    trace_id_t closed;

    ck_assert_int_eq(posix_trace_eventid_open("known", &known), 0);
    closed = stream(0, POSIX_TRACE_CLOSE_FOR_CHILD);
    finish(spawn());
    ck_assert_uint_ne(shared->known_id, (uint32_t)known);
    expect(closed, 0);
}
END_TEST

START_TEST(through_a_shell)
{
    trace_id_t trid = stream(0, POSIX_TRACE_INHERITED);
    char command[700];

    shared->go = 1;
    /* more than one command, so that the shell does not exec it itself */
    snprintf(command, sizeof command, "(true; $MESON_EXE_WRAPPER '%s' '%s'); exit $?", image_path,
             shared_path);
    ck_assert_int_eq(system(command), 0);
    expect(trid, EVENTS + 1);
}
END_TEST

static uint64_t now_in_ticks(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK) +
           (uint64_t)t.tv_nsec / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

START_TEST(made_after_the_start)
{
    trace_id_t before = stream(0, POSIX_TRACE_INHERITED), after;
    pid_t pid = spawn();

    while (now_in_ticks() <= pt_process_start((uint32_t)pid))
        rest();
    after = stream(0, POSIX_TRACE_INHERITED);
    finish(pid);
    expect(before, EVENTS + 1);
    expect(after, 0);
}
END_TEST

/* A stream directly on a child that has not called the library yet has taken the
 * very bit that the parent's stream has in the parent. */
START_TEST(inherited_and_traced_directly)
{
    trace_id_t parents = stream(0, POSIX_TRACE_INHERITED), direct;
    trace_event_id_t known;
    pid_t pid;
    int status;

    ck_assert_int_eq(posix_trace_eventid_open("known", &known), 0);
    pid = fork();
    if (pid == 0) {
        alarm(HANG_S);
        while (!shared->go)
            rest();
        for (int i = 0; i < EVENTS; i++)
            posix_trace_event(known, "known", 5);
        _exit(0);
    }
    shared->pid = pid;
    direct = stream(pid, _i ? POSIX_TRACE_INHERITED : POSIX_TRACE_CLOSE_FOR_CHILD);
    shared->go = 1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    expect(parents, EVENTS);
    expect(direct, EVENTS);
}
END_TEST

/* A child of a child that has a page, because it is traced, but has never called
 * the library itself: both what was put into that page and what it would have
 * inherited come through. */
START_TEST(through_a_silent_child)
{
    trace_id_t parents = stream(0, POSIX_TRACE_INHERITED), direct;
    volatile int *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                              0);
    pid_t pid, image;
    int status;

    ck_assert(made != MAP_FAILED);
    shared->go = 1;
    pid = fork();
    if (pid == 0) {
        alarm(HANG_S);
        while (!*made)
            rest();
        if (posix_spawnp(&image, image_command[0], NULL, NULL, image_command, environ) != 0)
            _exit(5);
        _exit(waitpid(image, &status, 0) == image ? status : 6);
    }
    direct = stream(pid, POSIX_TRACE_INHERITED);
    *made = 1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    expect(parents, EVENTS + 1);
    expect(direct, EVENTS + 1);
    munmap((void *)(uintptr_t)made, 4096);
}
END_TEST

/* ---- POSIXTRACE_FOLLOW ---- */

static int note_file(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return 1;
}

/* An image whose parent has ended: no way leads from it to the stream. */
static void run_orphan(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        pid_t middle = getpid();

        if (fork() == 0) {
            while (getppid() == middle)
                rest();
            execvp(image_command[0], image_command);
            _exit(7);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

static void await_orphan(void)
{
    struct pt_process p;

    while (!shared->arrived)
        rest();
    shared->go = 1;
    while (shared->new_id == 0)
        rest();
    while (pt_process_look((uint32_t)shared->pid, &p) == 0 && !p.zombie)
        rest();
}

START_TEST(followed)
{
    static const struct {
        int inheritance;
        const char *value;
        unsigned events;
    } cases[] = {
        { POSIX_TRACE_INHERITED, NULL, EVENTS + 1 }, /* NULL: the stream's own name */
        { POSIX_TRACE_CLOSE_FOR_CHILD, NULL, 0 },
        { POSIX_TRACE_INHERITED, "", 0 },
        { POSIX_TRACE_INHERITED, "../s-0.seg", 0 },
        { POSIX_TRACE_INHERITED, "s-00000000000000000000000000000000.seg", 0 },
        { POSIX_TRACE_INHERITED, "s-0/../../../../../../../../../../../../../../../etc/passwd", 0 },
    };
    trace_id_t trid = stream(0, cases[_i].inheritance);
    char file[64] = "";

    ck_assert_int_eq(posixtrace_stream_list(note_file, file), 1);
    setenv(PT_FOLLOW_VARIABLE, cases[_i].value ? cases[_i].value : file, 1);
    run_orphan();
    await_orphan();
    expect(trid, cases[_i].events);
}
END_TEST

/* Both ways lead to the stream: it is taken over once. */
START_TEST(followed_by_a_child)
{
    trace_id_t trid = stream(0, POSIX_TRACE_INHERITED);
    char file[64] = "";

    ck_assert_int_eq(posixtrace_stream_list(note_file, file), 1);
    setenv(PT_FOLLOW_VARIABLE, file, 1);
    finish(spawn());
    expect(trid, EVENTS + 1);
}
END_TEST

/* ---- forked just before the stream was made ---- */

enum { BEFORE, TRACED, NEXT_TICK }; /* what a try says */

static bool same_tick(trace_id_t trid, pid_t child)
{
    struct pt_stream *s = pt_handle_get(trid, PT_STREAM_ACTIVE);
    uint64_t tick = s->seg->h->created / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));

    pt_handle_put(s);
    return tick == pt_process_start((uint32_t)child);
}

static unsigned count_unnamed(trace_id_t trid)
{
    struct posix_trace_event_info event;
    char data[8];
    int unavailable;
    unsigned n = 0;
    size_t length;

    for (;; n += event.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
        if (posix_trace_trygetnext_event(trid, &event, data, sizeof data, &length, &unavailable) ||
            unavailable)
            return n;
}

/* In a process that has not called the library. */
static int fork_then_create(void)
{
    trace_id_t trid;
    int go[2];
    pid_t child;
    bool same;
    char c;

    if (pipe(go) != 0 || (child = fork()) < 0)
        return TRACED;
    if (child == 0) {
        if (read(go[0], &c, 1) == 1)
            posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 6);
        _exit(0);
    }
    trid = stream(0, POSIX_TRACE_INHERITED);
    same = same_tick(trid, child);
    if (write(go[1], "", 1) != 1 || waitpid(child, NULL, 0) != child)
        return TRACED;
    if (count_unnamed(trid) != 0)
        return TRACED;
    return same ? BEFORE : NEXT_TICK;
}

enum { TRY_S = 20 };

/* The kernel's start times do not say which of the two was first.  A tick is short: on a machine
 * that is too busy for both in one, all tries are of the next tick, which must not be traced
 * either. */
START_TEST(forked_in_the_same_tick)
{
    uint64_t until = now_in_ticks() + TRY_S * (uint64_t)sysconf(_SC_CLK_TCK);
    int said = NEXT_TICK;

    while (said == NEXT_TICK && now_in_ticks() < until) {
        pid_t pid = fork();
        int status;

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            _exit(fork_then_create());
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        said = WEXITSTATUS(status);
    }
    ck_assert(said == BEFORE || said == NEXT_TICK);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
    tcase_add_checked_fixture(t, set_up, tear_down);
}

static void add(TCase *t)
{
    tcase_add_test(t, inherited_or_not);
    tcase_add_test(t, nothing_to_inherit_own_names);
    tcase_add_test(t, through_a_shell);
    tcase_add_test(t, made_after_the_start);
    tcase_add_loop_test(t, inherited_and_traced_directly, 0, 2);
    tcase_add_test(t, through_a_silent_child);
    tcase_add_loop_test(t, followed, 0, 6);
    tcase_add_test(t, followed_by_a_child);
    tcase_add_test(t, forked_in_the_same_tick);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_image(argv[1]);
    image_prepare(shared_path);
    return run_suite("process inherit", "inherit", prepare, add);
}
