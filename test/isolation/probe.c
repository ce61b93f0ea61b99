/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Tries operations on other processes and on itself.  The tests of isolation start this program as
 * some user, in some namespace.  Each step prints one line, with the name of its error.
 *
 * usage: probe STEP...           one after the other:
 *   self           a stream of its own: 100 events are recorded and read back
 *   log FILE       the same with a log
 *   create PID     a stream that traces PID, started; "sibling": a child that waits
 *   drain          how many events "tick" are in it
 *   lost           how many events it has lost, and how many processes it has refused
 *   end            shuts it down
 *   inherited      a stream of its own that children inherit, started
 *   attach FILE    reads a stream of another process, with "drain"
 *   follow         sets POSIXTRACE_FOLLOW to the file of the last stream listed
 *   list           the streams in the directory, a line "stream FILE" for each
 *   reap           removes files of dead processes
 *   events N       records N events "tick"
 *   fork           a child makes the next steps; its parent waits, and continues after "joined"
 *   exec CMD... ;  executes a program in a child, and waits
 *   undumpable     forbids others to read its memory
 *   saved USER:ID  root becomes the user, and keeps ID as its saved user id
 *   ids            user and group it acts as
 *   say WORD       prints WORD
 *   wait           reads a line of standard input
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include <unistd.h>

enum { OWN_EVENTS = 100 };

static trace_id_t trid;
static int attached;
static char last_file[128];

static const char *name_of(int error)
{
    return error == 0 ? "OK" : error == ENOTSUP ? "ENOTSUP" : strerrorname_np(error);
}

static int say(const char *what, int error)
{
    printf("%s %s\n", what, name_of(error));
    return error;
}

static void record(uint64_t count)
{
    trace_event_id_t tick;

    if (posix_trace_eventid_open("tick", &tick) != 0) {
        puts("eventid_open failed");
        return;
    }
    for (uint64_t i = 1; i <= count; i++)
        posix_trace_event(tick, &i, sizeof i);
}

typedef int next_function(trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *,
                          int *);

/* How many events "tick" are left to read; -1: they cannot be read. */
static long count(trace_id_t from, next_function *next)
{
    struct posix_trace_event_info info;
    int none = 0, error;
    long n = 0;

    for (;;) {
        char name[TRACE_EVENT_NAME_MAX + 1];
        uint64_t data;
        size_t length;

        error = next(from, &info, &data, sizeof data, &length, &none);
        if (error || none)
            break;
        if (posix_trace_eventid_get_name(from, info.posix_event_id, name) == 0)
            n += strcmp(name, "tick") == 0;
    }
    return error && error != ENXIO ? -1 : n;
}

static void own_stream(void)
{
    int error = posix_trace_create(0, NULL, &trid);

    if (error) {
        say("self", error);
        return;
    }
    posix_trace_start(trid);
    record(OWN_EVENTS);
    if (count(trid, posix_trace_trygetnext_event) != OWN_EVENTS)
        puts("self incomplete");
    else
        say("self", posix_trace_shutdown(trid));
}

static void own_log(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_trace_create_withlog(0, NULL, fd, &trid);
    trace_id_t log;

    if (!error) {
        posix_trace_start(trid);
        record(OWN_EVENTS);
        error = posix_trace_shutdown(trid);
    }
    if (!error && posix_trace_open(fd, &log) == 0) {
        if (count(log, posix_trace_getnext_event) != OWN_EVENTS)
            error = EBADMSG;
        posix_trace_close(log);
    }
    say("log", error);
    if (fd >= 0)
        close(fd);
}

static pid_t sibling(void)
{
    int ends[2];
    pid_t pid;
    char c;

    if (pipe(ends) < 0 || (pid = fork()) < 0)
        exit(98);
    if (pid == 0) {
        close(ends[1]);
        _exit(read(ends[0], &c, 1) != 0);
    }
    close(ends[0]);
    return pid;
}

static void create(const char *pid)
{
    int error = posix_trace_create(strcmp(pid, "sibling") ? atoi(pid) : sibling(), NULL, &trid);

    if (!error)
        error = posix_trace_start(trid);
    say("create", error);
}

static void create_inherited(void)
{
    trace_attr_t attr;
    int error;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
    error = posix_trace_create(0, &attr, &trid);
    if (!error)
        error = posix_trace_start(trid);
    say("inherited", error);
}

static int note(void *unused, const struct posixtrace_stream *s)
{
    static const char *const states[] = { "alive", "dead", "unknown" };

    (void)unused;
    snprintf(last_file, sizeof last_file, "%s", s->file);
    printf("stream %s %s\n", s->file, states[s->liveness]);
    return 0;
}

static void join(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(98);
    if (WIFSIGNALED(status))
        printf("joined SIG%s\n", sigabbrev_np(WTERMSIG(status)));
    else
        printf("joined %d\n", WEXITSTATUS(status));
}

static void go_on_in_child(void)
{
    pid_t pid = fork();

    if (pid != 0)
        join(pid);
}

/* The words up to the semicolon; how many. */
static int execute(char **argv)
{
    int n = 0;
    pid_t pid;

    while (argv[n] && strcmp(argv[n], ";") != 0)
        n++;
    argv[n] = NULL;
    pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    join(pid);
    return n;
}

static void wait_for_line(void)
{
    char c = 0;

    while (c != '\n' && read(STDIN_FILENO, &c, 1) > 0)
        ;
}

static void set_follow(void)
{
    setenv("POSIXTRACE_FOLLOW", last_file, 1);
}

/* Dumpable again, which it is not after it was root: only the saved id is other. */
static void keep_id(const char *ids)
{
    uid_t user = (uid_t)atoi(ids), saved = (uid_t)atoi(strchr(ids, ':') + 1);

    if (setresgid(user, user, user) || setresuid(user, user, saved) || prctl(PR_SET_DUMPABLE, 1))
        exit(98);
}

static void print_ids(void)
{
    printf("ids %u %u\n", (unsigned)geteuid(), (unsigned)getegid());
}

static void drain(void)
{
    printf("drain %ld\n", count(trid, posix_trace_trygetnext_event));
}

static void print_lost(void)
{
    struct posixtrace_limits limits = { .threads = 0 };
    uint64_t lost = 0, all = 0;

    for (unsigned cause = 0; posixtrace_lost(trid, cause, &lost) == 0; cause++)
        all += lost;
    posixtrace_get_limits(trid, &limits, sizeof limits);
    printf("lost %" PRIu64 " %" PRIu32 "\n", all, limits.refused_processes);
}

static void end_stream(void)
{
    say("end", attached ? posixtrace_detach(trid) : posix_trace_shutdown(trid));
}

static void list(void)
{
    say("list", posixtrace_stream_list(note, NULL));
}

static void reap(void)
{
    say("reap", posixtrace_stream_reap(0, NULL, NULL));
}

static void hide(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} steps[] = {
    { "self", own_stream },    { "drain", drain },
    { "end", end_stream },     { "inherited", create_inherited },
    { "follow", set_follow },  { "list", list },
    { "reap", reap },          { "fork", go_on_in_child },
    { "undumpable", hide },    { "ids", print_ids },
    { "wait", wait_for_line }, { "lost", print_lost },
};

static void with_value(const char *step, const char *value)
{
    if (strcmp(step, "create") == 0)
        create(value);
    else if (strcmp(step, "log") == 0)
        own_log(value);
    else if (strcmp(step, "attach") == 0)
        attached = say("attach", posixtrace_attach(value, &trid)) == 0;
    else if (strcmp(step, "events") == 0)
        record(strtoull(value, NULL, 10));
    else if (strcmp(step, "saved") == 0)
        keep_id(value);
    else if (strcmp(step, "say") == 0)
        puts(value);
    else
        exit(99);
}

int main(int argc, char **argv)
{
    size_t k;

    for (int i = 1; i < argc; i++) {
        for (k = 0; k < sizeof steps / sizeof *steps && strcmp(argv[i], steps[k].name); k++)
            ;
        if (k < sizeof steps / sizeof *steps) {
            steps[k].run();
        } else if (i + 1 == argc) {
            return 99;
        } else if (strcmp(argv[i], "exec") == 0) {
            i += execute(argv + i + 1) + 1;
        } else {
            with_value(argv[i], argv[i + 1]);
            i++;
        }
        fflush(stdout);
    }
    return 0;
}
