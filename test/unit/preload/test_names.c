/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A thread's new name is in the stream when the call that gives it returns: it is in the log of a
 * process that ends right after that without a chance to say anything.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <posixtrace/event.h>
#include "support/flush_log.h"
#include "support/log_file.h"
#include "support/run_suite.h"
#include "support/system_types.h"

#define ck_ok(call) ck_assert_int_eq((call), 0)

enum way { BY_ANOTHER, BY_ITSELF, BY_PRCTL, WAYS };
enum end { BY_SIGNAL, BY_EXIT, BY_EXEC, ENDS };

static trace_event_id_t tick;
static enum way way;
static sem_t traced, go, named;

static void *run(void *unused)
{
    posix_trace_event(tick, "", 0);
    sem_post(&traced);
    sem_wait(&go);
    if (way == BY_ITSELF)
        NEED(pthread_setname_np(pthread_self(), "the latest") == 0);
    if (way == BY_PRCTL)
        NEED(prctl(PR_SET_NAME, "the latest") == 0);
    sem_post(&named);
    for (;;)
        pause();
    return unused;
}

/* The flush has read the first name, so that no round will read another one for a second. */
static void be_child(int fd, enum end end)
{
    pthread_t thread;
    trace_id_t trid;

    NEED(sem_init(&traced, 0, 0) == 0 && sem_init(&go, 0, 0) == 0 && sem_init(&named, 0, 0) == 0);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    NEED(sem_wait(&traced) == 0);
    flush_log(trid);
    if (way == BY_ANOTHER)
        NEED(pthread_setname_np(thread, "the latest") == 0);
    NEED(sem_post(&go) == 0 && sem_wait(&named) == 0);
    if (end == BY_SIGNAL)
        raise(SIGKILL);
    if (end == BY_EXEC)
        execl("/bin/true", "true", NULL);
    _exit(0);
}

static void expect_name(int fd, const char *name)
{
    struct posixtrace_event e;
    unsigned found = 0;
    trace_id_t trid;
    int none;

    ck_ok(posix_trace_open(fd, &trid));
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        if (strcmp(e.name, "tick") != 0)
            continue;
        ck_assert_str_eq(e.thread_name, name);
        found++;
    }
    ck_assert_uint_eq(found, 1);
    ck_ok(posix_trace_close(trid));
    close(fd);
}

START_TEST(at_once)
{
    enum end end = (enum end)(_i % ENDS);
    int fd = log_file();
    pid_t child;

    way = (enum way)(_i / ENDS);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        be_child(fd, end);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect_name(fd, "the latest");
}
END_TEST

/* What the calls return, of names and of everything else that prctl() is for. */
START_TEST(calls_as_before)
{
    char had[16], name[17] = "";
    pthread_t self = pthread_self();

    ck_ok(prctl(PR_GET_NAME, had));
    ck_assert_int_eq(pthread_setname_np(self, "1234567890123456"), ERANGE);
    errno = EDOM;
    ck_ok(pthread_setname_np(self, "123456789012345"));
    ck_ok(prctl(PR_GET_NAME, name));
    ck_assert_str_eq(name, "123456789012345");
    ck_ok(prctl(PR_SET_NAME, "12345678901234567890")); /* which cuts it */
    ck_assert_int_eq(errno, EDOM);
    ck_ok(prctl(PR_GET_NAME, name));
    ck_assert_str_eq(name, "123456789012345");
    ck_ok(prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0));
    ck_ok(prctl(PR_GET_PDEATHSIG, name, 0, 0, 0));
    ck_assert_int_eq(*(int *)(void *)name, SIGUSR1);
    ck_ok(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
    errno = 0;
    ck_assert_int_eq(prctl(-1, 0, 0, 0, 0), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_ok(prctl(PR_SET_NAME, had));
}
END_TEST

static bool lists(trace_id_t trid, trace_event_id_t wanted)
{
    ck_assert_int_eq(posix_trace_eventtypelist_rewind(trid), 0);
    for (;;) {
        trace_event_id_t id;
        int end;

        ck_assert_int_eq(posix_trace_eventtypelist_getnext_id(trid, &id, &end), 0);
        if (end || id == wanted)
            return !end;
    }
}

/* The names of event types: a process that has opened one of them has all.  Here, as nothing was
 * recorded before. */
START_TEST(opened_by_name)
{
    trace_event_id_t id = 0;
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);

    ck_assert(!lists(trid, POSIXTRACE_MUTEX_LOCKED));
    ck_assert_int_eq(posix_trace_trid_eventid_open(trid, "posixtrace_mutex_locked", &id), 0);
    ck_assert_uint_eq(id, POSIXTRACE_MUTEX_LOCKED);
    for (id = POSIXTRACE_SWITCH_IN; id <= OWN_LAST; id++)
        ck_assert(lists(trid, id));
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    posix_trace_attr_destroy(&attr);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, opened_by_name);
    tcase_add_loop_test(t, at_once, 0, WAYS * ENDS);
    tcase_add_test(t, calls_as_before);
}

int main(void)
{
    return run_suite("preload_names", "names of threads", NULL, add);
}
