/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Two threads of a forked child make its first event at once: the process has one record and one
 * page, which goes when it ends.  pt_fork_part() goes through the test, where the second thread
 * comes in between.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace.h>
#include "process/fork.h"
#include "process/self.h"
#include "support/need.h"

enum { HANG_S = 60 };

static pid_t child;
static bool is_second;

void __real_pt_fork_part(void);
void __wrap_pt_fork_part(void);

static void *trace_once(void *unused)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    return unused;
}

void __wrap_pt_fork_part(void)
{
    pthread_t second;

    __real_pt_fork_part();
    if (child != 0 || is_second)
        return;
    is_second = true;
    NEED(pthread_create(&second, NULL, trace_once, NULL) == 0);
    NEED(pthread_join(second, NULL) == 0);
}

static unsigned count_files(void)
{
    DIR *d = opendir(getenv("POSIXTRACE_DIR"));
    unsigned count = 0;

    NEED(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

int main(void)
{
    unsigned before;
    trace_attr_t attr;
    trace_id_t trid;
    int status;

    alarm(HANG_S);
    child = getpid();
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    trace_once(NULL);
    before = count_files();
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        trace_once(NULL);
        NEED(is_second);
        NEED(pt_load_seqcst(&pt_self_latest()->page->copies) == 1);
        exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    NEED(count_files() == before);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}
