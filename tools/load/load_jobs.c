/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See load_jobs.h. */
#include "load/load_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { MESSAGES_MAX = 64 * 1024 };

int load_jobs_init(struct load_jobs *l, const struct load_target *t, unsigned room)
{
    *l = (struct load_jobs){ .target = t, .room = room, .quiet = t->options->follow };
    l->rows = mmap(NULL, LOAD_JOBS_MAX * sizeof *l->rows, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l->rows == MAP_FAILED) {
        l->rows = NULL;
        return tool_error("no memory: %s", strerror(errno));
    }
    return EXIT_DONE;
}

void load_jobs_free(struct load_jobs *l)
{
    if (l->rows)
        munmap((void *)l->rows, LOAD_JOBS_MAX * sizeof *l->rows);
}

unsigned load_jobs_running(const struct load_jobs *l)
{
    unsigned running = 0;

    for (unsigned i = 0; i < l->room; i++)
        running += l->at[i].pid != 0;
    return running;
}

/* With --follow signals are the parent's, which lets the job end. */
static int load_in_child(const struct load_jobs *l, const char *path, unsigned i, pid_t parent)
{
    int status = EXIT_DONE;

    prctl(PR_SET_PDEATHSIG, l->quiet ? SIGKILL : SIGTERM);
    if (getppid() != parent)
        return EXIT_FAILED;
    if (l->quiet) {
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        dup2(l->at[i].messages, STDERR_FILENO);
    }
    if (!l->prepared && load_prepare(l->target) != EXIT_DONE)
        status = LOAD_NO_SERVER;
    if (status == EXIT_DONE)
        status = load_log(l->target, path, &l->rows[i]);
    return out_finish(status);
}

static void close_job(struct load_job *j)
{
    close(j->end);
    if (j->messages >= 0)
        close(j->messages);
    j->pid = 0;
}

int load_jobs_begin(struct load_jobs *l, const char *path, void *of)
{
    pid_t parent = getpid();
    struct load_job *j;
    unsigned i = 0;
    int ends[2];

    while (l->at[i].pid)
        i++;
    j = &l->at[i];
    l->rows[i] = 0;
    out_flush();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tool_error("%s: cannot make a pipe: %s", quote(path), strerror(errno));
    *j = (struct load_job){ .end = ends[0], .messages = -1, .of = of };
    if (l->quiet)
        j->messages = memfd_create("messages", MFD_CLOEXEC);
    if (!l->quiet || j->messages >= 0)
        j->pid = fork();
    else
        j->pid = -1;
    if (j->pid == 0)
        _exit(load_in_child(l, path, i, parent));
    close(ends[1]);
    if (j->pid < 0) {
        int error = errno;

        close_job(j);
        return tool_error("%s: cannot make a process: %s", quote(path), strerror(error));
    }
    return EXIT_DONE;
}

void load_jobs_wait(const struct load_jobs *l, struct pollfd ends[LOAD_JOBS_MAX])
{
    for (unsigned i = 0; i < l->room; i++)
        ends[i] = (struct pollfd){ .fd = l->at[i].pid ? l->at[i].end : -1 };
}

/* To be freed; NULL: they were printed. */
static char *messages_of(const struct load_job *j)
{
    char *text;
    ssize_t n;

    if (j->messages < 0)
        return NULL;
    text = tool_grow(NULL, MESSAGES_MAX + 1, 1);
    n = pread(j->messages, text, MESSAGES_MAX, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void end_job(struct load_jobs *l, unsigned i, load_job_ended *ended, void *context)
{
    struct load_job *j = &l->at[i];
    int status = 0;
    char *messages;

    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    l->rows_before += l->rows[i];
    l->rows[i] = 0;
    messages = messages_of(j);
    close_job(j);
    ended(context, j->of, WIFSIGNALED(status) ? 0 : WEXITSTATUS(status),
          WIFSIGNALED(status) ? WTERMSIG(status) : 0, messages);
    free(messages);
}

void load_jobs_collect(struct load_jobs *l, const struct pollfd ends[LOAD_JOBS_MAX],
                       load_job_ended *ended, void *context)
{
    for (unsigned i = 0; i < l->room; i++)
        if (ends[i].fd >= 0 && ends[i].revents)
            end_job(l, i, ended, context);
}

void load_jobs_kill(const struct load_jobs *l)
{
    for (unsigned i = 0; i < l->room; i++)
        if (l->at[i].pid)
            kill(l->at[i].pid, SIGKILL);
}

uint64_t load_jobs_rows(const struct load_jobs *l)
{
    uint64_t rows = l->rows_before;

    for (unsigned i = 0; i < l->room; i++)
        rows += l->rows[i];
    return rows;
}
