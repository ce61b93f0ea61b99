/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where selftest works, and that nothing of it stays, also when a signal asks
 * it to end.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/tool.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

int selftest_interrupted(void)
{
    return interrupted;
}

static void watch_signals(void)
{
    static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
    /* a second one ends the program, should a part hang */
    struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND }, now;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        /* signals that nohup ignores stay ignored */
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

int selftest_enter(struct selftest *t)
{
    watch_signals();
    t->folder = own_folder(t->log_dir, "posixtrace-selftest-XXXXXX");
    if (!t->folder)
        return tool_error("cannot make a folder for logs in %s: %s; name another place with --log",
                          quote(t->log_dir), strerror(errno));
    t->streams_named = temp_stream_dir_enter(&t->streams);
    return EXIT_DONE;
}

void selftest_leave(struct selftest *t)
{
    own_folder_remove(t->folder);
    temp_stream_dir_leave(&t->streams);
    t->folder = NULL;
}

int selftest_new_log(const struct selftest *t, const char *name, char *path)
{
    char local[PATH_MAX];

    path = path ? path : local;
    snprintf(path, PATH_MAX, "%s/%s", t->folder, name);
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}
