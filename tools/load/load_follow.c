/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Logs that appear in folders.  Each file that a scan finds is given to a job once, in the order of
 * the paths, and again if it has changed since.  The protocol (load.h) makes that the server has
 * each log once: a job asks for what was loaded before, also by others, and leaves it alone.
 *
 * A log that is being written is tried again and again, a damaged one for some seconds, since it
 * may be a copy that is under way; then it is reported, once.  Errors of the server stop all jobs
 * but one, which tries again, until one is done.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "load/load.h"
#include "load/load_jobs.h"
#include "load/load_scan.h"

enum {
    SCAN_MS = 5000,       /* without a word of inotify, */
    BLIND_MS = 1000,      /* and where it cannot watch */
    SCAN_SOON_MS = 50,    /* after its word: more may follow */
    SCAN_SHARE = 10,      /* scans take at most one of so many parts of the time */
    RETRY_MS = 1000,      /* the first of the pauses, which double */
    UNFINISHED_MS = 8000, /* the longest, of a log that is being written, */
    SERVER_MS = 60000,    /* of the server, */
    BROKEN_MS = 600000,   /* and of a log with an error */
    SETTLED_MS = 5000,    /* a file that did not change for so long is not being copied */
    GRACE_MS = 20000      /* for jobs, when a signal has come */
};

enum state { READY, RUNNING, DONE };

struct file {
    char *path;
    struct load_identity is, loading; /* loading: as it was when its job began */
    enum state state;
    bool gone;            /* while it is loaded */
    bool said;            /* its error */
    unsigned tries;       /* since it has changed */
    int64_t changed, due; /* ms */
};

struct following {
    struct load_jobs jobs;
    struct load_scan scan;
    struct file **files; /* by path */
    size_t count;
    int64_t scan_due, scan_from; /* ms: the next scan; not before */
    bool trouble;                /* of the server, which was said: */
    unsigned trouble_tries;
    int64_t gate; /* ms: no job before it */
    int status;
};

static volatile sig_atomic_t signal_count;

static void on_signal(int number)
{
    (void)number;
    signal_count++;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t pause_ms(unsigned tries, int64_t most)
{
    int64_t ms = (int64_t)RETRY_MS << (tries < 16 ? tries : 16);

    return ms < most ? ms : most;
}

/* ---- files ---- */

static struct file *new_file(struct load_found *from, int64_t now)
{
    struct file *f = tool_zeroed(sizeof *f);

    f->path = from->path;
    from->path = NULL;
    f->is = from->is;
    f->changed = f->due = now;
    return f;
}

static void free_file(struct file *f)
{
    free(f->path);
    free(f);
}

/* A file that is written to all the time is not tried each time. */
static void take_change(struct file *f, const struct load_found *from, int64_t now)
{
    if (load_identity_is(&f->is, &from->is))
        return;
    f->is = from->is;
    f->changed = now;
    if (f->state == DONE || f->said) {
        f->tries = 0;
        f->said = false;
        f->due = now;
    }
    if (f->state == DONE)
        f->state = READY;
}

static void drop(struct file *f)
{
    if (f->state == RUNNING) {
        f->gone = true;
        return;
    }
    if (f->state == READY && !f->said)
        tool_error("%s was removed before it was loaded", quote(f->path));
    free_file(f);
}

/* Puts what a scan has found in the place of the list. */
static void merge(struct following *w, int64_t now)
{
    struct load_scan *s = &w->scan;
    struct file **files = tool_grow(NULL, s->count + w->count + 1, sizeof *files);
    size_t count = 0, i = 0;

    for (size_t k = 0; i < s->count || k < w->count;) {
        int order = i == s->count   ? 1
                    : k == w->count ? -1
                                    : strcmp(s->found[i].path, w->files[k]->path);

        if (order < 0) {
            files[count++] = new_file(&s->found[i++], now);
        } else if (order == 0) {
            w->files[k]->gone = false;
            take_change(w->files[k], &s->found[i++], now);
            files[count++] = w->files[k++];
        } else {
            if (s->failed || w->files[k]->state == RUNNING)
                files[count++] = w->files[k];
            if (!s->failed)
                drop(w->files[k]);
            k++;
        }
    }
    free(w->files);
    w->files = files;
    w->count = count;
}

static void look(struct following *w)
{
    int64_t begin = now_ms(), end;

    load_scan_run(&w->scan);
    merge(w, begin);
    end = now_ms();
    w->scan_from = end + SCAN_SOON_MS + (end - begin) * SCAN_SHARE;
    w->scan_due = end + (w->scan.blind ? BLIND_MS : SCAN_MS);
    w->scan_due = w->scan_due > w->scan_from ? w->scan_due : w->scan_from;
}

/* ---- results ---- */

static void say(const char *messages)
{
    fwrite(messages, 1, strlen(messages), stderr);
    fflush(stderr);
}

static void loaded(struct following *w, struct file *f, const char *messages)
{
    say(messages);
    if (w->trouble)
        tool_note("the server takes logs again");
    w->jobs.prepared = true;
    w->trouble = false;
    w->trouble_tries = 0;
    w->gate = 0;
    f->state = load_identity_is(&f->is, &f->loading) ? DONE : READY;
    f->tries = 0;
    f->said = false;
    f->due = now_ms();
}

/* An error that comes with one log only, after others were loaded, is said once for that log. */
static void no_server(struct following *w, struct file *f, const char *messages)
{
    w->jobs.prepared = false; /* the server may be another one, without them */
    f->due = now_ms() + pause_ms(f->tries++, f->said ? BROKEN_MS : SERVER_MS);
    if (f->said && !w->trouble)
        return;
    if (!w->trouble) {
        say(messages);
        tool_note("the load is tried again until the server takes it");
        f->said = true;
    }
    w->trouble = true;
    w->gate = now_ms() + pause_ms(w->trouble_tries++, SERVER_MS);
}

static void broken(struct file *f, const char *messages)
{
    int64_t now = now_ms();
    bool settled = now - f->changed >= SETTLED_MS;

    if (settled && !f->said)
        say(messages);
    f->said |= settled;
    f->due = now + pause_ms(f->tries++, f->said ? BROKEN_MS : SETTLED_MS);
}

static void ended(void *context, void *of, int status, int signal, const char *messages)
{
    struct following *w = context;
    struct file *f = of;

    f->state = READY;
    if (signal && signal_count == 0) {
        tool_error("%s: the process that loaded it died: %s", quote(f->path), strsignal(signal));
        f->due = now_ms() + pause_ms(f->tries++, BROKEN_MS);
    } else if (!signal && (status == EXIT_DONE || status == EXIT_PIPE)) {
        loaded(w, f, messages);
        w->status = status;
    } else if (status == LOAD_NO_SERVER) {
        no_server(w, f, messages);
    } else if (status == LOAD_UNFINISHED) {
        f->due = now_ms() + pause_ms(f->tries++, UNFINISHED_MS);
    } else if (!signal && !f->gone) {
        broken(f, messages);
    }
}

/* ---- the loop ---- */

static bool is_over(const struct following *w)
{
    return signal_count > 0 || w->status == EXIT_PIPE;
}

/* The file that is next, or NULL; *due: when one is. */
static struct file *next_file(const struct following *w, int64_t now, int64_t *due)
{
    for (size_t i = 0; i < w->count; i++) {
        struct file *f = w->files[i];

        if (f->state != READY || f->gone)
            continue;
        if (f->due <= now)
            return f;
        *due = f->due < *due ? f->due : *due;
    }
    return NULL;
}

/* Until all places are taken, or no file is due; returns when the next one is. */
static int64_t begin_jobs(struct following *w, int64_t now)
{
    unsigned most = w->trouble ? 1 : w->jobs.room;
    int64_t due = INT64_MAX;
    struct file *f;

    if (now < w->gate)
        return w->gate;
    while (load_jobs_running(&w->jobs) < most && (f = next_file(w, now, &due))) {
        f->loading = f->is;
        if (load_jobs_begin(&w->jobs, f->path, f) != EXIT_DONE) {
            f->due = now + pause_ms(f->tries++, SERVER_MS);
            continue;
        }
        f->state = RUNNING;
    }
    return due;
}

/* Until a job has ended, a folder has changed, a signal has come, or that time. */
static void wait_until(struct following *w, int64_t due, const sigset_t *mask)
{
    struct pollfd ends[LOAD_JOBS_MAX + 1];
    int64_t ms = due - now_ms();
    struct timespec t;

    ms = ms > 0 ? ms : 0;
    t = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
    load_jobs_wait(&w->jobs, ends);
    ends[w->jobs.room] = (struct pollfd){ .fd = w->scan.watch, .events = POLLIN };
    if (ppoll(ends, w->jobs.room + 1, &t, mask) <= 0)
        return;
    load_jobs_collect(&w->jobs, ends, ended, w);
    if (ends[w->jobs.room].revents && load_scan_is_due(&w->scan))
        w->scan_due = w->scan_from;
}

static void run(struct following *w, const sigset_t *mask)
{
    while (!is_over(w)) {
        int64_t now = now_ms(), due;

        if (now >= w->scan_due)
            look(w);
        due = begin_jobs(w, now);
        wait_until(w, due < w->scan_due ? due : w->scan_due, mask);
    }
}

/* Jobs may complete what they have begun; the views do not show rows of others. */
static void finish(struct following *w, const sigset_t *mask)
{
    int64_t end = now_ms() + GRACE_MS;

    while (load_jobs_running(&w->jobs) > 0 && signal_count < 2 && now_ms() < end)
        wait_until(w, end, mask);
    load_jobs_kill(&w->jobs);
    while (load_jobs_running(&w->jobs) > 0)
        wait_until(w, now_ms() + GRACE_MS, mask);
}

static void catch_signals(sigset_t *before)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t blocked;

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, before);
    sigdelset(before, SIGINT);
    sigdelset(before, SIGTERM);
}

int load_follow(const struct load_target *t, const char **folders, size_t count)
{
    struct following w = { .count = 0 };
    int status = load_jobs_init(&w.jobs, t, t->options->jobs);
    sigset_t mask;

    if (status != EXIT_DONE)
        return status;
    load_scan_init(&w.scan, folders, count);
    catch_signals(&mask);
    look(&w);
    if (w.scan.failed) {
        status = EXIT_FAILED;
    } else {
        run(&w, &mask);
        finish(&w, &mask);
        status = w.status;
    }
    for (size_t i = 0; i < w.count; i++)
        free_file(w.files[i]);
    free(w.files);
    load_scan_free(&w.scan);
    load_jobs_free(&w.jobs);
    return status;
}
