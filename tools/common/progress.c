/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Progress; see progress.h.  The line is short (below 80 columns) and written
 * with one write(2).  For work inside one library call a thread of our own
 * keeps the line; the lock is held while it writes and while a message wipes
 * the line, so that the two do not mix.
 */
#include "common/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/tool.h"

#define SECOND 1000000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static pthread_t thread;

static struct {
    const char *text; /* unit, or the present step */
    uint64_t total;
    int64_t begun;
    int64_t shown; /* when the line was last written */
    bool active;
    bool visible;
    bool blind; /* the thread runs */
} state;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void show(const char *line, int length)
{
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) == length)
        state.visible = true;
}

static void wipe_locked(void)
{
    if (state.visible && write(STDERR_FILENO, "\r\033[K", 4) == 4)
        state.visible = false;
}

static void begin(const char *text, uint64_t total)
{
    state.text = text;
    state.total = total;
    state.begun = state.shown = now();
    state.active = isatty(STDERR_FILENO) == 1;
}

void progress_begin(const char *unit, uint64_t total)
{
    begin(unit, total);
}

void progress_at(uint64_t done)
{
    char line[120];
    int64_t t;
    int n;

    if (!state.active)
        return;
    t = now();
    if (t - state.begun < SECOND || t - state.shown < SECOND / 5)
        return;
    state.shown = t;
    if (state.total > 0)
        n = snprintf(
            line, sizeof line, "\r\033[Kposixtrace: %s: %3.0f %% (%.1f million %s)", tool_verb(),
            100.0 * (double)(done < state.total ? done : state.total) / (double)state.total,
            (double)done / 1e6, state.text);
    else
        n = snprintf(line, sizeof line, "\r\033[Kposixtrace: %s: %.1f million %s", tool_verb(),
                     (double)done / 1e6, state.text);
    pthread_mutex_lock(&lock);
    show(line, n);
    pthread_mutex_unlock(&lock);
}

void progress_step(const char *text)
{
    char line[120];
    int n;

    if (!state.active || now() - state.begun < SECOND)
        return;
    n = snprintf(line, sizeof line, "\r\033[Kposixtrace: %s: %.50s", tool_verb(), text);
    pthread_mutex_lock(&lock);
    show(line, n);
    pthread_mutex_unlock(&lock);
}

static void *tell_time(void *unused)
{
    struct timespec until;

    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&lock);
    while (state.active) {
        char line[120];

        until.tv_sec++;
        while (state.active && pthread_cond_timedwait(&ended, &lock, &until) != ETIMEDOUT)
            ;
        if (!state.active)
            break;
        show(line, snprintf(line, sizeof line, "\r\033[Kposixtrace: %s: %s, %" PRId64 " s",
                            tool_verb(), state.text, (now() - state.begun) / SECOND));
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void progress_begin_blind(const char *what)
{
    pthread_condattr_t attr;
    sigset_t all, before;

    begin(what, 0);
    if (!state.active)
        return;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&ended, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    state.blind = pthread_create(&thread, NULL, tell_time, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_end(void)
{
    pthread_mutex_lock(&lock);
    state.active = false;
    if (state.blind)
        pthread_cond_signal(&ended);
    wipe_locked();
    pthread_mutex_unlock(&lock);
    if (state.blind) {
        pthread_join(thread, NULL);
        pthread_cond_destroy(&ended);
        state.blind = false;
    }
}

void progress_wipe(void)
{
    pthread_mutex_lock(&lock);
    wipe_locked();
    pthread_mutex_unlock(&lock);
}
