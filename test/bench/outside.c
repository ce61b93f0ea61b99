/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What it costs a program to be traced by another one: the same loop of events
 * with a stream of its own, and with a stream that a controller, a process beside
 * it, has made for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/subjects.h"

enum { MIB = 1 << 20 };

/* The controller's two ends; it answers each byte with one. */
static int to_controller, from_controller;

static void control(pid_t target, int commands, int answers)
{
    trace_id_t trid = subject_stream_of(target, POSIX_TRACE_LOOP, MIB);
    char command;

    while (read(commands, &command, 1) == 1) {
        if (command == '+')
            subject_must("posix_trace_start", posix_trace_start(trid));
        else
            subject_must("posix_trace_stop", posix_trace_stop(trid));
        if (write(answers, &command, 1) != 1)
            break;
    }
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    _exit(0);
}

static void tell(char command)
{
    if (write(to_controller, &command, 1) != 1 || read(from_controller, &command, 1) != 1) {
        fputs("outside: the controller has ended\n", stderr);
        exit(1);
    }
}

static void start_from_outside(void *arg)
{
    (void)arg;
    tell('+');
    for (int i = 0; i < 64; i++)
        posix_trace_event(subject_id, subject_data, 8);
}

static void stop_from_outside(void *arg)
{
    (void)arg;
    tell('-');
}

static pid_t start_controller(void)
{
    int commands[2], answers[2];
    pid_t target = getpid(), pid;

    if (pipe(commands) != 0 || pipe(answers) != 0)
        abort();
    pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        close(commands[1]);
        close(answers[0]);
        control(target, commands[0], answers[1]);
    }
    close(commands[0]);
    close(answers[1]);
    to_controller = commands[1];
    from_controller = answers[0];
    return pid;
}

int main(void)
{
    pid_t controller = start_controller();
    trace_id_t trid;
    struct bench_side sides[] = {
        { .name = "traced by itself",
          .work = loop_event8,
          .before = stream_start,
          .after = stream_stop,
          .arg = &trid },
        { .name = "traced by another process",
          .work = loop_event8,
          .before = start_from_outside,
          .after = stop_from_outside },
    };

    bench_pin(0);
    subjects_init();
    trid = subject_stream(POSIX_TRACE_LOOP, MIB);
    bench_compare("a program traced from outside, 8 bytes", sides, BENCH_COUNT(sides));
    bench_row(&(struct bench_row){
        .id = "outside",
        .work = "8-byte event of a program that another process traces",
        .value = sides[1].median / sides[0].median,
        .unit = "x tracing itself",
        .sense = BENCH_AT_MOST,
        .limit = 1.1,
        .note = bench_text("%.2f ns to %.2f ns", sides[1].median, sides[0].median) });
    subject_must("posix_trace_shutdown", posix_trace_shutdown(trid));
    close(to_controller);
    if (waitpid(controller, NULL, 0) != controller)
        return 1;
    return bench_end();
}
