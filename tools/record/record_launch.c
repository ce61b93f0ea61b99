/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Starting the program that is recorded: the child waits on a socket until its
 * stream runs, receives the stream's name, and executes the program.  The socket
 * closes when that succeeds; else an error number comes back through it.
 *
 * The program finds POSIXTRACE_FOLLOW in its environment, the name of the
 * stream, for the sake of those it starts: between it and them may be a shell or
 * another program without the library, which inherits nothing.
 */
#include "record/record.h"

#include <errno.h>
#include <posixtrace/stream.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/size_limit.h"
#include "common/tool.h"

enum { STATUS_NO_EXEC = 126, STATUS_NO_PROGRAM = 127, NAME_ROOM = 128 };

static int refuse(const char *name, int error)
{
    tool_error("%s: %s", quote(name), strerror(error));
    return error == ENOENT || error == ENOTDIR ? STATUS_NO_PROGRAM : STATUS_NO_EXEC;
}

/* 0, or why the file cannot be executed. */
static int can_execute(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    return S_ISDIR(st.st_mode) || access(path, X_OK) < 0 ? EACCES : 0;
}

/* As execvp() does: the first in PATH that can be executed. */
static int search_path(struct launch *l, const char *name)
{
    const char *path = getenv("PATH");
    int error = ENOENT;

    for (const char *at = path ? path : "/bin:/usr/bin"; at;) {
        size_t length = strcspn(at, ":");
        char *file = NULL;
        int e;

        if (asprintf(&file, "%.*s%s%s", (int)length, at, length ? "/" : "", name) < 0)
            return ENOMEM;
        e = can_execute(file);
        if (e == 0) {
            l->path = file;
            return 0;
        }
        free(file);
        error = e == EACCES ? e : error;
        at = at[length] ? at + length + 1 : NULL;
    }
    return error;
}

int launch_find(struct launch *l, char **argv)
{
    int error;

    *l = (struct launch){ .argv = argv, .channel = -1 };
    if (strchr(argv[0], '/')) {
        error = can_execute(argv[0]);
        l->path = strdup(argv[0]);
    } else {
        error = *argv[0] ? search_path(l, argv[0]) : ENOENT;
    }
    return error ? refuse(argv[0], error) : EXIT_DONE;
}

/* Makes the directory absolute, so that the streams of descendants with another working directory
 * are in the same place. */
static bool fix_directory(void)
{
    const char *given = getenv("POSIXTRACE_DIR");

    return !given || !*given || *given == '/' ||
           setenv("POSIXTRACE_DIR", posixtrace_stream_directory(), 1) == 0;
}

_Noreturn static void be_child(const struct launch *l, int channel, void (*on_child)(int))
{
    char file[NAME_ROOM];
    ssize_t n = recv(channel, file, sizeof file - 1, 0);
    int error;

    if (n <= 0)
        _exit(EXIT_FAILED);
    file[n] = '\0';
    if (setenv("POSIXTRACE_FOLLOW", file, 1) == 0 && fix_directory() &&
        (!l->preload || record_system_set_preload(l->preload)) &&
        (!l->functions || record_system_set_functions()) &&
        (!l->longer_than || record_system_set_longer(l->longer_than)) &&
        (!l->stacks || record_system_set_stacks(l->stacks))) {
        signal(SIGCHLD, on_child);
        signals_restore();
        size_limit_restore();
        execvp(l->argv[0], l->argv);
    }
    error = errno;
    send(channel, &error, sizeof error, MSG_NOSIGNAL);
    _exit(STATUS_NO_EXEC);
}

int launch_fork(struct launch *l)
{
    /* Our parent may have it ignored; then there is no status to wait for. */
    void (*on_child)(int) = signal(SIGCHLD, SIG_DFL);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return tool_error("no socket to the program: %s", strerror(errno));
    l->pid = fork();
    if (l->pid == 0) {
        close(ends[0]);
        be_child(l, ends[1], on_child);
    }
    close(ends[1]);
    l->channel = ends[0];
    if (l->pid < 0) {
        close(ends[0]);
        return tool_error("cannot start a process: %s", strerror(errno));
    }
    return EXIT_DONE;
}

int launch_go(struct launch *l, const char *stream_file)
{
    int error = 0, said = 0;
    ssize_t n = -1;

    if (send(l->channel, stream_file, strlen(stream_file), MSG_NOSIGNAL) < 0)
        error = errno;
    while (error == 0 && (n = recv(l->channel, &said, sizeof said, 0)) < 0 && errno == EINTR)
        ;
    close(l->channel);
    l->channel = -1;
    if (error != 0)
        return tool_error("the new process %d has ended before its program began", (int)l->pid);
    if (n != sizeof said)
        return EXIT_DONE;
    waitpid(l->pid, NULL, 0);
    return refuse(l->argv[0], said);
}

void launch_cancel(struct launch *l)
{
    if (l->channel >= 0) {
        close(l->channel);
        waitpid(l->pid, NULL, 0);
    }
    l->channel = -1;
    free(l->path);
    free(l->preload);
    l->path = l->preload = NULL;
}

int launch_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
