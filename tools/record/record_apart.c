/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Recording processes of other users, as root: each by a worker with the ids of its target
 * (apart.h).  The worker has the stream and sends the log; this process opens the log, writes
 * it, shows the live line, passes signals on and reports.
 *
 * A log with a limit is written all over, which a pipe cannot carry: the worker keeps it in
 * memory of its own and sends it at the end.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/log.h>
#include <posixtrace/stream.h>

#include "common/units.h"
#include "apart/apart.h"
#include "common/progress.h"
#include "common/tool.h"

/* Milliseconds. */
enum { LIVE = 500, LOOK_AT_LOG = 1000, PATIENCE = 10000, COUNT_PATIENCE = 3000 };

struct part {
    struct recording r;
    struct apart a;
    int64_t gone; /* ms, when the target had ended; 0: it has not */
};

static bool is_limited(const struct record_request *q)
{
    return q->log_size || q->policy == RECORD_UNTIL_FULL;
}

/* ---- the worker ---- */

/* Also one that could not take all: it can be read, and counts the rest as lost. */
static int send_file(struct recording *r, int file)
{
    int error = file < 0 ? 0 : apart_log_file(file);

    if (r->error == 0)
        r->error = error;
    if (file >= 0)
        close(file);
    return r->error ? tool_error("cannot write all of %s: %s", quote(r->log), strerror(r->error))
                    : EXIT_DONE;
}

static int work(const struct record_request *q, pid_t pid)
{
    struct recording r = recording_make(pid);
    struct watch_end end;
    int file = -1, status;

    r.pidfd = watch_pidfd(pid);
    if (is_limited(q)) {
        r.fd = memfd_create("posixtrace log", MFD_CLOEXEC);
        file = r.fd < 0 ? -1 : dup(r.fd);
        if (file < 0)
            return tool_error("no memory for the log of process %d: %s", (int)pid, strerror(errno));
    } else {
        r.fd = apart_log_pipe();
    }
    status = recording_begin(&r, q, NULL);
    if (status != EXIT_DONE)
        return status;
    record_report_waiting(&r, q);
    watch(&r, 1, q, false, &end);
    recording_end(&r);
    return send_file(&r, file);
}

/* ---- root ---- */

static uint64_t most_bytes(const struct record_request *q)
{
    uint64_t size = q->log_size ? q->log_size : 64u << 20;

    return is_limited(q) ? apart_log_most(size, q->policy != RECORD_UNTIL_FULL) : 0;
}

/* *worker: this is the worker of a part, and the status is its exit status. */
static int begin_part(struct part *p, const struct record_request *q, pid_t pid, bool *worker)
{
    int status;

    p->r = recording_make(pid);
    p->r.pidfd = watch_pidfd(pid);
    p->gone = 0;
    p->a = (struct apart){ .fd = -1, .over = true };
    status = record_log_open(&p->r, q, NULL);
    if (status != EXIT_DONE)
        return status;
    status = record_log_lock(&p->r);
    if (status != EXIT_DONE) {
        record_log_drop(&p->r);
        return status;
    }
    /* Its reader may stop reading. */
    if (!p->r.regular)
        fcntl(p->r.fd, F_SETFL, fcntl(p->r.fd, F_GETFL) | O_NONBLOCK);
    status = apart_fork(&p->a, pid, p->r.fd, worker);
    if (*worker)
        return status == EXIT_DONE ? work(q, pid) : status;
    p->a.check.most = most_bytes(q);
    p->a.check.loops = p->a.written.loops = is_limited(q);
    return status;
}

struct wait {
    const struct record_request *q;
    struct part *parts;
    size_t count;
    int signals;
    bool live;
    int64_t shown, told; /* ms; the latter is 0: no signal came */
    uint64_t shown_events;
};

static void show(struct wait *w)
{
    struct apart_counts sum = { .events = 0 };
    int64_t now = signals_now_ms();
    double fill = 0;

    if (!w->live || now - w->shown < LIVE)
        return;
    for (size_t i = 0; i < w->count; i++) {
        const struct apart_counts *c = &w->parts[i].a.counts;

        sum.events += c->events;
        sum.lost += c->lost;
        if (c->reserved && fill < (double)c->bytes / (double)c->reserved)
            fill = (double)c->bytes / (double)c->reserved;
    }
    watch_show(sum.events - w->shown_events, now - w->shown, fill, sum.lost);
    w->shown_events = sum.events;
    w->shown = now;
}

static void tell_workers(const struct wait *w, int number)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->parts[i].a.over)
            kill(w->parts[i].a.worker, number);
}

/* The worker was stopped by its user, or made to do something else; the log is a pipe that
 * no process empties. */
static void give_up(struct wait *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct apart *a = &w->parts[i].a;

        if (a->over)
            continue;
        if (a->pending)
            apart_drop_log(a, ETIMEDOUT);
        apart_kill(a);
    }
}

static void look_at_signals(struct wait *w)
{
    struct signalfd_siginfo info;

    while (w->signals >= 0 && read(w->signals, &info, sizeof info) == sizeof info)
        if (signals_count((int)info.ssi_signo, info.ssi_code)) {
            /* Another one: at once. */
            w->told = w->told ? w->told - PATIENCE : signals_now_ms();
            tell_workers(w, SIGTERM);
        }
    if (w->told && signals_now_ms() - w->told >= PATIENCE)
        give_up(w);
}

static bool has_ended(const struct part *p, bool news)
{
    return p->r.pidfd >= 0 ? news : kill(p->a.target, 0) < 0 && errno == ESRCH;
}

/* A worker whose target has ended has a rest to send and ends, too, or is silent for ever. */
static void look_at_target(struct part *p, bool news)
{
    int64_t now = signals_now_ms();

    if (p->gone == 0 && has_ended(p, news))
        p->gone = now;
    if (p->gone && now - p->gone >= p->a.patience && apart_is_silent(&p->a))
        apart_give_up(&p->a);
}

/* The worker's, the target's; after all of them that of the signals. */
static int wait_for_news(struct wait *w, struct pollfd *p)
{
    bool look = w->live || w->told, removable = false;

    for (size_t i = 0; i < w->count; i++) {
        struct part *part = &w->parts[i];

        p[2 * i] = apart_awaits(&part->a);
        p[2 * i + 1] = (struct pollfd){ .fd = part->gone || part->a.over ? -1 : part->r.pidfd,
                                        .events = POLLIN };
        look |= !part->a.over && (part->gone || part->r.pidfd < 0);
        removable |= record_removed_may_be(&part->r);
    }
    p[2 * w->count] = (struct pollfd){ .fd = w->signals, .events = POLLIN };
    return poll(p, 2 * w->count + 1, look ? LIVE : removable ? LOOK_AT_LOG : -1);
}

static size_t count_workers(const struct wait *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++)
        n += !w->parts[i].a.over;
    return n;
}

static void wait_for_all(struct wait *w)
{
    struct pollfd *p = tool_grow(NULL, 2 * w->count + 1, sizeof *p);

    while (count_workers(w) > 0) {
        if (wait_for_news(w, p) < 0 && errno != EINTR)
            break;
        for (size_t i = 0; i < w->count; i++) {
            if (p[2 * i].fd >= 0 && p[2 * i].revents)
                apart_read(&w->parts[i].a);
            look_at_target(&w->parts[i], p[2 * i + 1].revents != 0);
            record_removed_look(&w->parts[i].r, w->q);
        }
        look_at_signals(w);
        show(w);
    }
    free(p);
}

struct left {
    pid_t owner;
    struct apart_counts counts;
};

static int add_left(void *context, const struct posixtrace_stream *s)
{
    struct left *left = context;

    left->counts.events += s->owner == left->owner ? s->unsaved : 0;
    return 0;
}

/* How many events a dead worker has left in memory that only another worker may look into.  The
 * user may stop that one, too: then the number is unknown. */
static uint64_t count_left(pid_t target, pid_t dead)
{
    struct left left = { .owner = dead };
    struct apart a;
    bool worker;
    int status;

    if (kill(target, 0) < 0)
        return 0;
    status = apart_fork(&a, target, -1, &worker);
    if (worker) {
        if (status == EXIT_DONE && posixtrace_stream_list(add_left, &left) == 0)
            apart_send_counts(&left.counts);
        exit(status);
    }
    if (status == EXIT_DONE)
        apart_read_within(&a, COUNT_PATIENCE);
    free(a.buffer);
    return a.counts.events;
}

/* Counts the events that have not come as lost, in a log that was cut.  A log with a limit comes at
 * the end, in an order that cannot be completed, and a pipe accepts no more. */
static void count_lost(struct part *p)
{
    struct posixtrace_recover_report report;
    uint64_t lost = apart_lost(&p->a);
    int error;

    p->r.lacks = lost;
    if (lost == 0 || !p->r.regular || p->a.check.most)
        return;
    error = posixtrace_log_recover_lost(p->r.fd, lost, &report, sizeof report);
    if (!error)
        p->r.lacks = 0;
    else
        tool_error("cannot write into %s how many events were lost: %s", quote(p->r.log),
                   strerror(error));
}

/* Ends the part of a dead worker: keeps the log, if there is anything in it. */
static int end_part(struct part *p, const struct record_request *q)
{
    bool died = p->a.hostile || !WIFEXITED(p->a.status);
    int status, report;

    if (died && !p->gone)
        p->a.left = count_left(p->a.target, p->a.worker);
    status = apart_end(&p->a);

    /* The events of a log with a limit are not counted as they come. */
    if (p->a.check.bytes == 0 ||
        (status != EXIT_DONE && !died && p->a.check.events == 0 && p->a.check.most == 0)) {
        record_log_drop(&p->r);
        return status;
    }
    record_removed_look(&p->r, q);
    p->r.gone_events = p->a.written.events;
    p->r.error = p->a.error;
    if (p->a.cut)
        tool_note("another program has truncated %s, which ended the recording", quote(p->r.log));
    if (p->a.error && apart_lost(&p->a) > 0)
        tool_note("%s lacks at least %s event%s", quote(p->r.log), units_count(apart_lost(&p->a)),
                  apart_lost(&p->a) == 1 ? "" : "s");
    if (died || p->a.error)
        count_lost(p);
    if (close(p->r.fd) != 0 && p->r.error == 0)
        p->r.error = errno;
    p->r.fd = -1;
    record_log_keep(&p->r);
    if (died) {
        tool_note("%s is cut: %s event%s in it", quote(p->r.log), units_count(p->a.written.events),
                  p->a.written.events == 1 ? "" : "s");
        if (p->a.error)
            return tool_error("cannot write all of %s: %s", quote(p->r.log), strerror(p->a.error));
        return status;
    }
    signals_let(NULL);
    report = record_report(&p->r, q, NULL);
    if (q->print && p->r.regular && !p->r.removed)
        report = record_print(&p->r);
    signals_hold();
    return status ? status : report;
}

int record_apart(const struct record_request *q)
{
    struct wait w = { .q = q,
                      .parts = tool_grow(NULL, q->pid_count, sizeof *w.parts),
                      .signals = -1 };
    int status = EXIT_DONE;
    bool worker = false;

    if (q->rotates) {
        free(w.parts);
        return tool_error("--rotate is not for processes of other users: their logs come through a "
                          "pipe; record them as that user");
    }
    for (; status == EXIT_DONE && w.count < q->pid_count; w.count++) {
        status = begin_part(&w.parts[w.count], q, q->pids[w.count], &worker);
        if (worker)
            return status;
    }
    w.signals = signals_open();
    w.live = !q->quiet && isatty(STDERR_FILENO) == 1;
    w.shown = signals_now_ms();
    if (w.live)
        progress_begin("", 0);
    /* One of several that cannot be recorded: none is. */
    if (status != EXIT_DONE) {
        w.told = w.shown;
        tell_workers(&w, SIGTERM);
    }
    wait_for_all(&w);
    progress_end();
    for (size_t i = 0; i < w.count; i++) {
        int one = end_part(&w.parts[i], q);

        status = status ? status : one;
        free(w.parts[i].r.log);
        if (w.parts[i].r.pidfd >= 0)
            close(w.parts[i].r.pidfd);
    }
    if (w.signals >= 0)
        close(w.signals);
    free(w.parts);
    return status;
}
