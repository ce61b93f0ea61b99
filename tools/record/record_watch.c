/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Waiting for the end of a recording, without polling but for what has to be
 * looked at from time to time: the live line, processes where the kernel has
 * no pidfd, and, once a second, whether the log is still there.
 *
 * Signals, where record has started the program:
 *   from a key        the terminal has sent it to the program as well: record waits for
 *                     the program, and records what it does because of the signal
 *   from kill(2)      passed on to the program, which then has some time to end
 *   a stronger one    the same; SIGINT, SIGQUIT, SIGHUP and SIGTERM is the order
 *   any other one     record gives up waiting; the program continues, unrecorded
 * A program in another process group gets those of the terminal passed on, too.
 * For processes that were there before, any of them ends the recording at once.
 */
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/units.h"
#include "apart/apart.h"
#include "input/log_file.h"
#include "common/progress.h"
#include "common/tool.h"

/* Milliseconds. */
enum {
    LOOK = 100,
    LIVE = 500,
    LOOK_AT_LOG = 1000,
    PATIENCE = 5000,
    NOTE_AFTER = 1000,
    TOGETHER = 500
};

struct watch {
    struct recording *r;
    const struct record_request *q;
    size_t count, over;
    bool own, live;
    bool own_log;  /* a worker has a pipe, or memory, and root the log */
    int signals;   /* signalfd */
    int64_t shown; /* the live line, ms */
    int64_t told;  /* the latest signal came then; 0: none did */
    int rank;      /* of the strongest one */
    bool limited;  /* the program has PATIENCE to end, and no more */
    bool noted;
    struct watch_end *end;
};

int watch_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Field 22 of /proc/PID/stat; 0: no such process, or a zombie without other threads, whose
 * number is field 20. */
static uint64_t start_time(pid_t pid)
{
    char path[40], text[1024], *at;
    bool zombie;
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return 0;
    zombie = at[2] == 'Z' || at[2] == 'X';
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (at && field == 19 && zombie && atoi(at) <= 1)
            return 0;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

static bool has_ended(struct watch *w, struct recording *r, bool readable)
{
    uint64_t start;
    pid_t pid;

    if (w->own) {
        pid = waitpid(r->pid, &w->end->status, WNOHANG);
        return pid == r->pid || (pid < 0 && errno == ECHILD);
    }
    if (r->pidfd >= 0)
        return readable;
    start = start_time(r->pid);
    if (r->start == 0)
        r->start = start;
    return start == 0 || start != r->start;
}

/* A program that ignores SIGINT, because a shell has started record in the background,
 * gets SIGTERM in its place: the signal was meant to end it. */
static void pass_on(struct watch *w, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;

    w->limited |= number == SIGHUP || number == SIGTERM;
    if (info->ssi_code == SI_KERNEL && getpgid(w->r->pid) == getpgrp())
        return;
    if ((number == SIGINT || number == SIGQUIT) && signals_ignores(w->r->pid, number))
        number = SIGTERM;
    w->limited = true;
    kill(w->r->pid, number);
}

static void take_signal(struct watch *w, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo, rank = signals_rank(number);
    int64_t now = signals_now_ms();

    if (!signals_count(number, info->ssi_code))
        return;
    w->end->signal = number;
    if (!w->own || (w->told && now - w->told > TOGETHER && rank <= w->rank)) {
        w->end->left = true;
        return;
    }
    w->told = now;
    w->rank = rank > w->rank ? rank : w->rank;
    if (!w->r->over)
        pass_on(w, info);
}

static void look_at_signals(struct watch *w)
{
    struct signalfd_siginfo info;

    while (!w->end->left && read(w->signals, &info, sizeof info) == sizeof info)
        take_signal(w, &info);
}

/* The program was to end and has not. */
static void be_patient(struct watch *w)
{
    int64_t waited = w->told ? signals_now_ms() - w->told : 0;

    if (waited >= NOTE_AFTER && !w->noted) {
        w->noted = true;
        tool_note("waiting for process %d to end; once more (Ctrl-C) stops recording and leaves "
                  "it running",
                  (int)w->r->pid);
    }
    if (w->limited && waited >= PATIENCE)
        w->end->left = true;
}

void watch_show(uint64_t events, int64_t ms, double fill, uint64_t lost)
{
    char line[80];

    snprintf(line, sizeof line, "%s events/s, %3.0f %% full, %s lost",
             units_count(events * 1000 / (uint64_t)ms), 100 * fill, units_count(lost));
    progress_step(line);
}

/* On the terminal; a worker's counts go to root, who has it. */
static void show_live(struct watch *w)
{
    int64_t now = signals_now_ms();
    struct apart_counts sum = { .events = 0 };
    uint64_t before = 0;
    double fill = 0;

    if (!w->live || now - w->shown < LIVE)
        return;
    for (size_t i = 0; i < w->count; i++) {
        struct recording *r = &w->r[i];
        struct posixtrace_info info;

        if (!r->active || posixtrace_get_info(r->trid, &info, sizeof info) != 0)
            continue;
        before += r->shown_events;
        sum.events += r->shown_events = info.events;
        sum.lost += log_file_lost(info.lost);
        sum.bytes = info.bytes;
        sum.reserved = info.reserved_bytes;
        if (info.reserved_bytes && fill < (double)info.bytes / (double)info.reserved_bytes)
            fill = (double)info.bytes / (double)info.reserved_bytes;
    }
    if (apart_is_worker())
        apart_send_counts(&sum);
    else
        watch_show(sum.events > before ? sum.events - before : 0, now - w->shown, fill, sum.lost);
    w->shown = now;
}

static int timeout(const struct watch *w)
{
    bool look = w->told != 0, removable = false;

    for (size_t i = 0; i < w->count; i++) {
        look |= !w->r[i].over && w->r[i].pidfd < 0;
        removable |= w->own_log && record_removed_may_be(&w->r[i]);
    }
    return look ? LOOK : w->live ? LIVE : removable ? LOOK_AT_LOG : -1;
}

/* Sleeps until something happens; [count] of p is the signals'. */
static void wait_for_news(struct watch *w, struct pollfd *p)
{
    for (size_t i = 0; i < w->count; i++) {
        p[i].fd = w->r[i].over ? -1 : w->r[i].pidfd;
        p[i].events = POLLIN;
        p[i].revents = 0;
    }
    p[w->count] = (struct pollfd){ .fd = w->signals, .events = POLLIN };
    if (poll(p, w->count + 1, timeout(w)) < 0 && errno != EINTR) {
        tool_error("cannot wait: %s", strerror(errno));
        w->end->left = true;
    }
}

static void look_at_all(struct watch *w, const struct pollfd *p)
{
    for (size_t i = 0; i < w->count; i++) {
        struct recording *r = &w->r[i];

        if (r->over)
            continue;
        r->over = has_ended(w, r, p[i].revents != 0);
        w->over += r->over;
        if (!r->over || w->own)
            continue;
        if (w->own_log)
            record_removed_end(r, w->q);
        recording_end(r);
    }
    look_at_signals(w);
    be_patient(w);
    for (size_t i = 0; i < w->count && w->own_log; i++)
        record_removed_look(&w->r[i], w->q);
    show_live(w);
}

void watch(struct recording *r, size_t count, const struct record_request *q, bool own,
           struct watch_end *end)
{
    struct pollfd *p = tool_grow(NULL, count + 1, sizeof *p);
    struct watch w = { .r = r,
                       .q = q,
                       .count = count,
                       .own = own,
                       .own_log = !apart_is_worker(),
                       .end = end,
                       .shown = signals_now_ms(),
                       .live = apart_is_worker() || (!q->quiet && isatty(STDERR_FILENO) == 1) };

    *end = (struct watch_end){ .left = false };
    w.signals = signals_open();
    /* Without it a signal ends record as it ends others; the log can be recovered. */
    if (w.signals < 0)
        signals_let(NULL);
    if (w.live && !apart_is_worker())
        progress_begin("", 0);
    while (w.over < count && !end->left) {
        wait_for_news(&w, p);
        look_at_all(&w, p);
    }
    progress_end();
    if (w.signals >= 0)
        close(w.signals);
    free(p);
}
