/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Builds a log from lines of standard input, so that a test defines its contents:
 *
 *   d NAME DESCRIPTION                       describes an event type
 *   e NS PID TID THREAD TRUNC NAME DATA      an event
 *   n COUNT STEP NS PID TID THREAD TRUNC NAME DATA
 *                                            so many of them, STEP ns apart
 *   t THREAD_ID                              the pthread_t of the events that follow, 0 at first
 *
 * NAME, DESCRIPTION, THREAD and DATA are hexadecimal, two digits a byte; "-" is nothing.
 *
 * usage: build_log LOG < LINES
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/log.h>

#define WORD "%131071s"

static char words[4][131072];
static uint64_t thread_id;

static void must(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "build_log: %s: %s\n", what, strerror(error));
    exit(1);
}

/* Decodes in place; there is always a NUL after the result. */
static size_t unhex(char *word)
{
    size_t n = 0;
    unsigned byte;

    if (strcmp(word, "-") == 0)
        word[0] = '\0';
    while (sscanf(word + 2 * n, "%2x", &byte) == 1)
        word[n++] = (char)byte;
    word[n] = '\0';
    return n;
}

static void describe(posixtrace_log_builder_t *b)
{
    if (scanf(WORD WORD, words[0], words[1]) != 2)
        must(EINVAL, "d NAME DESCRIPTION");
    unhex(words[0]);
    unhex(words[1]);
    must(posixtrace_log_builder_describe(b, words[0], words[1]), words[0]);
}

static void add(posixtrace_log_builder_t *b, bool many)
{
    struct posixtrace_event e = {
        .name = words[1], .thread_name = words[0], .data = words[2], .thread_id = thread_id
    };
    uint64_t count = 1;
    int64_t step = 0;

    if (many && scanf("%" SCNu64 "%" SCNi64, &count, &step) != 2)
        must(EINVAL, "n COUNT STEP");
    if (scanf("%" SCNi64 "%d%d" WORD "%d" WORD WORD, &e.ns, &e.pid, &e.tid, words[0], &e.truncation,
              words[1], words[2]) != 7)
        must(EINVAL, "NS PID TID THREAD TRUNC NAME DATA");
    unhex(words[0]);
    unhex(words[1]);
    e.data_len = unhex(words[2]);
    for (; count > 0; count--) {
        must(posixtrace_log_builder_add(b, &e, sizeof e), words[1]);
        e.ns += step;
    }
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
    posixtrace_log_builder_t *b;
    char what[2];

    must(fd < 0 ? EINVAL : 0, "usage: build_log LOG < LINES");
    must(posixtrace_log_builder_create(fd, NULL, &b), argv[1]);
    while (scanf("%1s", what) == 1) {
        if (what[0] == 'd')
            describe(b);
        else if (what[0] == 't')
            must(scanf("%" SCNu64, &thread_id) == 1 ? 0 : EINVAL, "t THREAD_ID");
        else
            add(b, what[0] == 'n');
    }
    must(posixtrace_log_builder_finish(b), argv[1]);
    return close(fd) != 0;
}
