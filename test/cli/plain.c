/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that has trace points and does not know its recorder.
 *
 * usage: plain WHAT...           one after the other:
 *   events N NAME  records N events of a type, with their number as data
 *   open NAME      opens a type
 *   names N        opens N types, name1 and so on
 *   describe NAME TEXT  describes its data
 *   streams N      creates N streams of its own
 *   fork           a child makes the next steps; its parent waits and exits with its status
 *   daemon         daemon(3): a child continues, its parent ends
 *   leave          leaves a child that lives as long as standard input
 *   thread         a thread makes the next steps; main() ends by pthread_exit()
 *   exec CMD...    executes another program
 *   say WORD       prints a line
 *   wait           reads a line of standard input
 *   catch N        from now on signal N records an event "caught"
 *   ignore N       from now on signal N is ignored
 *   pause          waits for a signal that is caught
 *   signal N       sends signal N to itself
 *   euid           prints the effective user id
 *   exit N         exits with status N
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <posixtrace/typed.h>
#include <trace.h>
#include <unistd.h>

static trace_event_id_t caught;
static volatile sig_atomic_t times;

static trace_event_id_t open_type(const char *name)
{
    trace_event_id_t id;
    int error = posix_trace_eventid_open(name, &id);

    if (error == 0)
        return id;
    fprintf(stderr, "plain: %s: %s\n", name, strerror(error));
    exit(1);
}

static void create_streams(int count)
{
    trace_id_t trid;

    for (int i = 0; i < count; i++)
        if (posix_trace_create(0, NULL, &trid) != 0)
            exit(96);
}

static void open_names(int count)
{
    char name[16];

    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "name%d", i);
        open_type(name);
    }
}

static void record(uint64_t count, const char *name)
{
    trace_event_id_t id = open_type(name);

    for (uint64_t i = 1; i <= count; i++)
        posix_trace_event(id, &i, sizeof i);
}

static void note(int number)
{
    posix_trace_event(caught, &number, sizeof number);
    times++;
}

static void go_on_in_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        return;
    while (pid > 0 && waitpid(pid, &status, 0) != pid)
        ;
    exit(WEXITSTATUS(status));
}

static void wait_for_line(void)
{
    char c = 0;

    while (c != '\n' && read(STDIN_FILENO, &c, 1) > 0)
        ;
}

/* The child has recorded an event before the parent continues. */
static void leave_child(void)
{
    int ends[2];
    char c;

    if (pipe(ends) < 0)
        exit(1);
    if (fork() == 0) {
        record(1, "left");
        close(ends[0]);
        close(ends[1]);
        wait_for_line();
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &c, 1) != 0)
        exit(1);
    close(ends[0]);
}

static void wait_for_signal(void)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    puts("waiting");
    fflush(stdout);
    while (times == 0)
        sigsuspend(&before);
    times = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Words without a value; false: none of them. */
static int do_simple(const char *word)
{
    if (strcmp(word, "fork") == 0)
        go_on_in_child();
    else if (strcmp(word, "daemon") == 0)
        return daemon(1, 1) == 0;
    else if (strcmp(word, "leave") == 0)
        leave_child();
    else if (strcmp(word, "wait") == 0)
        wait_for_line();
    else if (strcmp(word, "pause") == 0)
        wait_for_signal();
    else if (strcmp(word, "euid") == 0)
        printf("%u\n", (unsigned)geteuid());
    else
        return 0;
    return 1;
}

static void do_with_value(const char *word, const char *value)
{
    if (strcmp(word, "open") == 0)
        open_type(value);
    else if (strcmp(word, "names") == 0)
        open_names(atoi(value));
    else if (strcmp(word, "streams") == 0)
        create_streams(atoi(value));
    else if (strcmp(word, "say") == 0)
        puts(value);
    else if (strcmp(word, "catch") == 0)
        caught = open_type("caught"), signal(atoi(value), note);
    else if (strcmp(word, "ignore") == 0)
        signal(atoi(value), SIG_IGN);
    else if (strcmp(word, "signal") == 0)
        raise(atoi(value));
    else if (strcmp(word, "exit") == 0)
        exit(atoi(value));
    else
        exit(99);
    fflush(stdout);
}

struct steps {
    int count;
    char **words;
};

static void do_steps(int argc, char **argv);

static void *do_in_thread(void *argument)
{
    const struct steps *steps = argument;

    do_steps(steps->count, steps->words);
    exit(0);
}

static void leave_main(int argc, char **argv)
{
    static struct steps steps;
    pthread_t thread;

    steps = (struct steps){ argc, argv };
    if (pthread_create(&thread, NULL, do_in_thread, &steps) != 0)
        exit(95);
    pthread_exit(NULL);
}

static void do_steps(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "events") == 0 && i + 2 < argc) {
            record(strtoull(argv[i + 1], NULL, 10), argv[i + 2]);
            i += 2;
        } else if (strcmp(argv[i], "describe") == 0 && i + 2 < argc) {
            if (posixtrace_event_describe(argv[i + 1], argv[i + 2], NULL) != 0)
                exit(97);
            i += 2;
        } else if (strcmp(argv[i], "exec") == 0 && i + 1 < argc) {
            execvp(argv[i + 1], argv + i + 1);
            exit(98);
        } else if (strcmp(argv[i], "thread") == 0) {
            leave_main(argc - i - 1, argv + i + 1);
        } else if (!do_simple(argv[i])) {
            if (i + 1 == argc)
                exit(99);
            do_with_value(argv[i], argv[i + 1]);
            i++;
        }
    }
}

int main(int argc, char **argv)
{
    do_steps(argc - 1, argv + 1);
    return 0;
}
