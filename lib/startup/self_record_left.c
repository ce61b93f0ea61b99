/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self_record_left.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "page/page_left.h"
#include "startup/self_record_error.h"
#include "startup/self_record_left.h"

/* Written once, before any child is forked that could look. */
static struct {
    const char *log;
    uint32_t pid;
    uint64_t start;
} recorder;

static void at_exit(void)
{
    pt_self_left_look();
    pt_fence_compiler(); /* as in process/exit.c */
}

void pt_self_left_begin(const struct pt_self *self, const char *log)
{
    recorder.pid = self->pid;
    recorder.start = self->start;
    pt_store_release(&recorder.log, log);
    atexit(at_exit); /* without memory for it types are the only occasion */
}

bool pt_self_left_look(void)
{
    const char *log = pt_load_acquire(&recorder.log);
    int saved = errno, cancel;
    unsigned asks = 1;
    char *line, once[64];

    if (!log || recorder.pid == (uint32_t)getpid() ||
        !pt_page_process_is_gone(recorder.pid, recorder.start, &asks)) {
        errno = saved;
        return false;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (asprintf(&line,
                 "process %d (%s) is not recorded any more: process %u, which recorded it "
                 "into %s, has ended, as it does in daemon(3); start the program in the "
                 "foreground, or use 'posixtrace record --pid'\n",
                 (int)getpid(), program_invocation_short_name, recorder.pid, log) >= 0) {
        snprintf(once, sizeof once, ": process %u, which recorded it", recorder.pid);
        pt_record_error_leave(log, line, once);
        free(line);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return true;
}
