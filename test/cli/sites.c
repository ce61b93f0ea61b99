/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program whose lines describe one event type in several ways, all of one size.
 *
 * usage: sites WHAT...           one after the other:
 *   pair     records "order" with id and price
 *   turned   records "order" with price and id
 *   real     records "order" with a floating point number
 *   long     records the longest name there can be in two ways, longer another with that
 *            beginning in two more
 *   child    a child does the rest
 *   exec     another program, this one again, does the rest
 *   kill     dies of SIGKILL
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/emit.h>

static int exec_rest(char **argv)
{
    execv("/proc/self/exe", argv);
    return 1;
}

static void record_long(char last)
{
    static char name[2][TRACE_EVENT_NAME_MAX + 1];
    int id = 1, price = 100;

    memset(name[last == 'x'], 'n', TRACE_EVENT_NAME_MAX);
    name[last == 'x'][TRACE_EVENT_NAME_MAX - 1] = last;
    for (int i = 0; i < 2; i++)
        if (last == 'x' && i == 0)
            POSIXTRACE_EVENT(name[1], id, price);
        else if (last == 'x')
            POSIXTRACE_EVENT(name[1], price, id);
        else if (i == 0)
            POSIXTRACE_EVENT(name[0], id, price);
        else
            POSIXTRACE_EVENT(name[0], price, price);
}

int main(int argc, char **argv)
{
    int id = 1, price = 100, status = 0;
    double ratio = 1.5;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "pair") == 0)
            POSIXTRACE_EVENT("order", id, price);
        else if (strcmp(argv[i], "turned") == 0)
            POSIXTRACE_EVENT("order", price, id);
        else if (strcmp(argv[i], "real") == 0)
            POSIXTRACE_EVENT("order", ratio);
        else if (strncmp(argv[i], "long", 4) == 0)
            record_long(argv[i][4] ? 'y' : 'x');
        else if (strcmp(argv[i], "child") == 0 && fork() != 0)
            return wait(&status) < 0 || status != 0;
        else if (strcmp(argv[i], "exec") == 0)
            return exec_rest(argv + i);
        else if (strcmp(argv[i], "kill") == 0)
            raise(SIGKILL);
    }
    return 0;
}
