/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A controller that cannot open the page of a process that its stream traces: it has no
 * descriptor left, has given up its user id, or sees another root directory.  Each call does its
 * work in that process, too, or returns an error and has changed nothing.  And the memory of a
 * stream that is shut down stays where such a process may still write into it.
 *
 * Two processes beside the test: the owner of the stream, and its child, the writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/filter.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "process/self.h"
#include "support/need.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { HANG_S = 60, NOBODY = 65534, OWN = 3, EACH = 50, LENGTH = 64, SKIPPED = 77 };

enum way { NO_DESCRIPTOR, NO_NUMBER, OTHER_USER, OTHER_ROOT, WAYS };

int __real_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64]);
int __wrap_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64]);

static unsigned opened, refused_at; /* the call of that number fails; 0: none */

int __wrap_pt_page_open_of(struct pt_page **page, uid_t uid, uint32_t pid, uint64_t start,
                           char file[64])
{
    if (++opened == refused_at)
        return -ENFILE;
    return __real_pt_page_open_of(page, uid, pid, start, file);
}

struct shared {
    volatile unsigned asked, answered;
    volatile unsigned events; /* to be traced */
    volatile int traced;      /* the writer's page has a stream */
    volatile int done;
};

static struct shared *shared;
static trace_event_id_t type;
static pid_t writer;

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* ---- the writer ---- */

static void trace(unsigned n)
{
    char data[LENGTH] = "event";

    while (n--)
        posix_trace_event(type, data, sizeof data);
}

/* What the writer does before its first event. */
static bool changes_user;

static _Noreturn void be_writer(void)
{
    alarm(HANG_S);
    if (changes_user)
        NEED(setresuid(NOBODY, NOBODY, NOBODY) == 0);
    for (unsigned seen = 0; !shared->done; rest()) {
        if (shared->asked == seen)
            continue;
        trace(shared->events);
        shared->traced = pt_load_acquire(&pt_self_peek()->page->used) != 0;
        shared->answered = ++seen;
    }
    _exit(0);
}

/* ---- the owner ---- */

static void let_write(unsigned n)
{
    shared->events = n;
    shared->asked = shared->asked + 1;
    while (shared->answered != shared->asked) {
        NEED(waitpid(writer, NULL, WNOHANG) == 0);
        rest();
    }
}

static trace_id_t create(bool runs)
{
    trace_attr_t attr;
    trace_id_t trid;

    alarm(HANG_S);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 64 << 10) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
    NEED(posix_trace_eventid_open("pages", &type) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    writer = fork();
    if (writer == 0)
        be_writer();
    let_write(1);
    NEED(shared->traced);
    if (runs)
        NEED(posix_trace_start(trid) == 0);
    return trid;
}

static _Noreturn void finish(void)
{
    shared->done = 1;
    NEED(waitpid(writer, NULL, 0) == writer);
    _exit(0);
}

static struct rlimit before;

static void take_all_descriptors(void)
{
    const struct rlimit few = { 32, before.rlim_max };

    NEED(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    NEED(errno == EMFILE);
}

static void hide_page(enum way way)
{
    struct rlimit none;
    char root[] = "/tmp/posixtrace-pages.XXXXXX";

    NEED(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){ 0, before.rlim_max };
    switch (way) {
    case NO_DESCRIPTOR: take_all_descriptors(); break;
    case NO_NUMBER: NEED(setrlimit(RLIMIT_NOFILE, &none) == 0); break;
    case OTHER_USER:
        if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(SKIPPED);
        break;
    default:
        NEED(mkdtemp(root) && chdir(root) == 0 && rmdir(root) == 0);
        if (chroot(".") < 0)
            _exit(SKIPPED);
    }
}

static int error_of(enum way way)
{
#ifdef __SANITIZE_THREAD__
    if (way == NO_DESCRIPTOR)
        return EMFILE;
#endif
    return way == NO_DESCRIPTOR ? 0 : way == NO_NUMBER ? EMFILE : EACCES;
}

struct found {
    unsigned events, starts, stops, filters;
};

static struct found read_all(trace_id_t trid)
{
    struct posix_trace_event_info e;
    struct found f = { 0 };
    char data[2 * sizeof(trace_event_set_t)];
    size_t len;
    int none;

    while (posix_trace_trygetnext_event(trid, &e, data, sizeof data, &len, &none) == 0 && !none) {
        f.events += e.posix_event_id == type;
        f.starts += e.posix_event_id == POSIX_TRACE_START;
        f.stops += e.posix_event_id == POSIX_TRACE_STOP;
        f.filters += e.posix_event_id == POSIX_TRACE_FILTER;
    }
    return f;
}

static bool is_running(trace_id_t trid)
{
    struct posix_trace_status_info status;

    NEED(posix_trace_get_status(trid, &status) == 0);
    return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

static bool is_filtered(trace_id_t trid)
{
    trace_event_set_t set;
    int is;

    NEED(posix_trace_get_filter(trid, &set) == 0);
    NEED(posix_trace_eventset_ismember(type, &set, &is) == 0);
    return is != 0;
}

static int filter_type(trace_id_t trid)
{
    trace_event_set_t set;

    NEED(posix_trace_eventset_empty(&set) == 0 && posix_trace_eventset_add(type, &set) == 0);
    return posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
}

static unsigned write_and_count(trace_id_t trid)
{
    trace(OWN);
    let_write(EACH);
    return read_all(trid).events;
}

static void check_start(enum way way)
{
    trace_id_t trid = create(false);
    struct found f;
    int r;

    hide_page(way);
    r = posix_trace_start(trid);
    NEED(r == error_of(way) && is_running(trid) == (r == 0));
    trace(OWN);
    let_write(EACH);
    f = read_all(trid);
    NEED(f.events == (r ? 0 : OWN + EACH) && f.starts == (r ? 0 : 1) && f.stops == 0);
    finish();
}

static void check_set_filter(enum way way)
{
    trace_id_t trid = create(true);
    struct found f;
    int r;

    hide_page(way);
    r = filter_type(trid);
    NEED(r == error_of(way) && is_filtered(trid) == (r == 0));
    trace(OWN);
    let_write(EACH);
    f = read_all(trid);
    NEED(f.events == (r ? OWN + EACH : 0) && f.filters == (r ? 0 : 1));
    finish();
}

static void check_set_expression(enum way way)
{
    trace_id_t trid = create(true);
    char text[POSIXTRACE_EXPRESSION_MAX + 1];
    int r;

    hide_page(way);
    r = posixtrace_set_expression(trid, "name != \"pages\"", NULL);
    NEED(r == error_of(way));
    NEED(posixtrace_get_expression(trid, text, sizeof text) == 0 && (text[0] != '\0') == (r == 0));
    NEED(write_and_count(trid) == (r ? OWN + EACH : 0));
    finish();
}

static void check_clear(enum way way)
{
    trace_id_t trid = create(true);
    int r;

    NEED(filter_type(trid) == 0);
    NEED(write_and_count(trid) == 0);
    hide_page(way);
    r = posix_trace_clear(trid);
    NEED(r == error_of(way) && is_running(trid) && is_filtered(trid) == (r != 0));
    NEED(write_and_count(trid) == (r ? 0 : OWN + EACH));
    finish();
}

/* A stop needs no page: later events are not in the stream. */
static void check_stop(enum way way)
{
    trace_id_t trid = create(true);
    struct found f;

    NEED(write_and_count(trid) == OWN + EACH);
    hide_page(way);
    NEED(posix_trace_stop(trid) == 0 && !is_running(trid));
    trace(OWN);
    let_write(EACH);
    f = read_all(trid);
    NEED(f.events == 0 && f.stops == 1);
    NEED(posix_trace_start(trid) == error_of(way));
    if (way == NO_NUMBER) {
        NEED(setrlimit(RLIMIT_NOFILE, &before) == 0);
        NEED(posix_trace_start(trid) == 0);
        NEED(write_and_count(trid) == OWN + EACH);
    }
    finish();
}

/* The writer does not have the first stream, whose gates are its own. */
static trace_id_t create_first(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    return trid;
}

static void check_chain(enum way way)
{
    trace_id_t next = create(true), trid = create_first();
    int r;

    hide_page(way);
    r = posixtrace_chain(trid, next);
    NEED(r == error_of(way));
    NEED(write_and_count(next) == (r ? OWN + EACH : 0));
    finish();
}

static void check_unchain(enum way way)
{
    trace_id_t next = create(true), trid = create_first();
    int r;

    NEED(posixtrace_chain(trid, next) == 0);
    hide_page(way);
    r = posixtrace_chain(trid, trid);
    NEED(r == error_of(way));
    NEED(write_and_count(next) == (r ? 0 : OWN + EACH));
    finish();
}

static bool has_directory; /* the writer, as the other user */

/* With a page in a directory of the other user root steers the writer; without, it says so. */
static void check_changed_user(enum way unused)
{
    trace_id_t trid;
    int r;

    (void)unused;
    if (has_directory)
        unsetenv("POSIXTRACE_DIR"); /* it names root's, where the writer cannot make files */
    changes_user = true;
    trid = create(false);
    r = posix_trace_start(trid);
    NEED(r == (has_directory ? 0 : EACCES) && is_running(trid) == (r == 0));
    NEED(write_and_count(trid) == (r ? 0 : OWN + EACH));
    if (r == 0) {
        NEED(filter_type(trid) == 0);
        NEED(write_and_count(trid) == 0);
        NEED(posix_trace_stop(trid) == 0);
    }
    NEED(posix_trace_shutdown(trid) == 0);
    finish();
}

static void run(void (*check)(enum way way), enum way way)
{
    int status;
    pid_t pid;

    if (way >= OTHER_USER && geteuid() != 0)
        return;
    if (!shared)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
    ck_assert(shared != MAP_FAILED);
    memset(shared, 0, sizeof *shared);
    pid = fork();
    if (pid == 0)
        check(way);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    shared->done = 1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != SKIPPED)
        ck_assert_int_eq(status, 0);
}

START_TEST(start)
{
    run(check_start, (enum way)_i);
}
END_TEST

START_TEST(set_filter)
{
    run(check_set_filter, (enum way)_i);
}
END_TEST

START_TEST(set_expression)
{
    run(check_set_expression, (enum way)_i);
}
END_TEST

START_TEST(clear)
{
    run(check_clear, (enum way)_i);
}
END_TEST

START_TEST(stop)
{
    run(check_stop, (enum way)_i);
}
END_TEST

START_TEST(chain)
{
    run(check_chain, (enum way)_i);
    run(check_unchain, (enum way)_i);
}
END_TEST

START_TEST(changed_user)
{
    has_directory = _i;
    if (geteuid() == 0)
        run(check_changed_user, 0);
}
END_TEST

/* ---- each look at a page fails once ---- */

static void check_each_look(enum way unused)
{
    trace_id_t trid = create(false);
    unsigned n;
    int r = -1;

    (void)unused;
    for (n = 1; r != 0; n++) {
        opened = 0;
        refused_at = n;
        r = posix_trace_start(trid);
        refused_at = 0;
        NEED((r == 0 || r == ENFILE) && is_running(trid) == (r == 0));
        NEED(write_and_count(trid) == (r ? 0 : OWN + EACH));
    }
    NEED(n > 2);
    for (n = 1, r = -1; r != 0; n++) {
        opened = 0;
        refused_at = n;
        r = filter_type(trid);
        refused_at = 0;
        NEED((r == 0 || r == ENFILE) && is_filtered(trid) == (r == 0));
        NEED(write_and_count(trid) == (r ? OWN + EACH : 0));
    }
    NEED(n > 2);
    for (n = 1, r = -1; r != 0; n++) {
        opened = 0;
        refused_at = n;
        r = posix_trace_clear(trid);
        refused_at = 0;
        NEED((r == 0 || r == ENFILE) && is_filtered(trid) == (r != 0) && is_running(trid));
        NEED(write_and_count(trid) == (r ? 0 : OWN + EACH));
    }
    NEED(n > 2);
    finish();
}

START_TEST(each_look)
{
    run(check_each_look, 0);
}
END_TEST

/* A process that has ended needs no page.  That it has, before it has been waited for, is read
 * from /proc. */
static void check_ended(enum way way)
{
    trace_id_t trid = create(false);
    siginfo_t info;

    NEED(kill(writer, SIGKILL) == 0);
    NEED(waitid(P_PID, (id_t)writer, &info, WEXITED | WNOWAIT) == 0);
    hide_page(way);
    NEED(posix_trace_start(trid) == (way == NO_NUMBER || way == OTHER_ROOT ? error_of(way) : 0));
    NEED(waitpid(writer, NULL, 0) == writer);
    NEED(posix_trace_start(trid) == 0);
    _exit(0);
}

START_TEST(ended)
{
    run(check_ended, (enum way)_i);
}
END_TEST

/* ---- shutdown ---- */

/* The directory is on a file system that has no room at all once the stream is shut down. */
static void mount_small(void)
{
    const char *dir = getenv("POSIXTRACE_DIR");

    if (!dir || geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=700") < 0)
        _exit(SKIPPED);
}

static void fill_up(int fd)
{
    static char zeros[4096];

    while (write(fd, zeros, sizeof zeros) > 0)
        ;
    NEED(errno == ENOSPC);
}

static void check_shutdown(enum way way)
{
    char path[256];
    trace_id_t trid;
    int fd;

    mount_small();
    snprintf(path, sizeof path, "%s/filler", getenv("POSIXTRACE_DIR"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    NEED(fd >= 0);
    trid = create(true);
    NEED(write_and_count(trid) == OWN + EACH);
    hide_page(way);
    NEED(posix_trace_shutdown(trid) == 0);
    fill_up(fd);
    /* Until its chunk is full: then it finds that the stream is over. */
    for (unsigned i = 0; i < 100; i++)
        let_write(EACH);
    NEED(!shared->traced);
    finish();
}

START_TEST(shutdown)
{
    run(check_shutdown, (enum way)_i);
}
END_TEST

/* ---- recovery ---- */

static _Noreturn void be_logging_owner(int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    alarm(HANG_S);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_eventid_open("pages", &type) == 0);
    NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0 && posix_trace_start(trid) == 0);
    if (fork() == 0)
        be_writer();
    for (;;)
        pause();
}

static void let_orphan_write(void)
{
    shared->events = 1;
    shared->asked = shared->asked + 1;
    while (shared->answered != shared->asked)
        rest();
}

/* A recovery that returns 0 has taken the stream out of the processes that outlive the owner:
 * none of their later events goes into memory that nothing reads again. */
static void check_recovery(enum way unused)
{
    char path[] = "/tmp/posixtrace-pages.XXXXXX";
    struct posixtrace_recover_report report;
    int fd = mkostemp(path, O_CLOEXEC), r = -1;
    pid_t owner;

    (void)unused;
    alarm(HANG_S);
    NEED(fd >= 0 && unlink(path) == 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    owner = fork();
    if (owner == 0)
        be_logging_owner(fd);
    let_orphan_write();
    NEED(shared->traced);
    NEED(kill(owner, SIGKILL) == 0 && waitpid(owner, NULL, 0) == owner);
    for (rlim_t n = (rlim_t)fd + 1; r != 0; n++) {
        const struct rlimit few = { n, before.rlim_max };

        NEED(setrlimit(RLIMIT_NOFILE, &few) == 0);
        r = posixtrace_log_recover(fd, &report, sizeof report);
        NEED(setrlimit(RLIMIT_NOFILE, &before) == 0);
        NEED(r == 0 || r == EMFILE);
    }
    NEED(report.segment_found);
    let_orphan_write();
    NEED(!shared->traced);
    _exit(0);
}

START_TEST(recovery)
{
    run(check_recovery, 0);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, HANG_S);
}

static void add(TCase *t)
{
    tcase_add_loop_test(t, start, 0, WAYS);
    tcase_add_loop_test(t, set_filter, 0, WAYS);
    tcase_add_loop_test(t, set_expression, 0, WAYS);
    tcase_add_loop_test(t, clear, 0, WAYS);
    tcase_add_loop_test(t, stop, 0, WAYS);
    tcase_add_loop_test(t, chain, 0, WAYS);
    tcase_add_loop_test(t, changed_user, 0, 2);
    tcase_add_test(t, each_look);
    tcase_add_loop_test(t, ended, 0, WAYS);
    tcase_add_loop_test(t, shutdown, 0, WAYS);
    tcase_add_test(t, recovery);
}

int main(void)
{
    return run_suite("process pages", "pages", prepare, add);
}
