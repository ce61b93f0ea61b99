/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group L, third part: controller and target are different processes.  The target is a child that
 * gets its orders through a pipe, so that the order of actions is always the same.
 */
#include "support/image.h"
#include "support/trace_helpers.h"

#include <dirent.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

/* A target and the two pipes between it and its controller. */
struct target {
    int go[2], done[2];
    pid_t pid;
    void (*act)(struct target *);
};

static void tell(int fd, char what)
{
    ck_assert_int_eq(write(fd, &what, 1), 1);
}

static char await(int fd)
{
    char what;

    ck_assert_int_eq(read(fd, &what, 1), 1);
    return what;
}

static void run_target(void *context)
{
    struct target *t = context;

    await(t->go[0]);
    t->act(t);
}

static struct target *target(void (*act)(struct target *))
{
    struct target *t = th_alloc(sizeof *t);

    t->act = act;
    ck_assert_int_eq(pipe(t->go), 0);
    ck_assert_int_eq(pipe(t->done), 0);
    t->pid = th_fork(run_target, t);
    return t;
}

static void close_target(struct target *t)
{
    for (int i = 0; i < 2; i++) {
        close(t->go[i]);
        close(t->done[i]);
    }
}

static void finish(struct target *t)
{
    th_reap(t->pid);
    close_target(t);
}

static trace_id_t trace(pid_t pid, const struct th_conf *conf)
{
    trace_attr_t attr;
    trace_id_t trid;

    th_attr(&attr, conf);
    ck_ok(posix_trace_create(pid, &attr, &trid));
    ck_ok(posix_trace_start(trid));
    th_expect(th_drain(trid), POSIX_TRACE_START);
    return trid;
}

static struct th_list from(struct th_list list, pid_t pid)
{
    struct th_list only = { th_alloc((list.n + 1) * sizeof *list.at), 0 };

    for (size_t i = 0; i < list.n; i++) {
        if (list.at[i].info.posix_pid == pid)
            only.at[only.n++] = list.at[i];
    }
    return only;
}

/* ---- 245 ---- */

static void put_10(struct target *t)
{
    (void)t;
    th_put_run(th_id("theirs"), 0, 10, 24);
}

/* Two processes take turns: the one that has the ball records an event and passes the ball. */
static void play(int in, int out, trace_event_id_t id, uint32_t first, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        await(in);
        th_put(id, first + 2 * i, 8);
        tell(out, '!');
    }
}

#define ROUNDS 500u

static void play_with_child(struct target *t)
{
    trace_event_id_t id = th_id("ball");
    int there[2], back[2];
    pid_t child;

    ck_assert_int_eq(pipe(there), 0);
    ck_assert_int_eq(pipe(back), 0);
    tell(back[1], '!');
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        play(there[0], back[1], id, 1, ROUNDS);
        _exit(0);
    }
    play(back[0], there[1], id, 0, ROUNDS);
    th_reap(child);
    tell(t->done[1], '!');
}

/* A user's process and directory, and root, who traces it there. */
struct user {
    struct target *target;
    char dir[64];
};

static void become_user_and_stay(struct target *t)
{
    ck_assert_int_eq(setgid(65534), 0);
    ck_assert_int_eq(setuid(65534), 0);
    tell(t->done[1], '!');
    await(t->go[0]);
    put_10(t);
    tell(t->done[1], '!');
    await(t->go[0]);
    exit(0);
}

static void control_as_root(void *context)
{
    struct user *u = context;
    trace_id_t trid = trace(u->target->pid, &(struct th_conf){ .name = "root's" });
    struct th_list list;

    tell(u->target->go[1], '!');
    await(u->target->done[0]);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 10);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
}

static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int n = 0;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    closedir(d);
    return n == 0;
}

static void two_users(void)
{
    struct user u = { .target = NULL, .dir = "/tmp/posixtrace-user-XXXXXX" };
    const char *own = th_stream_dir();
    int status;

    ck_assert_ptr_nonnull(mkdtemp(u.dir));
    ck_assert_int_eq(chown(u.dir, 65534, 65534), 0);
    ck_assert_int_eq(setenv("POSIXTRACE_DIR", u.dir, 1), 0);
    u.target = target(become_user_and_stay);
    tell(u.target->go[1], '!');
    await(u.target->done[0]);
    th_in_child(control_as_root, &u);
    tell(u.target->go[1], '!');
    ck_assert_int_eq(waitpid(u.target->pid, &status, 0), u.target->pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_target(u.target);
    ck_assert(is_empty(u.dir));
    ck_assert_int_eq(rmdir(u.dir), 0);
    setenv("POSIXTRACE_DIR", own, 1);
}

START_TEST(test_245_other_process)
{
    struct target *t = target(put_10), *players = target(play_with_child);
    trace_id_t trid = trace(t->pid, &(struct th_conf){ .name = "theirs" });
    struct th_list list;

    th_put(th_id("mine"), 0, 8);
    tell(t->go[1], '!');
    finish(t);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 10);
    ck_assert_uint_eq(from(list, t->pid).n, 10);
    th_expect_run(list, 0);
    ck_assert_uint_eq(th_id_named(trid, "theirs"), list.at[0].info.posix_event_id);
    ck_ok(posix_trace_shutdown(trid));

    trid = trace(players->pid, &(struct th_conf){ .inherit = POSIX_TRACE_INHERITED });
    tell(players->go[1], '!');
    await(players->done[0]);
    finish(players);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 2 * ROUNDS);
    ck_assert_uint_eq(from(list, players->pid).n, ROUNDS);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
    if (geteuid() == 0)
        two_users();
}
END_TEST

/* ---- 244, 246, 247: other programs, which are this one with an argument ---- */

static int traced_program(void)
{
    trace_event_id_t id;

    if (posix_trace_eventid_open("of the new image", &id) != 0)
        return 1;
    posix_trace_event(id, "new", 3);
    if (posix_trace_eventid_open("second of the old image", &id) != 0)
        return 1;
    posix_trace_event(id, "old", 3);
    return 0;
}

static void exec_after_two_names(struct target *t)
{
    th_put(th_id("first of the old image"), 0, 8);
    th_put(th_id("second of the old image"), 1, 8);
    (void)t;
    execvp(image_command[0], image_command);
    ck_abort_msg("this program cannot be executed");
}

static void exec_at_once(struct target *t)
{
    (void)t;
    execvp(image_command[0], image_command);
    ck_abort_msg("this program cannot be executed");
}

/* The data of an event, which are text. */
static void expect_text(const struct th_event *e, const char *text)
{
    ck_assert_uint_eq(e->len, strlen(text));
    ck_assert(memcmp(e->data, text, e->len) == 0);
}

static pid_t spawn(void)
{
    pid_t pid;

    ck_ok(posix_spawnp(&pid, image_command[0], NULL, NULL, image_command, environ));
    return pid;
}

/* The whole family is one map: the spawned program's names are known here. */
START_TEST(test_244_posix_spawn)
{
    trace_id_t in = th_stream(.inherit = POSIX_TRACE_INHERITED);
    trace_id_t out = th_stream(.inherit = POSIX_TRACE_CLOSE_FOR_CHILD);
    trace_event_id_t id = th_id("second of the old image");
    struct th_list list;
    pid_t pid;

    ck_ok(posix_trace_start(in));
    ck_ok(posix_trace_start(out));
    pid = spawn();
    th_reap(pid);
    list = from(th_drain(in), pid);
    ck_assert_uint_eq(list.n, 2);
    expect_text(&list.at[0], "new");
    expect_text(&list.at[1], "old");
    ck_assert_uint_eq(list.at[1].info.posix_event_id, id);
    ck_assert_uint_eq(list.at[0].info.posix_event_id, th_id_named(in, "of the new image"));
    th_expect(th_drain(out), POSIX_TRACE_START);
    ck_ok(posix_trace_shutdown(in));
    ck_ok(posix_trace_shutdown(out));
}
END_TEST

START_TEST(test_246_target_execs)
{
    struct target *t = target(exec_after_two_names), *early = target(exec_at_once);
    trace_id_t trid = trace(t->pid, &(struct th_conf){ .name = "over exec" });
    struct th_list list;

    tell(t->go[1], '!');
    finish(t);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 4);
    ck_assert_uint_eq(from(list, t->pid).n, 4);
    th_expect_run((struct th_list){ list.at, 2 }, 0);
    expect_text(&list.at[2], "new");
    expect_text(&list.at[3], "old");
    ck_ok(posix_trace_shutdown(trid));

    /* The rationale's pattern: the child waits, and calls nothing before exec. */
    trid = trace(early->pid, &(struct th_conf){ .name = "before exec" });
    tell(early->go[1], '!');
    finish(early);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 2);
    expect_text(&list.at[0], "new");
    expect_text(&list.at[1], "old");
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(test_247_names_over_exec)
{
    struct target *t = target(exec_after_two_names);
    trace_event_id_t before, ids[4];
    trace_id_t trid = trace(t->pid, &(struct th_conf){ .name = "names" });
    struct th_list list;

    ck_ok(posix_trace_trid_eventid_open(trid, "of the new image", &before));
    tell(t->go[1], '!');
    finish(t);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 4);
    for (int i = 0; i < 4; i++)
        ids[i] = list.at[i].info.posix_event_id;
    ck_assert_uint_eq(ids[1], ids[3]);
    ck_assert_uint_eq(ids[2], before);
    ck_assert_uint_eq(ids[0], th_id_named(trid, "first of the old image"));
    ck_assert_uint_eq(ids[1], th_id_named(trid, "second of the old image"));
    ck_assert_uint_eq(ids[2], th_id_named(trid, "of the new image"));
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* ---- 252: the controller dies ---- */

static void put_until_told(struct target *t)
{
    trace_event_id_t id = th_id("goes on");

    for (uint32_t i = 0; i < 200000; i++) {
        th_put(id, i, 24);
        if (i == 1000) {
            tell(t->done[1], '!');
            await(t->go[0]);
        }
    }
}

static void control_and_die(void *context)
{
    struct target *t = context;
    trace_id_t trid = trace(t->pid, &(struct th_conf){ .policy = POSIX_TRACE_UNTIL_FULL });

    tell(t->go[1], '!');
    await(t->done[0]);
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    raise(SIGKILL);
}

START_TEST(test_252_controller_dies)
{
    struct target *t = target(put_until_told);
    pid_t controller = th_fork(control_and_die, t);
    trace_id_t trid;
    int status;

    ck_assert_int_eq(waitpid(controller, &status, 0), controller);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    trid = trace(t->pid, &(struct th_conf){ .policy = POSIX_TRACE_LOOP });
    tell(t->go[1], '!');
    finish(t);
    ck_assert_uint_gt(from(th_drain(trid), t->pid).n, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* ---- 253, 254: the target ends ---- */

static void put_10_and_exit(struct target *t)
{
    put_10(t);
    exit(0);
}

static void put_10_and_die(struct target *t)
{
    put_10(t);
    raise(SIGKILL);
}

START_TEST(test_253_target_exits)
{
    static void (*const ways[])(struct target *) = { put_10, put_10_and_exit, put_10_and_die };

    for (size_t i = 0; i < TH_COUNT(ways); i++) {
        struct target *t = target(ways[i]);
        trace_id_t trid = trace(t->pid, &(struct th_conf){ .name = "survives" });
        struct th_list list;
        int status;

        tell(t->go[1], '!');
        ck_assert_int_eq(waitpid(t->pid, &status, 0), t->pid);
        close_target(t);
        list = th_drain(trid);
        ck_assert_uint_eq(list.n, 10);
        th_expect_run(list, 0);
        ck_ok(posix_trace_stop(trid));
        ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
        th_expect(th_drain(trid), POSIX_TRACE_STOP);
        ck_ok(posix_trace_shutdown(trid));
    }
}
END_TEST

static void put_for_ever(struct target *t)
{
    trace_event_id_t id = th_id("for ever");

    for (uint32_t i = 0;; i++) {
        th_put(id, i, 40);
        if (i == 100)
            tell(t->done[1], '!');
    }
}

START_TEST(test_254_target_killed_in_event)
{
    for (int round = 0; round < 20; round++) {
        struct target *t = target(put_for_ever);
        trace_id_t trid = trace(t->pid, &(struct th_conf){ .policy = POSIX_TRACE_UNTIL_FULL });
        struct th_list list;
        int status;

        tell(t->go[1], '!');
        await(t->done[0]);
        ck_assert_int_eq(kill(t->pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(t->pid, &status, 0), t->pid);
        close_target(t);
        list = from(th_drain(trid), t->pid);
        ck_assert_uint_gt(list.n, 100);
        th_expect_run(list, 0);
        ck_ok(posix_trace_shutdown(trid));
    }
}
END_TEST

/* ---- 255: two controllers ---- */

static void put_when_told(struct target *t)
{
    trace_event_id_t id = th_id("for both");

    for (uint32_t i = 0; i < 3; i++) {
        th_put_run(id, 4 * i, 4, 16);
        tell(t->done[1], '!');
        await(t->go[0]);
    }
}

/* The second controller, which has pipes of its own. */
struct second {
    struct target *target;
    int go[2], done[2];
};

static void control_too(void *context)
{
    struct second *s = context;
    trace_id_t trid = trace(s->target->pid, &(struct th_conf){ .name = "second" });
    struct th_list list;

    tell(s->done[1], '!');
    await(s->go[0]);
    list = th_drain(trid);
    ck_assert_uint_eq(list.n, 4);
    th_expect_run(list, 0);
    ck_ok(posix_trace_shutdown(trid));
    tell(s->done[1], '!');
}

START_TEST(test_255_two_controllers)
{
    struct target *t = target(put_when_told);
    struct second s = { .target = t };
    trace_id_t trid;
    pid_t pid;

    ck_assert_int_eq(pipe(s.go), 0);
    ck_assert_int_eq(pipe(s.done), 0);
    pid = th_fork(control_too, &s);
    trid = trace(t->pid, &(struct th_conf){ .name = "first" });
    await(s.done[0]);
    tell(t->go[1], '!');
    await(t->done[0]);
    tell(s.go[1], '!');
    await(s.done[0]);
    th_reap(pid);
    for (int i = 0; i < 2; i++) {
        tell(t->go[1], '!');
        await(t->done[0]);
    }
    tell(t->go[1], '!');
    finish(t);
    ck_assert_uint_eq(from(th_drain(trid), t->pid).n, 12);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_244_posix_spawn);
    tcase_add_test(tc, test_245_other_process);
    tcase_add_test(tc, test_246_target_execs);
    tcase_add_test(tc, test_247_names_over_exec);
    tcase_add_test(tc, test_252_controller_dies);
    tcase_add_test(tc, test_253_target_exits);
    tcase_add_test(tc, test_254_target_killed_in_event);
    tcase_add_test(tc, test_255_two_controllers);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "traced") == 0)
        return traced_program();
    image_prepare("traced");
    return th_main("L other", add);
}
